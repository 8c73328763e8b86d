#!/usr/bin/env python3
"""The C program counts as the example does, byte for byte; a run that fails or counts otherwise is no figure.

usage: example_test.py GALE COUNT          (the programs gale and gale_bench_count)"""

import collections
import os
import subprocess
import sys
import tempfile
import unittest

import example

GALE, COUNT = sys.argv[-2:]
del sys.argv[-2:]

# White space of all kinds, returns within lines, words of one byte and of thousands, what is no UTF-8, NUL.
TEXTS = {
    "nothing": b"",
    "white space alone": b" \n\t\r\n\v\f ",
    "all white space cuts": b"a b\tc\vd\fe\rf\ng\r\nh  i \r j\n\n\na",
    "words of every length": b" ".join(b"x" * n for n in range(1, 70)) + b"\n" + b"y" * 5000 + b" y\n" + b"y" * 5000,
    "bytes that are no UTF-8": b"\xff \xc3\xa9 \xc3 \x80\x80 \xff caf\xc3\xa9 \xed\xa0\x80\n\xa0\xc2\xa0 \x85 \xc2\x85",
    "NUL and other controls": b"a\0b a\0b \0 \x1f \x1c\x1d \x7f \0",
    "what a table of counts would escape": b"a\\b \\N \\ \"q\" {}\n",
    "more words than the first table holds": b"\n".join(b"word%d" % (i % 20011) for i in range(50000)),
}


class Counts(unittest.TestCase):
    def counts(self, text, folder):
        path = os.path.join(folder, "text")
        with open(path, "wb") as file:
            file.write(text)
        by_hand = example.Whole("by hand", [COUNT, path], os.path.join(folder, "counts"))
        gale = example.example(path, 2, folder, GALE)
        for program in (by_hand, gale):
            program.trial()
        return by_hand, gale

    def test_the_c_program_finds_what_the_example_finds_byte_for_byte(self):
        for what, text in TEXTS.items():
            with self.subTest(what), tempfile.TemporaryDirectory() as folder:
                by_hand, gale = self.counts(text, folder)
                self.assertEqual(gale.found(), by_hand.found())
                counts = collections.Counter(text.split())
                self.assertEqual(sorted(b"%s\t%d\n" % (word.replace(b"\\", b"\\\\"), count) for word, count in counts.items()), by_hand.found())

    def test_counts_that_differ_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            by_hand, gale = self.counts(b"to be or not to be", folder)
            self.assertEqual([], example.differing([by_hand, gale]))
            with open(gale.result, "ab") as file:
                file.write(b"that\t1\n")
            self.assertEqual(["-j 2"], example.differing([by_hand, gale]))

    def test_a_text_that_is_not_there_is_an_error_that_names_it(self):
        done = subprocess.run([COUNT, "/nonexistent/text", "/dev/null"], capture_output=True, text=True, check=False)
        self.assertEqual(1, done.returncode)
        self.assertIn("/nonexistent/text", done.stderr)
        self.assertEqual(2, subprocess.run([COUNT], capture_output=True, check=False).returncode)


class Trials(unittest.TestCase):
    def test_a_run_that_fails_is_no_figure_and_says_why(self):
        failing = example.Whole("it", [sys.executable, "-c", "import sys; sys.exit('no room')"], "result")
        with self.assertRaisesRegex(RuntimeError, "it: status 1: no room"):
            failing.trial()

    def test_a_trial_tells_time_and_processor_time(self):
        busy = example.Whole("it", [sys.executable, "-c", "sum(range(10**6))"], "result")
        trial = busy.trial()
        self.assertGreater(trial["cpu"], 0)
        self.assertGreater(trial["seconds"], 0)

    def test_only_what_crosses_cores_is_told_by_the_mode(self):
        trials = {name: [{"seconds": 2, "cpu": 1, "line": "near"}, {"seconds": 8, "cpu": 1, "line": "far"},
                         {"seconds": 8, "cpu": 1, "line": "far"}] for name in ("C program", "-j 1", "-j 2")}
        found = example.medians(trials, "near")
        self.assertEqual({"C program": 3, "-j 1": 3, "-j 2": 1}, {name: f["trials"] for name, f in found.items()})
        self.assertEqual(2, found["-j 2"]["seconds"])


class Verdicts(unittest.TestCase):
    def said(self, by_hand, one, two):
        figures = {name: {"seconds": seconds} for name, seconds in (("C program", by_hand), ("-j 1", one), ("-j 2", two))}
        return [reached for _, _, reached in example.verdicts(figures)]

    def test_at_most_one_and_six_tenths_of_the_c_program_and_faster_with_every_core(self):
        self.assertEqual([True, True], self.said(0.5, 1.2, 0.8))
        self.assertEqual([False, True], self.said(0.5, 1.2, 0.81))
        self.assertEqual([False, False], self.said(0.5, 1.2, 1.3))

    def test_nonsense_is_answered_by_the_usage(self):
        self.assertIn("usage", example.main(["fast"]))


if __name__ == "__main__":
    unittest.main()
