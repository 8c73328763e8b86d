#!/usr/bin/env python3
"""The power goes while a durable run works: `gale run --state` that copies a file, and a program of one's own that ranks words
in windows of their own time, or counts behind a bolt that fails, does not answer in time and rejects (test/kill/job.c).
Whatever is left, the run goes on, and in the end its results are those of a run that never lost power.

usage: durable_test.py SHIM GALE JOB [IMAGES]     so many different folders of each (default 30)
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "kill")]

import images  # noqa: E402
import kill_test  # noqa: E402
from power import Lab, digest  # noqa: E402

SIZE = 20000  # lines of the copy; the others have some fewer

COPY = """\
name: power
config: { topology.state.checkpoint.interval.ms: 5, topology.message.timeout.secs: 3600 }
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{ name: path, value: text }]
bolts:
  - id: out
    className: gale.bolt.FileSink
    parallelism: 2
    properties: { path: out.txt, rotateBytes: 16 KB }
streams:
  - { from: lines, to: out, grouping: { type: SHUFFLE } }
"""


NAMED = """\
name: named
config: { topology.state.checkpoint.interval.ms: 5, topology.max.spout.pending: 100 }
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{ name: path, value: text }]
bolts:
  - id: cut
    className: gale.bolt.Regex
    properties: { field: line, pattern: "^(?<host>\\\\S+) (?<text>.*)$" }
  - id: out
    className: gale.bolt.FileSink
    properties: { path: "out/{host}/log", fields: text, maxOpen: 2, rotateBytes: 40, keep: 1 }
  - id: dated
    className: gale.bolt.FileSink
    properties: { path: "dated/{now:%S}/{now:%L}", fields: text, maxOpen: 2 }
streams:
  - { from: lines, to: cut, grouping: { type: GLOBAL } }
  - { from: cut, to: out, grouping: { type: GLOBAL } }
  - { from: cut, to: dated, grouping: { type: GLOBAL } }
"""


class Job:
    """What runs in a folder, and what it must leave there."""

    def __init__(self, folder, gale, job, size):
        self.folder, self.gale, self.job, self.size = folder, gale, job, size
        self.again = self.command()  # what goes on: as fast as it can

    def look(self, _folder, _told):
        """Goes on, and looks at what there is in the end."""
        ended = subprocess.run(self.again, cwd=self.folder, timeout=600, stdin=subprocess.DEVNULL, capture_output=True)
        assert ended.returncode == 0, f"status {ended.returncode}: {(ended.stdout + ended.stderr).decode()[-2000:]}"
        try:
            self.check()
        except SystemExit as why:
            raise AssertionError(why) from why


class Copy(Job):
    def command(self):
        return [self.gale, "run", "t.yaml", "--state", "state", "--quiet", "-j", "2"]

    def record(self, lab):
        (self.folder / "t.yaml").write_text(COPY)
        (self.folder / "text").write_text("".join(f"{number}\n" for number in range(self.size)))
        return lab.record([*self.command(), "--rate", "200000"])

    def check(self):
        files = sorted(self.folder.glob("out.txt*"))
        assert [path.name for path in files[:2]] == ["out.txt", "out.txt.000001"], files
        assert max(path.stat().st_size for path in files) <= 16000, files
        lines = [line for path in files for line in path.read_text().split("\n")]
        kill_test.same("copy", filter(None, lines), map(str, range(self.size)))


class Named(Job):
    """Files that the lines name, of which few are open, and that are rotated; and one by the clock."""

    def command(self):
        return [self.gale, "run", "t.yaml", "--state", "state", "--quiet"]

    def record(self, lab):
        (self.folder / "t.yaml").write_text(NAMED)
        self.expected = kill_test.write_hosts(self.folder / "text", self.size // 40, random.Random(1))
        return lab.record([*self.command(), "--rate", "5000"])

    def check(self):
        found = kill_test.files_of(self.folder / "out")
        expected = {}
        for host, texts in self.expected.items():
            files = kill_test.cut_where_full(texts, 40)
            place = host.replace("/", "%2F") + "/log"
            names = [f"{place}.{number:06}" for number in range(1, len(files))] + [place]
            expected.update(list(zip(names, files))[-2:])
        wrong = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
        assert not wrong, f"{wrong} are not as they must be"
        dated = b"".join(kill_test.files_of(self.folder / "dated").values()).splitlines(keepends=True)
        kill_test.same("dated", dated, (text for texts in self.expected.values() for text in texts))


class Top(Job):
    def command(self):
        return [self.job, "top", ".", "2"]

    def record(self, lab):
        self.expected = kill_test.write_times(self.folder / "text", self.size // 8, random.Random(1))
        return lab.record(self.command())

    def check(self):
        found = kill_test.last_rankings(self.folder / "rankings")
        assert found == self.expected, f"{found} differ from {self.expected}"


class Moody(Job):
    def command(self):
        return [self.job, "moody", ".", "2"]

    def record(self, lab):
        self.expected = kill_test.write_moody(self.folder / "text", self.size // 4, random.Random(1))
        return lab.record(self.command())

    def check(self):
        kill_test.check_moody(self.folder, self.expected)


def ask(lab, recording, job, wanted):
    """Draws until there were so many different folders, and asks of each."""
    seen = set()
    for number in range(50 * wanted):
        image = images.draw(recording, number, 1)
        key = digest(image.picture(), image.told())
        if key not in seen:
            lab.ask(image, job.look)
            seen.add(key)
        if len(seen) == wanted:
            return number + 1
    raise AssertionError(f"of {50 * wanted} folders only {len(seen)} are different")


def main():
    shim, gale, program = (str(Path(word).resolve()) for word in sys.argv[1:4])
    wanted = int(sys.argv[4]) if len(sys.argv) > 4 else 30
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) and "TMPDIR" not in os.environ else None
    for kind in (Copy, Named, Top, Moody):
        began = time.monotonic()
        with tempfile.TemporaryDirectory(dir=base) as place:
            lab = Lab(shim, Path(place) / "run")
            job = kind(lab.folder, gale, program, SIZE)
            recording = job.record(lab)
            drawn = ask(lab, recording, job, wanted)
        print(f"{kind.__name__.lower()}: {len(recording.ops)} operations, {wanted} different folders of {drawn}, all well, "
              f"{time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
