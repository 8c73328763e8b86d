#!/usr/bin/env python3
"""Runtimes and what they hold: how a run begins and ends, figures, topologies of files, what is wrong with a topology,
and that nothing of it is left when it is freed, after a thousand of them.

usage: runtime_test.py [plain|sanitized]
"""

import gc
import pickle
import resource
import signal
import sys
import tempfile
import threading
import unittest
import weakref

import gale
from gale import calls, groupings, watch
from rig import SECONDS, Heard, Idle, Numbers, Taken, numbers_to, run, wait_for

SANITIZED = "sanitized" in sys.argv


class Endless(gale.Spout):
    outputs = ["number"]

    def next(self):
        self.out.emit([1], id=1)


def endless(bolt):
    topology = gale.Topology("endless")
    topology.set("topology.max.spout.pending", 100)
    topology.add_spout("endless", Endless)
    topology.add_bolt("bolt", bolt).shuffle_grouping("endless")
    return topology


class Ends(unittest.TestCase):
    def test_it_is_stopped_while_it_runs(self):
        with endless(gale.bolt(lambda tuple, out: None)) as topology, gale.Runtime(topology) as runtime:
            runtime.start()
            wait_for(lambda: runtime.stats().acked > 100)
            runtime.stop()
            runtime.wait(SECONDS)
            self.assertEqual((runtime.phase, runtime.stats().open), (gale.Phase.CLOSED, 0))

    def test_it_is_drained(self):
        with endless(gale.bolt(lambda tuple, out: None)) as topology, gale.Runtime(topology) as runtime:
            runtime.start()
            wait_for(lambda: runtime.stats().acked > 100)
            runtime.drain()
            runtime.wait(SECONDS)
            stats = runtime.stats()
            self.assertEqual((stats.trees, stats.stopped), (stats.acked, 0))

    def test_closing_it_stops_it(self):
        with endless(gale.bolt(lambda tuple, out: None)) as topology:
            runtime = gale.Runtime(topology)
            runtime.start()
            wait_for(lambda: runtime.stats().acked > 0)
            runtime.close()
            runtime.close()
            for call in runtime.stats, runtime.stop, runtime.step, runtime.wait, runtime.fileno:
                with self.assertRaisesRegex(gale.GaleError, "the runtime is closed"):
                    call()

    def test_a_bolt_that_blocks_is_named_and_it_can_be_closed_later(self):
        blocks, goes_on = threading.Event(), threading.Event()

        @gale.bolt
        def block(tuple, out):
            blocks.set()
            goes_on.wait(SECONDS)
        topology, _heard = numbers_to(block, count=1)
        with topology:
            runtime = gale.Runtime(topology)
            runtime.start()
            self.assertTrue(blocks.wait(SECONDS))
            with self.assertRaisesRegex(gale.GaleError, "in a call of 'bolt'") as caught:
                runtime.close(0.01)
            self.assertEqual(caught.exception.code, gale.ErrorCode.TIMED_OUT)
            goes_on.set()
            runtime.close()

    def test_waiting_has_an_end(self):
        with endless(gale.bolt(lambda tuple, out: None)) as topology, gale.Runtime(topology) as runtime:
            runtime.start()
            with self.assertRaises(gale.GaleError) as caught:
                runtime.wait(0.01)
            self.assertEqual(caught.exception.code, gale.ErrorCode.TIMED_OUT)

    def test_another_thread_closes_it_while_one_waits(self):
        with endless(gale.bolt(lambda tuple, out: None)) as topology:
            runtime, ended = gale.Runtime(topology), []
            runtime.start()
            waits = threading.Thread(target=lambda: ended.append(runtime.wait()))
            waits.start()
            wait_for(lambda: runtime._users)
            runtime.close()
            waits.join(SECONDS)
            self.assertEqual(ended, [None])

    def test_only_one_thread_closes_it(self):
        blocks, goes_on, refused = threading.Event(), threading.Event(), []

        @gale.bolt
        def block(tuple, out):
            blocks.set()
            goes_on.wait(SECONDS)
            try:
                runtime.close()
            except gale.GaleError as error:
                refused.append(error.text)
        topology, _heard = numbers_to(block, count=1)
        runtime = gale.Runtime(topology)
        runtime.start()
        self.assertTrue(blocks.wait(SECONDS))
        closes = threading.Thread(target=runtime.close)
        closes.start()
        wait_for(lambda: runtime._closing)
        with self.assertRaisesRegex(gale.GaleError, "the runtime is being closed"):
            runtime.close()
        goes_on.set()
        closes.join(SECONDS)
        runtime.close()
        self.assertEqual(refused, ["the runtime is being closed"])

    def test_ctrl_c_while_it_is_closed(self):
        class Strikes(gale.BasicBolt):
            def execute(self, tuple):
                pass

            def cleanup(self):
                signal.raise_signal(signal.SIGINT)
        topology, _heard = numbers_to(Strikes, count=1)
        runtime = gale.Runtime(topology)
        while runtime.stats().acked == 0:
            runtime.step()
        with self.assertRaises(KeyboardInterrupt):
            runtime.close()
        with self.assertRaisesRegex(gale.GaleError, "the runtime is closed"):
            runtime.stats()

    def test_a_component_cannot_close_what_calls_it(self):
        refused = []
        for steps in False, True:
            class Closes(gale.BasicBolt):
                def execute(self, tuple):
                    for call in runtime.close, runtime.wait:
                        try:
                            call()
                        except gale.GaleError as error:
                            refused.append(error.code)
            topology, heard = numbers_to(Closes, count=1)
            with topology, gale.Runtime(topology, until_drained=True) as runtime:
                if steps:
                    while runtime.step() is not None:
                        pass
                else:
                    runtime.run()
            self.assertEqual(heard.acked, [0])
        self.assertEqual(refused, [gale.ErrorCode.STATE] * 4)

    def test_inactive_until_it_is_activated(self):
        topology, heard = numbers_to(gale.bolt(lambda tuple, out: None), count=5)
        with topology, gale.Runtime(topology, inactive=True, until_drained=True) as runtime:
            runtime.start()
            self.assertEqual(runtime.stats().trees, 0)
            runtime.activate()
            runtime.wait(SECONDS)
        self.assertEqual(len(heard.acked), 5)


