#!/usr/bin/env python3
"""Reads what `abidiff --leaf-changes-only` says, and fails unless all of it is appended: fields behind the old end of a structure that says its
own size, or of a row whose table says it. What abidiff does not tell of (what was added beside the old) never reaches this.

usage: judge.py INCLUDE < REPORT
"""

import pathlib
import re
import sys

sys.dont_write_bytecode = True

ROWS = {"gale_param", "gale_class"}  # who points to a table of them says how large one is
SUMMARY = re.compile(r"(Leaf changes|Changed leaf types|Removed/Changed/Added \w+) summary: |\s*$")
STRUCT = re.compile(r"'struct (\w+)( at [^']*)?' changed:")
SIZE = re.compile(r"  type size changed from (\d+) to (\d+) \(in bits\)")
COUNT = re.compile(r"  \d+ data member insertions?:")
FIELD = re.compile(r"    '.*', at offset (\d+) \(in bits\)")


def sized(texts):
    """The structures that begin with their size."""
    return {name for text in texts for name in re.findall(r"typedef struct (\w+) \{\n    size_t size;", text)}


def refused(report, may_grow):
    """The lines of the report that are not about something appended."""
    may, old_end = False, None
    for line in report.splitlines():
        struct, size, field = STRUCT.match(line), SIZE.fullmatch(line), FIELD.fullmatch(line)
        if struct:
            may, old_end = struct[1] in may_grow, None
        if SUMMARY.match(line) or (may and (struct or COUNT.fullmatch(line))):
            continue
        if may and size and int(size[1]) < int(size[2]):
            old_end = int(size[1])
        elif not (may and field and old_end is not None and int(field[1]) >= old_end):
            yield line


def check_self():
    head = "Leaf changes summary: 1 artifact changed\n\n'struct a at a.h:1:1' changed:\n"
    grown = head + "  type size changed from 64 to 128 (in bits)\n  1 data member insertion:\n    'int b', at offset 64 (in bits)\n"
    assert not list(refused(grown, {"a"}))
    assert len(list(refused(grown, {"b"}))) == 4
    assert list(refused(grown.replace("offset 64", "offset 32"), {"a"})) == ["    'int b', at offset 32 (in bits)"]
    assert list(refused(grown + "  there are data member changes:\n", {"a"})) == ["  there are data member changes:"]
    assert sized(["typedef struct a {\n    size_t size;\n} a;\ntypedef struct b {\n    int size;\n} b;"]) == {"a"}


def main(include):
    check_self()
    texts = [path.read_text() for path in sorted((pathlib.Path(include) / "gale").glob("*.h"))]
    report = sys.stdin.read()
    if list(refused(report, sized(texts) | ROWS)):
        print(report)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
