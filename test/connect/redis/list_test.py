#!/usr/bin/env python3
"""gale.spout.RedisList and gale.spout.RedisSubscribe, and TLS, by gale's command line, against a server of Debian's.

usage: list_test.py GALE PLUGINS [CLASS...]
"""

import json
import random
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from case import KILLS, SERVER_KILLS, Case, main, properties, redis

TOPOLOGY = """
name: read
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100}}
spouts:
  - id: source
    className: gale.spout.{kind}
    properties:
{spout}
bolts:
  - id: out
    className: {bolt}
    properties:
{sink}
streams:
  - {{from: source, to: out, grouping: {{type: SHUFFLE}}}}
"""


class Reading(Case):
    def read(self, kind, bolt="gale.bolt.FileSink", sink=None, **spout):
        text = TOPOLOGY.format(kind=kind, spout=properties(**{**self.given, **spout}), bolt=bolt, sink=properties(**(sink or {"path": "out", "format": "json"})))
        (self.path / "t.yaml").write_text(text)

    def list(self, **more):
        self.read("RedisList", **{"list": "jobs", "consumer": "me", **more})

    def push(self, count, first=0):
        self.server.many([("LPUSH", "jobs", f"job {n}") for n in range(first, first + count)])

    def out(self):
        path = self.path / "out"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def jobs(self):
        return [int(row["value"].split()[1]) for row in self.out()]

    def left(self):
        return self.server("LLEN", "jobs") + self.server("LLEN", "jobs:me/0")


class Lists(Reading):
    def test_elements_are_tuples_in_order_and_leave_when_they_are_acked(self):
        self.push(5000)
        self.list(untilEnd=True)
        self.gale("run", "t.yaml")
        self.assertEqual(self.jobs(), list(range(5000)))
        self.assertEqual(self.left(), 0)

    def test_they_are_taken_from_the_left_where_it_is_told(self):
        self.server("RPUSH", "jobs", "job 0", "job 1", "job 2")
        self.list(untilEnd=True, **{"from": "left"})
        self.gale("run", "t.yaml")
        self.assertEqual(self.jobs(), [0, 1, 2])

    def test_what_is_new_comes_at_once(self):
        self.list()
        process = self.start()
        for n in range(3):
            self.push(1, first=n)
            self.wait_for(lambda: len(self.out()) == n + 1 and self.left() == 0)
        self.stop(process)

    def test_what_is_open_is_in_the_second_list_and_comes_first_in_the_next_run(self):
        self.push(1000)
        self.list(bolt="gale.bolt.RedisSink", sink={**self.given, "server": "127.0.0.1:1", "command": "XADD", "key": "x", "finishWait": 0}, inFlight=70)
        process = self.start()
        self.wait_for(lambda: self.server("LLEN", "jobs:me/0") == 70)
        time.sleep(0.3)
        self.assertEqual((self.server("LLEN", "jobs"), self.server("LLEN", "jobs:me/0")), (930, 70))
        process.kill()
        process.wait()
        self.list(untilEnd=True)
        self.gale("run", "t.yaml")
        self.assertEqual(self.jobs(), list(range(1000)))
        self.assertEqual(self.left(), 0)

    def test_equal_elements_are_as_many_as_they_were(self):
        self.server("LPUSH", "jobs", *["job 7"] * 300)
        self.server("LPUSH", "jobs:me/0", *["job 7"] * 20)
        self.list(untilEnd=True)
        self.gale("run", "t.yaml")
        self.assertEqual(self.jobs(), [7] * 320)
        self.assertEqual(self.left(), 0)

    def test_what_is_given_up_is_in_the_list_of_dead_letters(self):
        self.server("RPUSH", "jobs", "1", "k", "2")
        self.server("SET", "k", "x")
        self.list(bolt="gale.bolt.RedisSink", sink={**self.given, "command": "INCRBY", "key": "{value}"}, untilEnd=True, deadLetters="dead", maxAttempts=2)
        self.assertIn("element k of jobs given up after 1 attempt: rejected: ERR value is not an integer", self.gale("run", "t.yaml", code=1))
        self.assertEqual(self.server("LRANGE", "dead", 0, -1), ["k"])
        self.assertEqual(self.left(), 0)

    def test_a_key_that_is_no_list_is_told(self):
        self.server("SET", "jobs", "x")
        self.list()
        process = self.start()
        self.wait_for(lambda: "the server says: WRONGTYPE" in self.log())
        self.server("DEL", "jobs")
        self.push(1)
        self.wait_for(lambda: self.jobs() == [0])
        self.stop(process)

    def test_settings_that_make_no_sense_are_refused_at_their_place(self):
        for expected, given in (("list: it is empty", {"list": ""}), ("did you mean 'left'", {"from": "lefft"}), ("processing: a key has at most", {"processing": "x" * 501})):
            self.list(**given)
            self.assertIn(expected, self.gale("check", "t.yaml", code=2))


