#!/usr/bin/env python3
"""Instructions of a window bolt, a tuple and a row, by callgrind; bytes of a live pane.

usage: run.py PROGRAM          (ninja -C build gale_bench_window; PROGRAM is build/bench/gale_bench_window)
"""

import re
import subprocess
import sys

CALLS = ["count, sum(x)", "count, sum(x), min(x), max(x)", "sum(y), first(x), last(x)"]


def told(program, *arguments):
    text = subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout
    return {name: int(number) for name, number in re.findall(r"(\w+) (\d+)", text)}


def instructions(program, function, *arguments):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=" + function + "*",
                           program, *map(str, arguments)], check=True, capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def main():
    program = sys.argv[1]
    print("%-36s %-18s %8s %8s" % ("aggregates", "window", "a tuple", "a row"))
    for calls in CALLS:
        for name, keys, length, slide, tuples, warm, rounds in (
                ("tumbling, 1 h", 10000, 3600, 3600, 10, 3, 3), ("1 h by 1 s", 10000, 3600, 1, 10, 3, 3),
                ("1 h by 1 s, full", 100, 3600, 1, 10, 3700, 20), ("1 min by 1 s, full", 100, 60, 1, 10, 3700, 20)):
            arguments = (keys, length, slide, tuples, warm, rounds, calls)
            count = told(program, *arguments)
            tuple_cost = instructions(program, "tuples", *arguments) / count["tuples"]
            row_cost = instructions(program, "rows", *arguments) / count["rows"] if count["rows"] else None
            print("%-36s %-18s %8.0f %8s" % (calls, name, tuple_cost, "%.0f" % row_cost if row_cost else ""))
    for calls in CALLS:
        many = told(program, 1000, 3600, 1, 1, 0, 3600, calls)["bytes"] / 1000
        one = told(program, 1000, 3600, 1, 1, 0, 1, calls)["bytes"] / 1000
        print("%-36s a key with one pane %.0f bytes, with 3,600 %.0f: %.1f a pane" % (calls, one, many, (many - one) / 3599))


if __name__ == "__main__":
    main()
