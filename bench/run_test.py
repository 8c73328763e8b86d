#!/usr/bin/env python3
"""Every flow and every limit prints a valid line, and the driver takes trials in turn, keeps like with like, and refuses
nonsense.

usage: run_test.py PROGRAMS          (the folder of gale_bench_flow, gale_bench_limit, gale_bench_line)"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import measured
import run

PROGRAMS = sys.argv.pop()
GALE = [os.path.join(PROGRAMS, "gale_bench_flow")]
LIMIT = [os.path.join(PROGRAMS, "gale_bench_limit")]
SHORT = {"seconds": 0.03, "warm": 0.01}
LIMITS = {"const-null": (1, 2), "const-id-null": (1, 2), "word-count": (1, 2), "fan-out-10": (1,), "diamond": (1,),
          "keyed-count": (1,)}

# A peer that speaks the protocol: its second trial takes half as long a tree as its first, and so on.
PEER = """
import json, sys
trial = 0
for _ in sys.stdin:
    trial += 1
    print(json.dumps({"program": "peer", "flow": "const-null", "acks": True, "executors": 1, "trees": 100 * trial,
                      "seconds": 1.0, "ns": 1e7 / trial, "p50_us": None, "p99_us": None, "p999_us": None,
                      "rss": 1, "first_ms": 1, "settings": "none"}), flush=True)
