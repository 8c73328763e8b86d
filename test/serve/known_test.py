#!/usr/bin/env python3
"""A known input with trees that end in every way: each view has its figures, exactly, and they are all the same.

usage: known_test.py GALE PLUGIN    (test/plugins/fate.c)
"""

import json
import os
import re
import signal
import subprocess
import sys
import types
import unittest
from pathlib import Path

import known
import rig

GALE = str(Path(sys.argv[1]).resolve())
PLUGIN = str(Path(sys.argv[2]).resolve())
STORM = tuple(known.of_storm(known.COMPONENTS["lines"]))
HEADS = {"failed": "FAILED", "timed_out": "TIMED OUT", "rejected": "REJECTED", "stopped": "STOPPED"}
PAGE = Path(__file__).resolve().parents[2] / "web" / "src"


def start(owner):
    return rig.Run(owner, GALE, known.TOPOLOGY, "--plugin", PLUGIN, "--json", "--log-level", "error", lines=known.LINES)


def at_its_end(run):
    now = run.json("/api/gale/v1/now")
    return now if known.is_done(now) else None


def number(text):
    return int(text.replace(",", ""))


def table(text, first):
    """{first column: {head: cell}}, of columns that stand two blanks apart."""
    lines = text.splitlines()
    at = next(place for place, line in enumerate(lines) if line.lstrip().startswith(first))
    heads = re.split(r" {2,}", lines[at].strip())
    rows = (re.split(r" {2,}", line.strip()) for line in lines[at + 1:] if line.strip())
    return {row[0]: dict(zip(heads, row)) for row in rows if len(row) >= len(heads) - 1}


class Reasons(unittest.TestCase):
    def test_every_reason_of_the_header_has_a_column(self):
        self.assertEqual(set(known.reasons()), set(known.COLUMNS) | set(known.OF_THE_ENGINE))
        self.assertEqual(set(known.COLUMNS.values()) | set(known.OF_THE_ENGINE.values()), set(known.OUTCOMES))

    def test_the_page_has_every_column(self):
        keys = re.findall(r'\["(\w+)", "[\w ]+"\]', (PAGE / "outcomes.js").read_text())
        self.assertEqual(tuple(keys), known.OUTCOMES)


