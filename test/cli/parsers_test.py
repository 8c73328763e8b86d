#!/usr/bin/env python3
"""docs/reference/parsers.md is true: every row of its tables is a topology that takes a line and emits what it says.

usage: parsers_test.py GALE ROOT
"""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
ROOT = Path(sys.argv[2]).resolve()
PAGE = ROOT / "docs" / "reference" / "parsers.md"

FILE = """\
name: t
spouts:
  - {id: lines, className: gale.spout.Stdin}
bolts:
%s  - {id: it, className: %s, properties: %s}
  - {id: out, className: gale.bolt.Printer}
streams:
%s  - {from: %s, to: it, grouping: {type: SHUFFLE}}
%s"""
BEFORE = "  - {id: before, className: gale.bolt.Csv, properties: {fields: %s}}\n"
STREAM = "  - {from: it, to: out, grouping: {type: SHUFFLE, streamId: %s}}\n"


def known():
    """The classes that this gale has: without Lua and PCRE2, some are left out."""
    done = subprocess.run([GALE, "help", "classes"], capture_output=True, text=True, timeout=600, check=True)
    return set(re.findall(r"gale\.bolt\.\w+", done.stdout))


def rows():
    """(number of the line, class, fields that come in or None, its streams, properties, lines, what goes out)"""
    name, fields, streams = None, None, []
    for number, line in enumerate(PAGE.read_text().splitlines(), 1):
        head = re.match(r"## `(gale\.bolt\.\w+)`", line)
        if line.startswith("## "):
            name, fields, streams = head and head[1], None, ["default", "bad"]
        said = re.match(r"\| properties \| a line of `(\[.*\])` \| what goes out \|", line)
        fields = said[1] if said else fields
        said = re.search(r"Its streams: (.*)\.", line)
        streams = re.findall(r"`(\w+)`", said[1]) if said else streams
        row = re.fullmatch(r"\| `(\{.*\})` \| `(.*)` \| (.*) \|", line)
        if name and row:
            yield number, name, fields, streams, row[1], row[2], row[3]


def run(name, fields, streams, properties, lines):
    """What goes out: JSON, and the problem of what is bad."""
    before = (BEFORE % fields, "  - {from: lines, to: before, grouping: {type: SHUFFLE}}\n", "before") if fields else ("", "", "lines")
    text = FILE % (before[0], name, properties, before[1], before[2], "".join(STREAM % s for s in streams))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.yaml"
        path.write_text(text)
        for file, holds in re.findall(r"^`([\w.]+)` holds\n\n```\n(.*?)```", PAGE.read_text(), flags=re.M | re.S):
            (Path(folder) / file).write_text(holds)
        done = subprocess.run([GALE, "run", path, "--quiet"], cwd=folder, input="\n".join(lines) + "\n", capture_output=True, text=True,
                              timeout=600)
    assert done.returncode == 0, f"{text}\n{done.stderr}"
    for line in done.stdout.splitlines():
        tuple_ = json.loads(line)
        values = line[line.index('"values":') + len('"values":'):-1]
        yield {"default": values, "bad": "bad: " + tuple_["values"].get("problem", "")}.get(
            tuple_["stream"], tuple_["stream"] + ": " + values)


class Page(unittest.TestCase):
    def test_what_the_page_shows_is_what_goes_out(self):
        seen, classes = set(), known()
        for number, name, fields, streams, properties, lines, wanted in rows():
            seen.add(name)
            if name not in classes:
                continue
            told = list(run(name, fields, streams, properties, lines.split("` `")))
            shown = [] if wanted == "nothing" else wanted.strip("`").split("` `")
            self.assertEqual(told, shown, f"{PAGE.name}:{number}")
        heads = re.findall(r"^## `(gale\.bolt\.\w+)`", PAGE.read_text(), flags=re.M)
        self.assertEqual(seen, set(heads))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
