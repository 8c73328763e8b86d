#!/usr/bin/env python3
"""A case that cannot fail is refused, and what fails unseen fails its case: each kind of step, as `gale test` names them itself,
in each form that holds whatever the topology does.

usage: vacuous_test.py GALE
"""

import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

GALE = pathlib.Path(sys.argv.pop(1)).resolve()

TOPOLOGY = """
name: w
config: {topology.replay.attempts: 2}
spouts:
  - {id: lines, className: gale.spout.Stdin}
  - {id: others, className: gale.spout.Stdin}
bolts:
  - {id: split, className: gale.bolt.Split}
  - {id: count, className: gale.bolt.Count, properties: {emit: finish}}
  - {id: sink, className: gale.bolt.FileSink, properties: {path: out.txt}}
streams:
  - {from: lines, to: split, grouping: {type: SHUFFLE}}
  - {from: others, to: split, grouping: {type: SHUFFLE}}
  - {from: split, to: count, grouping: {type: FIELDS, args: [word]}}
  - {from: count, to: sink, grouping: {type: GLOBAL}}
"""

FEED = {"feed": "lines", "tuples": [["a b"]]}
FINISH = {"finish": True}
FAILS = {"id": "split", "answers": [{"fail": "no"}]}

# What is right, by kind: steps that pass, with what they need before them.
GOOD = {
    "expect": [FEED, {"expect": "split", "tuples": [["a"], ["b"]]}],
    "acked": [FEED, {"acked": "lines"}],
    "failed": [FEED, {"advance": "100s"}, {"failed": "lines"}],
    "open": [FEED, {"open": "lines", "count": 0}],
    "dead_letters": [FEED, {"dead_letters": "lines", "count": 0}],
    "reports": [FEED, {"reports": "split", "count": 0}],
    "logs": [FEED, {"logs": "split", "count": 0}],
    "file": [FEED, FINISH, {"file": "out.txt", "order": "any", "lines": ["a\t1", "b\t1"]}],
}
MOCKS = {"failed": [FAILS]}
LISTS = {"reports": "texts", "logs": "texts", "file": "lines"}
ACTIONS = {"feed", "advance", "finish"}


def value(kind):
    return GOOD[kind][-1][kind]


def contains_nothing(kind):
    """An empty list, whatever else there may be."""
    return [*GOOD[kind][:-1], {kind: value(kind), "order": "contains", LISTS.get(kind, "tuples"): []}]


def before_anything(kind):
    """None are expected before there can be any."""
    return [{kind: value(kind), "count": 0}, FEED]


def of_what_is_not_there(kind):
    return [*GOOD[kind][:-1], {kind: "nobody", "count": 0}]


def misspelt(kind):
    return [*GOOD[kind][:-1], {**GOOD[kind][-1], "cuont": 0}]


def misspelt_kind(kind):
    return [*GOOD[kind][:-1], {kind + "x": value(kind)}]


def twice(kind):
    """Two things in one step, of which one would be left out."""
    return [*GOOD[kind][:-1], {**GOOD[kind][-1], "finish": True}]


def before_any_time(kind):
    return [{"advance": "0s"}, {kind: value(kind), "count": 0}, FEED]


def before_a_moment(kind):
    return [{"advance": "0.1ns"}, {kind: value(kind), "count": 0}, FEED]


