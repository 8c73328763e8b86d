#!/usr/bin/env python3
"""The peers that are always there do the same work, and the driver sees when peers do not.

usage: maps_test.py PROGRAM          (gale_peer_maps)"""

import subprocess
import sys
import unittest

import maps

PROGRAM = sys.argv.pop()


def peer(name):
    return maps.Peer(name, [PROGRAM, name])


class Maps(unittest.TestCase):
    def test_all_peers_do_the_same_work(self):
        peers = [peer(name) for name in maps.OURS]
        for keys in (100, 1000, 5000):
            for p in peers:
                self.assertEqual(["ok"], p.ask(f"fill {keys} 1"))
            for work in maps.WORKS.values():
                checks = {p.name: p.ask(f"{work} 20000 {keys}")[1] for p in peers}
                self.assertNotIn("0", checks.values())
                maps.compare(checks, 1, work)
        for p in peers:
            p.end()

    def test_every_ack_finds_its_tree_on_one_thread_and_on_two(self):
        for threads in (1, 2):
            for name in ("gale-rotating", "gale-time-cache"):
                p = peer(name)
                p.ask(f"fill 1000 {threads}")
                for seed in range(3):
                    self.assertEqual("10000", p.ask(f"ack 20000 {seed}")[1])
                p.end()

    def test_another_check_is_an_error(self):
        with self.assertRaises(RuntimeError):
            maps.compare({"boost": "1", "gale-rotating": "2"}, 1, "ack")
        maps.compare({"boost": "1", "gale-rotating": "2"}, 1, "zipf")  # one of them forgets

    def test_memory_is_told_after_the_fill_and_after_the_turnovers(self):
        for name in maps.OURS:
            p = peer(name)
            rotation, used, _, turned, _ = (int(word) for word in p.ask("memory 30000"))
            p.end()
            self.assertGreater(rotation, 0)
            self.assertGreater(used, 30000 * maps.PAYLOAD)
            self.assertGreater(turned, 30000 * maps.PAYLOAD)

    def test_a_command_that_it_does_not_know_ends_it(self):
        done = subprocess.run([PROGRAM, "gale-rotating"], input="reads 90 10 1\n", text=True, capture_output=True,
                              check=False)
        self.assertEqual(2, done.returncode)
        self.assertIn("what is", done.stderr)

    def test_aims_are_told_by_the_worst_cell(self):
        plan = maps.Plan(True)
        cells = [{"map": name, "work": "reads 90", "keys": keys, "threads": 1, "ns": ns}
                 for name, keys, ns in (("gale-rotating", 10_000, 10), ("storm-rotating", 10_000, 50),
                                        ("gale-rotating", 64_000, 20), ("storm-rotating", 64_000, 60))]
        told = {what: reached for what, _, reached in maps.aims(cells, {}, plan)}
        self.assertFalse(told["gale-rotating at least 4 times as fast as storm-rotating"])
        self.assertTrue(told["64,000 keys, reads 90: at most 20 ns"])


if __name__ == "__main__":
    unittest.main()
