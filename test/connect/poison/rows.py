"""What the tables of sinks and sources share: a row, which is a class of gale's with its system, and what is done with rows.

usage of both: PROGRAM GALE PLUGINS CLUSTER [CLASS...]
"""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

GALE, PLUGINS, CLUSTER = (str(Path(argument).resolve()) for argument in sys.argv[1:4])
CHOSEN = sys.argv[4:]
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": PLUGINS, "no_proxy": "*"}


class Row:
    name = None  # the class
    properties = {}
    skip = None  # why its system is not here

    def begin(self):
        """Starts the system; returns the properties."""
        return self.properties

    def end(self):
        pass


class Kafka:
    """A cluster in a process (test/connect/kafka/cluster.c)."""

    def __init__(self):
        self.process = subprocess.Popen([CLUSTER, "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.brokers = self.process.stdout.readline().strip()

    def ask(self, words):
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()
        lines = []
        while (line := self.process.stdout.readline()) != "ok\n":
            assert line and not line.startswith("error "), line
            lines.append(line[:-1])
        return lines

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def table_test(kind, rows, excused):
    """Every class of `gale help classes`, of plugins as well, has a row or a reason."""
    class Table(unittest.TestCase):
        def test_every_class_has_a_row_or_a_reason(self):
            words = subprocess.run([GALE, "help", "classes"], env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout
            names = {row.name for row in rows}
            self.assertFalse(names & excused.keys())
            self.assertEqual(names | excused.keys(), set(re.findall(rf"^  (gale\.{kind}\.\w+)", words, re.MULTILINE)))
    return Table


def case(of, row, behind=""):
    """A class of tests for a row."""
    return type(row.__name__ + behind, (of,), {"row": row, "__doc__": row.__doc__ if not behind else of.__doc__})


def succeed(cases):
    """Runs those that are chosen, or all."""
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(one) for one in cases if not CHOSEN or one.__name__ in CHOSEN)
    return unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful()
