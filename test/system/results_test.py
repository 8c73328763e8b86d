#!/usr/bin/env python3
"""Lines to a file with the sink's default options: whatever ends a run, what its state says is answered is in the file,
and the run that goes on appends to it.

usage: results_test.py GALE [KILLS [SEED]]

kill -9 at random moments; a disk that is full for files larger than a limit of the process (RLIMIT_FSIZE), which also
tears a write in two; a stop in the middle (SIGINT twice). In the end every line is there.
"""

import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
LINES = 50_000
DEADLINE = 120

TOPOLOGY = """\
name: results
config:
  topology.max.spout.pending: 2000
spouts:
  - id: lines
    className: gale.spout.File
    properties:
      - { name: path, value: in.txt }
      - { name: state, value: state }
      - { name: stateInterval, value: 0.0001 }
bolts:
  - id: sink
    className: gale.bolt.FileSink
    constructorArgs: [out.txt]
    config: { gale.executor: %d }
streams:
  - { from: lines, to: sink, grouping: { type: SHUFFLE } }
"""


def fill(room):
    """A process whose files may have so many bytes."""
    return (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))) if room else None


def start(folder, room=None, *options):
    command = [GALE, "run", "t.yaml", "--until-drained", "-q", "--log-level", "warn", "-j", "2", *options]
    return subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, preexec_fn=fill(room))


def size(folder):
    path = folder / "out.txt"
    return path.stat().st_size if path.exists() else 0


def answered(folder):
    """How many lines the state file says are done."""
    path = folder / "state"
    return int(path.read_text().split()[8]) if path.exists() else 0


def results(folder, torn_allowed=False):
    """The lines of the file. A process that is killed may leave half a line at the end, and nowhere else."""
    text = (folder / "out.txt").read_text() if size(folder) else ""
    lines = text.split("\n")
    half = lines.pop()
    if half and not torn_allowed:
        sys.exit(f"half a line at the end: {half!r}")
    strange = [line for line in lines if not (line.startswith("line ") and line.endswith(" end"))]
    if strange:
        sys.exit(f"{len(strange)} lines that the input does not have: {strange[0]!r}")
    return {int(line[5:-4]) for line in lines}


def check_nothing_is_lost(folder, what, torn_allowed=False):
    done, found = answered(folder), results(folder, torn_allowed)
    lost = [number for number in range(1, done + 1) if number not in found]
    if lost:
        sys.exit(f"{what}: {len(lost)} of {done} lines were answered and are not in the file, first line {lost[0]}")
    return done


def wait_for(folder, process, wanted, answers=0):
    end = time.monotonic() + DEADLINE
    while (size(folder) < wanted or answered(folder) < answers) and process.poll() is None:
        if time.monotonic() > end:
            process.kill()
            sys.exit(f"no progress: {size(folder)} bytes, waited for {wanted}")
        time.sleep(0.0005)


def finish(folder):
    process = start(folder)
    said = process.communicate(timeout=DEADLINE)[1]
    if process.returncode != 0:
        sys.exit(f"the last run: exit code {process.returncode}: {said}")
    missing = LINES - len(results(folder))
    if missing or answered(folder) != LINES:
        sys.exit(f"{missing} lines are missing; {answered(folder)} of {LINES} answered")


def kill_often(folder, rng, kills):
    killed = 0
    for kill in range(kills):
        process = start(folder, None, "--rate", "30000")  # so that it is there to be killed when that has been noticed
        wait_for(folder, process, size(folder) + rng.randrange(1, LINES * 18 // kills))
        time.sleep(rng.random() * 0.003)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed += process.returncode == -9
        done = check_nothing_is_lost(folder, f"kill {kill}", torn_allowed=True)
    finish(folder)
    if killed < kills // 2:
        sys.exit(f"only {killed} of {kills} runs were killed: the file is too short")
    print(f"{killed} kills, the last at line {done}: nothing that was answered is lost")


def fill_the_disk(folder):
    room = LINES * 18 // 3 + 7
    for _ in range(2):
        process = start(folder, room)
        said = process.communicate(timeout=DEADLINE)[1]
        if process.returncode != 3 or "gale: cannot write 'out.txt': File too large\n" not in said:
            sys.exit(f"exit code {process.returncode}: {said}")
        if "  it is incomplete: what it lacks was not acked, but for what came from a finish\n" not in said:
            sys.exit(f"not told that it is incomplete: {said}")
        done = check_nothing_is_lost(folder, "full disk")
    if size(folder) < room - 100_000:
        sys.exit(f"the file has {size(folder)} bytes, not nearly {room}")
    finish(folder)
    print(f"a full disk after line {done}: nothing that was answered is lost")


def stop_often(folder, rng):
    for i in range(4):
        process = start(folder)
        # An orderly end without any answer leaves no state: its file would be asked about.
        wait_for(folder, process, size(folder) + rng.randrange(1, LINES * 18 // 5), answers=1)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=DEADLINE)
        done = check_nothing_is_lost(folder, f"stop {i}")
    finish(folder)
    print(f"4 stops, the last at line {done}: nothing that was answered is lost")


def main():
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    for what in (lambda f: kill_often(f, rng, kills)), fill_the_disk, (lambda f: stop_often(f, rng)):
        for executor in 0, 1:  # one of them has the spout
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                (folder / "t.yaml").write_text(TOPOLOGY % executor)
                (folder / "in.txt").write_text("".join(f"line {n} end\n" for n in range(1, LINES + 1)))
                what(folder)


if __name__ == "__main__":
    main()
