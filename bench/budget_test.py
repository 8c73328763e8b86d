#!/usr/bin/env python3
"""The gate on instructions lets pass what is within its tolerance, and names what is not; a report fails nothing.

usage: budget_test.py PROGRAMS          (the folder of gale_bench_flow)"""

import concurrent.futures
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

PROGRAMS = sys.argv.pop()


class Judgement(unittest.TestCase):
    def test_what_is_within_two_per_cent_passes(self):
        for counted in (981, 1000, 1019):
            self.assertIsNone(budget.judge("a-flow", 1000, counted))

    def test_what_costs_more_names_flow_figures_and_share(self):
        text = budget.judge("a-flow", 1000, 1021)
        self.assertIn("a-flow: 1021 instructions a tree, 1000 are granted (+2.1%)", text)

    def test_what_costs_less_is_to_be_written_down(self):
        self.assertIn("write it down", budget.judge("a-flow", 1000, 979))


class Cliff(unittest.TestCase):
    ENTRY = {"of": "a-flow", "with": "hook", "times": 2.0, "most": 1.4, "reason": "why"}

    def test_what_is_only_reported_is_told_and_fails_nothing(self):
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            self.assertIsNone(budget.tell("a-flow-hook", {**self.ENTRY, "check": "report"}, 2.5))
        self.assertIn("2.50 times a-flow (at most 1.4: not reached; 2.0 when", told.getvalue())

    def test_a_gate_fails_beyond_its_bound_and_says_by_what(self):
        gate = {**self.ENTRY, "check": "gate"}
        with contextlib.redirect_stdout(io.StringIO()) as told:
            self.assertIsNone(budget.tell("a-flow-hook", gate, 1.4))
            wrong = budget.tell("a-flow-hook", gate, 1.41)
            self.assertIn("a-flow-hook: 1.41 times the instructions of a-flow, at most 1.4", wrong)
        self.assertIn("1.4: reached", told.getvalue())

    def test_a_flow_with_something_beside_it_is_told_in_times_the_plain_one_which_is_counted_once(self):
        asked = []

        def per_tree(_, options, few, many):
            asked.append(options)
            return {"hook": 300, "drop": 150}.get(options.get("with"), 100), None
        wanted = {name: {**self.ENTRY, "with": name, "check": "report"} for name in ("hook", "drop")}
        with mock.patch.object(measured, "per_tree", per_tree), concurrent.futures.ThreadPoolExecutor(2) as pool:
            counts = budget.count_all({"a-flow": {"instructions": 5, "reason": "why"}, **wanted}, pool)
            self.assertEqual({"a-flow": 100, "hook": 3, "drop": 1.5}, {name: wait() for name, wait in counts.items()})
        self.assertEqual(4, len(asked))

    def test_what_stands_beside_a_flow_is_there_and_loses_nothing(self):
        for name in ("deadline", "hook", "events", "tap", "replay", "drop"):
            done = self.run_flow("const-id-null", name)
            self.assertEqual(0, done.returncode, done.stderr)

    def test_what_is_not_there_is_refused_by_name(self):
        done = self.run_flow("const-id-null", "magic")
        self.assertEqual((2, "--with magic: there are deadline, hook, events, tap, replay and drop\n"),
                         (done.returncode, done.stderr))
        self.assertEqual(3, self.run_flow("const-null", "hook").returncode)

    def run_flow(self, flow, name):
        command = [os.path.join(PROGRAMS, "gale_bench_flow"), "--flow", flow, "--with", name, "--trees", "20000"]
        return subprocess.run(command, capture_output=True, text=True, check=False)


class Tasks(unittest.TestCase):
    def test_a_flow_with_several_tasks_of_everything_has_a_budget_of_its_own(self):
        asked = []

        def per_tree(_, options, few, many):
            asked.append(options)
            return options.get("tasks", 1) * 100, None
        wanted = {"a-flow": {"instructions": 5, "reason": "why"},
                  "of-two": {"flow": "a-flow", "tasks": 2, "instructions": 5, "reason": "why"}}
        with mock.patch.object(measured, "per_tree", per_tree), concurrent.futures.ThreadPoolExecutor(2) as pool:
            counts = budget.count_all(wanted, pool)
            self.assertEqual({"a-flow": 100, "of-two": 200}, {name: wait() for name, wait in counts.items()})
        self.assertCountEqual([{"flow": "a-flow"}, {"flow": "a-flow", "tasks": 2, "spouts": 2}], asked)


class Table(unittest.TestCase):
    def test_every_budget_that_is_committed_has_a_reason(self):
        table = budget.read(os.path.join(measured.HERE, "budget.toml"))
        self.assertGreaterEqual(set(table), {"const-null", "const-id-null", "word-count", "fan-out-10", "diamond"})

    def test_what_must_not_be_a_cliff_is_written_down_with_its_bound(self):
        table = budget.read(os.path.join(measured.HERE, "budget.toml"))
        self.assertEqual({"deadline", "hook", "events", "tap", "replay", "drop"},
                         {entry["with"] for entry in table.values() if entry.get("of") == "const-id-null"})

    def refuses(self, text, why):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(text)
            file.flush()
            with self.assertRaisesRegex(ValueError, why):
                budget.read(file.name)

    def test_what_was_counted_is_written_down_and_nothing_else_changes(self):
        table = '# Why.\n[a]\ninstructions = 10\nreason = "r"\n\n[b]\njob = "words"\ninstructions = 20\nreason = "r [c]"\n'
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "budget.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(table)
            budget.record({"b": 30.4}, path)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), table.replace("20", "30"))

    def test_a_job_that_is_not_there_is_refused(self):
        self.refuses('[j]\njob = "wrods"\ninstructions = 1\nreason = "why"\n', r"\[j\] there is no job 'wrods'")

    def test_a_budget_without_a_reason_is_refused_by_name(self):
        self.refuses('[a-flow]\ninstructions = 5\nreason = " "\n', r"\[a-flow\] needs a reason")
        self.refuses('[a-flow]\nreason = "why"\n', r"\[a-flow\] needs instructions and reason")

    def test_a_cliff_of_an_unknown_flow_or_with_an_unknown_check_is_refused_by_name(self):
        flow = '[a-flow]\ninstructions = 5\nreason = "why"\n'
        cliff = '[it]\nof = "{}"\nwith = "hook"\ntimes = 2\nmost = {}\ncheck = "{}"\nreason = "why"\n'
        self.refuses(flow + cliff.format("b-flow", 1.4, "gate"), r"\[it\] there is no flow 'b-flow'")
        self.refuses(flow + cliff.format("a-flow", 1.4, "gaet"), r"\[it\] check is 'gaet'; there are report and gate")
        self.refuses(flow + cliff.format("a-flow", 0.9, "gate"), r"\[it\] needs times above 0, and most")

    def test_an_unknown_flow_is_refused(self):
        self.assertEqual(budget.main(["const-nil"]), 2)


if __name__ == "__main__":
    unittest.main()
