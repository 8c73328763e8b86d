#!/usr/bin/env python3
"""Does `gale check` know the types of fields as a run does? Each way to make a field is led into each parameter that takes fields of some types, twice:
straight, where the check knows the type, and through a step that hides it. What the check refuses must fail every tuple, and what fails every tuple
because of a type must be refused.

usage: types_test.py GALE ROOT"""

import concurrent.futures
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

GALE, ROOT = sys.argv[1:3]
LINES = '{"n": 5, "f": 5.5, "b": true, "s": "7 x"}\n' * 3
HIDDEN = "set: {v: 'row[\"v\"]'}, "
PARSE = "className: gale.bolt.Json, properties: {fields: [n int, f float, b bool, s string]}"


def map_of(expression):
    return [PARSE, f"className: gale.bolt.Map, properties: {{set: {{v: {json.dumps(expression)}, k: \"'k'\"}}}}"]


def column(parser, text, word):
    """A parser that makes `v` of a text, with a type's word."""
    return [PARSE, f"className: gale.bolt.Map, properties: {{set: {{line: {json.dumps(text)}, k: \"'k'\"}}}}",
            parser.replace("TYPE", word)]


CSV = "className: gale.bolt.Csv, properties: {field: line, fields: [v TYPE], keep: [k]}"
PAIRS = "className: gale.bolt.KeyValue, properties: {field: line, fields: [v TYPE], keep: [k]}"
REGEX = "className: gale.bolt.Regex, properties: {field: line, pattern: '^(?<v>.*)$', fields: [v TYPE], keep: [k]}"
JSON = "className: gale.bolt.Json, properties: {field: line, fields: [a.x as v TYPE], keep: [k]}"
WORDS = {"int": "5", "float": "5.5", "bool": "true", "string": "x"}

# Bolts that make `v`, and `k`.
GIVERS = {
    "a field of Json, passed on": map_of("n"), "a float": map_of("f"), "a bool": map_of("b"), "a string": map_of("s"),
    "a sum": map_of("n + 1"), "a quotient": map_of("n / 2"), "a whole quotient": map_of("n // 2"), "a rest": map_of("f % 2"), "a negative": map_of("-f"),
    "a comparison": map_of("n > 4 and f < 9"), "a text": map_of("s .. n"), "a length": map_of("#s"), "a choice of two numbers": map_of("b and n or f"),
    "a number of a text": map_of("tonumber('5')"), "text of a number": map_of("tostring(n)"), "a constant": map_of("'x'"),
    "a field under another name": [PARSE, "className: gale.bolt.Map, properties: {rename: 's as v, n as k'}"],
    "through a filter": map_of("s") + ["className: gale.bolt.Filter, properties: {where: 'k == \"k\"'}"],
    "through a route": map_of("f") + ["className: gale.bolt.Route, properties: {routes: {other: 'k ~= \"k\"'}}"],
    "through a sample": map_of("n") + ["className: gale.bolt.Sample, properties: {every: 1}"],
    "through a dedupe": map_of("s") + ["className: gale.bolt.Dedupe, properties: {key: [v], output: [v, k]}"],
    "text of Format": map_of("n") + ["className: gale.bolt.Format, properties: {as: v, template: 'x', keep: [k]}"],
    "a time of Timestamp": map_of("n") + ["className: gale.bolt.Timestamp, properties: {field: v, format: epoch}"],
    "a count": map_of("s") + ["className: gale.bolt.Count, properties: {key: v}",
                              "className: gale.bolt.Map, properties: {rename: 'count as v, word as k'}"],
    "a word that is counted": map_of("f") + ["className: gale.bolt.Count, properties: {key: v}",
                                             "className: gale.bolt.Map, properties: {rename: 'word as v, count as k'}"],
    "a word": map_of("s") + ["className: gale.bolt.Split, properties: {field: v}",
                             "className: gale.bolt.Map, properties: {set: {k: \"'k'\"}, rename: word as v}"],
}
for name, parser in (("csv", CSV), ("pairs", PAIRS), ("a pattern", REGEX)):
    for word, text in WORDS.items():
        GIVERS[f"{word} of {name}"] = column(parser, repr(("v=" if parser == PAIRS else "") + text), word)
for word, text in WORDS.items():
    inner = json.dumps(json.dumps({"a": {"x": json.loads(text) if word != "string" else text}}))
    GIVERS[f"{word} of a path"] = column(JSON, inner, word)
for call in ("count", "sum(v)", "avg(v)", "max(v)", "first(v)", "distinct(v)", "percentile(v, 0.5)", "top(v, 2)"):
    GIVERS[f"{call} of a window"] = map_of("n") + [
        f"className: gale.bolt.Window, properties: {{key: k, length: 1h, aggregates: '{call} as v'}}"]

