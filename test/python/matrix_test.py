#!/usr/bin/env python3
"""What meets a bolt in Python, for each kind of bolt: two streams of one component, a connector before and behind it, a
source that is slow, a sink of a file behind it, the end by SIGTERM, and what it emits wrongly.

usage: matrix_test.py [SQLITE]      SQLITE: the connector of SQLite is built
"""

import asyncio
import datetime
import decimal
import importlib.util
import itertools
import json
import os
import pathlib
import signal
import sqlite3
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import gale
from gale.testing import Test
from rig import SECONDS, Heard, Numbers, run, wait, wait_for

HAS_SQLITE = "sqlite" in sys.argv


# --- The kinds: each calls `do(tuple, out)` with what comes, and takes the other ways to it --------------------------


def basic(do, outputs):
    class Basic(gale.BasicBolt):
        def execute(self, tuple):
            do(tuple, self.out)
    return named(Basic, outputs)


def answering(do, outputs):
    """Answers in the call."""
    class Answering(gale.Bolt):
        def execute(self, tuple):
            do(tuple, self.out)
            self.out.ack(tuple)
    return named(Answering, outputs)


def manual(do, outputs):
    """Answers what it holds when the next tuple comes, or with the next tick."""
    class Manual(gale.Bolt):
        def prepare(self):
            self.held = None

        def execute(self, tuple):
            held, self.held = self.held, None
            if held is not None:
                self.answer(held)
            self.held = self.out.hold(tuple)
            self.out.timer(self.context.now() + 0.01, lambda watch, events: self.answer_late())

        def answer_late(self):
            held, self.held = self.held, None
            if held is not None:
                self.answer(held)

        def answer(self, tuple):
            try:
                do(tuple, Anchored(self.out, tuple))
                self.out.ack(tuple)
            except Exception as error:
                self.out.reject(tuple, str(error))
    return named(Manual, outputs)


class Anchored:
    def __init__(self, out, tuple):
        self.out, self.tuple = out, tuple

    def emit(self, values, stream="default"):
        return self.out.emit_anchored(values, self.tuple, stream)


def function(do, outputs):
    return gale.bolt(lambda tuple, out: do(tuple, out), outputs=outputs)


def batch(do, outputs):
    """Gathers, and does all in `flush`; what is wrong with one is said by its `execute`."""
    class Batch(gale.BasicBolt):
        def prepare(self):
            self.gathered = []

        def execute(self, tuple):
            self.gathered.append(tuple)

        def flush(self):
            gathered, self.gathered = self.gathered, []
            for tuple in gathered:
                do(tuple, self.out)
    return named(Batch, outputs)


def named(kind, outputs):
    kind.outputs = outputs
    return kind


KINDS = {"a BasicBolt": basic, "a Bolt": manual, "a function": function, "one that flushes": batch}
AT_ONCE = {"a BasicBolt": basic, "a function": function}  # what `execute` raises answers the tuple


def for_each(kinds):
    """A test of each kind by itself."""
    def of(test):
        def all_of_them(self):
            for name, kind in kinds.items():
                with self.subTest(name):
                    test(self, kind)
        all_of_them.__name__ = test.__name__
        return all_of_them
    return of


# --- Two streams -----------------------------------------------------------------------------------------------------


class Two(gale.BasicBolt):
    """Emits to two streams, now the one and now the other."""
    outputs = {"default": ["a", "b", "c"], "other": ["x"], "none": []}

    def execute(self, tuple):
        self.out.emit([tuple[0], 2, "three"])
        self.out.emit([f"x{tuple[0]}"], "other")
        if tuple[0] % 3 == 0:
            self.out.emit([], "none")


def seen_of_two(count):
    """What a bolt behind Two is to see, for each number."""
    for number in range(count):
        yield "default", ("a", "b", "c"), [number, 2, "three"]
        yield "other", ("x",), [f"x{number}"]
        if number % 3 == 0:
            yield "none", (), []


