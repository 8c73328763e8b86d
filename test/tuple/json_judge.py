#!/usr/bin/env python3
"""The reader of JSON beside Python's: `json_judge.py DRIVER [COUNT [SEED]]`.

Generated texts, valid and broken, go through test/tuple/json_driver.c. Python's reader says what is to come out: at each path, or of the whole
document. They agree on every text, or the text is printed.
"""
import json
import random
import struct
import subprocess
import sys

NAMES = ["a", "b", "user", "name", "tags", "0", "1", "12", "", "é", "x y", 'q"', "\\", "\t", "long" * 9, "😀", "a\x00b"]
PATHS = ["a", "b", "user.name", "user", "tags.0", "tags.1", "tags", "a.b.a", "name", "12", "x y", "0.a", "user.tags.0.name", "é", "nobody"]
DEEP = 32  # of a value; the text may have 512


class Bad(Exception):
    """Python reads it, and gale refuses it."""


def refuse(name):
    raise ValueError(name)


def whole(text):
    """A whole number: beyond 64 bits its digits stay, marked until it is known who asks."""
    number = int(text)
    return number if -(2**63) <= number < 2**63 else Large(text)


class Large(str):
    """The digits of a whole number beyond 64 bits."""


class Object(list):
    """The pairs of an object, also those whose name comes again: the last one counts, but all are looked at."""


def taken(value, keeps_digits, depth=0):
    """The value as gale has it."""
    if isinstance(value, list) and depth == DEEP:
        raise Bad("deep")
    if isinstance(value, Object):
        return {text(name): taken(item, keeps_digits, depth + 1) for name, item in value}
    if isinstance(value, list):
        return [taken(item, keeps_digits, depth + 1) for item in value]
    if isinstance(value, Large):
        return str(value) if keeps_digits else taken(nearest(value), True)
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        raise Bad("large")
    return value


def nearest(digits):
    return float(digits + ".0")


def text(value):
    if any(0xD800 <= ord(c) < 0xE000 for c in value):
        raise Bad("half of a pair")
    return value


def find(value, names):
    if not names:
        return taken(value, False)
    found = None
    if isinstance(value, Object):
        for name, item in value:
            found = find(item, names[1:]) if name == names[0] else found
    elif isinstance(value, list) and names[0].isdigit() and int(names[0]) < len(value):
        found = find(value[int(names[0])], names[1:])
    return found


def depth_of(document):
    depth = most = 0
    inside = escaped = False
    for c in document:
        if inside:
            inside, escaped = (True, False) if escaped else (c != '"', c == "\\")
        elif c == '"':
            inside = True
        elif c in "[{":
            depth += 1
            most = max(most, depth)
        elif c in "]}":
            depth -= 1
    return most


def expected(document, paths):
    """What must come out: a list, or None for a text that is bad."""
    try:
        value = json.loads(document, parse_constant=refuse, parse_int=whole, object_pairs_hook=Object)
        if depth_of(document) > 512:
            return None
        return [find(value, path.split(".")) if path else taken(value, True) for path in paths]
    except (ValueError, Bad, RecursionError, OverflowError):
        return None


