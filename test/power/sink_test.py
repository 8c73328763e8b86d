#!/usr/bin/env python3
"""The power goes while `gale run` reads a file with a state and writes another with `sync: true`: whatever is left, the
run goes on, and every line is in the file in the end.

usage: sink_test.py SHIM GALE [IMAGES]
"""

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import images  # noqa: E402
from power import Lab  # noqa: E402

LINES = 20000
TOPOLOGY = """\
name: power
spouts:
  - id: lines
    className: gale.spout.File
    properties:
      - { name: path, value: in.txt }
      - { name: state, value: state }
      - { name: stateInterval, value: 0.001 }
bolts:
  - id: out
    className: gale.bolt.FileSink
    properties:
      - { name: path, value: out.txt }
      - { name: sync, value: true }
      - { name: overwrite, value: true }
streams:
  - { from: lines, to: out, grouping: { type: SHUFFLE } }
"""

# Pieces of lines that were being written may stand between.
CHECK = """\
{gale} run t.yaml --until-drained --quiet || exit
python3 -c 'import sys; sys.exit(len(set(open("in.txt", "rb")) - set(open("out.txt", "rb"))))'
"""


def main():
    shim, gale = (str(Path(word).resolve()) for word in sys.argv[1:3])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 150
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) and "TMPDIR" not in os.environ else None
    with tempfile.TemporaryDirectory(dir=base) as place:
        lab = Lab(shim, Path(place) / "run")
        (lab.folder / "t.yaml").write_text(TOPOLOGY)
        (lab.folder / "in.txt").write_text("".join(f"{number}\n" for number in range(LINES)))
        recording = lab.record([gale, "run", "t.yaml", "--until-drained", "--quiet"])
        drawn = (images.draw(recording, number, 1) for number in range(count))
        different = lab.ask_all(drawn, CHECK.format(gale=gale))
    print(f"{len(recording.ops)} operations, {different} different folders")
    assert different > count / 4, "hardly any operations"


if __name__ == "__main__":
    main()