class Figures(unittest.TestCase):
    """One run, which is asked when all is answered, and before it ends."""

    @classmethod
    def setUpClass(cls):
        cls.going = start(types.SimpleNamespace(addCleanup=cls.addClassCleanup))
        cls.now = rig.until(lambda: at_its_end(cls.going), "the end of the input")

    def storm(self, path):
        return self.going.json(f"/api/v1/topology/known{path}")

    def gale(self, *words):
        env = dict(os.environ, XDG_RUNTIME_DIR=str(self.going.runtime))
        return subprocess.run([GALE, *words], env=env, capture_output=True, text=True, check=True, timeout=rig.PATIENCE).stdout

    def by_sum(self, rows):
        """{component: figures}, of what is told by task, or by stream."""
        sums = {}
        for row in rows:
            mine = sums.setdefault(row["component"], {})
            for key in known.FIGURES:
                if key in row:
                    mine[key] = mine.get(key, 0) + row[key]
        return sums

    def test_rest_tells_them_of_the_whole(self):
        self.assertEqual({key: self.now["trees"][key] for key in known.TREES}, known.TREES)
        self.assertEqual(self.now["complete"]["count"], known.GOOD)

    def test_rest_tells_them_of_components_and_of_what_these_are_made_of(self):
        self.assertEqual({one["name"]: known.part(one) for one in self.now["components"]}, known.COMPONENTS)
        for rows in self.now["tasks"], self.now["streams"]:
            for name, told in self.by_sum(rows).items():
                self.assertEqual(told, {key: known.COMPONENTS[name][key] for key in told}, name)
        self.assertLessEqual(set(known.OUTCOMES), set(self.now["tasks"][0]))
        ends = {edge["id"]: edge["to"] for edge in self.going.json("/api/gale/v1/topology")["edges"]}
        for edge in self.now["edges"]:
            wanted = known.COMPONENTS[ends[edge["id"]]]
            self.assertEqual({key: edge[key] for key in ("executed", "acked", "rejected")},
                             {key: wanted[key] for key in ("executed", "acked", "rejected")})
            self.assertEqual(edge["failed"], wanted["failed"] + wanted["timed_out"])

    def test_rest_tells_why_they_failed(self):
        told = {one["name"]: {row["reason"]: row["count"] for row in one["failures"]} for one in self.now["components"]}
        self.assertEqual(told, {"lines": {}, "split": {}, "count": {}, "check": known.failures(known.AT_CHECK),
                                "fate": known.failures(known.AT_FATE)})
        letters = self.going.json("/api/gale/v1/dead-letters?max=1000")
        self.assertEqual(letters["total"], known.BAD)
        self.assertEqual({(one["component"], one["attempts"]) for one in letters["letters"]},
                         {("check", known.ATTEMPTS), ("fate", known.ATTEMPTS), ("fate", 1)})

    def test_metrics_has_them(self):
        found = rig.samples(self.going.ask("/metrics")[2].decode())
        self.assertEqual(found["gale_trees_started_total"][""], known.TREES["trees"])
        self.assertEqual(found["gale_trees_ended_total"], {f'outcome="{key}"': known.TREES[key] for key in ("acked", *known.OUTCOMES)})
        for name in "replayed", "given_up":
            self.assertEqual(found[f"gale_trees_{name}_total"][""], known.TREES[name])
        self.assertEqual(found["gale_dead_letters_total"][""], known.BAD)
        for component, wanted in known.COMPONENTS.items():
            for key in known.FIGURES:
                told = found[f"gale_component_{key}_total"].get(f'component="{component}"')
                if told is None:  # bolts execute, spouts are stopped
                    self.assertEqual((key, wanted[key]), ("executed" if component == "lines" else "stopped", 0))
                else:
                    self.assertEqual(told, wanted[key], (component, key))

    def test_storm_s_rest_tells_them_of_the_whole(self):
        page = self.storm("")
        whole = {key: sum(one[key] for one in known.COMPONENTS.values()) for key in ("emitted", "transferred")}
        for window in page["topologyStats"]:
            self.assertEqual({key: window[key] for key in ("emitted", "transferred", "acked", "failed")},
                             {**whole, "acked": known.GOOD, "failed": known.BAD}, window["window"])
        told = {one.get("spoutId") or one["boltId"]: one for one in page["spouts"] + page["bolts"]}
        self.assertEqual({name: {key: one.get(key, 0) for key in STORM} for name, one in told.items()},
                         {name: known.of_storm(one) for name, one in known.COMPONENTS.items()})

    def test_storm_s_rest_tells_them_of_each_component(self):
        for name, wanted in known.COMPONENTS.items():
            page = self.storm(f"/component/{name}")
            summary = page.get("boltStats") or page["spoutSummary"]
            for row in summary:
                self.assertEqual({key: row.get(key, 0) for key in STORM}, known.of_storm(wanted), row["window"])
            for key in STORM:
                self.assertEqual(sum(row.get(key, 0) for row in page["executorStats"]), known.of_storm(wanted)[key], (name, key))

    def test_ps_has_them(self):
        row = next(iter(table(self.gale("ps"), "PID").values()))
        self.assertEqual({key: number(row[HEADS[key]]) for key in known.OUTCOMES}, known.ENDED)
        self.assertEqual(number(row["ACKED"]), known.GOOD)
        told = json.loads(self.gale("ps", "--json"))["running"][0]
        self.assertEqual({key: told[key] for key in ("acked", *known.OUTCOMES)}, {"acked": known.GOOD, **known.ENDED})

    def test_stats_has_them(self):
        text = self.gale("stats")
        for key in "failed", "timed_out", "rejected":
            self.assertIn(f", {known.ENDED[key]:,} {HEADS[key].lower()}", text)
        rows = table(text, "COMPONENT")
        for name, wanted in known.COMPONENTS.items():
            told = {key: number(rows[name][HEADS[key]]) for key in ("failed", "timed_out", "rejected")}
            self.assertEqual(told, {key: wanted[key] for key in told}, name)

    def test_top_has_them(self):
        self.assertRegex(self.gale("top", "--times", "1"), ", ".join(
            f"{known.ENDED[key]:,} {HEADS[key].lower()}" for key in ("failed", "timed_out", "rejected")))


class Ended(unittest.TestCase):
    """A run whose last trees are cut off by its end."""

    HELD = 5

    def test_the_summary_has_them_and_what_was_stopped(self):
        run = start(self)
        rig.until(lambda: at_its_end(run), "the end of the input")
        with open(run.path / "in.txt", "a") as file:
            file.write("fate hold\n" * self.HELD)
        rig.until(lambda: run.json("/api/gale/v1/now")["trees"]["open"] == self.HELD, "the trees that are held")
        run.process.send_signal(signal.SIGTERM)
        rig.until(lambda: run.json("/api/gale/v1/now")["phase"] == "draining", "its drain")
        run.process.send_signal(signal.SIGTERM)
        self.assertEqual(run.process.wait(rig.PATIENCE), 128 + signal.SIGTERM)
        summary = json.loads(next(line for line in run.text().splitlines() if line.startswith("{")))
        trees = {**known.TREES, "trees": known.TREES["trees"] + self.HELD, "stopped": self.HELD}
        self.assertEqual({key: summary[key] for key in trees}, trees)
        told = {one["component"]: {key: one[key] for key in ("acked", *known.OUTCOMES)} for one in summary["components"]}
        wanted = {name: {key: one[key] for key in ("acked", *known.OUTCOMES)} for name, one in known.COMPONENTS.items()}
        wanted["lines"]["stopped"] = self.HELD
        for name in "split", "check", "count":  # they ack what is held at fate
            wanted[name]["acked"] = told[name]["acked"]
        self.assertEqual(told, wanted)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
