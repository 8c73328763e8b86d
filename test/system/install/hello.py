"""Words of the standard input, counted: what an application in Python is, with what is installed."""

import collections
import sys

import gale


@gale.spout(outputs=["line"])
def lines():
    for line in sys.stdin:
        yield [line]


@gale.bolt(outputs=["word"])
def split(tuple, out):
    for word in tuple["line"].split():
        out.emit([word])


class Count(gale.BasicBolt):
    def prepare(self):
        self.counts = collections.Counter()

    def execute(self, tuple):
        self.counts[tuple["word"]] += 1

    def finish(self):
        for word, count in self.counts.items():
            print(f"{word}\t{count}")


with gale.Topology("hello") as topology:
    topology.add_spout("lines", lines)
    topology.add_bolt("split", split).shuffle_grouping("lines")
    topology.add_bolt("count", Count).fields_grouping("split", "word")
    with gale.Runtime(topology, until_drained=True) as runtime:
        runtime.run()
