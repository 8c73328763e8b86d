#!/usr/bin/env python3
"""Dead letters of a running topology, and their replay.

usage: letters_test.py GALE
"""

import json
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

import rig

rig.Case.gale = str(Path(sys.argv[1]).resolve())
LETTERS = "/api/gale/v1/dead-letters"
JSON = {"Content-Type": "application/json"}


class Letters(rig.Case):
    def start(self, *lines):
        return rig.Run(self, self.gale, rig.LETTERS, lines=lines)

    def told(self, run, count):
        """When so many have been given up."""
        return rig.until(lambda: (told := run.json(LETTERS))["total"] == count and told, f"{count} letters")

    def stats(self, run):
        env = dict(os.environ, XDG_RUNTIME_DIR=str(run.runtime))
        return subprocess.run([self.gale, "stats"], capture_output=True, text=True, timeout=rig.PATIENCE, check=True, env=env).stdout

    def replay(self, run, wish):
        return run.ask(LETTERS + "/replay", "POST", json.dumps(wish), JSON)

    def test_the_newest_is_first_and_says_what_failed_where_and_why(self):
        begun = int(time.time() * 1000) / 1000
        run = self.start("5", "0", "<b>", "7")
        told = self.told(run, 2)
        self.assertEqual(told["file"], "letters.json")
        self.assertEqual([letter["values"] for letter in told["letters"]], [["<b>"], ["0"]])
        last = told["letters"][1]
        self.assertEqual((last["spout"], last["stream"], last["component"], last["reason"]), ("lines", "default", "number", "failed"))
        self.assertIn("divide by zero", last["text"])
        self.assertTrue(begun <= told["letters"][1]["time"] <= told["letters"][0]["time"] <= time.time())
        self.assertEqual(len(run.json(LETTERS + "?max=1")["letters"]), 1)

    def test_one_is_replayed_and_given_up_again(self):
        run = self.start("0", "x", "1")
        told = self.told(run, 2)
        self.assertRegex(self.stats(run), r"\ntrees: \d+ acked, 2 failed, \d+ open, 2 given up, 2 dead letters")
        status, _, text = self.replay(run, {"ids": [told["letters"][1]["id"]]})
        self.assertEqual((status, json.loads(text)), (200, {"replayed": 1, "unknown": []}))
        self.assertEqual([letter["values"] for letter in self.told(run, 3)["letters"]], [["0"], ["x"], ["0"]])

    def test_all_are_replayed(self):
        run = self.start("0", "x", "1")
        self.told(run, 2)
        self.assertEqual(json.loads(self.replay(run, {"all": True})[2]), {"replayed": 2, "unknown": []})
        self.told(run, 4)

    def test_a_wish_that_is_none_and_a_letter_that_is_not_there_are_refused(self):
        run = self.start("0")
        self.told(run, 1)
        for wish in {}, [], {"ids": []}, {"ids": "0"}, {"all": False}, {"all": True, "ids": ["0"]}, {"ids": ["0"] * 1001}:
            status, _, text = self.replay(run, wish)
            self.assertEqual(status, 400, wish)
            self.assertIn("/dead-letters", json.loads(text)["error"])
        for wish in {"ids": ["1"]}, {"ids": ["x"]}:
            self.assertEqual(self.replay(run, wish)[0], 404, wish)
        self.told(run, 1)

    def test_ids_are_texts_and_members_those_that_are_known(self):
        run = self.start("0")
        self.told(run, 1)
        for wish, words in ({"ids": [0]}, "ids are texts"), ({"ids": ["0", None]}, "ids are texts"), \
                ({"all": True, "id": ["0"]}, "the body has a member 'id', which is not known here; did you mean 'ids'?"):
            status, _, text = self.replay(run, wish)
            self.assertEqual(status, 400, wish)
            self.assertIn(words, json.loads(text)["error"])
        self.told(run, 1)

    def test_ids_that_are_not_there_are_told(self):
        run = self.start("0")
        first = self.told(run, 1)["letters"][0]["id"]
        status, _, text = self.replay(run, {"ids": ["5", first, "x<y"]})
        self.assertEqual((status, json.loads(text)["replayed"], json.loads(text)["unknown"]), (200, 1, ["5", "x<y"]))

    def test_lines_that_are_no_letters_are_passed_over(self):
        run = self.start("0")
        self.told(run, 1)
        with open(run.path / "letters.json", "a") as file:
            file.write('no letter\n\n{"component":"lines"}\nhalf of on')
        self.assertEqual(len(run.json(LETTERS)["letters"]), 1)
        self.assertEqual(json.loads(self.replay(run, {"all": True})[2]), {"replayed": 1, "unknown": []})

    def test_of_a_long_file_the_end_is_read(self):
        run = self.start("0")
        first = self.told(run, 1)["letters"][0]["id"]
        path = run.path / "letters.json"
        line = path.read_text()
        path.write_text(line * (3 * 2**20 // len(line)))
        told = run.json(LETTERS + "?max=1000")
        self.assertEqual(len(told["letters"]), 1000)
        self.assertTrue(all(int(letter["id"]) % len(line) == 0 for letter in told["letters"]))
        self.assertEqual(self.replay(run, {"ids": [first]})[0], 404)

    def test_a_run_without_a_file_has_none(self):
        run = self.run_words()
        self.assertEqual(run.json(LETTERS), {"file": None, "total": 0, "letters": []})
        self.assertEqual(self.replay(run, {"all": True})[0], 404)

    def test_a_file_that_has_gone_is_told(self):
        run = self.start("0")
        self.told(run, 1)
        (run.path / "letters.json").unlink()
        status, _, text = run.ask(LETTERS)
        self.assertEqual(status, 503)
        self.assertIn("letters.json", json.loads(text)["error"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
