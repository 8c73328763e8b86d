#!/usr/bin/env python3
"""3,000 bad lines, a resume state, and no room for their dead letters: what was given up is in the file, whole; when
there is room again and the run is resumed, no letter is missing.

usage: full_disk_test.py GALE

The disk is full for files larger than a limit of the process (RLIMIT_FSIZE), which also tears a write in two.
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
LINES, ROOM = 3000, 100_000

TOPOLOGY = """\
name: full-disk
config:
  topology.dead_letters.file: letters.jsonl
  topology.max.spout.pending: 200
spouts:
  - id: lines
    className: gale.spout.File
    properties:
      - { name: path, value: in.txt }
      - { name: state, value: state }
      - { name: stateInterval, value: 0.02 }
bolts:
  - id: parse
    className: gale.bolt.AccessLog
  - id: strict
    className: gale.bolt.RollingCountAgg
streams:
  - { from: lines, to: parse, grouping: { type: SHUFFLE } }
  - { from: parse, to: strict, grouping: { type: GLOBAL, streamId: bad } }
"""


def fill(room):
    """A process whose files may have so many bytes; without a limit again, for None."""
    return (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))) if room else None


def run(folder, executors, room=None):
    command = [GALE, "run", "t.yaml", "--until-drained", "--json", "--log-level", "error", "-j", str(executors)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, preexec_fn=fill(room))


def letters(folder):
    """The lines that are in the file; each is a letter, whole."""
    text = (folder / "letters.jsonl").read_text()
    assert text == "" or text.endswith("\n"), text[-200:]
    return [json.loads(line)["tuple"][0] for line in text.splitlines()]


def answered(folder):
    """How many lines the state file says are done."""
    return int((folder / "state").read_text().split()[8])


def check(folder, executors):
    wanted = [f"bad line {number}" for number in range(1, LINES + 1)]
    (folder / "t.yaml").write_text(TOPOLOGY)
    (folder / "in.txt").write_text("".join(line + "\n" for line in wanted))
    full = run(folder, executors, ROOM)
    assert full.returncode == 3, (full.returncode, full.stderr)
    assert "letters.jsonl" in full.stderr and "File too large" in full.stderr, full.stderr
    figures, before = json.loads(full.stdout), letters(folder)
    assert figures["given_up"] == figures["dead_letters"] == len(before), (figures, len(before))
    assert figures["stopped"] == figures["trees"] - len(before) > 0, figures
    assert (folder / "letters.jsonl").stat().st_size > ROOM - 1000, "the file is not full"
    lost = set(wanted[: answered(folder)]) - set(before)
    assert not lost, f"{len(lost)} lines are answered and not in the file"

    again = run(folder, executors)
    assert again.returncode == 1, (again.returncode, again.stderr)
    after = letters(folder)
    assert after[: len(before)] == before
    assert set(after) == set(wanted), f"{len(set(wanted) - set(after))} letters are lost"
    assert answered(folder) == LINES
    shown = subprocess.run([GALE, "dead-letters", "show", "letters.jsonl"], cwd=folder, capture_output=True, text=True)
    assert shown.returncode == 0 and f"{len(after):,} dead letters" in shown.stdout, shown.stdout[-200:]
    return len(before)


def main():
    for executors in 1, 2:
        with tempfile.TemporaryDirectory() as name:
            found = check(Path(name), executors)
            print(f"{executors} executor(s): room for {found} letters of {LINES}; none is lost")


if __name__ == "__main__":
    main()
