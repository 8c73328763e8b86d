#!/usr/bin/env python3
"""kill -9 during a word count with resume, restart, twenty times at random moments: every word is counted at least
once, and what is counted twice was open at a kill.

usage: resume_test.py PROGRAM [KILLS [SEED]]

The state is written at every answer, so that what comes again are the lines from the oldest open one on. With one
counting task lines are answered in order: these are the open ones, PENDING at most. With two, some behind the oldest
open line may be answered already, hardly ever as many again.
"""

import collections
import os
import random
import subprocess
import sys
import tempfile
import time

LINES = 12000
WORDS = 3
PENDING = 100
INTERVAL = "0.000000001"
DEADLINE = 240


def write_input(path, rng):
    with open(path, "w") as file:
        for number in range(1, LINES + 1):
            file.write(" ".join([str(number)] + ["w%d" % rng.randrange(50) for _ in range(WORDS)]) + "\n")


def size(path):
    return os.path.getsize(path) if os.path.exists(path) else 0


def counted(path):
    """How often each (line, index) was counted. A line of a torn write would not parse, and there must be none."""
    if not os.path.exists(path):
        return collections.Counter()
    with open(path) as file:
        return collections.Counter(tuple(map(int, line.split())) for line in file)


def answered(path):
    """How many lines the state file says are done."""
    if not os.path.exists(path):
        return 0
    with open(path) as file:
        return int(file.read().split()[8])


def run_and_kill(command, output, rng, at_start):
    """True when the process was killed, False when it had ended before."""
    process = subprocess.Popen(command)
    wanted = 0 if at_start else size(output) + rng.randrange(1, LINES * WORDS * 8 // 25)
    end = time.monotonic() + DEADLINE
    while size(output) < wanted and process.poll() is None:
        if time.monotonic() > end:
            process.kill()
            sys.exit("no progress: %d bytes were counted, waited for %d" % (size(output), wanted))
        time.sleep(0.0005)
    time.sleep(rng.random() * (0.03 if at_start else 0.003))
    process.kill()
    code = process.wait()
    if code not in (0, -9):
        sys.exit("exit code %d" % code)
    return code == -9


def main():
    program = sys.argv[1]
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    with tempfile.TemporaryDirectory() as folder:
        source, state, output = folder + "/input", folder + "/state", folder + "/counted"
        write_input(source, rng)
        killed, again, before = 0, 0, collections.Counter()
        for kill in range(kills):
            executors = 1 + kill % 2
            command = [program, source, state, output, str(executors), str(PENDING), INTERVAL]
            killed += run_and_kill(command, output, rng, at_start=kill % 5 == 4)
            done = answered(state)
            counts = counted(output)
            lost = [word for line in range(1, done + 1) for word in range(WORDS) if not counts[line, word]]
            if lost:
                sys.exit("kill %d: %d words before line %d were answered and not counted" % (kill, len(lost), done))
            still_open = len({line for line, _ in counts - before if line > done})
            if still_open > PENDING * executors:
                sys.exit("kill %d: %d lines behind line %d were counted and not answered" % (kill, still_open, done))
            again += still_open
            before = counts
        subprocess.run([program, source, state, output, "2", str(PENDING), INTERVAL], check=True)
        check(counted(output), answered(state), killed, again, kills)


def check(counts, done, killed, again, kills):
    missing = sum(1 for line in range(1, LINES + 1) for word in range(WORDS) if not counts[line, word])
    if missing or done != LINES:
        sys.exit("%d words were never counted; %d of %d lines answered" % (missing, done, LINES))
    if len(counts) != LINES * WORDS:
        sys.exit("words were counted that the file does not have")
    twice = sum(max(counts[line, word] for word in range(WORDS)) - 1 for line in range(1, LINES + 1))
    print("%d kills; every line counted; %d lines counted again, %d were open" % (killed, twice, again))
    if twice > again:
        sys.exit("more lines were counted again than were open at the kills")
    if killed < kills // 2:
        sys.exit("only %d of %d runs were killed: the file is too short" % (killed, kills))



if __name__ == "__main__":
    main()
