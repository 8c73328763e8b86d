#!/usr/bin/env python3
"""How long a line takes from being written to being read again, through split and count to the standard output: gale with Printer and with
FileSink beside mawk, which does the same, and cat, which does nothing. They take turns, at 1,000 and 100,000 lines a second.

usage: latency.py [full|quick]          (script/bench builds first, and calls this)

A line is the moment at which it was written, so that no clock but the reader's is asked again."""

import os
import re
import shutil
import subprocess
import sys
import time

import measured
from measured import ROOT, say

GALE = os.path.join(ROOT, "build/gale")
FOLDER = os.path.join(measured.PROGRAMS, "latency")
RATES = (1_000, 100_000)  # lines a second
STEP = 0.001  # seconds between two writes of the writer
STAMP = re.compile(rb"\d{12,}")
WARM = 0.2  # the part of the lines that comes too early to count
MOST_OF_CAT, MOST_OF_MAWK = 2.5, 0.5  # p50, p99

TOPOLOGY = """\
name: latency
spouts:
  - {{id: lines, className: gale.spout.File, properties: {{path: "-"}}}}
bolts:
  - {{id: split, className: gale.bolt.Split}}
  - {{id: count, className: gale.bolt.Count}}
  - {{id: out, className: gale.bolt.{out}}}
streams:
  - {{from: lines, to: split, grouping: {{type: SHUFFLE}}}}
  - {{from: split, to: count, grouping: {{type: FIELDS, args: [word]}}}}
  - {{from: count, to: out, grouping: {{type: GLOBAL}}}}
"""
OUTPUTS = {"printer": "Printer", "filesink": "FileSink, properties: {path: '-'}"}


def write_paced(rate, seconds):
    """The writer: `rate` lines a second to the standard output. What a slow reader has held up is written late, and says so."""
    begin, written = time.monotonic(), 0
    while (now := time.monotonic() - begin) < seconds:
        due = int(now * rate) - written
        if due:
            os.write(1, b"%d\n" % time.monotonic_ns() * due)
            written += due
        time.sleep(STEP if rate * STEP >= 1 else 1 / rate)


def delays(chunk, now):
    """Nanoseconds since each of the moments in what was read."""
    return [now - int(stamp) for stamp in STAMP.findall(chunk)]


def read_delays(source):
    """Of all lines until the end, in their order. A line that is not whole yet waits for its rest."""
    found, rest = [], b""
    while chunk := os.read(source, 1 << 20):
        now = time.monotonic_ns()
        whole, newline, rest = (rest + chunk).rpartition(b"\n")
        found += delays(whole + newline, now)
    return found


def percentile(sorted_values, part):
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * part))]


def figures(found):
    """Microseconds of the lines that count: p50, p99, p99.9."""
    counted = sorted(found[int(len(found) * WARM):])
    return [percentile(counted, part) / 1000 for part in (0.5, 0.99, 0.999)]


def programs():
    os.makedirs(FOLDER, exist_ok=True)
    found = {"cat": ["cat"]}
    if shutil.which("mawk"):
        found["mawk"] = ["mawk", "-W", "interactive", "{for(i=1;i<=NF;i++){c[$i]++;print $i\"\\t\"c[$i]}}"]
    for name, out in OUTPUTS.items():
        path = os.path.join(FOLDER, name + ".yaml")
        with open(path, "w", encoding="ascii") as file:
            file.write(TOPOLOGY.format(out=out))
        found["gale " + name] = [GALE, "run", path, "-q", "--no-control", "-j", "1"]
    return found


def trial(command, rate, seconds):
    writer = subprocess.Popen([sys.executable, __file__, "--write", str(rate), str(seconds)], stdout=subprocess.PIPE)
    program = subprocess.Popen(command, stdin=writer.stdout, stdout=subprocess.PIPE)
    writer.stdout.close()
    found = read_delays(program.stdout.fileno())
    program.stdout.close()
    if program.wait() or writer.wait():
        raise RuntimeError(f"{command[0]} ended with status {program.returncode}")
    return figures(found)


def measure(rate, trials, seconds):
    """The median of each figure, by program."""
    all_found = {name: [] for name in programs()}
    for _ in range(trials):
        for name, command in programs().items():
            all_found[name].append(trial(command, rate, seconds))
    return {name: [measured.median(column) for column in zip(*rows)] for name, rows in all_found.items()}


def goals(found):
    """What is aimed at at the high rate, and whether it is so."""
    rows = []
    for name in found:
        if not name.startswith("gale"):
            continue
        rows.append((f"{name}: p50 is {found[name][0] / found['cat'][0]:.2f} times cat's, at most {MOST_OF_CAT}", found[name][0] <= MOST_OF_CAT * found["cat"][0]))
        if "mawk" in found:
            rows.append((f"{name}: p99 is {found[name][1] / found['mawk'][1]:.2f} times mawk's, at most {MOST_OF_MAWK}", found[name][1] <= MOST_OF_MAWK * found["mawk"][1]))
    return rows


def main(arguments):
    if arguments[:1] == ["--write"]:
        write_paced(int(arguments[1]), float(arguments[2]))
        return 0
    trials, seconds = (1, 2) if arguments == ["quick"] else (5, 5)
    for rate in RATES:
        found = measure(rate, trials, seconds)
        print(f"\n{rate:,} lines a second, microseconds; medians of {trials}\n  {'':16}{'p50':>10}{'p99':>10}{'p99.9':>10}")
        for name, row in found.items():
            print(f"  {name:16}" + "".join(f"{value:10,.0f}" for value in row))
    for text, is_reached in goals(found):
        say(f"{'reached' if is_reached else 'missed '}: {text}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
