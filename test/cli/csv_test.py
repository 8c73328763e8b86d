#!/usr/bin/env python3
"""gale.bolt.Csv with columns that hold newlines, by the program: Python's csv module writes, gale reads.

usage: csv_test.py GALE [STORE]
"""

import csv
import io
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
STORE = len(sys.argv) > 2 and sys.argv[2] in ("1", "ON", "TRUE")
BOUND = 120  # seconds: longer than any of this takes on any machine

FILE = """\
name: t
config: {{ topology.state.checkpoint.interval.ms: 50 }}
spouts:
  - {{id: in, className: gale.spout.{spout}}}
bolts:
  - {{id: csv, className: gale.bolt.Csv, parallelism: {tasks}, properties: {{{properties}}}}}
  - {{id: out, className: gale.bolt.FileSink, properties: {{path: out.json, format: json, append: true}}}}
  - {{id: bad, className: gale.bolt.FileSink, properties: {{path: bad.json, format: json, append: true}}}}
streams:
  - {{from: in, to: csv, grouping: {{type: SHUFFLE}}}}
  - {{from: csv, to: out, grouping: {{type: SHUFFLE}}}}
  - {{from: csv, to: bad, grouping: {{type: SHUFFLE, streamId: bad}}}}
"""

# What maxogden/csv-spectrum has a file for.
SPECTRUM = {
    "comma_in_quotes": ["John,Doe,\"120 any st., Anytown, WW\",08123"],
    "escaped_quotes": ["1,\"ha \"\"ha\"\" ha\"", "3,4"],
    "empty": ["1,\"\",\"\"", "2,3,4"],
    "json": ["1,\"{\"\"type\"\": \"\"Point\"\", \"\"coordinates\"\": [102.0, 0.5]}\""],
    "newlines": ["1,4,5", "\"Once upon \na time\",5,6", "7,8,9"],
    "quotes_and_newlines": ["1,\"ha \n\"\"ha\"\" \nha\"", "3,4"],
    "utf8": ["1,2,3", "4,5,ʤ"],
    "simple": ["1,2,3"],
    "ends_with_quote": ["1,\"a\n\"", "2,\"\n\""],
    "many_columns": ["\"a\nb\",\"c\nd\",\"\n\n\""],
    "empty_lines": ["\"\n\n\n\",x"],
    "marks_in_quotes": ["1,\"a\n\ufeffb\n\ufeff\n\"", "2,\"\ufeff\""],
}


