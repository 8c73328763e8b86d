#!/usr/bin/env python3
"""The connector rabbitmq, by gale's command line, against a server of Debian's.

usage: rabbitmq_test.py GALE PLUGINS [CLASS...]
"""

import contextlib
import itertools
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import amqp
import server as rabbitmq

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": PLUGINS}
SERVER = CERTIFICATES = None
LONG = int(os.environ.get("GALE_TEST_FAULTS", "1"))  # so many times as many faults of the server: 5 are ten kills; script/connectors has more
KILLS = int(os.environ.get("GALE_TEST_KILLS", 4 * LONG))  # of gale, in each test that has some
NUMBERS = itertools.count()


def openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def make_certificates(folder):
    """Two authorities, a server and a client of the first."""
    for ca in ("ca", "other"):
        openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", f"/CN={ca}", "-keyout", f"{ca}.key", "-out", f"{ca}.pem")
    Path(folder, "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    for name in ("server", "client"):
        openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30", "-extfile", "names",
                "-out", f"{name}.pem")


def setUpModule():
    global SERVER, CERTIFICATES
    CERTIFICATES = tempfile.TemporaryDirectory(prefix="gale-certificates-")
    tls = len(sys.argv) == 1 or any(name.startswith("Tls") for name in sys.argv[1:])
    if tls:
        make_certificates(CERTIFICATES.name)
    SERVER = rabbitmq.Server(tls=CERTIFICATES.name if tls else None, user="gale", password="sesame")


def tearDownModule():
    SERVER.close()
    CERTIFICATES.cleanup()


def properties(**values):
    return "".join(f"      - {{name: {name}, value: {json.dumps(value)}}}\n" for name, value in values.items() if value is not None)


HEAD = "name: t\nconfig: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100}}\n"

READ = HEAD + """spouts:
  - id: in
    className: gale.spout.RabbitMQ
    properties:
{spout}bolts:
{bolts}  - {{id: text, className: gale.bolt.Format, properties: [{{name: format, value: json}}]}}
  - {{id: out, className: gale.bolt.FileSink, properties: [{{name: path, value: out.json}}]}}
streams:
{streams}  - {{from: {last}, to: text, grouping: {{type: SHUFFLE}}}}
  - {{from: text, to: out, grouping: {{type: SHUFFLE}}}}
"""

WRITE = HEAD + """spouts:
  - {{id: in, className: gale.spout.File, properties: [{{name: path, value: in.csv}}]}}
bolts:
  - {{id: fields, className: gale.bolt.Csv, properties: [{{name: fields, value: "{fields}"}}]}}
  - id: out
    className: gale.bolt.RabbitMQSink
    properties:
{sink}streams:
  - {{from: in, to: fields, grouping: {{type: SHUFFLE}}}}
  - {{from: fields, to: out, grouping: {{type: SHUFFLE}}}}
"""

