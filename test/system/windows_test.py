#!/usr/bin/env python3
"""The example of windows tells what a plain script finds in the tuples that its clock let through: on one task and on three.
So does the one of windows that `having` chooses, where there are expressions.

usage: windows_test.py GALE SOURCE EXPRESSIONS
"""

import json
import math
import subprocess
import sys
import tempfile

LENGTH, SLIDE = 60, 10

EVENTS = """  - id: "events"
    className: "gale.bolt.FileSink"
    properties:
      - {name: "path", value: "events.json"}
      - {name: "format", value: "json"}

streams:
  - {from: "clock", to: "events", grouping: {type: GLOBAL}}
"""


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def wanted(events):
    """By definition: each window of each status that holds something."""
    windows = {}
    for event in events:
        end = event["time"] // SLIDE * SLIDE + SLIDE
        for window in range(end, end + LENGTH, SLIDE):
            windows.setdefault((event["status"], window), []).append(event)
    return windows


def compare(row, events):
    sizes = sorted(event["bytes"] for event in events)
    asked = {}
    for event in events:
        asked[event["request"]] = asked.get(event["request"], 0) + 1
    assert row["start"] == row["end"] - LENGTH, row
    assert row["count"] == len(events), (row, len(events))
    assert row["sum_bytes"] == sum(sizes), (row, sum(sizes))
    assert row["hosts"] == len({event["host"] for event in events}), row
    share = sizes[math.ceil(len(sizes) * 99 / 100) - 1]
    assert share * 255 / 256 <= row["p99"] <= share, (row, share)
    best = sorted(asked.items(), key=lambda item: (-item[1], item[0].encode()))[:2]
    assert [tuple(pair) for pair in row["asked"]] == best, (row, best)


def rows_of(gale, text, tasks):
    with tempfile.TemporaryDirectory() as folder:
        text = text.replace('path", value: "-"', 'path", value: "rows.json"').replace("parallelism: 2", "parallelism: %d" % tasks)
        with open(folder + "/topology.yaml", "w", encoding="utf-8") as file:
            file.write(text.replace("streams:\n", EVENTS))
        subprocess.run([gale, "run", "topology.yaml", "--quiet"], cwd=folder, check=True, timeout=600)
        return lines(folder + "/events.json"), lines(folder + "/rows.json")


def run(gale, text, tasks):
    events, rows = rows_of(gale, text, tasks)
    windows = wanted(events)
    assert len(windows) > 100 and len(rows) == len(windows), (len(rows), len(windows))
    told = {(row["status"], row["end"]): row for row in rows}
    assert told.keys() == windows.keys()
    for name, events in windows.items():
        compare(told[name], events)


def run_having(gale, text, tasks):
    events, rows = rows_of(gale, text, tasks)
    windows = {}
    for event in events:
        windows.setdefault((event["host"], event["time"] // 60 * 60), []).append(event["bad"])
    chosen = {key: (len(bad), sum(bad)) for key, bad in windows.items() if len(bad) >= 4 and sum(bad) / len(bad) > 0.25}
    assert 0 < len(chosen) < len(windows), (len(chosen), len(windows))
    told = {(row["host"], row["start"]): (row["count"], row["bad"]) for row in rows}
    assert told == chosen and len(rows) == len(told), (told, chosen)


def main():
    gale, source, expressions = sys.argv[1:]
    with open(source + "/examples/windows/topology.yaml", encoding="utf-8") as file:
        text = file.read()
    with open(source + "/examples/windows/busy.yaml", encoding="utf-8") as file:
        busy = file.read()
    for tasks in (1, 3):
        run(gale, text, tasks)
        if int(expressions):
            run_having(gale, busy, tasks)
    print("windows equal a plain script's")


if __name__ == "__main__":
    main()
