#!/usr/bin/env python3
"""A second, plainly written model of rolling top words, to compare gale with.

It follows what storm-starter's classes do (SlotBasedCounter, SlidingWindowCounter, NthLastModifiedTimeTracker,
RollingCountBolt, Rankings, IntermediateRankingsBolt, TotalRankingsBolt), with gale's two decisions: equal counts rank
by object, ascending by byte, and copies do not nest. Everything comes to rest between two events.

usage: rolling_top_words.py [--window S] [--emit S] [--top N] [--counters N] [--intermediates N] < events

Events, one a line, blank lines and lines that begin with '#' apart:

    word TEXT             TEXT goes to counter 0
    word@I TEXT           TEXT goes to counter I (fields grouping is the caller's: a word always goes to the same one)
    time MS               the clock moves to MS milliseconds since the start; before the first it stands at 0
    tick counter          all counters tick, in the order of their tasks
    tick counter@I        counter I ticks
    tick intermediate     all intermediate rankers tick, in the order of tasks; the total ranker takes in what they emit
    tick intermediate@I
    tick total            the total ranker ticks: one line of output
    route TEXT I          what counters say of TEXT goes to intermediate I from now on (default 0)
    cut counter           what the counters emit from now on does not reach the rankers ('join counter' ends it)
    join counter

Output: for each tick of the total ranker one line of JSON, the list of [object, count, actual window length in
seconds], best first. With --trace, a line `["count", TASK, OBJECT, COUNT, LENGTH]` for each tuple a counter emits,
and a line `["intermediate", TASK, RANKINGS]` for each of an intermediate ranker, in their places.
"""

import argparse
import collections
import json
import sys


class SlotBasedCounter:
    """Reports objects in the order of first sight, but that the last one takes the place of one that is dropped (the
    latest of the dropped first). Storm's order is that of a Java hash map: chance. It has to be fixed here, because
    rankings that are full depend on the order in which counts reach them."""

    def __init__(self, slots):
        if slots <= 0:
            raise ValueError("slots must be above zero")
        self.slots = slots
        self.order = []
        self.counts = {}

    def increment(self, obj, slot):
        if obj not in self.counts:
            self.counts[obj] = [0] * self.slots
            self.order.append(obj)
        self.counts[obj][slot] += 1

    def totals(self):
        return [(obj, sum(self.counts[obj])) for obj in self.order]

    def wipe_slot(self, slot):
        for slots in self.counts.values():
            slots[slot] = 0

    def wipe_zeros(self):
        for index in reversed(range(len(self.order))):
            if sum(self.counts[self.order[index]]) == 0:
                del self.counts[self.order[index]]
                self.order[index] = self.order[-1]
                self.order.pop()


class SlidingWindowCounter:
    def __init__(self, slots):
        if slots < 2:
            raise ValueError("a window needs at least two slots")
        self.slots = slots
        self.counter = SlotBasedCounter(slots)
        self.head = 0
        self.tail = 1

    def increment(self, obj):
        self.counter.increment(obj, self.head)

    def counts_then_advance(self):
        counts = self.counter.totals()
        self.counter.wipe_zeros()
        self.counter.wipe_slot(self.tail)
        self.head = self.tail
        self.tail = (self.tail + 1) % self.slots
        return counts


class LastModified:
    def __init__(self, count, now):
        self.times = collections.deque([now] * count)
        self.count = count

    def seconds_since_oldest(self, now):
        return (now - self.times.popleft() + 500) // 1000  # to the nearest second

    def mark(self, now):
        if len(self.times) == self.count:
            self.times.popleft()
        self.times.append(now)


class RollingCount:
    def __init__(self, window, emit, now):
        if emit <= 0:
            raise ValueError("emit must be above zero")
        slots = window // emit
        self.window = SlidingWindowCounter(slots)
        self.modified = LastModified(slots, now)

    def take(self, obj):
        self.window.increment(obj)

    def tick(self, now):
        counts = self.window.counts_then_advance()
        length = self.modified.seconds_since_oldest(now)
        self.modified.mark(now)
        return [(obj, count, length) for obj, count in counts]


class Rankings:
    """Entries are tuples (object, count, other fields...)."""

    def __init__(self, top):
        if top < 1:
            raise ValueError("top must be at least one")
        self.top = top
        self.entries = []

    def update(self, entry):
        for index, known in enumerate(self.entries):
            if known[0] == entry[0]:
                self.entries[index] = entry
                break
        else:
            self.entries.append(entry)
        self.entries.sort(key=lambda e: (-e[1], e[0].encode("utf-8", "surrogateescape")))
        if len(self.entries) > self.top:
            del self.entries[self.top]

    def prune_zeros(self):
        self.entries = [entry for entry in self.entries if entry[1] != 0]

    def copy(self):
        return list(self.entries)


class Model:
    def __init__(self, options, say):
        self.options = options
        self.say = say
        self.now = 0
        self.counters = [RollingCount(options.window, options.emit, 0) for _ in range(options.counters)]
        self.intermediates = [Rankings(options.top) for _ in range(options.intermediates)]
        self.total = Rankings(options.top)
        self.routes = {}
        self.joined = True

    def tick_counter(self, task):
        for entry in self.counters[task].tick(self.now):
            if self.options.trace:
                self.say(["count", task, *entry])
            if self.joined:
                self.intermediates[self.routes.get(entry[0], 0)].update(entry)

    def tick_intermediate(self, task):
        rankings = self.intermediates[task].copy()
        if self.options.trace:
            self.say(["intermediate", task, rankings])
        for entry in rankings:
            self.total.update(entry)
        self.total.prune_zeros()

    def tick(self, who):
        name, _, task = who.partition("@")
        if name == "total":
            self.say(self.total.copy())
            return
        ticks, count = {
            "counter": (self.tick_counter, len(self.counters)),
            "intermediate": (self.tick_intermediate, len(self.intermediates)),
        }[name]
        for index in [int(task)] if task else range(count):
            ticks(index)

    def event(self, line):
        verb, _, rest = line.partition(" ")
        verb, _, task = verb.partition("@")
        if verb == "word":
            self.counters[int(task or 0)].take(rest)
        elif verb == "tick":
            self.tick(rest)
        elif verb == "time":
            self.now = int(rest)
        elif verb == "route":
            text, _, index = rest.rpartition(" ")
            self.routes[text] = int(index)
        elif verb in ("cut", "join") and rest == "counter":
            self.joined = verb == "join"
        else:
            raise ValueError("unknown event")


def main():
    parser = argparse.ArgumentParser(description="A model of rolling top words; events on the standard input.")
    parser.add_argument("--window", type=int, default=9)
    parser.add_argument("--emit", type=int, default=3)
    parser.add_argument("--top", type=int, default=5)
    parser.add_argument("--counters", type=int, default=1)
    parser.add_argument("--intermediates", type=int, default=1)
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_args()
    sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")

    def say(value):
        print(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    model = Model(options, say)
    for number, line in enumerate(sys.stdin, 1):
        line = line.rstrip("\n")
        if not line or line.startswith("#"):
            continue
        try:
            model.event(line)
        except (ValueError, KeyError, IndexError) as fault:
            sys.exit(f"line {number}: {line!r}: {fault}")


if __name__ == "__main__":
    main()
