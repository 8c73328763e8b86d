#!/usr/bin/env python3
"""What expressions count, as who looks at the run sees it.

usage: counted_test.py GALE
"""

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import rig

rig.Case.gale = str(Path(sys.argv[1]).resolve())

ATTEMPTS = 3  # of a line, by the file spout
TOPOLOGY = """\
name: counted
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{ name: path, value: in.txt }, { name: follow, value: true }]
bolts:
  - id: look
    className: gale.bolt.Filter
    parallelism: TASKS
    properties: { where: 'WHERE' }
streams:
  - { from: lines, to: look, grouping: { type: FIELDS, args: [line] } }
"""


class Counted(rig.Case):
    def counted(self, where, lines, tasks=2):
        """The run, when all lines are answered, and the metrics of `look` by name."""
        run = rig.Run(self, self.gale, TOPOLOGY.replace("WHERE", where).replace("TASKS", str(tasks)), lines=lines)

        def done():
            now = run.json("/api/gale/v1/now")
            trees = now["trees"]
            return now if trees["acked"] + trees["failed"] / ATTEMPTS == len(lines) else None
        now = rig.until(done, "the end of the input")
        look, = (one for one in now["components"] if one["name"] == "look")
        return run, now, {metric["name"]: metric for metric in look["metrics"]}

    def test_it_is_right_over_tasks_in_rest_and_metrics(self):
        lines = [f"{'GET' if number % 3 else 'PUT'} /{number}" for number in range(300)]
        run, _now, metrics = self.counted(
            'metric.count("seen") or metric.count("method_" .. split(line)[1]) or metric.observe("line_bytes", #line)', lines)
        told = {name: (metric["kind"], metric["tasks"], metric["value"]) for name, metric in metrics.items()}
        self.assertEqual(told.pop("line_bytes")[2]["count"], 300)
        self.assertEqual(told, {"seen": ("counter", 2, 300), "method_GET": ("counter", 2, 200), "method_PUT": ("counter", 2, 100)})
        found = rig.samples(run.ask("/metrics")[2].decode())
        self.assertEqual(found["gale_metric_seen_total"], {'component="look"': 300})
        self.assertEqual(found["gale_metric_line_bytes_sum"], {'component="look"': sum(map(len, lines))})

    def test_labels_are_in_rest_and_metrics_and_promtool_takes_them(self):
        paths = ["/a", '/"b"', "/c\\\\d", "/\u00e9", "/" + "x" * 200]
        lines = [f"{path} {number}" for number in range(20) for path in paths]
        where = ('metric.count("asked", 1, { path = split(line)[1], even = tonumber(split(line)[2]) % 2 == 0 }, "Requests.") or '
                 'metric.gauge("last", tonumber(split(line)[2]), { path = split(line)[1] }) or '
                 'metric.observe("line_bytes", #line, { path = split(line)[1] })')
        run, now, metrics = self.counted(where, lines)
        look, = (one for one in now["components"] if one["name"] == "look")
        asked = {(one["labels"]["path"], one["labels"]["even"]): one["value"] for one in look["metrics"] if one["name"] == "asked"}
        cut = ("/" + "x" * 200)[:120]
        self.assertEqual(asked, {(path if len(path) < 120 else cut, even): 10 for path in paths for even in ("true", "false")})
        text = run.ask("/metrics")[2].decode()
        found = rig.samples(text)
        self.assertEqual(found["gale_metric_asked_total"]['component="look",even="true",path="/\\"b\\""'], 10)
        self.assertEqual(found["gale_metric_line_bytes_count"]['component="look",path="/a"'], 20)
        self.assertEqual(text.count("# TYPE gale_metric_asked_total counter\n"), 1)
        self.assertEqual({labels.rsplit(",task=", 1)[0] for labels in found["gale_metric_last"] if "xx" not in labels},
                         {f'component="look",path="{path}"' for path in ("/a", '/\\"b\\"', "/c\\\\\\\\d", "/\u00e9")})
        if shutil.which("promtool"):
            done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_beyond_the_bound_of_series_values_are_counted_as_other_and_nothing_fails(self):
        lines = [str(number) for number in range(500)]
        run, now, _metrics = self.counted('metric.count("seen", 1, { line = line })', lines, tasks=1)
        look, = (one for one in now["components"] if one["name"] == "look")
        values = {one["labels"]["line"]: one["value"] for one in look["metrics"]}
        self.assertEqual(values.pop("other"), 300)
        self.assertEqual((len(values), sum(values.values()), now["trees"]["failed"]), (200, 200, 0))
        rig.until(lambda: run.find("metric 'seen': the task has 200 series with labels \\(gale.metric.series\\)"), "the report")
        self.assertEqual(look["errors"], 1)

    def test_a_value_that_cannot_be_counted_fails_its_line_with_words(self):
        run, now, metrics = self.counted('local n = tonumber(line)\n\n  return metric.count("sum", n)', ["1", "x", "-2", "3", "4"])
        self.assertEqual((now["trees"]["acked"], now["trees"]["failed"], metrics["sum"]["value"]), (3, 2 * ATTEMPTS, 8))
        rig.until(lambda: run.find("where:2: bad argument #2 to 'count' \\(number expected, got nil\\); with line = \"x\""), "words")
        rig.until(lambda: run.find("where:2: bad argument #2 to 'count' \\(is below 0\\); with line = \"-2\""), "words")

    def test_one_name_more_than_there_may_be_fails_its_line_and_no_other(self):
        lines = [str(number % 65) for number in range(1300)]
        _run, now, metrics = self.counted('metric.count("n" .. line)', lines, tasks=1)
        self.assertEqual({name: metric["value"] for name, metric in metrics.items()}, {f"n{number}": 20 for number in range(64)})
        self.assertEqual((now["trees"]["acked"], now["trees"]["failed"]), (1280, 20 * ATTEMPTS))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