class Csv(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def write(self, properties, spout="Stdin", tasks=1):
        (self.path / "t.yaml").write_text(FILE.format(spout=spout, properties=properties, tasks=tasks))

    def rows(self, name="out.json"):
        path = self.path / name
        return [list(json.loads(line).values()) for line in path.read_text().splitlines()] if path.exists() else []

    def run_it(self, properties, text, *arguments, tasks=1):
        """The records, what is bad and why, and the log."""
        for name in ("out.json", "bad.json"):
            (self.path / name).unlink(missing_ok=True)
        self.write(properties, tasks=tasks)
        done = subprocess.run([GALE, "run", "t.yaml", "--no-control", *arguments], cwd=self.path, input=text.encode(), capture_output=True, timeout=BOUND)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return self.rows(), self.rows("bad.json"), done.stderr.decode()

    def columns(self, count):
        return "fields: [" + ", ".join(f"c{i}" for i in range(count)) + "]"

    def test_the_kinds_of_csv_spectrum(self):
        for name, records in SPECTRUM.items():
            for end in ("\n", "\r\n"):
                with self.subTest(name=name, end=end):
                    text = end.join(records) + end
                    wanted = list(csv.reader(io.StringIO("\n".join(records), newline="")))
                    rows, bad, log = self.run_it(self.columns(max(map(len, wanted))) + ", ragged: true", text)
                    self.assertEqual([row[: len(one)] for row, one in zip(rows, wanted)], wanted)
                    self.assertEqual((len(rows), bad), (len(wanted), []))
                    self.assertNotIn("WARN", log)

    def test_what_python_writes_is_read_again(self):
        drawn = random.Random(7)
        for round_ in range(6):
            quoting = drawn.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
            pieces = ["a", "\"", ",", "\n", " ", "x\ny", "\"\n\"", "\n\n", "ä", ""]
            pieces += ["\ufeff"] if quoting == csv.QUOTE_ALL else []  # it begins no record then
            records = [["".join(drawn.choices(pieces, k=drawn.randint(0, 5))) for _ in range(3)] for _ in range(400)]
            text = io.StringIO()
            csv.writer(text, quoting=quoting, lineterminator="\n").writerows(records)
            rows, bad, _ = self.run_it(self.columns(3), text.getvalue())
            self.assertEqual(rows, records, f"round {round_}")
            self.assertEqual(bad, [])

    def test_a_stray_quote_costs_its_line_alone(self):
        stray = "s,\"open"
        for behind in (0, 1, 3, 30):
            for record in ("1,2", "3,\"x\"", "4,\"two\nlines\"", "5,\"\"\"\""):
                with self.subTest(behind=behind, record=record):
                    text = "\n".join(["0,0", stray] + [record] * behind + ["9,9"]) + "\n"
                    rows, bad, _ = self.run_it(self.columns(2), text)
                    good = next(csv.reader(io.StringIO(record, newline="")))
                    self.assertEqual(rows, [["0", "0"]] + [good] * behind + [["9", "9"]])
                    self.assertEqual([line for line, _ in bad], [stray])
                    self.assertTrue(bad[0][1].startswith("a quote is not closed"), bad)

    def test_a_record_is_bounded(self):
        lines = [f"{i},x" for i in range(100)]
        rows, bad, _ = self.run_it(self.columns(2) + ", maxLines: 10", "\n".join(["s,\"open"] + lines) + "\n")
        self.assertEqual(rows, [line.split(",") for line in lines])
        self.assertEqual(bad, [["s,\"open", "a quote is not closed within maxLines and maxBytes"]])
        whole = "a,\"" + "\n".join("x" for _ in range(9)) + "y\""
        self.assertEqual(len(self.run_it(self.columns(2) + ", maxLines: 9", whole)[0]), 1)
        self.assertEqual(len(self.run_it(self.columns(2) + ", maxLines: 8", whole)[0]), 0)
        long = "a,\"" + "x" * 500 + "\n" + "x" * 600 + "\"\n1,2\n"
        rows, bad, _ = self.run_it(self.columns(2) + ", maxBytes: 1000", "b,\"" + "x" * 2000 + "\n" + long)
        self.assertEqual(rows[-1], ["1", "2"])
        self.assertEqual(bad[0][0], "b,\"" + "x" * 2000)

    def test_every_line_of_any_text_comes_out_once(self):
        drawn = random.Random(11)
        for round_ in range(8):
            lines = [f"{i}" + "".join(drawn.choices("a\", ", k=drawn.randint(0, 6))) for i in range(300)]
            rows, bad, _ = self.run_it("fields: [all, more], ragged: true, separator: '|', maxLines: 20", "\n".join(lines) + "\n")
            out = [line for row in rows for line in row[0].split("\n")] + [line for row in bad for line in row[0].split("\n")]
            self.assertEqual(sorted(int("".join(c for c in line if c.isdigit())) for line in out), list(range(300)), f"round {round_}")

    def test_several_tasks_read_each_line_alone_unless_asked_to_join_them(self):
        rows, bad, _ = self.run_it(self.columns(2), "1,\"two\nlines\"\n2,3\n", tasks=2)
        self.assertEqual((rows, len(bad)), ([["2", "3"]], 2))
        for newlines in ("alone", "auto"):
            rows, bad, _ = self.run_it(self.columns(2) + f", newlines: {newlines}", "1,\"two\n2,3\n", tasks=2)
            self.assertEqual((rows, bad), ([["2", "3"]], [["1,\"two", "a quote is not closed"]]))

    def test_a_record_that_gets_no_more_lines_is_bad_while_the_input_stays_open(self):
        self.write(self.columns(2) + ", timeout: 0.2")
        process = subprocess.Popen([GALE, "run", "t.yaml", "-q", "--no-control"], cwd=self.path, stdin=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdin.write(b"1,\"open\n2,3\n")
        process.stdin.flush()
        self.wait_for(lambda: self.rows() == [["2", "3"]] and len(self.rows("bad.json")) == 1)
        process.stdin.close()
        self.assertEqual(process.wait(BOUND), 0)

    def wait_for(self, condition):
        end = time.monotonic() + BOUND
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    @unittest.skipUnless(STORE, "without a store")
    def test_a_record_that_is_open_when_a_durable_run_is_killed_goes_on_with_the_next(self):
        self.write("fields: [a, b], timeout: 60s", spout="File, properties: {path: in.csv, follow: true}")
        out = self.path / "out.json"

        def start(name):
            log = open(self.path / name, "w")
            process = subprocess.Popen([GALE, "run", "t.yaml", "--state", "state", "--no-control"], cwd=self.path, stderr=log, stdout=log)
            self.addCleanup(log.close)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            return process
        (self.path / "in.csv").write_text("0,0\n1,\"two\n")
        process = start("one")
        self.wait_for(lambda: out.exists() and out.read_text() == '{"a":"0","b":"0"}\n')
        process.kill()
        process.wait()
        with open(self.path / "in.csv", "a") as text:
            text.write("lines\"\n2,3\n")
        process = start("two")
        self.wait_for(lambda: len(self.rows()) == 3)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(BOUND), 0)
        self.assertEqual(self.rows(), [["0", "0"], ["1", "two\nlines"], ["2", "3"]])
        self.assertEqual(self.rows("bad.json"), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
