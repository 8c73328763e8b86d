#!/usr/bin/env python3
"""What Python components count: that it is right over tasks, what is refused, and how it is read."""

import threading
import unittest

import gale
from gale.testing import Test
from rig import Heard, Numbers, numbers_to, run, wait_for


def counted(bolt, count=100, **options):
    """The metrics of a run, by name; and what failed, in words."""
    topology, heard = numbers_to(bolt, count=count, again=False, **options)
    with topology, gale.Runtime(topology, until_drained=True, log=None) as runtime:
        runtime.run()
        return {metric.name: metric for metric in runtime.metrics()}, [text for _id, _reason, text in heard.reasons()]


class Metrics(unittest.TestCase):
    def test_what_is_counted_is_right_over_tasks(self):
        class Counts(gale.BasicBolt):
            def prepare(self):
                self.seen = self.out.metric("seen", help="Numbers.")
                self.tasks = self.out.metric("tasks", "gauge")
                self.sizes = self.out.metric("sizes", "histogram")

            def execute(self, tuple):
                self.seen.add()
                self.tasks.set(self.seen.kind == "counter")
                self.sizes.observe(tuple[0])
        metrics, failed = counted(Counts, parallelism=4)
        seen, tasks, sizes = (metrics[name] for name in ("seen", "tasks", "sizes"))
        self.assertEqual((seen.component, seen.kind, seen.help, seen.value, seen.tasks), ("bolt", "counter", "Numbers.", 100, 4))
        self.assertEqual((tasks.kind, tasks.value), ("gauge", 4))
        self.assertEqual((sizes.kind, sizes.value, sizes.count, sizes.max), ("histogram", sum(range(100)), 100, 99))
        self.assertTrue(49 <= sizes.p50 <= 53 and sizes.p50 <= sizes.p90 <= sizes.p99 <= 99, sizes)
        self.assertEqual(failed, [])

    def test_a_name_may_be_asked_for_each_time_and_is_the_same_metric(self):
        same = []

        @gale.bolt
        def count(tuple, out):
            out.metric(f"class_{tuple[0] % 3}").add(2)
            same.append(out.metric("class_0") is out.metric("class_0"))
        metrics, failed = counted(count, count=9)
        self.assertEqual({name: metric.value for name, metric in metrics.items()}, {"class_0": 6, "class_1": 6, "class_2": 6})
        self.assertEqual((set(same), failed), ({True}, []))

    def test_labels_make_series(self):
        @gale.bolt
        def count(tuple, out):
            labels = {"half": tuple[0] % 2, "name": "a"}
            out.metric("seen", labels=labels).add()
            out.metric("seen", labels=dict(reversed(labels.items()))).add()
        topology = gale.Topology("labels")
        topology.add_spout("numbers", Numbers, arguments={"count": 10, "heard": Heard()})
        topology.add_bolt("bolt", count, parallelism=2).shuffle_grouping("numbers")
        with topology, gale.Runtime(topology, until_drained=True, log=None) as runtime:
            runtime.run()
            seen = [(metric.labels, metric.value, metric.tasks) for metric in runtime.metrics()]
        self.assertCountEqual([each[:2] for each in seen], [({"half": "0", "name": "a"}, 10), ({"half": "1", "name": "a"}, 10)])

    def test_a_spout_counts_too(self):
        class Counts(Numbers):
            def next(self):
                self.out.metric("asked").add()
                return super().next()

            def ack(self, id):
                self.out.metric("acked").add()
        topology = gale.Topology("counts")
        topology.add_spout("numbers", Counts, arguments={"count": 5, "heard": None})
        topology.add_bolt("bolt", gale.bolt(lambda tuple, out: None)).shuffle_grouping("numbers")
        with topology, gale.Runtime(topology, until_drained=True, log=None) as runtime:
            runtime.run()
            values = {metric.name: metric.value for metric in runtime.metrics()}
        self.assertEqual(values["acked"], 5)
        self.assertGreaterEqual(values["asked"], 5)

    def test_they_are_read_while_it_runs_and_there_are_none_at_first(self):
        counted, goes_on = threading.Event(), threading.Event()

        @gale.bolt
        def count(tuple, out):
            out.metric("seen").add()
            counted.set()
            goes_on.wait()
        topology, _heard = numbers_to(count, count=2)
        with topology, gale.Runtime(topology, until_drained=True, log=None) as runtime:
            self.assertEqual(runtime.metrics(), [])
            runtime.start()
            wait_for(counted.is_set)
            self.assertEqual([(metric.name, metric.value) for metric in runtime.metrics()], [("seen", 1)])
            goes_on.set()
            runtime.wait()
            self.assertEqual(runtime.metrics()[0].value, 2)

    def test_a_bolt_that_is_run_alone_may_count(self):
        @gale.bolt
        def count(tuple, out):
            out.metric("seen").add()
        with Test.of_bolt(count, {"lines": ["line"]}) as test:
            test.feed("lines", ["x"])
            test.finish()
            test.expect_acked()


