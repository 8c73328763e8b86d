#!/usr/bin/env python3
"""Commands as sources and sinks of the program: what is told of them, and that none outlives it.

usage: exec_test.py GALE HAS-STORE
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from pathlib import Path

from lives import Lives

GALE = str(Path(sys.argv[1]).resolve())

TOPOLOGY = """\
name: commands
config: {{ topology.message.timeout.secs: 3600 }}
spouts:
  - id: in
    className: gale.spout.Exec
    properties: [{{ name: command, value: {source} }}{more_in}]
bolts:
  - id: out
    className: gale.bolt.ExecSink
    properties: [{{ name: command, value: {sink} }}{more_out}]
streams:
  - {{ from: in, to: out, grouping: {{ type: SHUFFLE }} }}
"""


def processes():
    """Those that live, as number and group; what nobody has waited for yet does not."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
            if state not in "ZX":
                yield int(folder.name), int(group)
        except OSError:
            pass


def marked(mark):
    """The processes that have this in their environment, and their groups."""
    found = set()
    for number, group in processes():
        try:
            if mark.encode() in Path(f"/proc/{number}/environ").read_bytes():
                found.add((number, group))
        except OSError:
            pass
    return found


class Exec(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        self.mark = "GALE_MARK=" + uuid.uuid4().hex

    def topology(self, source, sink, more_in="", more_out=""):
        (self.path / "t.yaml").write_text(TOPOLOGY.format(source=source, sink=sink, more_in=more_in, more_out=more_out))

    def start(self, *arguments, command="run"):
        name, value = self.mark.split("=")
        return subprocess.Popen([GALE, command, "t.yaml", *arguments], cwd=self.folder.name, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, name: value})

    def run_it(self, *arguments, command="run"):
        process = self.start(*arguments, command=command)
        out, err = process.communicate(timeout=600)
        return process.returncode, out, err

    def wait_for(self, condition):
        end = time.monotonic() + 120
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.002)

    def groups_of(self, process):
        """A child's group has its guard, too, which has no environment."""
        groups = {group for _, group in marked(self.mark)} - {os.getpgid(process.pid)}
        self.assertEqual(len(groups), 2)
        return groups

    def test_from_command_to_command(self):
        self.topology("'seq 1 5 | tac'", "'cat > out.txt'")
        self.assertEqual(self.run_it("-q"), (0, "", ""))
        self.assertEqual((self.path / "out.txt").read_text(), "5\n4\n3\n2\n1\n")

    def test_words_environment_folder_and_fields(self):
        (self.path / "sub").mkdir()
        self.topology("[sh, -c, 'echo \"$1 $A $HOME. $B\"', sh, 'a  b']", "[tee, out.txt]",
                      ", {name: env, value: {A: 7, B: true, HOME: null}}, {name: emit, value: [number, line]}",
                      ", {name: dir, value: sub}, {name: format, value: json}, {name: fields, value: [line]}")
        self.assertEqual(self.run_it("-q"), (0, "", ""))
        self.assertEqual((self.path / "sub" / "out.txt").read_text(), '{"line":"a  b 7 . true"}\n')

    def test_a_source_that_fails_ends_the_run_in_words(self):
        self.topology("'echo a; until [ -s out.txt ]; do sleep 0.01; done; echo disk is gone >&2; exit 3'", "'cat > out.txt'")
        code, out, err = self.run_it("-q")
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(err, r"gale: command 'echo a; .*' ended with exit status 3: disk is gone\n")
        self.assertEqual((self.path / "out.txt").read_text(), "a\n")

    def test_what_a_signal_cuts_off_is_no_record_and_what_an_exit_leaves_is_one(self):
        for end, code, wanted, told in (("exit 0", 0, "a\nhalf\n", False), ("exit 1", 1, "a\nhalf\n", False), ("kill -9 $$", 1, "a\n", True)):
            (self.path / "t.yaml").write_text(TO_FILE % end)
            (self.path / "out.txt").unlink(missing_ok=True)
            got, _, err = self.run_it("-q")
            self.assertEqual(((self.path / "out.txt").read_text(), got), (wanted, code), err)
            self.assertEqual("was killed within a record, which is dropped: 1 so far\n" in err, told, err)

    def test_a_sink_that_fails_ends_the_run_in_words(self):
        self.topology("'seq 10'", "'cat > /dev/null; exit 4'")
        code, _, err = self.run_it("-q")
        self.assertEqual(code, 1)
        self.assertIn("command 'cat > /dev/null; exit 4' ended with exit status 4", err)

    def test_a_slow_command_has_the_time_that_finish_wait_gives(self):
        slow = "'cat > read.txt; sleep 0.3; cat read.txt > out.txt'"
        self.topology("'seq 300'", slow, more_out=", {name: stopWait, value: 1ms}")
        self.assertEqual(self.run_it("-q"), (0, "", ""))
        self.assertEqual((self.path / "out.txt").read_text().count("\n"), 300)
        self.topology("'seq 300'", "'cat > /dev/null; exec sleep 1000'", more_out=", {name: finishWait, value: 50ms}")
        code, _, err = self.run_it("-q")
        self.assertEqual(code, 1)
        self.assertIn("was killed by signal 15 (Terminated); it had not ended by itself within 0.05 s (finishWait)\n", err)

    def test_what_is_emitted_at_the_end_and_not_read_is_counted(self):
        (self.path / "t.yaml").write_text(AT_THE_END)
        code, _, err = self.run_it("-q")
        self.assertEqual(code, 1)
        self.assertIn("it had not ended by itself within 0.05 s (finishWait); 3 lines it did not read\n", err)

    def test_a_sink_that_is_started_again_is_told_with_what_it_had_read(self):
        self.topology("'seq 3'", "'[ -e once ] && exec cat > out.txt; > once; read -r a; exit 7'",
                      more_out=", {name: restart, value: failure}, {name: restartWait, value: 1ms}")
        code, _, err = self.run_it("-q")
        self.assertEqual(code, 1)
        self.assertIn("ended with exit status 7; it had read 1 line since it was started\n", err)
        self.assertIn("after it had read 1 line: how much of that it did is not known", err)
        self.assertEqual((self.path / "out.txt").read_text(), "2\n3\n")

    def test_a_program_that_is_not_there(self):
        self.topology("[no-such-program-of-gale]", "'cat'")
        code, _, err = self.run_it("-q")
        self.assertEqual(code, 2)
        self.assertIn("cannot run 'no-such-program-of-gale': there is no such program in PATH", err)

    def test_what_makes_no_sense_is_refused_by_check(self):
        for source, more, words in (("''", "", "must be a text for /bin/sh, or a list of words"), ("[]", "", "the list has no words"),
                                    ("[a, [b]]", "", "word 2 must be a text, is list"),
                                    ("a", ", {name: env, value: {'a=b': c}}", "'a=b' is no name"),
                                    ("a", ", {name: env, value: {a: [b]}}", "under 'a' must be a text or null, is list"),
                                    ("a", ", {name: restartMax, value: 3}", "it is never started again"),
                                    ("a", ", {name: restart, value: sometimes}", "restart"),
                                    ("a", ", {name: emit, value: lines}", "emit has 'lines'")):
            self.topology(source, "'cat'", more)
            code, out, err = self.run_it(command="check")
            self.assertEqual(code, 1 if code == 1 else 2, out + err)
            self.assertIn(words, out + err)

    def test_an_interrupted_run_ends_its_children(self):
        self.topology("'trap \"\" TERM; echo a; while :; do sleep 1000; done'", "'cat >> out.txt'", ", {name: stopWait, value: 50ms}")
        process = self.start("-q", "--log-level", "warn")
        self.wait_for(lambda: (self.path / "out.txt").exists() and (self.path / "out.txt").read_text() == "a\n")
        groups = self.groups_of(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=600)
        self.assertEqual((process.returncode, out, err), (0, "", ""))
        self.wait_for(lambda: not groups & {group for _, group in processes()})

    def test_a_sink_whose_run_is_cut_short_is_told_and_the_log_says_so(self):
        self.topology("'seq 3; exec sleep 1000'", "'read -r a; echo up > up; exec sleep 1000'")
        process = self.start("-q", "--end-within", "1")
        self.wait_for((self.path / "up").exists)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 130, err)
        self.assertRegex(err, r"out: the run is cut short, and its command with it, by SIGTERM: command 'read .*' was killed by signal 15 "
                              r"\(Terminated\); it had read 1 line since it was started, which may not be done\n")

    def test_no_child_outlives_a_run_that_is_killed(self):
        sources = ("'trap \"\" TERM HUP; (trap \"\" TERM; echo a; sleep 1000; sleep 1000) | (trap \"\" HUP; cat; sleep 1000)'",
                   "[sh, -c, 'echo a; sleep 1000 | sleep 1000 & sleep 1000']")
        for life in range(20):
            (self.path / "out.txt").unlink(missing_ok=True)
            self.topology(sources[life % 2], "'tee -a out.txt | (trap \"\" TERM; sleep 1000)'")
            process = self.start("-q")
            self.wait_for(lambda: (self.path / "out.txt").exists() and (self.path / "out.txt").read_text() == "a\n")
            self.wait_for(lambda: len(marked(self.mark)) > 7)
            groups = self.groups_of(process)
            process.kill()
            process.communicate()
            self.wait_for(lambda: not marked(self.mark) and not groups & {group for _, group in processes()})


