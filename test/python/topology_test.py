#!/usr/bin/env python3
"""Topologies of Python components: what they compute is what a plain program computes, each message id is answered
once, tuples can be held, failed and come again, and values arrive as they were."""

import collections
import random
import pathlib
import tempfile
import unittest

import gale
from rig import Heard, Idle, Numbers, Taken, numbers_to, run, wait, wait_for

WORDS = "to be or not to be that is the question whether tis nobler in the mind to suffer".split()


class Split(gale.BasicBolt):
    outputs = ["word"]

    def execute(self, tuple):
        for word in tuple["line"].split():
            self.out.emit([word])


class Count(gale.BasicBolt):
    outputs = ["word", "count", "task"]

    def prepare(self):
        self.counts = collections.Counter()

    def execute(self, tuple):
        self.counts[tuple["word"]] += 1

    def finish(self):
        for word, count in self.counts.items():
            self.out.emit([word, count, self.context.task])


@gale.spout(outputs=["line"])
def lines(texts):
    for text in texts:
        yield [text]


class WordCount(unittest.TestCase):
    def check(self, executors, tasks):
        drawn = random.Random(tasks)
        texts = [" ".join(drawn.choices(WORDS, k=drawn.randrange(12))) for _ in range(500)]
        rows, topology = [], gale.Topology("word-count")
        topology.add_spout("lines", lines, arguments={"texts": texts})
        topology.add_bolt("split", Split, parallelism=2).shuffle_grouping("lines")
        topology.add_bolt("count", Count, parallelism=tasks).fields_grouping("split", ["word"])
        topology.add_bolt("sink", Taken, arguments={"taken": rows}).global_grouping("count")
        stats = run(topology, executors=executors)
        model = collections.Counter(word for text in texts for word in text.split())
        self.assertEqual({word: count for word, count, _task in rows}, model)
        self.assertEqual(len(rows), len(model))  # no word in two tasks
        self.assertEqual((stats.acked, stats.failed, stats.open), (500, 0, 0))
        self.assertGreater(len({task for _w, _c, task in rows}), 1 if tasks > 1 else 0)

    def test_it_counts_what_a_plain_program_counts(self):
        for executors, tasks in (1, 1), (1, 4), (3, 4):
            with self.subTest(executors=executors, tasks=tasks):
                self.check(executors, tasks)


class Answers(unittest.TestCase):
    def test_each_message_id_is_answered_once(self):
        topology, heard = numbers_to(gale.bolt(lambda tuple, out: None), count=300)
        run(topology, executors=2)
        self.assertEqual((sorted(heard.acked), heard.failed), (list(range(300)), []))

    def test_what_fails_comes_again(self):
        refused = set()

        @gale.bolt
        def twice(tuple, out):
            if tuple[0] % 3 == 0 and tuple[0] not in refused:
                refused.add(tuple[0])
                raise RuntimeError("not yet")
        topology, heard = numbers_to(twice, count=30)
        run(topology)
        self.assertEqual(sorted(heard.acked), list(range(30)))
        self.assertEqual(sorted(id for id, _failure in heard.failed), list(range(0, 30, 3)))

    def test_the_engine_replays_what_a_generator_yielded(self):
        seen, rows = collections.Counter(), []

        @gale.bolt
        def stumbles(tuple, out):
            seen[tuple["line"]] += 1
            if seen[tuple["line"]] < 3:
                raise ValueError("again")
            rows.append(tuple["line"])
        topology = gale.Topology("replay")
        topology.set("topology.replay.attempts", 5)
        topology.set("topology.replay.backoff.initial.secs", 0)
        topology.add_spout("lines", lines, arguments={"texts": ["a", "b"]})
        topology.add_bolt("bolt", stumbles).shuffle_grouping("lines")
        stats = run(topology)
        self.assertEqual((sorted(rows), stats.acked, stats.replayed), (["a", "b"], 2, 4))

    def test_a_bolt_may_hold_and_answer_later(self):
        second = []

        class Holds(gale.Bolt):
            outputs = ["number"]

            def prepare(self):
                self.held, self.seen = [], 0

            def execute(self, tuple):
                self.held.append(self.out.hold(tuple))
                self.seen += 1

            def flush(self):
                if len(self.held) >= 5 or self.seen == 20:
                    self.answer()

            def answer(self):
                for tuple in self.held:
                    self.out.emit_anchored([tuple["number"]], tuple)
                    if tuple[0] == 7:
                        self.out.reject(tuple, "seven")
                    else:
                        self.out.ack(tuple)
                    second.append(self.out.is_held(tuple))
                self.held.clear()
        topology, heard = numbers_to(Holds, count=20, again=False)
        rows = []
        topology.add_bolt("sink", Taken, arguments={"taken": rows}).shuffle_grouping("bolt")
        topology.set("topology.max.spout.pending", 10)
        with topology, gale.Runtime(topology) as runtime:
            runtime.start()
            wait_for(lambda: len(heard.acked) + len(heard.failed) == 20)
            runtime.drain()
            wait(runtime)
        self.assertEqual(sorted(rows), [[n] for n in range(20)])
        self.assertEqual(sorted(heard.acked), [n for n in range(20) if n != 7])
        self.assertEqual(heard.reasons(), [(7, gale.Reason.REJECTED, "seven")])
        self.assertEqual(second, [False] * 20)

    def test_what_is_kept_of_a_tuple_stays_whole(self):
        kept, held = [], []

        class Keeps(gale.Bolt):
            def execute(self, tuple):
                kept.append(tuple)
                self.out.ack(tuple)
                try:
                    self.out.ack(tuple)
                except gale.GaleError as error:
                    held.append(error.code)
        run(numbers_to(Keeps, count=2000)[0])
        self.assertEqual(sorted(tuple["number"] for tuple in kept), list(range(2000)))
        self.assertEqual(held, [gale.ErrorCode.SETTLED] * 2000)

    def test_a_bolt_that_gathers_is_answered_by_its_flush(self):
        written, batches = [], []

        class Gathers(gale.BasicBolt):
            def prepare(self):
                self.rows = []

            def execute(self, tuple):
                self.rows.append(tuple[0])

            def flush(self):
                batches.append(len(self.rows))
                if 13 in self.rows and 13 not in written:
                    written.append(13)
                    self.rows.clear()
                    raise OSError("disk full")
                written.extend(self.rows)
                self.rows.clear()
        topology, heard = numbers_to(Gathers, count=50)
        run(topology)
        self.assertEqual(sorted(set(written)), list(range(50)))
        self.assertEqual(sorted(heard.acked), list(range(50)))
        self.assertIn(13, [id for id, failure in heard.failed])
        self.assertIn("OSError: disk full", heard.failed[0][1].text)


