#!/usr/bin/env python3
"""The tables of docs/semantics/acking.md are what docs/semantics/acking_odds.py computes, and its SplitMix64 is the one of
src/base/random.h.

usage: acking_odds_test.py ROOT
"""

import pathlib
import re
import sys


def missing(page, tables):
    """The lines of tables that the page does not hold, in order."""
    lines = page.splitlines()
    return [line for table in tables for line in table.splitlines() if line not in lines]


def constants(header):
    """Shifts and factors of gx_random_mix, in the order of the text."""
    body = header.split("gx_random_mix(uint64_t z) {")[1].split("}")[0]
    return [int(word, 0) for word in re.findall(r">> (\d+)|UINT64_C\((0x[0-9a-f]+)\)", body) for word in word if word]


def mix(numbers, state, gamma):
    """SplitMix64 made of what the header says."""
    shift1, factor1, shift2, factor2, shift3 = numbers
    mask = (1 << 64) - 1
    z = (state + gamma) & mask
    z = ((z ^ (z >> shift1)) * factor1) & mask
    z = ((z ^ (z >> shift2)) * factor2) & mask
    return z ^ (z >> shift3)


def check_self():
    assert missing("a\nb\n", ["a\nb"]) == []
    assert missing("a\nc\n", ["a\nb"]) == ["b"]


def main(root):
    check_self()
    root = pathlib.Path(root)
    sys.path.insert(0, str(root / "docs" / "semantics"))
    sys.dont_write_bytecode = True
    import acking_odds as odds

    messages = []
    for line in missing((root / "docs/semantics/acking.md").read_text(), [odds.odds_table(), odds.linear_table()]):
        messages.append(f"docs/semantics/acking.md lacks this line of acking_odds.py: {line}")
    numbers = constants((root / "src/base/random.h").read_text())
    if len(numbers) != 5 or mix(numbers, 12345, 678901) != next(odds.splitmix64(12345, 678901)):
        messages.append(f"src/base/random.h mixes by {numbers}, docs/semantics/acking_odds.py otherwise")
    if odds.dependent(odds.take(odds.xorshift64(9), 65)) is None:
        messages.append("65 ids of 64 bits are always dependent, and were not")
    if not odds.cancels([5, 6, 3], [0, 1, 2]) or odds.cancels([5, 6, 2], [0, 1, 2]):
        messages.append("acking_odds.cancels does not add")
    print("\n".join(messages) or "the page says what is computed")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
