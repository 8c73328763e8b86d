#!/usr/bin/env python3
"""gale simulate: what it prints, what it keeps, what it refuses.

usage: simulate_test.py GALE EXAMPLES
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
WORD_COUNT = str(Path(sys.argv[2]).resolve() / "word-count" / "topology.yaml")

RUN = re.compile(r"seed (\d+): holds; \d+ tasks? on \d+ executors?, (\d+) roots? \((\d+) acked, (\d+) failed, "
                 r"(\d+) timed out, (\d+) rejected, (\d+) stopped\), (\d+) deliver(?:y|ies), \d+ captured, \d+ steps?, "
                 r"[\d.]+ s, trace [0-9a-f]{16}")

DURABLE = re.compile(r"seed (\d+): holds, (?:exactly|at least) once; \d+ tasks?, \d+ messages?, (\d+) (?:life|lives) of which "
                     r"(\d+) died, \d+ checkpoints?, \d+ deliver(?:y|ies), \d+ steps?, trace [0-9a-f]{16}")


class Simulate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def gale(self, *arguments):
        done = subprocess.run([GALE, "simulate", *arguments], capture_output=True, text=True, timeout=600,
                              cwd=self.folder.name, check=False)
        return done.returncode, done.stdout, done.stderr

    def refused(self, text, *arguments):
        self.assertEqual(self.gale(*arguments), (2, "", f"gale: {text}\n"))

    def test_a_file_runs_one_line_a_run_and_its_sinks_write_nothing(self):
        before = sorted(self.path.iterdir())
        code, out, err = self.gale(WORD_COUNT, "--runs", "5", "--seed", "21", "-c", "topology.acker.executors=2")
        self.assertEqual((code, err), (0, ""))
        runs = [RUN.fullmatch(line) for line in out.splitlines() if line.startswith("seed ")]
        self.assertEqual([int(run[1]) for run in runs], [21, 22, 23, 24, 25])
        for run in runs:
            roots, *answers = (int(run[i]) for i in range(2, 8))
            self.assertGreaterEqual(roots, 100)
            self.assertEqual(sum(answers), roots)
        self.assertRegex(out.splitlines()[-1], r"^5 runs, \d+ roots, \d+ deliveries: all hold$")
        self.assertEqual(sorted(self.path.iterdir()), before)

    def test_the_same_seed_prints_the_same_bytes(self):
        first, second = (self.gale("--random", "--seed", "77", "--runs", "20") for _ in range(2))
        self.assertEqual(first, second)
        self.assertNotEqual(first[1], self.gale("--random", "--seed", "78", "--runs", "20")[1])

    def test_durable_runs_die_and_go_on_and_each_is_its_seeds(self):
        code, out, err = self.gale("--durable", "--seed", "5", "--runs", "30", "--record", "done")
        self.assertEqual((code, err), (0, ""))
        runs = [DURABLE.fullmatch(line) for line in out.splitlines() if line.startswith("seed ")]
        self.assertEqual([int(run[1]) for run in runs], list(range(5, 35)))
        self.assertGreater(sum(int(run[3]) for run in runs), 10)
        for run in runs:
            self.assertLess(int(run[3]), int(run[2]))  # the last one does not
        self.assertRegex(out.splitlines()[-1], r"^30 runs, \d+ roots, \d+ deliveries: all hold$")
        self.assertEqual(self.gale("--durable", "--seed", "34", "--runs", "1")[1].splitlines()[0], runs[-1][0])
        code, out, _ = self.gale("--durable", "--seed", "5", "--runs", "2", "--record", "done", "--quiet")
        self.assertEqual(code, 0)
        self.assertNotIn("seed ", out)
        self.assertIn("35", (self.path / "done").read_text())

    def test_input_is_read_by_the_spouts_themselves(self):
        (self.path / "lines").write_text("a b c\n" * 7)
        code, out, _ = self.gale(WORD_COUNT, "--input", "lines", "--runs", "1", "--faults", "none", "-j", "2")
        self.assertEqual(code, 0)
        self.assertEqual(RUN.search(out)[2], "7")
        self.assertNotIn("faults at", out)

    def test_faults_strike_where_the_table_says(self):
        code, out, _ = self.gale(WORD_COUNT, "--runs", "2", "--faults", "fail=0.2")
        self.assertEqual(code, 0)
        table = out.splitlines()[out.splitlines().index("") + 1:]
        self.assertEqual(table[0].split(), "faults at slow hold fail forget twice reset stall late alloc open disk stop later".split())
        self.assertTrue(all(row.split()[1:3] == ["0", "0"] and int(row.split()[3]) > 0 for row in table[1:-1]))

    def test_a_record_goes_on_where_it_ended(self):
        arguments = ["--random", "-q", "--runs", "30", "--record", "done"]
        self.assertEqual(self.gale(*arguments)[0], 0)
        self.assertEqual(self.gale(*arguments)[0], 0)
        lines = (self.path / "done").read_text().splitlines()
        self.assertEqual(lines[0], "gale simulate record 1")
        self.assertEqual(lines[2:], ["done 1 30 0", "done 31 60 0"])
        other = ["--random", "-q", "--runs", "30", "--record", "done", "--faults", "slow=0.1"]
        self.refused("done: line 2: this is the record of another topology or other options; name another file", *other)
        (self.path / "done").write_text("\n".join(lines) + "\nnonsense\n")
        self.refused("done: line 5 is neither 'done FROM TO FAILURES' nor 'failed SEED'", *arguments)
        (self.path / "done").write_text("nonsense\n")
        self.refused("done: line 1: this is not a record of gale simulate", *arguments)

    def test_files_are_tried_before_the_first_run(self):
        missing = "No such file or directory"
        self.assertEqual(self.gale(WORD_COUNT, "--input", "nope", "--runs", "2", "--record", "done"),
                         (3, "", f"gale: cannot open 'nope': {missing}\n"))
        self.assertEqual(self.gale(WORD_COUNT, "--input", ".", "--runs", "2"), (3, "", "gale: '.' is a directory\n"))
        self.assertEqual(self.gale("--random", "--runs", "2", "--record", "no/done"),
                         (3, "", f"gale: cannot open 'no/done.new' for writing: {missing}\n"
                                 "  the record 'no/done' could not be written\n"))
        self.assertEqual(list(self.path.iterdir()), [])

    def test_what_is_wrong_is_said(self):
        self.refused("unknown fault 'slo'; did you mean 'slow'?", "--random", "--faults", "slo=1")
        self.refused("fault 'slow' has odds from 0 to 1, not '2'", "--random", "--faults", "slow=2")
        self.refused("--random takes no topology file; 'x.yaml' is one", "x.yaml", "--random")
        self.refused("--random has spouts of its own: no --input", "--random", "--input", "x")
        self.refused("--random draws its configuration: no --config", "--random", "-c", "a=1")
        self.refused("--durable draws everything from the seed: it goes with --seed, --runs, --record and --quiet",
                     "--durable", "--random")
        self.refused("simulate takes one topology file, not 0: gale simulate FILE.yaml|--random|--durable [options]")
        self.refused("--runs must be a whole number from 1 to 1000000000, not '0'", "--random", "--runs", "0")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
