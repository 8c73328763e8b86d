#!/usr/bin/env python3
"""A float has one text in every format of a sink and in expressions, whatever the locale: the fewest digits that read back the same.

usage: numbers_test.py GALE

An expression has no -0.0. The connectors' texts are those of gale_value_text (test/tuple/json_view_test.c), and nothing else in src/ writes digits (meta/numbers).
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
FLOATS = {"0.1": "0.1", "1e16": "1e+16", "5e-324": "5e-324", "1e300": "1e+300", "0.1 + 0.2": "0.30000000000000004",
          "250.0": "250.0", "123456789012345.0": "123456789012345.0", "1/0 - 1/0": "NaN", "1/0": "Infinity", "-1/0": "-Infinity"}
# JSON has no word for these; an exact value says what it is.
EXCUSED = {"json": {"NaN": "null", "Infinity": "null", "-Infinity": "null"},
           "pack": {"NaN": '{"f64":"nan"}', "Infinity": '{"f64":"inf"}', "-Infinity": '{"f64":"-inf"}'}}

TOPOLOGY = """\
name: t
spouts: [{ id: lines, className: gale.spout.File, properties: { path: in.txt } }]
bolts:
  - id: made
    className: gale.bolt.Map
    properties:
      set:
        x: ({LIST})[tonumber(line)]
        tostring: tostring(x)
        operator: x .. ""
        left: '"" .. x'
        both: '"" .. x .. "" .. ""'
        join: join({x})
        concat: table.concat({x})
        format: string.format("%s", x)
        encode: json.encode(x)
      drop: [line]
  - { id: text, className: gale.bolt.Format, properties: { template: "{x}", as: template, keep: [x] } }
  - { id: json, className: gale.bolt.Format, properties: { format: json, fields: [x], as: line } }
  - { id: csv, className: gale.bolt.Format, properties: { format: csv, fields: [x], as: line } }
  - { id: pack, className: gale.bolt.Pack, properties: { key: [x], fields: [x] } }
  - { id: out-lua, className: gale.bolt.FileSink, properties: { path: lua.json, format: json } }
  - { id: out-template, className: gale.bolt.FileSink, properties: { path: template.txt, format: text, fields: [template] } }
  - { id: out-json, className: gale.bolt.FileSink, properties: { path: format.json, format: text } }
  - { id: out-csv, className: gale.bolt.FileSink, properties: { path: format.csv, format: text } }
  - { id: out-pack, className: gale.bolt.FileSink, properties: { path: pack.txt, format: text, fields: [value] } }
  - { id: file-tsv, className: gale.bolt.FileSink, properties: { path: file.tsv, format: tsv, fields: [x] } }
  - { id: file-csv, className: gale.bolt.FileSink, properties: { path: file.csv, format: csv, fields: [x] } }
  - { id: file-text, className: gale.bolt.FileSink, properties: { path: file.txt, format: text, fields: [x] } }
  - { id: file-json, className: gale.bolt.FileSink, properties: { path: file.json, format: json, fields: [x] } }
streams:
"""
STREAMS = [("lines", "made"), ("made", "text"), ("made", "json"), ("made", "csv"), ("made", "pack"), ("made", "out-lua"), ("text", "out-template"),
           ("json", "out-json"), ("csv", "out-csv"), ("pack", "out-pack"), ("made", "file-tsv"), ("made", "file-csv"), ("made", "file-text"),
           ("made", "file-json")]


class Numbers(unittest.TestCase):
    def run_it(self, path):
        text = TOPOLOGY.replace("{LIST}", "{" + ", ".join(FLOATS) + "}").replace("x: ({", "x: '({").replace(")[tonumber(line)]", ")[tonumber(line)]'")
        text += "".join(f"  - {{ from: {a}, to: {b}, grouping: {{ type: SHUFFLE }} }}\n" for a, b in STREAMS)
        (path / "t.yaml").write_text(text)
        (path / "in.txt").write_text("".join(f"{i + 1}\n" for i in range(len(FLOATS))))
        done = subprocess.run([GALE, "run", "t.yaml", "-q", "--executors", "1"], cwd=path, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "LC_ALL": "de_DE.UTF-8"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def expect(self, where, got, excused=""):
        wanted = [EXCUSED.get(excused, {}).get(word, word) for word in FLOATS.values()]
        self.assertEqual(dict(zip(FLOATS, got)), dict(zip(FLOATS, wanted)), where)
        self.assertEqual(len(got), len(wanted))

    def test_a_float_has_the_same_text_everywhere(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            self.run_it(path)
            lines = lambda name: (path / name).read_text().splitlines()
            for name in ("template.txt", "format.csv", "file.tsv", "file.csv", "file.txt"):
                self.expect(name, lines(name))
            for name in ("format.json", "file.json"):
                self.expect(name, [line.removeprefix('{"x":').removesuffix("}") for line in lines(name)], "json")
            self.expect("pack.txt", [line.split('"x":')[1].removesuffix("}") for line in lines("pack.txt")], "pack")
            rows = [json.loads(line) for line in lines("lua.json")]
            for name in ("tostring", "operator", "left", "both", "join", "concat", "format"):
                self.expect(name, [row[name] for row in rows])
            self.expect("encode", [row["encode"] for row in rows], "json")


unittest.main(argv=sys.argv[:1], verbosity=2)
