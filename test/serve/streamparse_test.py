#!/usr/bin/env python3
"""A client that was written for Storm: streamparse's `sparse stats`, as it is on PyPI, against a running topology. For script/long.

usage: streamparse_test.py GALE SPARSE
"""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

import rig

rig.Case.gale = str(Path(sys.argv[1]).resolve())
SPARSE = str(Path(sys.argv[2]).absolute())  # of an environment for Python: not resolved


class Streamparse(rig.Case):
    def setUp(self):
        self.served = self.run_words(lines=["a b c"] * 40)
        self.served.acked(40)
        path = self.served.path
        (path / "config.json").write_text(json.dumps({"envs": {"here": {
            "use_ssh_for_nimbus": False, "nimbus": "127.0.0.1:6627", "ui.port": self.served.port, "workers": [], "user": ""}}}))
        (path / "netrc").write_text(f"machine 127.0.0.1 login gale password {self.served.token}\n")
        # It asks Leiningen which Storm the project is for.
        lein = path / "lein"
        lein.write_text("#!/bin/sh\necho '[org.apache.storm/storm-core \"2.8.3\"]'\n")
        lein.chmod(0o755)
        (path / "netrc").chmod(0o600)
        self.env = dict(os.environ, NETRC=str(path / "netrc"), PATH=f"{path}:{os.environ['PATH']}", PYTHONWARNINGS="ignore",
                        COLUMNS="200", LEIN_ROOT="yes")

    def stats(self, *options):
        """What it prints, a list of rows of cells."""
        done = subprocess.run([SPARSE, "stats", "-e", "here", *options], cwd=self.served.path, env=self.env, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines() if line.startswith("|")]

    def find(self, rows, word):
        found = [row for row in rows if word in row]
        self.assertTrue(found, rows)
        return found[0]

    def test_the_cluster(self):
        rows = self.stats()
        self.assertIn("ACTIVE", self.find(rows, "served"))
        self.assertIn("2.8.3", self.find(rows, "2.8.3"))

    def test_a_topology(self):
        rows = self.stats("-n", "served")
        self.assertEqual(self.find(rows, "All time")[1:3], ["280", "160"])
        self.assertEqual(self.find(rows, "lines")[1:3], ["40", "40"])
        count = self.find(rows, "count")  # boltId, executors, tasks, emitted, transferred, capacity, ...
        self.assertEqual((count[1:4], count[7], count[9:11]), (["3", "3", "120"], "120", ["120", "0"]))
        for cell in count[5], count[6], count[8]:  # it writes numbers in its own way
            self.assertGreaterEqual(float(cell), 0)
        self.assertNotIn("MISSING", sum(rows, []))

    def test_a_bolt_and_a_spout(self):
        rows = self.stats("-n", "served", "-c", "split")
        inputs = dict(zip(self.find(rows, "component"), self.find(rows, "lines")))
        self.assertEqual((inputs["executed"], inputs["acked"]), ("40", "40"))
        rows = self.stats("-n", "served", "-c", "lines")
        self.assertIn("40", self.find(rows, "All time"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
