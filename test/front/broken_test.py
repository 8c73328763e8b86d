#!/usr/bin/env python3
"""Every file of broken/ is refused by `gale check` with what stands in the file of the same name that ends with .expected: line,
column, severity and text of each problem. A file named NAME.ARGUMENTS.yaml is checked with the arguments that its first line has
behind `# gale check`. Files named script-... are of classes that not every gale has.

usage: broken_test.py GALE FOLDER [--renew]
"""

import json
import pathlib
import subprocess
import sys


def check(gale, path):
    first = path.read_bytes().split(b"\n", 1)[0].decode("utf-8", "replace")
    arguments = first.split("# gale check", 1)[1].split() if first.startswith("# gale check") else []
    done = subprocess.run([gale, "check", "--json", *arguments, path.name], cwd=path.parent, capture_output=True, timeout=60)
    problems = json.loads(done.stdout)["problems"]
    return done.returncode, "".join(f"{p['file']}:{p['line']}:{p['column']}: {p['severity']}: {p['text']}\n" for p in problems)


def main(gale, folder, renew=None):
    files = sorted(pathlib.Path(folder).glob("*.yaml"))
    classes = subprocess.run([gale, "help", "classes"], capture_output=True, text=True, timeout=60, check=True).stdout
    if "gale.bolt.Filter" not in classes:
        files = [path for path in files if not path.name.startswith("script-")]
    wrong = 0
    for path in files:
        expected = path.with_suffix(".expected")
        code, said = check(str(pathlib.Path(gale).resolve()), path)
        if renew:
            expected.write_text(said)
        if code != 2 or said != expected.read_text():
            wrong += 1
            print(f"{path.name}: exit code {code}\n  expected:\n{expected.read_text()}  said:\n{said}")
    print(f"{len(files)} broken files, {wrong} not refused as they should be")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