def behind_two(kind, seen, spouts=1):
    def look(tuple, out):
        seen.append((tuple.stream, tuple.fields, list(tuple)))
        assert tuple.component == "two" and all(tuple[name] == value for name, value in zip(tuple.fields, tuple))
    topology = gale.Topology("two")
    two = topology.add_bolt("two", Two, parallelism=spouts)
    for number in range(spouts):
        topology.add_spout(f"numbers{number}", Numbers, arguments={"count": 50, "heard": Heard()})
        two.shuffle_grouping(f"numbers{number}")
    look_at = topology.add_bolt("look", kind(look, ()))
    for stream in Two.outputs:
        look_at.shuffle_grouping("two", stream)
    return topology


class Streams(unittest.TestCase):
    @for_each(KINDS)
    def test_each_tuple_has_its_own_streams_name_fields_and_values(self, kind):
        seen = []
        run(behind_two(kind, seen))
        self.assertEqual(sorted(seen, key=repr), sorted(seen_of_two(50), key=repr))

    @for_each(KINDS)
    def test_of_several_tasks_too(self, kind):
        seen = []
        run(behind_two(kind, seen, spouts=3))
        self.assertEqual(sorted(seen, key=repr), sorted(list(seen_of_two(50)) * 3, key=repr))

    @for_each(KINDS)
    def test_in_a_test(self, kind):
        seen = []
        with behind_two(kind, seen) as topology, Test(topology) as test:
            for number in range(10):
                test.feed("numbers0", [number])
            test.advance(1)
            test.expect_acked()
        self.assertEqual(sorted(seen, key=repr), sorted(seen_of_two(10), key=repr))

    @for_each(KINDS)
    def test_in_a_test_with_faults(self, kind):
        seen = []
        with behind_two(kind, seen) as topology, Test(topology, faults="fail=0.2,hold=0.2", seed=7) as test:
            for number in range(10):
                test.feed("numbers0", [number])
            test.advance(100)
        self.assertTrue(seen)
        self.assertLessEqual({repr(each) for each in seen}, {repr(each) for each in seen_of_two(10)})

    def test_a_bolt_alone(self):
        seen = []

        @gale.bolt
        def look(tuple, out):
            seen.append((tuple.component, tuple.stream, tuple.fields, list(tuple)))
        with Test.of_bolt(look, {"one": ["a", "b"], ("one", "late"): ["line"], "two": ["x"]}) as test:
            test.feed("one", [1, 2])
            test.feed("one", ["late"], "late")
            test.feed("two", [3])
            test.feed("one", [4, 5])
            test.settle()
        self.assertEqual([each for each in seen if each[0] == "one"],
                         [("one", "default", ("a", "b"), [1, 2]), ("one", "late", ("line",), ["late"]),
                          ("one", "default", ("a", "b"), [4, 5])])
        self.assertIn(("two", "default", ("x",), [3]), seen)

    @for_each(KINDS)
    def test_behind_a_component_of_a_file(self, kind):
        """Rows and watermarks of event time are two streams of one component."""
        seen = []

        def look(tuple, out):
            seen.append((tuple.stream, len(tuple), "at" in tuple.fields))
        topology = gale.Topology.from_text(EVENT_TIME)
        topology.add_spout("rows", gale.spout(lambda: ([number] for number in range(20)), outputs=["at"]))
        topology.add_bolt("look", kind(look, ())).shuffle_grouping("time").all_grouping("time", "watermark")
        run(topology)
        self.assertEqual(set(seen), {("default", 1, True), ("watermark", 2, False)})
        self.assertEqual(sum(stream == "default" for stream, _size, _has in seen), 20)

    @for_each(KINDS)
    def test_of_dead_letters(self, kind):
        """A spout's rows and its dead letters are two streams of one component."""
        seen = []

        def look(tuple, out):
            seen.append((tuple.stream, len(tuple) == len(tuple.fields)))
        topology = gale.Topology("t", config={"topology.replay.attempts": 2, "topology.replay.backoff.initial.secs": 0.001})
        topology.add_spout("rows", gale.spout(lambda: ([number] for number in range(10)), outputs=["n"]))

        @gale.bolt
        def fails(tuple, out):
            raise ValueError("never")
        topology.add_bolt("fails", fails).shuffle_grouping("rows")
        topology.add_bolt("look", kind(look, ())).shuffle_grouping("rows").shuffle_grouping("rows", "__dead_letter")
        run(topology)
        self.assertEqual({each for each in seen}, {("default", True), ("__dead_letter", True)})


