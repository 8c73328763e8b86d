#!/usr/bin/env python3
"""`gale graph`: the pictures of all examples, as they are kept in test/cli/graphs and docs/reference; every form of them, also where names
are hostile; terminals that are wide, narrow, and not UTF-8; what is refused, and how.

usage: graph_test.py GALE ROOT [--renew]
"""

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
ROOT = Path(sys.argv[2]).resolve()
RENEW = "--renew" in sys.argv
KEPT = ROOT / "test" / "cli" / "graphs"
PAGE = ROOT / "docs" / "reference" / "graph.md"
PICTURE = ROOT / "docs" / "reference" / "graph-access-log.svg"
WORD_COUNT = ROOT / "examples" / "word-count" / "topology.yaml"
ACCESS_LOG = ROOT / "examples" / "access-log" / "topology.yaml"
PATIENCE = 120  # seconds
UTF8 = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm"}

NAMES = ['a "quoted" \\ name', "<script>alert(1)</script>", "日本語の名前がここにあり、これはとても長いので切られる、きっと",
         "a & b ]]> --> `x` #35; %% </title>", "turned \u202e around", "semi;colon\\"]
HOSTILE = """\
name: "<script>alert(1)<script>"
spouts:
  - {id: %s, className: gale.spout.Stdin}
bolts:
""" % json.dumps(NAMES[0]) + "".join(
    "  - {id: %s, className: gale.bolt.Split}\n" % json.dumps(name) for name in NAMES[1:]) + "streams:\n" + "".join(
    "  - {from: %s, to: %s, grouping: {type: %s}}\n" % (json.dumps(a), json.dumps(b), kind)
    for a, b, kind in [(NAMES[0], NAMES[1], "SHUFFLE"), (NAMES[1], NAMES[2], "FIELDS, args: [word]"),
                       (NAMES[1], NAMES[3], "ALL"), (NAMES[3], NAMES[4], "GLOBAL"), (NAMES[4], NAMES[3], "SHUFFLE"),
                       (NAMES[4], NAMES[5], "NONE"), (NAMES[5], NAMES[5], "SHUFFLE")])


def run(*words, env=UTF8, code=0, cwd=None):
    done = subprocess.run([GALE, "graph", *map(str, words)], capture_output=True, timeout=PATIENCE, env=env, cwd=cwd)
    assert done.returncode == code, (words, done)
    return done.stdout.decode() if code == 0 else done.stderr.decode()


