#!/usr/bin/env python3
"""The figures of acking.md: what a false completion needs, and why ids come from a generator that is not linear over XOR.

usage: acking_odds.py        prints the tables as they stand on the page; test/meta compares them
"""

import fractions
import random
import re

BITS = 64
MASK = (1 << BITS) - 1
YEAR = fractions.Fraction(36525 * 86400, 100)  # seconds


def short(number):
    """Three digits: 585, 5.42e-14, 585,000."""
    number = float(number)
    if number >= 1000:
        return f"{float(f'{number:.3g}'):,.0f}"
    text = f"{number:.3g}"
    return re.sub(r"e([+-])0*(\d+)", r"e\g<1>\g<2>", text)


def odds_table():
    """Updates that leave a tree open, at odds of 2^-64 each."""
    rows = ["| acks a second | false completions a second | a year | expected once in |", "| --- | --- | --- | --- |"]
    for rate in 10**6, 10**9:
        a_second = fractions.Fraction(rate, 2**BITS)
        years = 1 / (a_second * YEAR)
        rows.append(f"| {rate:,} | {short(a_second)} | {short(a_second * YEAR)} | {short(years)} years |")
    return "\n".join(rows)


def splitmix64(state, gamma):
    """src/base/random.h."""
    while True:
        state = (state + gamma) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def fold(state, gamma):
    """gx_random_id of src/base/random.h, but that zero becomes one: wyrand's mixing."""
    while True:
        state = (state + gamma) & MASK
        product = state * (state ^ 0xE7037ED1A0B428DB)
        yield (product >> BITS) ^ (product & MASK)


def xorshift64(state):
    """Marsaglia's, with shifts 13, 7, 17: each step is a matrix over GF(2) times the state."""
    while True:
        state ^= (state << 13) & MASK
        state ^= state >> 7
        state ^= (state << 17) & MASK
        yield state


def take(generator, count):
    return [next(generator) for _ in range(count)]


def relation(bits):
    """Berlekamp and Massey: the shortest linear recurrence of a sequence of bits, as the places of its ones (0 first)."""
    current, previous, length, since = 1, 1, 0, 1
    for n, bit in enumerate(bits):
        discrepancy = bit
        for i in range(1, length + 1):
            discrepancy ^= (current >> i & 1) & bits[n - i]
        if not discrepancy:
            since += 1
        elif 2 * length <= n:
            current, previous, length, since = current ^ previous << since, current, n + 1 - length, 1
        else:
            current, since = current ^ previous << since, since + 1
    return length, [length - i for i in range(length, -1, -1) if current >> i & 1]


def dependent(ids):
    """How many of the ids, in order, until one is the XOR of some before it; None when that does not happen."""
    basis = {}
    for count, number in enumerate(ids, 1):
        while number and number.bit_length() in basis:
            number ^= basis[number.bit_length()]
        if not number:
            return count
        basis[number.bit_length()] = number
    return None


def cancels(ids, places):
    total = 0
    for place in places:
        total ^= ids[place]
    return total == 0


def linear_table():
    """The subset of successive xorshift ids that cancels, whatever the seed; and the same subset of SplitMix64's, and
    of the ids that gale draws."""
    length, places = relation([number & 1 for number in take(xorshift64(1), 4 * BITS)])
    seeds = random.Random(1)
    trials = 1000
    counts = []
    for make in (lambda: xorshift64(seeds.getrandbits(BITS) | 1),
                 lambda: splitmix64(seeds.getrandbits(BITS), seeds.getrandbits(BITS) | 1),
                 lambda: fold(seeds.getrandbits(BITS), seeds.getrandbits(BITS) | 1)):
        counts.append(sum(cancels(take(make(), length + 1), places) for _ in range(trials)))
    return "\n".join([
        "| generator | trees of which all but those edges are acked | of them falsely complete |",
        "| --- | --- | --- |",
        f"| xorshift64 (13, 7, 17): {len(places)} of {length + 1} successive ids | {trials:,} | {counts[0]:,} |",
        f"| SplitMix64: ids at the same places | {trials:,} | {counts[1]:,} |",
        f"| wyrand's fold, gale's: ids at the same places | {trials:,} | {counts[2]:,} |",
    ])


if __name__ == "__main__":
    print(odds_table(), linear_table(), sep="\n\n")
