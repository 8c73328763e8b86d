#!/usr/bin/env python3
"""Storm's classes: each is there under Storm's name, or refused with a reason that holds; none is said to lack a connector that there is.

usage: strangers_test.py GALE PLUGINS    (the folder of the connectors that were built)
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
PLUGINS = str(Path(sys.argv[2]).resolve())
ROOT = Path(__file__).resolve().parents[2]
NONE = "there is no connector"

CLASSES = [line for line in (Path(__file__).parent / "storm_classes.txt").read_text().splitlines() if line and line[0] != "#"]

SINK = """\
name: t
spouts: [{{ id: words, className: gale.spout.Words }}]
bolts:
  - {{ id: count, className: gale.bolt.Count }}
  - {{ id: out, className: {class_}, properties: {properties} }}
streams:
  - {{ from: words, to: count, grouping: {{ type: SHUFFLE }} }}
  - {{ from: count, to: out, grouping: {{ type: SHUFFLE }} }}
"""
SPOUT = """\
name: t
spouts: [{{ id: in, className: {class_}, properties: {properties} }}]
bolts: [{{ id: out, className: gale.bolt.Null }}]
streams: [{{ from: in, to: out, grouping: {{ type: SHUFFLE }} }}]
"""


def gale(*words):
    env = dict(os.environ, GALE_PLUGIN_PATH=PLUGINS)
    return subprocess.run([GALE, *words], env=env, capture_output=True, text=True, timeout=60)


def stand_ins():
    """(connector, Storm's class, gale's class, properties) of what the connectors' folders say."""
    for path in sorted((ROOT / "src" / "connect").glob("*/CMakeLists.txt")):
        for line in re.findall(r'^    "(\S+ .*)"$', path.read_text(), re.M):
            name, class_, text = line.split(" ", 2)
            yield path.parent.name, name, class_, text


STAND_INS = list(stand_ins())


class Strangers(unittest.TestCase):
    def test_the_table_is_read(self):
        self.assertGreater(len(STAND_INS), 15)
        self.assertGreater(len(CLASSES), 70)

    def test_each_class_of_storm_is_there_or_refused_with_a_reason(self):
        for name in CLASSES:
            done = gale("help", name)
            if done.returncode:
                self.assertRegex(done.stderr, f"^gale: gale has no counterpart of '{re.escape(name)}': .{{15}}", name)

    def test_what_a_connector_stands_for_is_refused_with_gale_s_class_and_its_page(self):
        for connector, name, class_, text in STAND_INS:
            said = gale("help", name + ("SomeClass" if name[-1] in ".$" else "")).stderr
            self.assertIn(text if class_ == "-" else f"`className: {class_}, properties: {text}` (docs/connectors/{connector}.md)", said)
            self.assertTrue((ROOT / "docs" / "connectors" / f"{connector}.md").is_file())
            self.assertNotIn(NONE, said)

    def test_a_join_is_answered_with_the_section_that_says_what_does_instead(self):
        for name in "join", "joins", "Join", "gale.bolt.Join", "org.apache.storm.bolt.JoinBolt":
            done = gale("help", "classes", name)
            self.assertIn("joins are missing; gale.bolt.Lookup ", done.stderr)
            self.assertIn("(docs/semantics/windows.md#joins)", done.stderr)

    def test_the_file_of_that_section_brings_two_streams_together(self):
        section = (ROOT / "docs" / "semantics" / "windows.md").read_text().split("\n## Joins\n")[1].split("\n## ")[0]
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("paid.yaml", re.search(r"```yaml\n(.*?)```", section, re.S)[1]),
                               ("orders.jsonl", '{"order":"o1","customer":"ada"}\n{"order":"o2","customer":"bob"}\n'),
                               ("payments.jsonl", '{"order":"o3","amount":7}\n{"order":"o1","amount":5}\n')):
                Path(folder, name).write_text(text)
            done = subprocess.run([GALE, "run", "paid.yaml", "--set", "paid.length=100000h"], cwd=folder, timeout=60,
                                  env=dict(os.environ, GALE_PLUGIN_PATH=PLUGINS), capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = [json.loads(line) for line in Path(folder, "paid.jsonl").read_text().splitlines()]
        self.assertEqual([(row["order"], row["customer"], row["amount"]) for row in rows], [("o1", "ada", 5)])

    def test_no_connector_is_said_to_be_missing_that_there_is(self):
        there = " ".join(path.read_text().lower() for path in (ROOT / "src" / "connect").glob("*/CMakeLists.txt"))
        rows = re.findall(r'\{ "org\.apache\.storm\.(\w+)\.[\w.$]*", (?:NO_STORE|NO_QUEUE) \}', (ROOT / "src" / "front" / "strangers.c").read_text())
        self.assertGreater(len(rows), 5)
        for system in rows:
            self.assertNotIn(system, there, f"src/front/strangers.c says that there is no connector for {system}")
        for name in CLASSES:
            if NONE in gale("help", name).stderr:
                self.assertIn(name.split(".")[3], rows)

    def test_what_is_said_to_be_written_instead_is_right(self):
        with tempfile.TemporaryDirectory() as folder:
            for connector, name, class_, text in STAND_INS:
                if class_ == "-" or not (Path(PLUGINS) / f"gale-{connector}.so").exists():
                    continue
                path = Path(folder) / "t.yaml"
                path.write_text((SPOUT if ".spout." in class_ else SINK).format(class_=class_, properties=text))
                told = json.loads(gale("check", "--json", str(path)).stdout)
                errors = [one["text"] for one in told["problems"] if one["severity"] == "error"]
                # which process of a group this one is, the run says
                self.assertEqual([one for one in errors if "--member" not in one], [], (name, text))

    def test_a_class_of_one_s_own_may_be_a_plugin_s(self):
        said = gale("help", "com.acme.storm.WeighBolt").stderr
        self.assertIn("a plugin may bring a class of your own under this name (`aliases`, docs/plugins.md)", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
