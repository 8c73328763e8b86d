#!/usr/bin/env python3
"""The programs of docs/python.md do what stands behind them: each Python block is the file that its first line names, and what follows a
"$ " is a command and what it prints. Every public function of the package has its signature there.

usage: documents_test.py PAGE...
"""

import functools
import inspect
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import gale
from gale import collector, context, metrics, remote, state, testing, topology, watch


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


# Public among the package's own modules alone.
OURS = {collector.Collector: {"here", "forget_watches", "end", "emit_encoded", "check_row"}, watch.Watch: {"forget"}, metrics.Metric: set(), context.Context: {"end"},
        topology.Topology: {"subscribe"}, topology.Inputs: set(), remote.Remote: set(), state.State: set(),
        gale.Runtime: set(), testing.Test: set()}


def signature(name, function):
    """As a reader writes it: fail(tuple, text="", reason=Reason.FAILED)."""
    text = str(inspect.signature(function)).replace("'", '"')
    return name + re.sub(r"<(\w+\.\w+): -?\d+>", r"\1", text)


def signatures():
    for kind, ours in OURS.items():
        for name in vars(kind).keys() - ours:
            if not name.startswith("_") and callable(getattr(kind, name)):
                bound = isinstance(vars(kind)[name], classmethod)
                function = getattr(kind, name)
                yield signature(name, function if bound else functools.partial(function, None))


def has_signatures(page):
    """But for groupings that have another one's."""
    text = page.read_text()
    missing = [each for each in signatures() if f"`{each}`" not in text]
    missing = [each for each in missing if not (re.match(r"\w+_grouping\(", each) and f"`{each.partition('(')[0]}`" in text)]
    assert not missing, f"{page} lacks {', '.join(missing)}"


def main(*pages):
    os.environ["LC_ALL"] = "C"  # for sort
    for page in map(pathlib.Path, pages):
        has_signatures(page)
        with tempfile.TemporaryDirectory() as folder:
            count = follow(page, pathlib.Path(folder))
        assert count >= 1, f"{page} has no command"
        print(f"{page.name}: {count} commands do what it says")


if __name__ == "__main__":
    main(*sys.argv[1:])
