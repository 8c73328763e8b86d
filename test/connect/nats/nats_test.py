#!/usr/bin/env python3
"""The connector nats, by gale's command line, against a server of Debian's.

usage: nats_test.py GALE PLUGINS [CLASS...]
"""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import nkeys
import server as nats

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": PLUGINS}
LONG = int(os.environ.get("GALE_TEST_FAULTS", "1"))  # so many times as many faults; script/connectors has more
KILLS = int(os.environ.get("GALE_TEST_KILLS", 6 * LONG))

TOPOLOGY = """
name: {name}
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100{config}}}
spouts:
  - id: in
    className: gale.spout.{spout_class}
    parallelism: {tasks}
    properties:
{spout}
bolts:
{bolts}
  - id: out
    className: gale.bolt.{sink_class}
    properties:
{sink}
streams:
  - {{from: in, to: {first}, grouping: {{type: SHUFFLE}}}}
{streams}
"""


def properties(values):
    return "".join(f"      - {{name: {name}, value: {json.dumps(value)}}}\n" for name, value in values.items())


class Case(unittest.TestCase):
    more = ""

    @classmethod
    def setUpClass(cls):
        cls.server = nats.Server(cls.more)
        cls.addClassCleanup(lambda: cls.server.close())

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.process = None
        self.url = self.server.url
        with self.client() as client:
            for name in client.api("STREAM.NAMES").get("streams") or []:
                client.api(f"STREAM.DELETE.{name}")

    def client(self):
        return nats.Client(self.server)

    def make(self, name="IN", *subjects, **more):
        with self.client() as client:
            client.make_stream(name, *(subjects or [f"{name.lower()}.>"]), **more)

    def fill(self, count, subject="in.a", begin=0):
        with self.client() as client:
            client.fill(subject, [f"message {n}" for n in range(begin, begin + count)])

    def wait_for_server(self, look):
        """What a client of the server's finds; the server may be away meanwhile."""
        def found():
            try:
                with nats.Client(self.server, 5) as client:
                    return look(client)
            except (OSError, KeyError):
                return False
        self.wait_for(found, 60)

    def write(self, spout_class="Nats", spout=None, sink_class="FileSink", sink=None, bolts="", name="copy", config="", tasks=1):
        if spout_class == "Nats":
            spout = {"servers": [self.url], "stream": "IN", "consumer": "reader", **(spout or {})}
        if sink_class == "FileSink":
            sink = {"path": "out.json", "format": "json", **(sink or {})}
        if sink_class == "NatsSink":
            sink = {"servers": [self.url], "subject": "out.a", **(sink or {})}
        lines = f"  - {{from: {'check' if bolts else 'in'}, to: out, grouping: {{type: SHUFFLE}}}}" if bolts else ""
        (self.path / "t.yaml").write_text(TOPOLOGY.format(name=name, config=config, spout_class=spout_class, tasks=tasks, spout=properties(spout), bolts=bolts,
                                                          sink_class=sink_class, sink=properties(sink), first="check" if bolts else "out", streams=lines))

    def write_lines(self, lines, **more):
        (self.path / "in.txt").write_text("".join(line + "\n" for line in lines))
        self.write("File", {"path": "in.txt"}, "NatsSink", **more)

    def rows(self):
        path = self.path / "out.json"
        return [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")] if path.exists() else []

    def payloads(self, stream="OUT"):
        with self.client() as client:
            return [payload.decode() for _, _, payload in client.read(stream)]

    def gale(self, *arguments, code=0):
        done = subprocess.run([GALE, *arguments], cwd=self.path, env=ENVIRONMENT, capture_output=True, text=True, timeout=90)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def start(self, *arguments):
        """Its words in 'log', while it runs."""
        log = open(self.path / "log", "a")
        self.addCleanup(log.close)
        process = self.process = subprocess.Popen([GALE, "run", "t.yaml", *arguments], cwd=self.path, env=ENVIRONMENT, stderr=log, stdout=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def end(self, code=0):
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(60), code, self.log())

    def wait_for(self, condition, seconds=30):
        """What is asked for may not be there yet."""
        end = time.monotonic() + seconds
        while True:
            try:
                if condition():
                    return
            except KeyError:
                pass
            self.assertLess(time.monotonic(), end, self.log())
            time.sleep(0.02)

    def log(self):
        path = self.path / "log"
        return path.read_text() if path.exists() else ""

    def consumer(self):
        with self.client() as client:
            return client.consumer("IN", "reader")


BAD = """  - id: check
    className: gale.bolt.Map
    properties:
      - {name: set, value: {bad: "payload == 'message 3' and error('bad') or false"}}
"""


class Reads(Case):
    def test_each_message_is_a_tuple_and_is_acked(self):
        self.make()
        self.fill(5000)
        self.write(spout={"untilEnd": True, "batch": 100, "inFlight": 300})
        self.gale("run", "t.yaml")
        self.assertEqual([row["payload"] for row in self.rows()], [f"message {n}" for n in range(5000)])
        made = self.consumer()
        self.assertEqual((made["num_pending"], made["num_ack_pending"], made["ack_floor"]["stream_seq"]), (0, 0, 5000))
        self.assertEqual((made["config"]["max_ack_pending"], made["config"]["ack_policy"]), (300, "explicit"))

    def test_fields_levels_and_headers_are_as_the_message_has_them(self):
        self.make()
        with self.client() as client:
            client.fill("in.eu.17", [b"\xff\x00 raw"], [("Trace", "a1"), ("Trace", "b2"), ("Odd", "x: y")])
            client.fill("in.us", [b""])
        self.write(spout={"untilEnd": True, "emit": "payload, subject, stream, sequence, time, delivered, headers", "levels": "_, region, id"})
        before = time.time() * 1000
        self.gale("run", "t.yaml")
        first, second = self.rows()
        for row in (first, second):
            self.assertLess(abs(row.pop("time") - before), 600_000)
        self.assertEqual(first, {"payload": first["payload"], "subject": "in.eu.17", "stream": "IN", "sequence": 1, "delivered": 1, "region": "eu", "id": "17",
                                 "headers": {"Trace": "b2", "Odd": "x: y"}})
        self.assertEqual(second, {"payload": "", "subject": "in.us", "stream": "IN", "sequence": 2, "delivered": 1, "headers": {}, "region": "us", "id": None})

    def test_a_consumer_that_is_made_begins_where_it_is_told_and_has_its_subject(self):
        self.make()
        with self.client() as client:
            client.fill(lambda n: f"in.{n % 2}", [str(n) for n in range(10)])
        for at, (begin, want) in enumerate([("first", "13579"), ("last", "9"), (7, "79"), ("lastPerSubject", "9")]):
            self.write(spout={"untilEnd": True, "from": begin, "subject": "in.1", "consumer": f"c{at}"}, sink={"path": "out.json", "overwrite": True})
            self.gale("run", "t.yaml")
            self.assertEqual("".join(row["payload"] for row in self.rows()), want, begin)
            (self.path / "out.json").unlink()

    def test_what_fails_is_delivered_again_later_and_ended_at_last(self):
        self.make()
        self.fill(10)
        self.write(spout={"untilEnd": True, "maxAttempts": 3}, bolts=BAD)
        err = self.gale("run", "t.yaml", code=1)
        self.assertEqual(sorted(row["payload"] for row in self.rows()), sorted(f"message {n}" for n in range(10) if n != 3))
        self.assertRegex(err, r"message 4 of IN ends after 3 deliveries \(\+TERM\): failed: .+ \(\w+\)")
        self.assertEqual(self.consumer()["delivered"]["consumer_seq"], 12)
        self.assertEqual(self.consumer()["num_ack_pending"], 0)

    def test_what_is_rejected_ends_at_once(self):
        self.make()
        self.fill(3)
        self.write(spout={"untilEnd": True, "emit": "payload"}, sink_class="NatsSink", sink={"subject": "out.{payload}"})
        self.make("OUT")
        err = self.gale("run", "t.yaml", code=1)
        self.assertEqual(err.count("ends after 1 delivery (+TERM): rejected"), 3, err)
        self.assertEqual(self.consumer()["delivered"]["consumer_seq"], 3)

    def test_the_server_hears_of_what_takes_long_and_delivers_nothing_twice(self):
        """At 40 a second the last of them waits for much longer than the server would."""
        self.make()
        self.fill(60)
        self.write(spout={"untilEnd": True, "ackWait": 0.5, "emit": "payload, delivered"})
        self.gale("run", "t.yaml", "--rate", "40")
        self.assertEqual({row["delivered"] for row in self.rows()}, {1})
        self.assertEqual(self.consumer()["delivered"]["consumer_seq"], 60)

    def test_no_more_is_open_than_is_told_nor_than_the_consumer_allows(self):
        self.make()
        self.fill(1000)
        with self.client() as client:
            client.api("CONSUMER.DURABLE.CREATE.IN.reader", stream_name="IN", config={"durable_name": "reader", "ack_policy": "explicit", "max_ack_pending": 20,
                                                                                      "ack_wait": 30_000_000_000, "deliver_policy": "all"})
        self.write(spout={"create": False}, sink_class="ExecSink", sink={"command": "while [ ! -e go ]; do sleep 0.05; done; cat >got"})
        self.start()
        self.wait_for(lambda: self.consumer()["num_ack_pending"] == 20)
        time.sleep(0.5)
        self.assertEqual(self.consumer()["num_ack_pending"], 20)
        (self.path / "go").touch()
        self.wait_for(lambda: self.consumer()["ack_floor"]["stream_seq"] == 1000)
        self.end()

    def test_tasks_share_a_consumer(self):
        self.make()
        self.fill(3000)
        self.write(spout={"untilEnd": True}, tasks=3)
        self.gale("run", "t.yaml")
        self.assertEqual(sorted(row["payload"] for row in self.rows()), sorted(f"message {n}" for n in range(3000)))


class Writes(Case):
    def test_each_tuple_is_a_message_in_order_with_an_id_of_its_own(self):
        self.make("OUT")
        self.write_lines([f"line {n}" for n in range(5000)], sink={"stream": "OUT"})
        self.gale("run", "t.yaml")
        with self.client() as client:
            found = client.read("OUT")
        self.assertEqual([payload.decode() for _, _, payload in found], [f"line {n}" for n in range(5000)])
        ids = [re.search(r"Nats-Msg-Id: ([0-9a-f]+-[0-9a-f]+)\r\n", headers).group(1) for _, headers, _ in found]
        self.assertEqual(len(set(ids)), 5000)
        self.assertIn("Nats-Expected-Stream: OUT\r\n", found[0][1])

    def test_subject_headers_and_id_are_fields_and_an_id_counts_once(self):
        self.make()
        self.make("OUT")
        with self.client() as client:
            client.fill(lambda n: f"in.{n % 2}.k{n % 50}", [f"m{n}" for n in range(100)])
        self.write(spout={"untilEnd": True, "emit": "payload, sequence", "levels": "_, part, key"}, sink_class="NatsSink",
                   sink={"subject": "out.{part}.x", "payload": "payload", "headers": "sequence, part", "id": "key"})
        self.gale("run", "t.yaml")
        with self.client() as client:
            found = client.read("OUT")
        self.assertEqual([payload.decode() for _, _, payload in found], [f"m{n}" for n in range(50)])
        self.assertEqual((found[7][0], sorted(found[7][1].split("\r\n"))), ("out.1.x", ["", "", "NATS/1.0", "Nats-Msg-Id: k7", "part: 1", "sequence: 8"]))

    def test_ids_may_be_left_out(self):
        self.make("OUT")
        self.write_lines(["a", "b"], sink={"makeIds": False})
        self.gale("run", "t.yaml")
        with self.client() as client:
            self.assertEqual(client.read("OUT"), [("out.a", "", b"a"), ("out.a", "", b"b")])

    def test_what_can_be_no_message_is_rejected_and_the_rest_goes_on(self):
        self.make("OUT", max_msg_size=100)
        self.write_lines(["a", "x" * 200, "b c", "d.e", "f", "*"], sink={"subject": "out.{line}"})
        err = self.gale("run", "t.yaml", code=1)
        self.assertEqual(self.payloads(), ["a", "f"])
        self.assertIn("message size exceeds maximum allowed", err)
        self.assertEqual(err.count("subject: field line cannot stand there"), 3, err)

    def test_what_the_server_does_not_read_is_rejected(self):
        self.make("OUT")
        self.write_lines(["a", "x" * 2_000_000, "b"])
        self.assertIn("rejected: Maximum Payload", self.gale("run", "t.yaml", code=1))
        self.assertEqual(self.payloads(), ["a", "b"])

    def test_another_stream_than_the_one_that_is_expected_takes_nothing(self):
        self.make("OUT")
        self.make("OTHER")
        self.write_lines(["a"], sink={"stream": "OTHER"})
        self.assertIn("expected stream does not match", self.gale("run", "t.yaml", code=1))
        self.assertEqual(self.payloads(), [])

    def test_of_very_many_that_are_refused_the_log_has_a_few_and_their_number(self):
        self.make("OUT")
        self.make("OTHER")
        self.write_lines([f"{n}" for n in range(2_000)], sink={"stream": "OTHER"})
        log = self.gale("run", "t.yaml", "--log-level", "warn", code=1)
        self.assertLess(log.count("expected stream does not match"), 100, log)
        self.assertRegex(log, r"line \d+ given up after 1 attempt: rejected: expected stream does not match \(10060\) \(out\) \(and \d+ more like it\)")
        self.assertIn("2,000 rejected", log)

    def test_without_a_stream_tuples_are_held_until_there_is_one(self):
        self.write_lines(["a", "b", "c"])
        self.start()
        self.wait_for(lambda: "is not well: nats" in self.log() and "no stream takes the subject" in self.log())
        self.make("OUT")
        self.assertEqual(self.process.wait(60), 0, self.log())
        self.assertEqual(self.payloads(), ["a", "b", "c"])

    def test_a_stream_that_is_full_is_waited_for(self):
        self.make("OUT", max_msgs=10, discard="new")
        self.write_lines([str(n) for n in range(20)])
        self.start()
        self.wait_for(lambda: "maximum messages exceeded" in self.log())
        self.make("COPY", "copy.>")
        with self.client() as client:
            first = [payload.decode() for _, _, payload in client.read("OUT")]
            client.api("STREAM.PURGE.OUT")
        self.assertEqual(self.process.wait(60), 0, self.log())
        self.assertEqual(sorted(first + self.payloads(), key=int), [str(n) for n in range(20)])

    def test_while_the_server_is_away_tuples_are_held_and_go_out_later_once(self):
        self.make("OUT")
        self.write_lines([f"line {n}" for n in range(3000)], config=", topology.max.spout.pending: 500")
        self.server.kill()
        self.start()
        self.wait_for(lambda: re.search(r"is not well: nats 127.0.0.1:\d+: ", self.log()))
        self.server.start()
        self.assertEqual(self.process.wait(60), 0, self.log())
        self.assertEqual(self.payloads(), [f"line {n}" for n in range(3000)])


class Durable(Case):
    def test_a_run_that_is_killed_again_and_again_counts_each_message_once(self):
        """Into a file, which takes part; other subjects are between its messages."""
        self.make()
        with self.client() as client:
            client.fill(lambda n: "in.a" if n % 3 else "in.b", [f"message {n}" for n in range(4500)])
        self.write(spout={"untilEnd": True, "subject": "in.a", "ackWait": 1, "inFlight": 500})
        drawn = random.Random(5)
        for life in range(40):
            process = self.start("--state", "state", "--rate", "4000")
            try:
                process.wait(drawn.uniform(0.2, 0.4) if life < 2 else 60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                continue
            break
        self.assertEqual(process.returncode, 0, self.log())
        self.assertGreater(life, 1)
        self.assertEqual(sorted(row["payload"] for row in self.rows()), sorted(f"message {n}" for n in range(4500) if n % 3))
        self.assertEqual(self.consumer()["num_ack_pending"], 0)

    def test_the_server_is_told_of_what_a_checkpoint_has(self):
        self.make()
        self.fill(100)
        self.write()
        path = self.path / "t.yaml"
        path.write_text(path.read_text().replace("interval.ms: 100", "interval.ms: 3600000"))
        self.start("--state", "state")
        self.wait_for(lambda: self.consumer()["num_ack_pending"] == 100)
        time.sleep(0.5)
        self.assertEqual(self.consumer()["ack_floor"]["stream_seq"], 0)
        self.process.kill()
        self.process.wait()
        self.assertEqual(self.consumer()["ack_floor"]["stream_seq"], 0)

    def test_from_stream_to_stream_once_while_killed(self):
        self.make()
        self.make("OUT")
        self.fill(3000)
        self.write(spout={"untilEnd": True, "ackWait": 1}, sink_class="NatsSink", sink={"stream": "OUT"})
        drawn = random.Random(6)
        for life in range(40):
            process = self.start("--state", "state", "--rate", "3000")
            try:
                process.wait(drawn.uniform(0.2, 0.4) if life < 2 else 60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                continue
            break
        self.assertEqual(process.returncode, 0, self.log())
        self.assertGreater(life, 1)
        found = self.payloads()
        self.assertEqual(len(found), 3000)
        self.assertEqual(len(set(found)), 3000)

    def test_what_is_ended_is_ended_with_a_checkpoint(self):
        self.make()
        self.fill(10)
        self.write(spout={"untilEnd": True, "maxAttempts": 2}, bolts=BAD)
        err = self.gale("run", "t.yaml", "--state", "state", code=1)
        self.assertIn("message 4 of IN ends after 2 deliveries (+TERM): failed", err)
        self.assertEqual(len(self.rows()), 9)
        self.assertEqual(self.consumer()["num_ack_pending"], 0)

    def test_another_stream_of_the_same_name_is_refused(self):
        self.make()
        self.fill(10)
        self.write()
        self.start("--state", "state")
        self.wait_for(lambda: self.consumer()["ack_floor"]["stream_seq"] == 10)
        self.end()
        with self.client() as client:
            client.api("STREAM.DELETE.IN")
        self.make()
        self.fill(10)
        self.assertIn("stream IN was made anew since the checkpoint", self.gale("run", "t.yaml", "--state", "state", code=1))

    def test_a_message_that_is_refused_ends_the_run_in_words(self):
        self.make("OUT", max_msg_size=100)
        self.write_lines(["a", "x" * 200, "b"])
        err = self.gale("run", "t.yaml", "--state", "state", code=1)
        self.assertIn("message 2 of the checkpoint is refused: message size exceeds maximum allowed", err)


class Words(Case):
    def refused(self, what, spout=None, sink=None):
        self.write(spout={"untilEnd": True, **(spout or {})}, sink_class="NatsSink", sink=sink)
        found = self.gale("check", "t.yaml", code=2)
        self.assertRegex(found, r"t\.yaml:\d+:\d+: .*" + re.escape(what))

    def test_settings_that_make_no_sense_are_refused_where_they_stand(self):
        self.refused("servers: an address is nats://host:4222 or tls://host:4222", {"servers": ["http://x"]})
        self.refused("servers: an address has no user and no password", {"servers": ["nats://me:secret@x"]})
        self.refused("stream: a name has 1 to 255 letters", {"stream": "a.b"})
        self.refused("from: it is first, new, last, lastPerSubject, or a sequence", {"from": "begin"})
        self.refused("emit: a message has no 'paylod'", {"emit": "paylod"})
        self.refused("levels: 'payload' is the name of another field already", {"levels": "payload"})
        self.refused("user: passwordFrom belongs to it", {"user": "me"})
        self.refused("key: certificate belongs to it", {"key": "x"})
        self.refused("subject: a field stands in braces", sink={"subject": "out.{a"})
        self.refused("'subject' of 'out' names 'payloud', which 'in' does not have in stream 'default'; did you mean 'payload'?", sink={"subject": "a.{payloud}"})
        self.refused("subject: levels with points between them", sink={"subject": "out..a"})
        self.refused("subject: those that begin with $", sink={"subject": "$JS.ACK"})
        self.refused("headers: a:b can be no name of a header", sink={"headers": "a:b"})
        self.refused("tokenFrom: of user, tokenFrom, credentials and nkey one is given", {"tokenFrom": "x", "credentials": "y"})

    def test_a_stream_or_a_consumer_that_is_missing_or_fits_not_is_told_and_waited_for(self):
        self.write(spout={"create": False, "untilEnd": True})
        self.start()
        self.wait_for(lambda: "stream IN is not there" in self.log())
        self.make()
        self.wait_for(lambda: "consumer reader of IN: it is not there, and `create` is false" in self.log())
        config = {"durable_name": "reader", "ack_policy": "all", "deliver_policy": "all"}
        with self.client() as client:
            client.api("CONSUMER.DURABLE.CREATE.IN.reader", stream_name="IN", config=config)
            self.wait_for(lambda: "its ack policy is not explicit" in self.log())
            client.api("CONSUMER.DELETE.IN.reader")
            client.api("CONSUMER.DURABLE.CREATE.IN.reader", stream_name="IN", config={**config, "ack_policy": "explicit"})
        self.fill(3)
        self.assertEqual(self.process.wait(60), 0, self.log())
        self.assertEqual(len(self.rows()), 3)

    def test_a_consumer_that_goes_while_it_is_read_is_told_and_made_again(self):
        self.make()
        self.fill(10)
        self.write()
        self.start()
        self.wait_for(lambda: len(self.rows()) == 10)
        with self.client() as client:
            client.api("CONSUMER.DELETE.IN.reader")
        self.wait_for(lambda: "is not well: nats" in self.log())
        self.fill(5, begin=10)
        self.wait_for(lambda: {row["payload"] for row in self.rows()} == {f"message {n}" for n in range(15)})
        self.end()

    def test_a_message_that_is_too_large_for_the_memory_is_told_and_those_before_it_are_read(self):
        self.make()
        with self.client() as client:
            client.fill("in.a", [*(f"message {n}" for n in range(200)), "x" * 20_000, "last"])
        self.write(spout={"memory": "64 KiB", "batch": 7})
        self.start()
        self.wait_for(lambda: "the next message is larger than a quarter of `memory`" in self.log())
        self.assertEqual([row["payload"] for row in self.rows()], [f"message {n}" for n in range(200)])
        self.end()

    def test_a_server_that_ends_soon_is_told(self):
        server = nats.Server('lame_duck_duration: "30s"\nlame_duck_grace_period: "10s"')
        self.addCleanup(server.close)
        with nats.Client(server) as client:
            client.make_stream("IN", "in.>")
        self.write(spout={"servers": [server.url]})
        self.start()
        self.wait_for(lambda: nats_consumer(server))
        server.end_soon()
        self.wait_for(lambda: "the server says that it ends soon (lame duck mode)" in self.log())
        self.end()


def nats_consumer(server):
    with nats.Client(server) as client:
        return client.consumer("IN", "reader")["num_waiting"] > 0


class Access(Case):
    def server_with(self, more, **connect):
        server = nats.Server(more, **connect)
        self.addCleanup(server.close)
        with nats.Client(server) as client:
            client.make_stream("IN", "in.>")
            client.fill("in.a", ["secret message"])
        self.url = server.url
        return server

    def reads(self, **spout):
        (self.path / "out.json").unlink(missing_ok=True)
        self.write(spout={"untilEnd": True, **spout})
        err = self.gale("run", "t.yaml")
        self.assertEqual([row["payload"] for row in self.rows()], ["secret message"], err)

    def is_refused(self, words, **spout):
        (self.path / "out.json").unlink(missing_ok=True)
        (self.path / "log").unlink(missing_ok=True)
        self.write(spout=spout)
        self.start()
        self.wait_for(lambda: re.search(words, self.log()))
        self.assertNotIn("sesame", self.log())
        self.end()

    def test_a_user_with_a_password_from_a_file(self):
        self.server_with('authorization: { user: gale, password: sesame }', user="gale", **{"pass": "sesame"})
        (self.path / "password").write_text("sesame\n")
        (self.path / "wrong").write_text("sesame1\n")
        self.reads(user="gale", passwordFrom="password")
        self.is_refused("is not well: .*Authorization", user="gale", passwordFrom="wrong")
        self.is_refused("is not well: .*passwordFrom: .*missing", user="gale", passwordFrom="missing")

    def test_a_token_from_a_file(self):
        self.server_with('authorization: { token: sesame }', auth_token="sesame")
        (self.path / "token").write_text("sesame\n")
        self.reads(tokenFrom="token")

    def test_an_nkey_with_its_seed_from_a_file(self):
        """Of the documentation of NATS: a pair of a user that everybody knows."""
        public, seed = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4", "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
        self.server_with("authorization: { users: [ { nkey: %s }, { user: test, password: test } ] }" % public, user="test", **{"pass": "test"})
        (self.path / "seed").write_text(seed + "\n")
        self.reads(nkey=public, nkeySeedFrom="seed")
        self.is_refused("is not well: .*nkeySeedFrom: missing cannot be read", nkey=public, nkeySeedFrom="missing")
        self.is_refused("is not well: .*credentials: missing cannot be read", credentials="missing")

    @unittest.skipUnless(shutil.which("openssl"), "no openssl")
    def test_a_file_of_credentials(self):
        operator, system, account, user, other = (nkeys.Key(self.path, name, kind) for name, kind in (
            ("o", nkeys.OPERATOR), ("s", nkeys.ACCOUNT), ("a", nkeys.ACCOUNT), ("u", nkeys.USER), ("other", nkeys.USER)))
        limits = {**dict.fromkeys(("subs", "data", "payload", "imports", "exports", "conn", "leaf"), -1), "wildcards": True}
        stores = dict.fromkeys(("mem_storage", "disk_storage", "streams", "consumer"), -1)
        of_user = account.claims(user, type="user", pub={}, sub={}, subs=-1, data=-1, payload=-1)
        accounts = "".join(f"{one.public}: {operator.claims(one, type='account', limits=may)}\n" for one, may in ((system, limits), (account, {**limits, **stores})))
        self.server_with(f"operator: {operator.claims(operator, type='operator')}\nsystem_account: {system.public}\nresolver: MEMORY\nresolver_preload: {{\n{accounts}}}",
                         sign=lambda nonce: {"jwt": of_user, "sig": user.sign(nonce.encode())})
        (self.path / "gale.creds").write_text(nkeys.credentials(of_user, user.seed()))
        (self.path / "wrong.creds").write_text(nkeys.credentials(of_user, other.seed()))
        self.reads(credentials="gale.creds")
        self.is_refused("is not well: .*Authorization", credentials="wrong.creds")
        self.assertNotIn(other.seed(), self.log())

    @unittest.skipUnless(shutil.which("openssl"), "no openssl")
    def test_tls_with_the_server_verified_and_a_certificate_of_ones_own(self):
        for name, more in (("ca", []), ("server", ["-addext", "subjectAltName=IP:127.0.0.1"]), ("other", ["-addext", "subjectAltName=DNS:elsewhere"]), ("client", [])):
            signed = [] if name == "ca" else ["-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "basicConstraints=critical,CA:FALSE"]
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem",
                            *signed, *more], cwd=self.path, check=True, capture_output=True)
        mine = nats.context(self.path / "ca.pem")
        mine.load_cert_chain(self.path / "client.pem", self.path / "client.key")
        conf = 'tls: {{ cert_file: "{0}/{1}.pem", key_file: "{0}/{1}.key", ca_file: "{0}/ca.pem", verify: true }}'
        self.server_with(conf.format(self.path, "server"), tls=mine)
        own = {"certificate": "client.pem", "key": "client.key"}
        self.reads(ca="ca.pem", **own)
        self.is_refused("is not well: .*", ca="ca.pem")
        self.is_refused("is not well: .*(certificate|SSL)", **own)
        self.server_with(conf.format(self.path, "other"), tls=mine)
        self.is_refused("is not well: .*(certificate|SSL)", ca="ca.pem", **own)
        self.reads(ca="ca.pem", tlsVerify=False, **own)


class Relay:
    """Between gale and the server: cut off, and let through again."""

    def __init__(self, port):
        self.to = port
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.pairs, self.open = [], True
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listening.accept()
            except OSError:
                return
            if not self.open:
                near.close()
                continue
            far = socket.create_connection(("127.0.0.1", self.to))
            self.pairs.append((near, far))
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.pass_on, args=(one, other), daemon=True).start()

    def pass_on(self, one, other):
        try:
            while part := one.recv(1 << 16):
                other.sendall(part)
        except OSError:
            pass
        for end in (one, other):
            end.close()

    def cut(self):
        self.open = False
        for pair in self.pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        self.pairs.clear()

    def close(self):
        self.cut()
        self.listening.close()


class Disturbed(Case):
    """Each fault strikes when so many more messages are there; there are some more than the faults need."""

    STEP = 3000

    def setUp(self):
        super().setUp()
        self.make()
        self.make("OUT")
        self.struck = 0

    def out_count(self):
        try:
            with nats.Client(self.server, 5) as client:
                return client.state("OUT")["messages"]
        except (OSError, KeyError):
            return 0

    def count_for(self, faults):
        return 2 * self.STEP * (len(faults) + 1)

    def disturb(self, faults):
        for fault, repair, pause in faults:
            want = self.out_count() + self.STEP
            self.wait_for(lambda: self.out_count() >= want or self.process.poll() is not None, 120)
            if self.process.poll() is not None:
                return
            fault()
            self.struck += 1
            time.sleep(pause)
            repair()

    def run_ends(self, faults):
        self.assertEqual(self.process.wait(180), 0, self.log())
        print(f"{self.struck} faults", end=" ", flush=True)
        self.assertGreater(self.struck, len(faults) // 2)

    def each_is_there_once(self, count):
        found = self.payloads()
        self.assertEqual((len(found), len(set(found))), (count, count))


class Faults(Disturbed):
    """The server is killed three times and hangs once, or as many times more often as GALE_TEST_FAULTS says: ten kills by 4."""

    def faults(self):
        killed, hung = (self.server.kill, self.server.start, 0.2), (self.server.hang, self.server.go_on, 7)
        return [killed, hung, killed, killed] * LONG

    def test_writing_while_the_server_is_killed_and_hung_has_each_line_once(self):
        """Within the duplicate window: two minutes."""
        faults = self.faults()
        lines = [f"line {n}" for n in range(self.count_for(faults))]
        self.write_lines(lines, sink={"stream": "OUT", "inFlight": 2000, "timeout": 3})
        self.start("--rate", "15000")
        self.disturb(faults)
        self.run_ends(faults)
        self.assertEqual(self.payloads(), lines)
        self.assertIn("is not well: nats", self.log())

    def read(self, *arguments):
        faults = self.faults()
        count = self.count_for(faults)
        self.fill(count)
        self.write(spout={"untilEnd": True, "ackWait": 2}, sink_class="NatsSink", sink={"stream": "OUT"})
        self.start("--rate", "15000", *arguments)
        self.disturb(faults)
        self.run_ends(faults)
        return count

    def test_reading_while_the_server_is_killed_and_hung_loses_nothing(self):
        count = self.read()
        self.assertEqual(set(self.payloads()), {f"message {n}" for n in range(count)})

    def test_a_durable_run_counts_each_message_once_while_the_server_is_killed_and_hung(self):
        self.each_is_there_once(self.read("--state", "state"))


class Cuts(Disturbed):
    """The connection is cut off twice, or as many times more often as GALE_TEST_FAULTS says."""

    def cut_off(self, *arguments):
        relay = Relay(self.server.port)
        self.addCleanup(relay.close)

        def mend():
            relay.open = True
        faults = [(relay.cut, mend, 0.5)] * 2 * LONG
        count = self.count_for(faults)
        self.fill(count)
        self.url = f"nats://127.0.0.1:{relay.port}"
        self.write(spout={"untilEnd": True, "ackWait": 2}, sink_class="NatsSink", sink={"stream": "OUT"})
        self.start("--rate", "15000", *arguments)
        self.disturb(faults)
        self.run_ends(faults)
        return count

    def test_reading_while_it_is_cut_off_loses_nothing(self):
        count = self.cut_off()
        self.assertEqual(set(self.payloads()), {f"message {n}" for n in range(count)})

    def test_a_durable_run_counts_each_message_once_while_it_is_cut_off(self):
        self.each_is_there_once(self.cut_off("--state", "state"))


class Kills(Disturbed):
    """gale is killed GALE_TEST_KILLS times."""

    def test_a_durable_run_that_is_killed_counts_each_message_once(self):
        count = self.STEP * (KILLS + 2)
        self.fill(count)
        self.write(spout={"untilEnd": True, "ackWait": 2}, sink_class="NatsSink", sink={"stream": "OUT"})
        drawn = random.Random(11)
        for _ in range(KILLS):
            before = self.out_count()
            self.start("--state", "state", "--rate", "6000")
            self.wait_for(lambda: self.out_count() > before or self.process.poll() is not None, 60)
            time.sleep(drawn.uniform(0, 0.3))
            self.struck += self.process.poll() is None
            self.process.kill()
            self.process.wait()
        self.start("--state", "state")
        self.assertEqual(self.process.wait(180), 0, self.log())
        print(f"{self.struck} kills", end=" ", flush=True)
        self.assertGreater(self.struck, KILLS // 2)
        self.each_is_there_once(count)


class Ends(Case):
    def test_what_had_no_answer_at_the_end_comes_soon_to_the_next(self):
        """ackWait is an hour: only what was given back comes again."""
        self.make()
        self.fill(50)
        self.write(spout={"ackWait": 3600}, sink_class="ExecSink", sink={"command": "sleep 1000"})
        self.start("--end-within", "1")
        self.wait_for(lambda: self.consumer()["num_ack_pending"] == 50)
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.write(spout={"untilEnd": True})
        self.gale("run", "t.yaml")
        self.assertEqual(len({row["payload"] for row in self.rows()}), 50)

    def test_a_run_ends_while_the_server_hangs(self):
        self.make()
        self.make("OUT")
        self.fill(5)
        self.write(sink_class="NatsSink")
        self.start()
        self.wait_for(lambda: self.consumer()["ack_floor"]["stream_seq"] == 5)
        self.server.hang()
        self.addCleanup(self.server.go_on)
        self.end()


class Example(unittest.TestCase):
    def test_the_example_counts_all_orders(self):
        example = Path(__file__).resolve().parents[3] / "examples" / "connectors" / "nats" / "run.py"
        done = subprocess.run([sys.executable, example, "2"], env={**ENVIRONMENT, "GALE": GALE}, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        ordered, counted = re.search(r"(\d+) orders, (\d+) counted", done.stdout).groups()
        self.assertEqual(ordered, counted)
        self.assertGreater(int(ordered), 1000)


if __name__ == "__main__":
    if not nats.program():
        print("no NATS server is installed: script/bootstrap brings one")
        sys.exit(77)
    unittest.main(argv=["nats_test", *sys.argv[3:]], verbosity=2)
