#!/usr/bin/env python3
"""gale test: what it prints, what it leaves, what its codes are; and the failing case of docs/testing-topologies.md.

usage: command_test.py GALE ROOT
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
ROOT = Path(sys.argv[2]).resolve()
HAS_SCRIPT = "gale.bolt.Filter" in subprocess.run([GALE, "help", "classes"], capture_output=True, text=True, check=True).stdout

WORDS = """
name: words
spouts:
  - {id: lines, className: gale.spout.File, properties: {path: words.txt}}
bolts:
  - {id: split, className: gale.bolt.Split, parallelism: 3}
  - {id: count, className: gale.bolt.Count, parallelism: 2, properties: {emit: finish}}
  - {id: sink, className: gale.bolt.FileSink, properties: {path: ../counts.tsv}}
  - {id: show, className: gale.bolt.Printer}
streams:
  - {from: lines, to: split, grouping: {type: SHUFFLE}}
  - {from: split, to: count, grouping: {type: FIELDS, args: [word]}}
  - {from: count, to: sink, grouping: {type: GLOBAL}}
  - {from: count, to: show, grouping: {type: GLOBAL}}
config: {topology.message.timeout.secs: 30}
"""

GOOD = """
cases:
  - name: two lines
    steps:
      - {feed: lines, lines: [the cow, the moon]}
      - {expect: split, order: any, tuples: [the, cow, the, moon]}
      - {acked: lines}
      - {finish: true}
      - {file: ../counts.tsv, order: contains, lines: ["the\\t2"]}
