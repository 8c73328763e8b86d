#!/usr/bin/env python3
"""/metrics: what promtool takes, with the figures of the input, and every name that docs/metrics.md tells.

usage: metrics_test.py GALE [PLUGIN]    (test/plugins/metered.c, where there is a loader)
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import rig

rig.Case.gale = str(Path(sys.argv[1]).resolve())
PLUGIN = str(Path(sys.argv[2]).resolve()) if len(sys.argv) > 2 else None
PAGE = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
OPEN = "application/openmetrics-text; version=1.0.0"

METERED = """\
name: metered
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{ name: path, value: in.txt }, { name: follow, value: true }]
bolts:
  - id: one
    className: metered.bolt.Meter
  - id: two
    className: metered.bolt.Meter
    parallelism: 2
streams:
  - { from: lines, to: one, grouping: { type: SHUFFLE } }
  - { from: lines, to: two, grouping: { type: ALL } }
"""


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

    def run_metered(self):
        run = rig.Run(self, self.gale, METERED, "--plugin", PLUGIN, lines=["word", "longer", "w"])
        run.acked(3)
        return run

    @unittest.skipUnless(PLUGIN, "nothing is loaded here")
    def test_what_components_note_is_told_of_each_component(self):
        run = self.run_metered()
        text = self.scrape(run)[1]
        found = rig.samples(text)
        self.assertEqual(found["gale_metric_words_total"], {'component="one"': 3, 'component="two"': 6})
        self.assertEqual(found["gale_metric_last_bytes"], {'component="one",task="2"': 1, 'component="two",task="3"': 1, 'component="two",task="4"': 1})
        self.assertEqual(found["gale_metric_word_bytes_sum"], {'component="one"': 11, 'component="two"': 22})
        self.assertEqual(found["gale_metric_word_bytes_count"], {'component="one"': 3, 'component="two"': 6})
        buckets = {labels.partition('le="')[2][:-1]: value for labels, value in found["gale_metric_word_bytes_bucket"].items() if 'component="one"' in labels}
        self.assertEqual(list(buckets.values()), sorted(buckets.values()))
        self.assertEqual((buckets["0.5"], buckets["2.5"], buckets["5"], buckets["10"], buckets["+Inf"]), (0, 1, 2, 3, 3))
        self.assertEqual(found["gale_metric_never_count"], {'component="one"': 0, 'component="two"': 0})
        self.assertIn('# HELP gale_metric_words_total Words, "all" of them:\\na \\\\ too.\n# TYPE gale_metric_words_total counter\n', text)
        self.assertIn("# HELP gale_metric_last_bytes A component's own.\n# TYPE gale_metric_last_bytes gauge\n", text)

    @unittest.skipUnless(PLUGIN and shutil.which("promtool"), "promtool is not installed")
    def test_promtool_takes_what_components_note(self):
        done = subprocess.run(["promtool", "check", "metrics"], input=self.scrape(self.run_metered())[1], text=True, capture_output=True)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    @unittest.skipUnless(PLUGIN, "nothing is loaded here")
    def test_openmetrics_has_it_too(self):
        text = self.scrape(self.run_metered(), OPEN)[1]
        self.assertIn('# HELP gale_metric_words Words, \\"all\\" of them:\\na \\\\ too.\n# TYPE gale_metric_words counter\n', text)
        self.assertIn('\ngale_metric_words_total{component="two"} 6\n', text)
        self.assertTrue(text.endswith("\n# EOF\n"))

    @unittest.skipUnless(PLUGIN, "nothing is loaded here")
    def test_now_has_a_components_metrics(self):
        run = self.run_metered()
        components = {each["name"]: each["metrics"] for each in run.json("/api/gale/v1/now")["components"]}
        self.assertEqual(components["lines"], [])
        self.assertEqual([each["name"] for each in components["two"]], ["last_bytes", "never", "word_bytes", "words"])
        last, never, sizes, words = components["two"]
        self.assertEqual(words, {"name": "words", "kind": "counter", "labels": {}, "help": 'Words, "all" of them:\na \\ too.', "tasks": 2, "value": 6})
        self.assertEqual(last, {"name": "last_bytes", "kind": "gauge", "labels": {}, "help": "", "tasks": 2, "value": 2})
        self.assertEqual((never["kind"], never["value"]), ("histogram", None))
        self.assertEqual(sizes["value"], {"count": 6, "mean": 22 / 6, "p50": sizes["value"]["p50"], "p90": 6, "p99": 6, "max": 6})
        self.assertTrue(4 <= sizes["value"]["p50"] <= 4 * 33 / 32)

    @unittest.skipUnless(PLUGIN, "nothing is loaded here")
    def test_a_run_that_is_over_tells_them_with_its_figures(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "in.txt").write_text("word\nlonger\nw\n")
            Path(folder, "metered.yaml").write_text(METERED.replace(", { name: follow, value: true }", ""))
            done = subprocess.run([self.gale, "run", "metered.yaml", "--json", "--plugin", PLUGIN], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        components = {each["component"]: each["metrics"] for each in json.loads(done.stdout)["components"]}
        self.assertEqual(components["lines"], [])
        self.assertEqual({each["name"]: each["value"] for each in components["two"] if each["kind"] != "histogram"}, {"last_bytes": 2, "words": 6})
        self.assertEqual(next(each["value"]["count"] for each in components["one"] if each["name"] == "word_bytes"), 3)

    def test_every_name_is_told_and_every_name_that_is_told_is_there(self):
        run = self.run_words("--state", "state")
        run.acked(1)
        told = set(re.findall(r"^\| `(\w+)`", PAGE.read_text(), flags=re.M))
        there = set(re.findall(r"^# TYPE (\w+)", self.scrape(run)[1], flags=re.M))
        self.assertEqual(told, there)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
