#!/usr/bin/env python3
"""The example of the connector redis runs by its one command. usage: example_test.py GALE PLUGINS"""

import re
import subprocess
import unittest
from pathlib import Path

from case import ENVIRONMENT, GALE, main


class Example(unittest.TestCase):
    def test_the_example_counts_all_that_is_viewed(self):
        example = Path(__file__).resolve().parents[3] / "examples" / "connectors" / "redis" / "run"
        done = subprocess.run([example, "4"], env={**ENVIRONMENT, "GALE": GALE}, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        viewed, counted = re.search(r"viewed ([0-9]+), counted ([0-9]+)", done.stdout).groups()
        self.assertEqual(viewed, counted)
        self.assertGreater(int(viewed), 100)


if __name__ == "__main__":
    main()
