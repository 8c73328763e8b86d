#!/usr/bin/env python3
"""examples/loop: a runtime in loops that are others'. It has no thread of its own, at rest nothing wakes it, and what it is
given it counts.

usage: loop_test.py PROGRAM...
"""

import json
import os
import signal
import subprocess
import sys
import time
import unittest

PROGRAMS = sys.argv[1:]
PATIENCE = 120


def wakes(process):
    """How often it was let run, and for how long."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        switches = [line.split()[1] for line in status if "ctxt_switches" in line]
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as stat:
        return switches, stat.read().rsplit(")", 1)[1].split()[11:13]


class Loop(unittest.TestCase):
    def start(self, program):
        process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def rest(self, process):
        """Nothing wakes it for half a second."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            before = wakes(process)
            time.sleep(0.5)
            if wakes(process) == before:
                return
        self.fail("it does not come to rest")

    def counted(self, process):
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, err), (0, b""))
        return {row["values"]["word"]: row["values"]["count"] for row in map(json.loads, out.splitlines())}

    def test_at_rest_nothing_runs_and_there_is_no_thread_of_gales(self):
        for program in PROGRAMS:
            with self.subTest(program):
                process = self.start(program)
                self.rest(process)
                for words in (b"a b a\n", b"c a\n" * 1000):
                    process.stdin.write(words)
                    process.stdin.flush()
                    self.rest(process)
                    self.assertEqual(len(os.listdir(f"/proc/{process.pid}/task")), 1)
                self.assertEqual(self.counted(process), {"a": 1002, "b": 1, "c": 1000})

    def test_many_lines_are_counted(self):
        for program in PROGRAMS:
            with self.subTest(program):
                process = self.start(program)
                process.stdin.write(b"the quick brown fox\n" * 200000 + b"jumps")
                self.assertEqual(self.counted(process), {"the": 200000, "quick": 200000, "brown": 200000, "fox": 200000,
                                                         "jumps": 1})

    def test_a_signal_ends_it_at_rest(self):
        for program in PROGRAMS:
            with self.subTest(program):
                process = self.start(program)
                process.stdin.write(b"a\n")
                process.stdin.flush()
                self.rest(process)
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=PATIENCE)  # its input has no end yet
                self.assertEqual(self.counted(process), {"a": 1})

    def test_a_bolt_that_sleeps_for_ever_keeps_it_no_longer_than_its_bound(self):
        for program in PROGRAMS:
            with self.subTest(program):
                process = self.start(program)
                process.stdin.write(b"a sleep b\n")
                process.stdin.flush()
                self.rest(process)  # at no cost
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=PATIENCE)
                self.assertEqual(self.counted(process), {})  # a stop, not an end

    def test_a_file_is_refused_with_a_sentence(self):
        for program in PROGRAMS:
            with self.subTest(program), open(__file__, "rb") as file:
                ended = subprocess.run([program], stdin=file, capture_output=True, timeout=PATIENCE, text=True)
                self.assertEqual(ended.returncode, 1)
                self.assertIn("the input is a file, which is always ready: give it by a pipe\n", ended.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
