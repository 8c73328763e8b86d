#!/usr/bin/env python3
"""Every sink x values that its system cannot take, in payloads and in each field that goes into an address: good tuples before and behind arrive, the run ends by itself, and
its exit code, its log and its dead letters say what was rejected. Nothing arrives that was rejected, and what was not rejected arrives unchanged.

usage: see rows.py
"""

import contextlib
import base64
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import systems
from rows import ENVIRONMENT, GALE, Kafka as Cluster, Row, case, succeed, table_test
from values import VALUES, lines_of

PATIENCE = 60  # seconds that a run may take on a busy machine; it takes less than one

TOPOLOGY = """
name: poison
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100, topology.dead_letters.file: letters.jsonl{config}}}
spouts:
  - {{id: in, className: gale.spout.File, properties: {{path: in.jsonl}}}}{spouts}
bolts:{bolts}
  - {{id: json, className: gale.bolt.Json, properties: {{fields: "n, x", maxBytes: 67108864}}}}
  - {{id: value, className: gale.bolt.Map, properties: {{set: {{x: "base64.decode(x)", n: "tostring(n)"}}, work: 1000000000, memory: 268435456}}}}
  - id: out
    className: {name}
    properties: {properties}
streams:
  - {{from: in, to: json, grouping: {{type: SHUFFLE}}}}
  - {{from: json, to: value, grouping: {{type: SHUFFLE}}}}
  - {{from: value, to: out, grouping: {{type: SHUFFLE}}}}{streams}
"""


def unescape(text):
    """A column of gale's TSV."""
    words = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"\\": b"\\"}
    return re.sub(rb"\\([tnr\\])", lambda found: words[found[1]], text)


class Sink(Row):
    """A row of the table: a class of sinks, with one place that the value goes to. Fields are n, a number as text, and x, the value."""
    config = spouts = bolts = streams = ""  # more of the topology
    durable = False  # it runs with a state, and sends with checkpoints
    server_limits = ()  # values that the server's settings forbid, which gale cannot know before it is told

    def __init__(self, path):
        self.path = path

    @staticmethod
    def good(number):
        """What the system takes, in the line of this number."""
        return b"good"

    def arrived(self, count):
        """{n: bytes}, once the run has ended."""
        raise NotImplementedError

    def shown(self, value):
        """The value as `arrived` has it."""
        return value

    def refused(self):
        """[(n, why)]: what a durable run's system was told of rows that it does not take."""
        return []


def unpacked(note):
    """What a note has of a row."""
    return base64.b64decode(note[7:]) if note.startswith(b"base64:") else note


class Peer:
    """Takes what comes by TCP or UDP, until it is closed."""

    def __init__(self, kind):
        self.socket = socket.socket(socket.AF_INET, kind)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.data, self.open = [], True
        if kind == socket.SOCK_STREAM:
            self.socket.listen()
        else:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.thread = threading.Thread(target=self.take if kind == socket.SOCK_STREAM else self.hear, daemon=True)
        self.thread.start()

    def take(self):
        while self.open:
            try:
                connection = self.socket.accept()[0]
            except OSError:
                return
            with connection:
                while data := connection.recv(1 << 20):
                    self.data.append(data)

    def hear(self):
        while data := self.socket.recv(1 << 17):
            self.data.append(data + b"\n")

    def close(self):
        self.open = False
        if self.socket.type == socket.SOCK_STREAM:
            self.socket.shutdown(socket.SHUT_RDWR)
        else:
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"", ("127.0.0.1", self.port))
        self.thread.join()
        self.socket.close()
        return b"".join(self.data)


# --- Files, commands, sockets ---


def rows(data):
    return {n.decode(): unescape(x) for n, x in (line.split(b"\t") for line in data.split(b"\n") if line)}


class FileRow(Sink):
    name = "gale.bolt.FileSink"
    properties = {"path": "out.tsv", "fields": ["n", "x"]}

    def arrived(self, count):
        return rows((self.path / "out.tsv").read_bytes())


