#!/usr/bin/env python3
"""A table that is replaced while the topology runs: lines that come later meet the new one; one that is wrong is told with its place, and
the old one stays.

usage: lookup_test.py GALE
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())

TOPOLOGY = """\
name: cities
spouts:
  - {id: lines, className: gale.spout.Stdin}
bolts:
  - id: city
    className: gale.bolt.Lookup
    properties: {table: hosts.csv, key: line, by: ip, add: [city, asn int], refresh: 50ms, missing: stream}
  - {id: out, className: gale.bolt.Printer}
streams:
  - {from: lines, to: city, grouping: {type: SHUFFLE}}
  - {from: city, to: out, grouping: {type: SHUFFLE}}
  - {from: city, to: out, grouping: {type: SHUFFLE, streamId: missing}}
"""


class Run:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.put("ip,city,asn\n10.0.0.1,Berlin,1\n")
        (self.folder / "t.yaml").write_text(TOPOLOGY)
        self.log = open(self.folder / "log", "w+")
        self.process = subprocess.Popen([GALE, "run", "t.yaml", "--quiet"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True, bufsize=1)

    def put(self, text):
        (self.folder / "new").write_text(text)
        os.rename(self.folder / "new", self.folder / "hosts.csv")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer["values"].get("city") if answer["stream"] == "default" else "missing"

    def wait(self, what, condition):
        end = time.monotonic() + 120
        while not condition():
            assert time.monotonic() < end and self.process.poll() is None, what
            time.sleep(0.01)

    def told(self):
        return (self.folder / "log").read_text()


def main():
    with tempfile.TemporaryDirectory() as folder:
        run = Run(folder)
        assert run.ask("10.0.0.1") == "Berlin"
        assert run.ask("10.0.0.2") == "missing"
        run.put("ip,city,asn\n10.0.0.1,Paris,2\n10.0.0.2,Rome,3\n")
        run.wait("a new table", lambda: run.ask("10.0.0.1") == "Paris")
        assert run.ask("10.0.0.2") == "Rome"
        run.put("ip,city,asn\n10.0.0.1,Oslo,what\n")
        run.wait("a report", lambda: "hosts.csv:2:15: column 'asn': 'what' is no int; the table of before stays: 2 rows" in run.told())
        assert run.ask("10.0.0.1") == "Paris"
        run.put("ip,city,asn\n10.0.0.1,Oslo,4\n")
        run.wait("the next table", lambda: run.ask("10.0.0.1") == "Oslo")
        run.process.stdin.close()
        assert run.process.wait(timeout=600) == 0, run.told()
        assert run.told().count("the table of before stays") == 1, run.told()
        (run.folder / "hosts.csv").write_text("ip,town\n")
        done = subprocess.run([GALE, "run", "t.yaml"], cwd=folder, input="", capture_output=True, text=True, timeout=600)
        assert done.returncode != 0 and "hosts.csv:1:1: there is no column 'city'" in done.stderr, done.stderr
    print("a table that changes is read again")


if __name__ == "__main__":
    main()