# Parameters that take fields of some types: class, parameter, properties, and the order in which `v` and `k` come.
TAKERS = [
    ("EventTime", "time", "output: [k], time: v", "k, v"), ("Window", "time", "key: k, time: v", "k, v"),
    ("Unique", "time", "key: k, time: v", "k, v"), ("Window", "aggregates", "aggregates: sum(v)", "k, v"),
    ("Window", "aggregates", "aggregates: avg(v)", "k, v"), ("Window", "aggregates", "aggregates: min(v)", "k, v"),
    ("Window", "aggregates", "aggregates: max(v)", "k, v"), ("Window", "aggregates", "aggregates: 'percentile(v, 0.9)'", "k, v"),
    ("Window", "aggregates", "aggregates: 'top(k, 3, v)'", "k, v"), ("Window", "aggregates", "aggregates: 'top(v, 3)'", "k, v"),
    ("Window", "aggregates", "aggregates: 'count(v), first(v), last(v), distinct(v)'", "k, v"),
    ("IntermediateRankings", "value", "key: k, value: v", "k, v"), ("IntermediateRankings", "value", "", "k, v"),
    ("Timestamp", "field", "field: v", "k, v"), ("Timestamp", "field", "field: v, format: epoch", "k, v"), ("Timestamp", "field", "", "v, k"),
    ("Split", "field", "field: v", "k, v"), ("Split", "field", "", "v, k"), ("AccessLog", "field", "field: v", "k, v"),
    ("AccessLog", "field", "", "v, k"), ("Csv", "field", "field: v, fields: [a]", "k, v"), ("Csv", "field", "fields: [a]", "v, k"),
    ("KeyValue", "field", "field: v, fields: [a]", "k, v"), ("KeyValue", "field", "fields: [a]", "v, k"),
    ("Regex", "field", "field: v, pattern: '(?<a>.*)'", "k, v"), ("Regex", "field", "pattern: '(?<a>.*)'", "v, k"),
    ("Json", "field", "field: v", "k, v"), ("Json", "field", "", "v, k"), ("JoinLines", "field", "field: v, start: '^'", "k, v"),
    ("JoinLines", "field", "start: '^'", "v, k"), ("FileSink", "path", "path: 'OUT-{v:%Y}', overwrite: true", "k, v"), ("FileSink", "path", "path: 'OUT-{v}', overwrite: true", "k, v"),
    ("Count", "key", "key: v", "k, v"), ("Dedupe", "key", "key: v", "k, v"), ("Format", "fields", "fields: [v]", "k, v"),
]
FEW = [name for name in GIVERS if name.endswith(" of a path")] + ["a quotient", "a text"]  # with each taker
SOME = [TAKERS[0], TAKERS[11], TAKERS[16]]  # with each giver


def topology(folder, giver, taker, hidden):
    """The path of the file, and the taker's id."""
    class_, _, properties, order = taker
    path = lambda name: os.path.join(folder, name)
    bolts = GIVERS[giver] + [f"className: gale.bolt.Map, properties: {{{HIDDEN if hidden else ''}keep: [{order}]}}",
                             f"className: gale.bolt.{class_}, properties: {{{properties.replace('OUT', path('out'))}}}"]
    ids = ["lines"] + [f"b{i}" for i in range(len(bolts))]
    lines = ["name: t", f"spouts: [{{id: lines, className: gale.spout.File, properties: {{path: {path('in')}, maxAttempts: 1}}}}]", "bolts:"]
    lines += [f"  - {{id: {name}, {bolt}}}" for name, bolt in zip(ids[1:], bolts)]
    lines += ["streams:"] + [f"  - {{from: {a}, to: {b}, grouping: {{type: GLOBAL}}}}" for a, b in zip(ids, ids[1:])]
    with open(path("in"), "w", encoding="ascii") as file:
        file.write(LINES)
    with open(path("t.yaml"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path("t.yaml"), ids[-1]


def gale(*words):
    return subprocess.run([GALE, *words], capture_output=True, text=True, check=False, timeout=60)


def what_is_said(giver, taker):
    """What the check says of the types, as a list of errors; and the exit codes of check and run."""
    with tempfile.TemporaryDirectory() as folder:
        path, last = topology(folder, giver, taker, False)
        checked = gale("check", path)
        errors = [line for line in (checked.stderr + checked.stdout).splitlines() if ": error: " in line]
        form = rf"\S+:\d+:\d+: error: .*'{last}'.* must be an? .*, and is an? .* gives it so at \S+:\d+:\d+; "
        return [line for line in errors if not re.match(form, line)], bool(errors), gale("run", path, "-q", "--no-control").returncode


def fails_every_tuple(giver, taker):
    """With the type hidden: does each tuple that comes to the taker fail there?"""
    with tempfile.TemporaryDirectory() as folder:
        path, last = topology(folder, giver, taker, True)
        run = gale("run", path, "--json", "-q", "--no-control")
        component = next(c for c in json.loads(run.stdout.splitlines()[-1])["components"] if c["component"] == last)
        return component["executed"] > 0, component["failed"] == component["executed"]


class Types(unittest.TestCase):
    def compare(self, pairs):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            found = [(pair, pool.submit(what_is_said, *pair), pool.submit(fails_every_tuple, *pair)) for pair in pairs]
        for (giver, taker), said, ran in found:
            with self.subTest(giver=giver, taker=taker):
                other, refused, status = said.result()
                executed, failed = ran.result()
                self.assertEqual(other, [], "an error without both places and a way out")
                self.assertEqual(status == 2, refused, "check and run agree")
                self.assertTrue(executed)
                self.assertEqual(refused, failed)

    def test_each_parameter_takes_what_the_check_lets_it_have(self):
        self.compare(itertools.product(FEW, TAKERS))

    def test_each_way_to_make_a_field_gives_what_the_check_believes(self):
        self.compare(itertools.product(GIVERS, SOME))

    def test_no_parameter_that_takes_types_is_forgotten(self):
        with open(os.path.join(ROOT, "docs/reference/classes.md"), encoding="utf-8") as page:
            text = page.read()
        documented, class_ = set(), None
        for line in text.splitlines():
            class_ = line[4:] if line.startswith("### ") else class_
            row = re.match(r"\| `(\w+)` \| field: ", line)
            if row:
                documented.add((class_, row.group(1)))
        self.assertEqual(documented - {(f"gale.bolt.{c}", p) for c, p, _, _ in TAKERS}, set())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0)
