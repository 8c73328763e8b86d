#!/usr/bin/env python3
"""The files of a run: none is in another's way, results stay, a state belongs to one run at a time.

usage: files_test.py GALE
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())

COPY = """\
name: copy
spouts:
  - id: lines
    className: gale.spout.File
    properties:
      - {{ name: path, value: in.txt }}
      - {{ name: state, value: in.state }}
bolts:
  - id: sink
    className: gale.bolt.FileSink
    properties:
      - {{ name: path, value: {output} }}
{more}
streams:
  - {{ from: lines, to: sink, grouping: {{ type: SHUFFLE }} }}
"""


# A line that each class cannot read, and the properties that it needs. Timestamp reads the field `line` by itself.
UNREADABLE = {
    "gale.bolt.AccessLog": "{}", "gale.bolt.Csv": "{fields: [a int], newlines: alone}", "gale.bolt.KeyValue": "{fields: [n int]}",
    "gale.bolt.Timestamp": "{fields: [line, number, file], field: line}", "gale.bolt.Regex": "{pattern: '(?<a>x+)'}",
    "gale.bolt.Json": "{fields: [a]}",
}


class Places(unittest.TestCase):
    """A refused line is reported with its place, if its source emits that."""

    def said(self, class_, properties, emit, subscribed):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            (path / "in.log").write_text("# first\nn=zz \"\n")
            bad = "  - {from: read, to: sink, grouping: {type: SHUFFLE, streamId: bad}}\n" if subscribed else ""
            sink = "  - {id: sink, className: gale.bolt.FileSink, properties: {path: '-', fields: [problem]}}\n" if subscribed else ""
            (path / "t.yaml").write_text(
                f"name: t\nspouts:\n  - {{id: lines, className: gale.spout.File, properties: {{path: in.log, emit: [{emit}]}}}}\n"
                f"bolts:\n  - {{id: read, className: {class_}, properties: {properties}}}\n{sink}"
                f"streams:\n  - {{from: lines, to: read, grouping: SHUFFLE}}\n{bad}")
            done = subprocess.run([GALE, "run", "t.yaml", "-q", "--log-level", "warn"], cwd=path, capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout if subscribed else done.stderr

    def test_every_class_with_a_stream_of_bad_lines_is_looked_at(self):
        told = subprocess.run([GALE, "help", "classes", "--markdown"], capture_output=True, text=True, timeout=60, check=True).stdout
        named = {text.split("\n", 1)[0].strip() for text in told.split("\n### ")[1:] if "stream `bad` (line, problem)" in text}
        self.assertEqual(named, set(UNREADABLE))

    def test_what_is_bad_has_its_place_in_the_stream_and_in_the_log(self):
        for class_, properties in UNREADABLE.items():
            with self.subTest(class_):
                self.assertRegex(self.said(class_, properties, "line, number, file", True), r"(?m)^in\.log:2: ")
                self.assertRegex(self.said(class_, properties, "line, number, file", False), r"in\.log:[12]: ")

    def test_a_source_that_does_not_tell_leaves_it_out(self):
        self.assertNotIn("in.log", self.said("gale.bolt.Json", "{fields: [a]}", "line", True))
        self.assertIn("line 2: ", self.said("gale.bolt.Json", "{fields: [a]}", "line, number", True))


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        self.write("in.txt", "a\nb\n")
        self.topology()

    def write(self, name, text):
        (self.path / name).write_text(text)

    def read(self, name):
        return (self.path / name).read_text()

    def topology(self, output="out.txt", more=""):
        self.write("t.yaml", COPY.format(output=output, more=more))

    def start(self, *arguments, **more):
        return subprocess.Popen([GALE, "run", "t.yaml", "-q", *arguments], cwd=self.folder.name, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def gale(self, *arguments):
        process = self.start("--until-drained", "--log-level", "warn", *arguments)
        out, err = process.communicate(timeout=600)
        return process.returncode, out, err

    def refused(self, message, *arguments):
        self.assertEqual(self.gale(*arguments), (2, "", f"gale: {message}\n"))

    def wait_for(self, condition, process):
        end = time.monotonic() + 60
        while not condition():
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.005)

    # --- Somebody else

    def test_outputs_and_events_go_to_new_files_when_somebody_removes_or_replaces_theirs(self):
        self.write("t.yaml", (self.path / "t.yaml").read_text().replace("{ name: state, value: in.state }", "{ name: follow, value: true }"))
        process = self.start("--log-level", "warn", "--log-events", "lines", "--events-file", "events")
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        outputs = [self.path / "out.txt", self.path / "events"]

        def grows(word):
            with open(self.path / "in.txt", "a") as file:
                file.write(f"{word}\n")
            return all(path.exists() and word in path.read_text() for path in outputs)

        self.wait_for(lambda: grows("first"), process)
        for path in outputs:
            path.unlink()
        self.wait_for(lambda: grows("second"), process)
        for path in outputs:
            (self.path / "other").write_text("of somebody else\n")
            (self.path / "other").rename(path)
        self.wait_for(lambda: grows("third"), process)
        for path in outputs:
            self.assertTrue(path.read_text().startswith("of somebody else\n"))
        process.send_signal(signal.SIGTERM)
        err = process.communicate(timeout=60)[1]
        for name in ("out.txt", "events"):
            self.assertIn(f"{name}: was removed by somebody while it is written to", err)
            self.assertIn(f"{name}: was replaced with another file by somebody while it is written to", err)

    # --- Going on

    def test_a_run_that_goes_on_appends(self):
        self.assertEqual(self.gale(), (0, "", ""))
        self.assertEqual(self.read("out.txt"), "a\nb\n")
        self.write("in.txt", "a\nb\nc\n")
        self.assertEqual(self.gale(), (0, "", ""))
        self.assertEqual(self.read("out.txt"), "a\nb\nc\n")
        self.assertEqual(self.gale(), (0, "", ""))
        self.assertEqual(self.read("out.txt"), "a\nb\nc\n")

    def test_a_run_that_begins_anew_replaces_where_that_is_asked_for(self):
        self.gale()
        os.unlink(self.path / "in.state")
        self.write("in.txt", "c\n")
        code, out, err = self.gale()
        self.assertEqual((code, out), (3, ""))
        self.assertIn("'out.txt' holds 4 bytes, which the run would replace; give `overwrite: true` (gale run --overwrite) "
                      "to have that, `append: true` to write behind them, or another path", err)
        self.assertEqual(self.read("out.txt"), "a\nb\n")
        self.assertFalse((self.path / "in.state").exists())  # nothing was answered
        self.assertEqual(self.gale("--overwrite"), (0, "", ""))
        self.assertEqual(self.read("out.txt"), "c\n")
        os.unlink(self.path / "in.state")
        self.topology(more="      - { name: overwrite, value: true }")
        self.assertEqual(self.gale(), (0, "", ""))
        self.assertEqual(self.read("out.txt"), "c\n")

    def test_to_replace_results_that_are_gone_on_with_is_refused(self):
        self.gale()
        self.topology(more="      - { name: append, value: false }")
        self.refused("t.yaml: 'sink' would replace 'out.txt' (append: false), but 'lines' goes on with an earlier run "
                     "(state 'in.state'): what that one wrote would be lost; leave `append` out, or write to another file")
        self.assertEqual(self.read("out.txt"), "a\nb\n")

    def test_letters_that_are_emitted_again_go_behind_the_results(self):
        self.gale()
        self.write("letters", '{"component":"lines","stream":"default","message_id":7,"tuple":["late"],'
                              '"reason":"failed","text":"","place":null,"task":0,"attempts":3}\n')
        self.assertEqual(self.gale("--replay-dead-letters", "letters"), (0, "", ""))
        self.assertEqual(self.read("out.txt"), "a\nb\nlate\n")

    def test_a_run_that_cannot_start_leaves_results_as_they_are(self):
        self.write("out.txt", "of before\n")
        os.unlink(self.path / "in.txt")
        code, _, err = self.gale()
        self.assertEqual(code, 3)
        self.assertIn("cannot open 'in.txt'", err)
        self.assertEqual(self.read("out.txt"), "of before\n")

    # --- States

    def test_two_runs_do_not_share_a_state(self):
        process = self.start("--rate", "1")
        self.wait_for(lambda: (self.path / "out.txt").exists() and self.read("out.txt") == "a\n", process)
        code, out, err = self.gale()
        self.assertEqual((code, out), (2, ""))
        self.assertIn(f"gale: 'in.state' is in use by process {process.pid}, which holds 'in.state.lock'\n"
                      "  a state file belongs to one run at a time\n", err)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.communicate(timeout=600)[1], "")
        self.assertTrue(self.read("out.txt").startswith("a\n"))
        self.assertFalse((self.path / "in.state.lock").exists())
        self.assertEqual(self.gale(), (0, "", ""))
        self.assertEqual(self.read("out.txt"), "a\nb\n")

    def test_a_killed_run_leaves_a_state_that_can_be_used(self):
        process = self.start("--rate", "1")
        self.wait_for(lambda: (self.path / "out.txt").exists() and self.read("out.txt") == "a\n", process)
        process.kill()
        process.communicate()
        self.assertTrue((self.path / "in.state.lock").exists())
        self.write("in.state.new", "half")
        self.assertEqual(self.gale(), (0, "", ""))
        self.assertEqual(set(self.read("out.txt").splitlines()), {"a", "b"})
        self.assertEqual((self.path / "in.state").stat().st_mode & 0o777, 0o600)
        self.assertEqual(sorted(os.listdir(self.path)), ["in.state", "in.txt", "out.txt", "t.yaml"])

    def test_links_and_pipes_beside_a_state_are_refused(self):
        self.write("precious", "mine")
        for name in ("in.state.new", "in.state.lock", "in.state"):
            os.symlink("precious", self.path / name)
            code, _, err = self.gale()
            self.assertIn(code, (2, 3), err)
            self.assertIn("a symbolic link", err)
            self.assertEqual(self.read("precious"), "mine")
            os.unlink(self.path / name)
            os.mkfifo(self.path / name)
            code, _, err = self.gale()
            self.assertIn(code, (2, 3), err)
            os.unlink(self.path / name)
        self.assertEqual(self.gale(), (0, "", ""))

    # --- In the way

    def test_a_sink_does_not_write_to_a_state(self):
        for output in ("in.state", "./in.state", "in.state.new", "in.state.lock"):
            self.topology(output=output)
            name = os.path.basename(output)
            self.refused(f"t.yaml: 'sink' would write to the file that 'lines' keeps its place in: '{name}'")

    def test_dead_letters_do_not_go_to_another_file_of_the_run(self):
        for name, use in (("in.txt", "'lines' reads"), ("out.txt", "'sink' writes"),
                          ("in.state", "'lines' keeps its place in"), ("t.yaml", "gale reads the topology from")):
            message = f"topology.dead_letters.file would write to the file that {use}: '{name}'"
            code, out, err = self.gale("-c", f"topology.dead_letters.file={name}")
            self.assertEqual((code, out), (2, ""))
            self.assertIn(message, err)

    def test_nothing_is_written_to_the_topology_file(self):
        self.topology(output="t.yaml")
        self.refused("t.yaml: 'sink' would write to the file that gale reads the topology from: 't.yaml'")

    def test_events_do_not_go_to_another_file_of_the_run(self):
        self.refused("t.yaml: --events-file would write to the file that 'sink' writes: 'out.txt'", "--log-events",
                     "lines", "--events-file", "out.txt")

    def test_a_record_of_the_simulator_does_not_go_to_another_file(self):
        self.write("out.txt", "of before\n")
        for record in ("out.txt", "in.state", "t.yaml"):
            process = subprocess.run([GALE, "simulate", "t.yaml", "--runs", "1", "--record", record],
                                     cwd=self.folder.name, capture_output=True, text=True, timeout=600)
            self.assertEqual(process.returncode, 2, process.stderr)
        self.assertEqual(self.read("out.txt"), "of before\n")

    def test_a_simulation_leaves_the_state_alone(self):
        self.gale()
        self.write("in.txt", "a\nb\nc\n")
        before = self.read("in.state")
        process = subprocess.run([GALE, "simulate", "t.yaml", "--runs", "2", "--input", "in.txt"], cwd=self.folder.name,
                                 capture_output=True, text=True, timeout=600)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertEqual(self.read("in.state"), before)
        self.assertEqual(sorted(os.listdir(self.path)), ["in.state", "in.txt", "out.txt", "t.yaml"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
