"""A topology with an input of which every figure is known beforehand: a line with the word "bad" fails where that word comes; a line "fate N"
is failed for reason N (gale_reason) by the plugin test/plugins/fate.c, and "fate hold" is never answered. What may be tried again is emitted twice
more, and given up; all other words go their way each time."""

import re
from pathlib import Path

ATTEMPTS = 3
HEADER = Path(__file__).resolve().parents[2] / "include" / "gale" / "component.h"

# The column of each reason that a bolt may give, in every view. A new reason needs a line here.
COLUMNS = {"FAILED": "failed", "REJECTED": "rejected", "TIMEOUT": "timed_out", "DEADLINE": "failed", "OVERFLOW": "failed",
           "NO_MEMORY": "failed", "CHILD_EXITED": "failed", "USER": "failed"}
OF_THE_ENGINE = {"STOPPED": "stopped", "SOURCE_LOST": "failed"}
OUTCOMES = ("failed", "timed_out", "rejected", "stopped")


def reasons():
    """{name: number}, by the header."""
    body = re.search(r"typedef enum gale_reason \{(.*?)\} gale_reason;", HEADER.read_text(), re.S).group(1)
    names = re.findall(r"GALE_REASON_(\w+)(?: = (\d+))?,?", body)
    return {name: int(number or place) for place, (name, number) in enumerate(names) if name != "COUNT"}


REASONS = {name: number for name, number in reasons().items() if name not in OF_THE_ENGINE}

# No tree times out here by the clock, however slow the machine is.
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
  - id: fate
    className: fate.bolt.Fate
    parallelism: 2
streams:
  - {{ from: lines, to: split, grouping: {{ type: SHUFFLE }} }}
  - {{ from: split, to: check, grouping: {{ type: SHUFFLE }} }}
  - {{ from: check, to: count, grouping: {{ type: FIELDS, args: [word] }} }}
  - {{ from: lines, to: fate, grouping: {{ type: SHUFFLE }} }}
"""

LINES = [f"the bad wind turns {number}" if number % 12 == 5 else f"the sea rises {number % 7}" for number in range(1500)]
LINES += [f"fate {number}" for place, number in enumerate(REASONS.values()) for _ in range(place + 1)]

# Trees by reason, at the component where they end.
AT_CHECK = {"FAILED": sum("bad" in line.split() for line in LINES)}
AT_FATE = {name: place + 1 for place, name in enumerate(REASONS)}


def by_column(trees, times=lambda name: 1):
    sums = dict.fromkeys(OUTCOMES, 0)
    for name, count in trees.items():
        sums[COLUMNS[name]] += count * times(name)
    return sums


def attempts(name):
    return 1 if name == "REJECTED" else ATTEMPTS


ENDED = {key: by_column(AT_CHECK)[key] + by_column(AT_FATE)[key] for key in OUTCOMES}
BAD = sum(ENDED.values())
GOOD = len(LINES) - BAD
AGAIN = sum(count * (attempts(name) - 1) for trees in (AT_CHECK, AT_FATE) for name, count in trees.items())


def times(line):
    name = next((name for name, number in REASONS.items() if line == f"fate {number}"), None)
    return attempts(name) if name or "bad" in line.split() else 1


EMITTED = [line for line in LINES for _ in range(times(line))]
WORDS = sum(len(line.split()) for line in EMITTED)
FAILED = AT_CHECK["FAILED"] * ATTEMPTS  # of the words
PASSED = WORDS - FAILED

TREES = {"trees": len(LINES), "acked": GOOD, **ENDED, "open": 0,
         "replayed": AGAIN, "given_up": BAD, "dead_letters": BAD, "dead_letters_lost": 0}


def figures(executed, emitted, transferred, acked, ended, errors):
    return {"executed": executed, "emitted": emitted, "transferred": transferred, "acked": acked, **ended, "errors": errors}


NONE = dict.fromkeys(OUTCOMES, 0)
MET = by_column(AT_FATE, attempts)

# A spout's answers are those of its lines, and not of their attempts. Nobody takes what `count` emits.
COMPONENTS = {"lines": figures(0, len(EMITTED), 2 * len(EMITTED), GOOD, ENDED, BAD),
              "split": figures(len(EMITTED), WORDS, WORDS, len(EMITTED), NONE, 0),
              "check": figures(WORDS, PASSED, PASSED, PASSED, {**NONE, "failed": FAILED}, FAILED),
              "count": figures(PASSED, PASSED, 0, PASSED, NONE, 0),
              "fate": figures(len(EMITTED), 0, 0, len(EMITTED) - sum(MET.values()), MET, 0)}
FIGURES = tuple(COMPONENTS["lines"])


def failures(trees):
    """{reason: count}, as REST names them."""
    return {name.lower().replace("no_memory", "no memory").replace("child_exited", "child exited"): count for name, count in trees.items()}


def of_storm(figures):
    """Storm has one column for all that is not acked."""
    told = {key: count for key, count in figures.items() if key not in OUTCOMES and key != "errors"}
    return {**told, "failed": sum(figures[key] for key in OUTCOMES)}


def part(told):
    """What is told of a component that is known beforehand."""
    return {key: told[key] for key in FIGURES}


def is_done(now):
    """All trees are answered, and what failed ones have left on its way has come to its end, too."""
    def all_of(key, components):
        return sum(one[key] for one in components)
    return now["trees"]["open"] == 0 and all(
        all_of(key, now["components"]) >= all_of(key, COMPONENTS.values()) for key in FIGURES)
