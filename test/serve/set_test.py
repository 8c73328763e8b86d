#!/usr/bin/env python3
"""What is set of a component while it runs: by REST, and by `gale set`.

usage: set_test.py GALE
"""

import json
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

import rig

rig.Case.gale = GALE = str(Path(sys.argv[1]).resolve())
NOW, SET, RELOAD = "/api/gale/v1/now", "/api/gale/v1/set", "/api/gale/v1/reload"

MADE = """\
name: made
config: { gale.rate: 1, topology.max.spout.pending: 100000 }
spouts:
  - id: lines.made
    className: gale.spout.Generator
bolts:
  - { id: split, className: gale.bolt.Split }
  - { id: words, className: gale.bolt.Split }
streams:
  - { from: lines.made, to: split, grouping: { type: SHUFFLE } }
  - { from: lines.made, to: words, grouping: { type: SHUFFLE, drop: newest } }
"""

SPOUT = "lines.made"
BACKLOG = 0.1  # what a spout that fell behind its rate may catch up, seconds (kit/pace.h)


class Made(rig.Case):
    def made(self):
        self.run_ = rig.Run(self, GALE, MADE)
        return self.run_

    def set(self, component, **setting):
        """The status, and what is said."""
        status, _, text = self.run_.ask(SET, "POST", json.dumps({"component": component, **setting}))
        return status, json.loads(text)

    def component(self, name=SPOUT):
        return next(one for one in self.run_.json(NOW)["components"] if one["name"] == name)

    def obeys(self, rate):
        """Was no more emitted in a second than a rate allows? Whoever asks was there before the first reading, and is after the second."""
        begun = time.monotonic()
        before = self.component()["emitted"]
        time.sleep(1)
        after = self.component()["emitted"]
        return after - before <= rate * (time.monotonic() - begun + BACKLOG) + 1


class Rest(Made):
    def test_a_rate_goes_up_and_down(self):
        self.made()
        self.assertEqual(self.component()["rate"], 1)
        self.assertTrue(self.obeys(1))
        self.assertEqual(self.set(SPOUT, rate=20000.5), (200, {"done": "set"}))
        self.assertEqual(self.component()["rate"], 20000.5)
        rig.until(lambda: self.component()["emitted"] > 1000, "what would take 1000 s at the old rate")
        self.assertEqual(self.set(SPOUT, rate=2)[0], 200)
        rig.until(lambda: self.obeys(2), "a second at the new rate")
        for _ in range(3):
            self.assertTrue(self.obeys(2))
        self.assertEqual(self.set(SPOUT, rate=0)[0], 200)
        self.assertIsNone(self.component()["rate"])

    def test_how_many_trees_may_be_open_is_told(self):
        self.made()
        self.assertEqual(self.component()["pending_limit"], 100000)
        self.assertEqual(self.set(SPOUT, pending=7)[0], 200)
        self.assertEqual(self.component()["pending_limit"], 7)
        self.assertEqual(self.set(SPOUT, pending=0)[0], 200)
        self.assertIsNone(self.component()["pending_limit"])
        self.assertEqual([self.component("split")[key] for key in ("pending_limit", "rate")], [None, None])

    def test_what_is_dropped_is_told_with_the_edge(self):
        self.made()
        self.assertEqual([edge["drop"] for edge in self.run_.json(NOW)["edges"]], [None, "newest"])
        self.assertEqual(self.set("words", drop="oldest")[0], 200)
        self.assertEqual([edge["drop"] for edge in self.run_.json(NOW)["edges"]], [None, "oldest"])

    def test_after_a_reload_the_file_holds_again(self):
        self.made()
        self.assertEqual((self.set(SPOUT, rate=5)[0], self.set(SPOUT, pending=7)[0]), (200, 200))
        self.run_.json(RELOAD, "POST")
        rig.until(lambda: self.run_.json(RELOAD)["state"] == "done", "the reload")
        self.assertEqual([self.component()[key] for key in ("pending_limit", "rate")], [100000, 1])

    def test_what_makes_no_sense_is_refused_and_changes_nothing(self):
        self.made()
        for status, component, setting, words in (
                (404, "lines.mad", {"rate": 5}, "there is no component 'lines.mad'; did you mean 'lines.made'?"),
                (404, "\x1b[31m", {"rate": 5}, "there is no component '\\u001b[31m'"),
                (409, "split", {"rate": 5}, "'split' is a bolt: gale.rate is of spouts"),
                (409, "split", {"pending": 5}, "'split' is a bolt"),
                (409, "split", {"drop": "oldest"}, "no input of 'split' drops"),
                (409, SPOUT, {"drop": "oldest"}, "no input of 'lines.made' drops"),
                (400, SPOUT, {"rate": -1}, "gale.rate must be a number from 0"),
                (400, SPOUT, {"rate": "5"}, "gale.rate must be a number from 0"),
                (400, SPOUT, {"rate": None}, "gale.rate must be a number from 0"),
                (400, SPOUT, {"pending": -1}, "topology.max.spout.pending must be a whole number from 0"),
                (400, SPOUT, {"pending": 1.5}, "topology.max.spout.pending must be a whole number from 0"),
                (400, SPOUT, {"pending": [5]}, "topology.max.spout.pending must be a whole number from 0"),
                (400, "words", {"drop": "both"}, "drop must be oldest or newest"),
                (400, "words", {"drop": 1}, "drop must be oldest or newest")):
            said = self.set(component, **setting)
            self.assertEqual(said[0], status, said)
            self.assertIn(words, said[1]["error"])
        for body in "", "{", "[]", "5", '{"component": "lines.made"}', '{"component": 5, "rate": 5}', '{"rate": 5}', \
                '{"component": "lines.made", "rate": 5, "pending": 5}', '{"component": "lines.made", "rates": 5}', \
                '{"component": "lines.made", "rate": 5, "rate": 6}':
            status, _, text = self.run_.ask(SET, "POST", body)
            self.assertEqual(status, 400, body)
            self.assertIn("the body ", json.loads(text)["error"])
        for key, number, words in ("rate", "1e999", "gale.rate must be"), ("pending", "9" * 20, "topology.max.spout.pending must be"):
            status, _, text = self.run_.ask(SET, "POST", '{"component": "lines.made", "%s": %s}' % (key, number))
            self.assertEqual(status, 400, number)
            self.assertIn(words, json.loads(text)["error"])
        self.assertEqual([self.component()[key] for key in ("pending_limit", "rate")], [100000, 1])