AT_THE_END = """\
name: totals
spouts:
  - id: words
    className: gale.spout.Exec
    properties: [{ name: command, value: "printf 'a\\nb\\nc\\na\\n'" }]
bolts:
  - id: count
    className: gale.bolt.Count
    properties: [{ name: emit, value: finish }]
  - id: out
    className: gale.bolt.ExecSink
    properties: [{ name: command, value: "exec sleep 1000" }, { name: finishWait, value: 50ms }]
streams:
  - { from: words, to: count, grouping: { type: FIELDS, args: [line] } }
  - { from: count, to: out, grouping: { type: SHUFFLE } }
"""


TO_FILE = """\
name: file
spouts:
  - id: in
    className: gale.spout.Exec
    properties: { command: "echo a; printf half; %s" }
bolts:
  - id: out
    className: gale.bolt.FileSink
    properties: { path: out.txt }
streams:
  - { from: in, to: out, grouping: { type: GLOBAL } }
"""


DURABLE = """\
name: durable
config: { topology.state.checkpoint.interval.ms: 10, topology.message.timeout.secs: 3600 }
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{ name: path, value: in.txt }]
bolts:
  - id: out
    className: gale.bolt.ExecSink
    properties:
      - { name: command, value: "while read -r line; do echo $line; done >> out.txt" }
      - { name: maxBytes, value: 1000 }
streams:
  - { from: lines, to: out, grouping: { type: SHUFFLE } }
"""


