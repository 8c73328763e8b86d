#!/usr/bin/env python3
"""Other threads emit and answer for a task: a bolt that has a pool of threads, a spout that is fed by one."""

import concurrent.futures
import queue
import threading
import unittest

import gale
from rig import SECONDS, Idle, numbers_to, run


class Pooled(gale.Bolt):
    """Doubles each number in a pool; what cannot be divided by seven without a rest passes."""
    outputs = ["number"]

    def prepare(self):
        self.remote, self.pool = self.out.remote(), concurrent.futures.ThreadPoolExecutor(4)

    def execute(self, tuple):
        self.pool.submit(self.work, self.out.hold(tuple))

    def work(self, tuple):
        if tuple[0] % 7 == 0:
            self.call(self.remote.fail, tuple, "seven", gale.Reason.USER + 7)
        else:
            self.call(self.remote.emit, [2 * tuple[0]], anchors=tuple)
            self.call(self.remote.ack, tuple)

    def call(self, function, *arguments, **named):
        while True:
            try:
                return function(*arguments, **named)
            except gale.GaleError as error:
                if error.code != gale.ErrorCode.AGAIN:
                    raise

    def cleanup(self):
        self.pool.shutdown()


class Remotes(unittest.TestCase):
    def test_a_pool_emits_and_answers(self):
        rows = []
        topology, heard = numbers_to(Pooled, count=500, again=False, parallelism=2)
        topology.add_bolt("take", gale.bolt(lambda tuple, out: rows.append(tuple[0]))).shuffle_grouping("bolt")
        run(topology, executors=2)
        self.assertEqual(sorted(rows), [2 * n for n in range(500) if n % 7])
        self.assertEqual(sorted(heard.acked), [n for n in range(500) if n % 7])
        self.assertEqual(sorted(heard.reasons()), [(n, gale.Reason.USER + 7, "seven") for n in range(0, 500, 7)])

    def test_a_thread_feeds_a_spout(self):
        given, acked, rows = queue.Queue(), queue.Queue(), []

        class Fed(gale.Spout):
            outputs = {"other": ["x"], "default": ["text"]}

            def open(self):
                given.put(self.out.remote())

            def next(self):
                return gale.WATCHED

            def ack(self, id):
                acked.put(id)
        topology = gale.Topology("fed")
        topology.add_spout("fed", Fed)
        topology.add_bolt("take", gale.bolt(lambda tuple, out: rows.append(tuple["text"]))).shuffle_grouping("fed")
        with topology, gale.Runtime(topology) as runtime:
            runtime.start()
            remote = given.get(timeout=SECONDS)
            for number in range(100):
                remote.emit([f"text {number}"], id=number)
            self.assertEqual(sorted(acked.get(timeout=SECONDS) for _ in range(100)), list(range(100)))
            for call, words in ((lambda: remote.emit([1], "bad"), "declares no stream 'bad'"),
                                (lambda: remote.emit([1], id=-1), "from 0 to"), (lambda: remote.emit([object()]), "not object")):
                with self.assertRaisesRegex(Exception, words):
                    call()
        self.assertEqual(rows, [f"text {number}" for number in range(100)])
        with self.assertRaises(gale.GaleError) as caught:
            remote.emit(["late"], id=1)
        self.assertEqual(caught.exception.code, gale.ErrorCode.STOPPED)

    def test_it_outlives_what_it_was_made_by(self):
        kept = []

        class Keeps(Idle):
            def prepare(self):
                kept.append(self.out.remote())
        run(numbers_to(type("Bolt", (Keeps,), {"execute": lambda self, tuple: None}), count=3)[0])
        threads = [threading.Thread(target=kept[0].ack, args=(gale.Tuple([], 1, None),)) for _ in range(4)]
        threading.excepthook, hook = (lambda failed: kept.append(failed.exc_value.code)), threading.excepthook
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
        threading.excepthook = hook
        self.assertEqual(kept[1:], [gale.ErrorCode.STOPPED] * 4)

    def test_there_is_none_under_test(self):
        class Asks(Idle):
            def prepare(self):
                self.out.remote()
        with self.assertRaises(gale.GaleError), gale.testing.Test.of_bolt(Asks, {"x": ["x"]}) as test:
            test.settle()


if __name__ == "__main__":
    unittest.main()
