#!/usr/bin/env python3
"""The window bolt equals a slow plain model that keeps every tuple, over random streams: tumbling and sliding with many
ratios, by the clock and by the tuples' own time with disorder, told when windows end and when they change, several keys,
quiet keys, all aggregates, restarts with other numbers of tasks. Sketches are within the errors that are stated.

usage: window_model.py DRIVER [STREAMS [SEED]]
"""

import json
import math
import random
import subprocess
import sys
from fractions import Fraction

SECOND = 10**9
AGGREGATES = ["count", "count(x)", "sum(x)", "avg(x)", "min(x)", "max(x)", "first(y)", "last(y)", "distinct(y)",
              "percentile(x, 0.5)", "percentile(x, 0.99) as p99", "top(y, 3)", "top(y, 1) as best",
              "top(y, 2, w) as heaviest"]


class Tuple:
    def __init__(self, number, time, key, x, y, w):
        self.number, self.time, self.key, self.x, self.y, self.w = number, time, key, x, y, w


def is_near(got, exact, slack):
    return got is not None and abs(Fraction(got) - exact) <= slack


def check_sum(got, xs, divide):
    """Exact for i64; of f64, 2^-52 of the result and a bit of the sum of sizes."""
    if not xs:
        return got is None
    exact = sum(Fraction(x) for x in xs)
    sizes = sum(abs(Fraction(x)) for x in xs)
    if divide:
        exact /= len(xs)
    elif all(isinstance(x, int) for x in xs):
        return got == int(exact) if -2**63 <= exact < 2**63 else got is None
    return is_near(got, exact, abs(exact) / 2**51 + sizes * len(xs)**2 / 2**104)


def check_percentile(got, xs, share):
    if not xs:
        return got is None
    rank = max(1, math.ceil(share * len(xs)))
    value = float(sorted(xs)[rank - 1])
    near, far = sorted((Fraction(value), Fraction(value) * Fraction(255, 256)))
    return near <= Fraction(got) <= far


def check_distinct(got, ys, limits):
    exact = len(set(map(repr, ys)))
    panes_exact = exact <= limits["exact"]
    return got == exact if panes_exact else abs(got / exact - 1) < 0.1


def check_top(got, weighed, n, limits):
    """weighed: pairs of a value and how much it counts."""
    counts = {}
    for y, weight in weighed:
        if weight:
            counts[repr(y)] = counts.get(repr(y), 0) + weight
    told = [(repr(y), count) for y, count in got]
    if len(counts) < 2 * limits["counters"]:
        order = sorted(counts.items(), key=lambda item: (-item[1], place_of(item[0])))
        return told == order[:n]
    error = sum(counts.values()) / limits["counters"]
    sure = [y for y, count in counts.items() if count > error]
    if len(sure) <= n and not all(y in dict(told) or counts[y] - error <= told[-1][1] for y in sure):
        return False
    return all(counts[y] - error <= count <= counts[y] for y, count in told)


def place_of(text):
    """gale's order of values: by type, then by value."""
    value = eval(text)
    return (0, value, "") if isinstance(value, int) else (1, 0, value.encode())


def check_call(call, got, tuples, limits):
    xs = [t.x for t in tuples if t.x is not None]
    ys = [t.y for t in tuples if t.y is not None]
    word = call.split("(")[0]
    if call == "count":
        return got == len(tuples)
    if word == "count":
        return got == len(xs)
    if word in ("sum", "avg"):
        return check_sum(got, xs, word == "avg")
    if word in ("min", "max"):
        return got == (min(xs) if word == "min" else max(xs)) if xs else got is None
    if word in ("first", "last"):
        valued = [t for t in tuples if t.y is not None]
        if not valued:
            return got is None
        chosen = min(valued, key=lambda t: (t.time, t.number)) if word == "first" else \
            max(valued, key=lambda t: (t.time, t.number))
        return got == chosen.y
    if word == "distinct":
        return check_distinct(got, ys, limits)
    if word == "percentile":
        return check_percentile(got, xs, Fraction(call.split(",")[1].split(")")[0].strip()))
    weighed = [(t.y, t.w if "w)" in call else 1) for t in tuples if t.y is not None]
    return check_top(got, weighed, int(call.split(",")[1].split(")")[0]), limits)


