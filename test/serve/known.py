"""A topology with an input of which every figure is known beforehand: a line with the word "bad" fails where that word comes, is emitted
twice more, and is given up; all other words of it go their way each time."""

ATTEMPTS = 3

# No tree times out here, however slow the machine is.
TOPOLOGY = f"""\
name: known
config:
  topology.dead_letters.file: letters.json
  topology.replay.attempts: {ATTEMPTS}
  topology.replay.backoff.initial.secs: 0
  topology.message.timeout.secs: 3600
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{{ name: path, value: in.txt }}, {{ name: follow, value: true }}]
bolts:
  - id: split
    className: gale.bolt.Split
  - id: check
    className: gale.bolt.Map
    parallelism: 2
    properties: {{ set: {{ n: "1 // (word == 'bad' and 0 or 1)" }} }}
  - id: count
    className: gale.bolt.Count
    parallelism: 3
streams:
  - {{ from: lines, to: split, grouping: {{ type: SHUFFLE }} }}
  - {{ from: split, to: check, grouping: {{ type: SHUFFLE }} }}
  - {{ from: check, to: count, grouping: {{ type: FIELDS, args: [word] }} }}
"""

LINES = [f"the bad wind turns {number}" if number % 12 == 5 else f"the sea rises {number % 7}" for number in range(1500)]

BAD = sum("bad" in line.split() for line in LINES)
GOOD = len(LINES) - BAD
EMITTED = [line for line in LINES for _ in range(ATTEMPTS if "bad" in line.split() else 1)]
WORDS = sum(len(line.split()) for line in EMITTED)
FAILED = BAD * ATTEMPTS  # of the words
PASSED = WORDS - FAILED

TREES = {"trees": len(LINES), "acked": GOOD, "failed": BAD, "timed_out": 0, "rejected": 0, "stopped": 0, "open": 0,
         "replayed": BAD * (ATTEMPTS - 1), "given_up": BAD, "dead_letters": BAD, "dead_letters_lost": 0}


def figures(executed, emitted, transferred, acked, failed):
    return {"executed": executed, "emitted": emitted, "transferred": transferred, "acked": acked, "failed": failed, "errors": failed}


# A spout's answers are those of its lines, and not of their attempts. Nobody takes what `count` emits.
COMPONENTS = {"lines": figures(0, len(EMITTED), len(EMITTED), GOOD, BAD),
              "split": figures(len(EMITTED), WORDS, WORDS, len(EMITTED), 0),
              "check": figures(WORDS, PASSED, PASSED, PASSED, FAILED),
              "count": figures(PASSED, PASSED, 0, PASSED, 0)}
FIGURES = tuple(COMPONENTS["lines"])


def part(told):
    """What is told of a component that is known beforehand."""
    return {key: told[key] for key in FIGURES}


def is_done(now):
    """All trees are answered, and what failed ones have left on its way has come to its end, too."""
    def all_of(key, components):
        return sum(one[key] for one in components)
    return now["trees"]["open"] == 0 and all(
        all_of(key, now["components"]) >= all_of(key, COMPONENTS.values()) for key in FIGURES)
