#!/usr/bin/env python3
"""What a Python component raises never crosses C: it fails the tuple, stops the start, or is reported, in words that
say what and where. Ctrl-C and sys.exit end the run in order, and go on from there.

usage: exceptions_test.py
"""

import collections
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import gale
from gale._c import LogLevel
from gale.alike import Fold
from gale.testing import Test
from rig import SECONDS, Heard, Idle, Numbers, Taken, numbers_to, run, wait_for

HERE = os.path.basename(__file__)


class Lines(logging.Handler):
    """What gale logs."""

    def __init__(self):
        super().__init__()
        self.lines, self.logger = [], logging.Logger("test")
        self.logger.addHandler(self)

    def emit(self, record):
        self.lines.append(record.getMessage())


class NotNow(unittest.TestCase):
    def test_what_is_away_is_asked_again_and_is_not_well_meanwhile(self):
        tries, seen, log = [], [], Lines()

        class Late(gale.BasicBolt):
            def prepare(self):
                tries.append(1)
                if len(tries) < 3:
                    raise gale.NotNow(f"no answer yet, {len(tries)}")

            def execute(self, tuple):
                self.out.health("odd" if tuple[0] == 1 else None)
                seen.append(tuple[0])

        topology, heard = numbers_to(Late, count=3, again=False)
        stats = run(topology, log=log.logger)
        self.assertEqual((len(tries), sorted(seen), stats.acked), (3, [0, 1, 2], 3))
        said = [line for line in log.lines if "well" in line]
        self.assertEqual([re.sub(r"after [0-9.]+ s", "after a while", line).split("task ")[1][2:] for line in said],
                         ["is not well: no answer yet, 1", "is well again, after a while",  # numbers make no new problem
                          "is not well: odd", "is well again, after a while"])

    def test_a_runtime_says_who_is_not_well(self):
        class Away(Idle):
            def prepare(self):
                raise gale.NotNow("nobody listens")

        topology, _heard = numbers_to(Away, count=1, again=False)
        with topology, gale.Runtime(topology, executors=1) as runtime:
            runtime.start()
            [task] = runtime.unwell()
            self.assertEqual((task.component, task.open, task.text), ("bolt", False, "nobody listens"))
            runtime.stop()

    def test_what_is_required_stops_the_start(self):
        class Away(Idle):
            def prepare(self):
                raise gale.NotNow("nobody listens")

        topology, _heard = numbers_to(Away, count=1, again=False)
        topology.set("gale.required", True, component="bolt")
        with topology, gale.Runtime(topology) as runtime, self.assertRaisesRegex(gale.GaleError, "nobody listens"):
            runtime.start()


