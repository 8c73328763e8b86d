#!/usr/bin/env python3
"""examples/durable, killed a few times on its way, has the results of a run that was never killed.

usage: durable_example_test.py PROGRAM
"""

import collections
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = str(Path(sys.argv[1]).resolve())
LINES = 20000
KILLS = 4


def main():
    rng = random.Random(1)
    lines = ["".join(rng.choice("abcdef") for _ in range(rng.randrange(1, 60))) for _ in range(LINES)]
    expected = collections.Counter(line[0] for line in lines)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").write_text("".join(line + "\n" for line in lines))
        killed = 0
        for life in range(KILLS):
            process = subprocess.Popen([PROGRAM, "in", "out", "state", str(LINES)], cwd=folder, stderr=subprocess.PIPE)
            while not (folder / "state" / "commit").exists() and process.poll() is None:
                time.sleep(0.005)
            time.sleep(0.05 + 0.1 * rng.random())
            process.kill()
            process.communicate()
            killed += process.returncode == -9
        done = subprocess.run([PROGRAM, "in", "out", "state"], cwd=folder, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            sys.exit(f"exit code {done.returncode}: {done.stderr}")
        rows = dict(line.split("\t") for line in (folder / "out").read_text().splitlines())
        longest = int(rows.pop("longest"))
        if {letter: int(count) for letter, count in rows.items()} != expected or longest != max(map(len, lines)):
            sys.exit(f"{rows} and {longest} instead of {dict(expected)}")
        if killed < 2:
            sys.exit(f"only {killed} of {KILLS} runs were killed")
        print(f"{killed} kills, the counts of {LINES} lines are exact")


if __name__ == "__main__":
    main()
