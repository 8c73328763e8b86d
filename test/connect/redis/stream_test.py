#!/usr/bin/env python3
"""gale.spout.RedisStream, by gale's command line, against a server of Debian's.

usage: stream_test.py GALE PLUGINS [CLASS...]
"""

import json
import random
import re
import signal
import socket
import subprocess
import threading
import time

from case import KILLS, SERVER_KILLS, Case, main, properties, redis

TOPOLOGY = """
name: read
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100{config}}}
spouts:
  - id: stream
    className: gale.spout.RedisStream
    properties:
{spout}
bolts:
{bolts}
streams:
{streams}
"""
FILE = ["out", "gale.bolt.FileSink", {"path": "out", "format": "json"}]


class Reading(Case):
    def read(self, *bolts, config="", **spout):
        """The stream through bolts, each (id, class, properties)."""
        given = {**self.given, "streams": ["s"], "group": "g", **spout}
        bolts = bolts or (FILE,)
        lines = "".join(f"  - id: {name}\n    className: {kind}\n    properties:\n{properties(**values)}" for name, kind, values in bolts)
        chain = ["stream", *(name for name, _, _ in bolts)]
        ways = "".join(f"  - {{from: {a}, to: {b}, grouping: {{type: SHUFFLE}}}}\n" for a, b in zip(chain, chain[1:]))
        (self.path / "t.yaml").write_text(TOPOLOGY.format(spout=properties(**given), bolts=lines, streams=ways, config=config))

    def add(self, count, stream="s", first=0):
        self.server.many([("XADD", stream, "*", "n", n, "name", f"name {n}") for n in range(first, first + count)])

    def out(self):
        path = self.path / "out"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def pending(self, stream="s", group="g"):
        try:
            return self.server("XPENDING", stream, group)[0]
        except redis.Wrong:  # there is no group yet
            return -1


