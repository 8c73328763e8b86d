#!/usr/bin/env python3
"""The table of src/base/tens.c, made from whole numbers without bounds: `tens.py --write FILE`, or `tens.py FILE` to compare."""
import sys

LEAST, MOST = -342, 324
HEAD = '''/* Made by test/base/tens.py, which base/tens_table compares it with. */
#include "base/tens.h"

/* clang-format off */
const gx_ten gx_tens[GX_TENS_MOST - GX_TENS_LEAST + 1] = {
'''


def bits(power):
    """The highest 128 bits of 10**power, rounded down."""
    if power >= 0:
        number = 10**power
        return number >> number.bit_length() - 128 if number.bit_length() > 128 else number << 128 - number.bit_length()
    divisor = 10**-power
    return (1 << 127 + divisor.bit_length()) // divisor  # 10**power is no power of two, so that this has 128 bits


def table():
    rows = []
    for power in range(LEAST, MOST + 1):
        number = bits(power)
        assert number.bit_length() == 128, power
        rows.append(f"    {{ 0x{number >> 64:016x}, 0x{number & (1 << 64) - 1:016x} }}, /* {power} */\n")
    return HEAD + "".join(rows) + "};\n"


def main(arguments):
    if arguments[:1] == ["--write"]:
        with open(arguments[1], "w", encoding="ascii") as file:
            file.write(table())
        return 0
    with open(arguments[0], encoding="ascii") as file:
        return 0 if file.read() == table() else "the table differs from what test/base/tens.py makes"


sys.exit(main(sys.argv[1:]))