def on_terminal(columns, *words):
    """What a terminal of so many columns is shown, and what is said beside it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([GALE, "graph", *map(str, words)], stdout=theirs, stderr=subprocess.PIPE, env=UTF8)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # its other end has been closed
            part = b""
        if not part:
            break
        shown += part
    os.close(ours)
    said = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(PATIENCE) == 0, said
    return shown.decode().replace("\r\n", "\n"), said


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, text, name="t.yaml"):
        path = self.folder / name
        path.write_text(text)
        return path

    def kept(self, path, text):
        if RENEW:
            path.write_text(text)
        self.assertEqual(path.read_text(), text, path)


class Kept(Case):
    def test_the_pictures_of_all_examples_are_as_they_are_kept(self):
        for path in sorted((ROOT / "examples").glob("*/*.yaml")):
            if not path.name.endswith(".test.yaml"):
                self.kept(KEPT / f"{path.parent.name}-{path.stem}.txt", run(path))

    def test_every_form_is_as_it_is_kept(self):
        hostile = self.file(HOSTILE)
        for form, ending in ("text", "txt"), ("svg", "svg"), ("dot", "dot"), ("mermaid", "mmd"), ("json", "json"):
            self.kept(KEPT / f"hostile.{ending}", run(hostile, f"--{form}"))
            if form != "text":
                self.kept(KEPT / f"hostile-down.{ending}", run(hostile, f"--{form}", "--down"))

    def test_the_page_shows_what_is_drawn(self):
        self.kept(PICTURE, run(ACCESS_LOG, "--svg"))
        page = PAGE.read_text()
        self.assertIn(run(WORD_COUNT), page)
        self.assertIn(PICTURE.name, page)


class Forms(Case):
    def test_an_svg_has_every_name_as_text_and_nothing_that_runs_or_is_elsewhere(self):
        for down in [], ["--down"]:
            text = run(self.file(HOSTILE), "--svg", *down)
            root = ElementTree.fromstring(text)
            kinds = {element.tag.split("}")[1] for element in root.iter()}
            self.assertEqual(kinds, {"svg", "title", "style", "rect", "g", "path", "text"})
            names = [element.get("data-component") for element in root.iter() if element.get("data-component")]
            self.assertEqual(sorted(names), sorted(name.replace("\u202e", "\\u202e") for name in NAMES))
            self.assertEqual([int(e.get("data-edge")) for e in root.iter() if e.get("data-edge")], list(range(7)))
            self.assertEqual(re.findall(r"https?://[^\"]*|url\(|@import|href", text), ["http://www.w3.org/2000/svg"])

    def test_json_has_the_components_the_edges_and_their_places(self):
        told = json.loads(run(ACCESS_LOG, "--json"))
        self.assertEqual(told["name"], "access-log")
        self.assertEqual([c["name"] for c in told["components"]], sorted(c["name"] for c in told["components"]))
        count = next(c for c in told["components"] if c["name"] == "failures")
        self.assertEqual((count["kind"], count["class"], count["tasks"]), ("bolt", "gale.bolt.Window", 2))
        self.assertEqual(count["streams"][0]["name"], "default")
        self.assertEqual([e["id"] for e in told["edges"]], list(range(len(told["edges"]))))
        self.assertIn({"from": "clock", "stream": "default", "to": "failures", "grouping": "fields", "fields": ["path"],
                       "drop": None}, [{k: v for k, v in e.items() if k != "id"} for e in told["edges"]])
        drawing = told["drawing"]
        self.assertEqual([n["component"] for n in drawing["nodes"]], [c["name"] for c in told["components"]])
        self.assertEqual([e["edge"] for e in drawing["edges"]], [e["id"] for e in told["edges"]])
        for edge in drawing["edges"]:
            self.assertEqual(edge["points"], sorted(edge["points"], key=lambda p: p[0]))
            self.assertFalse(edge["back"])
            for x, y in edge["points"] + [edge["label"]]:
                self.assertTrue(0 <= x <= drawing["width"] and 0 <= y <= drawing["height"])

    def test_what_is_laid_over_the_file_is_drawn(self):
        self.assertIn("gale.bolt.Count ×8", run(WORD_COUNT, "--set", "count.parallelism=8"))
        path = self.file(re.sub("^name: .*", "name: ${name}", WORD_COUNT.read_text(), flags=re.M))
        self.file("name: from-properties\n", "p")
        self.assertTrue(run(path, "--mermaid", "--filter", self.folder / "p").startswith("flowchart LR\n"))
        self.assertIn("digraph \"from-properties\"", run(path, "--dot", "--filter", self.folder / "p"))

    def test_the_ending_of_the_output_says_which_form(self):
        for ending, begins in {".svg": "<svg ", ".dot": "digraph ", ".mmd": "flowchart LR", ".json": "{", ".txt": "╔═"}.items():
            path = self.folder / ("out" + ending)
            self.assertEqual(run(WORD_COUNT, "-o", path), "")
            self.assertTrue(path.read_text().startswith(begins), ending)
        run(WORD_COUNT, "--svg", "-o", self.folder / "out.json")
        self.assertTrue((self.folder / "out.json").read_text().startswith("<svg "))
        self.assertTrue(run(WORD_COUNT, "--dot", "-o", "-").startswith("digraph "))
        self.assertEqual(run(WORD_COUNT, "-o", "-"), run(WORD_COUNT))

    def test_an_ending_that_says_nothing_is_refused_unless_an_option_says_the_form(self):
        for name in ("out.png", "out", "outsvg"):
            path = self.folder / name
            self.assertEqual(run(WORD_COUNT, "-o", path, code=2),
                             f"gale: '{path}' ends with none of .svg, .dot, .mmd, .json and .txt, which say how it is written: give --svg, --dot, "
                             "--mermaid, --json or --text\n")
            self.assertFalse(path.exists())
        run(WORD_COUNT, "--text", "-o", self.folder / "out")
        self.assertTrue((self.folder / "out").read_text().startswith("╔═"))


class Terminals(Case):
    def width(self, text):
        return max(map(len, text.splitlines()))

    def test_a_picture_fits_a_terminal_of_80_columns(self):
        for path in sorted((ROOT / "examples").glob("*/*.yaml")):
            if not path.name.endswith(".test.yaml"):
                shown, said = on_terminal(80, path)
                self.assertLessEqual(self.width(shown), 80)
                self.assertEqual(said, "")

    def test_names_are_cut_where_it_is_narrow(self):
        whole, cut = run(ACCESS_LOG), on_terminal(60, ACCESS_LOG)[0]
        self.assertIn("gale.bolt.Window ×2", whole)
        self.assertNotIn("gale.bolt.", cut)
        self.assertIn("Window ×2", cut)
        self.assertLessEqual(self.width(cut), 60)

    def test_where_that_is_not_enough_the_width_is_said(self):
        shown, said = on_terminal(20, ACCESS_LOG)
        self.assertRegex(said, rf"^gale: the picture is {self.width(shown)} columns wide, this terminal 20: ")

    def test_a_locale_that_is_not_utf_8_gets_ascii(self):
        plain = run(WORD_COUNT, env={**UTF8, "LC_ALL": "C"})
        self.assertTrue(plain.isascii())
        self.assertEqual(plain, run(WORD_COUNT, "--ascii"))
        self.assertTrue(run(self.file(HOSTILE), "--ascii").isascii())

    def test_a_name_cannot_steer_a_terminal(self):
        for form in "--text", "--svg", "--dot", "--mermaid":
            self.assertNotIn("\u202e", run(self.file(HOSTILE), form))


class Refused(Case):
    def test_words_that_do_not_fit_together(self):
        for words, text in {
                (): "graph wants one topology file, not 0: gale graph FILE.yaml [options]",
                (WORD_COUNT, WORD_COUNT): "graph wants one topology file, not 2: gale graph FILE.yaml [options]",
                (WORD_COUNT, "--svg", "--dot"): "one of --text, --svg, --dot, --mermaid and --json, not several",
                (WORD_COUNT, "--down"): "--text is always drawn downwards",
                (WORD_COUNT, "--svg", "--ascii"): "--ascii is for --text alone"}.items():
            self.assertEqual(run(*words, code=2), f"gale: {text}\n")

    def test_a_file_that_is_wrong_is_told_with_its_place(self):
        path = self.file(HOSTILE.replace("Stdin", "Stdim"))
        self.assertRegex(run(path, code=2), rf"^gale: {re.escape(str(path))}:3:\d+: .*gale\.spout\.Stdin")
        self.assertIn("No such file", run(self.folder / "none.yaml", code=3))

    def test_an_output_that_cannot_be_written_is_told(self):
        self.assertIn("No such file", run(WORD_COUNT, "-o", self.folder / "none" / "x.svg", code=3))
        if os.path.exists("/dev/full"):
            self.assertIn("No space left", run(WORD_COUNT, "--svg", "-o", "/dev/full", code=3))

    def test_what_is_too_large_is_said(self):
        bolts = "".join(f"  - {{id: b{i}, className: gale.bolt.Split}}\n" for i in range(4200))
        streams = "".join(f"  - {{from: s, to: b{i}, grouping: {{type: SHUFFLE}}}}\n" for i in range(4200))
        path = self.file(f"name: wide\nspouts:\n  - {{id: s, className: gale.spout.Stdin}}\nbolts:\n{bolts}streams:\n{streams}")
        self.assertEqual(run(path, "--svg", code=3),
                         "gale: 'wide' is too large to be drawn: it has 4201 components, and 4096 is the most\n")
        self.assertIn("n4200", run(path, "--dot"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