class Durable(Reading):
    SETTINGS = {"sure": True}

    def test_each_element_is_there_once_over_kills(self):
        count = 5000 + 3000 * KILLS
        self.push(count)
        self.list(untilEnd=True)
        drawn = random.Random(8)
        for life in range(KILLS + 1):
            process = self.start("--state", "state", "--rate", "5000")
            try:
                process.wait(drawn.uniform(0.1, 0.9) if life < KILLS else 120)
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.assertEqual(process.returncode, 0, self.log())
        self.assertEqual(life, KILLS)
        self.assertEqual(self.jobs(), list(range(count)))
        self.assertEqual(self.left(), 0)

    def test_what_is_answered_while_its_own_are_listed_does_not_come_again(self):
        self.push(1500)
        self.list(inFlight=50)
        process = self.start("--rate", "500")
        while len(self.out()) < 1500:
            self.server("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            time.sleep(0.05)
            self.assertIsNone(process.poll(), self.log())
        self.wait_for(lambda: self.left() == 0)
        self.stop(process)
        self.assertEqual(sorted(self.jobs()), list(range(1500)))

    def test_none_is_lost_where_the_server_is_killed(self):
        self.push(10_000)
        self.list(timeout=5)
        process = self.start("--rate", "5000")
        self.wait_for(lambda: len(self.out()) > 100)
        for _ in range(SERVER_KILLS):
            self.server.kill()
            self.server.start()
            time.sleep(0.2)
        self.wait_for(lambda: self.left() == 0)
        self.stop(process)
        self.assertEqual(sorted(set(self.jobs())), list(range(10_000)))


class Subscribes(Reading):
    def listen(self, **more):
        self.read("RedisSubscribe", **more)
        process = self.start()
        self.wait_for(lambda: self.server("PUBSUB", "NUMPAT") or self.server("PUBSUB", "CHANNELS"))
        return process

    def test_messages_of_channels_and_of_patterns_are_tuples(self):
        process = self.listen(channels=["a", "b"], patterns=["c.*"], emit=["channel", "payload", "pattern"])
        self.wait_for(lambda: len(self.server("PUBSUB", "CHANNELS")) == 2 and self.server("PUBSUB", "NUMPAT"))
        for channel in ("a", "b", "c.1", "other"):
            self.server("PUBLISH", channel, f"to {channel}")
        self.wait_for(lambda: len(self.out()) == 3)
        self.stop(process)
        self.assertEqual(self.out(), [{"channel": "a", "payload": "to a", "pattern": None}, {"channel": "b", "payload": "to b", "pattern": None},
                                      {"channel": "c.1", "payload": "to c.1", "pattern": "c.*"}])

    def test_what_is_given_up_is_reported_by_its_channel(self):
        self.read("RedisSubscribe", "gale.bolt.Map", {"set": {"line": "error('bad')"}}, channels=["news"], maxAttempts=2)
        self.start()
        self.wait_for(lambda: self.server("PUBSUB", "CHANNELS"))
        self.server("PUBLISH", "news", "x")
        self.wait_for(lambda: "message of news given up after 2 attempts: failed" in self.log())

    def test_many_come_in_order(self):
        process = self.listen(channels=["a"])
        self.server.many([("PUBLISH", "a", n) for n in range(20_000)])
        self.wait_for(lambda: len(self.out()) == 20_000)
        self.stop(process)
        self.assertEqual([int(row["payload"]) for row in self.out()], list(range(20_000)))

    def test_it_subscribes_again_and_tells_that_some_are_lost(self):
        process = self.listen(channels=["a"])
        self.server("CLIENT", "KILL", "TYPE", "pubsub")
        self.wait_for(lambda: "messages of the time without a connection are lost" in self.log())
        self.server("PUBLISH", "a", "again")
        self.wait_for(lambda: len(self.out()) == 1)
        self.stop(process)

    def test_a_server_that_hangs_is_given_up(self):
        process = self.listen(channels=["a"], timeout=0.6)
        self.server.hang()
        self.wait_for(lambda: "it is silent for 0.6 s (timeout)" in self.log())
        self.server.go_on()
        self.wait_for(lambda: "are lost" in self.log())
        self.wait_for(lambda: self.server("PUBLISH", "a", "again"))
        self.wait_for(lambda: self.out())
        self.stop(process)

    def test_one_that_listens_to_nothing_is_refused(self):
        self.read("RedisSubscribe")
        self.assertIn("channels: neither they nor `patterns` are given", self.gale("check", "t.yaml", code=2))


@unittest.skipUnless(shutil.which("openssl"), "there is no openssl")
class Tls(Reading):
    """A server that wants TLS, with certificates both ways."""

    @classmethod
    def setUpClass(cls):
        cls.server = redis.Server()
        folder = Path(cls.server.folder)
        cls.port = redis.free_port()

        def openssl(*words):
            subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=tests", "-days", "2")
        (folder / "names").write_text("subjectAltName=DNS:localhost")
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=localhost")
        openssl("x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "cert.pem", "-days", "2", "-extfile", "names")
        cls.server("CONFIG", "SET", "tls-cert-file", f"{folder}/cert.pem", "tls-key-file", f"{folder}/key.pem", "tls-ca-cert-file", f"{folder}/ca.pem",
                   "tls-auth-clients", "yes", "tls-port", cls.port)

    def setUp(self):
        super().setUp()
        folder = self.server.folder
        self.given = {"server": f"localhost:{self.port}", "tls": True, "ca": f"{folder}/ca.pem", "certificate": f"{folder}/cert.pem", "certificateKey": f"{folder}/key.pem"}

    def test_elements_pass_by_tls_from_and_to(self):
        self.push(5000)
        self.list(bolt="gale.bolt.RedisSink", sink={**self.given, "command": "RPUSH", "key": "done", "value": "{value}"}, untilEnd=True)
        self.gale("run", "t.yaml")
        self.assertEqual(self.server("LRANGE", "done", 0, -1), [f"job {n}" for n in range(5000)])

    def test_large_ones_pass_by_tls_in_a_durable_run(self):
        self.server.many([("LPUSH", "jobs", f"{n}" * 100_000) for n in range(10)])
        self.list(bolt="gale.bolt.RedisSink", sink={**self.given, "command": "RPUSH", "key": "done", "value": "{value}"}, untilEnd=True)
        self.gale("run", "t.yaml", "--state", "state")
        self.assertEqual(self.server("LRANGE", "done", 0, -1), [f"{n}" * 100_000 for n in range(10)])

    def unwell(self, expected, **given):
        self.given.update(given)
        self.list()
        process = self.start()
        self.wait_for(lambda: expected in self.log())
        process.kill()

    def test_another_name_is_refused(self):
        self.unwell("TLS: the server's certificate is not for '127.0.0.1'", server=f"127.0.0.1:{self.port}")

    def test_nobody_vouches_for_it(self):
        self.unwell("TLS: the server's certificate is not trusted", ca="")

    def test_a_server_that_wants_a_certificate_says_so(self):
        self.unwell("certificate required", certificate="", certificateKey="")

    def test_a_port_without_tls_is_told(self):
        self.unwell("TLS: there is no answer for 1 s (timeout)", server=f"localhost:{self.server.port}", timeout=1)


if __name__ == "__main__":
    main()
