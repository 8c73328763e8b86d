#!/usr/bin/env python3
"""A run as a service: its log, what is opened again after rotation, and what a service manager is told.

usage: service_test.py GALE STORE
"""

import datetime
import gzip
import json
import os
import pty
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
STORE = sys.argv[2:] == ["1"]  # a durable run is possible

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

    def test_what_is_wrong_with_the_words_behind_it_is_an_entry_too(self):
        for words, part in ((["--job", "2"], "unknown option '--job'"), (["--rate", "-1"], "--rate"), (["--listen-cert", "c"], "--listen"),
                            (["another.yaml"], "one topology file"), (["--log-level", "loud"], "loud")):
            process = self.start("--log-format", "json", *words)
            entries = self.entries(process.communicate(timeout=600)[1].decode())
            self.assertEqual((process.returncode, [e["level"] for e in entries]), (2, ["error"]))
            self.assertIn(part, entries[0]["message"])

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

    def rotated(self, name, number):
        """Renamed as a log rotation does; there may be nothing yet."""
        if self.size(name):
            os.rename(self.path / name, self.path / f"{name}.{number}")

    def lines(self, name):
        """Of the file and all that it was renamed to, oldest first."""
        old = sorted(self.path.glob(name + ".*"), key=lambda path: int(path.suffix[1:]))
        return [line for path in (*old, self.path / name) if path.exists() for line in path.read_text().splitlines()]

    def test_a_sink_opens_its_file_again_and_no_line_is_lost_or_doubled(self):
        process = self.start("--log-events", "words", "-q")
        for number in range(1, 8):
            self.runs(process)
            self.rotated("out.tsv", number)
            process.send_signal(signal.SIGHUP)
        self.runs(process)
        self.drain(process)
        emitted = [json.loads(line)["values"][0] for line in (self.path / "events.jsonl").read_text().splitlines()]
        self.assertEqual(self.lines("out.tsv"), [str(value) for value in emitted])

    def test_a_packed_file_is_ended_before_the_next_is_begun(self):
        (self.path / "t.yaml").write_text(ENDLESS.replace("value: out.tsv}", "value: out.tsv}, {name: gzip, value: true}"))
        process = self.start("--log-events", "words", "-q")
        self.wait_for(lambda: self.size("out.tsv.gz"), process)
        self.rotated("out.tsv.gz", 1)
        process.send_signal(signal.SIGHUP)
        self.wait_for(lambda: self.size("out.tsv.gz"), process)
        self.drain(process)
        text = b"".join(gzip.decompress((self.path / name).read_bytes()) for name in ("out.tsv.gz.1", "out.tsv.gz"))
        emitted = [json.loads(line)["values"][0] for line in (self.path / "events.jsonl").read_text().splitlines()]
        self.assertEqual(text.decode().splitlines(), [str(value) for value in emitted])

    def test_a_file_that_nobody_has_renamed_is_written_on(self):
        process = self.start()
        self.runs(process)
        inode = (self.path / "out.tsv").stat().st_ino
        process.send_signal(signal.SIGHUP)
        size = self.size("out.tsv")
        self.wait_for(lambda: self.size("out.tsv") > size, process)
        self.drain(process)
        self.assertEqual((self.path / "out.tsv").stat().st_ino, inode)

    def test_what_cannot_be_opened_again_is_told_and_the_renamed_file_is_written_on(self):
        process = self.start("--log-events", "words", "--log-file", "log")
        self.runs(process)
        self.rotated("out.tsv", 1)
        (self.path / "out.tsv").mkdir()
        process.send_signal(signal.SIGHUP)
        self.wait_for(lambda: "lines go on where they went" in (self.path / "log").read_text(), process)
        size = self.size("out.tsv.1")
        self.wait_for(lambda: self.size("out.tsv.1") > size, process)
        self.drain(process)
        events = len((self.path / "events.jsonl").read_text().splitlines())
        self.assertEqual(len((self.path / "out.tsv.1").read_text().splitlines()), events)

    LETTERS = """
name: letters
config: {topology.dead_letters.file: letters, topology.replay.attempts: 1}
spouts:
  - {id: words, className: gale.spout.Generator, config: {gale.rate: 500}}
bolts:
  - {id: sink, className: gale.bolt.IntermediateRankings}
streams:
  - {from: words, to: sink, grouping: {type: SHUFFLE}}
"""

    def test_dead_letters_are_kept_in_the_new_file(self):
        (self.path / "t.yaml").write_text(self.LETTERS)
        process = self.start("--log-file", "log", "--json", stdout=subprocess.PIPE)
        for number in range(1, 4):
            self.wait_for(lambda: self.size("letters"), process)
            self.rotated("letters", number)
            process.send_signal(signal.SIGHUP)
        self.wait_for(lambda: self.size("letters"), process)
        process.send_signal(signal.SIGTERM)
        out = process.communicate(timeout=600)[0]
        self.assertEqual(process.returncode, 1)
        self.assertEqual(len([json.loads(line) for line in self.lines("letters")]), json.loads(out)["dead_letters"])

    # --- Durable runs

    DURABLE = """
name: durable
config:
  topology.message.timeout.secs: 3600
  topology.state.checkpoint.interval.ms: 20
  topology.dead_letters.file: letters
  topology.replay.attempts: 1
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{name: path, value: in.txt}]
    config: {gale.rate: 5000}
bolts:
  - {id: sink, className: gale.bolt.FileSink, properties: [{name: path, value: out.tsv}]}
  - {id: bad, className: gale.bolt.IntermediateRankings}
streams:
  - {from: lines, to: sink, grouping: {type: SHUFFLE}}
  - {from: lines, to: bad, grouping: {type: SHUFFLE}}
"""

    @staticmethod
    def ended(process, seconds):
        """Its exit code, or None: it goes on."""
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    @unittest.skipUnless(STORE, "built without a store")
    def test_a_durable_run_that_is_rotated_and_killed_at_any_moment_has_each_line_and_each_letter_once(self):
        drawn, lines = random.Random(1), [f"line {number}" for number in range(4000)]
        (self.path / "t.yaml").write_text(self.DURABLE)
        (self.path / "in.txt").write_text("".join(line + "\n" for line in lines))
        number, code = 0, None
        while code is None:
            number += 1
            process = self.start("--state", "state", "-q", stderr=subprocess.DEVNULL)
            for _ in range(drawn.randrange(1, 4)):
                code = self.ended(process, drawn.uniform(0, 0.02 * 1.1 ** number))
                if code is not None:
                    break
                number += 1
                for name in ("out.tsv", "letters"):
                    self.rotated(name, number)
                process.send_signal(signal.SIGHUP)
            if code is None:
                code = self.ended(process, drawn.uniform(0, 0.1 * 1.1 ** number))
            process.kill()
            process.wait()
            if code == -signal.SIGHUP:
                code = None  # it came before gale waited for it
        self.assertIn(code, (0, 1))  # 1: it has made letters
        self.assertEqual(self.lines("out.tsv"), lines)
        letters = [json.loads(line)["tuple"][0] for line in self.lines("letters")]
        self.assertEqual(sorted(letters), sorted(lines))