COPY = HEAD + """spouts:
  - id: in
    className: gale.spout.RabbitMQ
    properties:
{spout}bolts:
  - id: out
    className: gale.bolt.RabbitMQSink
    properties:
{sink}streams:
  - {{from: in, to: out, grouping: {{type: SHUFFLE}}}}
"""


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.process = None
        self.queue, self.other = (f"q{next(NUMBERS)}" for _ in range(2))
        (self.path / "password").write_text("sesame\n")
        self.broker = {"url": SERVER.url(), "user": "gale", "passwordFrom": "password"}
        with SERVER.connect() as c:
            c.queue(self.queue)
            c.queue(self.other)

    def gale(self, *arguments, code=0):
        done = subprocess.run([GALE, *arguments], cwd=self.path, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
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

    def unanswered(self):
        """How many messages of the queue somebody has."""
        for line in SERVER.control("list_queues", "-q", "name", "messages_unacknowledged").splitlines():
            name, count = line.split()
            if name == self.queue:
                return int(count)
        return -1

    def wait_for(self, condition):
        end = time.monotonic() + 60 * LONG
        while not condition():
            self.assertLess(time.monotonic(), end, self.log())
            time.sleep(0.05)

    def log(self):
        path = self.path / "log"
        return path.read_text() if path.exists() else ""

    def fill(self, bodies, queue=None, **given):
        with SERVER.connect() as c:
            c.fill(queue or self.queue, bodies, **given)

    def depth(self, queue=None):
        """A server that was killed takes connections before it has found its queues again."""
        for tries in range(60):
            try:
                with SERVER.connect() as c:
                    return c.depth(queue or self.queue)
            except amqp.Closed as closed:
                if "404" not in str(closed) or tries == 59:
                    raise
                time.sleep(0.5)

    def drain(self, queue=None):
        with SERVER.connect() as c:
            return c.drain(queue or self.queue)

    def numbers(self, queue):
        return [int(message.body) for message in self.drain(queue)]

    def read(self, bolts="", last="in", streams="", **spout):
        given = {**self.broker, "queue": self.queue, "untilEmpty": True, **spout}
        (self.path / "t.yaml").write_text(READ.format(spout=properties(**given), bolts=bolts, last=last, streams=streams))

    def write(self, rows, fields="n int, name", **sink):
        given = {**self.broker, "routingKey": self.queue, **sink}
        (self.path / "in.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
        (self.path / "t.yaml").write_text(WRITE.format(fields=fields, sink=properties(**given)))

    def copy(self, spout=None, **sink):
        given = {**self.broker, "queue": self.queue, **(spout or {})}
        (self.path / "t.yaml").write_text(COPY.format(spout=properties(**given), sink=properties(**{**self.broker, "routingKey": self.other, **sink})))

    def rows(self):
        path = self.path / "out.json"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def bodies(self):
        return sorted(int(row["body"]) for row in self.rows())


class Smoke(Case):
    def test_what_a_queue_has_is_in_another_one_and_answered(self):
        self.fill(range(5000))
        self.copy(spout={"untilEmpty": True})
        self.gale("run", "t.yaml")
        self.assertEqual(self.depth(), 0)
        self.assertEqual(self.numbers(self.other), list(range(5000)))


FAILS = """  - id: check
    className: gale.bolt.Map
    properties:
      - {name: set, value: {n: "body == '3' and error('bad') or body"}}
"""
CHECKED = {"bolts": FAILS, "last": "check", "streams": "  - {from: in, to: check, grouping: {type: SHUFFLE}}\n"}


class Reads(Case):
    def test_a_tuple_has_what_the_message_has(self):
        given = {"content_type": "text/plain", "content_encoding": "none", "correlation_id": "c", "reply_to": "r", "message_id": "id-1", "type": "order",
                 "timestamp": 1700000000, "priority": 3,
                 "headers": {"text": "ünd", "n": -5, "big": 1.5, "yes": True, "list": [1, "two", {"three": 3}], "none": None, "bytes": b"\xff"}}
        fields = ["body", "key", "exchange", "headers", "time", "id", "redelivered", "attempt", "type", "contentType", "contentEncoding",
                  "correlationId", "replyTo", "priority"]
        with SERVER.connect() as c:
            c.exchange("shop", "topic")
            c.bind(self.queue, "shop", "order.*")
            c.publish("order.at", "a ☃", exchange="shop", **given)
            c.publish(self.queue, "bare")
            c.publish(self.queue, b"")
            c.confirm()
        self.read(emit=fields)
        self.gale("run", "t.yaml")
        full, bare, empty = self.rows()
        headers = full.pop("headers")
        self.assertEqual(full, {"body": "a ☃", "key": "order.at", "exchange": "shop", "time": 1700000000000, "id": "id-1", "redelivered": False,
                                "attempt": 1, "type": "order", "contentType": "text/plain", "contentEncoding": "none", "correlationId": "c",
                                "replyTo": "r", "priority": 3})
        self.assertEqual({name: headers[name] for name in headers if name != "bytes"},
                         {"text": "ünd", "n": -5, "big": 1.5, "yes": True, "list": [1, "two", {"three": 3}], "none": None})
        self.assertEqual(bare, {**dict.fromkeys(fields), "body": "bare", "key": self.queue, "exchange": "", "redelivered": False, "attempt": 1})
        self.assertEqual(empty["body"], "")

    def test_no_more_are_open_than_prefetch(self):
        """The sink's exchange is not there: nothing is answered."""
        self.fill(range(100))
        self.copy(spout={"prefetch": 7}, exchange="late", once=False)
        self.start()
        self.wait_for(lambda: "NOT_FOUND - no exchange 'late'" in self.log() and self.depth() == 93)
        time.sleep(1)
        self.assertEqual(self.depth(), 93)
        with SERVER.connect() as c:
            c.exchange("late", "fanout")
            c.bind(self.other, "late")
            self.addCleanup(lambda: self.drop_exchange("late"))
        self.wait_for(lambda: self.depth(self.other) == 100)
        self.end()
        self.assertEqual((self.depth(), self.numbers(self.other)), (0, list(range(100))))

    def drop_exchange(self, name):
        with SERVER.connect() as c:
            c.delete_exchange(name)

    def test_what_fails_comes_again_and_is_rejected_then_to_the_dead_letters(self):
        name = f"new{self.queue}"
        self.read(**CHECKED, queue=name, maxAttempts=2, untilEmpty=False,
                  declare={"deadLetterExchange": f"dead-{name}", "deadLetterQueue": f"letters-{name}"})
        self.start()
        self.wait_for(lambda: name in SERVER.control("list_queues", "name", "-q"))
        self.fill(range(10), queue=name, message_id="4711")
        self.wait_for(lambda: len(self.rows()) == 9 and self.depth(f"letters-{name}") == 1)
        self.end(code=1)
        self.assertIn(f"message 4711 of {name} given up after 2 attempts: ", self.log())
        self.assertEqual(self.bodies(), [0, 1, 2, 4, 5, 6, 7, 8, 9])
        letter, = self.drain(f"letters-{name}")
        self.assertEqual((letter.body, letter.headers["x-death"][0]["reason"], letter.headers["x-death"][0]["queue"]), (b"3", "rejected", name))

    def test_what_fails_goes_back_to_a_quorum_queue_which_counts(self):
        name = f"quorum{self.queue}"
        declare = {"quorum": True, "deadLetterExchange": f"dead-{name}", "deadLetterQueue": f"letters-{name}"}
        self.read(**CHECKED, queue=name, retry="queue", maxAttempts=3, untilEmpty=False, declare=declare)
        self.start()
        self.wait_for(lambda: name in SERVER.control("list_queues", "name", "-q"))
        self.fill(range(10), queue=name)
        self.wait_for(lambda: len(self.rows()) == 9 and self.depth(f"letters-{name}") == 1)
        self.end(code=1)
        self.assertIn("9 acked, 3 failed", self.log())
        self.assertIn(f"message of {name}, without an id, of the routing key '{name}', given 3 times, is rejected: failed", self.log())
        self.assertNotIn("given up", self.log())
        letter, = self.drain(f"letters-{name}")
        self.assertEqual((letter.body, letter.headers["x-death"][0]["reason"]), (b"3", "rejected"))
        self.assertEqual(self.bodies(), [0, 1, 2, 4, 5, 6, 7, 8, 9])

    def test_a_classic_queue_gives_it_once_again(self):
        self.fill([3])
        self.read(**CHECKED, retry="queue", maxAttempts=10)
        log = self.gale("run", "t.yaml", code=1)
        self.assertIn(f"message of {self.queue}, without an id, of the routing key '{self.queue}', given again, is rejected: failed", log)
        self.assertEqual((self.depth(), self.rows()), (0, []))

    def test_a_message_that_is_too_long_or_has_too_many_headers_is_rejected_and_the_rest_goes_on(self):
        deep = {}
        for _ in range(30):
            deep = {"in": deep}
        with SERVER.connect() as c:
            c.publish(self.queue, "x" * 300_000)
            c.publish(self.queue, "1")
            c.publish(self.queue, "2", headers=deep)
            c.publish(self.queue, "3", headers={f"h{n}": n for n in range(600)})
            c.publish(self.queue, "4", headers={f"h{n}": n for n in range(500)})
            c.confirm()
        self.read(emit=["body", "headers"], maxMessage="100 KB")
        log = self.gale("run", "t.yaml", code=1)
        self.assertIn("it has 300000 bytes, more than maxMessage", log)
        self.assertEqual(log.count("its headers are too many, or too deep"), 2)
        self.assertEqual((self.bodies(), self.depth()), ([1, 4], 0))

    def test_tables_within_tables_as_deep_as_a_frame_has_room_for_end_nothing(self):
        deep = b""
        while len(deep) < 120_000:
            deep = b"\0F" + len(deep).to_bytes(4, "big") + deep
        with SERVER.connect() as c:
            c.publish(self.queue, "1", headers=len(deep).to_bytes(4, "big") + deep)
            c.publish(self.queue, "2")
            c.confirm()
        self.read(emit=["body", "headers"])
        self.assertIn("its headers are too many, or too deep", self.gale("run", "t.yaml", code=1))
        self.assertEqual((self.bodies(), self.depth()), ([2], 0))

    def test_a_large_message_arrives_as_it_is(self):
        body = "0123456789" * 700_000
        self.fill([body])
        self.read()
        self.gale("run", "t.yaml")
        self.assertEqual(self.rows(), [{"body": body}])

    def test_several_tasks_share_a_queue(self):
        self.fill(range(3000))
        self.copy(spout={"untilEmpty": True, "prefetch": 50})
        path = self.path / "t.yaml"
        path.write_text(path.read_text().replace("  - id: in\n", "  - id: in\n    parallelism: 3\n"))
        self.gale("run", "t.yaml")
        self.assertEqual((self.depth(), sorted(self.numbers(self.other))), (0, list(range(3000))))

    def test_a_run_that_is_killed_has_answered_nothing_that_it_had_not_done(self):
        self.fill(range(3000))
        self.copy(once=False)
        for _ in range(KILLS):
            before = self.depth(self.other)
            process = self.start("--rate", "1000")
            self.wait_for(lambda: self.depth(self.other) > before + 3000 / (2 * KILLS) or not self.depth())
            process.kill()
            process.wait()
        self.copy(spout={"untilEmpty": True}, once=False)
        self.gale("run", "t.yaml")
        self.assertEqual(set(self.numbers(self.other)), set(range(3000)))


class Writes(Case):
    def test_a_message_has_what_the_tuple_has(self):
        with SERVER.connect() as c:
            c.exchange("shop", "topic")
            c.bind(self.queue, "shop", "order.*.#")
        self.write([(1, "one", 1700000000123, 2.5), (2, "two", 1700000001000, 0)], fields="n int, name, at int, share float", exchange="shop",
                   routingKey="order.{n}", body="name", headers=["n", "share", "name"], time="at", id="n", contentType="text/plain", type="order")
        self.gale("run", "t.yaml")
        first, second = self.drain()
        self.assertEqual((first.body, first.key, first.exchange, first.message_id, first.timestamp, first.content_type, first.type, first.delivery_mode),
                         (b"one", "order.1", "shop", "1", 1700000000, "text/plain", "order", 2))
        self.assertEqual(first.headers, {"n": 1, "share": 2.5, "name": "one"})
        self.assertEqual((second.body, second.key), (b"two", "order.2"))

    def test_each_has_an_id_of_its_own_and_they_are_in_order(self):
        self.write([(n, "n") for n in range(20_000)])
        self.gale("run", "t.yaml")
        found = self.drain()
        self.assertEqual([int(message.body) for message in found], list(range(20_000)))
        self.assertEqual(len({message.message_id for message in found}), 20_000)

    def test_what_no_queue_takes_is_rejected_in_words(self):
        rows = [(n, self.queue if n % 3 else "nobody") for n in range(300)]
        self.write(rows, routingKey="{name}")
        log = self.gale("run", "t.yaml", code=1)
        self.assertIn("no queue takes it: 312 NO_ROUTE (exchange '', routing key 'nobody')", log)
        self.assertEqual(self.numbers(self.queue), [n for n in range(300) if n % 3])

    def test_of_very_many_that_no_queue_takes_the_log_has_a_few_and_their_number(self):
        self.write([(n, f"nobody.{n % 7}.{'abc'[n % 3]}") for n in range(2_000)], routingKey="{name}")
        log = self.gale("run", "t.yaml", code=1)
        self.assertLess(log.count("312 NO_ROUTE"), 100, log)
        self.assertRegex(log, r"line \d+ given up after 1 attempt: rejected: .*\(exchange '', routing key 'nobody\.\d\.[abc]'\) \(out\) \(and \d+ more like it\)")
        self.assertIn("2,000 rejected", log)

    def test_what_no_queue_takes_is_dropped_where_it_is_said_so(self):
        self.write([(n, self.queue if n % 3 else "nobody") for n in range(300)], routingKey="{name}", mandatory=False)
        self.gale("run", "t.yaml")
        self.assertEqual(len(self.numbers(self.queue)), 200)

    def test_ids_of_ones_own_that_are_the_same_are_told_apart(self):
        self.write([(n, self.queue if n % 2 else "nobody") for n in range(20)], routingKey="{name}", id="name")
        self.gale("run", "t.yaml", code=1)
        self.assertEqual(self.numbers(self.queue), [n for n in range(20) if n % 2])

    def test_what_is_returned_to_a_copy_is_a_dead_letter_of_its_source(self):
        with SERVER.connect() as c:
            c.queue(f"dead-{self.queue}")
            c.queue(f"src-{self.queue}", x_dead_letter_exchange="", x_dead_letter_routing_key=f"dead-{self.queue}")
            c.fill(f"src-{self.queue}", range(10))
        self.copy(spout={"queue": f"src-{self.queue}", "untilEmpty": True}, routingKey="nobody")
        self.gale("run", "t.yaml", code=1)
        self.assertEqual(self.numbers(f"dead-{self.queue}"), list(range(10)))

    def test_what_is_refused_is_sent_again_until_it_is_taken(self):
        """A queue that is full refuses (nack)."""
        name = f"full{self.queue}"
        with SERVER.connect() as c:
            c.queue(name, x_max_length=100, x_overflow="reject-publish")
        self.write([(n, "n") for n in range(500)], routingKey=name, inFlight=50)
        self.start()
        found = set()
        self.wait_for(lambda: "the broker refuses messages (nack)" in self.log())
        def take():
            found.update(self.numbers(name))
            return len(found) == 500
        self.wait_for(take)
        self.assertEqual(self.process.wait(60), 0, self.log())

    def test_what_can_be_no_message_is_rejected_and_the_rest_goes_on(self):
        self.write([(1, "x" * 3000), (2, "short"), (3, "y" * 300)], body="name", routingKey=self.queue, maxMessage=2000, headers=["n"])
        self.assertIn("field name has more bytes than maxMessage", self.gale("run", "t.yaml", code=1))
        self.assertEqual([message.headers["n"] for message in self.drain()], [2, 3])
        self.write([(1, "z" * 300), (2, self.queue)], routingKey="{name}")
        self.assertIn("routingKey: field name has more than 255 bytes", self.gale("run", "t.yaml", code=1))
        self.assertEqual(self.numbers(self.queue), [2])

    def test_an_exchange_is_declared_or_waited_for(self):
        self.write([(n, "n") for n in range(10)], exchange=f"x{self.queue}", mandatory=False, declare={"type": "fanout"})
        self.gale("run", "t.yaml")
        with SERVER.connect() as c:
            c.exchange(f"x{self.queue}", passive=True)
        self.write([(n, "n") for n in range(10)], exchange=f"y{self.queue}")
        self.start()
        self.wait_for(lambda: f"404 NOT_FOUND - no exchange 'y{self.queue}'" in self.log())
        with SERVER.connect() as c:
            c.exchange(f"y{self.queue}", "fanout")
            c.bind(self.queue, f"y{self.queue}")
        self.assertEqual(self.process.wait(60), 0, self.log())
        self.assertEqual(self.numbers(self.queue), list(range(10)))


class Words(Case):
    def check(self, words, **wrong):
        with self.subTest(wrong=wrong):
            err = self.gale("check", "t.yaml", code=2)
            self.assertIn(words, err)
            self.assertRegex(err, r"t.yaml:\d+:\d+: ")

    def test_a_port_where_nobody_is_and_a_declaration_that_does_not_fit_are_told_whole(self):
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            port = nobody.getsockname()[1]
            self.read(url=f"amqp://127.0.0.1:{port}", untilEmpty=False)
            self.start()
            self.wait_for(lambda: f"is not well: rabbitmq 127.0.0.1:{port}: cannot connect: nobody listens there, or it" in self.log())
            self.end()
        with SERVER.connect() as c:
            c.exchange(f"x{self.queue}", "topic")
        self.read(untilEmpty=False, declare={"exchange": f"x{self.queue}", "type": "fanout"})
        self.start()
        self.wait_for(lambda: "received 'fanout' but current is 'topic'" in self.log())
        self.end()

    def test_what_is_wrong_with_a_file_is_told_at_its_place(self):
        for wrong, words in [({"url": "http://a"}, "url: it begins with amqp:// or amqps://"),
                             ({"url": "amqp://u:p@a"}, "url: it has no user and no password: user and passwordFrom say them"),
                             ({"url": "amqp://a:0"}, "url: a broker is host, or host:port"),
                             ({"url": "amqp://a/b/c"}, "url: behind the host stands a virtual host alone"),
                             ({"passwordFrom": None}, "user: passwordFrom says the file with the password of gale"),
                             ({"ca": "ca.pem"}, "ca: it is of TLS: amqps://"),
                             ({"certificate": "c.pem"}, "certificate: it goes with certificateKey"),
                             ({"queue": ""}, "queue: it names none"),
                             ({"queue": "q" * 256}, "queue: it has at most 255 bytes"),
                             ({"prefetch": 0}, "prefetch"),
                             ({"emit": ["bodi"]}, "emit: "),
                             ({"retry": "there"}, "retry"),
                             ({"declare": {"quorom": True}}, "declare: quorom is none of its names; did you mean 'quorum'?"),
                             ({"declare": {"quorum": True, "durable": False}}, "declare: a quorum queue is durable"),
                             ({"declare": {"exchange": "a", "type": "topik"}}, "did you mean 'topic'?"),
                             ({"declare": {"bindings": ["a"]}}, "declare: bindings are to an exchange, which exchange says")]:
            self.read(**wrong)
            self.check(words, **wrong)
        for wrong, words in [({"routingKey": ""}, "routingKey: without an exchange it is the queue's name"),
                             ({"routingKey": "a.{nowhere}"}, "'routingKey' of 'out' names 'nowhere', which 'fields' does not have in stream 'default'"),
                             ({"routingKey": "a{b"}, "routingKey: a field stands in braces: {name}"),
                             ({"declare": {"type": "topic"}}, "declare: the exchange without a name is there always"),
                             ({"exchange": "a", "declare": {"bindings": []}}, "declare: bindings is none of its names")]:
            self.write([], **wrong)
            self.check(words, **wrong)

    def test_a_password_that_is_wrong_is_told_without_it_and_one_that_is_mended_helps(self):
        (self.path / "password").write_text("open-barley\n")
        self.fill(range(10))
        self.read()
        self.start()
        self.wait_for(lambda: "403 ACCESS_REFUSED" in self.log())
        (self.path / "password").write_text("sesame\n")
        self.assertEqual(self.process.wait(60), 0, self.log())
        self.assertNotIn("open-barley", self.log())
        self.assertNotIn("sesame", self.log())
        self.assertEqual(self.bodies(), list(range(10)))

    def test_a_file_without_a_password_is_named(self):
        self.read(passwordFrom="no-file")
        self.start()
        self.wait_for(lambda: "passwordFrom: cannot open 'no-file'" in self.log())

    def test_a_queue_that_is_not_there_is_waited_for(self):
        self.read(queue=f"late{self.queue}")
        self.start()
        self.wait_for(lambda: f"queue late{self.queue}: 404 NOT_FOUND" in self.log())
        with SERVER.connect() as c:
            c.queue(f"late{self.queue}")
            c.fill(f"late{self.queue}", range(10))
        self.assertEqual(self.process.wait(60), 0, self.log())
        self.assertEqual(self.bodies(), list(range(10)))

    def test_a_queue_that_is_declared_otherwise_is_told(self):
        self.read(declare={"quorum": True})
        self.start()
        self.wait_for(lambda: "406 PRECONDITION_FAILED" in self.log())

    def test_a_queue_that_is_deleted_is_told_and_taken_up_again(self):
        self.read(untilEmpty=False)
        self.start()
        self.fill(range(10))
        self.wait_for(lambda: len(self.rows()) == 10)
        with SERVER.connect() as c:
            c.delete(self.queue)
        self.wait_for(lambda: "the broker gives nothing of the queue any more" in self.log() or "no queue" in self.log())
        with SERVER.connect() as c:
            c.queue(self.queue)
            c.fill(self.queue, range(10, 20))
        self.wait_for(lambda: len(self.rows()) == 20)
        self.end()

    def test_of_several_brokers_one_that_is_there_is_found(self):
        self.fill(range(10))
        self.read(url=[f"amqp://127.0.0.1:{rabbitmq.free_port()}", SERVER.url()])
        self.gale("run", "t.yaml")
        self.assertEqual(self.bodies(), list(range(10)))


class Tls(Case):
    def files(self, **other):
        folder = CERTIFICATES.name
        return {"url": f"amqps://localhost:{SERVER.tls_port}", "ca": f"{folder}/ca.pem", "certificate": f"{folder}/client.pem",
                "certificateKey": f"{folder}/client.key", **other}

    def test_both_ends_show_their_certificates(self):
        self.fill(range(2000))
        self.copy(spout={"untilEmpty": True, **self.files()}, **self.files())
        self.gale("run", "t.yaml")
        self.assertEqual((self.depth(), self.numbers(self.other)), (0, list(range(2000))))

    def refused(self, words, **other):
        self.read(**self.files(**other))
        self.start()
        self.wait_for(lambda: words in self.log())
        self.process.kill()
        self.process.wait()
        (self.path / "log").unlink()

    def test_who_is_not_vouched_for_is_not_believed(self):
        self.refused("SSL peer cert verification failed", ca=f"{CERTIFICATES.name}/other.pem")
        self.refused("ca: no.pem cannot be read as PEM", ca="no.pem")
        self.refused("localhost", ca=None)
        self.assertEqual(self.rows(), [])


class Liar(threading.Thread):
    """Opens what a consumer asks for, as a broker does, and then sends what it is given."""

    def __init__(self, lie):
        super().__init__(daemon=True)
        self.lie, self.met = lie, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.start()

    def run(self):
        while True:
            try:
                one, _ = self.listener.accept()
            except OSError:
                return
            self.met += 1
            try:
                with one:
                    self.answer(one)
            except (OSError, amqp.Closed):
                pass

    def answer(self, one):
        peer = amqp.Connection.__new__(amqp.Connection)
        peer.socket, peer.buffer = one, b""
        peer.exactly(8)
        peer.send(0, 10, 10, b"\0\x09" + amqp.table({}) + amqp.long(b"PLAIN") + amqp.long(b"en_US"))
        answers = {(10, 11): (0, 10, 30, struct.pack(">HIH", 64, 131072, 0)), (10, 40): (0, 10, 41, amqp.short("")), (20, 10): (1, 20, 11, amqp.long(b"")),
                   (50, 10): (1, 50, 11, amqp.short("q") + struct.pack(">II", 0, 0)), (60, 10): (1, 60, 11, b""), (60, 20): (1, 60, 21, amqp.short("c"))}
        while True:
            kind, reader = peer.read()
            if kind != 1:
                continue
            asked = reader.take("H"), reader.take("H")
            if asked in answers:
                peer.send(*answers[asked])
            if asked == (60, 20):
                one.sendall(self.lie)


def delivery(tag, size, *parts, header=b""):
    frame = amqp.Connection.__new__(amqp.Connection).frame
    out = frame(1, 1, struct.pack(">HH", 60, 60) + amqp.short("c") + struct.pack(">QB", tag, 0) + amqp.short("") + amqp.short("q"))
    out += frame(2, 1, struct.pack(">HHQ", 60, 0, size) + (header or struct.pack(">H", 0)))
    return out + b"".join(frame(3, 1, part) for part in parts)


class Lies(Case):
    def believe(self, lie, words):
        with self.subTest(words=words):
            liar = Liar(lie)
            self.addCleanup(liar.listener.close)
            self.read(url=f"amqp://127.0.0.1:{liar.port}", untilEmpty=False, prefetch=10, timeout="2s")
            self.start("--overwrite")
            self.wait_for(lambda: words in self.log() and liar.met > 1)
            self.end()
            (self.path / "log").unlink()

    def test_a_broker_that_says_what_cannot_be_is_told_and_left(self):
        self.believe(b"".join(delivery(tag, 1, b"x") for tag in range(1, 100)), "the broker gives more messages than prefetch allows")
        self.believe(delivery(1, 3, b"four"), "is not well: rabbitmq")
        self.believe(delivery(1, 3, b"abc", header=struct.pack(">H", 0x2000) + b"\xff\xff\xff\xff"), "is not well: rabbitmq")
        self.believe(b"\x03\0\1\xff\xff\xff\xff" + b"x" * 1000, "is not well: rabbitmq")
        self.believe(bytes(range(256)) * 100, "is not well: rabbitmq")
        self.believe(amqp.Connection.__new__(amqp.Connection).frame(3, 1, b"a body of nothing"), "is not well: rabbitmq")


class Proxy:
    """In front of the server: what goes through it is cut off, without a word of goodbye."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.open = self.listener.getsockname()[1], []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                one, _ = self.listener.accept()
            except OSError:
                return
            other = socket.create_connection(("127.0.0.1", SERVER.port))
            self.open += [one, other]
            for pair in (one, other), (other, one):
                threading.Thread(target=self.pass_on, args=pair, daemon=True).start()

    def pass_on(self, one, other):
        try:
            while data := one.recv(65536):
                other.sendall(data)
            other.shutdown(socket.SHUT_RDWR)  # gale that ends may not wait for the server's goodbye, and the server is to know
        except OSError:
            pass

    def cut(self):
        for one in self.open:
            try:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                one.shutdown(socket.SHUT_RDWR)  # who reads it goes on
            except OSError:
                pass  # it was closed from the other side
            one.close()  # a reset
        self.open.clear()

    def close(self):
        with contextlib.suppress(OSError):  # wakes the thread that accepts: else it would take from whoever gets this descriptor next
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Faults(Case):
    COUNT = 10_000 * LONG

    def close_all(self):
        SERVER.control("close_all_connections", "a test")

    def test_a_connection_that_is_closed_with_messages_open_loses_none_and_acks_none_for_another(self):
        """They are open, as the sink's exchange is not there; then it is."""
        self.fill(range(200))
        self.copy(spout={"prefetch": 50, "timeout": "2s"}, exchange=f"late{self.queue}", once=False)
        self.start()
        for _ in range(3):
            self.wait_for(lambda: self.depth() == 150)
            before = self.log().count("source lost")
            self.close_all()
            self.wait_for(lambda: self.log().count("source lost") > before)
        self.assertIn("source lost: 50 messages had no answer", self.log())
        self.assertIn("CONNECTION_FORCED - a test", self.log())
        with SERVER.connect() as c:
            c.exchange(f"late{self.queue}", "fanout")
            c.bind(self.other, f"late{self.queue}")
        self.wait_for(lambda: self.depth(self.other) >= 200 and self.depth() == 0)
        self.end()
        self.assertNotIn("unknown delivery tag", self.log())
        self.assertEqual(self.depth(), 0)
        self.assertEqual(set(self.numbers(self.other)), set(range(200)))
        self.assertRegex(self.log(), "200 acked, 150 failed")

    def test_what_ends_behind_a_lost_connection_answers_no_other_message(self):
        """While gale may not connect, somebody else takes what it had; its next messages have the same tags. Then what it had is published, and nothing else, as the
        queue is full."""
        full = f"full{self.queue}"
        SERVER.control("add_user", "other", "sesame")
        SERVER.control("set_permissions", "other", ".*", ".*", ".*")
        self.addCleanup(SERVER.control, "delete_user", "other")
        self.fill(range(100))
        self.copy(spout={"prefetch": 50}, exchange=f"late{self.queue}", routingKey="k")
        self.start()
        self.wait_for(lambda: self.depth() == 50 and "no exchange 'late" in self.log())
        SERVER.control("clear_permissions", "gale")
        self.addCleanup(SERVER.control, "set_permissions", "gale", ".*", ".*", ".*")
        self.close_all()
        with SERVER.connect(user="other") as c:
            self.wait_for(lambda: c.depth(self.queue) == 100)
            for _ in range(50):
                c.get(self.queue)
            SERVER.control("set_permissions", "gale", ".*", ".*", ".*")
            self.wait_for(lambda: c.depth(self.queue) == 0)
            c.queue(full, x_max_length=50, x_overflow="reject-publish")
            c.exchange(f"late{self.queue}", "fanout")
            c.bind(full, f"late{self.queue}")
            self.wait_for(lambda: c.depth(full) >= 50 and "the broker refuses messages (nack)" in self.log())
            time.sleep(1)
            self.process.kill()
            self.process.wait()
        self.wait_for(lambda: self.unanswered() == 0)
        self.assertEqual(set(self.numbers(full)) | set(self.numbers(self.queue)), set(range(100)))

    def test_connections_that_are_closed_under_load_lose_nothing(self):
        self.fill(range(self.COUNT))
        self.copy(once=False)
        self.start("--rate", "1500")
        for _ in range(4 * LONG):
            before = self.depth(self.other)
            self.wait_for(lambda: self.depth(self.other) > before + 200 or self.depth() == 0)
            self.close_all()
        self.wait_for(lambda: self.depth() == 0)
        self.copy(spout={"untilEmpty": True}, once=False)
        self.end()
        self.wait_for(lambda: self.unanswered() == 0)
        self.gale("run", "t.yaml")
        self.assertNotIn("unknown delivery tag", self.log())
        self.assertEqual(set(self.numbers(self.other)), set(range(self.COUNT)))

    def test_connections_that_are_cut_off_under_load_lose_nothing(self):
        proxy = Proxy()
        self.addCleanup(proxy.close)
        self.fill(range(self.COUNT))
        way = {"url": f"amqp://127.0.0.1:{proxy.port}"}
        self.copy(spout=way, **way, once=False)
        self.start("--rate", "3000")
        for _ in range(4 * LONG):
            before = self.depth(self.other)
            self.wait_for(lambda: self.depth(self.other) > before + 500 or self.depth() == 0)
            proxy.cut()
        self.wait_for(lambda: self.depth() == 0)
        self.end()
        self.wait_for(lambda: self.unanswered() == 0)  # a connection that was lost has none any more
        self.copy(spout={"untilEmpty": True}, once=False)
        self.gale("run", "t.yaml")
        self.assertEqual(set(self.numbers(self.other)), set(range(self.COUNT)))

    def disturb(self):
        for fault in [SERVER.kill, SERVER.hang, SERVER.kill] * LONG:
            before = self.depth(self.other)
            self.wait_for(lambda: self.depth(self.other) > before + 1000)
            fault()
            time.sleep(0.3 if fault == SERVER.kill else 4)
            if fault == SERVER.kill:
                SERVER.start()
            else:
                SERVER.go_on()

    def test_a_server_that_is_killed_and_hung_under_load_loses_nothing(self):
        self.fill(range(self.COUNT))
        self.copy(spout={"heartbeat": 1, "timeout": "2s"}, heartbeat=1, timeout="2s", once=False)
        self.start("--rate", "3000")
        self.disturb()
        self.wait_for(lambda: self.depth() == 0)
        self.end()
        self.wait_for(lambda: self.unanswered() == 0)  # a connection that was lost has none any more
        self.copy(spout={"untilEmpty": True}, once=False)
        self.gale("run", "t.yaml")
        self.assertEqual(set(self.numbers(self.other)), set(range(self.COUNT)))

    def test_a_server_that_hangs_is_told_and_a_run_ends_all_the_same(self):
        self.read(untilEmpty=False, heartbeat=1, timeout="2s")
        self.start()
        self.wait_for(lambda: self.queue in SERVER.control("list_consumers"))
        SERVER.hang()
        self.addCleanup(SERVER.go_on)
        self.wait_for(lambda: "is not well: rabbitmq" in self.log())
        self.end()


class Durable(Case):
    """Counts are once where a copy of a message that comes again is known by its id."""

    def lives(self, count, condition=None):
        """Without a condition it ends by itself."""
        for _ in range(count):
            process = self.start("--state", "state", "--rate", "2000")
            time.sleep(random.uniform(0.2, 1.2))
            process.kill()
            process.wait()
        self.start("--state", "state")
        if not condition:
            self.assertEqual(self.process.wait(60), 0, self.log())
            return
        self.wait_for(condition)
        self.end()

    def test_a_run_that_is_killed_has_published_each_under_one_id(self):
        rows = 500 * KILLS + 1000
        self.write([(n, "n") for n in range(rows)])
        self.lives(KILLS)
        found = self.drain()
        by_id = {message.message_id: int(message.body) for message in found}
        self.assertEqual(sorted(by_id.values()), list(range(rows)))

    def test_no_message_goes_before_a_checkpoint_has_it(self):
        self.write([(n, "n") for n in range(5000)])
        path = self.path / "t.yaml"
        path.write_text(path.read_text().replace("interval.ms: 100", "interval.ms: 3600000"))
        self.start("--state", "state", "--rate", "1000")
        time.sleep(2)
        self.assertEqual(self.depth(), 0)
        self.wait_for(lambda: self.depth() == 5000)  # its end is one, and half of inFlight asks for one
        self.assertEqual(self.process.wait(30), 0, self.log())

    def test_the_broker_is_told_when_a_checkpoint_has_it(self):
        """What was acked is unanswered at the broker until then: a run that is killed has it again."""
        self.fill(range(300))
        self.read(untilEmpty=False, prefetch=1000)
        path = self.path / "t.yaml"
        path.write_text(path.read_text().replace("interval.ms: 100", "interval.ms: 3600000"))
        self.start("--state", "state")
        self.wait_for(lambda: self.depth() == 0)
        time.sleep(1)
        self.process.kill()
        self.process.wait()
        self.wait_for(lambda: self.depth() == 300)
        path.write_text(path.read_text().replace("interval.ms: 3600000", "interval.ms: 100"))
        self.start("--state", "state")
        self.wait_for(lambda: self.depth() == 0 and self.unanswered() == 0)
        self.end()
        self.assertEqual(set(self.bodies()), set(range(300)))

    def test_prefetch_that_waits_for_a_checkpoint_asks_for_one(self):
        self.fill(range(2000))
        self.read(untilEmpty=False, prefetch=100)
        path = self.path / "t.yaml"
        path.write_text(path.read_text().replace("interval.ms: 100", "interval.ms: 3600000"))
        self.start("--state", "state")
        self.wait_for(lambda: self.depth() == 0)
        self.end()
        self.assertEqual(set(self.bodies()), set(range(2000)))

    def test_a_copy_that_is_killed_at_any_moment_loses_nothing(self):
        rows = 500 * KILLS + 1000
        self.fill(range(rows))
        self.copy()
        self.lives(KILLS, lambda: self.depth() == 0 and self.depth(self.other) >= rows)
        self.assertEqual(set(self.numbers(self.other)), set(range(rows)))

    def test_with_dedupe_by_id_a_copy_that_is_killed_has_each_once(self):
        rows = 500 * KILLS + 1000
        with SERVER.connect() as c:
            for n in range(rows):
                c.publish(self.queue, n, message_id=f"m{n}")
            c.confirm()
        self.read(untilEmpty=False, emit=["body", "id"], last="once",
                  bolts='  - {id: once, className: gale.bolt.Dedupe, properties: [{name: key, value: id}, {name: output, value: "body"}]}\n',
                  streams="  - {from: in, to: once, grouping: {type: FIELDS, args: [id]}}\n")
        self.lives(KILLS, lambda: self.depth() == 0 and len(self.rows()) >= rows)
        self.assertEqual(self.bodies(), list(range(rows)))


class Example(unittest.TestCase):
    def test_the_example_has_each_order_once(self):
        example = Path(__file__).resolve().parents[3] / "examples" / "connectors" / "rabbitmq" / "run"
        done = subprocess.run([example], env={**ENVIRONMENT, "GALE": GALE}, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("9990 orders came, 0 of them twice\n10 orders of nothing are dead letters\n", done.stdout)


if __name__ == "__main__":
    if not rabbitmq.programs():
        print("there is no RabbitMQ server here (apt install rabbitmq-server): skipped")
        sys.exit(77)
    sys.argv[1:3] = []
    unittest.main(verbosity=2)
