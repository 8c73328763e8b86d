#!/usr/bin/env python3
"""Delays are of whole lines, and percentiles of those that count. No program is run."""

import os
import unittest

import latency


class Latency(unittest.TestCase):
    def test_each_moment_in_what_was_read_is_a_delay(self):
        chunk = b'1000000000000\t1\n{"values":{"word":"1000000000500","count":12}}\n'
        self.assertEqual(latency.delays(chunk, 1000000001000), [1000, 500])

    def test_a_moment_that_comes_in_two_pieces_is_one(self):
        source, to = os.pipe()
        os.write(to, b"1000000000000\n10000000")
        os.write(to, b"00000\n")
        os.close(to)
        self.assertEqual(len(latency.read_delays(source)), 2)
        os.close(source)

    def test_percentiles_leave_the_first_lines_out(self):
        found = [10**9] * 200 + [n * 1000 for n in range(800)]
        self.assertEqual(latency.figures(found), [400, 792, 799])

    def test_goals_are_by_cat_and_by_mawk(self):
        found = {"cat": [10, 0, 0], "mawk": [0, 100, 0], "gale a": [25, 50, 0], "gale b": [26, 51, 0]}
        self.assertEqual([is_reached for _, is_reached in latency.goals(found)], [True, True, False, False])


if __name__ == "__main__":
    unittest.main()
