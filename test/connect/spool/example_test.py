#!/usr/bin/env python3
"""The example of the disk buffer runs by its one command. usage: example_test.py GALE PLUGINS"""

import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "connectors" / "disk-buffer" / "run"


class Example(unittest.TestCase):
    def test_readings_go_on_while_the_server_is_away_and_all_are_stored_in_order(self):
        done = subprocess.run([EXAMPLE, "6"], env={**os.environ, "GALE": GALE, "GALE_PLUGIN_PATH": PLUGINS}, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        meanwhile, had = map(int, re.search(r"away: ([0-9]+) readings were sent, it has about ([0-9]+)", done.stdout).groups())
        sent, stored = map(int, re.search(r"sent ([0-9]+), stored ([0-9]+), in order", done.stdout).groups())
        self.assertEqual(sent, stored)
        self.assertLess(had, meanwhile)
        self.assertLess(meanwhile, sent)


if __name__ == "__main__":
    if not (shutil.which("redis-server") and shutil.which("redis-cli")):
        print("there is no redis-server: left out")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