class Groupings(unittest.TestCase):
    def tasks_of(self, grouping, *arguments, parallelism=4, **named):
        """number: the tasks that got it."""
        got = collections.defaultdict(list)

        class Notes(gale.BasicBolt):
            def execute(self, tuple):
                got[tuple["number"]].append(self.context.task_index)
        topology, heard = gale.Topology("groupings"), Heard()
        topology.add_spout("numbers", Numbers, arguments={"count": 100, "heard": heard})
        getattr(topology.add_bolt("bolt", Notes, parallelism=parallelism), grouping)("numbers", *arguments, **named)
        run(topology)
        self.assertEqual(sorted(heard.acked), list(range(100)))
        return got

    def test_all_go_where_they_are_to(self):
        for grouping in "shuffle", "none", "local_or_shuffle":
            got = self.tasks_of(f"{grouping}_grouping")
            self.assertEqual({len(tasks) for tasks in got.values()}, {1})
            self.assertEqual({task for tasks in got.values() for task in tasks}, {0, 1, 2, 3})
        self.assertEqual({tuple(sorted(tasks)) for tasks in self.tasks_of("all_grouping").values()}, {(0, 1, 2, 3)})
        self.assertEqual({tuple(tasks) for tasks in self.tasks_of("global_grouping").values()}, {(0,)})
        self.assertEqual(self.tasks_of("fields_grouping", "number"), self.tasks_of("fields_grouping", ["number"]))
        self.assertEqual(len(self.tasks_of("partial_key_grouping", "number", drop="oldest")), 100)

    def test_one_of_ones_own(self):
        got = self.tasks_of("custom_grouping", lambda values, tasks: [values[0] % tasks, (values[0] + 1) % tasks] if values[0] < 50 else [3])
        self.assertEqual({n: sorted(tasks) for n, tasks in got.items()},
                         {n: sorted([n % 4, (n + 1) % 4]) if n < 50 else [3] for n in range(100)})

    def test_what_a_grouping_raises_its_emitter_raises(self):
        def choose(values, tasks):
            raise LookupError("nobody")
        for function, words in ((choose, "LookupError: nobody"), (lambda values, tasks: [tasks], "ValueError: task 1 was chosen of 1"),
                                (lambda values, tasks: emitter[0].emit([2]), "GaleError: a grouping chooses, and does nothing else")):
            emitter = []
            topology = gale.Topology("t")
            caught = []

            class Emits(gale.Spout):
                outputs = ["x"]

                def next(self):
                    emitter.append(self.out)
                    try:
                        self.out.emit([1])
                    except Exception as error:
                        caught.append(f"{type(error).__name__}: {error}")
                    return gale.DONE
            topology.add_spout("emits", Emits)
            topology.add_bolt("bolt", gale.bolt(lambda tuple, out: None)).custom_grouping("emits", function)
            run(topology)
            self.assertIn(words, caught[0])

    def test_direct(self):
        got = []

        class Emits(gale.Spout):
            outputs = {"default": ["x"], "side": ["y", "z"]}

            def open(self):
                self.left = [(2, 10), (3, 11), (4, 12)]

            def next(self):
                if not self.left:
                    return gale.DONE
                task, number = self.left.pop()
                self.out.emit_direct(task, [number, None], "side", id=number)

        class Notes(gale.BasicBolt):
            def execute(self, tuple):
                got.append((self.context.task, tuple["y"], tuple.stream, tuple.component, tuple.task, tuple.fields))
        topology = gale.Topology("direct")
        topology.add_spout("emits", Emits)
        topology.add_bolt("notes", Notes, parallelism=3).direct_grouping("emits", "side")
        stats = run(topology)
        self.assertEqual(sorted(got), [(2 + i, 10 + i, "side", "emits", 1, ("y", "z")) for i in range(3)])
        self.assertEqual(stats.acked, 3)