class InCalls(unittest.TestCase):
    def test_execute_fails_the_tuple_with_type_text_and_place(self):
        @gale.bolt
        def fails(tuple, out):
            raise ValueError(f"no {tuple[0]}")
        (topology, heard), log = numbers_to(fails, count=2, again=False), Lines()
        stats = run(topology, log=log.logger)
        self.assertEqual((stats.acked, stats.failed), (0, 2))
        for id, reason, text in heard.reasons():
            self.assertEqual(reason, gale.Reason.FAILED)
            self.assertRegex(text, rf"^ValueError: no {id} \({re.escape(HERE)}:\d+\)$")
        self.assertEqual(len([line for line in log.lines if "ValueError: no 1" in line]), 1, log.lines)

    def test_a_manual_bolt_too(self):
        class Fails(gale.Bolt):
            def execute(self, tuple):
                return {}["key"]
        topology, heard = numbers_to(Fails, count=1, again=False)
        run(topology)
        self.assertRegex(heard.failed[0][1].text, r"^KeyError: 'key' \(exceptions_test.py:\d+\)$")
        self.assertEqual(heard.failed[0][1].component, "bolt")

    def test_a_long_text_leaves_room_for_the_place(self):
        @gale.bolt
        def fails(tuple, out):
            raise ValueError("ä" * 1000 + "\0\n")
        topology, heard = numbers_to(fails, count=1, again=False)
        run(topology)
        self.assertRegex(heard.failed[0][1].text, r"^ValueError: ä+ \(exceptions_test.py:\d+\)$")

    def test_an_exception_that_cannot_say_what_it_is(self):
        class Mute(Exception):
            def __str__(self):
                raise ValueError

        @gale.bolt
        def fails(tuple, out):
            raise Mute
        topology, heard = numbers_to(fails, count=1, again=False)
        run(topology)
        self.assertRegex(heard.failed[0][1].text, r"^Mute: \? \(exceptions_test.py:\d+\)$")

    def test_what_the_package_refuses_is_said_where_it_was_called(self):
        class Emits(gale.BasicBolt):
            outputs = ["a", "b"]

            def execute(self, tuple):
                self.out.emit([1])
        topology, heard = numbers_to(Emits, count=1, again=False)
        run(topology)
        self.assertRegex(heard.failed[0][1].text, r"^GaleError: 'bolt' emits 1 values to 'default', which has 2: a, b \(exceptions_test")

    def test_what_is_no_row_is_said_with_what_one_is(self):
        class Emits(gale.BasicBolt):
            outputs = ["a"]
            made = {0: 5, 1: "x", 2: b"x", 3: {"a": 1}, 4: {1}, 5: None, 6: (value for value in [1])}

            def execute(self, tuple):
                row = self.made[tuple[0] % 7]
                self.out.emit(row) if tuple[0] < 7 else self.out.emit_many([[1], row])
        topology, heard = numbers_to(Emits, count=14, again=False)
        run(topology)
        said = {id: text for id, _reason, text in heard.reasons()}
        for id, words in enumerate(2 * ("5", "'x'", "b'x'", "{'a': 1}", "{1}", "None", "<generator")):
            self.assertTrue(said[id].startswith(f"RowError: {words}"), said[id])
            self.assertRegex(said[id], rf" is no row of 'bolt': a row is a list or tuple of values.* \({re.escape(HERE)}:\d+\)$")
        self.assertIn("of values: ['x'] (", said[1])

    def test_rows_of_other_types_are_rows(self):
        class Emits(gale.BasicBolt):
            outputs = ["a"]

            def execute(self, tuple):
                for row in [1], (1,), range(1), tuple, collections.deque([1]):
                    self.out.emit(row)
        topology, heard = numbers_to(Emits, count=1, again=False)
        run(topology)
        self.assertEqual((heard.acked, heard.failed), ([0], []))

    def test_a_stream_or_field_that_is_not_there(self):
        for call, words in (lambda self, tuple: self.out.emit([1], "bad"), "declares no stream 'bad': it has default"), \
                           (lambda self, tuple: tuple["x"], "'numbers' has no field 'x' in 'default': it has number"):
            topology, heard = numbers_to(type("Bolt", (gale.BasicBolt,), {"execute": call, "outputs": ["n"]}), count=1, again=False)
            run(topology)
            self.assertIn(words, heard.failed[0][1].text)

    def test_open_and_prepare_stop_the_start(self):
        class Source(gale.Spout):
            outputs = ["x"]

            def open(self):
                raise ConnectionError("no server")

            def next(self):
                return gale.DONE
        topology = gale.Topology("t")
        topology.add_spout("source", Source)
        topology.add_bolt("bolt", gale.bolt(lambda tuple, out: None)).shuffle_grouping("source")
        with topology, gale.Runtime(topology) as runtime, self.assertRaises(gale.GaleError) as caught:
            runtime.run()
        self.assertRegex(caught.exception.text, r"^ConnectionError: no server \(exceptions_test.py:\d+\)\nspout 'source'")
        self.assertEqual(caught.exception.code, gale.ErrorCode.COMPONENT)

    def test_one_that_cannot_be_made_too(self):
        with self.assertRaises(gale.GaleError) as caught:
            run(numbers_to(Unmade)[0])
        self.assertRegex(caught.exception.text, r"^ValueError: not today \(exceptions_test.py:\d+\)")

    def test_arguments_that_do_not_fit_are_refused_where_they_are_given(self):
        topology = gale.Topology("t")
        tail = gale.spout(two_and_no_more.function, outputs=["n"])
        for add, component, arguments, text in (
                (topology.add_spout, tail, {"pth": 1}, r"two_and_no_more: got an unexpected keyword argument 'pth'"),
                (topology.add_bolt, Unmade, {"now": 1}, r"Unmade: got an unexpected keyword argument 'now'"),
                (topology.add_bolt, Taken, None, r"Taken: missing a required argument: 'taken'"),
                (topology.add_bolt, Idle, {"x": 1}, r"Idle: got an unexpected keyword argument 'x'")):
            with self.assertRaisesRegex(TypeError, text):
                add("x", component, arguments=arguments)

    def test_next_makes_the_spout_back_off(self):
        class Source(gale.Spout):
            outputs = ["x"]
            asked = 0

            def next(self):
                Source.asked += 1
                if Source.asked < 4:
                    raise OSError("not now")
                return gale.DONE
        topology, log = gale.Topology("t"), Lines()
        topology.add_spout("source", Source)
        topology.add_bolt("bolt", gale.bolt(lambda tuple, out: None)).shuffle_grouping("source")
        run(topology, log=log.logger)
        self.assertEqual(Source.asked, 4)
        self.assertTrue([line for line in log.lines if "OSError: not now" in line])

    def test_ack_fail_close_and_the_others_are_reported(self):
        class Source(Numbers):
            def activate(self):
                raise ValueError("in activate")

            def ack(self, id):
                raise ValueError("in ack")

            def fail(self, id, failure):
                raise ValueError("in fail")

            def close(self):
                raise ValueError("in close")

        class Fails(gale.BasicBolt):
            def execute(self, tuple):
                if tuple[0]:
                    raise ValueError("in execute")

            def finish(self):
                raise ValueError("in finish")

            def cleanup(self):
                raise ValueError("in cleanup")
        topology, log = gale.Topology("t"), Lines()
        topology.add_spout("source", Source, arguments={"count": 2, "heard": Heard()})
        topology.add_bolt("bolt", Fails).shuffle_grouping("source")
        with self.assertRaises(gale.GaleError) as caught:
            run(topology, log=log.logger)
        self.assertIn("ValueError: in finish", caught.exception.text)
        for place in "activate", "ack", "fail", "close", "execute", "finish", "cleanup":
            self.assertTrue([line for line in log.lines if f"in {place} (" in line], (place, log.lines))

    def test_a_spout_that_emits_what_it_did_not_declare_stops_the_run_at_once(self):
        for emit, words in (lambda out: out.emit([1], "bad"), r"^NoStream: .*declares no stream 'bad': it has default"), \
                           (lambda out: out.emit([1, 2]), r"^GaleError: .*emits 2 values to 'default', which has 1: x"):
            class Source(gale.Spout):
                outputs = ["x"]

                def next(self):
                    emit(self.out)
            topology, log = gale.Topology("t"), Lines()
            topology.add_spout("source", Source)
            topology.add_bolt("bolt", gale.bolt(lambda tuple, out: None)).shuffle_grouping("source")
            with self.assertRaisesRegex(gale.GaleError, words):
                run(topology, log=log.logger)
            self.assertEqual(len(log.lines), 1, log.lines)

    def test_what_next_returns_wrongly(self):
        class Source(gale.Spout):
            outputs = ["x"]

            def next(self):
                self.out.stop("enough")
                return 17
        topology, log = gale.Topology("t"), Lines()
        topology.add_spout("source", Source)
        topology.add_bolt("bolt", gale.bolt(lambda tuple, out: None)).shuffle_grouping("source")
        with self.assertRaises(gale.GaleError) as caught:
            run(topology, log=log.logger)
        self.assertTrue(caught.exception.text.startswith("enough\n"))
        self.assertTrue([line for line in log.lines if "next() returns None, DONE" in line], log.lines)


