#!/usr/bin/env python3
"""The header of gale.bolt.FileSink: each file has one, once, whatever becomes of the file.

usage: header_test.py GALE
"""

import gzip
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
PATIENCE = 120

TOPOLOGY = """\
name: t
spouts: [{{ id: lines, className: gale.spout.File, properties: {{ path: in.txt{spout} }} }}]
bolts:
  - {{ id: size, className: gale.bolt.Map, properties: {{ set: {{ n: "#line" }} }} }}
  - {{ id: out, className: gale.bolt.FileSink, parallelism: {tasks}, properties: {{ format: {format}, header: true, {more} }} }}
streams:
  - {{ from: lines, to: size, grouping: {{ type: SHUFFLE }} }}
  - {{ from: size, to: out, grouping: {{ type: SHUFFLE }} }}
"""


class Header(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def write(self, lines, more="path: out.csv", format="csv", tasks=1, spout=""):
        (self.path / "in.txt").write_text("".join(f"{line}\n" for line in lines))
        (self.path / "t.yaml").write_text(TOPOLOGY.format(more=more, format=format, tasks=tasks, spout=spout))

    def start(self, *options):
        process = subprocess.Popen([GALE, "run", "t.yaml", "-q", *options], cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def run_it(self, *options, code=0):
        process = self.start(*options)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, code, err)
        return out + err

    def written(self):
        """Bytes, of all files."""
        return sum(path.stat().st_size for path in self.path.rglob("*.csv*"))

    def until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def read(self, name="out.csv"):
        return (self.path / name).read_text()

    def test_it_names_the_fields_that_come_in_or_those_that_are_chosen(self):
        self.write(["a", "bb"])
        self.run_it()
        self.assertEqual(self.read(), "line,n\na,1\nbb,2\n")
        self.write(["a", "bb"], "path: chosen.tsv, fields: [n]", "tsv")
        self.run_it()
        self.assertEqual(self.read("chosen.tsv"), "n\n1\n2\n")

    def test_a_file_without_lines_has_it(self):
        self.write([])
        self.run_it()
        self.assertEqual(self.read(), "line,n\n")

    def test_a_file_that_holds_something_is_given_none(self):
        self.write(["a"], "path: out.csv, append: true")
        self.run_it()
        self.run_it()
        self.assertEqual(self.read(), "line,n\na,1\na,1\n")

    def test_the_standard_output_has_it_of_one_task_alone(self):
        self.write(["a"], 'path: "-"')
        self.assertEqual(self.run_it(), "line,n\na,1\n")
        self.write(["a"], 'path: "-"', tasks=2)
        self.assertIn("header: the standard output of 2 tasks has no first line", self.run_it(code=2))

    def test_each_task_s_file_has_it(self):
        self.write(["a"] * 100, tasks=2)
        self.run_it()
        for name in "out.csv", "out.csv.1":
            self.assertEqual(self.read(name).splitlines()[0], "line,n")
            self.assertEqual(self.read(name).count("line,n"), 1)

    def test_each_rotated_file_has_it_and_is_no_larger_than_asked_for(self):
        lines = [f"line {number}" for number in range(100)]
        self.write(lines, "path: out.csv, rotateBytes: 100")
        self.run_it()
        files = sorted(self.path.glob("out.csv*"), key=lambda path: (path.name == "out.csv", path.name))
        self.assertGreater(len(files), 5)
        rows = [path.read_text().splitlines() for path in files]
        self.assertEqual({row[0] for row in rows}, {"line,n"})
        self.assertEqual([line for row in rows for line in row[1:]], [f"{line},{len(line)}" for line in lines])
        self.assertLessEqual(max(path.stat().st_size for path in files), 100)

    def test_packed_files_have_it(self):
        lines = [f"line {number}" for number in range(1000)]
        self.write(lines, "path: out.csv, gzip: true, rotateBytes: 2 KB, append: true")
        self.run_it()
        self.run_it()
        files = sorted(self.path.glob("out.csv*.gz"))
        self.assertGreater(len(files), 5)
        rows = [gzip.decompress(path.read_bytes()).decode().splitlines() for path in files]
        self.assertEqual([row.count("line,n") for row in rows], [1] * len(rows))
        self.assertEqual({row[0] for row in rows}, {"line,n"})
        self.assertEqual(sum(len(row) - 1 for row in rows), 2 * len(lines))

    def test_files_that_tuples_name_have_it_also_when_they_are_closed_and_opened_again(self):
        self.write([f"{number % 5}{'x' * (number % 5)}" for number in range(500)], "path: 'out/{n}.csv', maxOpen: 2")
        self.run_it()
        for number in range(1, 6):
            rows = self.read(f"out/{number}.csv").splitlines()
            self.assertEqual((rows[0], len(rows), rows.count("line,n")), ("line,n", 101, 1))

    def test_a_durable_run_that_is_killed_again_and_again_writes_it_once(self):
        lines = [f"line {number}" for number in range(4000)]
        for more in "path: out.csv", "path: 'made/{n}.csv'", "path: turned.csv, rotateBytes: 4 KB", "path: packed.csv, gzip: true":
            self.write(lines, more)
            state = f"state-{len(more)}"
            for kill in range(3):
                before = self.written()
                process = self.start("--state", state, "--rate", "2000", "-c", "topology.state.checkpoint.interval.ms=50")
                self.until(lambda: self.written() > before + 2000)
                process.send_signal(signal.SIGKILL)
                self.assertEqual(process.wait(PATIENCE), -signal.SIGKILL)
            self.run_it("--state", state)
        self.assertEqual(self.read().splitlines(), ["line,n"] + [f"{line},{len(line)}" for line in lines])
        for number in {len(line) for line in lines}:
            self.assertEqual(self.read(f"made/{number}.csv").splitlines(),
                             ["line,n"] + [f"{line},{number}" for line in lines if len(line) == number])
        self.assertEqual(gzip.decompress((self.path / "packed.csv.gz").read_bytes()).decode().splitlines(),
                         ["line,n"] + [f"{line},{len(line)}" for line in lines])
        files = sorted(self.path.glob("turned.csv*"), key=lambda path: (path.name == "turned.csv", path.name))
        rows = [path.read_text().splitlines() for path in files]
        self.assertEqual({row[0] for row in rows}, {"line,n"})
        self.assertEqual([line for row in rows for line in row[1:]], [f"{line},{len(line)}" for line in lines])

    def test_a_file_that_was_renamed_by_somebody_is_followed_by_one_with_it(self):
        self.write(["a"], spout=", follow: true")
        process = self.start()
        self.until(lambda: (self.path / "out.csv").exists() and self.read() == "line,n\na,1\n")
        (self.path / "out.csv").rename(self.path / "old.csv")
        process.send_signal(signal.SIGHUP)
        self.until((self.path / "out.csv").exists)
        with open(self.path / "in.txt", "a") as file:
            file.write("bb\n")
        self.until(lambda: self.read() == "line,n\nbb,2\n")
        self.assertEqual(self.read("old.csv"), "line,n\na,1\n")

    def test_it_is_of_formats_with_columns(self):
        for format in "json", "text":
            self.write(["a"], format=format)
            self.assertIn("header is of the formats csv and tsv", self.run_it(code=2))

    def test_inputs_with_different_fields_have_none_in_common(self):
        self.write(["a"])
        with open(self.path / "t.yaml", "a") as file:
            file.write("  - { from: lines, to: out, grouping: { type: SHUFFLE } }\n")
        self.assertIn("header: what comes from 'size' and from 'lines' has different fields; `fields` says which ones all lines have",
                      self.run_it(code=2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
