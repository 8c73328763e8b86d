#!/usr/bin/env python3
"""Two processes that share nothing work at the same time and are told as one; what is said of a second core was found."""

import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import cores
import measured
import run

# A peer whose trial ends only when the other one's has begun: each leaves a mark, and waits for as many as it is told.
PEER = """
import json, os, sys, time
folder, ns, trial = sys.argv[1], float(sys.argv[2]), 0
for _ in sys.stdin:
    trial += 1
    open(os.path.join(folder, f"{trial}-{os.getpid()}"), "w").close()
    for _ in range(3000):
        if len([name for name in os.listdir(folder) if name.startswith(f"{trial}-")]) == 2:
            break
        time.sleep(0.01)
    else:
        sys.exit("alone")
    print(json.dumps({"program": "gale", "flow": "word-count", "acks": True, "executors": 1, "trees": 1000,
                      "seconds": 1.0, "ns": ns, "rss": 10, "first_ms": 1, "settings": "none"}), flush=True)
"""


def line(ns, trees=1000, seconds=1.0, mode="near"):
    return {"ns": ns, "trees": trees, "seconds": seconds, "rss": 10, "settings": "none", "line": mode}


class TwoProcesses(unittest.TestCase):
    def test_they_work_at_the_same_time_and_their_rates_add_up(self):
        with tempfile.TemporaryDirectory() as folder:
            options = {"seconds": 0.1, "warm": 0}
            command = [sys.executable, "-c", PEER, folder]
            pair = cores.Apart("two", [measured.Program("a", command + ["100"], options),
                                       measured.Program("b", command + ["300"], options)])
            try:
                for _ in range(2):
                    trial = pair.trial()
                    self.assertAlmostEqual(75, trial["ns"])  # 1 / (1/100 + 1/300)
                    self.assertEqual((2, 2000, 20), (trial["executors"], trial["trees"], trial["rss"]))
            finally:
                pair.end()

    def test_a_process_that_did_nothing_is_no_figure(self):
        with self.assertRaises(RuntimeError):
            cores.together([line(100), line(None, trees=0)])

    def test_each_has_a_core_and_one_task_of_everything_and_the_two_executors_have_both(self):
        asked = []
        with mock.patch.object(measured, "Program", lambda *words: asked.append(words)):
            cores.subjects("word-count", run.Plan(True), [3, 5]).pop().pool.shutdown()
        found = [(name, command[:3], options["executors"], options["tasks"], options["spouts"])
                 for name, command, options in asked]
        taskset = {where: ["taskset", "-c", where] for where in ("3", "5", "3,5")}
        self.assertEqual([(cores.APART, taskset["3"], 1, 1, 1), (cores.APART, taskset["5"], 1, 1, 1),
                          (cores.ONE, taskset["3,5"], 1, 1, 1), (cores.SAME, taskset["3,5"], 1, 2, 2),
                          (cores.TWO, taskset["3,5"], 2, 2, 2)], found)
        self.assertEqual({"engine"}, {options["place"] for _, _, options in asked})


class Alone(unittest.TestCase):
    def alone(self, shares):
        """A program that in its n-th trial waits for others for so many seconds a second."""
        class Still:
            name = "still"
            made = 0

            def trial(self):
                self.made += 1
                return line(100)
        clock, program = iter(range(1000)), Still()
        with mock.patch.object(cores.time, "monotonic", lambda: next(clock)):
            return cores.Alone(program, lambda p: sum(shares[:p.made])).trial(), program.made

    def test_a_trial_that_had_to_wait_for_others_is_made_again(self):
        trial, made = self.alone([0.5, 0.0])
        self.assertEqual((0, 2), (trial["waited"], made))

    def test_where_others_never_leave_it_says_so_and_does_not_count(self):
        trial, made = self.alone([0.5] * 20)
        self.assertEqual((0.5, cores.AGAIN), (trial["waited"], made))
        disturbed = [{**line(10), "waited": 0.5}, {**line(12), "waited": 0.0}]
        self.assertEqual({"near": {"one": 12}}, cores.by_mode({"one": disturbed}, 1))

    def test_how_long_threads_wait_is_read_from_the_system(self):
        core = {min(os.sched_getaffinity(0))}
        was = os.sched_getaffinity(0)
        os.sched_setaffinity(0, core)  # two that want one core: one of them waits
        try:
            rival = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            before, patience = cores.waited(os.getpid()), cores.time.monotonic() + 30
            while cores.waited(os.getpid()) == before and cores.time.monotonic() < patience:
                pass
        finally:
            os.sched_setaffinity(0, was)
            rival.kill()
            rival.wait()
        self.assertGreater(cores.waited(os.getpid()), before)
        self.assertGreaterEqual(cores.stolen(), 0)