"""


def cases(*steps, more=""):
    """A file with one case."""
    return "cases:\n  - name: a case\n" + more + "    steps:\n" + "".join(f"      - {step}\n" for step in steps)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.scratch = self.path / "tmp"
        self.scratch.mkdir()
        self.work = self.path / "work"
        self.work.mkdir()
        (self.work / "words.yaml").write_text(WORDS)

    def gale(self, *arguments, cwd=None):
        environment = dict(os.environ, TMPDIR=str(self.scratch))
        done = subprocess.run([GALE, "test", *arguments], capture_output=True, text=True, timeout=600, check=False,
                              cwd=cwd or self.work, env=environment)
        return done.returncode, done.stdout, done.stderr

    def play(self, text, *arguments):
        (self.work / "words.test.yaml").write_text(text)
        return self.gale("words.test.yaml", *arguments)

    def passes(self, *steps, more=""):
        code, out, err = self.play(cases(*steps, more=more))
        self.assertEqual((code, err), (0, ""), out)

    def fails(self, text, *steps, more=""):
        code, out, err = self.play(cases(*steps, more=more))
        self.assertEqual((code, err), (1, ""), out)
        self.assertIn(text, out)
        return out

    # --- Results ---

    def test_a_case_that_passes_is_a_line_and_leaves_nothing(self):
        before = sorted(self.path.rglob("*"))
        code, out, err = self.play(GOOD)
        self.assertEqual((code, out, err), (0, "words.test.yaml\n  ok    two lines\n1 case: 1 passed, 0 failed\n", ""))
        self.assertEqual(sorted(self.path.rglob("*")), sorted([*before, self.work / "words.test.yaml"]))

    def test_the_same_seed_prints_the_same_bytes(self):
        text = cases("{feed: lines, lines: [a b c d e f g h i j k l m n o p]}", "{expect: split, tuples: [z]}")
        outs = {self.play(text, "--seed", str(seed))[1] for seed in (5, 5, 6)}
        self.assertEqual(len(outs), 2)

    def test_the_seed_that_fails_is_named_and_repeats_it(self):
        steps = "{feed: lines, lines: [a b c d]}", "{finish: true}", "{expect: count, tuples: [[a, 1], [b, 1], [c, 1], [d, 1]]}"
        code, out, _ = self.play(cases(*steps, more="    seeds: 1000\n"))
        self.assertEqual(code, 1)
        again = re.search(r"again: gale test (.*)", out)[1]
        repeated = subprocess.run(["sh", "-c", f'"$0" test {again}', GALE], capture_output=True, text=True, cwd=self.work, timeout=600)
        self.assertEqual((repeated.returncode, repeated.stdout), (1, out))

    def test_tap(self):
        code, out, err = self.play(GOOD + "  - name: wrong\n    steps:\n      - {feed: lines, lines: a}\n      - {acked: lines, count: 3}\n", "--tap")
        self.assertEqual((code, err), (1, ""))
        lines = out.splitlines()
        self.assertEqual(lines[:3], ["TAP version 13", "ok 1 - words.test.yaml: two lines", "not ok 2 - words.test.yaml: wrong"])
        self.assertEqual(lines[3:5] + lines[-2:], ["  ---", "  message: |", "  ...", "1..2"])

    def test_junit(self):
        code, _, _ = self.play(GOOD + "  - name: <wrong>\n    steps:\n      - {feed: lines, lines: a}\n      - {acked: lines, count: 3}\n", "--junit", "out.xml")
        self.assertEqual(code, 1)
        suite = xml.etree.ElementTree.parse(self.work / "out.xml").getroot()
        self.assertEqual([suite.get(name) for name in ("tests", "failures", "errors")], ["2", "1", "0"])
        self.assertEqual([case.get("name") for case in suite], ["two lines", "<wrong>"])
        self.assertIn("1 found, 3 expected", suite[1][0].text)

    def test_junit_that_cannot_be_written(self):
        code, _, err = self.play(GOOD, "--junit", "no/out.xml")
        self.assertEqual(code, 3)
        self.assertIn("no/out.xml", err)

    def test_filter_and_list(self):
        text = GOOD + "  - name: other\n    steps: [{feed: lines, lines: a}, {acked: lines}]\n"
        self.assertEqual(self.play(text, "--list"), (0, "words.test.yaml: two lines\nwords.test.yaml: other\n", ""))
        self.assertEqual(self.play(text, "--filter", "oth")[1], "words.test.yaml\n  ok    other\n1 case: 1 passed, 0 failed\n")
        code, _, err = self.play(text, "--filter", "none")
        self.assertEqual((code, err), (2, "gale: no case is called so: none\n"))

    def test_a_folder_is_all_files_below_it(self):
        for name in ("b/one.test.yaml", "a/two.test.yaml", ".hidden/three.test.yaml"):
            (self.work / name).parent.mkdir(exist_ok=True)
            (self.work / name).write_text("topology: ../words.yaml\n" + GOOD)
        code, out, err = self.gale("--list", ".")
        self.assertEqual((code, out, err), (0, "./a/two.test.yaml: two lines\n./b/one.test.yaml: two lines\n", ""))
        empty = self.work / "empty"
        empty.mkdir()
        self.assertEqual(self.gale("empty"), (2, "", "gale: there is no NAME.test.yaml below 'empty'\n"))

    def test_a_file_that_cannot_be_used_does_not_keep_others_from_running(self):
        (self.work / "broken.test.yaml").write_text("topology: words.yaml\ncases: 5\n")
        (self.work / "words.test.yaml").write_text(GOOD)
        code, out, _ = self.gale("broken.test.yaml", "words.test.yaml", "--tap")
        self.assertEqual(code, 2)
        self.assertIn("not ok 1 - broken.test.yaml\n", out)
        self.assertIn("ok 2 - words.test.yaml: two lines\n", out)

    def test_usage(self):
        code, _, err = self.gale()
        self.assertEqual(code, 2)
        self.assertIn("test wants files of cases", err)
        code, out, _ = self.gale("none.test.yaml")
        self.assertEqual(code, 2)
        self.assertIn("none.test.yaml", out)

    # --- Steps ---

    def test_what_is_open_is_told_with_where_it_waits(self):
        mock = "    mock: [{id: split, answers: [{after: 20s, emit: [a]}]}]\n"
        out = self.fails("0 found, 1 expected", "{feed: lines, lines: the cow}", "{acked: lines}", more=mock)
        self.assertRegex(out, r'not answered yet:\n +\["the cow"\] to \'lines\': held by \'split\'')

    def test_a_mock_answers_later_fails_and_rejects(self):
        mock = ("    mock:\n      - id: split\n        answers:\n          - {when: [a], after: 20s, emit: [x, y]}\n"
                "          - {when: {line: b}, fail: broken}\n          - {when: [{contains: c}], reject: never}\n")
        self.passes("{feed: lines, lines: [a, b, xcx, d]}",
                    "{failed: lines, tuples: [{tuple: [b], reason: failed, text: broken, at: split}, {tuple: [xcx], reason: rejected}, "
                    "{tuple: [d], text: {contains: no answer of the mock fits}}]}",
                    "{reports: split, texts: ['no answer of the mock fits [\"d\"]']}",
                    "{advance: 19s}", "{open: lines, tuples: [a]}", "{expect: split, tuples: []}", "{advance: 1s}",
                    "{expect: split, tuples: [x, y]}", "{acked: lines, tuples: [a]}", "{open: lines, count: 0}", more=mock)

    def test_a_timeout_is_reached_by_advancing(self):
        mock = "    mock: [{id: split, answers: [{after: 1h, emit: [a]}]}]\n"
        self.passes("{feed: lines, lines: a}", "{advance: 29s}", "{open: lines}", "{advance: 10s}",
                    "{failed: lines, tuples: [{tuple: [a], reason: timeout}]}", more=mock)

    def test_replay_and_dead_letters(self):
        mock = "    mock: [{id: split, answers: [{fail: no}]}]\n    set: [lines.topology.replay.attempts=3]\n"
        self.passes("{feed: lines, lines: a}", "{advance: 1h}",
                    "{dead_letters: lines, tuples: [{tuple: [a], attempts: 3, text: 'no'}]}", more=mock)

    def test_a_bolt_is_fed_alone(self):
        self.passes("{feed: split, to: count, tuples: [a, {word: a}, [b]]}", "{acked: split}", "{finish: true}",
                    "{expect: count, order: any, tuples: [[a, 2], {word: b}]}")

    def test_expect_looks_at_each_tuple_once(self):
        self.passes("{feed: lines, lines: a}", "{expect: split, tuples: [a]}", "{expect: split, tuples: []}",
                    "{feed: lines, lines: b c}", "{expect: split, order: contains, tuples: [c]}", "{expect: split, tuples: [b]}")

    def test_counts_and_tolerances(self):
        self.passes("{feed: lines, lines: a a a}", "{finish: true}", "{expect: count, tolerance: 0.5, tuples: [[a, 3.4]]}",
                    "{acked: lines, count: 1}", "{acked: lines, count: all}", "{expect: split, count: 3}")
        self.fails("count is 3, not 3.4 +- 0.1", "{feed: lines, lines: a a a}", "{finish: true}",
                   "{expect: count, tuples: [[a, {near: 3.4, within: 0.1}]]}")

    def test_a_header_has_the_columns_that_a_run_writes(self):
        for format, header in (("csv", "word,count"), ("tsv", "word\\tcount")):
            with self.subTest(format):
                (self.work / "words.yaml").write_text(WORDS.replace(
                    "path: ../counts.tsv", f"path: ../counts.tsv, format: {format}, header: true"))
                self.passes("{feed: lines, lines: a}", "{finish: true}",
                            f'{{file: ../counts.tsv, order: contains, lines: ["{header}"]}}')

    def test_a_file_that_nobody_wrote(self):
        self.fails("no sink has written this file", "{feed: lines, lines: a}", "{file: other.tsv, lines: [a]}")

    def test_a_run_that_ends_by_an_error_says_so_unless_that_is_expected(self):
        both = WORDS.replace("../counts.tsv", "a").replace("gale.bolt.Printer", "gale.bolt.FileSink, properties: {path: a/b}")
        (self.work / "words.yaml").write_text(both)
        self.fails("the run has ended: 'a' is a directory", "{feed: lines, lines: a}", "{finish: true}", "{acked: lines}")
        self.passes("{feed: lines, lines: a}", "{finish: true}", "{stopped: {contains: is a directory}}")
        (self.work / "words.yaml").write_text(WORDS)
        self.fails("the run has not stopped", "{finish: true}", "{stopped: {any}}")

    def test_after_finish_nothing_can_be_fed(self):
        self.fails("the input has ended", "{finish: true}", "{feed: lines, lines: a}", "{acked: lines}")
        self.fails("its time has ended", "{finish: true}", "{advance: 1s}", "{expect: count, count: 0}")

    def test_faults_under_many_seeds(self):
        self.passes("{feed: lines, lines: [a b c, d e f, g h i]}", "{advance: 5m}", "{open: lines, count: 0}", "{finish: true}",
                    more="    seeds: 50\n    faults: {fail: 0.1, hold: 0.1, late: 0.2, slow: 0.1, forget: 0.05, stall: 0.1}\n")

    def test_settings_of_the_file(self):
        (self.work / "my.properties").write_text("letters=4\n")
        (self.work / "words.yaml").write_text(WORDS.replace("gale.bolt.Split,", "gale.bolt.Split, properties: {minLetters: ${letters}},"))
        head = "properties: my.properties\nset: [split.lowerCase=true]\nconfig: [topology.message.timeout.secs=3]\n"
        code, out, _ = self.play(head + cases("{feed: lines, lines: THE MOON}", "{expect: split, tuples: [moon]}"))
        self.assertEqual(code, 0, out)

    # --- The document ---

    @unittest.skipUnless(HAS_SCRIPT, "patterns need PCRE2")
    def test_the_failing_case_of_the_document_fails_so(self):
        page = (ROOT / "docs" / "testing-topologies.md").read_text().split("## A case that fails")[1]
        text, shown = re.findall(r"^```\w*\n(.*?)^```$", page, flags=re.S | re.M)[:2]
        (self.path / "wrong.test.yaml").write_text(text)
        (self.path / "examples").symlink_to(ROOT / "examples")
        code, out, err = self.gale("wrong.test.yaml", cwd=self.path)
        self.assertEqual((code, out, err), (1, shown, ""))

    def test_the_passing_case_of_the_document_passes(self):
        page = (ROOT / "docs" / "testing-topologies.md").read_text()
        text = re.findall(r"^```yaml\n(.*?)^```$", page, flags=re.S | re.M)[0]
        code, out, _ = self.play(text)
        self.assertEqual(code, 0, out)

    def test_every_step_and_key_is_in_the_document(self):
        page = (ROOT / "docs" / "testing-topologies.md").read_text()
        _, out, _ = self.play(cases("{}"))
        steps = re.search(r"step does \((.*)\)", out)[1].split()
        for word in [*steps, "seeds", "executors", "faults", "mock", "set", "config", "properties", "environment", "tolerance", "order"]:
            self.assertIn(f"`{word}", page, word)


if __name__ == "__main__":
    del sys.argv[1:]
    unittest.main()