"""


def ask(command, options, trials=1):
    program = measured.Program("it", command, {**SHORT, "trials": trials, **options})
    try:
        return [program.trial() for _ in range(trials)]
    finally:
        program.end()


def status(command, *words):
    return subprocess.run(command + list(words), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


class StillLine:
    """The distance between cores, as a test wants it."""

    def __init__(self, trips):
        self.trips = list(trips)

    def trip(self):
        return self.trips.pop(0) if len(self.trips) > 1 else self.trips[0]


class Programs(unittest.TestCase):
    def test_every_flow_prints_a_valid_line(self):
        for flow in run.FLOWS + ["open-trees"]:
            for acks in ("on", "off"):
                for executors in (1, 2):
                    with self.subTest(flow=flow, acks=acks, executors=executors):
                        for seconds in (0.1 if flow in run.BY_RATE else 0.03, 1, 10):  # others may want the cores
                            trial, = ask(GALE, {"flow": flow, "acks": acks, "executors": executors,
                                                "seconds": seconds})
                            if trial["trees"] > 0:
                                break
                        self.assertEqual((flow, acks == "on", executors),
                                         (trial["flow"], trial["acks"], trial["executors"]))
                        self.assertGreater(trial["trees"], 0)
                        units = trial.get("words", trial["trees"])
                        self.assertAlmostEqual(trial["seconds"] * 1e9 / units, trial["ns"], delta=trial["ns"] / 1000)
                        self.assertGreater(trial["first_ms"], 0)
                        self.assertGreater(trial["rss"], 0)

    def test_every_limit_prints_a_valid_line(self):
        for flow, able in LIMITS.items():
            for acks in ("on", "off"):
                for executors in able:
                    with self.subTest(flow=flow, acks=acks, executors=executors):
                        for seconds in (0.03, 1, 10):  # others may want the cores
                            trials = ask(LIMIT, {"flow": flow, "acks": acks, "executors": executors,
                                                 "seconds": seconds}, trials=2)
                            if all(t["trees"] > 0 for t in trials):
                                break
                        self.assertTrue(all(t["trees"] > 0 and t["program"] == "limit" for t in trials))

    def test_a_sentence_has_ten_words(self):
        for command in (GALE, LIMIT):
            trial, = ask(command, {"flow": "word-count"})
            self.assertEqual(10 * trial["trees"], trial["words"])

    def test_latency_is_told_when_one_tree_is_in_flight_and_when_trees_are_paced(self):
        asked = [(GALE, {"pending": 1}), (LIMIT, {"pending": 1}), (LIMIT, {"pending": 1, "executors": 2}),
                 (GALE, {"rate": 100000}), (GALE, {"rate": 2000000, "executors": 2})]
        for command, options in asked:
            with self.subTest(options=options):
                trial, = ask(command, {"flow": "const-null", "seconds": 0.1, **options})
                self.assertLessEqual(trial["p50_us"], trial["p99_us"])
                self.assertLessEqual(trial["p99_us"], trial["p999_us"])
                self.assertGreater(trial["p50_us"], 0)

    def test_paced_load_sends_no_more_than_was_intended(self):
        trial, = ask(GALE, {"flow": "const-null", "rate": 10000, "seconds": 0.2})
        self.assertLessEqual(trial["trees"], 10000 * trial["seconds"] * 1.3 + 100)  # those due from the warming up

    def test_more_spout_tasks_emit_more(self):
        for seconds in (0.1, 1, 10):  # others may want the cores
            trial, = ask(GALE, {"flow": "low-throughput", "spouts": 4, "seconds": seconds})
            most_of_one = 1000 * trial["seconds"] + 1  # it sleeps a millisecond after each
            if trial["trees"] > most_of_one:
                break
        self.assertGreater(trial["trees"], most_of_one)

    def test_a_counted_run_makes_that_many_trees(self):
        for command in (GALE, LIMIT):
            done = status(command, "--flow", "const-null", "--trees", "5000")
            self.assertGreaterEqual(json.loads(done.stdout)["trees"], 5000)
            self.assertLess(json.loads(done.stdout)["trees"], 7000)

    def test_a_flow_that_is_not_there_is_status_3_and_one_line(self):
        for command, words in ((GALE, ("--flow", "nothing")), (LIMIT, ("--flow", "top-words")),
                               (LIMIT, ("--flow", "const-null", "--rate", "1000")),
                               (LIMIT, ("--flow", "diamond", "--executors", "2"))):
            done = status(command, *words)
            self.assertEqual((3, 1), (done.returncode, len(done.stderr.splitlines())), done.stderr)

    def test_nonsense_is_status_2_and_a_sentence(self):
        for words in (("--flow",), ("--flow", "const-null", "--acks", "maybe"), ("--acks", "on"),
                      ("--flow", "const-null", "--executors", "0"), ("--flow", "const-null", "--seconds", "soon"),
                      ("--flow", "const-null", "--trials", "1.5"), ("--flow", "const-null", "--speed", "1"), ("--flow", "const-null", "--spouts", "9"),
                      ("--flow", "const-null", "--trees", "10", "--rate", "1000")):
            done = status(GALE, *words)
            self.assertEqual((2, 1), (done.returncode, len(done.stderr.splitlines())), words)

    def test_the_line_answers_each_question(self):
        line = measured.Line(os.path.join(PROGRAMS, "gale_bench_line"))
        trips = [line.trip() for _ in range(3)]
        line.end()
        self.assertTrue(all(trip >= 0 for trip in trips))


class Driver(unittest.TestCase):
    def test_a_plan_is_full_unless_quick_is_asked_for(self):
        self.assertEqual([False, False, True, True], [run.plan_of(words).quick for words in
                                                      ([], ["full"], ["quick"], ["--quick"])])
        self.assertIsNone(run.plan_of(["quick", "full"]))

    def take_turns(self, trips, executors=2):
        plan = run.Plan(True)
        plan.trials = 4
        programs = [measured.Program(name, [sys.executable, "-c", PEER], SHORT) for name in ("a", "b")]
        try:
            return run.take_turns(programs, run.cell("const-null", executors=executors), plan, StillLine(trips))
        finally:
            for program in programs:
                program.end()

    def test_programs_take_turns_and_each_is_asked_as_often(self):
        trials, kept = self.take_turns([100])
        self.assertEqual("near", kept)
        self.assertEqual([[100, 200, 300, 400]] * 2, [[t["trees"] for t in found] for found in trials.values()])

    def test_only_trials_of_the_prevailing_mode_count(self):
        trials, kept = self.take_turns([100] * 2 + [100, 500] + [500])
        self.assertEqual("far", kept)
        of = measured.summary(trials["b"], kept)
        self.assertEqual(4, of["of"])
        self.assertEqual(3, of["trials"])
        self.assertEqual("mixed", measured.mode(100, 500))

    def test_the_mode_is_nothing_to_one_executor(self):
        self.assertIsNone(self.take_turns([500], executors=1)[1])

    def test_full_goes_on_until_there_is_enough_in_one_mode(self):
        plan = run.Plan(False)
        self.assertFalse(run.enough(9, plan, [9, 8]))
        self.assertTrue(run.enough(9, plan, [9, 9]))
        self.assertTrue(run.enough(18, plan, [3, 3]))
        self.assertTrue(run.enough(3, run.Plan(True), [1, 1]))

    def test_a_line_that_does_not_fit_is_refused(self):
        good = {"program": "x", "flow": "f", "acks": True, "executors": 1, "trees": 10, "seconds": 1.0, "ns": 1e8,
                "rss": 1, "settings": ""}
        self.assertIsNone(measured.check(dict(good))["p50_us"])
        for key, value in (("trees", -1), ("seconds", 0), ("ns", None), ("acks", "on"), ("p50_us", "fast")):
            with self.assertRaises(RuntimeError, msg=key):
                measured.check({**good, key: value})

    def test_a_program_that_fails_says_why(self):
        failing = [sys.executable, "-c", "import sys; sys.exit('no room')"]
        with self.assertRaisesRegex(RuntimeError, "no room"):
            ask(failing, {"flow": "const-null"})
        lacking = [sys.executable, "-c", "import sys; print('none', file=sys.stderr); sys.exit(3)"]
        with self.assertRaises(measured.Lacking):
            ask(lacking, {"flow": "const-null"})

    def test_one_that_fails_is_left_out_and_the_others_go_on(self):
        failing = PEER + "    if trial == 2: sys.exit('enough')\n"
        programs = [measured.Program(name, [sys.executable, "-c", text], SHORT)
                    for name, text in (("a", PEER), ("b", failing), ("c", PEER))]
        trials, _ = run.take_turns(programs, run.cell("const-null"), run.Plan(True), StillLine([100]))
        for program in programs:
            program.end()
        self.assertEqual({"a": 3, "c": 3}, {name: len(found) for name, found in trials.items()})

    def test_the_best_is_kept_beside_the_newest(self):
        def found(gale, limit, line="near"):
            c = run.cell("const-null")._asdict()
            return {**c, "name": "a", "line": line, "programs": {"gale": {"ns": gale}, "limit": {"ns": limit}}}
        with tempfile.TemporaryDirectory() as folder:
            plan = run.Plan(True)
            plan.folder = folder
            for of, cells in (("1", [found(30, 10)]), ("2", [found(22, 11)]), ("3", [found(25, 10)]),
                              ("4", [found(90, 10, "far")])):
                run.keep("const-null", cells, plan, of)
            newest, best = (run.read(os.path.join(folder, *path)) for path in
                            (["const-null.json"], ["best", "const-null.json"]))
            self.assertEqual("4", newest["commit"])
            self.assertEqual({"near": "2", "far": "4"}, {c["line"]: c["commit"] for c in best["cells"]})

    def test_the_driver_refuses_nonsense(self):
        driver = [sys.executable, os.path.join(measured.HERE, "run.py")]
        for words in ((), ("fast",), ("quick", "full")):
            done = status(driver, *words)
            self.assertNotEqual(0, done.returncode)
            self.assertIn("usage", done.stderr)


if __name__ == "__main__":
    unittest.main()
