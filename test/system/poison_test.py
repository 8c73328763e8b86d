#!/usr/bin/env python3
"""One line in a million that no attempt can save: it ends in the dead-letter file with its reason, place and attempts,
everything else is acked once, and mended and replayed it is acked, too.

usage: poison_test.py GALE [LINES]
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
LINES = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
POISON = LINES // 3

# `strict` fails whatever `parse` calls no line of an access log: it wants a number where the problem stands.
TOPOLOGY = """\
name: poison
config:
  topology.replay.attempts: 3
  topology.replay.backoff.initial.secs: 0.05
  topology.dead_letters.file: letters.jsonl
  topology.max.spout.pending: 20000
spouts:
  - id: lines
    className: gale.spout.File
    properties:
      - { name: path, value: in.log }
bolts:
  - id: parse
    className: gale.bolt.AccessLog
    parallelism: 2
  - id: strict
    className: gale.bolt.RollingCountAgg
  - id: sink
    className: gale.bolt.FileSink
    properties:
      - { name: path, value: out.tsv }
streams:
  - { from: lines, to: parse, grouping: { type: SHUFFLE } }
  - { from: parse, to: sink, grouping: { type: GLOBAL } }
  - { from: parse, to: strict, grouping: { type: GLOBAL, streamId: bad } }
"""


def line(number):
    return f'10.0.0.1 - - [21/Nov/2026:11:00:00 +0000] "GET /{number} HTTP/1.1" 200 5 "-" "-"'


def run(folder, code, *arguments):
    result = subprocess.run([GALE, "run", "t.yaml", "--json", "--log-level", "error", *arguments], cwd=folder,
                            capture_output=True, text=True, timeout=500)
    assert result.returncode == code, (result.returncode, result.stderr)
    return json.loads(result.stdout)


def numbers(path):
    """The numbers of the lines that came through, in order."""
    return sorted(int(row.split(b"\t")[3].split(b" ")[1][1:]) for row in path.read_bytes().splitlines())


def expect(figures, **wanted):
    assert {name: figures[name] for name in wanted} == wanted, {name: figures[name] for name in wanted}


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "t.yaml").write_text(TOPOLOGY)
        with open(folder / "in.log", "w") as out:
            for i in range(LINES):
                print("poison\t\u00fc" if i == POISON else line(i), file=out)

        figures = run(folder, 1, "--until-drained")
        expect(figures, trees=LINES, acked=LINES - 1, failed=1, timed_out=0, rejected=0, stopped=0, open=0, replayed=2,
               given_up=1, dead_letters=1, dead_letters_lost=0)
        assert numbers(folder / "out.tsv") == [i for i in range(LINES) if i != POISON]

        text = (folder / "letters.jsonl").read_text()
        assert text.count("\n") == 1 and text.endswith("\n"), text
        letter = json.loads(text)
        assert letter["component"] == "lines" and letter["stream"] == "default", letter
        assert letter["tuple"] == ["poison\t\u00fc"], letter
        assert letter["reason"] == "failed" and letter["place"] == "strict" and letter["attempts"] == 3, letter
        assert "must be i64, is string" in letter["text"], letter
        strict = [row for row in figures["components"] if row["component"] == "strict"][0]
        assert strict["executed"] == strict["failed"] == 3, strict

        # As it is, it fails again, into the file that is configured.
        (folder / "letters.jsonl").rename(folder / "mended.jsonl")
        again = run(folder, 1, "--replay-dead-letters", "mended.jsonl", "--output", "none.tsv")
        expect(again, trees=1, failed=1, dead_letters=1)
        assert json.loads((folder / "letters.jsonl").read_text())["tuple"] == letter["tuple"]
        (folder / "letters.jsonl").unlink()

        letter["tuple"] = [line(POISON)]
        (folder / "mended.jsonl").write_text(json.dumps(letter) + "\n")
        mended = run(folder, 0, "--replay-dead-letters", "mended.jsonl", "--output", "mended.tsv")
        expect(mended, trees=1, acked=1, failed=0, replayed=0, dead_letters=0)
        assert numbers(folder / "mended.tsv") == [POISON]
        assert (folder / "letters.jsonl").read_text() == ""
    print(f"1 of {LINES} lines given up after 3 attempts, kept, mended, and acked")


if __name__ == "__main__":
    main()