class Model:
    """By definition: every tuple, every window, every time."""

    def __init__(self, length, slide, by_event, changes):
        self.length, self.slide, self.by_event, self.changes = length, slide, by_event, changes
        self.tuples, self.keys = [], []
        self.boundary = None if by_event else 0
        self.mark = None
        self.told = {}

    def inside(self, key, end):
        return [t for t in self.tuples if t.key == key and end - self.length <= t.time < end]

    def tell_changed(self):
        rows, end = [], self.boundary + self.slide
        for key in self.keys:
            inside = self.inside(key, end)
            now = frozenset(t.number for t in inside)
            if now == self.told.get(key, frozenset()):
                continue
            self.told[key] = now
            if inside or self.length != self.slide:
                rows.append((key, end, inside))
        return rows

    def move_on(self, time):
        boundary, rows = time // self.slide * self.slide, []
        if self.boundary is None:
            if not self.tuples:
                self.boundary = boundary
                return rows
            self.boundary = min(t.time for t in self.tuples) // self.slide * self.slide
            if self.boundary > boundary:
                self.boundary = boundary
        while self.boundary < boundary:
            end = self.boundary + self.slide
            if self.changes:
                rows += self.tell_changed()
            else:
                rows += [(key, end, inside) for key in self.keys for inside in [self.inside(key, end)] if inside]
            self.boundary = end
            self.tuples = [t for t in self.tuples if t.time >= self.boundary + self.slide - self.length]
        return rows

    def take(self, tuple_):
        if self.by_event and self.mark is not None and tuple_.time < self.mark:
            return None
        rows = [] if self.by_event else self.move_on(tuple_.time)
        self.tuples.append(tuple_)
        if tuple_.key not in self.keys:
            self.keys.append(tuple_.key)
        return rows

    def watermark(self, mark):
        self.mark = mark if self.mark is None else max(mark, self.mark)
        return self.move_on(self.mark)

    def tick(self, now):
        rows = [] if self.by_event else self.move_on(now)
        return rows + (self.tell_changed() if self.changes and self.boundary is not None else [])

    def finish(self, now):
        if not self.by_event:
            rows = self.move_on(now)
            return rows + (self.tell_changed() if self.changes else self.move_on(self.boundary + self.slide))
        if not self.tuples:
            return self.tell_changed() if self.changes and self.boundary is not None else []
        newest = max(t.time for t in self.tuples)
        rows = self.move_on(newest + self.length + self.slide)
        return rows + (self.tell_changed() if self.changes else [])


