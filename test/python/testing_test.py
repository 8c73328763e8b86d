#!/usr/bin/env python3
"""gale.testing: bolts, spouts and topologies in Python on virtual time, what is expected and what a test that fails
says."""

import unittest

import gale
from gale.testing import Test, TestState
from rig import Heard, Idle, Numbers


class Split(gale.BasicBolt):
    outputs = ["word"]

    def execute(self, tuple):
        if not tuple["line"]:
            raise ValueError("an empty line")
        for word in tuple["line"].split():
            self.out.emit([word])


class Count(gale.BasicBolt):
    outputs = ["word", "count"]

    def __init__(self, first=0):
        self.counts, self.first = {}, first

    def execute(self, tuple):
        word = tuple["word"]
        self.counts[word] = self.counts.get(word, self.first) + 1
        self.out.emit([word, self.counts[word]])


class Ticking(gale.BasicBolt):
    """Tells at each tick what came since."""
    outputs = ["count", "at"]

    def prepare(self):
        self.count = 0

    def execute(self, tuple):
        if tuple.is_tick:
            self.out.emit([self.count, self.context.now()])
            self.count = 0
        else:
            self.count += 1


def word_count():
    topology = gale.Topology("word-count")
    topology.add_spout("lines", gale.spout(lambda: iter(()), outputs=["line"]))
    topology.add_bolt("split", Split).shuffle_grouping("lines")
    topology.add_bolt("count", Count, parallelism=3).fields_grouping("split", "word")
    return topology


class Topologies(unittest.TestCase):
    def test_rows_in_any_order_and_in_the_same(self):
        for seed in range(1, 20):
            with word_count() as topology, Test(topology, seed=seed) as test:
                self.assertEqual(test.feed("lines", ["to be or not to be"]), 0)
                test.expect("split", [[word] for word in "to be or not to be".split()])
                test.expect("count", [["be", 2], ["to", 2]], order="contains")
                test.expect("count", [["be", 1], ["to", 1], ["or", 1], ["not", 1]], order="any")
                test.expect_acked()

    def test_what_differs_is_said(self):
        with word_count() as topology, Test(topology) as test:
            test.feed("lines", ["the cow"])
            with self.assertRaises(AssertionError) as caught:
                test.expect("count", [["the", 1], ["cow", 2], ["moon", 1]], order="any")
            for words in "'count' did not emit to 'default' what is wanted, in any order", 'count is 1, not 2', "missing":
                self.assertIn(words, str(caught.exception))

    def test_what_failed_and_why(self):
        with word_count() as topology, Test(topology) as test:
            good, bad = test.feed("lines", ["x"]), test.feed("lines", [""])
            test.expect_failed(bad, "ValueError: an empty line (testing_test.py:")
            answer = test.answer(bad)
            self.assertEqual((answer.state, answer.reason, answer.component, answer.attempts),
                             (TestState.FAILED, gale.Reason.FAILED, "split", 1))
            self.assertEqual(test.answer(good).state, TestState.ACKED)
            self.assertEqual(len(test.reports("split")), 1)
            with self.assertRaisesRegex(AssertionError, "an empty line"):
                test.expect_acked()
            with self.assertRaisesRegex(AssertionError, "acked"):
                test.expect_failed(good)

    def test_one_stands_in_for_another_and_edges_are_fed(self):
        class Loud(gale.BasicBolt):
            def execute(self, tuple):
                self.out.emit([tuple["line"].upper()])
        with word_count() as topology, Test(topology, stand_ins={"split": Loud}) as test:
            test.feed("lines", ["a b"])
            test.expect("count", [["A B", 1]])
        with word_count() as topology, Test(topology, edges=[("split", "count")]) as test:
            test.feed("split", ["x"])
            test.expect("count", [["x", 1]])

    def test_a_spout_may_be_kept(self):
        heard, topology = Heard(), gale.Topology("t")
        topology.add_spout("numbers", Numbers, arguments={"count": 5, "heard": heard})
        topology.add_bolt("count", Ticking).shuffle_grouping("numbers")
        with topology, Test(topology, kept=["numbers"], faults="fail=0.3", seed=7) as test:
            test.finish()
            self.assertEqual(sorted(heard.acked), list(range(5)))

    def test_a_topology_of_a_file(self):
        topology = gale.Topology.from_text("""
name: t
spouts: [{id: lines, className: gale.spout.File, properties: [{name: path, value: "-"}]}]
bolts: [{id: split, className: gale.bolt.Split}]
streams: [{from: lines, to: split, grouping: {type: SHUFFLE}}]
""")
        topology.add_bolt("count", Count).fields_grouping("split", "word")
        with topology, Test(topology) as test:
            test.feed("lines", ["a a"])
            test.expect("count", [["a", 1], ["a", 2]])


