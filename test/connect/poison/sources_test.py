#!/usr/bin/env python3
"""Every source x records that are empty, as long as they may be, one byte longer, with a NUL, and without an end: those before and behind arrive, and the log counts what was cut
or left out.

usage: see rows.py
"""

import http.client
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import systems
from rows import ENVIRONMENT, GALE, Kafka as Cluster, Row, case, succeed, table_test

LONGEST = 4096

TOPOLOGY = """
name: poison
spouts: [{{id: in, className: {name}, properties: {properties}}}]
bolts: [{{id: out, className: gale.bolt.FileSink, properties: {{path: out.tsv}}}}]
streams: [{{from: in, to: out, grouping: {{type: SHUFFLE}}}}]
"""


class Source(Row):
    """A row. `feed` gives one record; `feed_endless` begins one that never ends, and returns what ends it."""
    empty = True  # an empty record is a tuple; else it is none
    too_long = "cut"  # what becomes of it: cut, whole (there is no bound), refused (its sender is told), reported, passed over (with a warning)
    words = {"cut": r"(?i)(longer than|cut)"}  # that the log has of it
    unfit = ()  # records that the system itself never takes, so that nobody can feed them
    bound, over = LONGEST, LONGEST + 1
    stdin = subprocess.DEVNULL

    def __init__(self, path, port):
        self.folder, self.port = path, port

    def ready(self, log):
        return True

    def feed(self, record):
        raise NotImplementedError

    @classmethod
    def records(cls):
        all_of_them = {"empty": b"", "longest": b"y" * cls.bound, "longest + 1": b"y" * cls.over, "NUL": b"a\0b"}
        return [(name, record) for name, record in all_of_them.items() if name not in cls.unfit]

    @classmethod
    def becomes(cls, name, record):
        """The tuples of it."""
        if name == "empty" and not cls.empty:
            return []
        if name != "longest + 1" or cls.too_long == "whole":
            return [record]
        return [record[:cls.bound]] if cls.too_long == "cut" else []

    @staticmethod
    def shown(line):
        """What a line of the output has of a record."""
        return line


def last_column(line):
    return line.rpartition(b"\t")[2]


class Tcp(Source):
    name = "gale.spout.Tcp"

    def begin(self):
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

    def begin(self):
        self.path = str(self.folder / "socket")
        return {"path": self.path, "longest": LONGEST}

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(10)
        connection.connect(self.path)
        return connection


class Udp(Source):
    """A datagram has an end."""
    name = "gale.spout.Udp"

    def begin(self):
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

    def begin(self):
        self.path = self.folder / "pipe"
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

    def begin(self):
        self.file = open(self.folder / "in.log", "ab", buffering=0)
        return {"path": self.file.name, "follow": True, "longest": LONGEST}

    def feed(self, record):
        self.file.write(record + b"\n")

    def end(self):
        self.file.close()


class Stdin(Source):
    name = "gale.spout.Stdin"
    feed_endless = None  # as above

    def begin(self):
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

    def begin(self):
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
    words = {"reported": r"a message of a is left out: it has \d+ bytes, and no more than \d+ are taken \(maxMessage\)"}
    feed_endless = None  # connect/mqtt_peer: a message without an end is given up

    def begin(self):
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


class Syslog(Tcp):
    """Its messages as they came."""
    name, empty = "gale.spout.Syslog", False

    def begin(self):
        return {"transport": "tcp", "listen": f"127.0.0.1:{self.port}", "longest": LONGEST, "emit": ["raw"]}


class Framed(Source):
    """Its system has a message's length before it: none is without an end."""
    feed_endless = None
    too_long = "whole"


class HttpPoll(Framed):
    name, empty = "gale.spout.HttpPoll", False
    too_long = "passed over"
    words = {"passed over": "maxBody"}

    def begin(self):
        self.waiting, self.given = [], []
        self.peer = systems.http.Peer(choose=self.choose)
        return {"url": self.peer.url, "every": 0.02, "maxBody": LONGEST}

    def choose(self, number, handler, body):
        """Each record once, and 204 between them."""
        if not self.waiting:
            return systems.http.say(204)
        return systems.http.say(200, self.waiting.pop(0))

    def feed(self, record):
        self.waiting.append(record)

    def end(self):
        self.peer.close()


