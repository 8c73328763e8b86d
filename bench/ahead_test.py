#!/usr/bin/env python3
"""Who is ahead is said of what was measured in one run, and of nothing else."""

import contextlib
import io
import unittest
from unittest import mock

import ahead
import measured
import run


def figures(gale, timely):
    return {ahead.GALE: {"ns": gale}, ahead.TIMELY: {"ns": timely}}


class Verdicts(unittest.TestCase):
    def test_the_faster_one_is_named_with_how_many_times(self):
        self.assertEqual("gale is ahead: 1.5 times as fast", ahead.verdict(figures(10, 15)))
        self.assertEqual("timely is ahead: 4.2 times as fast", ahead.verdict(figures(42, 10)))

    def test_a_twentieth_is_no_lead(self):
        self.assertEqual("they are the same", ahead.verdict(figures(10, 10.4)))
        self.assertIn("gale is ahead", ahead.verdict(figures(10, 10.6)))

    def test_nobody_is_ahead_of_what_was_not_measured(self):
        for found in ({ahead.GALE: {"ns": 10}}, {ahead.TIMELY: {"ns": 10}}, figures(10, None)):
            self.assertIn("nobody can say", ahead.verdict(found))


class Runs(unittest.TestCase):
    def test_gale_acks_and_timely_does_not_on_as_many_threads(self):
        with mock.patch.object(measured, "Program", lambda *words: words):
            gale, timely, limit = ahead.subjects("const-null", 2, run.Plan(True), ["timely"])
        self.assertEqual(["on", "off", "on"], [options["acks"] for _, _, options in (gale, timely, limit)])
        self.assertEqual([2, 2, 2], [options["executors"] for _, _, options in (gale, timely, limit)])
        self.assertEqual("engine", gale[2]["place"])

    def test_without_timely_nothing_is_measured_and_that_is_said(self):
        with mock.patch.object(measured, "peers", return_value={}), contextlib.redirect_stdout(io.StringIO()):
            self.assertIn("without timely", ahead.main(["quick"]))

    def test_nonsense_is_answered_by_the_usage(self):
        self.assertIn("usage", ahead.main(["me"]))


if __name__ == "__main__":
    unittest.main()
