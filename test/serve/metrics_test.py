#!/usr/bin/env python3
"""/metrics: what promtool takes, with the figures of the input, and every name that docs/metrics.md tells.

usage: metrics_test.py GALE
"""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import rig

rig.Case.gale = str(Path(sys.argv[1]).resolve())
PAGE = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
OPEN = "application/openmetrics-text; version=1.0.0"


class Metrics(rig.Case):
    def scrape(self, run, accept=None):
        status, headers, text = run.ask("/metrics", headers={"Accept": accept} if accept else {})
        self.assertEqual(status, 200)
        return headers["Content-Type"], text.decode()

    def test_figures_are_those_of_the_input(self):
        run = self.run_words(lines=["a b"] * 50)
        run.acked(50)
        kind, text = self.scrape(run)
        self.assertEqual(kind, "text/plain; version=0.0.4; charset=utf-8")
        found = rig.samples(text)
        self.assertEqual(found["gale_trees_started_total"], {"": 50})
        self.assertEqual(found["gale_trees_ended_total"]['outcome="acked"'], 50)
        self.assertEqual(found["gale_component_executed_total"], {'component="count"': 100, 'component="split"': 50})
        self.assertEqual(found["gale_stream_emitted_total"]['component="split",stream="default"'], 100)
        self.assertEqual(found["gale_phase"]['phase="running"'], 1)
        self.assertEqual(sum(found["gale_phase"].values()), 1)
        self.assertEqual(found["gale_topology_info"]['topology="served",version="0.1.0"'], 1)
        self.assertEqual(sum(found["gale_task_executed_total"].values()), 150)
        self.assertEqual(found["gale_edge_executed_total"]['from="split",stream="default",to="count"'], 100)
        buckets = [value for labels, value in found["gale_complete_latency_seconds_bucket"].items()]
        self.assertEqual(buckets, sorted(buckets))
        self.assertEqual(buckets[-1], 50)
        self.assertEqual(found["gale_complete_latency_seconds_count"], {'component="lines"': 50})
        self.assertEqual((found["gale_live"][""], found["gale_ready"][""]), (1, 1))

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_promtool_takes_it(self):
        run = self.run_words(lines=["a b"] * 50)
        run.acked(50)
        done = subprocess.run(["promtool", "check", "metrics"], input=self.scrape(run)[1], text=True, capture_output=True)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_openmetrics_when_it_is_asked_for(self):
        run = self.run_words()
        kind, text = self.scrape(run, OPEN)
        self.assertTrue(kind.startswith("application/openmetrics-text; version=1.0.0"))
        self.assertTrue(text.endswith("\n# EOF\n"))
        families = re.findall(r"^# TYPE (\w+) (\w+)$", text, flags=re.M)
        self.assertEqual(len(families), len(set(families)))
        for name, kind in families:
            self.assertFalse(kind == "counter" and name.endswith("_total"), name)
        for name, unit in re.findall(r"^# UNIT (\w+) (\w+)$", text, flags=re.M):
            self.assertTrue(name.endswith("_" + unit), name)

    def test_every_name_is_told_and_every_name_that_is_told_is_there(self):
        run = self.run_words("--state", "state")
        run.acked(1)
        told = set(re.findall(r"^\| `(\w+)`", PAGE.read_text(), flags=re.M))
        there = set(re.findall(r"^# TYPE (\w+)", self.scrape(run)[1], flags=re.M))
        self.assertEqual(told, there)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