class Kafka(Framed):
    name = "gale.spout.Kafka"

    def begin(self):
        self.cluster = Cluster()
        self.cluster.ask("topic in 1")
        return {"brokers": self.cluster.brokers, "topics": ["in"], "group": "poison", "fromAlways": True}

    def feed(self, record):
        self.cluster.ask(f"put in {record.hex()}")

    def end(self):
        self.cluster.close()


class Nats(Framed):
    """The server takes nothing that is longer than its max_payload."""
    name, unfit = "gale.spout.Nats", ("longest + 1",)
    skip = None if systems.nats.program() else "there is no nats-server"

    def begin(self):
        self.server = systems.nats.Server(f"max_payload: {LONGEST}")
        self.client = systems.nats.Client(self.server)
        self.client.make_stream("IN", "in")
        return {"servers": [self.server.url], "stream": "IN", "consumer": "poison"}

    def feed(self, record):
        self.client.fill("in", [record])

    def end(self):
        self.client.__exit__(None, None, None)
        self.server.close()


class Rabbit(Framed):
    name, too_long = "gale.spout.RabbitMQ", "reported"
    words = {"reported": rf"it has {LONGEST + 1} bytes, more than maxMessage"}
    skip = None if systems.rabbitmq.programs() else "there is no rabbitmq-server"

    def begin(self):
        self.server = systems.rabbitmq.Server()
        self.broker = self.server.connect()
        self.broker.queue("in")
        return {"url": [self.server.url()], "queue": "in", "maxMessage": LONGEST, "prefetch": 1}

    def feed(self, record):
        self.broker.publish("in", record)
        self.broker.confirm()

    def end(self):
        self.broker.close()
        self.server.close()


class Redis(Framed):
    """A reply has more than its element."""
    bound, over = 60000, 70000
    skip = None if systems.redis.program() else "there is no redis-server"
    given = {}

    def begin(self):
        self.server = systems.redis.Server()
        return {"server": f"127.0.0.1:{self.server.port}", "maxReply": 65536, **self.given}

    def end(self):
        self.server.close()


class RedisSubscribe(Redis):
    """A channel keeps nothing: what is published while the connection is made again has no subscriber, so that each record waits for one."""
    name, given, too_long = "gale.spout.RedisSubscribe", {"channels": ["in"]}, "passed over"
    words = {"passed over": "maxReply"}

    def subscriber(self):
        """Its id: each connection has another."""
        return re.findall(r"^id=(\d+)", self.server("CLIENT", "LIST", "TYPE", "pubsub"), re.MULTILINE)

    def ready(self, log):
        return self.subscriber()

    def feed(self, record):
        before, end = self.subscriber(), time.monotonic() + 60
        self.server("PUBLISH", "in", record)
        while len(record) == self.over and self.subscriber() in ([], before):
            assert time.monotonic() < end, "nobody subscribes any more"
            time.sleep(0.01)


class RedisStream(Redis):
    too_long, words = "reported", {"reported": r"entry \d+-\d+ of in can be no tuple, and is left out: it has more bytes than a reply may have \(maxReply\)"}
    name, given = "gale.spout.RedisStream", {"streams": ["in"], "group": "poison", "emit": ["stream"], "fields": ["x"]}
    shown = staticmethod(last_column)

    def feed(self, record):
        self.server("XADD", "in", "*", "x", record)


class RedisList(Redis):
    """An element has no name: what is larger than maxReply is not skipped, and those behind it wait (docs/connectors/redis.md). It is not fed."""
    unfit = ("longest + 1",)
    name, given = "gale.spout.RedisList", {"list": "in", "from": "left"}

    def feed(self, record):
        self.server("RPUSH", "in", record)


