#!/usr/bin/env python3
"""A second, plainly written count of unique visitors in an access log, to compare gale with.

usage: unique_visitors.py [--lateness S] [--windows 60,300] < LOG

Each line counts in the windows that its own time falls into, once for each visitor (host and agent), unless it is more
than the lateness behind the newest line before it. Output: one object of JSON: `windows`, a list of [seconds, start,
visitors] in the order of ends, the shorter first; `late`, a list of how far each late line is behind, in the order of
lines; `bad`, how many lines are none of an access log.
"""

import argparse
import datetime
import json
import re
import sys

QUOTED = rb'"((?:[^"\\]|\\.)*)"'
LINE = re.compile(rb'([^ ]+) [^ ]+ (.+?) \[([^]]{26})\] ' + QUOTED + rb' (\d{3}) (\d+|-)'
                  rb'(?: ' + QUOTED + rb' ' + QUOTED + rb'(?: .*)?)?', re.DOTALL)


def parse(line):
    """(time, visitor), or None."""
    match = LINE.fullmatch(line)
    if not match:
        return None
    try:
        when = datetime.datetime.strptime(match[3].decode("ascii"), "%d/%b/%Y:%H:%M:%S %z")
    except ValueError:
        return None
    agent = None if match[8] == b"-" else match[8]
    return int(when.timestamp()), (match[1], agent)


def count(lines, lateness, lengths):
    newest, bad, late, visitors = None, 0, [], {}
    for line in lines:
        parsed = parse(line)
        if not parsed:
            bad += 1
            continue
        time, visitor = parsed
        newest = time if newest is None else max(newest, time)
        if newest - time > lateness:
            late.append(newest - time)
            continue
        for length in lengths:
            start = time // length * length
            visitors.setdefault((start + length, length), set()).add(visitor)
    windows = [[length, end - length, len(who)] for (end, length), who in sorted(visitors.items())]
    return {"windows": windows, "late": late, "bad": bad}


def main():
    parser = argparse.ArgumentParser(description="Counts unique visitors of an access log on the standard input.")
    parser.add_argument("--lateness", type=int, default=120)
    parser.add_argument("--windows", default="60,300")
    options = parser.parse_args()
    lines = (line[:-1] if line.endswith(b"\n") else line for line in sys.stdin.buffer)
    json.dump(count(lines, options.lateness, [int(word) for word in options.windows.split(",")]), sys.stdout)
    print()


if __name__ == "__main__":
    main()