ROWS = [[None, True, False, 0], [1, -1, 2 ** 63 - 1, -2 ** 63], [0.0, -1.5, float("inf"), 1e300], ["", "grün", "\0a\0", "x" * 10000],
        [b"", b"\0\xff", bytes(5000), "end"], [[], [1, "a", [2.5, [None]]], {}, {"b": 1, "a": {"c": [True]}}],
        [["s"] * 300, {str(n): n for n in range(100)}, "after", 1.0]]


class Values(unittest.TestCase):
    def through(self, rows):
        taken, topology = [], gale.Topology("values")

        @gale.spout(outputs=["a", "b", "c", "d"])
        def emits():
            yield from rows
        topology.add_spout("emits", emits)
        topology.add_bolt("taken", Taken, arguments={"taken": taken}).global_grouping("emits")
        run(topology)
        return taken

    def test_values_arrive_as_they_were(self):
        taken = self.through(ROWS)
        self.assertEqual(taken, ROWS)
        self.assertEqual([[type(value) for value in row] for row in taken], [[type(value) for value in row] for row in ROWS])

    def test_what_looks_like_a_value_becomes_one(self):
        class Whole:
            def __index__(self):
                return 7
        self.assertEqual(self.through([[(1, 2), bytearray(b"x"), Whole(), gale.Reason.TIMEOUT]]), [[[1, 2], b"x", 7, 2]])

    def test_what_is_no_value_is_refused_in_words(self):
        deep = current = []
        for _ in range(40):
            current.append([])
            current = current[0]
        for value, words in ((2 ** 63, "does not fit into 64 bits"), (object(), "not object"), ({1: 2}, "keys of a dict are str"),
                             ("\ud800", "surrogates"), (deep, "inside each other"), (1 + 2j, "not complex")):
            caught, topology = [], gale.Topology("values")

            class Emits(gale.Spout):
                outputs = ["x"]

                def next(self):
                    try:
                        self.out.emit([value])
                    except Exception as error:
                        caught.append(str(error))
                    return gale.DONE
            topology.add_spout("emits", Emits)
            topology.add_bolt("bolt", gale.bolt(lambda tuple, out: None)).shuffle_grouping("emits")
            run(topology)
            self.assertIn(words, caught[0])

    def test_many_at_once(self):
        rows, heard, topology = [], Heard(), gale.Topology("many")

        class Emits(gale.Spout):
            outputs = ["n", "text"]

            def open(self):
                self.at = 0

            def next(self):
                if self.at == 1000:
                    return gale.DONE
                ids = range(self.at, self.at + 100)
                self.at += self.out.emit_many([[n, f"text {n}"] for n in ids], ids=ids)

            def ack(self, id):
                heard.acked.append(id)
        topology.add_spout("emits", Emits)
        topology.add_bolt("taken", Taken, arguments={"taken": rows}).global_grouping("emits")
        run(topology)
        self.assertEqual(rows, [[n, f"text {n}"] for n in range(1000)])
        self.assertEqual(sorted(heard.acked), list(range(1000)))

    def test_a_context_says_where_it_is(self):
        seen = []

        class Looks(Idle):
            def prepare(self):
                c = self.context
                seen.append((c.topology, c.component, c.task, c.task_index, c.task_count, c.config["mine"], c.config["topology.debug"],
                             c.durable, c.now() >= 0, c.random() >= 0))
        topology, _heard = numbers_to(Looks, count=0, parallelism=2, config={"mine": ["a", 1]})
        topology.set("topology.debug", False)
        run(topology, seed=1)
        self.assertEqual(seen, [("numbers", "bolt", 1 + i, i, 2, ["a", 1], False, False, True, True) for i in range(2)])


