#!/usr/bin/env python3
"""Watches and timers of Python components: a bolt that asks a server and holds its tuples meanwhile, a spout that waits
for a socket, a runtime inside asyncio's loop, which runs no thread of gale's."""

import asyncio
import pathlib
import socket
import threading
import unittest

import gale
from rig import SECONDS, Heard, Idle, Numbers, numbers_to, run, wait, wait_for

READ, WRITE, TIME = gale.WatchEvent.READ, gale.WatchEvent.WRITE, gale.WatchEvent.TIME


class Echo:
    """A server: answers each line with the same line, from a thread of its own, until the other side has gone."""

    def __init__(self):
        self.ours, self.theirs = socket.socketpair()
        self.ours.setblocking(False)
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        with self.theirs:
            while data := self.theirs.recv(4096):
                self.theirs.sendall(data)

    def end(self):
        self.ours.close()
        self.thread.join(SECONDS)


class Asks(gale.Bolt):
    """Sends each number to the server and answers its tuple when the server has answered."""
    outputs = ["number"]

    def __init__(self, echo):
        self.echo, self.asked, self.rest = echo, {}, b""

    def prepare(self):
        self.watch = self.out.watch(self.echo.ours, READ, self.answered)

    def execute(self, tuple):
        self.asked[tuple["number"]] = self.out.hold(tuple)
        self.echo.ours.send(b"%d\n" % tuple["number"])

    def answered(self, watch, events):
        *lines, self.rest = (self.rest + self.echo.ours.recv(4096)).split(b"\n")
        for line in lines:
            tuple = self.asked.pop(int(line))
            self.out.emit_anchored([tuple["number"]], tuple)
            self.out.ack(tuple)