EVENT_TIME = """
name: t
bolts:
  - {id: time, className: gale.bolt.EventTime, properties: {output: at, time: at}}
streams:
  - {from: rows, to: time, grouping: {type: SHUFFLE}}
"""


# --- Files and connectors --------------------------------------------------------------------------------------------


SINK = """
name: t
bolts:
  - {id: sink, className: gale.bolt.FileSink, properties: {path: PATH, format: json}}
"""

SQLITE = """
name: t
spouts:
  - {id: source, className: gale.spout.SqliteRows, properties: {path: FROM, table: source, columns: [n, text]}}
bolts:
  - {id: sink, className: gale.bolt.SqliteSink, properties: {path: TO, table: sink, fields: [n, text]}}
streams:
  - {from: bolt, to: sink, grouping: {type: SHUFFLE}}
"""


class Around(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    @for_each(KINDS)
    def test_a_sink_of_a_file_is_fed_by_it(self, kind):
        path = self.folder / f"{kind.__name__}.json"
        topology = gale.Topology.from_text(SINK.replace("PATH", str(path)))
        topology.add_spout("numbers", Numbers, arguments={"count": 20, "heard": Heard()})
        double = kind(lambda tuple, out: out.emit([2 * tuple[0]]), ["double"])
        topology.add_bolt("bolt", double).shuffle_grouping("numbers")
        topology.inputs_of("sink").global_grouping("bolt")
        run(topology)
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertEqual(sorted(row["double"] for row in rows), [2 * number for number in range(20)])

    @unittest.skipUnless(HAS_SQLITE, "the connector of SQLite is not built")
    @for_each(KINDS)
    def test_a_connector_is_before_it_and_one_behind_it(self, kind):
        source, sink = self.folder / f"{kind.__name__}.db", self.folder / f"{kind.__name__}-to.db"
        with sqlite3.connect(source) as database:
            database.execute("create table source (n integer primary key, text text)")
            database.executemany("insert into source values (?, ?)", [(n, f"row {n}") for n in range(30)])
        with sqlite3.connect(sink) as database:
            database.execute("create table sink (n integer, text text)")
        topology = gale.Topology.from_text(SQLITE.replace("FROM", str(source)).replace("TO", str(sink)))
        louder = kind(lambda tuple, out: out.emit([tuple["n"], tuple["text"].upper()]), ["n", "text"])
        topology.add_bolt("bolt", louder).shuffle_grouping("source")
        run(topology)
        with sqlite3.connect(sink) as database:
            rows = database.execute("select n, text from sink order by n").fetchall()
        self.assertEqual(rows, [(n, f"ROW {n}") for n in range(30)])


# --- Sources that take their time ------------------------------------------------------------------------------------


class Seen:
    """What a bolt has seen, for a source that goes on only then."""

    def __init__(self):
        self.count, self._changed = 0, threading.Condition()

    def add(self):
        with self._changed:
            self.count += 1
            self._changed.notify_all()

    def wait_for(self, count):
        with self._changed:
            if not self._changed.wait_for(lambda: self.count >= count, SECONDS):
                raise AssertionError(f"{self.count} of {count} rows have arrived")


def slow(seen, kind, source, **options):
    topology = gale.Topology("slow")
    topology.add_spout("source", source, **options)
    topology.add_bolt("bolt", kind(lambda tuple, out: seen.add(), ())).shuffle_grouping("source")
    return topology


class Slow(unittest.TestCase):
    @for_each(KINDS)
    def test_a_row_arrives_before_the_next_one_is_yielded(self, kind):
        seen = Seen()

        @gale.spout(outputs=["n"])
        def rows():
            for number in range(20):
                yield [number]
                seen.wait_for(number + 1)
        run(slow(seen, kind, rows))
        self.assertEqual(seen.count, 20)

    @for_each(KINDS)
    def test_rows_that_come_together_do_not_wait_for_the_next_ones(self, kind):
        seen = Seen()

        @gale.spout(outputs=["n"])
        def rows():
            for burst in 1, 10, 300, 1000:
                before = seen.count
                yield from ([number] for number in range(burst))
                seen.wait_for(before + burst)
        run(slow(seen, kind, rows))
        self.assertEqual(seen.count, 1311)

    @for_each(KINDS)
    def test_a_source_that_blocks_keeps_nobody_else_waiting(self, kind):
        seen, goes_on = Seen(), threading.Event()

        @gale.spout(outputs=["n"])
        def blocks():
            goes_on.wait(SECONDS)
            yield [1]
        topology = slow(seen, kind, blocks)
        topology.add_spout("numbers", Numbers, arguments={"count": 100, "heard": Heard()})
        topology.inputs_of("bolt").shuffle_grouping("numbers")
        with topology, gale.Runtime(topology, until_drained=True, log=None) as runtime:
            runtime.start()
            seen.wait_for(100)
            goes_on.set()
            runtime.wait(SECONDS)
        self.assertEqual(seen.count, 101)

    @for_each(KINDS)
    def test_a_class_whose_next_blocks(self, kind):
        """Each row is out when `next` has returned."""
        seen = Seen()

        class Source(gale.Spout):
            outputs = ["n"]

            def open(self):
                self.number = 0

            def next(self):
                if self.number == 20:
                    return gale.DONE
                seen.wait_for(self.number)
                self.out.emit([self.number], id=self.number)
                self.number += 1
        run(slow(seen, kind, Source, config={"gale.blocking": True}))
        self.assertEqual(seen.count, 20)

    def test_a_call_of_next_that_takes_its_time_ends_the_turn(self):
        seen, arrived = Seen(), []

        class Source(gale.Spout):
            outputs = ["n"]

            def open(self):
                self.number = 0

            def next(self):
                if self.number == 5:
                    return gale.DONE
                arrived.append(seen.count)
                time.sleep(0.01)
                self.out.emit([self.number], id=self.number)
                self.number += 1
        run(slow(seen, basic, Source))
        self.assertEqual(arrived, [0, 1, 2, 3, 4])

    def test_a_run_that_is_stepped(self):
        """The generator has no thread there, and each row leaves behind the call that made it."""
        seen, arrived = Seen(), []

        @gale.spout(outputs=["n"])
        def rows():
            for number in range(5):
                arrived.append(seen.count)
                time.sleep(0.01)
                yield [number]
        with slow(seen, basic, rows) as topology, gale.Runtime(topology, until_drained=True, log=None) as runtime:
            asyncio.run(gale.aio.run(runtime))
        self.assertEqual(arrived, [0, 1, 2, 3, 4])

    def test_a_row_in_the_making_is_emitted_when_the_run_drains(self):
        seen, makes = Seen(), threading.Event()

        @gale.spout(outputs=["n"])
        def rows():
            yield [1]
            makes.set()
            wait_for(lambda: runtime.phase != gale.Phase.RUNNING)
            yield [2]
        patient = unittest.mock.patch("gale.pump.PATIENCE", SECONDS)
        with patient, slow(seen, basic, rows) as topology, gale.Runtime(topology, log=None) as runtime:
            runtime.start()
            self.assertTrue(makes.wait(SECONDS))
            runtime.drain()
            runtime.wait(SECONDS)
        self.assertEqual(seen.count, 2)

    @for_each(KINDS)
    def test_what_was_yielded_is_emitted_when_the_run_drains(self, kind):
        seen, yielded, goes_on = Seen(), [], threading.Event()

        @gale.spout(outputs=["n"])
        def rows():
            while True:
                yielded.append(1)
                yield [1]
        topology = slow(seen, kind, rows, config={"topology.max.spout.pending": 50})
        with topology, gale.Runtime(topology, log=None) as runtime:
            runtime.start()
            seen.wait_for(500)
            runtime.drain()
            runtime.wait(SECONDS)
            stats = runtime.stats()
        self.assertEqual((stats.acked, stats.acked), (seen.count, stats.trees))
        self.assertEqual(len(yielded), seen.count)

    def test_it_is_closed_at_the_end_of_the_run(self):
        closed = []

        @gale.spout(outputs=["n"])
        def rows():
            try:
                while True:
                    yield [1]
            finally:
                closed.append(threading.current_thread().name)
        seen = Seen()
        with slow(seen, basic, rows) as topology, gale.Runtime(topology, log=None) as runtime:
            runtime.start()
            seen.wait_for(1)
            runtime.stop()
            runtime.wait(SECONDS)
        self.assertEqual(closed, ["gale source"])

    def test_a_run_ends_while_it_blocks(self):
        seen, goes_on = Seen(), threading.Event()

        @gale.spout(outputs=["n"])
        def rows():
            yield [1]
            goes_on.wait()
            yield [2]
        with slow(seen, basic, rows) as topology, gale.Runtime(topology, log=None) as runtime:
            runtime.start()
            seen.wait_for(1)
            runtime.drain()
            runtime.wait(SECONDS)
            self.assertEqual(runtime.stats().acked, 1)
        goes_on.set()

    def test_what_is_yielded_again_and_again_in_one_list_is_copied(self):
        taken = []

        @gale.spout(outputs=["n"])
        def rows():
            row = [0]
            for row[0] in range(600):
                yield row
        topology = gale.Topology("t")
        topology.add_spout("source", rows)
        topology.add_bolt("bolt", gale.bolt(lambda tuple, out: taken.append(tuple[0]))).shuffle_grouping("source")
        run(topology)
        self.assertEqual(taken, list(range(600)))

    def test_what_belongs_to_a_thread_is_made_and_used_on_one(self):
        taken = []

        def rows():
            return sqlite3.connect(":memory:").execute("select 1 union select 2 order by 1")
        topology = gale.Topology("t")
        topology.add_spout("source", gale.spout(rows, outputs=["n"]))
        topology.add_bolt("bolt", gale.bolt(lambda tuple, out: taken.append(tuple[0]))).shuffle_grouping("source")
        run(topology)
        self.assertEqual(taken, [1, 2])

    def test_long_and_large_rows(self):
        taken, texts = [], ["x" * size for size in (0, 1, 70000, 10, 1 << 20, 3)] * 3

        @gale.spout(outputs=["text", "more"])
        def rows():
            for text in texts:
                yield text, {"list": [text, None, {"a": len(text)}]}
        topology = gale.Topology("t")
        topology.add_spout("source", rows)
        topology.add_bolt("bolt", gale.bolt(lambda tuple, out: taken.append(list(tuple)))).shuffle_grouping("source")
        run(topology)
        self.assertEqual(taken, [[text, {"list": [text, None, {"a": len(text)}]}] for text in texts])


# --- The end ---------------------------------------------------------------------------------------------------------


class Endless(gale.Spout):
    outputs = ["n"]

    def next(self):
        self.out.emit([1], id=1)


def ends_by(kind, seen, number):
    topology = slow(seen, kind, Endless, config={"topology.max.spout.pending": 100})
    wants = threading.Thread(target=lambda: (seen.wait_for(100), os.kill(os.getpid(), number)))
    return topology, wants


class Terminated(unittest.TestCase):
    @for_each(KINDS)
    def test_sigterm_drains_the_run_and_ends_the_program_well(self, kind):
        seen = Seen()
        topology, kills = ends_by(kind, seen, signal.SIGTERM)
        with topology, gale.Runtime(topology, log=None) as runtime:
            kills.start()
            with self.assertRaises(SystemExit) as caught:
                runtime.run()
            stats = runtime.stats()
            self.assertEqual((runtime.phase, stats.open, stats.stopped), (gale.Phase.CLOSED, 0, 0))
        kills.join()
        self.assertEqual((caught.exception.code, stats.acked), (0, seen.count))
        self.assertIs(signal.getsignal(signal.SIGTERM), signal.SIG_DFL)

    def test_a_second_one_stops_it(self):
        seen, holds = Seen(), []

        class Holds(gale.Bolt):
            def execute(self, tuple):
                holds.append(self.out.hold(tuple))
                seen.add()
        topology = slow(seen, lambda do, outputs: Holds, Endless, config={"topology.max.spout.pending": 10})

        def kill_twice(runtime):
            seen.wait_for(10)
            os.kill(os.getpid(), signal.SIGTERM)
            wait_for(lambda: runtime.phase == gale.Phase.DRAINING)
            os.kill(os.getpid(), signal.SIGTERM)
        with topology, gale.Runtime(topology, log=None, end_within=SECONDS) as runtime:
            kills = threading.Thread(target=kill_twice, args=(runtime,))
            kills.start()
            with self.assertRaises(SystemExit) as caught:
                runtime.run()
            kills.join()
            self.assertEqual((caught.exception.code, runtime.stats().stopped), (128 + signal.SIGTERM, 10))

    @for_each({"a BasicBolt": basic, "a function": function, "a Bolt": answering})
    def test_a_stop_waits_for_the_call_in_execution_and_for_no_other(self, kind):
        for raises, quick in itertools.product((False, True), (0, 1, 300)):
            with self.subTest(raises=raises, quick=quick):
                self.stop_in_a_slow_call(kind, raises, quick)

    def stop_in_a_slow_call(self, kind, raises, quick):
        """So many calls are quick: the executor does not know yet that the next ones are slow."""
        taken = []

        class All(gale.Spout):
            outputs = ["n"]

            def next(self):
                for n in range(400):
                    self.out.emit([n], id=n)
                return gale.DONE

        def do(tuple, _out):
            taken.append(tuple[0])
            if tuple[0] < quick:
                return
            runtime.stop()
            began = time.monotonic()
            wait_for(lambda: time.monotonic() - began > 0.01)
            if raises:
                raise ValueError("the server is away")
        topology = gale.Topology("t")
        topology.add_spout("source", All)
        topology.add_bolt("bolt", kind(do, ())).shuffle_grouping("source")
        with topology, gale.Runtime(topology, log=None) as runtime:
            runtime.start()
            wait(runtime)
        self.assertEqual(taken, list(range(quick + 1)))

    def test_a_handler_of_the_programs_own_is_left_alone(self):
        seen, heard = Seen(), []
        topology, kills = ends_by(basic, seen, signal.SIGTERM)
        with topology, gale.Runtime(topology, log=None) as runtime:
            def handler(number, frame):
                heard.append(number)
                runtime.drain()
            before = signal.signal(signal.SIGTERM, handler)
            try:
                kills.start()
                runtime.run()
                self.assertIs(signal.getsignal(signal.SIGTERM), handler)
            finally:
                signal.signal(signal.SIGTERM, before)
        kills.join()
        self.assertEqual(heard, [signal.SIGTERM])

    def test_another_thread_may_run_it(self):
        seen, ended = Seen(), []
        topology = slow(seen, basic, Numbers, arguments={"count": 10, "heard": Heard()})
        with topology, gale.Runtime(topology, until_drained=True, log=None) as runtime:
            runs = threading.Thread(target=lambda: ended.append(runtime.run()))
            runs.start()
            runs.join(SECONDS)
        self.assertEqual((ended, seen.count), ([None], 10))


# --- What it emits wrongly -------------------------------------------------------------------------------------------

WRONG = {
    "too many values": (lambda out: out.emit([1, 2]), "'bolt' emits 2 values to 'default', which has 1: word"),
    "too few values": (lambda out: out.emit([]), "'bolt' emits 0 values to 'default', which has 1: word"),
    "no row": (lambda out: out.emit("word"), "'word' is no row of 'bolt'"),
    "no stream": (lambda out: out.emit([1], "wrod"), "'bolt' declares no stream 'wrod': it has default"),
    "a set": (lambda out: out.emit([{1}]), "field 'word' of 'bolt': a value may be None, .*, not set; give sorted"),
    "a large int": (lambda out: out.emit([1 << 64]), "field 'word' of 'bolt': 18446744073709551616 does not fit into 64"),
    "half a character": (lambda out: out.emit(["\ud800"]), "field 'word' of 'bolt': 'utf-8' codec can't encode"),
    "many": (lambda out: out.emit_many([[1], [object()]]), "field 'word' of 'bolt': a value may be"),
}


class Wrong(unittest.TestCase):
    @for_each(AT_ONCE)
    def test_the_tuple_is_rejected_and_its_neighbours_go_on(self, kind):
        for name, (emit, text) in WRONG.items():
            with self.subTest(name):
                self.rejects(kind, emit, text)

    def rejects(self, kind, emit, text):
        heard, done = Heard(), []

        def work(tuple, out):
            if tuple[0] == 3:
                emit(out)
            done.append(tuple[0])
        topology = gale.Topology("t", config={"topology.replay.attempts": 5})
        topology.add_spout("numbers", Numbers, arguments={"count": 10, "heard": heard, "again": False})
        topology.add_bolt("bolt", kind(work, ["word"])).shuffle_grouping("numbers")
        stats = run(topology)
        (number, failure), = heard.failed
        self.assertEqual((number, failure.reason, failure.attempts), (3, gale.Reason.REJECTED, 1))
        self.assertRegex(failure.text, text)
        self.assertEqual((stats.acked, sorted(done)), (9, [0, 1, 2, 4, 5, 6, 7, 8, 9]))

    def test_numbers_of_other_types_pass_where_they_are_exact(self):
        class Scalar:
            """As numpy's float32 and bool_ are."""
            shape, dtype = (), "float32"

            def __init__(self, value):
                self.value = value

            def item(self):
                return self.value
        taken = self.taken([Scalar(0.1), Scalar(True), Scalar(7), [Scalar(2.5)]])
        self.assertEqual(taken, [0.1, True, 7, [2.5]])
        self.assertEqual([type(value) for value in taken], [float, bool, int, list])

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "there is no numpy")
    def test_numbers_of_numpy(self):
        import numpy
        self.assertEqual(self.taken([numpy.bool_(True), numpy.float32(0.5), numpy.float16(2), numpy.int8(-1), numpy.uint64(7)]),
                         [True, 0.5, 2.0, -1, 7])

    def test_what_is_no_value_is_said_with_what_to_give(self):
        for value, text in ((datetime.datetime.now(), "datetime.datetime; give value.isoformat"), ({1}, "set; give sorted"),
                            (datetime.timedelta(1), "datetime.timedelta; give value.total"), (object(), "object$"),
                            (decimal.Decimal(1), "decimal.Decimal; give str"), (1j, "complex; give")):
            for values in [value], [[value]], [{"a": value}]:
                with self.assertRaisesRegex(TypeError, f"^value 1 of 'x': a value may be None, .*, not {text}"):
                    with Test.of_bolt(basic(print, ()), {"x": ["x"]}) as test:
                        test.feed("x", values)

    def taken(self, values):
        with Test.of_bolt(basic(lambda tuple, out: out.emit(values), [f"f{n}" for n in range(len(values))]), {"x": ["x"]}) as test:
            test.feed("x", [1])
            test.expect_acked()
            return test.take("bolt")

    def test_what_it_raises_itself_fails_and_comes_again(self):
        heard, attempts = Heard(), []

        def work(tuple, out):
            attempts.append(tuple[0])
            if len(attempts) < 3:
                raise TypeError("not yet")
        topology = gale.Topology("t", config={"topology.replay.attempts": 5, "topology.replay.backoff.initial.secs": 0.001})
        topology.add_spout("numbers", Numbers, arguments={"count": 1, "heard": heard, "again": False})
        topology.add_bolt("bolt", basic(work, ())).shuffle_grouping("numbers")
        run(topology)
        self.assertEqual((len(attempts), heard.acked, heard.failed), (3, [0], []))

    def test_what_lacks_its_method_is_not_added(self):
        topology = gale.Topology("t")
        for base, method in ((gale.BasicBolt, "execute"), (gale.Bolt, "execute"), (gale.Spout, "next")):
            add = topology.add_spout if base is gale.Spout else topology.add_bolt
            with self.assertRaisesRegex(TypeError, fr"^Half has no {method}\("):
                add("half", type("Half", (base,), {}))
            with self.assertRaisesRegex(TypeError, fr"^Half has no {method}\("):
                add("half", type("Half", (base,), {method: None}))


if __name__ == "__main__":
    sys.argv = [word for word in sys.argv if word != "sqlite"]
    unittest.main()
