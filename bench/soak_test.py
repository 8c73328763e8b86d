#!/usr/bin/env python3
"""A cell that takes more memory than before is named, and the soak's own lines are understood.

usage: soak_test.py SOAK          (the program test_system_soak)"""

import contextlib
import io
import subprocess
import sys
import tempfile
import unittest

import soak

SOAK = sys.argv.pop()


class Cells(unittest.TestCase):
    def test_what_the_soak_prints_is_understood_and_written_down(self):
        done = subprocess.run([SOAK, "1", "chain", "1", "1", "none"], capture_output=True, text=True, check=True)
        cell, megabytes = soak.parse(done.stdout)
        self.assertEqual("chain, pending 1, 1 executors, ledgers", cell)
        self.assertIn(cell, soak.read())
        self.assertGreater(megabytes, 0)

    def test_every_cell_of_the_soak_is_written_down(self):
        cells = soak.read()
        self.assertEqual(54, len(cells))
        for shape in ("chain", "diamond", "fan", "join", "cycle", "weave"):
            self.assertEqual(9, sum(cell.startswith(f"{shape}, pending ") for cell in cells), shape)

    def test_another_line_is_no_cell(self):
        with self.assertRaisesRegex(ValueError, "says 'chain: memory grew', which is no cell"):
            soak.parse("chain: memory grew\n")


class Judgement(unittest.TestCase):
    BOUNDED, UNBOUNDED = "fan, pending 1, 2 executors, ledgers", "fan, pending 0, 2 executors, ledgers"
    TABLE = {BOUNDED: 1.0, UNBOUNDED: 1.0}

    def test_a_twentieth_is_no_more_and_twice_as_much_where_pending_is_not_bounded(self):
        for cell, most in ((self.BOUNDED, 1.05), (self.UNBOUNDED, 2.0)):
            self.assertIsNone(soak.judge(cell, most, self.TABLE))
            self.assertIn(f"{cell}: {most + 0.01:.3f} MB, at most {most:.3f}", soak.judge(cell, most + 0.01, self.TABLE))

    def test_a_cell_that_nobody_wrote_down_is_not_passed_over(self):
        self.assertIn("no such cell", soak.judge("fan, pending 7, 2 executors, ledgers", 0.1, self.TABLE))

    def test_all_cells_are_told_and_those_that_take_more_are_counted(self):
        lines = [f"{self.BOUNDED}   1.00 M trees/s    1.100 MB\n", f"{self.UNBOUNDED}   1.00 M trees/s    1.100 MB\n"]
        with contextlib.redirect_stdout(io.StringIO()) as told:
            found, wrong = soak.compare(lines, self.TABLE)
        self.assertEqual(({self.BOUNDED: 1.1, self.UNBOUNDED: 1.1}, 1), (found, len(wrong)))
        self.assertEqual(2, len(told.getvalue().splitlines()))

    def test_a_table_that_is_none_is_refused(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write('[megabytes]\n"a" = 0.0\n')
            file.flush()
            with self.assertRaisesRegex(ValueError, "a number above 0"):
                soak.read(file.name)

    def test_nonsense_is_answered_by_the_usage(self):
        self.assertIn("usage", soak.main(["long"]))


if __name__ == "__main__":
    unittest.main()