class Reads(Reading):
    def test_entries_are_tuples_and_are_acked(self):
        self.add(5000)
        self.read(untilEnd=True, emit=["id", "stream", "time", "entry"], fields=["n", "missing"])
        self.gale("run", "t.yaml")
        there = self.server("XRANGE", "s", "-", "+")
        rows = self.out()
        self.assertEqual([row["id"] for row in rows], [name for name, _ in there])
        self.assertEqual(rows[7], {"id": there[7][0], "stream": "s", "time": int(there[7][0].split("-")[0]), "entry": {"n": "7", "name": "name 7"}, "n": "7", "missing": None})
        self.assertEqual(self.pending(), 0)

    def test_many_are_acked_by_one_command(self):
        self.add(5000)
        self.server("CONFIG", "RESETSTAT")
        self.read(untilEnd=True, fields=["n"])
        self.gale("run", "t.yaml")
        said = re.search(r"cmdstat_xack:calls=(\d+)", self.server("INFO", "commandstats"))
        self.assertLess(int(said[1]), 2500)
        self.assertEqual((len(self.out()), self.pending()), (5000, 0))

    def test_many_of_several_streams_are_acked_each_in_its_own(self):
        for n in range(2000):
            self.server("XADD", f"s{n % 4}", f"{n + 1}-0", "n", n)
        self.read(streams=[f"s{n}" for n in range(4)], untilEnd=True, fields=["n"], batch=3)
        self.gale("run", "t.yaml")
        self.assertEqual(sorted(int(row["n"]) for row in self.out()), list(range(2000)))
        self.assertEqual([self.pending(f"s{n}") for n in range(4)], [0] * 4)

    def test_one_that_may_be_open_is_acked_before_the_next(self):
        self.add(20)
        self.read(untilEnd=True, fields=["n"], inFlight=1)
        self.gale("run", "t.yaml")
        self.assertEqual([int(row["n"]) for row in self.out()], list(range(20)))
        self.assertEqual(self.pending(), 0)

    def test_what_is_new_comes_at_once(self):
        self.read(fields=["n"])
        process = self.start()
        self.wait_for(lambda: self.server("EXISTS", "s"))
        for n in range(3):
            self.add(1, first=n)
            self.wait_for(lambda: len(self.out()) == n + 1)
        self.wait_for(lambda: self.pending() == 0)
        self.stop(process)
        self.assertEqual([row["n"] for row in self.out()], ["0", "1", "2"])

    def test_a_group_begins_where_it_is_told(self):
        self.add(10)
        self.read(untilEnd=True, fields=["n"], start="$")
        self.gale("run", "t.yaml")
        self.assertEqual(self.out(), [])
        self.add(2, first=10)
        self.gale("run", "t.yaml")  # the group is there, and goes on
        self.assertEqual([row["n"] for row in self.out()], ["10", "11"])

    def test_several_streams_are_read_by_several_tasks(self):
        for n in range(300):
            self.server("XADD", f"s{n % 3}", "*", "n", n)
        self.read(streams=["s0", "s1", "s2"], untilEnd=True, fields=["n"], batch=7)
        path = self.path / "t.yaml"
        path.write_text(path.read_text().replace("className: gale.spout.RedisStream", "className: gale.spout.RedisStream\n    parallelism: 3"))
        self.gale("run", "t.yaml")
        self.assertEqual(sorted(int(row["n"]) for row in self.out()), list(range(300)))
        self.assertEqual([self.pending(f"s{n}") for n in range(3)], [0, 0, 0])
        self.assertEqual(len(self.server("XINFO", "CONSUMERS", "s0", "g")), 3)

    def test_no_more_are_open_than_is_told(self):
        self.add(1000)
        self.read(("keep", "gale.bolt.RedisSink", {**self.given, "server": "127.0.0.1:1", "command": "XADD", "key": "x", "finishWait": 0}), fields=["n"], inFlight=70)
        process = self.start()
        self.wait_for(lambda: self.pending() >= 70)
        time.sleep(0.3)
        self.assertEqual(self.pending(), 70)
        process.kill()

    def test_what_a_killed_run_left_comes_first(self):
        self.test_no_more_are_open_than_is_told()
        self.read(untilEnd=True, fields=["n"])
        self.gale("run", "t.yaml")
        self.assertEqual([int(row["n"]) for row in self.out()], list(range(1000)))
        self.assertEqual(self.pending(), 0)

    def test_what_a_dead_consumer_left_is_claimed(self):
        self.add(1000)
        self.server("XGROUP", "CREATE", "s", "g", "0")
        self.server("XREADGROUP", "GROUP", "g", "dead", "COUNT", 500, "STREAMS", "s", ">")
        self.read(fields=["n"], claimAfter=0.2, batch=30)
        process = self.start()
        self.wait_for(lambda: len(self.out()) >= 1000 and self.pending() == 0)
        self.stop(process)
        self.assertEqual(sorted(int(row["n"]) for row in self.out()), list(range(1000)))

    def test_what_was_deleted_meanwhile_is_done(self):
        self.add(10)
        self.server("XGROUP", "CREATE", "s", "g", "0")
        self.read(untilEnd=True, fields=["n"], consumer="me")
        self.server("XREADGROUP", "GROUP", "g", "me/0", "COUNT", 5, "STREAMS", "s", ">")
        self.server("XTRIM", "s", "MAXLEN", 7)
        self.gale("run", "t.yaml")
        self.assertEqual([int(row["n"]) for row in self.out()], list(range(3, 10)))
        self.assertEqual(self.pending(), 0)

    def test_what_is_given_up_is_a_dead_letter(self):
        self.add(10)
        self.server("XADD", "s", "*", "odd", "1", "odd", "2")
        self.server("SET", "k3", "x")
        self.server("LPUSH", "k5", "x")
        self.read(("out", "gale.bolt.RedisSink", {**self.given, "command": "INCRBY", "key": "k{n}"}), untilEnd=True, fields=["n", "name"], deadLetters="dead", maxAttempts=2)
        log = self.gale("run", "t.yaml", code=1)
        ids = [entry[0] for entry in self.server("XRANGE", "s", "-", "+")]
        self.assertIn(f"entry {ids[3]} of s given up after 1 attempt: rejected: ERR value is not an integer", log)
        letters = [dict(zip(fields[::2], fields[1::2])) for _, fields in self.server("XRANGE", "dead", "-", "+")]
        letters.sort(key=lambda one: one.get("n", "9"))
        self.assertEqual([(one.get("n"), one.get("name")) for one in letters], [("3", "name 3"), ("5", "name 5"), (None, None)])
        self.assertIn("ERR value is not an integer", letters[0]["gale:why"])
        self.assertIn("WRONGTYPE", letters[1]["gale:why"])
        self.assertEqual((letters[2]["odd"], letters[2]["gale:from"], letters[2]["gale:id"]), ("2", "s", self.server("XRANGE", "s", "-", "+")[10][0]))
        self.assertEqual(self.pending(), 0)

    def test_an_entry_that_can_be_no_tuple_is_told_and_left_out(self):
        self.server("XADD", "s", "*", b"\xff", "1")
        self.server.many([("XADD", "s", "*", *(f"{n}" for n in range(2200)))])
        self.server("XADD", "s", "*", "n", b"\xff\x00")
        self.read(untilEnd=True, emit=["id", "entry"])
        said = self.gale("run", "t.yaml", code=1)
        self.assertIn("a field's name is no UTF-8", said)
        self.assertIn("it has more than 1024 fields", said)
        self.assertEqual(len(self.out()), 1)
        self.assertEqual(self.pending(), 0)

    def test_entries_that_are_too_large_together_come_one_by_one(self):
        self.server.many([("XADD", "s", "*", "n", f"{n}:" + "x" * 30_000) for n in range(50)])
        self.read(("cut", "gale.bolt.Map", {"set": {"n": "n:sub(1, 3)"}}), FILE, untilEnd=True, fields=["n"], maxReply=100_000)
        self.gale("run", "t.yaml")
        self.assertEqual(sorted({int(row["n"].split(":")[0]) for row in self.out()}), list(range(50)))