class OneOfThem(unittest.TestCase):
    def test_a_bolt(self):
        with Test.of_bolt(Count, {"split": ["word"]}, arguments={"first": 10}) as test:
            for word in "a", "b", "a":
                test.feed("split", [word])
            test.settle()
            self.assertEqual(test.take("bolt"), ["a", 11])
            self.assertEqual(test.emitted("bolt"), [["b", 11], ["a", 12]])
            self.assertIsNone(test.take("bolt"))
            test.expect("bolt", [])

    def test_streams_of_a_bolt(self):
        class Knows(gale.BasicBolt):
            outputs = {"default": ["x"], "late": ["from", "x"]}

            def execute(self, tuple):
                self.out.emit([tuple.stream, tuple["x"]], "late")
        with Test.of_bolt(Knows, {"a": ["x"], ("b", "side"): ["y", "x"]}) as test:
            test.feed("a", [1])
            test.expect("bolt", [["default", 1]], "late")
            test.feed("b", [0, 2], "side")
            test.expect("bolt", [["side", 2]], "late")

    def test_a_spout(self):
        heard = Heard()
        with Test.of_spout(Numbers, arguments={"count": 3, "heard": heard}) as test:
            test.expect("spout", [[0], [1], [2]])
        self.assertEqual(heard.acked, [0, 1, 2])

    def test_time_is_virtual(self):
        topology = gale.Topology("t")
        topology.add_spout("x", Numbers, arguments={"count": 0, "heard": Heard()})
        topology.add_bolt("ticking", Ticking, config={"topology.tick.tuple.freq.secs": 3600}).shuffle_grouping("x")
        with topology, Test(topology) as test:
            test.feed("x", [1])
            test.advance(3 * 3600 + 1)
            self.assertEqual([count for count, _at in test.emitted("ticking")], [1, 0, 0])
            self.assertAlmostEqual(test.now, 3 * 3600 + 1)

    def test_timers_too(self):
        class Later(gale.Bolt):
            outputs = ["x"]

            def execute(self, tuple):
                held = self.out.hold(tuple)

                def answer(watch, events):
                    self.out.emit_anchored([self.context.now()], held)
                    self.out.ack(held)
                    watch.free()
                self.out.timer(self.context.now() + 20, answer)
        with Test.of_bolt(Later, {"x": ["x"]}) as test:
            test.feed("x", [1])
            test.expect("bolt", [])
            test.advance(19)
            test.expect("bolt", [])
            test.advance(2)
            (at,), = test.emitted("bolt")
            self.assertGreaterEqual(at, 20)
            test.expect_acked()

    def test_what_a_component_ends_the_test_with(self):
        class Fails(Idle):
            def prepare(self):
                raise ValueError("no")
        with self.assertRaisesRegex(gale.GaleError, "ValueError: no"), Test.of_bolt(Fails, {"x": ["x"]}) as test:
            test.settle()

        class Exits(gale.BasicBolt):
            def execute(self, tuple):
                raise SystemExit(3)
        with self.assertRaises(SystemExit), Test.of_bolt(Exits, {"x": ["x"]}) as test:
            test.feed("x", [1])
            test.settle()

    def test_a_component_cannot_use_what_calls_it(self):
        class Uses(gale.BasicBolt):
            def execute(self, tuple):
                (test.close if tuple[0] else test.settle)()
        with Test.of_bolt(Uses, {"x": ["x"]}) as test:
            for number in 0, 1:
                test.feed("x", [number])
                test.expect_failed(number, "a component cannot use the test that is calling it")

    def test_misuse(self):
        with Test.of_bolt(Count, {"split": ["word"]}) as test:
            for call, words in (lambda: test.feed("splt", ["x"]), "split"), (lambda: test.feed(
                "split", [1, 2]), "2 values for the 1 fields"):
                with self.assertRaisesRegex(gale.GaleError, words):
                    call()
            with self.assertRaisesRegex(ValueError, "order is"):
                test.expect("bolt", [], order="none")
            with self.assertRaisesRegex(ValueError, "others of these rows have 2"):
                test.expect("bolt", [["a", 1], ["b"]])
            with self.assertRaises(gale.GaleError):
                test.answer(99)
        with self.assertRaisesRegex(gale.GaleError, "the test is closed"):
            test.settle()
        with word_count() as topology, self.assertRaisesRegex(gale.GaleError, "splt.*split"):
            Test(topology, stand_ins={"splt": Split})


if __name__ == "__main__":
    unittest.main()
