#!/usr/bin/env python3
"""One fault in a file is reported once, at its own line: not at a component that cannot be made because of it.

Each line of a topology of bolts that depend on each other is made wrong in each way that its kind has.

usage: causes_test.py GALE
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

GALE = pathlib.Path(sys.argv.pop(1)).resolve()

TOPOLOGY = """\
name: chain
spouts:
  - {id: source, className: gale.spout.Stdin}
bolts:
  - {id: records, className: gale.bolt.Csv, properties: {fields: [word, n int]}}
  - {id: doubled, className: gale.bolt.Map, properties: {set: {m: n * 2}}}
  - {id: large, className: gale.bolt.Filter, properties: {where: m > 3}}
  - {id: routed, className: gale.bolt.Route, properties: {routes: {a: m > 9, b: m < 5}}}
  - {id: summed, className: gale.bolt.Window, properties: {length: 5, aggregates: sum(m)}}
  - {id: sink, className: gale.bolt.FileSink, properties: {path: out.txt, format: csv}}
streams:
  - {from: source, to: records, grouping: {type: SHUFFLE}}
  - {from: records, to: doubled, grouping: {type: SHUFFLE}}
  - {from: doubled, to: large, grouping: {type: SHUFFLE}}
  - {from: large, to: routed, grouping: {type: SHUFFLE}}
  - {from: routed, to: summed, grouping: {type: SHUFFLE, streamId: a}}
  - {from: summed, to: sink, grouping: {type: SHUFFLE}}
"""
LINES = TOPOLOGY.splitlines()


def changes(line):
    """(what, the line with one fault)"""
    if "from:" in line:
        before, target = line[6:].split(": ", 1)[1].split(",", 1)[0], line.split("to: ")[1].split(",")[0]
        yield "an unknown source", line.replace(f"from: {before}", f"from: {before}x")
        yield "an unknown target", line.replace(f"to: {target}", f"to: {target}x")
        yield "an unknown grouping", line.replace("SHUFFLE", "SHUFLE")
        yield "an unknown stream", line.replace(", streamId: a", "").replace("SHUFFLE", "SHUFFLE, streamId: defualt")
        yield "an unknown key of a grouping", line.replace("type:", "tipe:")
        yield "an unknown field", line.replace("type: SHUFFLE", "type: FIELDS, args: [nobody]")
        for key in "from", "to", "grouping":
            yield f"a key that is not '{key}'", line.replace(f"{key}:", f"{key}x:")
    if "className" in line:
        yield "an unknown class", line.replace("className: gale.", "className: gale.x")
        yield "an unknown key", line.replace("className:", "clasName:")
    if "properties" in line:
        name = line.split("properties: {")[1].split(":")[0]
        yield "an unknown property", line.replace(f"{{{name}:", f"{{{name}x:")
    for right, wrong in (("n int", "n itn"), ("n * 2", "n *"), ("n * 2", "k * 2"), ("m > 3", "k > 3"), ("m > 9", "k > 9"), ("sum(m)", "smu(m)")):
        if right in line:
            yield wrong, line.replace(right, wrong)


class Causes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def check(self, lines):
        (self.path / "chain.yaml").write_text("\n".join(lines) + "\n")
        done = subprocess.run([GALE, "check", "chain.yaml", "--json"], cwd=self.path, capture_output=True, text=True, timeout=60)
        return json.loads(done.stdout)["problems"]

    def errors(self, lines):
        return [(problem["line"], problem["text"]) for problem in self.check(lines) if problem["severity"] == "error"]

    def test_nothing_is_wrong(self):
        self.assertEqual(self.errors(LINES), [])

    def test_a_fault_is_reported_at_its_own_line_alone(self):
        tried = 0
        for at, line in enumerate(LINES):
            for what, wrong in changes(line):
                with self.subTest(what, line=line):
                    self.assertNotEqual(wrong, line)
                    found = self.errors([*LINES[:at], wrong, *LINES[at + 1 :]])
                    self.assertEqual([where for where, _ in found], [at + 1], found)
                    tried += 1
        self.assertGreater(tried, 60)

    def test_a_bolt_that_no_stream_leads_to_is_reported_and_none_behind_it(self):
        for at, line in enumerate(LINES):
            if "from:" in line:
                target = line.split("to: ")[1].split(",")[0]
                with self.subTest(target):
                    (_, text), = self.errors([*LINES[:at], *LINES[at + 1 :]])
                    self.assertIn(f"bolt '{target}' has no input", text)


if __name__ == "__main__":
    unittest.main()