class Words(Reading):
    def check(self, expected, **spout):
        self.read(**spout)
        said = self.gale("check", "t.yaml", code=2)
        self.assertIn(expected, said)
        self.assertRegex(said, r"t\.yaml:\d+:\d+: ")

    def test_settings_that_make_no_sense_are_refused_at_their_place(self):
        self.check("streams: it names none", streams=[])
        self.check("streams: a stands there twice", streams=["a", "a"])
        self.check("start: 'now' is neither", start="now")
        self.check("emit: ", emit=["idd"])
        self.check("fields: 'id' is emitted already", emit=["id"], fields=["id"])
        self.check("consumer: a name has at most 200 bytes", consumer="x" * 201)

    def test_a_group_before_what_is_kept_by_key_is_no_mistake(self):
        """There is no number that would fix its share (decision 45): the page says what several processes would each count."""
        self.read(("counts", "gale.bolt.Count", {"key": "n"}), FILE, fields=["n"])
        path = self.path / "t.yaml"
        path.write_text(path.read_text().replace("{from: stream, to: counts, grouping: {type: SHUFFLE}}", "{from: stream, to: counts, grouping: {type: FIELDS, args: [n]}}"))
        self.gale("check", "t.yaml")

    def test_a_key_that_is_no_stream_is_told(self):
        self.server("SET", "s", "x")
        self.read(fields=["n"])
        process = self.start()
        self.wait_for(lambda: "the server says: WRONGTYPE" in self.log())
        self.server("DEL", "s")
        self.add(1)
        self.wait_for(lambda: len(self.out()) == 1)
        self.stop(process)

    def test_a_group_that_is_gone_is_made_again(self):
        self.read(fields=["n"])
        process = self.start()
        self.wait_for(lambda: self.server("EXISTS", "s"))
        self.server("FLUSHALL")
        self.wait_for(lambda: "NOGROUP" in self.log() or "UNBLOCKED" in self.log())
        self.add(1)
        self.wait_for(lambda: len(self.out()) == 1)
        self.stop(process)

    def test_another_stream_does_not_go_on_with_what_was_kept(self):
        self.add(10)
        self.read(untilEnd=True, fields=["n"])
        process = self.start("--state", "state", "--rate", "5")
        self.wait_for(lambda: len(self.out()) > 1 or list((self.path / "state").glob("*")) and time.sleep(0.5) is None)
        process.kill()
        process.wait()
        self.read(untilEnd=True, fields=["n"], group="h")
        process = self.start("--state", "state")
        self.assertNotEqual(process.wait(timeout=60), 0)
        self.assertIn("is of another stream, list, group or consumer", self.log())


class Durable(Reading):
    SETTINGS = {"sure": True}
    COUNT = 5000 + 3000 * KILLS

    def run_and_kill(self, between=lambda: None):
        drawn = random.Random(5)
        for life in range(KILLS + 1):
            process = self.start("--state", "state", "--rate", "5000")
            try:
                process.wait(drawn.uniform(0.1, 0.9) if life < KILLS else 120)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                between()
                continue
            self.assertEqual(process.returncode, 0, self.log())
            self.assertEqual(life, KILLS)
            return
        self.fail(self.log())

    def into_file(self, **spout):
        self.add(self.COUNT)
        self.read(["out", "gale.bolt.FileSink", {"path": "out", "format": "json"}], untilEnd=True, fields=["n"], **spout)

    def test_each_entry_is_there_once_over_kills(self):
        self.into_file()
        self.run_and_kill()
        self.assertEqual([int(row["n"]) for row in self.out()], list(range(self.COUNT)))
        self.assertEqual(self.pending(), 0)

    def test_each_entry_counts_once_from_redis_to_redis(self):
        self.add(self.COUNT)
        self.read(("out", "gale.bolt.RedisSink", {**self.given, "command": "INCRBY", "key": "sum", "value": "{n}"}), untilEnd=True, fields=["n"])
        self.run_and_kill()
        self.assertEqual(int(self.server("GET", "sum")), sum(range(self.COUNT)))
        self.assertEqual(self.pending(), 0)

    def test_each_entry_is_there_once_while_the_server_is_killed(self):
        def kill_server():
            self.server.kill()
            self.server.start()
        self.into_file(timeout=5)
        self.run_and_kill(kill_server)
        self.assertEqual([int(row["n"]) for row in self.out()], list(range(self.COUNT)))
        self.assertEqual(self.pending(), 0)

    def test_nothing_is_acked_that_no_checkpoint_has(self):
        self.add(100)
        self.read(fields=["n"], config=", topology.state.checkpoint.interval.ms: 3600000")
        path = self.path / "t.yaml"
        path.write_text(path.read_text().replace("topology.state.checkpoint.interval.ms: 100, ", ""))
        process = self.start("--state", "state")
        self.wait_for(lambda: self.pending() == 100)
        time.sleep(0.3)
        self.assertEqual(self.pending(), 100)
        self.stop(process)
        self.assertEqual(self.pending(), 0)