class Figures(unittest.TestCase):
    def test_figures(self):
        @gale.bolt
        def odd(tuple, out):
            if tuple[0] % 2:
                raise ValueError("odd")
        topology, _heard = numbers_to(odd, count=10, again=False, parallelism=2)
        with topology, gale.Runtime(topology, until_drained=True, executors=2) as runtime:
            runtime.run()
            stats, tasks_ = runtime.stats(), runtime.task_stats()
            self.assertEqual((stats.trees, stats.acked, stats.failed, stats.executed,
                             stats.phase), (10, 5, 5, 10, gale.Phase.CLOSED))
            self.assertEqual([(t.task, t.component, t.spout) for t in tasks_], [
                             (1, "bolt", False), (2, "bolt", False), (3, "numbers", True)])
            self.assertEqual((tasks_[0].executed + tasks_[1].executed, tasks_[2].emitted), (10, 10))
            self.assertLess(stats.complete_p50, 60)
            self.assertEqual(runtime.failures("bolt", gale.Reason.FAILED), 5)
            self.assertIsNone(runtime.checkpoint_stats())

    def test_open_trees_say_where_they_are(self):
        class Holds(gale.Bolt):
            def execute(self, tuple):
                self.out.hold(tuple)
        topology, _heard = numbers_to(Holds, count=3)
        with topology, gale.Runtime(topology) as runtime:
            runtime.start()
            wait_for(lambda: runtime.stats().executed == 3)
            wait_for(lambda: {tree.place for tree in runtime.open_trees()} == {gale.Place.HELD})
            self.assertEqual([(t.spout, t.component, t.message_id)
                             for t in runtime.open_trees(2)], [("numbers", "bolt", 0), ("numbers", "bolt", 1)])