LATER = """
name: t
spouts:
  - {id: lines, className: gale.spout.File, properties: {path: PATH}}
bolts:
  - {id: split, className: gale.bolt.Split}
  - {id: sink, className: gale.bolt.FileSink, properties: {path: PATH.out}}
streams:
  - {from: louder, to: split, grouping: {type: SHUFFLE}}
  - {from: split, to: count, grouping: {type: FIELDS, args: [word]}}
  - {from: count, to: sink, grouping: {type: FIELDS, args: [word]}}
"""


class AddedLater(unittest.TestCase):
    """Components that a file names, and that Python adds."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "in"
        self.path.write_text("to be\nor not to be\n")

    def read(self, text=LATER):
        return gale.Topology.from_text(text.replace("PATH", str(self.path)))

    def louder(self, topology):
        louder = gale.bolt(lambda tuple, out: out.emit([tuple[0].upper()]), outputs=["line"])
        topology.add_bolt("louder", louder).shuffle_grouping("lines")

    def count(self, topology, fields=("word", "count")):
        @gale.bolt(outputs=list(fields))
        def count(tuple, out):
            out.emit([tuple["word"], 1])
        topology.add_bolt("count", count)

    def test_streams_of_the_file_lead_from_them_and_to_them(self):
        topology = self.read()
        self.louder(topology)
        self.count(topology)
        run(topology)
        rows = pathlib.Path(f"{self.path}.out").read_text().split("\n")
        self.assertEqual(sorted(rows)[1:], sorted(f"{word}\t1" for word in "TO BE OR NOT TO BE".split()))

    def test_the_order_of_adding_does_not_matter(self):
        topology = self.read()
        self.count(topology)
        self.louder(topology)
        run(topology)

    def refuses(self, text, topology):
        for call in topology.check, lambda: gale.Runtime(topology), lambda: gale.testing.Test(topology):
            with self.assertRaisesRegex(gale.GaleError, text):
                call()

    def test_what_was_not_added_is_said_with_its_place_when_it_is_to_run(self):
        topology = self.read()
        self.refuses(r"^text:9:12: bolt 'split' subscribes to component 'louder', which does not exist", topology)
        self.louder(topology)
        self.refuses(r"^text:10:23: bolt 'sink' subscribes to component 'count', which does not exist", topology)
        self.count(topology)
        topology.check()

    def test_a_misspelt_one_is_said_with_the_nearest_name(self):
        topology = self.read(LATER.replace("from: louder", "from: louderr").replace("to: count", "to: cuont"))
        self.louder(topology)
        self.count(topology)
        self.refuses(r"^text:9:12: .*'louderr', which does not exist; did you mean 'louder'", topology)
        misspelt = self.read(LATER.replace("to: count", "to: cuont"))
        self.louder(misspelt)
        self.count(misspelt)
        misspelt.inputs_of("count").shuffle_grouping("split")
        self.refuses(r"^text:10:23: a stream of 'split' leads to bolt 'cuont', which does not exist; did you mean 'count'", misspelt)

    def test_a_bolt_of_the_file_without_an_input(self):
        topology = self.read(SINK_ALONE)
        topology.add_spout("numbers", Numbers, arguments={"count": 1, "heard": Heard()})
        self.refuses(r"^text:4:10: bolt 'sink' has no input: no stream leads to it", topology)
        topology.inputs_of("sink").global_grouping("numbers")
        run(topology)

    def test_a_field_that_it_does_not_declare(self):
        topology = self.read()
        self.louder(topology)
        self.count(topology, fields=("wort", "count"))
        self.refuses("names field 'word', which stream 'default' does not declare; did you mean 'wort'", topology)

    def test_a_spout_takes_no_stream(self):
        topology = self.read(LATER.replace("to: count", "to: numbers"))
        topology.add_spout("numbers", Numbers, arguments={"count": 1, "heard": Heard()})
        self.louder(topology)
        self.count(topology)
        topology.inputs_of("count").shuffle_grouping("split")
        self.refuses(r"^text:10:23: 'numbers' is a spout; the stream from 'split' leads to a bolt", topology)

    def test_a_topology_that_nobody_completes_is_freed(self):
        self.read().close()

    def test_a_grouping_of_the_file_is_replaced_by_a_later_one(self):
        topology = self.read()
        self.louder(topology)
        self.count(topology)
        topology.inputs_of("count").global_grouping("split")
        run(topology)


SINK_ALONE = """
name: t
bolts:
  - {id: sink, className: gale.bolt.FileSink, properties: {path: PATH.out}}
"""


if __name__ == "__main__":
    unittest.main()