class Watches(unittest.TestCase):
    def test_a_bolt_holds_its_tuples_while_a_server_thinks(self):
        echo = Echo()
        self.addCleanup(echo.end)
        topology, heard = numbers_to(Asks, count=100, arguments={"echo": echo})
        rows = []

        @gale.bolt
        def take(tuple, out):
            rows.append(tuple[0])
        topology.add_bolt("take", take).shuffle_grouping("bolt")
        stats = run(topology)
        self.assertEqual((sorted(rows), sorted(heard.acked), stats.failed), (list(range(100)), list(range(100)), 0))

    def test_a_bolt_that_has_enough_says_so(self):
        most = []

        class Enough(gale.Bolt):
            """Holds what comes, and answers three at a time when it is idle."""

            def prepare(self):
                self.held, self.timer = [], None

            def execute(self, tuple):
                self.held.append(self.out.hold(tuple))
                most.append(len(self.held))
                self.out.congest(len(self.held) >= 10)
                self.timer = self.timer or self.out.timer(self.context.now(), self.release)

            def release(self, watch, events):
                done, self.held = self.held[:3], self.held[3:]
                for tuple in done:
                    self.out.ack(tuple)
                self.out.congest(len(self.held) >= 10)
                if self.held:
                    watch.set(at=self.context.now())
                else:
                    watch.free()
                    self.timer = None
        topology, heard = numbers_to(Enough, count=20000)
        run(topology)
        self.assertEqual(sorted(heard.acked), list(range(20000)))
        self.assertTrue(10 <= max(most) < 10000, max(most))

    def test_a_spout_waits_for_a_socket(self):
        ours, theirs = socket.socketpair()
        ours.setblocking(False)

        class Lines(gale.Spout):
            outputs = ["line"]

            def open(self):
                self.lines, self.ended = [], False
                self.out.watch(ours, READ, self.read)

            def read(self, watch, events):
                data = ours.recv(4096)
                if not data:
                    self.ended = True
                    watch.free()
                self.lines += data.decode().splitlines()

            def next(self):
                if not self.lines:
                    return gale.DONE if self.ended else gale.WATCHED
                self.out.emit([self.lines.pop(0)], id=1)
        rows = []

        @gale.bolt
        def take(tuple, out):
            rows.append(tuple[0])
            if tuple[0] == "first":
                theirs.sendall(b"second\n")
            else:
                theirs.close()
        topology = gale.Topology("t")
        topology.add_spout("lines", Lines)
        topology.add_bolt("take", take).shuffle_grouping("lines")
        theirs.sendall(b"first\n")
        run(topology)
        ours.close()
        self.assertEqual(rows, ["first", "second"])

    def test_readable_and_until(self):
        ours, theirs = socket.socketpair()
        answers = []

        class Waits(gale.Spout):
            outputs = ["x"]

            def open(self):
                self.began = self.context.now()
                self.steps = [lambda: gale.Until(self.began + 0.01), lambda: gale.Readable(ours), lambda: gale.Readable(ours, self.began + 0.02),
                              lambda: gale.DONE]

            def next(self):
                answers.append(self.context.now() - self.began)
                if len(answers) == 2:
                    theirs.send(b"x")
                if len(answers) == 3:
                    ours.recv(1)
                return self.steps[len(answers) - 1]()
        topology = gale.Topology("t")
        topology.add_spout("waits", Waits)
        topology.add_bolt("take", gale.bolt(lambda tuple, out: None)).shuffle_grouping("waits")
        run(topology)
        self.assertEqual(len(answers), 4)
        self.assertGreaterEqual(answers[1], 0.01)
        self.assertGreaterEqual(answers[3], 0.02)
        ours.close()
        theirs.close()

    def test_a_timer_is_told_once_and_can_be_wound_up_again(self):
        told, topology = [], gale.Topology("t")

        class Ticks(gale.Spout):
            outputs = ["x"]

            def open(self):
                self.out.timer(self.context.now(), self.tick)

            def tick(self, watch, events):
                told.append(events)
                if len(told) == 3:
                    watch.free()
                    watch.free()  # has no effect
                else:
                    watch.set(at=self.context.now() + 0.001)

            def next(self):
                return gale.DONE if len(told) == 3 else gale.WATCHED
        topology.add_spout("ticks", Ticks)
        topology.add_bolt("take", gale.bolt(lambda tuple, out: None)).shuffle_grouping("ticks")
        run(topology)
        self.assertEqual(told, [TIME] * 3)

    def test_what_a_watch_raises_is_reported_and_it_goes_on(self):
        ours, theirs = socket.socketpair()
        told, topology = [], gale.Topology("t")

        class Writes(gale.Spout):
            outputs = ["x"]

            def open(self):
                self.out.watch(ours, WRITE, self.writable)

            def writable(self, watch, events):
                told.append(events)
                if len(told) < 3:
                    raise OSError("not yet")
                watch.free()

            def next(self):
                return gale.DONE if len(told) == 3 else gale.WATCHED
        topology.add_spout("writes", Writes)
        topology.add_bolt("take", gale.bolt(lambda tuple, out: None)).shuffle_grouping("writes")
        with topology, gale.Runtime(topology, until_drained=True) as runtime:
            runtime.start()
            wait(runtime)
            self.assertEqual({task.component: task.errors for task in runtime.task_stats()}, {"take": 0, "writes": 2})
        self.assertEqual(told, [WRITE] * 3)
        ours.close()
        theirs.close()

    def test_what_a_timer_of_a_bolt_raises_is_told_and_what_it_holds_stays_held(self):
        class Holds(gale.Bolt):
            def execute(self, tuple):
                self.held = self.out.hold(tuple)
                self.out.timer(self.context.now(), self.answer)

            def answer(self, watch, events):
                raise ValueError("forgot to answer")
        topology, heard = numbers_to(Holds, count=1, again=False)
        with self.assertLogs("gale", "WARNING") as log, topology, gale.Runtime(topology, until_drained=True) as runtime:
            runtime.start()
            wait_for(lambda: len(log.output) >= 2)
            self.assertEqual({task.component: (task.errors, task.held) for task in runtime.task_stats()},
                             {"bolt": (1, 1), "numbers": (0, 0)})
            runtime.stop()
            runtime.wait(SECONDS)
        self.assertRegex(log.output[0], r"^WARNING:gale:bolt: ValueError: forgot to answer \(watch_test.py:\d+\)$")
        self.assertRegex(log.output[1], r"^WARNING:gale:bolt: the drain has waited for .* holds 1 tuple, not answered yet")
        self.assertEqual([failure.reason for _id, failure in heard.failed], [gale.Reason.STOPPED])

    def test_what_cannot_be_watched(self):
        for fd in -2, 10 ** 6, open(__file__):
            class Source(gale.Spout):
                outputs = ["x"]

                def open(self):
                    self.out.watch(fd, READ, print)

                def next(self):
                    return gale.DONE
            topology = gale.Topology("t")
            topology.add_spout("source", Source)
            topology.add_bolt("take", gale.bolt(lambda tuple, out: None)).shuffle_grouping("source")
            with self.assertRaises(gale.GaleError):
                run(topology)
            if fd not in (-2, 10 ** 6):
                fd.close()