class FilePath(Sink):
    """A value is one name, escaped where it must be: nothing leaves the folder."""
    name = "gale.bolt.FileSink"
    properties = {"path": "out/{x}.tsv", "fields": ["n"]}

    def begin(self):
        (self.path / "out").mkdir()
        return self.properties

    def arrived(self, count):
        files = [file for file in self.path.rglob("*.tsv")]
        assert all(file.parent == self.path / "out" for file in files), files
        return {line: None for file in files for line in file.read_text().splitlines()}

    def shown(self, value):
        return None


class Exec(Sink):
    name = "gale.bolt.ExecSink"
    properties = {"command": "cat > out.tsv", "fields": ["n", "x"]}
    arrived = FileRow.arrived


class ExecEnds(Exec):
    """It dies in a line that is too long for it. What it has read whole it has written."""
    SCRIPT = """
import os, sys
line = b""
out = open("out.tsv", "ab", buffering=0)
while data := os.read(0, 4096):
    line += data
    *whole, line = line.split(b"\\n")
    out.write(b"".join(one + b"\\n" for one in whole))
    if len(line) > 100000:
        sys.exit("too long a line")
"""

    def begin(self):
        (self.path / "child.py").write_text(self.SCRIPT)
        return {"command": f"{sys.executable} child.py", "fields": ["n", "x"], "restart": "FAILURE", "restartWait": 0.01, "restartWaitMax": 0.02}


class Tcp(Sink):
    name = "gale.bolt.TcpSink"
    kind, framing = socket.SOCK_STREAM, {}

    def begin(self):
        self.peer = Peer(self.kind)
        return {"connect": f"127.0.0.1:{self.peer.port}", "fields": ["n", "x"], **self.framing}

    def arrived(self, count):
        self.data = self.peer.close()
        return self.records()

    def records(self):
        return rows(self.data)