TRACED = """
name: traced
spouts:
  - {id: lines, className: gale.spout.File, properties: [{name: path, value: in.jsonl}]}
bolts:
  - {id: parse, className: gale.bolt.Json, properties: {fields: [path, traceparent, tracestate]}}
  - {id: slow, className: gale.bolt.Map, properties: {set: {section: "path:match('^/[^/]*')"}}}
  - {id: out, className: gale.bolt.FileSink, properties: {path: out.jsonl, format: json}}
streams:
  - {from: lines, to: parse, grouping: {type: SHUFFLE}}
  - {from: parse, to: slow, grouping: {type: SHUFFLE}}
  - {from: slow, to: out, grouping: {type: SHUFFLE}}
"""


class Traces(unittest.TestCase):
    setUp, start, end = Service.setUp, Service.start, staticmethod(Service.end)

    def test_a_trace_context_that_a_source_brings_is_passed_along(self):
        (self.path / "t.yaml").write_text(TRACED)
        brought = [{"path": f"/a{n}/b", "traceparent": f"00-{n + 1:032x}-{n + 1:016x}-01", "tracestate": f"vendor={n}"}
                   for n in range(100)]
        brought.append({"path": "/none"})
        (self.path / "in.jsonl").write_text("".join(json.dumps(one) + "\n" for one in brought))
        process = self.start("-q")
        self.assertEqual(process.wait(120), 0)
        told = [json.loads(line) for line in (self.path / "out.jsonl").read_text().splitlines()]
        key = lambda one: one["path"]
        wanted = [{"traceparent": None, "tracestate": None, **one, "section": one["path"].removesuffix("/b")} for one in brought]
        self.assertEqual(sorted(told, key=key), sorted(wanted, key=key))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
