#!/usr/bin/env python3
"""Durable runs of Python components: what they save comes back when a run goes on, in the same process and after kill
-9; a counter in keyed state; what an older version saved is migrated.

usage: durable_test.py
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import gale
from rig import SECONDS, Taken, wait_for

NUMBERS = 3000


class Counting(gale.Spout):
    """The numbers below `end`, from where the last run was. Its open trees are a part of the checkpoint: they are not
    emitted again."""
    outputs = ["number"]

    def __init__(self, end):
        self.at, self.end = 0, end

    def next(self):
        if self.at == self.end:
            return gale.DONE
        self.out.emit([self.at], id=self.at)
        self.at += 1

    def save(self):
        return self.at

    def restore(self, value):
        self.at = value


class Sums(gale.BasicBolt):
    """The sum so far of each of seven kinds of numbers, in a dict of its own."""
    outputs = ["kind", "sum"]

    def prepare(self):
        self.sums = {}

    def execute(self, tuple):
        kind = str(tuple["number"] % 7)
        self.sums[kind] = self.sums.get(kind, 0) + tuple["number"]

    def finish(self):
        for kind, total in sorted(self.sums.items()):
            self.out.emit([kind, total])

    def save(self):
        return self.sums

    def restore(self, value):
        self.sums = value


class Keyed(gale.BasicBolt):
    """The same in keyed state."""
    outputs = ["kind", "sum"]
    durable = "keyed"

    def prepare(self):
        self.sums = self.out.state("sums")

    def execute(self, tuple):
        self.sums.add(str(tuple["number"] % 7), tuple["number"])

    def finish(self):
        for kind, total in sorted(self.sums.items()):
            self.out.emit([kind, total])


class Stateless(Taken):
    durable = "nothing"


def model(end):
    return [[str(kind), sum(range(kind, end, 7))] for kind in range(7)]


def topology(bolt, rows, end=NUMBERS):
    made = gale.Topology("sums", {"topology.max.spout.pending": 50})
    made.add_spout("numbers", Counting, arguments={"end": end})
    made.add_bolt("sums", bolt).global_grouping("numbers")
    made.add_bolt("sink", Stateless, arguments={"taken": rows}).global_grouping("sums")
    return made


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "state"


class Lives(Folder):
    def life(self, bolt, rows, end, suspend):
        """One run, suspended at `end` if it is to go on later."""
        with topology(bolt, rows, end) as made, gale.Runtime(made, state=self.folder, until_drained=not suspend) as runtime:
            runtime.start()
            if suspend:
                while runtime.stats().acked < end:
                    runtime.checkpoint(SECONDS)
                runtime.suspend()
            runtime.wait(SECONDS)
            return runtime.checkpoint_stats()

    def test_a_run_goes_on_where_it_was_suspended(self):
        for bolt in Sums, Keyed:
            with self.subTest(bolt.__name__):
                self.folder = self.folder.with_suffix(f".{bolt.__name__}")
                rows = []
                first = self.life(bolt, rows, 1000, True)
                self.assertEqual((rows, first.resumed), ([], 0))
                second = self.life(bolt, rows, NUMBERS, False)
                self.assertEqual(rows, model(NUMBERS))
                self.assertGreater(second.resumed, 0)
                self.assertTrue(second.complete)

    def test_ctrl_c_and_sigterm_suspend_it(self):
        for number, raised in (signal.SIGTERM, SystemExit), (signal.SIGINT, KeyboardInterrupt):
            with self.subTest(number.name):
                self.folder = self.folder.with_suffix(f".{number.name}")
                rows = []
                with topology(Sums, rows, 1000) as made, gale.Runtime(made, state=self.folder, end_within=SECONDS) as runtime:
                    def kill():
                        wait_for(lambda: runtime.stats().acked == 1000)
                        os.kill(os.getpid(), number)
                    kills = threading.Thread(target=kill)
                    kills.start()
                    with self.assertRaises(raised) as caught:
                        runtime.run()
                    kills.join()
                if raised is SystemExit:
                    self.assertEqual(caught.exception.code, 0)
                self.assertEqual(rows, [])
                self.life(Sums, rows, NUMBERS, False)
                self.assertEqual(rows, model(NUMBERS))

    def test_what_cannot_be_saved_ends_the_run_in_words(self):
        class Bad(Sums):
            def save(self):
                return object()
        with self.assertRaisesRegex(gale.GaleError, "TypeError: a value may be .*, not object"):
            self.life(Bad, [], 10, False)

    def test_what_cannot_be_restored_stops_the_start(self):
        class Bad(Sums):
            def restore(self, value):
                raise ValueError("not mine")
        self.life(Sums, [], 10, True)
        with self.assertRaisesRegex(gale.GaleError, "ValueError: not mine"):
            self.life(Bad, [], 20, False)

    def test_what_an_older_version_saved_is_migrated(self):
        class Newer(Sums):
            version = 3

            @staticmethod
            def migrate(version, value):
                return {"sums": value} if version == 1 else [value["sums"], version]

            def restore(self, value):
                self.sums, self.was = value
                assert self.was == 2
        rows = []
        self.life(Sums, rows, 1000, True)
        self.life(Newer, rows, NUMBERS, False)
        self.assertEqual(rows, model(NUMBERS))

    def test_a_run_on_the_callers_thread_commits_by_itself(self):
        rows = []
        with topology(Sums, rows) as made, gale.Runtime(made, state=self.folder, until_drained=True) as runtime:
            while runtime.step() is not None:
                runtime.commit()
            self.assertGreater(runtime.checkpoint_stats().count, 0)
        self.assertEqual(rows, model(NUMBERS))

    def test_a_folder_that_is_in_use(self):
        with topology(Sums, []) as made, gale.Runtime(made, state=self.folder):
            with self.assertRaisesRegex(gale.GaleError, "state"):
                gale.Runtime(made, state=self.folder)
        with topology(Sums, []) as made, gale.Runtime(made, state=self.folder):  # it was let go
            pass


class KeyedState(unittest.TestCase):
    def test_it_holds_values_by_key(self):
        found = []

        class Keeps(gale.BasicBolt):
            def prepare(self):
                self.state = self.out.state()
                try:
                    self.out.state()
                except gale.GaleError as error:
                    found.append(error.code)

            def execute(self, tuple):
                state = self.state
                state.put("list", [1, {"a": None}])
                state.put(["a", 1], b"bytes")
                found.append((state.get("list"), state.get(["a", 1]), state.get("nothing"), state.get("nothing", 0)))
                found.append((state.add("n"), state.add("n", 41), sorted(map(repr, state.items()))))
                found.append((state.remove("n"), state.remove("n"), state.get("n")))
        with gale.testing.Test.of_bolt(Keeps, {"x": ["number"]}) as test:
            test.feed("x", [1])
            test.expect_acked()
        self.assertEqual(found, [gale.ErrorCode.EXISTS, ([1, {"a": None}], b"bytes", None, 0),
                                 (1, 42, ["('list', [1, {'a': None}])", "('n', 42)", "(['a', 1], b'bytes')"]), (True, False, None)])


class Killed(Folder):
    def test_after_kill_9_nothing_is_lost_and_nothing_counted_twice(self):
        program = [sys.executable, __file__, "--killed", str(self.folder)]
        for _ in range(5):
            running = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
            for _ in range(3):  # checkpoints
                if not running.stdout.readline():
                    break
            running.send_signal(signal.SIGKILL)
            running.stdout.close()
            running.wait()
        done = subprocess.run([*program, "--end"], stdout=subprocess.PIPE, text=True, timeout=SECONDS)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, repr(model(100 * NUMBERS))))


def be_killed(folder, ends):
    """Tells of each checkpoint that lasts; with `ends` it goes on to the end."""
    rows = []
    with topology(Sums, rows, 100 * NUMBERS) as made, gale.Runtime(made, state=folder, until_drained=True) as runtime:
        runtime.start()
        while not ends:
            print(runtime.checkpoint(SECONDS), flush=True)
        runtime.wait(SECONDS)
    print(rows)


if __name__ == "__main__":
    if "--killed" in sys.argv:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        be_killed(sys.argv[2], "--end" in sys.argv)
    else:
        unittest.main()
