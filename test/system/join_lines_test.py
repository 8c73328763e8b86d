#!/usr/bin/env python3
"""Events of several lines, from several sources in one file, come out whole and once: in a run that is left alone, and in a durable
one that is killed again and again. An error in the file is told with its place.

usage: join_lines_test.py GALE STORE
"""

import collections
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
STORE = int(sys.argv[2])
SOURCES = 12

TOPOLOGY = r"""name: events
config: { topology.state.checkpoint.interval.ms: 10, topology.message.timeout.secs: 3600 }
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{ name: path, value: in.txt }]
bolts:
  - id: source
    className: gale.bolt.Map
    properties:
      - { name: set, value: { source: "line:match('^\\\\S+')", text: "line:match('^\\\\S+ (.*)$')" } }
      - { name: drop, value: [line] }
  - id: join
    className: gale.bolt.JoinLines
    parallelism: 2
    properties:
      - { name: PATTERN, value: 'VALUE' }
      - { name: field, value: text }
      - { name: key, value: [source] }
      - { name: timeout, value: TIMEOUT }
  - id: sink
    className: gale.bolt.FileSink
    properties: [{ name: path, value: out.json }, { name: format, value: json }]
streams:
  - { from: lines, to: source, grouping: { type: GLOBAL } }
  - { from: source, to: join, grouping: { type: FIELDS, args: [source] } }
  - { from: join, to: sink, grouping: { type: GLOBAL } }
"""


def make_events(rng, count):
    """Lines of all sources as they come, and the events that they are."""
    waiting = {f"s{i}": [] for i in range(SOURCES)}
    lines, events = [], []
    for i in range(count):
        source = f"s{rng.randrange(SOURCES)}"
        event = [f"E{i} begins"] + [f"  at {j}" for j in range(rng.choice((0, 0, 1, 3, 9)))] + ["  end."]
        waiting[source] += event
        events.append((source, "\n".join(event)))
    while any(waiting.values()):
        source = rng.choice([s for s, rest in waiting.items() if rest])
        lines.append(f"{source} {waiting[source].pop(0)}")
    return lines, events


class JoinLines(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        self.begin("end", "end\\.$")

    def begin(self, pattern, value, timeout="1h", count=2000):
        text = TOPOLOGY.replace("PATTERN", pattern).replace("VALUE", value).replace("TIMEOUT", timeout)
        (self.path / "t.yaml").write_text(text)
        lines, self.events = make_events(random.Random(7), count)
        (self.path / "in.txt").write_text("\n".join(lines) + "\n")

    def start(self, *arguments):
        return subprocess.Popen([GALE, "run", "t.yaml", "-q", *arguments], cwd=self.folder.name, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def told(self):
        """What is there; the last line may be cut off."""
        path = self.path / "out.json"
        whole = path.read_text().rpartition("\n")[0].splitlines() if path.exists() else []
        return [(row["source"], row["text"]) for row in map(json.loads, whole)]

    def same(self):
        self.assertEqual(collections.Counter(self.told()), collections.Counter(self.events))
        for source in {source for source, _ in self.events}:
            self.assertEqual([e for e in self.told() if e[0] == source], [e for e in self.events if e[0] == source])

    def run_whole(self, *arguments):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0, out + err)
        return err

    def test_events_come_out_whole_by_their_ends(self):
        self.run_whole()
        self.same()

    def test_events_come_out_whole_by_their_beginnings(self):
        self.begin("start", "^E", timeout="5s")  # the last ones wait for it
        self.run_whole()
        self.same()

    @unittest.skipUnless(STORE, "no store")
    def test_a_run_that_is_killed_leaves_each_event_once(self):
        kills = 0
        for life in range(6):
            before = len(self.told())
            process = self.start("--state", "state", "--rate", "2000")
            end = time.monotonic() + 120
            while process.poll() is None and len(self.told()) < before + 60:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.003)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
            process.communicate(timeout=600)
        self.assertGreater(kills, 0)
        self.run_whole("--state", "state")
        self.same()

    @unittest.skipUnless(STORE, "no store")
    def test_another_number_of_tasks_is_refused_while_lines_are_open(self):
        process = self.start("--state", "state", "--rate", "2000")
        end = time.monotonic() + 120
        while len(self.told()) < 60:
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.003)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0)
        process = self.start("--state", "state", "--set", "join.parallelism=3")
        err = process.communicate(timeout=600)[1]
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("join", err)
        self.run_whole("--state", "state")
        self.same()

    def test_what_is_wrong_is_told_with_its_place(self):
        self.begin("start", "(E")
        done = subprocess.run([GALE, "check", "t.yaml"], cwd=self.folder.name, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("t.yaml:17:31: error: join lines: start: the pattern '(E' is wrong at byte 2: missing closing parenthesis", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