class Modes(unittest.TestCase):
    def test_each_mode_has_medians_of_its_own_and_one_that_some_lack_says_nothing(self):
        one = [line(10), line(12), line(14), line(90, mode="far"), line(50, mode="mixed")]
        two = [line(5), line(6), line(7), line(80, mode="mixed"), line(40, mode="mixed")]
        self.assertEqual({"near": {"one": 12, "two": 6}}, cores.by_mode({"one": one, "two": two}, 1))
        self.assertEqual({}, cores.by_mode({"one": one, "two": two}, 4))

    def test_what_was_not_seen_stays_what_it_was_with_its_commit(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = run.Plan(True)
            plan.folder = folder
            cores.keep({"near": {"word-count": {"a": 1}, "diamond": {"a": 2}}}, plan, "old")
            cores.keep({"near": {"diamond": {"a": 3}}, "far": {"diamond": {"a": 4}}}, plan, "new")
            modes = run.read(os.path.join(folder, "cores.json"))["modes"]
            self.assertEqual({"near": {"word-count": ("old", {"a": 1}), "diamond": ("new", {"a": 3})},
                              "far": {"diamond": ("new", {"a": 4})}},
                             {mode: {flow: (f["commit"], f["ns"]) for flow, f in flows.items()}
                              for mode, flows in modes.items()})


class Verdicts(unittest.TestCase):
    def flows(self, two, apart=None, others=None):
        flows = {flow: {cores.ONE: 100, cores.SAME: 100, cores.TWO: two, cores.APART: apart or 48} for flow in cores.CUT}
        flows.update({flow: {cores.ONE: 100, cores.TWO: others or 100} for flow in cores.OTHERS})
        return flows

    def test_eighty_per_cent_is_enough_and_less_is_named_with_its_share(self):
        self.assertEqual([[], []], [short for _, short in cores.verdicts(self.flows(60))])
        flows = self.flows(60)
        flows["top-words"][cores.TWO] = 64
        self.assertEqual([["top-words 75%"], []], [short for _, short in cores.verdicts(flows)])

    def test_no_flow_may_lose_more_than_a_twentieth(self):
        self.assertEqual([], cores.verdicts(self.flows(60, others=105))[1][1])
        flows = self.flows(60, others=100)
        flows["diamond"][cores.TWO] = 106
        self.assertEqual(["diamond 0.94"], cores.verdicts(flows)[1][1])

    def test_a_flow_that_was_not_measured_is_no_yes(self):
        flows = self.flows(60)
        del flows["keyed-count"], flows["fan-out-10"]
        lacking = ["keyed-count is not measured", "fan-out-10 is not measured"]
        self.assertEqual([lacking[:1], lacking], [short for _, short in cores.verdicts(flows)])

    def test_every_flow_as_fast_as_it_goes_is_among_them(self):
        self.assertEqual(set(run.FLOWS) - set(run.BY_RATE), set(cores.CUT + cores.OTHERS))

    def test_nonsense_is_answered_by_the_usage(self):
        self.assertIn("usage", cores.main(["soon"]))


if __name__ == "__main__":
    unittest.main()
