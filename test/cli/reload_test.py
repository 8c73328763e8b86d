#!/usr/bin/env python3
"""A run that is changed while it goes on: its file read again, and other numbers of tasks.

usage: reload_test.py GALE STORE
"""

import collections
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
STORE = sys.argv[2:] == ["1"]  # a durable run is possible

COUNTS = """
name: counts
config: {topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 50}
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{name: path, value: in.txt}]
    config: {gale.rate: 3000}
bolts:
  - {id: split, className: gale.bolt.Split, parallelism: 2}
  - {id: count, className: gale.bolt.Count, parallelism: 3, properties: [{name: emit, value: finish}]}
  - {id: sink, className: gale.bolt.FileSink, properties: [{name: path, value: out.tsv}]}
streams:
  - {from: lines, to: split, grouping: {type: SHUFFLE}}
  - {from: split, to: count, grouping: {type: FIELDS, args: [word]}}
  - {from: count, to: sink, grouping: {type: GLOBAL}}
"""

ENDLESS = """
name: endless
spouts:
  - {id: words, className: gale.spout.Generator, config: {gale.rate: 500}}
bolts:
  - {id: sink, className: gale.bolt.FileSink, properties: [{name: path, value: out.tsv}]}
streams:
  - {from: words, to: sink, grouping: {type: SHUFFLE}}
"""


HELD = """
name: held
spouts:
  - {id: words, className: gale.spout.Generator, config: {gale.rate: 50}}
bolts:
  - id: sink
    className: gale.bolt.ExecSink
    properties:
      - {name: command, value: "while [ ! -e go ]; do sleep 0.01; done; cat >out.tsv"}
streams:
  - {from: words, to: sink, grouping: {type: SHUFFLE}}
"""

BROKEN = """
name: broken
config: {topology.replay.attempts: 1, topology.dead_letters.file: letters.jsonl}
spouts:
  - {id: lines, className: gale.spout.File, properties: [{name: path, value: in.txt}]}
bolts:
  - {id: numbers, className: gale.bolt.Map, properties: [{name: set, value: {n: "tonumber(line) + 1"}}]}
streams:
  - {from: lines, to: numbers, grouping: {type: SHUFFLE}}
"""


