#!/usr/bin/env python3
"""Every source x records that are empty, as long as they may be, one byte longer, with a NUL, and without an end: those before and behind arrive, and the log counts what was cut
or left out.

usage: sources_test.py GALE PLUGINS [CLASS...]
"""

import http.client
import os
import re
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
import systems

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": PLUGINS, "no_proxy": "*"}
LONGEST = 4096
RECORDS = {"empty": b"", "longest": b"y" * LONGEST, "longest + 1": b"y" * (LONGEST + 1), "NUL": b"a\0b"}

TOPOLOGY = """
name: poison
spouts: [{{id: in, className: {name}, properties: {properties}}}]
bolts: [{{id: out, className: gale.bolt.FileSink, properties: {{path: out.tsv}}}}]
streams: [{{from: in, to: out, grouping: {{type: SHUFFLE}}}}]
"""


class Source:
    """A row. `feed` gives one record; `feed_endless` begins one that never ends, and returns what ends it."""
    name = None
    properties = {}
    skip = None
    empty = True  # an empty record is a tuple; else it is none
    too_long = "cut"  # what becomes of it: cut, left out
    stdin = subprocess.DEVNULL

    def __init__(self, port):
        self.port = port

    def begin(self, case):
        return self.properties

    def ready(self, log):
        return True

    def feed(self, record):
        raise NotImplementedError

    def end(self):
        pass


class Tcp(Source):
    name = "gale.spout.Tcp"

    def begin(self, case):
        return {"listen": f"127.0.0.1:{self.port}", "longest": LONGEST}

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), 10)

    def ready(self, log):
        try:
            self.connection = self.connect()
            return True
        except OSError:
            return False

    def feed(self, record):
        self.connection.sendall(record + b"\n")

    def feed_endless(self):
        other = self.connect()
        threading.Thread(target=self.pour, args=(other,), daemon=True).start()
        return other.close

    @staticmethod
    def pour(connection):
        try:
            for _ in range(2000):
                connection.sendall(b"z" * 10000)
        except OSError:
            pass

    def end(self):
        self.connection.close()


class Unix(Tcp):
    name = "gale.spout.Unix"

    def begin(self, case):
        self.path = str(case.path / "socket")
        return {"path": self.path, "longest": LONGEST}

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(10)
        connection.connect(self.path)
        return connection


class Udp(Source):
    """A datagram has an end."""
    name = "gale.spout.Udp"

    def begin(self, case):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        return {"listen": f"127.0.0.1:{self.port}", "longest": LONGEST}

    def ready(self, log):
        return f"127.0.0.1:{self.port}" in log or f"{self.port:04X}" in Path("/proc/net/udp").read_text()

    def feed(self, record):
        self.socket.sendto(record, ("127.0.0.1", self.port))

    feed_endless = None

    def end(self):
        self.socket.close()


class Exec(Source):
    """The command reads a pipe."""
    name = "gale.spout.Exec"

    def begin(self, case):
        self.path = case.path / "pipe"
        os.mkfifo(self.path)
        return {"command": f"cat {self.path}", "maxRecord": LONGEST}

    def ready(self, log):
        self.pipe = open(self.path, "wb", buffering=0)
        return True

    def feed(self, record):
        self.pipe.write(record + b"\n")

    feed_endless = None  # it would be the only one: a command has one output

    def end(self):
        self.pipe.close()


class File(Source):
    """A file that grows."""
    name = "gale.spout.File"
    feed_endless = None  # it would be the only one: a file has one end

    def begin(self, case):
        self.file = open(case.path / "in.log", "ab", buffering=0)
        return {"path": self.file.name, "follow": True, "longest": LONGEST}

    def feed(self, record):
        self.file.write(record + b"\n")

    def end(self):
        self.file.close()


class Stdin(Source):
    name = "gale.spout.Stdin"
    feed_endless = None  # as above

    def begin(self, case):
        self.stdin, self.pipe = os.pipe()
        return {"longest": LONGEST}

    def feed(self, record):
        os.write(self.pipe, record + b"\n")

    def end(self):
        os.close(self.stdin)
        os.close(self.pipe)


class Http(Source):
    name = "gale.spout.Http"
    too_long = "refused"

    def begin(self, case):
        return {"listen": f"127.0.0.1:{self.port}", "maxBody": LONGEST}

    def ready(self, log):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def feed(self, record):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("POST", "/", record)
        status = connection.getresponse().status
        connection.close()
        assert status == (413 if len(record) > LONGEST else 200), status

    def feed_endless(self):
        other = socket.create_connection(("127.0.0.1", self.port), 10)
        other.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + b"3e8\r\n" + b"z" * 1000 + b"\r\n")
        return other.close