class Stream:
    """One random stream, through both."""

    def __init__(self, driver, seed):
        self.rng = rng = random.Random(seed)
        self.seed = seed
        self.by_event = rng.random() < 0.5
        self.changes = rng.random() < 0.4
        self.unit = 1 if self.by_event else SECOND // rng.choice((1, 1, 10, 1000))
        length = rng.choice((1, 2, 3, 5, 7, 12, 30, 60))
        slide = length if rng.random() < 0.3 else rng.randint(1, length)
        self.length, self.slide = length * self.unit, slide * self.unit
        self.key = rng.choice(("-", "k", "k", "k", "k, l"))
        self.calls = rng.sample(AGGREGATES, rng.randint(1, len(AGGREGATES)))
        self.limits = {"exact": rng.choice((5, 40, 4096)), "counters": rng.choice((2, 10, 1000))}
        self.now, self.number, self.newest, self.lines = 0, 0, 0, []
        self.tasks = 1 if self.key == "-" else rng.randint(1, 3)
        self.lateness = rng.choice((0, 1, 5, 40))
        self.reals = rng.choice((0, 0, 0.3, 1))
        self.spread = rng.choice((1, 3, 30))
        self.model = Model(self.length, self.slide, self.by_event, self.changes)
        self.process = subprocess.Popen([driver], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        seconds = [repr(self.length / (1 if self.by_event else SECOND)), repr(self.slide / (1 if self.by_event else SECOND))]
        self.say("bolt", self.key, ", ".join(self.calls), *seconds, "time" if self.by_event else "-",
                 "change" if self.changes else "close", self.limits["exact"], self.limits["counters"], self.tasks)

    def fail(self, what):
        print("stream %d: %s" % (self.seed, what))
        print("\n".join(self.lines))
        sys.exit(1)

    def say(self, *words):
        line = "\t".join(str(word) for word in words)
        self.lines.append(line)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        said = []
        while True:
            line = self.process.stdout.readline()
            if not line:
                self.fail("the driver has ended: %s" % said)
            if line == ".\n":
                return said
            said.append(line.rstrip("\n"))

    def label(self, time):
        if self.by_event:
            return time
        whole = self.length % SECOND == 0 and self.slide % SECOND == 0
        return time // SECOND if whole else time / 1e9

    def compare(self, said, wanted):
        rows = []
        for line in said:
            if line.startswith("!") and "than an i64 holds" in line:
                continue
            if not line.startswith("~"):
                self.fail("unexpected: " + line)
            rows.append(json.loads(line[1:]))
        keys = 0 if self.key == "-" else self.key.count(",") + 1
        got = {(tuple(row[:keys]), row[keys + 1]): row for row in rows}
        if len(got) != len(rows) or len(rows) != len(wanted):
            keys_wanted = {(k, self.label(e)): len(i) for k, e, i in wanted}
            self.fail("%d rows, not %d; not wanted: %s; not there: %s" % (
                len(rows), len(wanted), [row for k, row in got.items() if k not in keys_wanted],
                [(k, n) for k, n in keys_wanted.items() if k not in got]))
        if self.tasks == 1 and [row[keys + 1] for row in rows] != sorted(row[keys + 1] for row in rows):
            self.fail("rows are not in the order of their ends: %s" % rows)
        for key, end, inside in wanted:
            row = got.get((key, self.label(end)))
            if row is None:
                self.fail("no row of %s that ends at %s: %s" % (key, self.label(end), rows))
            if row[keys] != self.label(end - self.length):
                self.fail("begins at another time: %s" % row)
            for call, value in zip(self.calls, row[keys + 2:]):
                if not check_call(call, value, inside, self.limits):
                    self.fail("%s of %s: %r of %s" % (call, row[:keys + 2], value, [(t.x, t.y, t.time) for t in inside]))

    def word(self, value):
        if value is None:
            return "n"
        return ("i%d" if isinstance(value, int) else "f%r" if isinstance(value, float) else "s%s") % value

    def values(self):
        rng = self.rng
        x = None if rng.random() < 0.1 else rng.choice((rng.randint(-5, 5), rng.randint(0, 1000), rng.randint(0, 10**6)))
        if x is not None and rng.random() < self.reals:
            x = rng.choice((x / 7, float(x), x * 1e10, x / 1e10, -x * 0.1))
        if x is not None and rng.random() < 0.002:
            x = rng.choice((2**63 - 1, -2**63))
        number = min(rng.randrange(self.spread), rng.randrange(self.spread))
        y = rng.choice((None, number, "w%d" % number, "a word that is longer than sixteen bytes %d" % number))
        return x, y, rng.choice((None, 0, 1, 1, 1, 7, rng.randint(0, 10**6), 10**12))

    def take(self):
        rng = self.rng
        key = tuple(rng.choice(("a", "b", 7, "a key that is longer than sixteen bytes"))
                    for _ in range(0 if self.key == "-" else self.key.count(",") + 1))
        x, y, w = self.values()
        time = self.newest - rng.randint(0, self.lateness + 1) if self.by_event else self.now
        t = Tuple(self.number, time, key, x, y, w)
        self.number += 1
        full = (key + (None, None))[:2]
        said = self.say("tuple", *(self.word(v) for v in (full[0], full[1], x, y, w, time if self.by_event else 0)))
        wanted = self.model.take(t)
        if wanted is None:
            if len(said) != 1 or "is behind the watermark" not in said[0]:
                self.fail("a late tuple was not refused: %s" % said)
            return
        self.compare(said, wanted)

    def move(self):
        rng = self.rng
        step = rng.choice((0, 1, 1, 2, self.slide // self.unit, self.length // self.unit, rng.randint(0, 200)))
        if self.by_event:
            self.newest += step
            if rng.random() < 0.9:
                self.compare(self.say("mark", self.newest - self.lateness), self.model.watermark(self.newest - self.lateness))
            return
        ns = step * self.unit + rng.choice((0, 0, -1, 1, rng.randrange(self.unit)))
        self.now += max(ns, 0)
        self.say("advance", max(ns, 0))
        self.tell_time()

    def tell_time(self):
        """Of several tasks, each hears of the time by its own tuples: let all know."""
        if self.tasks > 1 and not self.by_event:
            self.compare(self.say("tick"), self.model.tick(self.now))

    def run(self):
        rng = self.rng
        for _ in range(rng.randint(20, 150)):
            what = rng.random()
            if what < 0.6:
                for _ in range(rng.choice((1, 1, 3, 20)) if self.spread == 30 else 1):
                    self.take()
            elif what < 0.8:
                self.move()
            elif what < 0.97:
                self.compare(self.say("tick"), self.model.tick(self.now))
            else:
                self.tasks = 1 if self.key == "-" else rng.randint(1, 3)
                said = self.say("cut", self.tasks)
                if said:
                    self.fail("a restart says %s" % said)
                self.tell_time()
        self.compare(self.say("finish"), self.model.finish(self.now))
        self.process.stdin.close()
        if self.process.wait() != 0:
            self.fail("the driver failed at its end")


def main():
    driver = sys.argv[1]
    streams = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    for number in range(seed, seed + streams):
        Stream(driver, number).run()
    print("%d streams equal the model" % streams)


if __name__ == "__main__":
    main()
