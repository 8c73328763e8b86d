#!/usr/bin/env python3
"""Makes text for tests: words with Zipf frequencies, varied white space, the same bytes for the same seed.

usage: make_text.py [--seed N] [--vocabulary N] MEGABYTES > FILE

The words are made up; some hold UTF-8, some punctuation, a few are not words at all ("--", "3.14"). Between
them stand blanks, tabs, vertical tabs, form feeds and returns, one or several; lines differ in length, and some
are blank: all of it white space to `tr -s '[:space:]' '\\n'` in the C locale. The last line has no newline when
the seed is odd.
"""

import argparse
import itertools
import random
import sys

BLOCK_WORDS = 2000
POOL_BLOCKS = 500
SYLLABLES = [c + v for c in "bcdfghjklmnprstvwz" for v in ("a", "e", "i", "o", "u", "ai", "ou")]
FOREIGN = ["ä", "é", "ß", "ø", "ж", "д", "λ", "ω", "語", "字", "한", "🙂", "ñ", "ő"]
MARKS = [",", ".", ";", ":", "!", "?", "'", '"', ")", "…", "”"]
ODD = ["--", "—", "3.14", "C++", "a\\b", "{}", "*", "#1", "don't", "e.g.", "\u00a0"]
# Weights by repetition: mostly one blank, now and then something else.
GAPS = [" "] * 40 + ["  ", "\t", " \t ", "\n", "\n", "\n", "\n\n", " \n", "\n  ", "\n \t\n", "\v", "\f", "\r", "   "]


def make_words(rng, count):
    words = dict.fromkeys(ODD)
    while len(words) < count:
        word = "".join(rng.choice(SYLLABLES) for _ in range(rng.choice((1, 2, 2, 2, 3, 3, 4))))
        kind = rng.random()
        if kind < 0.05:
            word = rng.choice(FOREIGN) + word
        elif kind < 0.10:
            word += rng.choice(FOREIGN)
        elif kind < 0.20:
            word = word.capitalize()
        elif kind < 0.30:
            word += rng.choice(MARKS)
        words[word] = None
    made = list(words)[:count]
    rng.shuffle(made)
    return made


def make_blocks(rng, vocabulary):
    """Blocks of text: each of the pool once, then any of them again and again: faster than drawing words."""
    words = make_words(rng, vocabulary)
    weights = list(itertools.accumulate(1 / (rank + 1) for rank in range(len(words))))
    pool = []
    for _ in range(POOL_BLOCKS):
        drawn = rng.choices(words, cum_weights=weights, k=BLOCK_WORDS)
        gaps = rng.choices(GAPS, k=BLOCK_WORDS)
        pool.append("".join(itertools.chain.from_iterable(zip(drawn, gaps))).encode())
        yield pool[-1]
    while True:
        yield b"".join(rng.choices(pool, k=100))


def main():
    parser = argparse.ArgumentParser(description="Makes text with Zipf frequencies for tests.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vocabulary", type=int, default=50_000)
    parser.add_argument("megabytes", type=float)
    options = parser.parse_args()
    if options.vocabulary < 1 or options.megabytes < 0:
        parser.error("the vocabulary is at least 1, the size at least 0")
    rng = random.Random(options.seed)
    left = int(options.megabytes * 1_000_000)
    out = sys.stdout.buffer
    for chunk in make_blocks(rng, options.vocabulary):
        if len(chunk) >= left:
            tail = chunk[:left].decode(errors="ignore").encode().rstrip()
            out.write(tail if options.seed % 2 else tail + b"\n")
            break
        out.write(chunk)
        left -= len(chunk)


if __name__ == "__main__":
    main()
