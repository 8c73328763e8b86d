#!/usr/bin/env python3
"""Durable runs of the program: killed at any moment and started again, they leave what a run leaves that was not.

usage: durable_test.py GALE
"""

import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lives import Lives

GALE = str(Path(sys.argv[1]).resolve())

COPY = """\
name: {name}
config: {{ topology.state.checkpoint.interval.ms: 10, topology.message.timeout.secs: 3600 }}
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{{ name: path, value: in.txt }}]
bolts:
  - id: sink
    className: gale.bolt.FileSink
    properties: [{{ name: path, value: {output} }}]
streams:
  - {{ from: lines, to: sink, grouping: {{ type: SHUFFLE }} }}
"""


COUNT = """\
name: count
config: { topology.state.checkpoint.interval.ms: 10, topology.message.timeout.secs: 3600 }
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{ name: path, value: in.txt }]
bolts:
  - id: split
    className: gale.bolt.Split
  - id: count
    className: gale.bolt.Count
    parallelism: 2
    properties: [{ name: emit, value: finish }]
  - id: sink
    className: gale.bolt.FileSink
    properties: [{ name: path, value: out.txt }]
streams:
  - { from: lines, to: split, grouping: { type: SHUFFLE } }
  - { from: split, to: count, grouping: { type: FIELDS, args: [word] } }
  - { from: count, to: sink, grouping: { type: GLOBAL } }
"""


