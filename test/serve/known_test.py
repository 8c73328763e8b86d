#!/usr/bin/env python3
"""A known input, failures and replays in it: every interface tells its figures, exactly, and they are all the same.

usage: known_test.py GALE
"""

import json
import signal
import sys
import unittest
from pathlib import Path

import known
import rig

rig.Case.gale = str(Path(sys.argv[1]).resolve())
STORM = [key for key in known.FIGURES if key != "errors"]


class Known(rig.Case):
    """One run, which is asked when all is answered, and before it ends."""

    def setUp(self):
        self.going = rig.Run(self, self.gale, known.TOPOLOGY, "--json", "--log-level", "error", lines=known.LINES)
        self.now = rig.until(self.done, "the end of the input")

    def done(self):
        now = self.going.json("/api/gale/v1/now")
        return now if known.is_done(now) else None

    def storm(self, path):
        return self.going.json(f"/api/v1/topology/known{path}")


class Figures(Known):
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
        ends = {edge["id"]: edge["to"] for edge in self.going.json("/api/gale/v1/topology")["edges"]}
        for edge in self.now["edges"]:
            for key in "executed", "acked", "failed":
                self.assertEqual(edge[key], known.COMPONENTS[ends[edge["id"]]][key], (edge, key))

    def test_rest_tells_why_they_failed(self):
        reasons = {one["name"]: one["failures"] for one in self.now["components"] if one["failures"]}
        self.assertEqual(reasons, {"check": [{"reason": "failed", "count": known.BAD}]})
        letters = self.going.json("/api/gale/v1/dead-letters?max=1000")
        self.assertEqual(letters["total"], known.BAD)
        self.assertEqual({(one["component"], one["attempts"]) for one in letters["letters"]}, {("check", known.ATTEMPTS)})

    def test_metrics_has_them(self):
        found = rig.samples(self.going.ask("/metrics")[2].decode())
        self.assertEqual(found["gale_trees_started_total"][""], known.TREES["trees"])
        for outcome in "acked", "failed", "timed_out", "rejected", "stopped":
            self.assertEqual(found["gale_trees_ended_total"][f'outcome="{outcome}"'], known.TREES[outcome])
        for name in "replayed", "given_up":
            self.assertEqual(found[f"gale_trees_{name}_total"][""], known.TREES[name])
        self.assertEqual(found["gale_dead_letters_total"][""], known.BAD)
        for component, wanted in known.COMPONENTS.items():
            for key in known.FIGURES:
                if component != "lines" or key != "executed":
                    self.assertEqual(found[f"gale_component_{key}_total"][f'component="{component}"'], wanted[key], (component, key))

    def test_storm_s_rest_tells_them_of_the_whole(self):
        page = self.storm("")
        whole = {key: sum(one[key] for one in known.COMPONENTS.values()) for key in ("emitted", "transferred")}
        for window in page["topologyStats"]:
            self.assertEqual({key: window[key] for key in ("emitted", "transferred", "acked", "failed")},
                             {**whole, "acked": known.GOOD, "failed": known.BAD}, window["window"])
        told = {one.get("spoutId") or one["boltId"]: one for one in page["spouts"] + page["bolts"]}
        self.assertEqual({name: {key: one.get(key, 0) for key in STORM} for name, one in told.items()},
                         {name: {key: one[key] for key in STORM} for name, one in known.COMPONENTS.items()})

    def test_storm_s_rest_tells_them_of_each_component(self):
        for name, wanted in known.COMPONENTS.items():
            page = self.storm(f"/component/{name}")
            summary = page.get("boltStats") or page["spoutSummary"]
            for row in summary:
                self.assertEqual({key: row.get(key, 0) for key in STORM}, {key: wanted[key] for key in STORM}, row["window"])
            for key in STORM:
                self.assertEqual(sum(row.get(key, 0) for row in page["executorStats"]), wanted[key], (name, key))

    def test_the_drained_run_sums_them_up(self):
        self.going.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.going.process.wait(rig.PATIENCE), 1)  # some were given up
        summary = json.loads(next(line for line in self.going.text().splitlines() if line.startswith("{")))
        self.assertEqual({key: summary[key] for key in known.TREES}, known.TREES)
        self.assertEqual({one["component"]: known.part(one) for one in summary["components"]}, known.COMPONENTS)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
