#!/usr/bin/env python3
"""Logs that are followed by the program: while they are rotated, cut and removed, while it is killed, and while it is not there.

usage: follow_test.py GALE
"""

import collections
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())

COUNT = """\
name: count
config: {{ topology.state.checkpoint.interval.ms: 10, topology.message.timeout.secs: 3600 }}
spouts:
  - id: lines
    className: gale.spout.File
    parallelism: {tasks}
    properties: {{ path: "{path}", follow: true, emit: [line, number, file], rotateWait: 100ms }}
bolts:
  - id: count
    className: gale.bolt.Count
    parallelism: 2
  - id: sink
    className: gale.bolt.FileSink
    properties: {{ path: out.tsv }}
streams:
  - {{ from: lines, to: count, grouping: {{ type: FIELDS, args: [line] }} }}
  - {{ from: count, to: sink, grouping: {{ type: GLOBAL }} }}
"""


class Follow(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        self.written = collections.Counter()
        self.rotations = 0
        self.process = None
        self.errors = []
        self.addCleanup(self.kill)
        self.topology("in.log")

    def topology(self, path, tasks=1):
        (self.path / "t.yaml").write_text(COUNT.format(path=path, tasks=tasks))

    # --- The writer of the log

    def write(self, count, name="in.log"):
        with open(self.path / name, "a") as file:
            for _ in range(count):
                word = f"w{sum(self.written.values()) % 7}"
                file.write(word + "\n")
                self.written[word] += 1

    def rotate(self, name="in.log"):
        """By rename, as logrotate does it: the newest is .1."""
        numbers = [int(p.name.rsplit(".", 1)[1]) for p in self.path.glob(name + ".*")]
        for n in sorted(numbers, reverse=True):
            (self.path / f"{name}.{n}").rename(self.path / f"{name}.{n + 1}")
        (self.path / name).rename(self.path / f"{name}.1")
        self.rotations += 1

    # --- The program

    def start(self, *arguments):
        self.errors.append(tempfile.TemporaryFile("w+"))
        self.addCleanup(self.errors[-1].close)
        self.process = subprocess.Popen([GALE, "run", "-q", "t.yaml", "--state", "state", *arguments], cwd=self.path,
                                        stdout=subprocess.DEVNULL, stderr=self.errors[-1])

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def said(self):
        self.errors[-1].seek(0)
        return self.errors[-1].read()

    def rows(self):
        path = self.path / "out.tsv"
        return path.read_text().splitlines() if path.exists() else []

    def wait_for(self, condition):
        end = time.monotonic() + 120
        while not condition():
            self.assertIsNone(self.process.poll(), self.said())
            self.assertLess(time.monotonic(), end, f"{len(self.rows())} rows of {sum(self.written.values())}; {self.said()}")
            time.sleep(0.005)

    def wait_for_all(self):
        self.wait_for(lambda: len(self.rows()) >= sum(self.written.values()))

    def stop(self):
        """In order, by a signal."""
        self.wait_for_all()
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(timeout=600), 0, self.said())

    def end(self):
        """What was counted is what was written: each row once."""
        self.stop()
        wanted = sorted(f"{word}\t{n}" for word, count in self.written.items() for n in range(1, count + 1))
        self.assertEqual(sorted(self.rows()), wanted)

    # --- Tests

    def test_a_file_that_is_not_there_yet_is_waited_for_aloud(self):
        self.start("--log-level", "info")
        self.wait_for(lambda: "in.log: is not there yet; waits for it" in self.said())
        self.write(5)
        self.end()

    def test_a_log_that_is_rotated_is_counted_once_over_crashes(self):
        self.write(20)
        self.start()
        self.wait_for_all()  # there is a first checkpoint
        for i in range(12):
            before = len(self.rows())
            self.write(60)
            self.rotate()
            self.write(40)
            if i % 3 == 1:
                self.wait_for_all()
            elif i % 3 == 2:
                self.wait_for(lambda: len(self.rows()) > before)
            self.kill()
            if i % 2:
                self.write(30)  # nobody looks
                self.rotate()
            if i % 4 == 3:
                self.write(10)
                self.rotate()
                self.write(10)
            self.start()
        self.end()

    def test_what_its_writer_appends_to_a_renamed_file_is_counted(self):
        self.write(10)
        self.start()
        self.wait_for_all()
        with open(self.path / "in.log", "a") as writer:
            self.rotate()
            writer.write("w1\n")
            writer.flush()
            self.written["w1"] += 1
            self.wait_for_all()
            self.kill()
            writer.write("w2\nw3")
            self.written["w2"] += 1
            self.written["w3"] += 1
            writer.flush()
            self.write(5)
            self.start()
            self.end()  # the half line too, once its file has been left

    def test_a_log_that_is_cut_is_read_from_its_beginning(self):
        self.write(30)
        self.start()
        self.wait_for_all()
        os.truncate(self.path / "in.log", 0)
        self.write(3)
        self.stop()  # in order: what was read is in a checkpoint, and may go
        os.truncate(self.path / "in.log", 0)
        self.write(1)
        self.start()
        self.end()
        self.assertIn("was truncated", self.said())

    def test_a_run_whose_follow_is_another_says_what_changed_and_the_way_out(self):
        text = COUNT.replace(", rotateWait: 100ms", "").replace("config: {{", "config: {{ gale.rate: 20,").format(path="in.log", tasks=1)
        for first, then in (("true", "false"), ("false", "true")):
            with self.subTest(then=then):
                self.write(200)
                (self.path / "t.yaml").write_text(text.replace("follow: true", f"follow: {first}"))
                self.start()
                self.wait_for(lambda: len(self.rows()) >= 2)  # a sink shows rows with a checkpoint
                self.kill()
                (self.path / "t.yaml").write_text(text.replace("follow: true", f"follow: {then}"))
                self.start()
                self.assertEqual(self.process.wait(timeout=600), 2, self.said())
                self.assertNotIn("damaged", self.said())
                self.assertIn(f"give it `follow: {first}` again", self.said())
                self.assertIn("gale state reset DIR --component lines", self.said())
                shutil.rmtree(self.path / "state")
                for name in ("in.log", "out.tsv"):
                    (self.path / name).unlink()

    def test_files_of_a_pattern_come_and_go_over_crashes_and_numbers_of_tasks(self):
        self.topology("*.log")
        self.start()
        for i in range(9):
            self.kill()
            self.topology("*.log", tasks=1 + i % 3)
            self.write(20, f"a{i}.log")
            self.write(20, "b.log")
            self.start()
            self.wait_for(self.rows)  # there is a first checkpoint
            self.write(20, f"a{i}.log")
            self.rotate("b.log")
            self.write(20, "b.log")
            if i % 2:
                self.stop()
                os.remove(self.path / f"a{i}.log")
        self.end()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
