"""What the tests of formats share: messages go through `gale run` as lines of base64, rows as lines of JSON."""

import base64
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": PLUGINS}

READ = """
name: read
spouts:
  - {{id: lines, className: gale.spout.File, properties: {{path: in.txt}}}}
bolts:
  - {{id: decode, className: gale.bolt.Map, properties: {{set: {{value: base64.decode(line)}}, keep: line}}}}
  - {{id: read, className: {name}, properties: {properties}}}
  - {{id: good, className: gale.bolt.FileSink, properties: {{path: good.json, format: json}}}}
  - {{id: problems, className: gale.bolt.Map, properties: {{set: {{b64: "base64.encode(line)"}}, keep: problem}}}}
  - {{id: bad, className: gale.bolt.FileSink, properties: {{path: bad.json, format: json}}}}
streams:
  - {{from: lines, to: decode, grouping: {{type: SHUFFLE}}}}
  - {{from: decode, to: read, grouping: {{type: SHUFFLE}}}}
  - {{from: read, to: good, grouping: {{type: SHUFFLE}}}}
  - {{from: read, to: problems, grouping: {{type: SHUFFLE, streamId: bad}}}}
  - {{from: problems, to: bad, grouping: {{type: SHUFFLE}}}}
"""

WRITE = """
name: write
spouts:
  - {{id: lines, className: gale.spout.File, properties: {{path: in.txt}}}}
bolts:
  - {{id: rows, className: gale.bolt.Json, properties: {{fields: {fields}}}}}
{binary}
  - {{id: write, className: {name}, properties: {properties}}}
  - {{id: encode, className: gale.bolt.Map, properties: {{set: {{b64: base64.encode(value)}}, keep: b64}}}}
  - {{id: good, className: gale.bolt.FileSink, properties: {{path: good.json, format: json}}}}
  - {{id: bad, className: gale.bolt.FileSink, properties: {{path: bad.json, format: json}}}}
streams:
  - {{from: lines, to: rows, grouping: {{type: SHUFFLE}}}}
{streams}
  - {{from: write, to: encode, grouping: {{type: SHUFFLE}}}}
  - {{from: encode, to: good, grouping: {{type: SHUFFLE}}}}
  - {{from: write, to: bad, grouping: {{type: SHUFFLE, streamId: bad}}}}
"""


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


class Case(unittest.TestCase):
    READER = WRITER = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def gale(self, *arguments):
        done = subprocess.run([GALE, *arguments], cwd=self.path, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def run_lines(self, topology, lines, *arguments):
        (self.path / "topology.yaml").write_text(topology)
        (self.path / "in.txt").write_text("".join(line + "\n" for line in lines))
        for name in ("good.json", "bad.json"):
            (self.path / name).unlink(missing_ok=True)
        code, said, words = self.gale("run", "topology.yaml", *arguments)
        self.assertEqual(code, 0, said + words)
        return rows_of(self.path / "good.json"), rows_of(self.path / "bad.json")

    def read(self, messages, *arguments, **properties):
        """The rows, and (message, problem) of what is bad."""
        topology = READ.format(name=self.READER, properties=json.dumps({"field": "value", **properties}))
        good, bad = self.run_lines(topology, [base64.b64encode(message).decode() for message in messages], *arguments)
        return good, [(base64.b64decode(row["b64"]), row["problem"]) for row in bad]

    def write(self, rows, names, binary="", **properties):
        """The messages, and the rows that are bad. `binary` are expressions that make bytes of fields."""
        streams = "  - {from: rows, to: write, grouping: {type: SHUFFLE}}"
        if binary:
            binary = f"  - {{id: binary, className: gale.bolt.Map, properties: {{set: {json.dumps(binary)}}}}}"
            streams = "  - {from: rows, to: binary, grouping: {type: SHUFFLE}}\n  - {from: binary, to: write, grouping: {type: SHUFFLE}}"
        topology = WRITE.format(name=self.WRITER, fields=json.dumps(names), properties=json.dumps(properties), binary=binary, streams=streams)
        good, bad = self.run_lines(topology, [json.dumps(row) for row in rows])
        return [base64.b64decode(row["b64"]) for row in good], bad

    def refused(self, **properties):
        """What `gale check` says."""
        (self.path / "topology.yaml").write_text(READ.format(name=self.READER, properties=json.dumps({"field": "value", **properties})))
        (self.path / "in.txt").write_text("")
        code, said, words = self.gale("check", "topology.yaml")
        self.assertNotEqual(code, 0)
        return said + words