class Refusals(unittest.TestCase):
    def refused(self, execute, count=1):
        """The words that tuples fail with."""
        metrics, failed = counted(gale.bolt(lambda tuple, out: execute(out)), count=count)
        return metrics, failed

    def expect(self, text, execute):
        self.assertIn(text, self.refused(execute)[1][0])

    def test_values_that_cannot_be_are_refused_and_not_counted(self):
        self.expect("the counter 'c' cannot take -1: it is a number from 0 on", lambda out: out.metric("c").add(-1))
        self.expect("cannot take nan", lambda out: out.metric("c").add(float("nan")))
        self.expect("the histogram 'h' cannot take inf", lambda out: out.metric("h", "histogram").observe(float("inf")))
        self.expect("the gauge 'g' cannot take inf: it is a finite number", lambda out: out.metric("g", "gauge").set(float("inf")))
        metrics, _failed = self.refused(lambda out: out.metric("c").add(-1))
        self.assertEqual((metrics["c"].value, metrics["c"].count), (0, 0))
        self.expect("ArgumentError", lambda out: out.metric("c").add("x"))

    def test_a_metric_does_what_its_kind_does(self):
        self.expect("TypeError: 'c' is a counter, and no gauge", lambda out: out.metric("c").set(1))
        self.expect("TypeError: 'g' is a gauge, and no counter", lambda out: out.metric("g", "gauge").add())
        self.expect("TypeError: 'g' is a gauge, and no histogram", lambda out: out.metric("g", "gauge").observe(1))

    def test_names_and_kinds_that_cannot_be_are_refused(self):
        self.expect("a metric's kind is 'counter', 'gauge', 'histogram', not 'meter'", lambda out: out.metric("c", "meter"))
        self.expect("there can be no counter 'a b': the report before this one says why", lambda out: out.metric("a b"))
        self.expect("there can be no gauge 'c'", lambda out: (out.metric("c").add(), out.metric("c", "gauge")))
        self.expect("has a NUL in it", lambda out: out.metric("c\0"))

    def test_past_the_limit_there_are_no_more(self):
        metrics, failed = self.refused(lambda out: [out.metric(f"n{i}").add() for i in range(65)])
        self.assertEqual(len(metrics), 64)
        self.assertIn("there can be no counter 'n64': a task has at most 64, a topology 1024 names", failed[0])

    def test_it_belongs_to_the_tasks_thread_and_ends_with_the_task(self):
        kept, said = [], []

        @gale.bolt
        def count(tuple, out):
            def elsewhere():
                try:
                    kept[0].add()
                except gale.GaleError as error:
                    said.append(error.code)
            kept.append(out.metric("seen"))
            thread = threading.Thread(target=elsewhere)
            thread.start()
            thread.join()
        topology, _heard = numbers_to(count, count=1)
        run(topology)
        self.assertEqual(said, [gale.ErrorCode.THREAD])
        with self.assertRaisesRegex(gale.GaleError, "has ended"):
            kept[0].add()


if __name__ == "__main__":
    unittest.main()
