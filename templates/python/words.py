"""@NAME@: counts the words of a file, by gale (Storm's processing model).

usage: python3 words.py FILE
"""

import collections
import sys

import gale


@gale.spout(outputs=["line"])
def lines(texts):
    """The lines of a file, or of what else has some."""
    for text in texts:
        yield [text]


@gale.bolt(outputs=["word"])
def split(tuple, out):
    """The words of a line, in small letters, without what is between them."""
    letters = (c if c.isalpha() else " " for c in tuple["line"].lower())
    for word in "".join(letters).split():
        out.emit([word])


class Count(gale.BasicBolt):
    """How often each word came, when all have come."""
    outputs = ["word", "count"]

    def prepare(self):
        self.counts = collections.Counter()

    def execute(self, tuple):
        self.counts[tuple["word"]] += 1

    def finish(self):
        for word, count in self.counts.items():
            self.out.emit([word, count])


@gale.bolt
def show(tuple, out):
    print(tuple["word"], tuple["count"], sep="\t")


def topology(texts=()):
    made = gale.Topology("@NAME@")
    made.add_spout("lines", lines, arguments={"texts": texts})
    made.add_bolt("split", split).shuffle_grouping("lines")
    made.add_bolt("count", Count, parallelism=2).fields_grouping("split", ["word"])
    made.add_bolt("show", show).global_grouping("count")
    return made


def count_words(path):
    with open(path, encoding="utf-8") as file, topology(file) as made:
        with gale.Runtime(made, until_drained=True) as runtime:
            runtime.run()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 words.py FILE")
    try:
        count_words(sys.argv[1])
    except (OSError, gale.GaleError) as error:
        sys.exit(f"words.py: {error}")