class Client(http.client.HTTPConnection):
    """One request at a run's own socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=120)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(120)
        self.sock.connect(str(self.path))


class Reload(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def start(self, *arguments):
        process = subprocess.Popen([GALE, "run", "t.yaml", "--log-file", "log", "--figures-every", "0", *arguments],
                                   cwd=self.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, env={**os.environ, "XDG_RUNTIME_DIR": str(self.path)})
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.communicate()

    def wait_for(self, condition, process):
        end = time.monotonic() + 120
        while not condition():
            self.assertIsNone(process.poll(), self.log())
            self.assertLess(time.monotonic(), end, self.log())
            time.sleep(0.005)

    def log(self):
        path = self.path / "log"
        return path.read_text() if path.exists() else ""

    def ask(self, process, method, what, body=None):
        """Status and answer; None when it is not there (any more)."""
        name = [line for line in (self.path / "t.yaml").read_text().splitlines() if line.startswith("name: ")][0][6:]
        client = Client(self.path / "gale" / f"{name}.{process.pid}.sock")
        try:
            headers = {"Content-Type": "application/json"} if method == "POST" else {}
            client.request(method, "/api/gale/v1/" + what, None if body is None else json.dumps(body), headers)
            answer = client.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException):
            return None
        finally:
            client.close()

    def change(self, process, what="reload", **body):
        """Asks, and waits until it is over, one way or the other; None when the run is over before that."""
        asked = None
        while not asked:
            if process.poll() is not None:
                return None
            asked = self.ask(process, "POST", what, body)
        self.assertEqual(asked[0], 202, asked)
        while True:
            told = self.ask(process, "GET", "reload")
            if not told:
                process.wait(120)
                return None
            if told[1]["number"] == asked[1]["number"] and told[1]["state"] in ("done", "refused"):
                return told[1]
            time.sleep(0.005)

    def size(self, name):
        path = self.path / name
        return path.stat().st_size if path.exists() else 0

    def tasks(self, process, component):
        while True:
            status, topology = self.ask(process, "GET", "topology")
            if status == 200:
                return [c["tasks"] for c in topology["components"] if c["name"] == component][0]

    def drained(self, process):
        process.send_signal(signal.SIGTERM)
        out = process.communicate(timeout=600)[0]
        self.assertEqual(process.returncode, 0, self.log())
        return out

    # --- Without a state

    def endless(self, *arguments):
        (self.path / "t.yaml").write_text(ENDLESS)
        process = self.start(*arguments)
        self.wait_for(lambda: self.size("out.tsv"), process)
        return process

    def test_a_run_goes_on_with_its_file_as_it_is_by_now(self):
        process = self.endless()
        (self.path / "t.yaml").write_text(ENDLESS.replace("out.tsv", "other.tsv").replace("id: sink,", "id: sink, parallelism: 2,"))
        told = self.change(process)
        self.assertEqual((told["state"], told["text"], told["begun"]), ("done", None, "anew"))
        self.assertGreater(told["stood_still"], 0)
        self.wait_for(lambda: self.size("other.tsv"), process)
        self.assertEqual(self.tasks(process, "sink"), 2)
        self.drained(process)
        self.assertRegex(self.log(), "INFO goes on as it was changed; spouts stood still for ")

    def test_a_sink_goes_on_behind_what_the_run_has_written(self):
        process = self.endless("--log-events", "words")
        for _ in range(3):
            size = self.size("out.tsv")
            self.assertEqual(self.change(process)["state"], "done")
            self.wait_for(lambda: self.size("out.tsv") > size, process)
        self.drained(process)
        events = [json.loads(line)["values"][0] for line in (self.path / "events.jsonl").read_text().splitlines()]
        self.assertEqual((self.path / "out.tsv").read_text().splitlines(), [str(value) for value in events])

    def test_a_file_that_is_wrong_changes_nothing_and_whoever_asked_is_told_why(self):
        process = self.endless()
        (self.path / "t.yaml").write_text(ENDLESS.replace("SHUFFLE", "SHUFLE"))
        told = self.change(process)
        self.assertEqual((told["state"], told["begun"]), ("refused", None))
        self.assertIn("t.yaml:8:46: unknown grouping 'SHUFLE'; did you mean 'SHUFFLE'?", told["text"])
        self.assertIn("ERROR what runs goes on: ", self.log())
        size = self.size("out.tsv")
        self.wait_for(lambda: self.size("out.tsv") > size, process)
        self.drained(process)

    def test_what_cannot_be_opened_brings_the_old_one_back(self):
        process = self.endless()
        (self.path / "t.yaml").write_text(ENDLESS.replace("out.tsv", "no/such/folder/out.tsv"))
        told = self.change(process)
        self.assertEqual((told["state"], told["begun"]), ("refused", "anew"))
        self.assertIn("no/such/folder/out.tsv", told["text"])
        code, _, err = self.gale("reload", "endless")
        self.assertEqual(code, 2)
        self.assertIn("begun again as it was; without --state bolts began with nothing", err)
        self.assertNotIn("nothing is changed", err)
        self.wait_for(lambda: "INFO goes on as it was; spouts stood still for " in self.log(), process)
        size = self.size("out.tsv")
        self.wait_for(lambda: self.size("out.tsv") > size, process)
        (self.path / "t.yaml").write_text(ENDLESS)
        self.assertEqual(self.change(process)["state"], "done")
        self.drained(process)

    def test_spouts_that_pause_pause_still(self):
        process = self.endless()
        self.assertEqual(self.ask(process, "POST", "deactivate", {})[0], 200)
        self.assertEqual(self.change(process)["state"], "done")
        self.assertIs(self.ask(process, "GET", "now")[1]["active"], False)
        size = self.size("out.tsv")
        self.assertEqual(self.change(process)["state"], "done")
        self.assertEqual(self.size("out.tsv"), size)
        self.assertEqual(self.ask(process, "POST", "activate", {})[0], 200)
        self.wait_for(lambda: self.size("out.tsv") > size, process)
        self.drained(process)

    def test_a_run_keeps_its_name(self):
        process = self.endless()
        (self.path / "t.yaml").write_text(ENDLESS.replace("name: endless", "name: other"))
        code, _, err = self.gale("reload", "endless")
        self.assertEqual(code, 2)
        self.assertRegex(err, r"the run is 'endless', and is now to be 'other': a run keeps its name; .*\n +nothing is changed\n")
        (self.path / "t.yaml").write_text(ENDLESS)
        self.drained(process)

    def test_what_failed_before_a_change_is_told_at_the_end(self):
        (self.path / "t.yaml").write_text(BROKEN)
        (self.path / "in.txt").write_text("1\nx\n2\n")
        process = self.start("--json", "--keep-running")
        self.wait_for(lambda: self.size("letters.jsonl"), process)
        self.wait_for(lambda: (self.ask(process, "GET", "now") or (0, {}))[1].get("trees", {}).get("acked") == 2, process)
        (self.path / "in.txt").write_text("3\n")
        for _ in range(2):
            self.assertEqual(self.change(process)["state"], "done")
            self.wait_for(lambda: (self.ask(process, "GET", "now") or (0, {}))[1].get("trees", {}).get("acked") == 1, process)
        process.send_signal(signal.SIGTERM)
        told = json.loads(process.communicate(timeout=600)[0])
        self.assertEqual((process.returncode, told["exit_code"]), (1, 1), self.log())
        self.assertEqual({name: count for name, count in told["before_changes"].items() if count},
                         {"changes": 2, "acked": 3, "failed": 1, "given_up": 1, "dead_letters": 1})
        self.assertEqual((told["acked"], told["failed"]), (1, 0))

    # --- An end is asked for

    def held(self):
        """What is open waits until the file `go` is there."""
        (self.path / "t.yaml").write_text(HELD)
        process = self.start()
        self.wait_for(lambda: ((self.ask(process, "GET", "now") or (0, {}))[1].get("trees") or {}).get("open"), process)
        return process

    def stopping(self):
        """A run that is changed, and stands where it stops."""
        process = self.held()
        asked = self.ask(process, "POST", "reload", {})
        self.assertEqual(asked[0], 202, asked)
        self.wait_for(lambda: self.ask(process, "GET", "reload")[1]["state"] == "stopping", process)
        return process

    def test_a_drain_that_is_asked_for_while_it_is_changed_holds(self):
        process = self.stopping()
        self.assertEqual(self.gale("drain", "held"), (0, "", ""))
        status, answer = self.ask(process, "POST", "reload", {})
        self.assertEqual((status, answer), (409, {"error": "the run is ending, and is not changed any more"}))
        (self.path / "go").write_text("")
        process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0, self.log())
        self.assertNotIn("goes on as it was changed", self.log())

    def test_a_kill_that_is_asked_for_while_it_is_changed_holds(self):
        process = self.stopping()
        self.assertEqual(self.gale("kill", "held")[0], 0)
        process.communicate(timeout=600)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, self.log())
        self.assertNotIn("goes on as it was changed", self.log())

    def test_a_run_that_is_draining_is_changed_no_more(self):
        for end in "drain", "signal":
            with self.subTest(end):
                (self.path / "go").unlink(missing_ok=True)
                (self.path / "log").unlink(missing_ok=True)
                process = self.held()
                if end == "drain":
                    self.assertEqual(self.ask(process, "POST", "drain", {})[0], 200)
                else:
                    process.send_signal(signal.SIGTERM)
                    self.wait_for(lambda: "finishing them" in self.log(), process)
                status, answer = self.ask(process, "POST", "restart", {})
                self.assertEqual((status, answer), (409, {"error": "the run is ending, and is not changed any more"}))
                (self.path / "go").write_text("")
                process.communicate(timeout=600)
                self.assertEqual(process.returncode, 0, self.log())

    def opening(self):
        """A run whose changed topology opens, until somebody writes to the pipe."""
        process = self.endless("--json")
        os.mkfifo(self.path / "pipe")
        (self.path / "t.yaml").write_text(ENDLESS.replace("gale.spout.Generator, ", "gale.spout.File, properties: "
                                                          "[{name: path, value: pipe}], "))
        self.assertEqual(self.ask(process, "POST", "reload", {})[0], 202)
        self.wait_for(lambda: self.ask(process, "GET", "reload")[1]["state"] == "starting", process)
        return process

    def test_a_drain_that_is_asked_for_while_the_changed_one_opens_holds(self):
        process = self.opening()
        self.assertEqual(self.gale("drain", "endless")[0], 0)
        process.communicate(timeout=600)  # though nobody writes to the pipe
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertRegex(self.log(), "stopped while a component was still opening|is still in a call of 'words'")

    def test_a_drain_is_well_when_the_changed_one_had_only_to_open(self):
        process = self.opening()
        self.assertEqual(self.ask(process, "POST", "drain", {})[0], 200)
        try:
            os.close(os.open(self.path / "pipe", os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            pass  # too late: it has been left behind
        out = process.communicate(timeout=600)[0]
        if process.returncode != 128 + signal.SIGTERM:
            told = json.loads(out)
            self.assertEqual((process.returncode, told["exit_code"], told["before_changes"]["changes"]), (0, 0, 1), self.log())
            self.assertGreater(told["before_changes"]["acked"], 0)

    def test_who_waits_for_a_change_is_told_of_an_end_that_went_before_it(self):
        process = self.held()
        waiting = subprocess.Popen([GALE, "reload", "held"], cwd=self.path, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "XDG_RUNTIME_DIR": str(self.path)})
        self.addCleanup(self.end, waiting)
        self.wait_for(lambda: self.ask(process, "GET", "reload")[1]["state"] == "stopping", process)
        self.assertEqual(self.gale("reload", "held"), (2, "", "gale: another one is on its way; ask again\n"))
        self.assertEqual(self.gale("kill", "held")[0], 0)
        process.communicate(timeout=600)
        self.assertRegex(waiting.communicate(timeout=600)[1], "has ended( meanwhile|, before it was changed or just after)\n")
        self.assertIn(waiting.returncode, (1, 2))

    def test_spouts_that_pause_do_so_after_a_change_and_that_is_said(self):
        process = self.endless()
        self.assertEqual(self.gale("deactivate", "endless")[0], 0)
        self.assertIn("\nits spouts pause, as before: gale activate\n", self.gale("reload", "endless")[1])
        self.assertIs(self.ask(process, "GET", "reload")[1]["active"], False)
        self.drained(process)

    # --- What is laid over the file

    def test_what_was_set_is_told_and_can_be_taken_back(self):
        process = self.endless()
        self.assertEqual(self.change(process, "restart", set=["sink.parallelism=3"])["state"], "done")
        self.assertIn("INFO changes have laid over its file: --set sink.parallelism=3\n", self.log())
        self.assertEqual(self.ask(process, "GET", "reload")[1]["laid"], "--set sink.parallelism=3")
        (self.path / "t.yaml").write_text(ENDLESS.replace("id: sink,", "id: out,").replace("to: sink,", "to: out,"))
        code, _, err = self.gale("reload", "endless")
        self.assertEqual(code, 2)
        self.assertIn("earlier changes have laid over the file: --set sink.parallelism=3 (--forget takes that back)", err)
        code, out, err = self.gale("reload", "endless", "--forget")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(self.tasks(process, "out"), 1)
        self.assertIsNone(self.ask(process, "GET", "reload")[1]["laid"])
        self.drained(process)

    def test_other_numbers_are_kept_by_later_changes(self):
        process = self.endless()
        self.assertEqual(self.change(process, "restart", set=["sink.parallelism=3"])["state"], "done")
        self.assertEqual(self.tasks(process, "sink"), 3)
        self.assertEqual(self.change(process)["state"], "done")
        self.assertEqual(self.tasks(process, "sink"), 3)
        self.assertEqual(self.change(process, "restart", set=["sink.parallelism=2"])["state"], "done")
        self.assertEqual(self.tasks(process, "sink"), 2)
        told = self.change(process, "restart", set=["sink.paralelism=4"])
        self.assertEqual(told["state"], "refused")
        self.assertIn("paralelism", told["text"])
        self.assertEqual(self.change(process)["state"], "done")
        self.assertEqual(self.tasks(process, "sink"), 2)
        self.drained(process)

    def test_what_is_asked_otherwise_is_refused_in_words(self):
        process = self.endless()
        for body in ([], {"set": "x"}, {"set": [1]}, {"adopt": ["*"] * 65}, {"config": [None]}, {"forget": 1}):
            status, answer = self.ask(process, "POST", "reload", body)
            self.assertEqual(status, 400, body)
            self.assertIn("lists of at most 64 texts", answer["error"])
        self.assertEqual(self.ask(process, "POST", "reload", {"sets": []}),
                         (400, {"error": "the body has a member 'sets', which is not known here; did you mean 'set'?"}))
        self.assertEqual(self.ask(process, "GET", "reload"), (200, {"number": 0, "state": "none", "text": None,
                                                                   "begun": None, "stood_still": 0.0, "laid": None,
                                                                   "active": True}))
        self.assertIn("adopt", self.change(process, adopt=["*"])["text"])
        self.drained(process)

    # --- The commands

    def gale(self, *words):
        result = subprocess.run([GALE, *words], cwd=self.path, capture_output=True, text=True, timeout=600, check=False,
                                env={**os.environ, "XDG_RUNTIME_DIR": str(self.path)})
        return result.returncode, result.stdout, result.stderr

    def test_reload_and_restart_say_how_long_spouts_stood_still(self):
        process = self.endless()
        for words in (["reload", "endless"], ["restart", "endless", "--set", "sink.parallelism=3"],
                      ["restart", str(process.pid), "-c", "topology.message.timeout.secs=60"]):
            code, out, err = self.gale(*words)
            self.assertEqual((code, err), (0, ""), self.log())
            self.assertRegex(out, r"^changed; spouts stood still for \S+ \w+\n"
                             r"without --state bolts began with nothing, and so did sources that keep no place\n$")
        self.assertEqual(self.tasks(process, "sink"), 3)
        self.drained(process)

    def test_what_is_refused_is_told_with_the_words_of_the_refusal(self):
        process = self.endless()
        (self.path / "t.yaml").write_text(ENDLESS.replace("SHUFFLE", "SHUFLE"))
        code, out, err = self.gale("reload", "endless")
        self.assertEqual((code, out), (2, ""))
        self.assertRegex(err, r"^gale: t.yaml:8:46: unknown grouping 'SHUFLE'; did you mean 'SHUFFLE'\?\n(.*\n)*  nothing is changed\n$")
        self.assertEqual(self.gale("reload", "other")[0], 2)
        self.assertEqual(self.gale("reload")[0], 2)
        self.drained(process)

    # --- Durable

    def counts(self):
        drawn = random.Random(7)
        words = [f"w{drawn.randrange(40)}" for _ in range(24000)]
        (self.path / "t.yaml").write_text(COUNTS)
        (self.path / "in.txt").write_text("".join(" ".join(words[i:i + 4]) + "\n" for i in range(0, len(words), 4)))
        return collections.Counter(words)

    def exact(self, wanted):
        rows = [line.split("\t") for line in (self.path / "out.tsv").read_text().splitlines()]
        self.assertEqual(len(rows), len(wanted), "a word stands there twice")
        self.assertEqual({word: int(count) for word, count in rows}, dict(wanted))

    @unittest.skipUnless(STORE, "built without a store")
    def test_totals_are_exact_over_changes_of_parallelism(self):
        wanted = self.counts()
        process = self.start("--state", "state")
        for count, split in ((1, 3), (5, 1), (2, 2), (4, 3)):
            told = self.change(process, "restart", set=[f"count.parallelism={count}", f"split.parallelism={split}"])
            self.assertEqual((told["state"], told["text"], told["begun"]), ("done", None, "checkpoint"))
            self.assertEqual(self.tasks(process, "count"), count)
        process.wait(600)
        self.assertEqual(process.returncode, 0, self.log())
        self.exact(wanted)

    @unittest.skipUnless(STORE, "built without a store")
    def test_totals_are_exact_whenever_it_is_killed_between_changes(self):
        wanted, drawn, code, life = self.counts(), random.Random(11), None, 0
        while code is None:
            life += 1
            process = self.start("--state", "state")
            for _ in range(drawn.randrange(3)):
                told = self.change(process, "restart", set=[f"count.parallelism={drawn.randrange(1, 6)}"])
                if told:
                    self.assertEqual((told["state"], told["text"]), ("done", None))
            if drawn.random() < 0.5:
                self.ask(process, "POST", "restart", {"set": [f"count.parallelism={drawn.randrange(1, 6)}"]})
            try:
                code = process.wait(drawn.uniform(0, 0.05 * 1.2 ** life))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.assertEqual(code, 0, self.log())
        self.exact(wanted)

    @unittest.skipUnless(STORE, "built without a store")
    def test_a_topology_that_does_not_fit_the_state_is_refused_and_the_old_one_goes_on(self):
        wanted = self.counts()
        process = self.start("--state", "state")
        self.assertEqual(self.change(process)["state"], "done")
        (self.path / "t.yaml").write_text(COUNTS.replace("id: count,", "id: tally,").replace("to: count,", "to: tally,")
                                          .replace("from: count,", "from: tally,"))
        told = self.change(process)
        self.assertEqual(told["state"], "refused")
        self.assertIn("--state-adopt", told["text"])
        told = self.change(process, adopt=["count=tally"])
        self.assertEqual((told["state"], told["text"]), ("done", None))
        process.wait(600)
        self.assertEqual(process.returncode, 0, self.log())
        self.exact(wanted)

    @unittest.skipUnless(STORE, "built without a store")
    def test_another_state_is_refused_before_anything_stops(self):
        self.counts()
        process = self.start("--state", "state")
        told = self.change(process, config=["topology.state.dir=other"])
        # What the command line says of the folder stands above the configuration.
        self.assertEqual(told["state"], "done")
        (self.path / "t.yaml").write_text(COUNTS.replace("name: counts", "name: others"))
        os.rename(self.path / "gale" / f"counts.{process.pid}.sock", self.path / "gale" / f"others.{process.pid}.sock")
        told = self.change(process)
        self.assertEqual((told["state"], told["begun"]), ("refused", None))
        self.assertIn("'others'", told["text"])
        self.drained(process)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
