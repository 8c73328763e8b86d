#!/usr/bin/env python3
"""Does a cell of the soak take more memory than bench/soak.toml says? Runs the soak, a second or two a cell.

usage: soak.py [full|quick]          (script/bench builds first, and calls this; quick: six cells, one a shape)"""

import os
import re
import subprocess
import sys
import tomllib

import measured
import run

PATH = os.path.join(measured.HERE, "soak.toml")
SOAK = os.path.join(measured.ROOT, "build/test/system/test_system_soak")
LINE = re.compile(r"(?P<cell>.+?) +(?P<rate>[\d.]+) M trees/s +(?P<megabytes>[\d.]+) MB")
MORE, MORE_UNBOUNDED = 1.05, 2.0  # times what is written down


def read(path=PATH):
    """{cell: MB}."""
    with open(path, "rb") as file:
        table = tomllib.load(file)
    if set(table) != {"megabytes"} or not all(isinstance(mb, float) and mb > 0 for mb in table["megabytes"].values()):
        raise ValueError(f"{path}: there must be [megabytes], and in it a number above 0 for each cell")
    return table["megabytes"]


def parse(line):
    """(cell, MB) of a line that the soak prints."""
    found = LINE.fullmatch(line.strip())
    if not found:
        raise ValueError(f"the soak says '{line.strip()}', which is no cell")
    return found["cell"], float(found["megabytes"])


def bound(cell, megabytes):
    return megabytes * (MORE_UNBOUNDED if "pending 0," in cell else MORE)


def judge(cell, megabytes, table):
    """What is wrong, in words, or None."""
    if cell not in table:
        return f"{cell}: bench/soak.toml has no such cell"
    if megabytes <= bound(cell, table[cell]):
        return None
    return f"{cell}: {megabytes:.3f} MB, at most {bound(cell, table[cell]):.3f} ({table[cell]:.3f} before)"


def compare(lines, table):
    """Prints each cell as it comes. ({cell: MB}, [what is wrong])."""
    found, wrong = {}, []
    for line in lines:
        cell, megabytes = parse(line)
        found[cell] = megabytes
        said = judge(cell, megabytes, table)
        wrong += [said] if said else []
        before = run.number(table.get(cell), 6)
        print(f"  {cell:50}{megabytes:8.3f} MB, before {before}: {'MORE' if said else 'no more'}", flush=True)
    return found, wrong


def main(words):
    plan = run.plan_of(words)
    if not plan:
        return __doc__
    load, table = os.getloadavg()[0], read()
    print("\nmemory of the engine in the cells of the soak, at the most")
    with subprocess.Popen([SOAK] + (["1", "named"] if plan.quick else ["2"]), stdout=subprocess.PIPE, text=True) as soak:
        found, wrong = compare(soak.stdout, table)
    if soak.returncode:
        return f"the soak failed: status {soak.returncode}"
    for text in wrong:
        print(f"  more than before: {text}")
    print(f"  {len(found) - len(wrong)} of {len(found)} cells take no more than before")
    run.write(os.path.join(plan.folder, "soak.json"),
              {"commit": measured.commit(), "machine": measured.machine(), "megabytes": found})
    print(measured.conditions(load))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