def threads():
    return len(list(pathlib.Path("/proc/self/task").iterdir()))


class Asyncio(unittest.TestCase):
    def test_a_run_inside_the_loop_beside_other_coroutines(self):
        echo = Echo()
        self.addCleanup(echo.end)
        (topology, heard), counted = numbers_to(Asks, count=100, arguments={"echo": echo}), []
        topology.add_bolt("take", gale.bolt(lambda tuple, out: counted.append((tuple[0], threads())))).shuffle_grouping("bolt")

        async def main():
            before = threads()
            beside = asyncio.create_task(asyncio.sleep(0.01, "slept"))
            with gale.Runtime(topology, until_drained=True) as runtime:
                await asyncio.wait_for(gale.aio.run(runtime), SECONDS)
            return before, await beside
        before, slept = asyncio.run(main())
        self.assertEqual((sorted(n for n, _threads in counted), sorted(heard.acked), slept), (list(range(100)), list(range(100)), "slept"))
        self.assertEqual({count for _n, count in counted}, {before})

    def test_who_cancels_it_stops_it(self):
        closed = []

        class Endless(Numbers):
            def next(self):
                return gale.WATCHED

            def close(self):
                closed.append(True)
        topology = gale.Topology("t")
        topology.add_spout("numbers", Endless, arguments={"count": 1, "heard": Heard()})
        topology.add_bolt("take", gale.bolt(lambda tuple, out: None)).shuffle_grouping("numbers")

        async def main():
            with gale.Runtime(topology) as runtime:
                running = asyncio.create_task(gale.aio.run(runtime))
                while runtime.phase != gale.Phase.RUNNING:
                    await asyncio.sleep(0.001)
                running.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await running
                return runtime.phase
        self.assertEqual((asyncio.run(main()), closed), (gale.Phase.CLOSED, [True]))

    def test_nothing_runs_when_there_is_nothing_to_do(self):
        topology, steps = gale.Topology("t"), []

        class Waits(gale.Spout):
            outputs = ["x"]

            def next(self):
                return gale.WATCHED

        class Counts(gale.Runtime):
            def step(self, seconds):
                steps.append(seconds)
                return super().step(seconds)
        topology.add_spout("waits", Waits)
        topology.add_bolt("take", gale.bolt(lambda tuple, out: None)).shuffle_grouping("waits")

        async def main():
            with Counts(topology) as runtime:
                running = asyncio.create_task(gale.aio.run(runtime))
                while runtime.phase != gale.Phase.RUNNING:
                    await asyncio.sleep(0.001)
                steps.clear()
                await asyncio.sleep(0.5)
                count = len(steps)
                runtime.stop()
                await running
                return count
        self.assertLess(asyncio.run(main()), 50)

    def test_what_a_component_ends_it_with_is_raised(self):
        class Fails(Idle):
            def prepare(self):
                raise ValueError("no")
        topology, _heard = numbers_to(Fails)

        async def main():
            with gale.Runtime(topology) as runtime:
                await gale.aio.run(runtime)
        with self.assertRaisesRegex(gale.GaleError, "ValueError: no"):
            asyncio.run(main())


if __name__ == "__main__":
    unittest.main()