class Built(unittest.TestCase):
    def test_what_is_wrong_is_said(self):
        nothing = gale.bolt(lambda tuple, out: None)
        with self.assertRaisesRegex(gale.GaleError, "a/b"):
            gale.Topology("a/b").check()
        with self.assertRaisesRegex(gale.GaleError, "nowhere"):
            numbers_to(nothing)[0].inputs_of("nowhere").shuffle_grouping("numbers")
        topology, _heard = numbers_to(nothing)
        topology.inputs_of("bolt").fields_grouping("numbers", "numbr")
        with self.assertRaisesRegex(gale.GaleError, "number") as caught:
            gale.Runtime(topology)
        self.assertEqual(caught.exception.code, gale.ErrorCode.TOPOLOGY)
        with self.assertRaisesRegex(gale.GaleError, "topology.workers"):
            gale.Topology("t").set("topology.worker", 1)
        for made, words in (nothing(), "which each task makes|not <"), (print,
                                                                        "is a class of Spout or Bolt"), (Endless, "is a Spout"):
            with self.assertRaisesRegex(TypeError, words):
                gale.Topology("t").add_bolt("b", made)
        with self.assertRaisesRegex(ValueError, "drop is 'nothing'"):
            numbers_to(nothing)[0].inputs_of("bolt").shuffle_grouping("numbers", drop="some")
        with self.assertRaisesRegex(ValueError, "NUL"):
            gale.Topology("a\0b")
        with self.assertRaisesRegex(ValueError, "log is a logging.Logger"):
            gale.Runtime(topology, log="loud")
        with self.assertRaisesRegex(TypeError, "only one of save and restore"):
            gale.Topology("t").add_bolt("b", type("Half", (gale.Bolt,), {"save": print}))
        with self.assertRaisesRegex(ValueError, "durable is"):
            gale.Topology("t").add_bolt("b", type("Half", (gale.Bolt,), {"durable": "all"}))

    def test_a_topology_that_was_closed(self):
        topology, _heard = numbers_to(gale.bolt(lambda tuple, out: None))
        topology.close()
        topology.close()
        with self.assertRaisesRegex(gale.GaleError, "the topology is closed"):
            gale.Runtime(topology)

    def test_a_running_topology_does_not_change(self):
        topology, _heard = numbers_to(gale.bolt(lambda tuple, out: None))
        with topology, gale.Runtime(topology):
            with self.assertRaises(gale.GaleError) as caught:
                topology.set("topology.debug", True)
            self.assertEqual(caught.exception.code, gale.ErrorCode.STATE)

    def test_errors_can_be_pickled(self):
        error = pickle.loads(pickle.dumps(gale.GaleError(-2, "words")))
        self.assertEqual((error.code, error.text, str(error)), (gale.ErrorCode.INVALID, "words", "words"))
        self.assertEqual(gale.GaleError(-999).code, -999)


YAML = """
name: of-a-file
spouts:
  - {id: lines, className: gale.spout.File, properties: [{name: path, value: FILE}]}
bolts:
  - {id: split, className: gale.bolt.Split}
  - {id: count, className: gale.bolt.Count, properties: [{name: emit, value: finish}]}
streams:
  - {from: lines, to: split, grouping: {type: SHUFFLE}}
  - {from: split, to: count, grouping: {type: FIELDS, args: [word]}}
"""


