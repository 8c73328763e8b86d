#!/usr/bin/env python3
"""The programs of docs/python.md do what stands behind them: each Python block is the file that its first line names, and what follows a
"$ " is a command and what it prints.

usage: documents_test.py PAGE...
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def steps(text):
    """("file", its name, its text) and ("command", what is to be run, what it prints), in order."""
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.M | re.S):
        if language == "python":
            yield "file", re.match(r"# (\S+\.py)\n", block).group(1), block
        elif block.startswith("$ "):
            command, printed = block[2:].split("\n", 1)
            yield "command", command, printed


def follow(page, folder):
    """How many commands there were."""
    commands = 0
    for kind, what, text in steps(page.read_text()):
        if kind == "file":
            (folder / what).write_text(text)
            continue
        commands += 1
        command = what.replace("python3", sys.executable)
        done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120)
        assert done.stdout == text, f"{page}: {what} printed {done.stdout!r}, and {done.stderr}"
    return commands


def main(*pages):
    os.environ["LC_ALL"] = "C"  # for sort
    for page in map(pathlib.Path, pages):
        with tempfile.TemporaryDirectory() as folder:
            count = follow(page, pathlib.Path(folder))
        assert count >= 1, f"{page} has no command"
        print(f"{page.name}: {count} commands do what it says")


if __name__ == "__main__":
    main(*sys.argv[1:])
