#!/usr/bin/env python3
"""The gate on instructions lets pass what is within its tolerance, and names what is not."""

import os
import tempfile
import unittest

import budget
import measured


class Judgement(unittest.TestCase):
    def test_what_is_within_two_per_cent_passes(self):
        for counted in (981, 1000, 1019):
            self.assertIsNone(budget.judge("a-flow", 1000, counted))

    def test_what_costs_more_names_flow_figures_and_share(self):
        text = budget.judge("a-flow", 1000, 1021)
        self.assertIn("a-flow: 1021 instructions a tree, 1000 are granted (+2.1%)", text)

    def test_what_costs_less_is_to_be_written_down(self):
        self.assertIn("write it down", budget.judge("a-flow", 1000, 979))


class Table(unittest.TestCase):
    def test_every_budget_that_is_committed_has_a_reason(self):
        table = budget.read(os.path.join(measured.HERE, "budget.toml"))
        self.assertGreaterEqual(set(table), {"const-null", "const-id-null", "word-count", "fan-out-10", "diamond"})

    def test_a_budget_without_a_reason_is_refused_by_name(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write('[a-flow]\ninstructions = 5\nreason = " "\n')
            file.flush()
            with self.assertRaisesRegex(ValueError, "a-flow"):
                budget.read(file.name)

    def test_an_unknown_flow_is_refused(self):
        self.assertEqual(budget.main(["const-nil"]), 2)


if __name__ == "__main__":
    unittest.main()
