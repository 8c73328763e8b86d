#!/usr/bin/env python3
"""Targets are said to be reached when they are, and not when something could not be measured; each has its bound.

usage: targets_test.py PROGRAMS          (the folder of gale_bench_open_trees)"""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import budget
import measured
import run
import targets

PROGRAMS = sys.argv.pop()

# Starts that take 1, 5, 2, ... ms, by a count that is kept in a file.
STARTER = """
import json, sys
path = sys.argv[1]
starts = int(open(path).read() or 0)
open(path, "w").write(str(starts + 1))
sys.stdin.readline()
print(json.dumps({"program": "gale", "flow": "const-null", "acks": True, "executors": 1, "trees": 1, "seconds": 1.0,
                  "ns": 1e9, "rss": 1, "first_ms": [1, 5, 2][starts % 3], "settings": "none"}), flush=True)
"""


def figures(gale, limit, line="any"):
    """What run.measure returns, of {key: value} of both."""
    return {"line": line, "programs": {"gale": gale, "limit": limit}}


def measuring(found):
    return mock.patch.object(run, "measure", return_value=found)


class Findings(unittest.TestCase):
    PLAN = run.Plan(True)

    def test_time_is_told_in_times_the_limit_of_the_same_run_and_memory_beside_it(self):
        entry = {"flow": "word-count", "executors": 1, "most": 2.0, "aim": 1.5, "megabytes": 6}
        with measuring(figures({"ns": 60, "rss": 5_000_000}, {"ns": 24, "rss": 1})):
            time, memory = targets.throughput(entry, self.PLAN, None)
        self.assertEqual((2.5, 2.0, 1.5, "60.0 ns a word"), (time.value, time.most, time.aim, time.detail))
        self.assertEqual((5.0, 6), (memory.value, memory.most))

    def test_latencies_stand_beside_the_limits_and_beside_what_they_were(self):
        entry = {"flow": "const-null", "executors": 2, "p50": 1.5, "p99": 1.5}
        with measuring(figures({"p50_us": 0.8, "p99_us": 1.2}, {"p50_us": 0.5, "p99_us": 0.8}, "far")) as asked:
            found = list(targets.in_flight(entry, self.PLAN, None))
        self.assertEqual([(1.6, "far"), (1.5, "far")], [(round(f.value, 3), f.mode) for f in found])
        self.assertEqual((1, 2), (asked.call_args[0][0].pending, asked.call_args[0][0].executors))
        entry = {"flow": "const-null", "executors": 2, "rate": 1000000, "p50_us": 1.1, "p99_us": 18}
        with measuring(figures({"p50_us": 1.0, "p99_us": 19}, {})) as asked:
            found = [targets.verdict(f)[0] for f in targets.paced(entry, self.PLAN, None)]
        self.assertEqual([True, False], found)
        self.assertEqual(1000000, asked.call_args[0][0].rate)

    def test_what_could_not_be_measured_is_not_reached(self):
        entry = {"flow": "const-null", "executors": 1, "most": 2.5, "aim": 2.0, "megabytes": 3}
        with measuring(None), contextlib.redirect_stderr(io.StringIO()) as told:
            found = list(targets.throughput(entry, self.PLAN, None))
        self.assertEqual([(False, "not measured")] * 2, [targets.verdict(f) for f in found])
        self.assertIn("const-null, 1 executor: not measured", told.getvalue())

    def test_the_first_tree_is_the_median_of_starts_one_at_a_time(self):
        with tempfile.NamedTemporaryFile("w") as file:
            command = [sys.executable, "-c", STARTER, file.name]
            entry = {"flow": "const-null", "executors": 1, "milliseconds": 1}
            found, = targets.first_trees([entry], self.PLAN, command)
        self.assertEqual(2, found.value)

    def test_instructions_of_a_word_are_a_sentences_tenth(self):
        entries = [{"flow": "const-null", "most": 240, "aim": 210},
                   {"flow": "word-count", "words": 10, "most": 350, "aim": 260}]
        with mock.patch.object(measured, "has_valgrind", return_value=True), \
                mock.patch.object(budget, "count", side_effect={"const-null": 230, "word-count": 3600}.get):
            found = targets.instructions(entries)
        self.assertEqual([(230, True), (360, False)], [(f.value, targets.verdict(f)[0]) for f in found])

    def test_the_ledgers_bytes_are_read_from_the_programs_own_table(self):
        command = [os.path.join(PROGRAMS, "gale_bench_open_trees"), "4096"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        self.assertGreater(targets.ledger_bytes(done.stdout), 16)
        self.assertIsNone(targets.ledger_bytes("acker 4096 1 2 3 4\n"))


class Verdicts(unittest.TestCase):
    def test_the_bound_and_the_aim_are_told_apart(self):
        said = [targets.verdict(targets.Finding("it", value, "", 2.5, 2.0)) for value in (2.0, 2.5, 2.51)]
        self.assertEqual([(True, "reached, the aim too"), (True, "reached"), (False, "not reached")], said)
        self.assertEqual((None, "told only"), targets.verdict(targets.Finding("it", 9, "")))

    def test_the_summary_names_what_is_not_reached_and_counts_nothing_that_is_only_told(self):
        found = [targets.Finding("a", 1, "", 2), targets.Finding("b", 3, "", 2), targets.Finding("c", None, "", 2),
                 targets.Finding("d", 9, "")]
        self.assertEqual("1 of 3 reached; not: b; c", targets.summary(found))
        self.assertEqual("1 of 1 reached", targets.summary(found[:1]))

    def test_nonsense_is_answered_by_the_usage(self):
        self.assertIn("usage", targets.main(["now"]))


class Table(unittest.TestCase):
    def test_what_is_committed_is_whole_and_its_instructions_are_in_the_budget(self):
        table = targets.read()
        granted = budget.read(os.path.join(measured.HERE, "budget.toml"))
        self.assertLessEqual({entry["flow"] for entry in table["instructions"]}, set(granted))
        both, one = ("const-null", "const-id-null"), ("fan-out-10", "diamond", "word-count", "keyed-count")
        self.assertEqual({(flow, n) for flow in both for n in (1, 2)} | {(flow, 1) for flow in one},
                         {(entry["flow"], entry["executors"]) for entry in table["throughput"]})

    def test_a_table_with_an_unknown_key_or_flow_is_refused_by_name(self):
        with open(targets.PATH, encoding="utf-8") as file:
            text = file.read()
        for old, new, why in (("milliseconds = 1 }", "millisecond = 1 }", "first_tree, const-null: 'milliseconds'"),
                              ('"diamond", executors', '"dimond", executors', "no flow 'dimond'"),
                              ("open_tree =", "open_trees =", "open_tree with trees and bytes")):
            with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
                file.write(text.replace(old, new, 1))
                file.flush()
                with self.assertRaisesRegex(ValueError, why):
                    targets.read(file.name)


if __name__ == "__main__":
    unittest.main()