class Files(unittest.TestCase):
    def test_a_file_with_a_bolt_in_python(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as text, tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            text.write("to be or not to be\n" * 10)
            text.flush()
            file.write(YAML.replace("FILE", "nothing"))
            file.flush()
            for topology in gale.Topology.from_file(file.name, config={"gale.input": text.name}), \
                    gale.Topology.from_text(YAML.replace("FILE", text.name), sets=["count.parallelism=2"]):
                rows = []
                topology.add_bolt("sink", Taken, arguments={"taken": rows}).global_grouping("count")
                self.assertEqual(topology.name, "of-a-file")
                run(topology)
                self.assertEqual(sorted(rows), [["be", 20], ["not", 10], ["or", 10], ["to", 20]])

    def test_what_is_wrong_with_a_file(self):
        with self.assertRaisesRegex(gale.GaleError, r"^text:6:.*Splt.*Split"):
            gale.Topology.from_text(YAML.replace("gale.bolt.Split", "gale.bolt.Splt"))
        with self.assertRaises(gale.GaleError) as caught:
            gale.Topology.from_file("/nowhere.yaml")
        self.assertEqual(caught.exception.code, gale.ErrorCode.IO)


def resident():
    """Bytes."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Lives(unittest.TestCase):
    def one(self, starts=True):
        topology, heard = numbers_to(type("Own", (gale.BasicBolt,), {"execute": lambda self, tuple: None}), count=3)
        topology.inputs_of("bolt").custom_grouping("numbers", lambda values, tasks: [0])
        if starts:
            run(topology)
            self.assertEqual(len(heard.acked), 3)
        elif starts is None:
            with gale.Runtime(topology):
                topology.close()
        else:
            topology.close()

    def left(self):
        gc.collect()
        return len(calls.definitions), len(calls.tasks), len(groupings.choosers), len(watch._watches)

    def test_nothing_is_left_of_a_thousand_topologies(self):
        for _ in range(50):
            self.one()
        before, size = self.left(), resident()
        for number in range(1000):
            self.one((True, False, None)[number % 3])
        self.assertEqual(self.left(), before)
        if not SANITIZED:  # whose memory is not given back
            self.assertLess(resident() - size, 8 << 20)

    def test_what_is_forgotten_is_freed(self):
        before = self.left()
        topology, _heard = numbers_to(gale.bolt(lambda tuple, out: None))
        runtime = gale.Runtime(topology, until_drained=True)
        runtime.run()
        gone = weakref.ref(runtime)
        del topology, runtime
        self.assertEqual((self.left(), gone()), (before, None))

    def test_what_a_task_had_is_of_no_use_when_it_has_ended_or_elsewhere(self):
        kept, refused = [], []

        class Keeps(gale.BasicBolt):
            outputs = ["x"]

            def prepare(self):
                self.state = self.out.state()
                self.timer = self.out.timer(self.context.now() + 1000, print)
                kept.append(self)

            def execute(self, tuple):
                other = threading.Thread(target=use, args=(self,))
                other.start()
                other.join(SECONDS)

        def use(bolt):
            for call in (lambda: bolt.out.emit([1]), lambda: bolt.out.report("x"), lambda: bolt.state.get("x"),
                         lambda: bolt.timer.set(at=1), lambda: bolt.out.timer(1, print), bolt.context.random):
                try:
                    call()
                except gale.GaleError as error:
                    refused.append((error.code, error.text))
        run(numbers_to(Keeps, count=1)[0])
        self.assertEqual(refused, [(gale.ErrorCode.THREAD, "what a task of 'bolt' has belongs to its own thread")] * 5)
        refused.clear()
        use(kept[0])
        kept[0].timer.free()
        self.assertEqual(refused, [(gale.ErrorCode.STATE, "this task of 'bolt' has ended")] * 6)

    def test_who_steps_may_be_another_thread_each_time(self):
        (topology, heard), ended = numbers_to(gale.bolt(lambda tuple, out: None), count=100), []
        with topology, gale.Runtime(topology, until_drained=True) as runtime:
            while not ended:
                one = threading.Thread(target=lambda: runtime.step(0.00001) is None and ended.append(True))
                one.start()
                one.join(SECONDS)
        self.assertEqual(sorted(heard.acked), list(range(100)))

    def test_what_could_not_be_added_is_freed(self):
        before, topology = self.left(), gale.Topology("t")
        topology.add_spout("a", Numbers, arguments={"count": 0, "heard": Heard()})
        with self.assertRaisesRegex(gale.GaleError, "'a'"):
            topology.add_spout("a", Numbers, arguments={"count": 0, "heard": Heard()})
        topology.close()
        del topology
        self.assertEqual(self.left(), before)

    def test_a_task_that_could_not_be_opened_is_freed(self):
        before = self.left()
        with self.assertRaises(gale.GaleError):
            self.run_what_does_not_open()
        self.assertEqual(self.left(), before)

    def run_what_does_not_open(self):
        class Fails(Idle):
            def prepare(self):
                raise ValueError("no")
        run(numbers_to(Fails)[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