class Durable(Lives, unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        self.topology()
        self.write_lines(1000)

    def topology(self, name="copy", output="out.txt"):
        (self.path / "t.yaml").write_text(COPY.format(name=name, output=output))

    def write_lines(self, count):
        (self.path / "in.txt").write_text("".join(f"line {i}\n" for i in range(count)))

    def lines(self, name):
        return (self.path / name).read_text().splitlines()

    def start(self, *arguments):
        return subprocess.Popen([GALE, "run", "t.yaml", "--state", "state", *arguments], cwd=self.folder.name, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def gale(self, *arguments):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=600)
        return process.returncode, out, err

    def same(self):
        self.assertEqual(sorted(self.lines("out.txt")), sorted(self.lines("in.txt")))

    def begun(self):
        return (self.path / "out.txt").exists() and (self.path / "out.txt").stat().st_size > 0

    # --- The end, and what comes after it

    def test_a_run_says_what_it_begins_with_and_what_it_has_done(self):
        code, _, err = self.gale()
        self.assertEqual(code, 0, err)
        self.assertIn("INFO begins anew, with its state in 'state'\n", err)
        self.assertRegex(err, r"(?m)^\d+ checkpoints?(, \d+ put off)?; the last, \d+: \S+ .s old, .* to make it last, spouts held for .*$")
        self.assertRegex(err, r"(?m)^spouts held p50 .*, p99 .*, max .*; to last p50 .*, p99 .*, max .*; at most .*B$")
        self.same()

    def test_the_figures_of_checkpoints_fit_together(self):
        code, out, err = self.gale("--json", "--rate", "5000")
        self.assertEqual(code, 0, err)
        told = json.loads(out)["checkpoints"]
        self.assertTrue(told["complete"])
        self.assertGreater(told["made"], 2)
        self.assertGreaterEqual(told["age_seconds"], 0)
        self.assertGreaterEqual(told["bytes_max"], told["bytes"])
        for what in ("held_seconds", "seconds_to_last"):
            self.assertGreater(told[what + "_p99"], 0)
            self.assertLessEqual(told[what + "_p50"], told[what + "_p99"])
            self.assertLessEqual(told[what + "_p99"], told[what + "_max"])
            self.assertLessEqual(told[what], told[what + "_max"])

    def test_what_has_come_to_its_end_is_not_run_again(self):
        self.gale("-q")
        before = (self.path / "out.txt").stat().st_mtime_ns
        code, out, err = self.gale("--json")
        self.assertEqual(code, 0, err)
        self.assertRegex(err, r"INFO checkpoint \d+ in 'state', .* old, is of the end of a run: all is done; nothing is run again")
        summary = json.loads(out)
        self.assertEqual((summary["executed"], summary["checkpoints"]["made"]), (0, 0))
        self.assertTrue(summary["checkpoints"]["complete"])
        self.assertEqual((self.path / "out.txt").stat().st_mtime_ns, before)
        self.same()

    def test_an_input_that_grew_after_the_end_is_refused(self):
        self.gale("-q")
        with open(self.path / "in.txt", "a") as file:
            file.write("more\n")
        code, _, err = self.gale("-q")
        self.assertEqual(code, 2)
        self.assertRegex(err, r"gale: in\.txt: has grown by 5 bytes since the run came to its end with checkpoint \d+: its "
                              r"results are finished without them; begin anew with another state folder\n")

    def test_without_state_the_figures_have_no_checkpoints(self):
        result = subprocess.run([GALE, "run", "t.yaml", "--json"], cwd=self.folder.name, capture_output=True, text=True)
        self.assertIsNone(json.loads(result.stdout)["checkpoints"])
        self.assertFalse((self.path / "state").exists())

    def test_a_place_that_is_kept_without_the_counts_is_warned_of(self):
        (self.path / "t.yaml").write_text(COUNT.replace("value: in.txt }]", "value: in.txt }, { name: state, value: place }]"))
        warning = "WARN lines: remembers its place from one run to the next, and what 'count' kept is forgotten with each"
        for life in range(2):
            result = subprocess.run([GALE, "run", "t.yaml", "-q", "--overwrite"], cwd=self.folder.name, capture_output=True, text=True)
            self.assertEqual(result.stderr.count(warning), 1, result.stderr)
        self.assertNotIn(warning, self.gale("-q")[2])

    def test_a_place_that_is_kept_in_front_of_a_file_alone_is_not(self):
        (self.path / "t.yaml").write_text(COPY.format(name="copy", output="out.txt")
                                          .replace("value: in.txt }]", "value: in.txt }, { name: state, value: place }]"))
        result = subprocess.run([GALE, "run", "t.yaml", "-q"], cwd=self.folder.name, capture_output=True, text=True)
        self.assertEqual((result.returncode, "WARN" in result.stderr), (0, False))

    # --- Ends that are none

    def test_a_signal_makes_a_checkpoint_and_the_next_run_goes_on_from_it(self):
        self.write_lines(300)
        process = self.start("-q", "--rate", "100")
        self.wait_for(self.begun, process)
        process.send_signal(signal.SIGTERM)
        err = process.communicate(timeout=600)[1]
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("INFO makes a checkpoint, and stops; Ctrl-C again ends now\n", err)
        self.assertLess(len(self.lines("out.txt")), 300)
        code, _, err = self.gale("-q")
        self.assertEqual(code, 0, err)
        self.assertRegex(err, r"INFO resumes from checkpoint \d+ in 'state', .* old\n")
        self.same()

    def test_what_a_suspended_run_has_printed_does_not_come_again(self):
        text = (self.path / "t.yaml").read_text()
        (self.path / "t.yaml").write_text(text.replace("out.txt", '"-"'))
        self.write_lines(100000)
        process = self.start("-q", "--rate", "20000")
        self.wait_for_checkpoints(process, b"", 3)
        process.send_signal(signal.SIGTERM)
        first, err = process.communicate(timeout=600)
        self.assertIn("INFO makes a checkpoint, and stops", err)
        code, second, err = self.gale("-q")
        self.assertEqual(code, 0, err)
        self.assertEqual(sorted((first + second).splitlines()), sorted(self.lines("in.txt")))

    def test_a_job_that_a_signal_suspends_has_not_come_to_its_end(self):
        process = self.start("-q", "--rate", "100", "--until-drained")
        self.wait_for(self.begun, process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=600)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)

    def run_with_kills(self, drawn, start, before_life=lambda: None):
        """Returns how many lives were killed, and how many of them had gone on."""
        killed = resumed = 0
        for life in range(200):
            before_life()
            err, ended = self.live(start, drawn, life)
            if ended:
                return killed, resumed
            killed += 1
            resumed += "resumes from checkpoint" in err
        self.fail("it does not come to an end")

    def test_killed_at_any_moment_a_run_leaves_each_line_once(self):
        seed = random.randrange(1 << 32)
        self.write_lines(100000)
        killed, resumed = self.run_with_kills(random.Random(seed), lambda: self.start("-q", "-j", "2", "--rate", "300000"))
        self.assertEqual(sorted(self.lines("out.txt")), sorted(self.lines("in.txt")), f"seed {seed}")
        self.assertGreater(killed, 1)
        self.assertGreater(resumed, 0)

    def test_killed_at_any_moment_words_are_counted_as_in_one_run(self):
        seed = random.randrange(1 << 32)
        drawn = random.Random(seed)
        (self.path / "t.yaml").write_text(COUNT)
        words = [f"w{drawn.randrange(2000)}" for _ in range(100000)]
        (self.path / "in.txt").write_text("".join(" ".join(words[i:i + 10]) + "\n" for i in range(0, len(words), 10)))
        killed, resumed = self.run_with_kills(drawn, lambda: self.start("-q", "-j", "2", "--rate", "50000"))
        counted = [line.split("\t") for line in self.lines("out.txt")]
        self.assertEqual(len(counted), len(set(words)), f"seed {seed}")
        self.assertEqual({word: int(count) for word, count in counted}, collections.Counter(words), f"seed {seed}")
        self.assertGreater(killed, 1)
        self.assertGreater(resumed, 0)

    # --- Checkpoints that are kept

    def keep(self, *arguments):
        ended = subprocess.run([GALE, "checkpoint", *arguments], cwd=self.folder.name, text=True, capture_output=True)
        return ended.returncode, ended.stdout, ended.stderr

    def test_a_checkpoint_that_was_kept_can_be_gone_on_from_again(self):
        self.write_lines(300)
        process = self.start("-q", "--rate", "100")
        self.wait_for(self.begun, process)
        self.wait_for_checkpoints(process, b"", 3)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=600)
        code, out, err = self.keep("monday", "--state", "state/")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"\Akept checkpoint \d+ in 'state\.monday'; gale run FILE --state state\.monday goes on from it\n\Z")
        kept = len(self.lines("out.txt"))
        self.assertLess(kept, 300)
        self.assertEqual(self.gale("-q")[0], 0)
        self.same()
        code, _, err = self.gale("-q", "--state", "state.monday")
        self.assertEqual(code, 0, err)
        self.assertRegex(err, r"INFO resumes from checkpoint \d+ in 'state\.monday'")
        self.assertRegex(err, r"sink: out\.txt: \d+ bytes that were written since the checkpoint were cut off")
        self.same()
        code, _, err = self.keep("monday", "--state", "state")
        self.assertEqual(code, 2)
        self.assertIn("the folder 'state.monday' is there already, with '", err)

    def test_a_copy_that_was_not_finished_is_no_state(self):
        self.gale("-q")
        self.keep("half", "--state", "state")
        os.unlink(self.path / "state.half" / "gale-store")
        code, _, err = self.gale("-q", "--state", "state.half")
        self.assertEqual(code, 3)
        self.assertIn("the store 'state.half' is damaged: 'gale-store' is missing", err)

    def test_a_checkpoint_without_a_state_or_a_name_is_refused(self):
        self.assertEqual(self.keep("monday", "--state", "state"),
                         (2, "", "gale: there is no state of a run in 'state'\n"))
        self.assertEqual(self.keep("monday"), (2, "", "gale: checkpoint takes one name and a folder: gale checkpoint NAME "
                                                      "--state DIR\n"))
        self.gale("-q")
        for name in ("", ".", "a/b", ".hidden"):
            code, _, err = self.keep("--state", "state", "--", name)
            self.assertEqual(code, 2)
            self.assertIn(f"'{name}' is no name of a checkpoint", err)

    # --- Other numbers of tasks and executors

    def divide(self, lines, split, count):
        text = COUNT.replace("    parallelism: 2\n", "")
        for name, tasks in (("lines", lines), ("split", split), ("count", count)):
            text = text.replace(f"id: {name}\n", f"id: {name}\n    parallelism: {tasks}\n")
        (self.path / "t.yaml").write_text(text)

    def test_words_are_counted_as_in_one_run_by_other_numbers_of_tasks_and_executors(self):
        seed = random.randrange(1 << 32)
        drawn = random.Random(seed)
        words = [f"w{drawn.randrange(2000)}" for _ in range(100000)]
        (self.path / "in.txt").write_text("".join(" ".join(words[i:i + 10]) + "\n" for i in range(0, len(words), 10)))
        _, resumed = self.run_with_kills(
            drawn, lambda: self.start("-q", "-j", str(drawn.randint(1, 3)), "--rate", "5000"),
            lambda: self.divide(*(drawn.choice((1, 2, 4, 7)) for _ in range(3))))
        counted = [line.split("\t") for line in self.lines("out.txt")]
        self.assertEqual({word: int(count) for word, count in counted}, collections.Counter(words), f"seed {seed}")
        self.assertEqual(len(counted), len(set(words)), f"seed {seed}")
        self.assertGreater(resumed, 1)

    def test_what_cannot_be_divided_is_refused_with_both_numbers(self):
        (self.path / "t.yaml").write_text(COPY.format(name="copy", output="out.txt"))
        process = self.start("-q", "--rate", "100")
        self.wait_for(self.begun, process)
        process.kill()
        process.communicate()
        text = (self.path / "t.yaml").read_text()
        (self.path / "t.yaml").write_text(text.replace("id: sink\n", "id: sink\n    parallelism: 2\n"))
        code, _, err = self.gale("-q")
        self.assertEqual(code, 2)
        self.assertIn("'sink' had 1 tasks and has 2 now, and what it saved cannot be divided otherwise; start it with 1", err)

    # --- Another topology

    def rename(self, **names):
        """Components of the job that counts words, by new names."""
        text = COUNT
        for old, new in names.items():
            for key in ("id", "from", "to"):
                text = text.replace(f"{key}: {old}\n", f"{key}: {new}\n").replace(f"{key}: {old},", f"{key}: {new},")
        (self.path / "t.yaml").write_text(text)

    def test_words_are_counted_as_in_one_run_by_components_that_are_renamed_between_kills(self):
        seed = random.randrange(1 << 32)
        drawn = random.Random(seed)
        words = [f"w{drawn.randrange(2000)}" for _ in range(100000)]
        (self.path / "in.txt").write_text("".join(" ".join(words[i:i + 10]) + "\n" for i in range(0, len(words), 10)))
        self.rename()
        process = self.start("-q", "--rate", "5000")
        self.wait_for_checkpoints(process, b"", 3)
        process.kill()
        process.communicate()
        self.rename(lines="source", split="cut", count="tally", sink="file")
        code, _, err = self.gale("-q")
        self.assertEqual(code, 2)
        self.assertIn("the topology has no '", err)
        self.assertIn("--state-adopt ", err)
        adopt = ["--state-adopt", "lines=source", "--state-adopt", "split=cut", "--state-adopt=count=tally",
                 "--state-adopt", "sink=file"]
        resumed = 0
        for life in range(6):
            err, _ = self.live(lambda: self.start("-q", "--rate", "5000", *adopt), drawn, life, ends=False)
            resumed += "resumes from" in err
        self.assertGreater(resumed, 0)
        code, _, err = self.gale("-q")
        self.assertEqual(code, 0, err)
        counted = {word: int(count) for word, count in (line.split("\t") for line in self.lines("out.txt"))}
        self.assertEqual(counted, collections.Counter(words), f"seed {seed}")
        self.assertEqual(len(self.lines("out.txt")), len(counted))

    def test_what_is_gone_is_adopted_by_a_word(self):
        self.write_lines(300)
        process = self.start("-q", "--rate", "100")
        self.wait_for(self.begun, process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=600)
        text = (self.path / "t.yaml").read_text()
        (self.path / "t.yaml").write_text(text.replace("id: sink", "id: other").replace("to: sink", "to: other")
                                          .replace("out.txt", "other.txt"))
        code, _, err = self.gale("-q")
        self.assertEqual(code, 2)
        self.assertIn("if it is called 'other' now, --state-adopt sink=other gives that everything", err)
        code, _, err = self.gale("-q", "--state-adopt")
        self.assertEqual(code, 0, err)
        self.assertIn("WARN sink: is there no more: what it kept is dropped", err)
        self.assertIn("INFO other: is new since the checkpoint, and begins empty", err)
        old, new = self.lines("out.txt"), self.lines("other.txt")
        self.assertEqual(len(new), len(set(new)))
        self.assertEqual(set(old + new), set(self.lines("in.txt"))) # what is behind the checkpoint nobody cuts off

    def test_a_sink_that_is_new_does_not_replace_what_another_one_wrote(self):
        self.write_lines(300)
        process = self.start("-q", "--rate", "100")
        self.wait_for(self.begun, process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=600)
        before = (self.path / "out.txt").read_text()
        text = (self.path / "t.yaml").read_text()
        (self.path / "t.yaml").write_text(text.replace("id: sink", "id: other").replace("to: sink", "to: other"))
        code, _, err = self.gale("-q", "--state-adopt")
        self.assertEqual(code, 3)
        self.assertIn(f"'out.txt' holds {len(before)} bytes, which the run would replace", err)
        self.assertEqual((self.path / "out.txt").read_text(), before)
        code, _, err = self.gale("-q", "--state-adopt", "sink=other") # which was meant
        self.assertEqual(code, 0, err)
        self.same()

    def test_a_mistyped_state_folder_loses_no_output(self):
        self.write_lines(300)
        self.assertEqual(self.gale("-q")[0], 0)
        self.write_lines(10)
        code, _, err = self.gale("-q", "--state", "staet")
        self.assertEqual(code, 3, err)
        for wanted in "'out.txt' holds ", "--overwrite", "`append: true`", "another state folder":
            self.assertIn(wanted, err)
        self.assertEqual(len(self.lines("out.txt")), 300)
        self.assertEqual(self.gale("-q", "--state", "staet", "--overwrite")[0], 0)
        self.same()

    def test_adopting_wants_a_state_and_names(self):
        result = subprocess.run([GALE, "run", "t.yaml", "--state-adopt"], cwd=self.folder.name, capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (2, "gale: --state-adopt is of no use without --state DIR\n"))
        self.gale("-q")
        code, _, err = self.gale("-q", "--state-adopt", "sink=snik")
        self.assertEqual(code, 2)
        self.assertIn("--state-adopt sink=snik: the topology has no component 'snik'; did you mean 'sink'?", err)

    # --- What is refused

    def test_two_runs_do_not_share_a_state(self):
        process = self.start("-q", "--rate", "100")
        self.wait_for(self.begun, process)
        code, _, err = self.gale("-q")
        self.assertEqual(code, 2)
        self.assertIn(f"{process.pid}", err)
        process.kill()
        process.communicate()

    def test_the_state_of_another_topology_is_refused(self):
        self.gale("-q")
        self.topology(name="other")
        code, _, err = self.gale("-q")
        self.assertEqual(code, 2)
        self.assertIn("'copy'", err)

    def test_a_damaged_state_is_refused_and_named(self):
        self.gale("-q")
        for file in (self.path / "state").iterdir():
            os.truncate(file, file.stat().st_size // 2)
        code, _, err = self.gale("-q")
        self.assertEqual(code, 3)
        self.assertIn("gale: ", err)
        self.assertIn("state", err)
        self.same()

    def test_a_result_that_is_gone_or_shorter_is_refused(self):
        self.gale("-q")
        (self.path / "out.txt").write_text("line 0\n")
        code, _, err = self.gale("-q")
        self.assertEqual(code, 2)
        self.assertRegex(err, r"gale: 'out\.txt' has 7 bytes, and checkpoint \d+ has written 8890: the rest is lost")
        os.unlink(self.path / "out.txt")
        code, _, err = self.gale("-q")
        self.assertEqual(code, 2)
        self.assertRegex(err, r"'out\.txt': checkpoint \d+ has written 8890 bytes of it, and there is no such file")
        shutil.rmtree(self.path / "state")
        self.assertEqual(self.gale("-q")[0], 0)
        self.same()

    def test_dead_letters_are_not_emitted_into_a_state(self):
        (self.path / "letters").write_text("")
        code, _, err = self.gale("--replay-dead-letters", "letters")
        self.assertEqual(code, 2)
        self.assertIn("--replay-dead-letters runs other spouts than those whose state is in 'state'", err)

    def test_what_cannot_be_cut_back_is_said_at_the_start(self):
        self.topology(output='"-"')
        code, out, err = self.gale("-q")
        self.assertEqual((code, len(out.splitlines())), (0, 1000))
        self.assertIn("WARN sink: standard output: is no regular file and cannot be cut back", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