class PostgresListen(Framed):
    """The server takes no payload of 8,000 bytes or more, and no text of it has a NUL."""
    name, bound, unfit = "gale.spout.PostgresListen", 7999, ("longest + 1", "NUL")
    skip = None if systems.postgres.programs() else "there is no PostgreSQL"

    def begin(self):
        self.server = systems.postgres.Server()
        return {"connection": self.server.connection(), "channels": ["in"]}

    def ready(self, log):
        return self.server.sql("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND state = 'idle'", "shop")

    def feed(self, record):
        self.server.sql(f"SELECT pg_notify('in', '{record.decode()}')", "shop")

    def end(self):
        self.server.close()


class PostgresChanges(PostgresListen):
    """A value has no bound but the server's of 1 GiB."""
    name, bound, unfit = "gale.spout.Postgres", LONGEST, ("NUL",)
    shown = staticmethod(last_column)

    def begin(self):
        self.server = systems.postgres.Server()
        self.server.sql("CREATE TABLE input (x text)", "shop")
        return {"connection": self.server.connection(), "slot": "poison", "tables": ["input"], "emit": ["op"], "columns": ["x"]}

    def ready(self, log):
        return self.server.sql("SELECT 1 FROM pg_replication_slots WHERE active", "shop")

    def feed(self, record):
        self.server.sql(f"INSERT INTO input VALUES ('{record.decode()}')", "shop")


class SqliteRows(Framed):
    name = "gale.spout.SqliteRows"

    def begin(self):
        self.base = sqlite3.connect(self.folder / "in.db", isolation_level=None)
        self.base.execute("CREATE TABLE rows (n INTEGER PRIMARY KEY, x)")
        return {"path": "in.db", "table": "rows", "by": "n", "columns": ["x"], "follow": True, "every": 0.02}

    def feed(self, record):
        self.base.execute("INSERT INTO rows (x) VALUES (CAST(? AS TEXT))", [record])

    def end(self):
        self.base.close()


TABLE = (File, Stdin, Tcp, Unix, Udp, Exec, Http, Mqtt, Mqtt3, Syslog, HttpPoll, Kafka, Nats, Rabbit, RedisSubscribe, RedisStream, RedisList, PostgresListen, PostgresChanges, SqliteRows)
EXCUSED = {
    "gale.spout.DiskBuffer": "it reads what gale.bolt.DiskBuffer wrote: every record of the row Buffer in the table of sinks comes back through it (connect/poison_rows)",
} | dict.fromkeys(("gale.spout.Generator", "gale.spout.Words", "gale.spout.AccessLog"), "it reads nothing")


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
        return [self.row.shown(line) for line in out.read_bytes().split(b"\n")[:-1]] if out.exists() else []

    def setUp(self):
        if self.row.skip:
            self.skipTest(self.row.skip)
        folder = tempfile.TemporaryDirectory(prefix="gale-poison-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.source = self.row(self.path, systems.redis.free_port())
        properties = self.source.begin()
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
        for n, (name, record) in enumerate(2 * self.row.records()):
            self.source.feed(b"good %d" % n)
            self.source.feed(record)
            wanted += [b"good %d" % n, *self.row.becomes(name, record)]
        self.source.feed(b"last")
        self.wait_for(lambda: b"last" in self.lines(), "the last one arrives")
        found = [line for line in self.lines() if not line.startswith(b"z")]
        self.assertEqual([line[:40] for line in found], [line[:40] for line in [*wanted, b"last"]])
        self.assertEqual([len(line) for line in found], [len(line) for line in [*wanted, b"last"]])
        if end_it:
            end_it()
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(60), 1 if self.row.too_long == "reported" else 0, self.log())
        if self.row.too_long in self.row.words:
            self.assertRegex(self.log(), self.row.words[self.row.too_long])


if __name__ == "__main__":
    sys.exit(not succeed([table_test("spout", TABLE, EXCUSED), *(case(Run, row) for row in TABLE)]))
