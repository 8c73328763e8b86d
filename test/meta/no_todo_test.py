#!/usr/bin/env python3
"""Nothing in the repository is marked as left to do: what is not done is not there, and what is planned is not code.

usage: no_todo_test.py ROOT
"""

import pathlib
import re
import sys
import tempfile

# In pieces, so that this file passes. A word alone in quotes is a name, of a file for example.
MARKS = re.compile(r'(?<!")\b(' + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r')\b(?!")')
FOLDERS = [".ci", "bench", "bindings", "docs", "examples", "include", "script", "src", "templates", "test", "web"]
TEXT = {".c", ".h", ".cpp", ".py", ".md", ".txt", ".cmake", ".yaml", ".json", ".sh", ".toml", ""}


def files(root):
    root = pathlib.Path(root)
    yield from (path for path in sorted(root.iterdir()) if path.is_file() and path.suffix in TEXT)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix in TEXT and "__pycache__" not in path.parts and "corpus" not in path.parts:
                yield path


def search(root):
    for path in files(root):
        for number, line in enumerate(path.read_bytes().decode("utf-8", "replace").splitlines(), 1):
            found = MARKS.search(line)
            if found:
                yield f"{path.relative_to(root)}:{number}: {found.group()}: do it, or leave it out"


def check_self():
    with tempfile.TemporaryDirectory() as root:
        source = pathlib.Path(root) / "src" / "x.c"
        source.parent.mkdir()
        source.write_text("int x;\n/* TO" + "DO: more */\n")
        assert list(search(root)) == ["src/x.c:2: TO" + "DO: do it, or leave it out"], list(search(root))


def main(root):
    check_self()
    messages = list(search(root))
    print("\n".join(messages) or "nothing is left to do")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