class Mqtt(Source):
    """In MQTT 5 the broker is told what is too long; mosquitto miscounts by a byte, and gives this one."""
    name = "gale.spout.Mqtt"
    head = 11  # of a packet: its type and size, the topic, the id, properties
    version, skip = "5", None if systems.mosquitto.is_there() else "there is no mosquitto"
    too_long = "reported"
    feed_endless = None  # connect/mqtt_peer: a message without an end is given up

    def begin(self, case):
        self.broker = systems.mosquitto.Broker()
        self.client = systems.mosquitto.Client(self.broker)
        return {"server": f"127.0.0.1:{self.broker.port}", "topics": ["a"], "maxMessage": LONGEST + self.head, "version": self.version, "clientId": "poison"}

    def ready(self, log):
        return "Sending SUBACK to poison" in self.broker.log()

    def feed(self, record):
        self.client.publish("a", record)

    def end(self):
        self.client.close()
        self.broker.close()


class Mqtt3(Mqtt):
    """The broker cannot be told what is too long."""
    version, head = "3.1.1", 8


TABLE = (File, Stdin, Tcp, Unix, Udp, Exec, Http, Mqtt, Mqtt3)
EXCUSED = {
    "gale.spout.Syslog": "it reads as Tcp and Udp do (connect/net)",
    "gale.spout.HttpPoll": "answers: empty, too long and without an end are of connect/http_poll_*",
    "gale.spout.Kafka": "librdkafka bounds what it fetches; a message has its length before it",
    "gale.spout.Nats": "the server bounds messages (max_payload), and a message has its length before it",
    "gale.spout.Postgres": "a change has its length before it, and the server's limit of 1 GiB",
    "gale.spout.PostgresListen": "the server takes no payload of 8,000 bytes or more",
    "gale.spout.RabbitMQ": "maxMessage: connect/rabbitmq_reads",
    "gale.spout.RedisStream": "maxReply: connect/redis_stream_*",
    "gale.spout.RedisList": "maxReply: connect/redis_list_*",
    "gale.spout.RedisSubscribe": "maxReply: connect/redis_list_subscribes",
    "gale.spout.SqliteRows": "a row has a length, and SQLite's limit",
    "gale.spout.DiskBuffer": "it reads what gale.bolt.DiskBuffer wrote, which has a row in the table of sinks",
} | dict.fromkeys(("gale.spout.Generator", "gale.spout.Words", "gale.spout.AccessLog"), "it reads nothing")


class Table(unittest.TestCase):
    def test_every_spout_has_a_row_or_a_reason(self):
        words = subprocess.run([GALE, "help", "classes"], env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout
        rows = {row.name for row in TABLE}
        self.assertFalse(rows & EXCUSED.keys())
        self.assertEqual(rows | EXCUSED.keys(), set(re.findall(r"^  (gale\.spout\.\w+)", words, re.MULTILINE)))


class Run(unittest.TestCase):
    row = None

    def wait_for(self, condition, what):
        end = time.monotonic() + 60
        while not condition():
            self.assertIsNone(self.process.poll(), self.log())
            self.assertLess(time.monotonic(), end, f"{what}: {self.log()[-2000:]}")
            time.sleep(0.02)

    def log(self):
        return (self.path / "log").read_text(errors="replace")

    def lines(self):
        out = self.path / "out.tsv"
        return out.read_bytes().split(b"\n")[:-1] if out.exists() else []

    def setUp(self):
        if self.row.skip:
            self.skipTest(self.row.skip)
        folder = tempfile.TemporaryDirectory(prefix="gale-poison-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.source = self.row(systems.redis.free_port())
        properties = self.source.begin(self)
        self.addCleanup(self.source.end)
        (self.path / "t.yaml").write_text(TOPOLOGY.format(name=self.row.name, properties=properties))
        with open(self.path / "log", "w") as log:
            self.process = subprocess.Popen([GALE, "run", "t.yaml", "--no-control"], cwd=self.path, env=ENVIRONMENT, stdin=self.source.stdin, stdout=log, stderr=log)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.wait_for(lambda: self.source.ready(self.log()), "it is ready")

    def test_neighbours_arrive(self):
        end_it = self.source.feed_endless() if self.source.feed_endless else None
        wanted = []
        for n, (name, record) in enumerate([*RECORDS.items(), *RECORDS.items()]):
            self.source.feed(b"good %d" % n)
            self.source.feed(record)
            wanted += [b"good %d" % n, *([] if name == "longest + 1" and self.row.too_long != "cut" else [record[:LONGEST]])]
        self.source.feed(b"last")
        self.wait_for(lambda: b"last" in self.lines(), "the last one arrives")
        found = [line for line in self.lines() if not line.startswith(b"z")]
        self.assertEqual([line[:40] for line in found], [line[:40] for line in [*wanted, b"last"]])
        self.assertEqual([len(line) for line in found], [len(line) for line in [*wanted, b"last"]])
        if end_it:
            end_it()
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(60), 1 if self.row.too_long == "reported" else 0, self.log())
        if self.row.too_long == "reported":
            self.assertRegex(self.log(), r"a message of a is left out: it has \d+ bytes, and no more than \d+ are taken \(maxMessage\)")
        if self.row.too_long == "cut":
            self.assertRegex(self.log(), r"(?i)(longer than|cut)", self.log())


if __name__ == "__main__":
    cases = [Table, *(type(row.__name__, (Run,), {"row": row, "__doc__": row.__doc__}) for row in TABLE)]
    chosen = sys.argv[3:]
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(case) for case in cases if not chosen or case.__name__ in chosen)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