TWO_SOURCES = """\
name: sources
config: { topology.state.checkpoint.interval.ms: 10, topology.message.timeout.secs: 3600 }
spouts:
  - id: once
    className: gale.spout.Exec
    properties: [{ name: command, value: "echo x >> once.txt; seq 5" }]
  - id: on
    className: gale.spout.Exec
    properties: [{ name: command, value: "echo x >> on.txt; sleep 1000" }]
bolts:
  - id: out
    className: gale.bolt.FileSink
    properties: [{ name: path, value: out.txt }]
streams:
  - { from: once, to: out, grouping: { type: SHUFFLE } }
  - { from: on, to: out, grouping: { type: SHUFFLE } }
"""


class Durable(Lives, unittest.TestCase):
    LINES = 5000

    def test_a_run_that_is_killed_again_and_again_writes_every_line_at_least_once(self):
        drawn, life, ended = random.Random(14), 0, False
        with tempfile.TemporaryDirectory() as folder:
            self.path = Path(folder)
            (self.path / "in.txt").write_text("".join(f"{i}\n" for i in range(self.LINES)))
            (self.path / "t.yaml").write_text(DURABLE)
            while not ended:
                ended = self.live(self.start, drawn, life)[1]
                life += 1
            lines = (self.path / "out.txt").read_text().split("\n")
        self.assertGreater(life, 1)
        self.assertEqual(set(lines), {"", *map(str, range(self.LINES))})

    def test_a_command_that_has_come_to_its_end_is_not_run_by_a_run_that_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            self.path = Path(folder)
            (self.path / "t.yaml").write_text(TWO_SOURCES)
            for life in range(3):
                before = self.mark()
                process = self.start()
                self.wait_for(lambda: self.text("on.txt") == "x\n" * (life + 1) and self.text("out.txt").count("\n") == 5, process)
                self.wait_for_checkpoints(process, before, 3)
                process.kill()
                process.communicate()
            self.assertEqual(self.text("once.txt"), "x\n")
            self.assertEqual(self.text("out.txt"), "1\n2\n3\n4\n5\n")

    def text(self, name):
        path = self.path / name
        return path.read_text() if path.exists() else ""

    def start(self):
        return subprocess.Popen([GALE, "run", "t.yaml", "-q", "--until-drained", "--state", "state"], cwd=self.path, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def load_tests(loader, _, __):
    """The second word says whether this program has a store."""
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in ([Exec, Durable] if sys.argv[2] == "1" else [Exec]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