@gale.spout(outputs=["number"])
def two_and_no_more():
    yield [1]
    yield [2]
    raise ValueError("no third")


class OfAFunctionsSpout(unittest.TestCase):
    """What it raises is not the end of its input."""
    WORDS = r"^ValueError: no third \(exceptions_test.py:\d+\)\ntask \d+ of 'source' stopped the run$"

    def run_to(self, bolt, **options):
        topology = gale.Topology("t")
        topology.add_spout("source", two_and_no_more, **options)
        topology.add_bolt("bolt", bolt).shuffle_grouping("source")
        return topology

    def test_it_stops_the_run_when_the_rows_before_are_worked_off(self):
        taken, failing = [], [1, 2]

        class Late(gale.Bolt):
            """Fails each once, and answers later."""

            def execute(self, tuple):
                held = self.out.hold(tuple)

                def answer(watch, events):
                    watch.free()
                    if held["number"] in failing:
                        failing.remove(held["number"])
                        return self.out.fail(held)
                    taken.append(held["number"])
                    self.out.ack(held)
                self.out.timer(self.context.now(), answer)
        log, topology = Lines(), self.run_to(Late, config={"topology.replay.attempts": 5})
        with topology, gale.Runtime(topology, log=log.logger) as runtime:
            with self.assertRaisesRegex(gale.GaleError, self.WORDS) as caught:
                runtime.run()
            self.assertEqual(caught.exception.code, gale.ErrorCode.COMPONENT)
            self.assertEqual((sorted(taken), runtime.stats().acked, runtime.stats().open), ([1, 2], 2, 0))
        self.assertEqual(len([line for line in log.lines if "no third" in line]), 1, log.lines)

    def test_a_drain_meanwhile_does_not_hide_it(self):
        held, goes_on = [], threading.Event()

        class Holds(gale.Bolt):
            def prepare(self):
                self.out.timer(self.context.now(), self.look)

            def execute(self, tuple):
                held.append(self.out.hold(tuple))

            def look(self, watch, events):
                if not goes_on.is_set():
                    return watch.set(at=self.context.now() + 0.001)
                for tuple in held:
                    self.out.ack(tuple)
        log, topology = Lines(), self.run_to(Holds)
        with topology, gale.Runtime(topology, log=log.logger) as runtime:
            runtime.start()
            wait_for(lambda: len(held) == 2 and log.lines)
            runtime.drain()
            goes_on.set()
            with self.assertRaisesRegex(gale.GaleError, self.WORDS):
                runtime.wait(SECONDS)
            self.assertEqual(runtime.stats().acked, 2)

    def test_a_row_that_cannot_be_emitted_too(self):
        wrong = gale.spout(lambda: iter([[1], [object()]]), outputs=["number"])
        topology = gale.Topology("t")
        topology.add_spout("source", wrong)
        topology.add_bolt("bolt", gale.bolt(lambda tuple, out: None)).shuffle_grouping("source")
        with self.assertRaisesRegex(gale.GaleError, "^TypeError: field 'number' of 'source': a value may be"):
            run(topology)

    def test_what_is_no_row_stops_it_with_the_line_that_yielded_it(self):
        @gale.spout(outputs=["number"])
        def source(row):
            yield [1]
            yield row
        line = source.function.__code__.co_firstlineno + 3
        for row in 5, "x", [1, 2]:
            topology = gale.Topology("t")
            topology.add_spout("source", source, arguments={"row": row})
            topology.add_bolt("bolt", gale.bolt(lambda tuple, out: None)).shuffle_grouping("source")
            words = f"^RowError: {row!r} is no row of 'source'" if row != [1, 2] else "^GaleError: 'source' emits 2 values"
            with self.assertRaisesRegex(gale.GaleError, rf"{words}.* \({re.escape(HERE)}:{line}\)\n"):
                run(topology)

    def test_a_file_with_a_bad_byte(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"good\n" * 10000 + b"\xff\n")
            file.flush()
            seen = []

            @gale.spout(outputs=["line"])
            def lines():
                with open(file.name, encoding="utf-8") as opened:
                    for line in opened:
                        yield [line]
            topology = gale.Topology("t")
            topology.add_spout("lines", lines)
            topology.add_bolt("bolt", gale.bolt(lambda tuple, out: seen.append(tuple[0]))).shuffle_grouping("lines")
            with self.assertRaisesRegex(gale.GaleError, "^UnicodeDecodeError: .*exceptions_test.py"):
                run(topology)
            self.assertTrue(seen)

    def test_in_a_test(self):
        with Test.of_spout(two_and_no_more) as test, self.assertRaisesRegex(gale.GaleError, "no third"):
            test.finish()

    def test_a_test_takes_no_text_for_a_row(self):
        with Test.of_bolt(gale.bolt(lambda tuple, out: None), {"lines": ["line"]}) as test:
            with self.assertRaisesRegex(TypeError, r"^'x' is no row of 'lines': a row is a list or tuple of values: \['x'\]$"):
                test.feed("lines", "x")
            with self.assertRaisesRegex(TypeError, "^'x' is no row of 'bolt'"):
                test.expect("bolt", ["x"])


