#!/usr/bin/env python3
"""A run as a service: its log, what is opened again after rotation, and what a service manager is told.

usage: service_test.py GALE
"""

import datetime
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())

ENDLESS = """
name: endless
spouts:
  - {id: words, className: gale.spout.Generator, config: {gale.rate: 500}}
bolts:
  - {id: sink, className: gale.bolt.FileSink, properties: [{name: path, value: out.tsv}]}
streams:
  - {from: words, to: sink, grouping: {type: SHUFFLE}}
"""


class Service(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)
        (self.path / "t.yaml").write_text(ENDLESS)

    def start(self, *arguments, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen([GALE, "run", "t.yaml", *arguments], cwd=self.path, **more)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()  # nothing once it was waited for
        process.wait()
        if process.stderr:
            process.stderr.close()

    def wait_for(self, condition, process):
        end = time.monotonic() + 120
        while not condition():
            self.assertIsNone(process.poll(), "it has ended")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.005)

    def size(self, name):
        path = self.path / name
        return path.stat().st_size if path.exists() else 0

    def runs(self, process):
        self.wait_for(lambda: self.size("out.tsv"), process)

    def drain(self, process, number=signal.SIGTERM):
        process.send_signal(number)
        err = process.communicate(timeout=600)[1]
        self.assertEqual(process.returncode, 0, err)
        return (err or b"").decode()

    def entries(self, text):
        """Of a log that is JSON and nothing else."""
        made = [json.loads(line) for line in text.splitlines()]
        for entry in made:
            self.assertLessEqual({"time", "level", "component", "message"}, set(entry))
            datetime.datetime.strptime(entry["time"], "%Y-%m-%dT%H:%M:%S.%fZ")
            self.assertIn(entry["level"], ("trace", "debug", "info", "warn", "error"))
        return made

    # --- The log

    def test_a_log_of_json_is_an_object_a_line_and_nothing_else(self):
        process = self.start("--log-format", "json", "--figures-every", "1")
        self.runs(process)
        entries = self.entries(self.drain(process))
        self.assertTrue(entries[-1]["message"].startswith("ended: "), entries)
        self.assertIn(" 0 open  0 failed", entries[-1]["message"])

    def test_what_the_program_itself_says_is_an_entry_too(self):
        (self.path / "t.yaml").write_text("name: [\n")
        process = self.start("--log-format", "json")
        err = process.communicate(timeout=600)[1].decode()
        self.assertEqual(process.returncode, 2)
        entries = self.entries(err)
        self.assertEqual([e["level"] for e in entries], ["error"])
        self.assertIn("t.yaml", entries[0]["message"])

    def test_what_a_component_says_is_told_with_its_name(self):
        (self.path / "t.yaml").write_text(ENDLESS.replace("gale.bolt.FileSink, properties: [{name: path, value: out.tsv}]",
                                                          "gale.bolt.IntermediateRankings"))
        process = self.start("--log-format", "json")
        said = []
        while not any(entry["component"] == "sink" for entry in said):
            said += self.entries(process.stderr.readline().decode())
        process.send_signal(signal.SIGTERM)
        self.entries(process.communicate(timeout=600)[1].decode())

    def test_an_unknown_format_is_refused_with_the_nearest(self):
        process = self.start("--log-format", "jsn")
        self.assertEqual(process.communicate(timeout=600)[1].decode(),
                         "gale: --log-format must be text or json, not 'jsn'; did you mean 'json'?\n")
        self.assertEqual(process.returncode, 2)

    def test_figures_are_logged_as_often_as_is_said(self):
        process = self.start("--log-file", "log", "--figures-every", "1")
        self.wait_for(lambda: (self.path / "log").exists() and (self.path / "log").read_text().count(" trees/s") > 2,
                      process)
        err = self.drain(process)
        self.assertNotIn(" open  0 failed", err)
        self.assertIn("0 failed, 0 timed out, 0 stopped, 0 open", err)  # the table is for who looks at the end

    def test_no_figures_are_logged_where_none_are_wanted(self):
        process = self.start("--log-file", "log", "--figures-every", "0")
        self.runs(process)
        self.drain(process)
        lines = [line for line in (self.path / "log").read_text().splitlines() if "trees/s" in line]
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("INFO ended: ", lines[0])

    def test_a_log_file_that_a_sink_writes_is_refused(self):
        (self.path / "out.tsv").write_text("")
        process = self.start("--log-file", "out.tsv")
        err = process.communicate(timeout=600)[1].decode()
        self.assertEqual(process.returncode, 2)
        self.assertIn("--log-file", err)

    # --- Rotation

    def test_a_hangup_without_a_terminal_opens_log_and_events_again_and_the_run_goes_on(self):
        process = self.start("--log-file", "log", "--log-events", "words", "--figures-every", "1")
        self.runs(process)
        self.wait_for(lambda: self.size("log") and self.size("events.jsonl"), process)
        for name in ("log", "events.jsonl"):
            os.rename(self.path / name, self.path / (name + ".1"))
        process.send_signal(signal.SIGHUP)
        self.wait_for(lambda: self.size("log") and self.size("events.jsonl"), process)
        self.drain(process)
        self.assertIn("INFO SIGHUP: opens its files again", (self.path / "log").read_text())
        lines = [(self.path / name).read_text().splitlines() for name in ("events.jsonl.1", "events.jsonl", "out.tsv")]
        self.assertEqual(len(lines[0]) + len(lines[1]), len(lines[2]))
        for line in lines[0] + lines[1]:
            json.loads(line)

    def test_a_hangup_while_its_terminal_is_there_is_no_end(self):
        ours, theirs = pty.openpty()
        process = self.start("--log-file", "log", stdin=theirs)
        os.close(theirs)
        self.runs(process)
        self.wait_for(lambda: self.size("log") or True, process)
        process.send_signal(signal.SIGHUP)
        self.wait_for(lambda: "opens its files again" in (self.path / "log").read_text(), process)
        os.close(ours)
        self.drain(process, signal.SIGHUP)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