class Faults(Reading):
    """Not durable: at least once, in one process once."""
    SETTINGS = {"sure": True}

    def follow(self, meanwhile, **spout):
        self.add(5000)
        self.read(fields=["n"], **spout)
        process = self.start("--rate", "5000")
        self.wait_for(lambda: len(self.out()) > 100)
        meanwhile()
        self.add(5000, first=5000)
        self.wait_for(lambda: len({row["n"] for row in self.out()}) == 10_000)
        self.wait_for(lambda: self.pending() == 0)
        self.stop(process)
        return [int(row["n"]) for row in self.out()]

    def test_a_server_that_is_killed(self):
        def fault():
            for _ in range(SERVER_KILLS):
                self.server.kill()
                time.sleep(0.1)
                self.server.start()
                time.sleep(0.2)
        self.assertEqual(sorted(self.follow(fault, timeout=5)), list(range(10_000)))

    def test_a_server_that_hangs(self):
        def fault():
            self.server.hang()
            self.wait_for(lambda: "it is silent for 0.5 s (timeout)" in self.log())
            self.server.go_on()
        self.assertEqual(sorted(self.follow(fault, timeout=0.5)), list(range(10_000)))

    def test_connections_that_are_cut_off(self):
        def fault():
            for _ in range(10):
                self.server("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
                time.sleep(0.1)
        self.assertEqual(sorted(self.follow(fault)), list(range(10_000)))


class Order(Reading):
    """What a server may say in an order of its own: one of the test's."""

    def serve(self, one):
        """Its first list of what is open has none, its second all three: it was made before they were acked, and comes behind."""
        file = one.makefile("rb")
        entries = b"*3\r\n" + b"".join(b"*2\r\n$3\r\n%d-0\r\n*2\r\n$1\r\nn\r\n$1\r\n%d\r\n" % (n, n) for n in range(1, 4))
        while head := file.readline():
            words = [file.read(int(file.readline()[1:]) + 2)[:-2] for _ in range(int(head[1:]))]
            if words[0] == b"XACK":
                one.sendall(b":%d\r\n" % (len(words) - 3))
                self.acks += len(words) - 3
            elif words[0] == b"XREADGROUP" and words[-1] == b">":
                self.asked += 1
                if self.asked == 1:
                    one.sendall(b"*1\r\n*2\r\n$1\r\ns\r\n" + entries)
                elif self.asked == 2:
                    return one.close()
                else:
                    time.sleep(0.05)
                    one.sendall(b"*-1\r\n")
            elif words[0] == b"XREADGROUP":
                self.lists += 1
                if self.lists == 2:
                    self.listed.set()
                    while self.acks < 3:
                        time.sleep(0.01)
                    time.sleep(0.3)
                one.sendall(b"*1\r\n*2\r\n$1\r\ns\r\n" + (entries if self.lists == 2 else b"*0\r\n"))
            else:
                one.sendall(b"+OK\r\n")

    def serve_until_it_goes(self, one):
        try:
            self.serve(one)
        except OSError:
            pass

    def accept(self, listener):
        while True:
            try:
                one, _ = listener.accept()
            except OSError:
                return
            self.addCleanup(one.close)
            threading.Thread(target=self.serve_until_it_goes, args=(one,), daemon=True).start()

    def test_what_is_acked_while_its_own_are_listed_does_not_come_again(self):
        self.acks = self.asked = self.lists = 0
        self.listed = threading.Event()
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        threading.Thread(target=self.accept, args=(listener,), daemon=True).start()
        self.read(("out", "gale.bolt.RedisSink", {**self.given, "command": "RPUSH", "key": "out", "value": "{n}"}), fields=["n"], claimAfter=0,
                  server=f"127.0.0.1:{listener.getsockname()[1]}")
        self.server.hang()  # until the list is asked for, nothing is acked
        process = self.start()
        self.assertTrue(self.listed.wait(30), self.log())
        self.server.go_on()
        self.wait_for(lambda: self.asked > 4)
        self.wait_for(lambda: self.server("LLEN", "out") >= 3)
        time.sleep(0.2)
        self.stop(process)
        self.assertEqual(self.server("LRANGE", "out", 0, -1), ["1", "2", "3"])


if __name__ == "__main__":
    main()
