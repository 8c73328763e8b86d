#!/usr/bin/env python3
"""What spouts and bolts in Python do a second: a spout that yields numbers, a bolt that makes a key and a number of each, and a bolt that
counts by key; tracked, and acked to the end. By hand, with GALE_LIBRARY and PYTHONPATH as docs/python.md says.

usage: python.py [TREES [TRIALS]]
"""

import collections
import sys

import gale


@gale.spout(outputs=["number"])
def numbers(count):
    for number in range(count):
        yield [number]


@gale.bolt(outputs=["key", "number"])
def key(tuple, out):
    out.emit([f"key{tuple[0] % 10}", tuple[0]])


def trial(trees, executors):
    """Tuples a second: each emitted, executed and acked."""
    counts = collections.Counter()

    @gale.bolt
    def count(tuple, out):
        counts[tuple["key"]] += 1
    with gale.Topology("bench") as topology:
        topology.add_spout("numbers", numbers, arguments={"count": trees})
        topology.add_bolt("key", key).shuffle_grouping("numbers")
        topology.add_bolt("count", count).fields_grouping("key", ["key"])
        with gale.Runtime(topology, executors=executors, until_drained=True) as runtime:
            runtime.run()
            stats = runtime.stats()
    assert sum(counts.values()) == stats.acked == trees
    return stats.executed / stats.elapsed


def main(trees=200000, trials=5):
    for executors in 1, 2:
        best = sorted(trial(int(trees), executors) for _ in range(int(trials)))
        print(f"{executors} executor{'s' * (executors > 1)}: {best[0]:,.0f} to {best[-1]:,.0f} tuples a second")


if __name__ == "__main__":
    main(*sys.argv[1:])
