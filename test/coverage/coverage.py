#!/usr/bin/env python3
"""Which lines of a tuple's way the simulator never ran (gcov's figures), held against unreached.toml: a line that is not
in the list fails, and so does an entry of the list that was run, or is not there any more.

usage: coverage.py ROOT BUILD
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import namedtuple

# The way of a tuple: its emission, what it waits in, its execution and its answer.
WAY = [f"src/engine/{name}.{kind}" for kind in "hc"
       for name in ("collector", "emit", "short", "turn", "run", "waiting", "drop", "outlet", "flush", "tick",
                     "acks", "acks_inlet")]
WAY += ["src/ds/batch.h", "src/ds/batch.c", "src/ds/batch_ring.h", "src/ds/batch_ring.c", "src/tuple/row.h"]
# What the simulator itself does with a header says nothing of the engine.
FLOORS = ("tuple", "ds", "trees", "engine", "runtime")
FLAW = re.compile(r"gx_\w+_flaw")  # these look for what does not hold: of a sound engine they run half

Line = namedtuple("Line", "file number function text")


def function_at(lines, number):
    """The function that a line (from 1) is in: the last definition above it, which begins in the first column."""
    for line in reversed(lines[:number]):
        found = re.match(r"[A-Za-z][^=;]*?\b(\w+)\((?!.*;)", line)
        if found:
            return found[1]
    return ""


def merge(reports, root):
    """Of gcov's reports: {file: {line: how often}}. Headers are in many objects."""
    counts = {}
    for report in reports:
        for file in report["files"]:
            path = pathlib.Path(report["current_working_directory"], file["file"]).resolve()
            if not path.is_relative_to(root):
                continue
            of_file = counts.setdefault(str(path.relative_to(root)), {})
            for line in file["lines"]:
                of_file[line["line_number"]] = of_file.get(line["line_number"], 0) + line["count"]
    return counts


def lines_of(file, text, counts):
    """The lines that are code, each with how often it was run; not those of functions that look for flaws."""
    lines = text.splitlines()
    for number, count in sorted(counts.items()):
        function = function_at(lines, number)
        if not FLAW.fullmatch(function):
            yield Line(file, number, function, lines[number - 1].strip()), count


def complaints(counted, entries):
    """`counted`: (Line, how often); `entries`: of unreached.toml. Lines of one function with the same text are one."""
    listed = {(e["file"], e["function"], text): e for e in entries for text in e["lines"]}
    reached, missed = set(), set()
    for line, count in counted:
        key = (line.file, line.function, line.text)
        (reached if count else missed).add(key)
        if not count and key not in listed:
            yield f"{line.file}:{line.number}: never run ({line.function}): {line.text}"
    for file, function, text in sorted(listed.keys() - missed):
        state = "was run" if (file, function, text) in reached else "is not there"
        yield f"test/coverage/unreached.toml: {state}: {file}, {function}: {text}"
    for entry in entries:
        if not entry["why"].strip():
            yield f"test/coverage/unreached.toml: no reason: {entry['file']}, {entry['function']}"


def reports(build):
    """What gcov says of every object of these floors."""
    objects = [path for floor in FLOORS
               for path in sorted(build.glob(f"src/CMakeFiles/gale_{floor}_objects.dir/**/*.gcda"))]
    if not objects:
        sys.exit(f"coverage.py: no figures in {build}: the simulator did not run, or was not built for it")
    with tempfile.TemporaryDirectory() as directory:
        out = subprocess.run(["gcov", "--json-format", "--stdout", *map(str, objects)], cwd=directory, check=True,
                             capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def main(root, build):
    root, build = pathlib.Path(root).resolve(), pathlib.Path(build).resolve()
    counts = merge(reports(build), root)
    entries = tomllib.loads((root / "test/coverage/unreached.toml").read_text()).get("unreached", [])
    counted = [pair for file in WAY for pair in lines_of(file, (root / file).read_text(), counts.get(file, {}))]
    found = list(complaints(counted, entries))
    for complaint in found:
        print(complaint, file=sys.stderr)
    run = sum(count > 0 for _, count in counted)
    print(f"the simulator ran {run} of {len(counted)} lines of a tuple's way")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