FORMS = [before_any_time, before_a_moment, contains_nothing, before_anything, of_what_is_not_there, misspelt, misspelt_kind, twice]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        (self.path / "w.yaml").write_text(TOPOLOGY)

    def run_file(self, cases):
        text = json.dumps(cases).replace("Infinity", ".inf").replace("NaN", ".nan")
        (self.path / "w.test.yaml").write_text(text)
        done = subprocess.run([GALE, "test", "w.test.yaml"], cwd=self.path, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout + done.stderr

    def run_case(self, steps, mock=None):
        return self.run_file({"cases": [{"name": "c", "steps": steps, **({"mock": mock} if mock else {})}]})

    def passes(self, steps, mock=None):
        code, said = self.run_case(steps, mock)
        self.assertEqual(code, 0, said)

    def fails(self, text, steps, mock=None):
        code, said = self.run_case(steps, mock)
        self.assertEqual(code, 1, said)
        self.assertIn(text, said)

    def refuses(self, text, steps, mock=None):
        code, said = self.run_case(steps, mock)
        self.assertEqual(code, 2, said)
        self.assertIn(text, said)


class Table(Case):
    def test_every_kind_of_step_is_in_the_table(self):
        code, said = self.run_case([{"nothing": 1}])
        kinds = set(re.search(r"is nothing that a step does.*\((.*)\)", said).group(1).split())
        self.assertEqual(kinds - ACTIONS - {"stopped"}, set(GOOD))

    def test_what_is_right_passes(self):
        for kind, steps in GOOD.items():
            with self.subTest(kind):
                self.passes(steps, MOCKS.get(kind))

    def test_what_cannot_fail_is_refused_or_fails(self):
        for kind in GOOD:
            for form in FORMS:
                with self.subTest(kind, form=form.__name__):
                    code, said = self.run_case(form(kind), MOCKS.get(kind))
                    self.assertIn(code, (1, 2), said)


class Refused(Case):
    def test_a_case_that_expects_nothing(self):
        self.refuses("this case expects nothing, and cannot fail", [FEED, FINISH])
        self.refuses("a case needs 'steps'", [])

    def test_a_file_without_cases(self):
        for cases in {"cases": []}, {}, {"topology": "w.yaml"}:
            code, said = self.run_file(cases)
            self.assertEqual(code, 2, said)
            self.assertIn("a file of cases needs 'cases'", said)

    def test_what_was_not_fed(self):
        for kind in "acked", "failed", "open", "dead_letters":
            self.refuses("nothing was fed to 'others' before this step", [FEED, {kind: "others", "count": 0}])
        self.refuses("nothing was fed to 'lines' before this step", [{"acked": "lines"}, FEED])

    def test_a_feed_of_nothing(self):
        for nothing in {"tuples": []}, {"lines": []}, {"lines": ""}:
            self.refuses("this feeds nothing", [{"feed": "lines", **nothing}, {"acked": "lines"}])

    def test_contains_of_nothing(self):
        self.refuses("'contains' of nothing holds for everything", [FEED, {"reports": "split", "texts": []}])

    def test_a_number_that_may_be_off_by_anything(self):
        numbers = [FEED, FINISH, {"expect": "count", "tuples": [["a", 2], ["b", 7]], "order": "any"}]
        self.passes([*numbers[:2], {**numbers[2], "tolerance": 6.5}])
        self.fails("count is 1, not 7", [*numbers[:2], {**numbers[2], "tolerance": 5.5}])
        for wrong in math.inf, -math.inf, math.nan, 0, -1, 1e300, 1.1e100, "1", True:
            self.refuses("'tolerance' is a number above 0, at most 1e100", [*numbers[:2], {**numbers[2], "tolerance": wrong}])
            near = {"near": 5, "within": wrong}
            self.refuses("'within' is a number above 0, at most 1e100", [*numbers[:2], {**numbers[2], "tuples": [["a", near], ["b", near]]}])

    def test_a_pattern_that_is_in_every_text(self):
        for word in "contains", "match":
            self.refuses("this holds for every text", [FEED, {"expect": "split", "tuples": [["a"], [{word: ""}]]}])

    def test_what_the_case_does_not_reach(self):
        for kind in "expect", "reports", "logs":
            self.refuses("nothing was fed to 'others' before this step", [FEED, FINISH, {kind: "others", "count": 0}])
            straight = {"feed": "count", "to": "sink", "tuples": [["a", 1]]}
            self.fails("nothing leads to this component in this case", [straight, FINISH, {kind: "split", "count": 0}])

    def test_a_run_that_was_to_stop(self):
        self.fails("the run has not stopped", [FEED, {"stopped": "no"}])


class FailedUnseen(Case):
    def test_a_tuple_that_failed_fails_the_case(self):
        self.fails("what was fed has failed, and no step expects that",
                   [FEED, {"advance": "100s"}, {"expect": "split", "count": 0}], [FAILS])

    def test_one_that_nobody_answered_in_time_too(self):
        holds = {"id": "split", "answers": [{"after": "1h"}]}
        self.fails("timeout", [FEED, {"advance": "200s"}, {"expect": "split", "count": 0}], [holds])

    def test_what_was_expected_passes(self):
        for kind in "failed", "dead_letters":
            self.passes([FEED, {"advance": "100s"}, {kind: "lines", "count": 1}], [FAILS])
            self.passes([FEED, {"advance": "100s"}, {kind: "lines", "order": "contains", "tuples": [["a b"]]}], [FAILS])

    def test_one_of_two_was_expected(self):
        two = {"feed": "lines", "tuples": [["a b"], ["c"]]}
        self.fails("what was fed has failed, and no step expects that",
                   [two, {"advance": "100s"}, {"failed": "lines", "order": "contains", "tuples": [["c"]]}], [FAILS])

    def test_that_there_is_none_is_no_word_about_those_that_fail_later(self):
        self.fails("what was fed has failed, and no step expects that",
                   [FEED, {"dead_letters": "lines", "count": 0}, {"advance": "100s"}], [FAILS])

    def test_each_attempt_but_the_last_may_fail(self):
        self.passes([FEED, {"advance": "100s"}, {"acked": "lines"}])


if __name__ == "__main__":
    unittest.main()
