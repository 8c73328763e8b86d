#!/usr/bin/env python3
"""What others see of a run in Python, and how it ends: as one of `gale run`.

usage: outside_test.py GALE
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import gale
from rig import SECONDS, wait

GALE = sys.argv.pop(1)

PROGRAM = """
import gale, signal, sys, threading
@gale.spout(outputs=["n"])
def numbers():
    for n in range(4): yield [n]
    while {endless}: threading.Event().wait(0.01); yield [1]
class Bolt(gale.Bolt):
    def execute(self, tuple):
        if tuple[0] % 2 or not {some}: {what}
        else: self.out.ack(tuple)
        if tuple[0] == 3: print("seen", flush=True)
topology = gale.Topology("ends", config={config})
topology.add_spout("numbers", numbers)
topology.add_bolt("bolt", Bolt).shuffle_grouping("numbers")
with topology, gale.Runtime(topology, until_drained=True) as runtime: runtime.run()
"""
FAILS, REJECTS, ACKS = 'self.out.fail(tuple, "no")', 'self.out.reject(tuple, "no")', "self.out.ack(tuple)"


class Ends(unittest.TestCase):
    def ends(self, what, some=False, config=None, endless=False):
        program = PROGRAM.format(what=what, some=some, config=config or {}, endless=endless)
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if endless:
            self.assertEqual(process.stdout.readline(), "seen\n")
            process.send_signal(signal.SIGTERM)
        _, self.said = process.communicate(timeout=SECONDS)
        return process.returncode

    def test_a_run_ends_with_the_exit_code_of_gale_run(self):
        self.assertEqual(self.ends(ACKS), 0)
        for what in FAILS, REJECTS:
            for some in False, True:
                with self.subTest(what, some=some):
                    self.assertEqual(self.ends(what, some), 1)
                    self.assertRegex(self.said, "FailedForGood: the run has ended, and something failed for good: of 4 trees "
                                                f"{2 if some else 4} (failed|rejected)")

    def test_what_the_engine_gives_up_counts_once(self):
        self.assertEqual(self.ends(FAILS, config={"topology.replay.attempts": 2}), 1)
        self.assertIn("4 given up", self.said)
        self.assertNotIn("gives up the tuple", self.said)

    def test_a_drain_by_a_signal_says_so_too(self):
        self.assertEqual(self.ends(ACKS, endless=True), 0)
        self.assertEqual(self.ends(REJECTS, endless=True), 1)

    def test_what_failed_is_in_the_exception(self):
        topology = gale.Topology("fails")
        topology.add_spout("numbers", gale.spout(lambda: iter([[1], [2]]), outputs=["n"]))
        topology.add_bolt("bolt", gale.bolt(lambda tuple, out: 1 / 0)).shuffle_grouping("numbers")
        with topology, gale.Runtime(topology, until_drained=True, log=None) as runtime:
            with self.assertRaises(gale.FailedForGood) as caught:
                runtime.run()
            self.assertEqual(caught.exception.stats.failed, 2)
            with self.assertRaises(gale.FailedForGood):
                runtime.wait(0)


class Seen(unittest.TestCase):
    def setUp(self):
        @gale.spout(outputs=["n"])
        def numbers():
            while True:
                yield [1]
        self.topology = gale.Topology("seen")
        self.topology.add_spout("numbers", numbers)
        self.topology.set("topology.max.spout.pending", 10)
        self.topology.add_bolt("bolt", gale.bolt(lambda tuple, out: None)).shuffle_grouping("numbers")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)

    def runs(self):
        done = subprocess.run([GALE, "ps", "--json"], capture_output=True, text=True, timeout=SECONDS, check=True)
        return [run["name"] for run in json.loads(done.stdout)["running"] if run["pid"] == os.getpid()]

    def test_ps_sees_a_run_while_it_lasts_and_drain_ends_it(self):
        with gale.Runtime(self.topology, log=None) as runtime:
            self.topology.close()  # what serves it keeps what it shows
            self.assertEqual((self.runs(), runtime.url), ([], ""))
            runtime.start()
            self.assertEqual(self.runs(), ["seen"])
            drain = subprocess.Popen([GALE, "drain", "seen", "--wait"], stdout=subprocess.PIPE, text=True)
            wait(runtime)
        self.assertIn("(exit code 0)", drain.communicate(timeout=SECONDS)[0])
        self.assertEqual((drain.returncode, self.runs()), (0, []))

    def test_a_hidden_run_is_not_seen(self):
        with self.topology, gale.Runtime(self.topology, log=None, hidden=True) as runtime:
            runtime.start()
            self.assertEqual(self.runs(), [])

    def test_an_address_serves_the_page_and_metrics(self):
        with self.topology, gale.Runtime(self.topology, log=None, listen="127.0.0.1:0") as runtime:
            runtime.start()
            self.assertRegex(runtime.url, r"^http://127\.0\.0\.1:\d+/\?token=\w+$")
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            page = browser.open(runtime.url, timeout=SECONDS).read()
            address, token = runtime.url.split("/?token=")
            asks = urllib.request.Request(f"{address}/metrics", headers={"Authorization": f"Bearer {token}"})
            metrics = urllib.request.urlopen(asks, timeout=SECONDS).read()
        self.assertIn(b"<html", page)
        self.assertIn(b'gale_', metrics)

    def test_an_address_that_cannot_be_is_an_error_and_leaves_nothing(self):
        with self.topology, self.assertRaisesRegex(gale.GaleError, "0.0.0.0"):
            gale.Runtime(self.topology, log=None, listen="0.0.0.0:0")


if __name__ == "__main__":
    unittest.main()