class TcpEnds(Tcp):
    """The other side closes the connection in a line that is too long for it."""

    def begin(self):
        self.found, self.connections = [], 0
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)  # so that what is behind that line stays with the sink
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()
        return {"connect": f"127.0.0.1:{self.listener.getsockname()[1]}", "fields": ["n", "x"]}

    def serve(self):
        while True:
            try:
                connection = self.listener.accept()[0]
            except OSError:
                return
            with connection:
                self.connections += 1
                self.hear(connection)

    def hear(self, connection):
        line = b""
        with contextlib.suppress(OSError):
            while len(line) <= 100000 and (data := connection.recv(4096)):
                *whole, line = (line + data).split(b"\n")
                self.found += whole

    def arrived(self, count):
        end = time.monotonic() + 60
        while len(self.found) < count and time.monotonic() < end:
            time.sleep(0.01)
        return rows(b"\n".join(self.found))

    def end(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class TcpText(Tcp):
    """A record is a line: a text with a newline in it would be two. Good values are all the same: they are counted."""
    framing = {"format": "text", "fields": ["x"], "framing": "lines"}
    server_limits = ("newline", "CR LF")  # of a whole record, whatever its fields are

    def records(self):
        return self.data.split(b"\n")[:-1]


class TcpNul(TcpText):
    framing = {"format": "text", "fields": ["x"], "framing": "nul"}
    server_limits = ("NUL",)

    def records(self):
        return self.data.split(b"\0")[:-1]


class Udp(Tcp):
    name, kind = "gale.bolt.UdpSink", socket.SOCK_DGRAM
    server_limits = ("65,536 bytes", "too large")


class Buffer(Sink):
    name = "gale.bolt.DiskBuffer"
    properties = {"path": "buffer", "disk": "1 MiB"}
    server_limits = ("too large",)
    spouts = "\n  - {id: back, className: gale.spout.DiskBuffer, properties: {path: buffer, fields: 'n, x'}}"
    bolts = "\n  - {id: file, className: gale.bolt.FileSink, properties: {path: out.tsv, fields: 'n, x'}}"
    streams = "\n  - {from: back, to: file, grouping: {type: SHUFFLE}}"
    arrived = FileRow.arrived


# --- MQTT ---


class Mqtt(Sink):
    name = "gale.bolt.MqttSink"
    given = {"topic": "out/{n}", "payload": "x"}
    version = "5"
    server_limits = ("too large",)
    skip = None if systems.mosquitto.is_there() else "there is no mosquitto"

    def begin(self):
        self.broker = systems.mosquitto.Broker("max_packet_size 1000000", "log_type none")
        self.client = systems.mosquitto.Client(self.broker).subscribe("out/#")
        return {"server": f"127.0.0.1:{self.broker.port}", "clientId": "poison", "version": self.version, **self.given}

    def arrived(self, count):
        end = time.monotonic() + 60
        while len(self.client.messages) < count and time.monotonic() < end:
            time.sleep(0.01)
        return self.found()

    def found(self):
        return {one.topic[4:]: one.payload for one in self.client.messages}

    def end(self):
        self.client.close()
        self.broker.close()


class Mqtt3(Mqtt):
    version = "3.1.1"


class MqttTopic(Mqtt):
    given = {"topic": "out/{x}", "payload": "n"}
    server_limits = ()

    def found(self):
        return {one.payload.decode(): one.topic[4:].encode() for one in self.client.messages}


class Mqtt3Topic(MqttTopic):
    version = "3.1.1"


class MqttLevels(MqttTopic):
    given = {"topic": "out/{+x}", "payload": "n"}


class MqttProperty(Mqtt):
    given = {"topic": "out/{n}", "payload": "n", "properties": ["x"]}
    server_limits = ()

    def found(self):
        return {one.topic[4:]: dict(one.properties.UserProperty)["x"].encode() for one in self.client.messages}


# --- NATS ---


class Nats(Sink):
    name = "gale.bolt.NatsSink"
    given = {"subject": "out.{n}", "payload": "x"}
    server_limits = ("too large",)
    skip = None if systems.nats.program() else "there is no nats-server"

    def begin(self):
        self.server = systems.nats.Server("max_payload: 1000000")
        with systems.nats.Client(self.server) as client:
            client.make_stream("OUT", "out.>")
        return {"servers": [self.server.url], **self.given}

    def arrived(self, count):
        with systems.nats.Client(self.server) as client:
            return self.found(client.read("OUT"))

    def found(self, messages):
        return {subject[4:]: payload for subject, _, payload in messages}

    def end(self):
        self.server.close()


class NatsSubject(Nats):
    given = {"subject": "out.{x}", "payload": "n"}

    def found(self, messages):
        return {payload.decode(): subject[4:].encode() for subject, _, payload in messages}


class NatsLevels(NatsSubject):
    given = {"subject": "out.{+x}", "payload": "n"}


class NatsHeader(Nats):
    given = {"subject": "out.{n}", "payload": "n", "headers": ["x"]}

    def found(self, messages):
        return {subject[4:]: next(line for line in headers.split("\r\n") if line.startswith("x: "))[3:].encode(errors="surrogateescape") for subject, headers, _ in messages}


class NatsId(Nats):
    """Of one id the stream keeps the first message: the others are confirmed."""
    given = {"subject": "out.{n}", "payload": "n", "id": "x"}

    @staticmethod
    def good(number):
        return b"good %d" % number

    def arrived(self, count):
        found = super().arrived(count)
        first = {x: n for n, x in found.items()}
        return found | {n: b"a\tb" for n in ("2", str(2 * len(VALUES) + 2)) if b"a\tb" in first}

    def found(self, messages):
        return {subject[4:]: next(line for line in headers.split("\r\n") if line.startswith("Nats-Msg-Id: "))[13:].encode(errors="surrogateescape") for subject, headers, _ in messages}


# --- RabbitMQ ---


class Rabbit(Sink):
    name = "gale.bolt.RabbitMQSink"
    given = {"routingKey": "out", "body": "x", "id": "n", "maxMessage": 1000000}
    skip = None if systems.rabbitmq.programs() else "there is no rabbitmq-server"
    server = None

    def begin(self):
        if not Rabbit.server:
            Rabbit.server = systems.rabbitmq.Server()
        with self.server.connect() as broker:
            broker.exchange("all", "fanout")
            broker.queue("out")
            broker.bind("out", "all")
            broker.purge("out")
        return {"url": [self.server.url()], "exchange": "all", **self.given}

    def arrived(self, count):
        with self.server.connect() as broker:
            messages = broker.drain("out")
        return dict(self.found(one) for one in messages)

    def found(self, one):
        return one.message_id, one.body


class RabbitKey(Rabbit):
    given = {"routingKey": "{x}", "body": "n"}

    def found(self, one):
        return one.body.decode(), one.key.encode()


class RabbitHeader(Rabbit):
    given = {"routingKey": "out", "body": "n", "headers": ["x"]}

    def found(self, one):
        value = one.headers["x"]
        return one.body.decode(), value if isinstance(value, bytes) else value.encode()


class RabbitId(Rabbit):
    given = {"routingKey": "out", "body": "n", "id": "x"}

    def found(self, one):
        return one.body.decode(), one.message_id.encode()


# --- Redis ---


class Redis(Sink):
    name = "gale.bolt.RedisSink"
    given = {"command": "HSET", "key": "out", "member": "{n}", "value": "{x}"}
    skip = None if systems.redis.program() else "there is no redis-server"
    server_limits = ("too large",)

    def begin(self):
        self.server = systems.redis.Server("--proto-max-bulk-len", "1mb")
        return {"server": f"127.0.0.1:{self.server.port}", **self.given}

    def arrived(self, count):
        found = self.server("HGETALL", "out")
        return {n: x.encode(errors="surrogateescape") for n, x in zip(found[::2], found[1::2])}

    def end(self):
        self.server.close()


class RedisKey(Redis):
    given = {"command": "RPUSH", "key": "out:{x}", "value": "{n}"}

    def arrived(self, count):
        return {n: key[4:].encode(errors="surrogateescape") for key in self.server("KEYS", "out:*") for n in self.server("LRANGE", key.encode(errors="surrogateescape"), 0, -1)}


class RedisScore(Redis):
    """The server refuses what is no number, in its words."""
    given = {"command": "ZADD", "key": "out", "member": "{n}", "value": "{x}"}
    server_limits = tuple(VALUES)

    @staticmethod
    def good(number):
        return b"7"

    def arrived(self, count):
        return dict.fromkeys(self.server("ZRANGE", "out", 0, -1), b"7")


def words_of(command):
    """Of a command as it is sent, as far as it is there."""
    rest = command.partition(b"\r\n")[2]
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        yield rest[:int(size[1:])]
        rest = rest[int(size[1:]) + 2:]


class RedisOnce(Redis):
    """What is too large is refused in words that do not say which command it is of."""
    given = {**Redis.given, "refused": "refused"}
    durable, number_at = True, 2

    def refused(self):
        entries = [dict(zip(fields[::2], fields[1::2])) for _, fields in self.server("XRANGE", "refused", "-", "+")]
        return [(list(words_of(unpacked(one["command"].encode(errors="surrogateescape"))))[self.number_at], one["why"]) for one in entries]


class RedisOnceScore(RedisScore, RedisOnce):
    given = {**RedisScore.given, "refused": "refused"}
    number_at = 3


# --- Kafka ---


class Kafka(Sink):
    name = "gale.bolt.KafkaSink"
    given = {"key": "n", "value": "x"}
    server_limits = ("too large",)

    def begin(self):
        self.cluster = Cluster()
        self.cluster.ask("topic out 1")
        return {"brokers": self.cluster.brokers, "topic": "out", **self.given}

    def arrived(self, count):
        return dict(self.found(*(bytes.fromhex(part) for part in line.split("\t"))) for line in self.cluster.ask("hex out"))

    def found(self, key, value, header):
        return key.decode(), value

    def end(self):
        self.cluster.close()


class KafkaKey(Kafka):
    given = {"key": "x", "value": "n"}

    def found(self, key, value, header):
        return value.decode(), key


class KafkaHeader(Kafka):
    given = {"key": "n", "value": "n", "headers": ["x"]}

    def found(self, key, value, header):
        return value.decode(), header


# --- HTTP ---


class Http(Sink):
    name = "gale.bolt.HttpSink"
    given = {"url": "{url}/?n={{n}}", "body": "x"}
    server_limits = ("too large",)

    def begin(self):
        def choose(number, handler, body):
            return systems.http.say(413 if len(body) > 1000000 else 200)
        self.peer = systems.http.Peer(choose=choose)
        return {key: value.replace("{url}", self.peer.url).replace("{{", "{").replace("}}", "}") for key, value in self.given.items()}

    def arrived(self, count):
        return dict(self.found(one) for one in self.peer.server.requests if len(one.body) <= 1000000)

    def found(self, one):
        return urllib.parse.parse_qs(urllib.parse.urlsplit(one.path).query)["n"][0], one.body

    def end(self):
        self.peer.close()


class HttpUrl(Http):
    given = {"url": "{url}/?x={{x}}", "body": "n"}
    server_limits = ()

    def found(self, one):
        return one.body.decode(), urllib.parse.unquote_to_bytes(one.path.partition("?x=")[2])


# --- PostgreSQL, SQLite ---


class Postgres(Sink):
    name = "gale.bolt.PostgresSink"
    given = {"table": "good", "fields": ["n", "x"]}
    column = "text"
    skip = None if systems.postgres.programs() else "there is no PostgreSQL"
    server = None
    server_limits = ()

    def begin(self):
        if not Postgres.server:
            Postgres.server = systems.postgres.Server()
        self.server.sql(f"DROP TABLE IF EXISTS good; CREATE TABLE good (n text, x {self.column})", "shop")
        return {"connection": self.server.connection(), **self.given}

    def arrived(self, count):
        return {n: bytes.fromhex(x) for n, x in self.server.sql("SELECT n, encode(convert_to(x::text, 'UTF8'), 'hex') FROM good", "shop")}

    def shown(self, value):
        """Bytes in a column of text are PostgreSQL's own notation of them."""
        try:
            value.decode()
            return value
        except UnicodeDecodeError:
            return b"\\x" + value.hex().encode()


class PostgresShort(Postgres):
    """A column that is too short for most, which the server knows."""
    column = "varchar(5)"
    server_limits = tuple(VALUES)


class PostgresBytes(Postgres):
    column = "bytea"
    server_limits = tuple(VALUES)

    def arrived(self, count):
        return {n: bytes.fromhex(x) for n, x in self.server.sql("SELECT n, encode(x, 'hex') FROM good", "shop")}

    def shown(self, value):
        """A text with a backslash in it is the notation of other bytes, or of none: it is refused."""
        return value


class PostgresDate(Postgres):
    column = "date"
    server_limits = tuple(VALUES)

    @staticmethod
    def good(number):
        return b"2026-11-28"


class PostgresTrigger(Postgres):
    """Of a class that PostgreSQL does not have, as a trigger may raise it."""
    server_limits = tuple(VALUES)
    when = "BEFORE INSERT ON good"

    def begin(self):
        given = super().begin()
        self.server.sql("""CREATE OR REPLACE FUNCTION look_at() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN IF NEW.x !~ '^good' THEN RAISE 'not one of ours' USING ERRCODE = 'GA001'; END IF; RETURN NEW; END $$""", "shop")
        self.server.sql(f"CREATE {self.when} FOR EACH ROW EXECUTE FUNCTION look_at()".replace("BEFORE", "TRIGGER look BEFORE").replace("CONSTRAINT", "CONSTRAINT TRIGGER look"), "shop")
        return given


class PostgresOnce(Postgres):
    given = {**Postgres.given, "refused": "refused"}
    durable = True

    def begin(self):
        given = super().begin()
        self.server.sql("DROP TABLE IF EXISTS refused, gale_markers", "shop")
        return given

    def refused(self):
        found = self.server.sql("SELECT encode(convert_to(line, 'UTF8'), 'hex'), why FROM refused", "shop")
        return [(unpacked(bytes.fromhex(line)).split(b"\t")[0].decode(), why) for line, why in found]


class PostgresOnceShort(PostgresOnce):
    column = "varchar(5)"
    server_limits = tuple(VALUES)


class PostgresOnceDeferred(PostgresTrigger, PostgresOnce):
    """A constraint that is checked at the end of a transaction does not say of which row it is."""
    when = "CONSTRAINT AFTER INSERT ON good DEFERRABLE INITIALLY DEFERRED"


class Sqlite(Sink):
    name = "gale.bolt.SqliteSink"
    given = {"path": "out.db", "table": "good", "fields": ["n", "x"]}
    column = "text"

    def begin(self):
        base = sqlite3.connect(self.path / "out.db")
        base.execute(f"CREATE TABLE good (n text, x {self.column})")
        base.close()
        return self.given

    def arrived(self, count):
        base = sqlite3.connect(self.path / "out.db")
        base.text_factory = bytes
        found = {n.decode(): x if isinstance(x, bytes) else str(x).encode() for n, x in base.execute("SELECT n, x FROM good")}
        base.close()
        return found


class SqliteChecked(Sqlite):
    column = "text check (length(x) between 1 and 10)"
    server_limits = tuple(VALUES)


class SqliteOnce(Sqlite):
    given = {**Sqlite.given, "refused": "refused"}
    durable = True

    def refused(self):
        base = sqlite3.connect(self.path / "out.db")
        found = [(json.loads(line)["n"], why) for line, why in base.execute("SELECT line, why FROM refused")]
        base.close()
        return found


class SqliteOnceChecked(SqliteOnce):
    column = SqliteChecked.column
    server_limits = tuple(VALUES)


class SqliteOnceUndone(SqliteOnce):
    """A trigger that undoes the whole transaction."""
    server_limits = tuple(VALUES)

    def begin(self):
        given = super().begin()
        base = sqlite3.connect(self.path / "out.db")
        base.execute("CREATE TRIGGER look BEFORE INSERT ON good WHEN new.x <> 'good' BEGIN SELECT RAISE(ROLLBACK, 'not one of ours'); END")
        base.close()
        return given


class Printed(Sink):
    """A line of JSON each, whatever is in it."""
    name = "gale.bolt.Printer"

    def arrived(self, count):
        found = {}
        for line in (self.path / "stdout").read_text().splitlines():
            if line.startswith("{"):
                one = json.loads(line)["values"]
                found[one["n"]] = base64.b64decode(one["x"]["base64"]) if isinstance(one["x"], dict) else one["x"].encode()
        return found


# --- The table ---

TABLE = (FileRow, FilePath, Exec, Tcp, TcpText, TcpNul, Udp, Buffer, Mqtt, Mqtt3, MqttTopic, Mqtt3Topic, MqttLevels, MqttProperty, Nats, NatsSubject, NatsLevels, NatsHeader, NatsId,
         Rabbit, RabbitKey, RabbitHeader, RabbitId, Redis, RedisKey, RedisScore, RedisOnce, RedisOnceScore, Kafka, KafkaKey, KafkaHeader, Http, HttpUrl, Postgres, PostgresShort, PostgresBytes, PostgresDate, PostgresTrigger, PostgresOnce,
         PostgresOnceShort, PostgresOnceDeferred, Sqlite, SqliteChecked, SqliteOnce, SqliteOnceChecked, SqliteOnceUndone, Printed)

REMAKES = "it makes other tuples of its input, and sends nothing to a system"
EXCUSED = {
    "gale.bolt.Null": "it takes everything",
    "gale.bolt.Log": "its lines are the log's, whose own test writes control characters as escapes (cli/log_lines)",
    "gale.bolt.SqliteLetters": "it is SqliteSink with a table of its own, and refuses other fields (connect/sqlite_sink)",
}
EXCUSED |= dict.fromkeys((f"gale.bolt.{name}" for name in """Split Count RollingCount RollingCountAgg IntermediateRankings TotalRankings AccessLog Dedupe EventTime Unique UniqueTotal
    Window Csv KeyValue Timestamp Format Sample RateLimit Filter Route Map FlatMap JoinLines Regex Lookup Json Pack Unpack Protobuf ProtobufFormat Avro AvroFormat PostgresLookup
    SqliteLookup""".split()), REMAKES)


class Letter:
    """A tuple that was rejected: a dead letter, or what `refused` has of it."""

    def __init__(self, number, reason, text):
        self.number, self.reason, self.text = int(number), reason, text

    @classmethod
    def read(cls, line):
        one = json.loads(line)
        return cls(json.loads(one["tuple"][0])["n"], one["reason"], one["text"])


class Proxy:
    """Leads to a port, and hangs up on the client whenever that says the word: what stands before it in the same piece is not passed on, either."""

    def __init__(self, port, word):
        self.to, self.word, self.hung_up = port, word, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                near = self.listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                return
            for one, other, word in ((near, far, self.word), (far, near, None)):
                threading.Thread(target=self.carry, args=(one, other, word), daemon=True).start()

    def carry(self, one, other, word):
        last = b""
        try:
            while data := one.recv(1 << 16):
                if word and word in last + data:
                    self.hung_up += 1
                    break
                last = data[-len(word or b""):]
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        with contextlib.suppress(OSError):  # wakes the thread that accepts: else it would take from whoever gets this descriptor next
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Run(unittest.TestCase):
    row = None

    def setUp(self):
        if self.row.skip:
            self.skipTest(self.row.skip)
        folder = tempfile.TemporaryDirectory(prefix="gale-poison-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.lines = self.make_lines()
        self.sink = self.row(self.path)

    def make_lines(self):
        return lines_of(VALUES, self.row.good)

    def change(self, properties):
        """Of the sink, in JSON."""
        return properties

    def run_it(self):
        (self.path / "in.jsonl").write_text("".join(json.dumps({"n": n, "x": base64.b64encode(x).decode()}) + "\n" for n, (_, x) in enumerate(self.lines)))
        properties = self.sink.begin()
        self.addCleanup(self.sink.end)
        (self.path / "t.yaml").write_text(TOPOLOGY.format(name=self.row.name, properties=self.change(json.dumps(properties)), config=self.row.config, spouts=self.row.spouts, bolts=self.row.bolts,
                                                          streams=self.row.streams))
        self.run_gale()
        self.log = (self.path / "log").read_text(errors="replace")
        letters = self.path / "letters.jsonl"
        letters = [Letter.read(line) for line in letters.read_text().splitlines()] if letters.exists() else []
        self.rejected = len(letters)
        letters += [Letter(number, "rejected", why) for number, why in self.sink.refused()]
        self.letters = {letter.number: letter for letter in letters}
        self.assertEqual(len(letters), len(self.letters), "a tuple has two dead letters")
        self.assertEqual(self.code, 1 if self.rejected else 0, self.log[-3000:])

    def start_gale(self):
        state = ["--state", "state"] if self.row.durable else []
        with open(self.path / "stdout", "a") as stdout, open(self.path / "log", "a") as log:
            return subprocess.Popen([GALE, "run", "t.yaml", "--no-control", *state], cwd=self.path, env=ENVIRONMENT, stdout=stdout, stderr=log)

    def run_gale(self):
        with self.start_gale() as process:
            try:
                self.code = process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise AssertionError((self.path / "log").read_text(errors="replace")[-3000:]) from None

    def test_neighbours_arrive_and_the_run_ends(self):
        self.run_it()
        found = self.sink.arrived(len(self.lines) - len(self.letters))
        self.check_arrivals(found)
        self.check_words()

    def check_arrivals(self, found):
        if isinstance(found, list):  # without numbers: good ones are counted
            self.assertEqual([x[:99] for x in sorted(found)], [x[:99] for x in sorted(x for n, (_, x) in enumerate(self.lines) if n not in self.letters)])
            return
        problems = [f"{n} was never sent" for n in found.keys() - set(map(str, range(len(self.lines))))]
        for n, (name, x) in enumerate(self.lines):
            shown = self.sink.shown(x)
            if str(n) not in found and n not in self.letters:
                problems.append(f"{n}, {name}: it is neither there nor rejected")
            elif str(n) in found and n in self.letters:
                problems.append(f"{n}, {name}: it is there, and was rejected: {self.letters[n].text}")
            elif str(n) in found and found[str(n)] != shown:
                problems.append(f"{n}, {name}: {found[str(n)][:80]} is there, and not {shown[:80]}")
        self.assertFalse(problems, "\n" + "\n".join(problems))

    def check_words(self):
        problems = []
        for n, letter in self.letters.items():
            name = self.lines[n][0]
            if name == "good" or letter.reason != "rejected":
                problems.append(f"{n}, {name}: {letter.reason}: {letter.text}")
            elif name not in self.row.server_limits and not re.search(r"\bx\b", letter.text):
                problems.append(f"{n}, {name}: it does not name the field: {letter.text}")
        self.assertFalse(problems, "\n" + "\n".join(problems))
        if self.rejected:
            self.assertRegex(self.log, "given up after 1 attempt: rejected: ")
            self.assertRegex(self.log, rf"\b{self.rejected} rejected\b")
        if len(self.letters) > self.rejected:
            self.assertRegex(self.log, rf"refused, {len(self.letters) - self.rejected} so far, and in the (table|stream) refused: ")


class Pills(Run):
    """A server that hangs up behind a tuple, each time: the tuple is rejected for that after gale.sink.losses (3) connections, and its neighbours arrive."""
    pill = b"poison-pill"

    def make_lines(self):
        lines = [("pill", self.pill), *[("good", self.row.good(n + 1)) for n in range(100)]]
        lines[50] = lines[70] = lines[71] = ("pill", self.pill)
        return [*lines, ("pill", self.pill)]

    def change(self, properties):
        port = re.search(r"127\.0\.0\.1:(\d+)|port=(\d+)", properties)
        port = port[1] or port[2]
        self.proxy = Proxy(int(port), self.pill)
        self.addCleanup(self.proxy.close)
        return properties.replace(port, str(self.proxy.port))

    def test_neighbours_arrive_and_the_run_ends(self):
        self.run_it()
        self.check_arrivals(self.sink.arrived(len(self.lines) - len(self.letters)))
        self.assertEqual([self.lines[n][0] for n in self.letters], ["pill"] * 5)
        for letter in self.letters.values():
            self.assertEqual(letter.reason, "rejected")
            self.assertIn("3 connections ended behind it", letter.text)
        self.assertLess(self.proxy.hung_up, 100)


class PillsKilled(Pills):
    """The same in a durable run that is killed (-9) behind the n-th hang-up, again and again: what is in is not sent again, what is not is sent."""

    def run_gale(self):
        for behind in (1, 4, 9, 14, 22):
            process = self.start_gale()
            end = time.monotonic() + PATIENCE
            while process.poll() is None and self.proxy.hung_up < behind and time.monotonic() < end:
                time.sleep(0.002)
            process.kill()
            process.wait()
            self.assertLess(time.monotonic(), end)
        super().run_gale()


class LongPills(Pills):
    """Without answers: a reader that ends in a line, three times in a row, and has read nothing before it."""
    pill = b"y" * (8 << 20)

    def make_lines(self):
        lines = [("pill", self.pill), *[("good", self.row.good(n + 1)) for n in range(100)]]
        lines[50] = lines[51] = ("pill", self.pill)
        return lines

    def change(self, properties):
        return properties

    def test_neighbours_arrive_and_the_run_ends(self):
        self.run_it()
        self.check_arrivals(self.sink.arrived(len(self.lines) - len(self.letters)))
        self.assertEqual(sorted(self.letters), [0, 50, 51])
        for letter in self.letters.values():
            self.assertEqual(letter.reason, "rejected")
            self.assertRegex(letter.text, "3 (connection|command)s ended behind it while nothing else was on its way")


ENDS = (ExecEnds, TcpEnds)
HANG_UP = (Mqtt, Mqtt3, Nats, Rabbit, Redis, RedisOnce, Postgres, PostgresOnce, Http)
NO_PILLS = {
    "gale.bolt.KafkaSink": "librdkafka has its connections, and reports none of them by message: docs/connectors.md says what it does",
    "gale.bolt.UdpSink": "it has no connection",
} | dict.fromkeys(("gale.bolt.FileSink", "gale.bolt.DiskBuffer", "gale.bolt.SqliteSink", "gale.bolt.Printer"), "files have no connection")


class PillTable(unittest.TestCase):
    def test_every_sink_is_hung_up_on_or_has_a_reason(self):
        self.assertEqual({row.name for row in HANG_UP + ENDS} | NO_PILLS.keys(), {row.name for row in TABLE})


CASES = [table_test("bolt", TABLE, EXCUSED), PillTable]
CASES += [case(Run, row) for row in TABLE] + [case(Pills, row, "Pills") for row in HANG_UP] + [case(LongPills, row, "Pills") for row in ENDS]
CASES += [case(PillsKilled, row, "PillsKilled") for row in HANG_UP if row.durable]


def close_servers():
    for row in (Rabbit, Postgres):
        if row.server:
            row.server.close()


if __name__ == "__main__":
    try:
        done = succeed(CASES)
    finally:
        close_servers()
    sys.exit(not done)
