#!/usr/bin/env python3
"""The example, by its one command.

usage: example_test.py GALE PLUGINS [CLASS...]
"""

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from case import ENVIRONMENT, GALE, Case, main

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/connectors/sqlite"


@unittest.skipUnless(shutil.which("sqlite3"), "there is no sqlite3")
class Example(Case):
    def test_each_reading_is_there_once_and_letters_are_mended_and_replayed(self):
        done = subprocess.run([EXAMPLE / "run", self.path], env={**ENVIRONMENT, "GALE": GALE}, capture_output=True, text=True, timeout=90)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.sql("SELECT count(*), count(room) FROM readings", "house.db"), [(19_997, 19_997)])
        self.assertEqual(self.sql("SELECT tuple, substr(replayed, 1, 6) FROM letters ORDER BY id", "house.db"),
                         [('["s0,n/a 0"]', "failed"), ('["s2,19.5"]', "done"), ('["s1,n/a 10000"]', "failed"), ('["s0,n/a 15000"]', "failed")])
        for words in ("│ cellar  │ 6666     │ 9.75    │", '│ ["s2,19.5"]      │ done'):
            self.assertIn(words, done.stdout)


if __name__ == "__main__":
    main()
