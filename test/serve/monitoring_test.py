#!/usr/bin/env python3
"""The dashboard and the alerts of docs/monitoring use metrics that there are, with labels that they have, and alerts fire when they should."""

import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "monitoring"
ALERTS = FOLDER / "alerts.yaml"
SCRAPED = {"instance", "job"}


def metrics():
    """{name: labels}, of the tables in docs/metrics.md and of the disk buffer. A histogram has three names."""
    found = {}
    pages = "".join((ROOT / "docs" / page).read_text() for page in ("metrics.md", "semantics/disk-buffer.md"))
    for name, kind, labels in re.findall(r"^\| `(\w+)` \| (\w+) \| ([\w, ]*?) *\|", pages, re.M):
        of = set(labels.replace(",", " ").split())
        for ending in ("_bucket", "_sum", "_count") if kind == "histogram" else ("",):
            found[name + ending] = of | ({"le"} if ending == "_bucket" else set())
    return found


def expressions():
    board = json.loads((FOLDER / "grafana.json").read_text())
    for panel in board["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    for name, expression in re.findall(r"- alert: (\w+)\n +expr: (?:>-\n)?((?:.|\n)*?)\n +(?:for|labels):", ALERTS.read_text()):
        yield name, expression


class Monitoring(unittest.TestCase):
    def test_every_metric_and_label_is_there(self):
        known = metrics()
        self.assertIn("gale_trees_ended_total", known)
        self.assertGreater(len(list(expressions())), 20)
        for where, expression in expressions():
            names = re.findall(r"\bgale_\w+", expression)
            self.assertTrue(names or "up{" in expression, where)
            for name in names:
                self.assertIn(name, known, where)
            labels = {label for name in names for label in known[name]} | SCRAPED
            for group in re.findall(r"\bby \(([^)]*)\)", expression):
                self.assertLessEqual({label.strip() for label in group.split(",")}, labels, where)
            for name, chosen in re.findall(r"\b(gale_\w+)\{([^}]*)\}", expression):
                self.assertLessEqual(set(re.findall(r"(\w+) *=", chosen)), known[name] | SCRAPED, where)

    def test_panels_do_not_overlap_and_have_names_of_their_own(self):
        panels = json.loads((FOLDER / "grafana.json").read_text())["panels"]
        self.assertEqual(len({p["id"] for p in panels}), len(panels))
        taken = set()
        for at in (p["gridPos"] for p in panels):
            cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
            self.assertFalse(cells & taken)
            self.assertLessEqual(at["x"] + at["w"], 24)
            taken |= cells

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_alerts_fire_when_they_should_and_only_then(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(ALERTS, folder)
            shutil.copy(ROOT / "test" / "serve" / "alerts.test.yaml", folder)
            done = subprocess.run(["promtool", "test", "rules", "alerts.test.yaml"], cwd=folder, text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        tested = set(re.findall(r'alertname="(\w+)"', (ROOT / "test" / "serve" / "alerts.test.yaml").read_text()))
        self.assertEqual(tested, set(re.findall(r"alert: (\w+)", ALERTS.read_text())))


if __name__ == "__main__":
    unittest.main()
