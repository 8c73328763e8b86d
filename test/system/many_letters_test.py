#!/usr/bin/env python3
"""A file of many dead letters is shown in the memory that one of few takes.

usage: many_letters_test.py GALE
"""

import json
import os
import subprocess
import sys
import tempfile

GALE = os.path.abspath(sys.argv[1])
FEW, MANY, MORE_KB = 2000, 20000, 2048


def write_letters(path, count):
    letter = {"component": "lines", "stream": "default", "tuple": ["x" * 100, {"a": [1, 2, 3]}], "reason": "failed",
              "text": "no", "place": None, "task": 0, "attempts": 3}
    with open(path, "w") as file:
        for number in range(count):
            file.write(json.dumps(letter | {"message_id": number}) + "\n")


def memory(path, *options):
    """In kB, at its most."""
    with open(os.devnull, "w") as out:
        process = subprocess.Popen([GALE, "dead-letters", "show", path, *options], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, status
    return usage.ru_maxrss


def main():
    with tempfile.TemporaryDirectory() as folder:
        write_letters(folder + "/few", FEW)
        write_letters(folder + "/many", MANY)
        for options in (), ("--json",):
            few, many = memory(folder + "/few", *options), memory(folder + "/many", *options)
            print(f"{FEW} letters take {few} kB, {MANY} take {many} kB {' '.join(options)}")
            assert many < few + MORE_KB


if __name__ == "__main__":
    main()