class Command(Made):
    def said(self, *words, code=2):
        env = {**os.environ, "XDG_RUNTIME_DIR": str(self.run_.runtime)}
        done = subprocess.run([GALE, "set", *words], capture_output=True, text=True, timeout=rig.PATIENCE, env=env)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        return done.stderr

    def test_several_at_once(self):
        self.made()
        self.assertEqual(self.said("made", "lines.made.rate=2.5", "lines.made.pending=+8", "words.drop=oldest", code=0), "")
        self.assertEqual([self.component()[key] for key in ("pending_limit", "rate")], [8, 2.5])
        self.assertEqual(self.run_.json(NOW)["edges"][1]["drop"], "oldest")
        self.assertEqual(self.said(str(self.run_.process.pid), "lines.made.rate=1e3", code=0), "")
        self.assertEqual(self.component()["rate"], 1000)

    def test_the_topologys_refusal_is_told_in_its_words(self):
        self.made()
        self.assertEqual(self.said("made", "splt.rate=5"), "gale: 'splt.rate=5': there is no component 'splt'; did you mean 'split'?\n")
        self.assertEqual(self.said("made", "lines.made.rate=5", "lines.made.pending=many", "lines.made.rate=6"),
                         "gale: 'lines.made.pending=many': topology.max.spout.pending must be a whole number from 0 (no bound) on; "
                         "what stands before it is set\n")
        self.assertEqual(self.component()["rate"], 5)
        self.assertIn("gale.rate must be a number", self.said("made", "lines.made.rate=inf"))

    def test_words_that_do_not_fit_are_refused_before_anything_is_set(self):
        self.made()
        form = "must be COMPONENT.pending=N, COMPONENT.rate=X or COMPONENT.drop=oldest|newest"
        for word in "rate=5", ".rate=5", "lines.made.rate", "lines.made.rate=", "", "=":
            self.assertEqual(self.said("made", "lines.made.rate=5", word), f"gale: '{word}' {form}\n")
        self.assertEqual(self.said("made", "lines.made.rate=5", "lines.made.parallelism=5"),
                         "gale: 'lines.made.parallelism=5': 'parallelism' cannot be set while a topology runs (pending, rate and drop can; gale restart --set changes the rest)\n")
        self.assertIn("did you mean 'pending'?", self.said("made", "lines.made.pendng=5"))
        for words in [], ["made"]:
            self.assertEqual(self.said(*words), "gale: set wants a topology that runs, and what to set: gale set TOPOLOGY COMPONENT.NAME=VALUE...\n")
        self.assertIn("you run no topology 'mad'; did you mean 'made'?", self.said("mad", "lines.made.rate=5"))
        self.assertEqual(self.component()["rate"], 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
