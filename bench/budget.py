#!/usr/bin/env python3
"""Do trees take as many instructions as bench/budget.toml grants them?

usage: budget.py [FLOW...]          (script/bench builds first, and calls this)

Counted on a processor that can do little: the C library takes another memcpy on another processor otherwise."""

import os
import sys
import tomllib

import measured

TOLERANCE = 0.02
TREES = {"word-count": 4_000}  # of the shorter of two runs; the longer has three times as many
MODEST = "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512VL,-EVEX,-ERMS,-FSRM,-SSE4_2,-SSSE3"


def read(path):
    """{flow: instructions a tree}."""
    with open(path, "rb") as file:
        table = tomllib.load(file)
    for flow, entry in table.items():
        if set(entry) != {"instructions", "reason"} or not entry["reason"].strip() or entry["instructions"] <= 0:
            raise ValueError(f"{path}: [{flow}] needs instructions and a reason, and nothing else")
    return table


def judge(flow, granted, counted):
    """What is wrong, in words, or None."""
    share = counted / granted - 1
    if abs(share) <= TOLERANCE:
        return None
    found = f"{flow}: {counted:.0f} instructions a tree, {granted} are granted ({share:+.1%})"
    if share > 0:
        return f"{found}: find out why; if it is worth it, bench/budget.toml grants them with a reason, in the same commit"
    return f"{found}: write it down in bench/budget.toml, in the same commit"


def count(flow):
    few = TREES.get(flow, 40_000)
    return measured.per_tree(measured.ours()["gale"], {"flow": flow}, few, 3 * few)[0]


def main(names):
    table = read(os.path.join(measured.HERE, "budget.toml"))
    unknown = [name for name in names if name not in table]
    if unknown:
        measured.say(f"no budget for '{unknown[0]}'; there are {', '.join(table)}")
        return 2
    if not measured.has_valgrind():
        return 2
    os.environ["GLIBC_TUNABLES"] = MODEST
    wrong = []
    for flow in names or table:
        granted, counted = table[flow]["instructions"], count(flow)
        print(f"  {flow:18}{counted:9,.0f} of {granted:,}", flush=True)
        wrong.append(judge(flow, granted, counted))
    wrong = [text for text in wrong if text]
    for text in wrong:
        measured.say(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