def same(a, b):
    """Equal, and of one type: 1 is not 1.0."""
    if isinstance(a, float) and isinstance(b, float):
        return struct.pack("d", a) == struct.pack("d", b)
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    return len(a) == len(b) and all(map(same, a, b)) if isinstance(a, list) else a == b


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def blanks(self):
        return "".join(self.random.choices(" \n\t\r", k=self.random.choice([0, 0, 0, 0, 1, 3])))

    def string(self, content=None):
        pick = self.random
        if content is None:
            content = "".join(pick.choices(["a", "xyz", "/", "é", "😀", "\n", '"', "\\", "\x7f", "\x1f", "\u2028", "0123456789abcdef"], k=pick.choice([0, 1, 2, 5, 40])))
        made = json.dumps(content, ensure_ascii=pick.random() < 0.5)
        if pick.random() < 0.1:
            made = made[:-1] + pick.choice(["\\/", "\\u0000", "\\uD83D\\ude00", "\\ud800", "\\udc00x", "\\ud800\\u0041", "\\b\\f"]) + '"'
        return made

    def number(self):
        pick = self.random
        kinds = [
            lambda: str(pick.randint(-9, 1000)),
            lambda: str(pick.choice([2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 10**18, 10**19, 10**30, 10**400])),
            lambda: repr(pick.uniform(-1e6, 1e6)),
            lambda: repr(struct.unpack("d", struct.pack("Q", pick.getrandbits(64)))[0]).replace("nan", "0").replace("inf", "1"),
            lambda: f"{pick.getrandbits(64)}.{pick.getrandbits(80)}e{pick.randint(-350, 300)}",
            lambda: pick.choice(["-0", "-0.0", "0e5", "1E+2", "1e-400", "1e400", "-1.5e+3", "0.1", "5e-324", "1e23", "9007199254740993"]),
            lambda: "0." + "0" * pick.randint(0, 400) + str(pick.getrandbits(100)),
        ]
        return pick.choice(kinds)()

    def value(self, depth):
        pick = self.random
        kind = pick.random()
        if depth and kind < 0.35:
            count = pick.choice([0, 1, 2, 3, 6] if depth > 1 else [0, 1, 2, 3, 20])
            name = lambda: self.string(pick.choice(NAMES)) if pick.random() < 0.8 else self.string()
            items = [self.blanks() + name() + self.blanks() + ":" + self.value(depth - 1) for _ in range(count)]
            made = "{" + ",".join(items or [self.blanks()]) + "}"
        elif depth and kind < 0.55:
            made = "[" + ",".join([self.value(depth - 1) for _ in range(pick.choice([0, 1, 2, 3, 8]))] or [self.blanks()]) + "]"
        elif kind < 0.75:
            made = self.string()
        elif kind < 0.92:
            made = self.number()
        else:
            made = pick.choice(["true", "false", "null"])
        return self.blanks() + made + self.blanks()

    def nested(self):
        depth = self.random.choice([31, 32, 33, 100, 511, 512, 513])
        pairs = self.random.choices([("[", "]"), ('{"a":', "}")], k=depth)
        return "".join(o for o, _ in pairs) + "1" + "".join(c for _, c in reversed(pairs))

    def broken(self, made):
        pick = self.random
        at = pick.randrange(len(made) + 1)
        what = pick.choice(['"', "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "\x01", " ", "nul", "NaN", "\ufeff", "+1", "01", "'", "/"])
        return pick.choice([made[:at], made[:at] + what + made[at:], made[:at] + made[at + 1 :], made[:at] + what + made[at + 1 :], made + what])

    def document(self):
        made = self.nested() if self.random.random() < 0.02 else self.value(self.random.choice([1, 1, 2, 2, 3, 4]))
        return self.broken(made) if self.random.random() < 0.4 else made

    def paths(self):
        return self.random.choices(PATHS + ["", ""], k=self.random.choice([1, 2, 5, 12]))


def batch(driver, maker, count):
    cases = [(maker.document(), maker.paths()) for _ in range(count)]
    pieces = [piece.encode() for document, paths in cases for piece in (", ".join(paths), document)]
    given = b"".join(struct.pack("<I", len(piece)) + piece for piece in pieces)
    done = subprocess.run([driver], input=given, stdout=subprocess.PIPE, check=True)
    lines = done.stdout.decode().split("\n")
    assert len(lines) == count + 1, f"{len(lines)} lines for {count} texts"
    for (document, paths), line in zip(cases, lines):
        wanted = expected(document, paths)
        got = None if line.startswith("bad ") else json.loads(line)
        if not same(wanted, got):
            sys.exit(f"differs: {document!r}\npaths: {paths}\nPython: {wanted!r}\ngale: {line}")
    return sum(not line.startswith("bad ") for line in lines[:-1])


def main(driver, count=6000, seed=None):
    sys.setrecursionlimit(4000)
    sys.set_int_max_str_digits(0)
    seed = int(seed or random.SystemRandom().getrandbits(32))
    maker = Maker(seed)
    print("seed", seed)
    good = done = 0
    while done < int(count):
        good += batch(driver, maker, 2000)
        done += 2000
    print(f"{done} texts, {good} of them good: both readers agree")
    assert done / 5 < good < done * 4 / 5


main(*sys.argv[1:])