class WithoutALogger(unittest.TestCase):
    """Of Runtime: what is wrong is said all the same."""
    PROGRAM = """
import gale
@gale.bolt
def fails(tuple, out): raise ValueError("no %d" % tuple[0])
topology = gale.Topology("t")
topology.add_spout("numbers", gale.spout(lambda: iter([[1]]), outputs=["n"]))
topology.add_bolt("fails", fails).shuffle_grouping("numbers")
{before}
with topology, gale.Runtime(topology, until_drained=True{options}) as runtime:
    try: runtime.run()
    except gale.FailedForGood: pass
"""
    TEXT = "ValueError: no 1 (<string>:4)\n"

    def said(self, options="", before=""):
        done = subprocess.run([sys.executable, "-c", self.PROGRAM.format(before=before, options=options)], timeout=SECONDS,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return done.stderr

    def test_warnings_go_to_the_standard_error(self):
        self.assertEqual(self.said(), f"fails: {self.TEXT}numbers: gives up the tuple with id 0: {self.TEXT}")

    def test_the_applications_logging_has_them_if_it_is_configured(self):
        configured = "import logging; logging.basicConfig(format='%(name)s/%(levelname)s/%(message)s')"
        self.assertEqual(self.said(before=configured), f"gale/WARNING/fails: {self.TEXT}gale/WARNING/numbers: gives up the "
                                                       f"tuple with id 0: {self.TEXT}")

    def test_silence_is_asked_for(self):
        for silence in None, "off":
            self.assertEqual(self.said(f", log={silence!r}"), "")


class LinesThatComeAgain(unittest.TestCase):
    def setUp(self):
        self.now, self.lines = 0.0, []
        self.fold = Fold(lambda level, name, text: self.lines.append(f"{name}: {text}"), lambda: self.now)

    def add(self, *texts, level=LogLevel.WARN):
        for text in texts:
            self.fold.add(level, "top", text)
        lines, self.lines = self.lines, []
        return lines

    def flush(self, **how):
        self.fold.flush(**how)
        return self.add()

    def test_ten_of_a_second_are_shown_and_of_the_others_the_last_with_their_number(self):
        self.assertEqual(len(self.add(*(f"KeyError: '{i}' (t.py:21)" for i in range(100)))), 10)
        self.assertEqual(self.flush(), [])
        self.now = 1.5
        self.assertEqual(self.flush(), ["top: KeyError: '99' (t.py:21) (and 89 more like it)"])
        self.assertEqual(self.add("KeyError: 'a' (t.py:21)", "KeyError: 'b' (t.py:21)"), ["top: KeyError: 'a' (t.py:21)"])
        self.assertEqual(self.flush(all=True), ["top: KeyError: 'b' (t.py:21)"])

    def test_values_in_double_quotes_make_no_difference_and_words_do(self):
        self.assertEqual(len(self.add(*(f'no "{chr(97 + i)}" there' for i in range(20)))), 10)
        self.assertEqual(len(self.add(*(f"don't {word} it" for word in ("eat", "drink", "see")))), 3)

    def test_other_levels_are_shown(self):
        self.assertEqual(len(self.add(*(f"line {i}" for i in range(20)), level=LogLevel.INFO)), 20)

    def test_of_many_kinds_none_is_lost(self):
        shown = self.add(*(f"{chr(97 + kind) * 2}: {i}" for i in range(20) for kind in range(20))) + self.flush(all=True)
        more = [int(line.split("(and ")[1].split()[0]) for line in shown if "more like it" in line]
        self.assertEqual(len(shown) + sum(more), 400)

    def test_a_program_whose_every_tuple_fails_writes_few_lines_and_counts_all(self):
        for options in "", ", log='warn'":
            program = WithoutALogger.PROGRAM.replace("[[1]]", "[[i] for i in range(1000)]").format(before="", options=options)
            done = subprocess.run([sys.executable, "-c", program], timeout=SECONDS, capture_output=True, text=True)
            for what in "fails: ValueError: no ", "numbers: gives up the tuple with id ":
                lines = [line for line in done.stderr.splitlines() if what in line]
                more = [int(count) for count in re.findall(r"\(and (\d+) more like it\)", "\n".join(lines))]
                self.assertEqual(len(lines) + sum(more), 1000, done.stderr)
                self.assertLess(len(lines), 500)


class Unmade(Idle):
    def __init__(self):
        raise ValueError("not today")


class WhatEndsThePrograms(unittest.TestCase):
    def test_sys_exit_in_a_component_ends_the_run_first(self):
        closed = []

        class Exits(gale.BasicBolt):
            def execute(self, tuple):
                sys.exit(7)

            def cleanup(self):
                closed.append(True)
        with self.assertRaises(SystemExit) as caught:
            run(numbers_to(Exits, count=3)[0])
        self.assertEqual((caught.exception.code, closed), (7, [True]))

    PROGRAM = """
import gale, sys
class Endless(gale.Spout):
    outputs = ["n"]
    def next(self):
        if not self.out.pending: self.out.emit([1], id=1)
    told = False
    def ack(self, id):
        if not self.told: print("acked", flush=True)
        self.told = True
    def close(self): print("closed", file=sys.stderr, flush=True)
@gale.bolt
def take(tuple, out): pass
topology = gale.Topology("endless")
topology.add_spout("endless", Endless)
topology.add_bolt("take", take).shuffle_grouping("endless")
with gale.Runtime(topology) as runtime:
    {run}
"""

    def interrupted(self, how):
        program = subprocess.Popen([sys.executable, "-c", self.PROGRAM.replace("{run}", how)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), "acked\n")
        program.send_signal(signal.SIGINT)
        _out, said = program.communicate(timeout=SECONDS)
        return program.returncode, said

    def test_ctrl_c_drains_the_run_and_goes_on(self):
        """Wherever it strikes: a few times, each at another place."""
        for how in 5 * ("runtime.run()", "while runtime.step(0.01) is not None: pass"):
            code, said = self.interrupted(how)
            self.assertEqual(code, -signal.SIGINT, said)
            self.assertEqual((said.count("closed\n"), "KeyboardInterrupt" in said), (1, True), said)

    def test_ctrl_c_inside_of_a_call_on_the_main_thread_is_raised_behind_it(self):
        class Strikes(gale.BasicBolt):
            def execute(self, tuple):
                if tuple[0] == 1:
                    signal.raise_signal(signal.SIGINT)
        (topology, heard), raised = numbers_to(Strikes, count=3), 0
        with topology, gale.Runtime(topology, until_drained=True) as runtime:
            while runtime.phase != gale.Phase.CLOSED:
                try:
                    runtime.step()
                except KeyboardInterrupt:
                    raised += 1
        self.assertEqual((sorted(heard.acked), heard.failed, raised), ([0, 1, 2], [], 1))
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_ctrl_c_does_not_wait_forever_for_a_bolt_that_is_away(self):
        class Away(Idle):
            def prepare(self):
                raise gale.NotNow("nobody listens")
        waits, (topology, heard) = [], numbers_to(Away, count=1, again=False)

        class Runtime(gale.Runtime):
            def _wait(self, timeout, asked):
                waits.append(timeout)
                if len(waits) == 1:
                    threading.Thread(target=strike).start()
                return super()._wait(timeout, asked)

        def strike():
            wait_for(lambda: runtime.stats().open == 1)
            os.kill(os.getpid(), signal.SIGINT)
        with topology, Runtime(topology, log=None, end_within=0.01) as runtime:
            with self.assertRaises(KeyboardInterrupt):
                runtime.run()
            self.assertEqual(runtime.phase, gale.Phase.CLOSED)
        self.assertEqual((waits, len(heard.failed)), ([None, 0.01, None], 1))

    def test_a_second_ctrl_c_does_not_wait_for_the_call(self):
        class Strikes(gale.BasicBolt):
            def execute(self, tuple):
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)
        topology, heard = numbers_to(Strikes, count=1, again=False)
        with topology, gale.Runtime(topology) as runtime, self.assertRaises(KeyboardInterrupt):
            while runtime.step() is not None:
                pass
        self.assertIn("KeyboardInterrupt", heard.failed[0][1].text)

    def test_the_program_may_end_with_a_run_that_nobody_closed(self):
        program = self.PROGRAM.replace("with gale.Runtime(topology) as runtime:\n    {run}", "runtime = gale.Runtime(topology); runtime.start()")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual((done.returncode, done.stderr), (0, "closed\n"))


class Threads(unittest.TestCase):
    def test_a_task_keeps_its_thread_and_what_is_local_to_it(self):
        local, seen = threading.local(), set()

        class Looks(gale.BasicBolt):
            def prepare(self):
                local.task = self.context.task

            def execute(self, tuple):
                seen.add((local.task, threading.get_ident()))
        run(numbers_to(Looks, count=200)[0])
        self.assertEqual(len(seen), 1)


if __name__ == "__main__":
    unittest.main()
