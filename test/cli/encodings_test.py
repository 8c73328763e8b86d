#!/usr/bin/env python3
"""The same bytes are the same text at every entrance: byte order marks, packed bytes, UTF-16, ends of lines.

Every class that `gale help classes` names, and every file that gale reads, has a row here, or is excused with a reason.

usage: encodings_test.py GALE [PLUGINS]
"""

import bz2
import gzip
import http.client
import json
import lzma
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": str(Path(sys.argv[2]).resolve()) if len(sys.argv) > 2 else "/nowhere"}
BOUND = 120  # seconds: longer than any of this takes on any machine

MARK = b"\xef\xbb\xbf"
# name, bytes of a text of the lines "a1" and "b2", what they are instead of text
TEXTS = [
    ("plain", b"a1\nb2\n", None),
    ("marked", MARK + b"a1\nb2\n", None),
    ("returns", b"a1\r\nb2\r\n", None),
    ("marked, returns", MARK + b"a1\r\nb2\r\n", None),
    ("no end", b"a1\nb2", None),
    ("half an end", b"a1\nb2\r", None),
    ("gzip", gzip.compress(b"a1\nb2\n" * 50), "gzip data"),
    ("xz", lzma.compress(b"a1\nb2\n"), "xz data"),
    ("bzip2", bz2.compress(b"a1\nb2\n"), "bzip2 data"),
    ("zip", b"PK\x03\x04\x14\0\0\0\x08\0a\nb", "a zip archive"),
    ("zstd", b"\x28\xb5\x2f\xfd\x24\x06\x31\0\0a1\nb2\n", "zstd data"),
    ("utf-16", "a1\nb2\n".encode("utf-16"), "UTF-16 text"),
    ("utf-16-be", b"\xfe\xff" + "a1\nb2\n".encode("utf-16-be"), "UTF-16 text"),
    ("utf-32", "a1\nb2\n".encode("utf-32"), "UTF-32 text"),
]

# Content-Type, bytes, and the charset by which they are refused
CHARSETS = [
    ("text/plain", b"a1\nb2\n", None),
    ("text/plain; charset=UTF-8", MARK + b"a1\nb2\n", None),
    ('text/plain ;format=flowed; Charset="utf-8"; x', b"a1\nb2\n", None),
    ("text/plain;charset='utf-8'", b"a1\nb2\n", None),
    ("text/plain; x=\"; charset=utf-16\"; charset=us-ascii", b"a1\nb2\n", None),
    ("text/plain; xcharset=utf-16; charset", b"a1\nb2\n", None),
    ("text/plain; charset=", b"a1\nb2\n", None),
    ("text/plain; charset=ISO-8859-1", b"a1\nb2\n", None),
    ("text/plain; charset=windows-1252", b"a1\nb2\n", None),
    ("text/plain; charset=ISO-8859-15", "a1\n\u20ac".encode("iso-8859-15"), "ISO-8859-15"),
    ("text/plain; charset=windows-1252", "\u00c3\u00a4".encode("windows-1252"), "windows-1252"),  # which is UTF-8, too
    *((f"text/plain; charset={name}", "a1\nb2\n\u010a".encode(name), name) for name in
      ("utf-16", "utf-16le", "utf-16be", "utf-32", "utf-32le", "utf-32be", "utf-7", "gb18030")),
    *((f"text/plain; charset={name}", "a1\nb2\n".encode(name), name) for name in ("cp037", "cp500", "iso2022_jp", "shift_jis")),
    ("text/plain; charset=nonsense", b"a1\nb2\n", "nonsense"),
    ("text/plain; charset=\"utf-16le", "a1\nb2\n".encode("utf-16-le"), "utf-16le"),
]

# Entrances whose bytes are not text that gale takes apart, and those that other tests look at in the same way.
EXCUSED = {
    "gale.spout.Generator": "makes its values", "gale.spout.Words": "makes its values", "gale.spout.AccessLog": "makes its lines",
    "gale.spout.DiskBuffer": "reads what gale.bolt.DiskBuffer wrote", "gale.spout.SqliteRows": "values of a data base",
    "gale.spout.Postgres": "values of a data base", "gale.spout.PostgresListen": "a message is a value: its parser looks at it",
    "gale.spout.Kafka": "a message is a value: its parser looks at it; librdkafka unpacks",
    "gale.spout.Mqtt": "a message is a value: its parser looks at it", "gale.spout.Nats": "a message is a value: its parser looks at it",
    "gale.spout.RabbitMQ": "a message is a value: its parser looks at it", "gale.spout.RedisList": "a message is a value: its parser looks at it",
    "gale.spout.RedisStream": "a message is a value: its parser looks at it",
    "gale.spout.RedisSubscribe": "a message is a value: its parser looks at it",
    "gale.spout.HttpPoll": "connect/http_poll_takes and connect/http_poll_fails",
    "gale.bolt.Avro": "is not text", "gale.bolt.Protobuf": "is not text", "gale.bolt.Unpack": "reads what gale.bolt.Pack wrote",
    "gale.bolt.EventTime": "takes a number or a time, which a mark or a return is none of",
    "gale.bolt.Timestamp": "a text with anything around its time is bad", "gale.bolt.Split": "takes words out of a line that a source has read",
    "gale.bolt.JoinLines": "takes lines that a source has read",
}
# They take no bytes apart: values go through them, or out.
PASS_ON = re.compile(r"Sink$|^(Printer|Log|Null|Count|Dedupe|Filter|FlatMap|Format|AvroFormat|ProtobufFormat|Map|Route|Sample|RateLimit|Unique|UniqueTotal|"
                     r"Window|RollingCount|RollingCountAgg|IntermediateRankings|TotalRankings|Pack|DiskBuffer|PostgresLookup|SqliteLookup|SqliteLetters)$")

TOPOLOGY = """\
name: t
spouts:
  - {{id: in, className: gale.spout.{spout}, properties: {{{properties}}}}}
bolts:
  - {{id: out, className: gale.bolt.FileSink, properties: {{path: out.json, format: json, append: true}}}}
streams:
  - {{from: in, to: out, grouping: {{type: SHUFFLE}}}}
"""

PARSER = """\
name: t
spouts:
  - {{id: in, className: gale.spout.Udp, properties: {{listen: "127.0.0.1:0", framing: datagram}}}}
bolts:
  - {{id: it, className: gale.bolt.{name}, properties: {{{properties}}}}}
  - {{id: out, className: gale.bolt.FileSink, properties: {{path: out.json, format: json, append: true}}}}
  - {{id: bad, className: gale.bolt.FileSink, properties: {{path: bad.json, format: json, append: true}}}}
streams:
  - {{from: in, to: it, grouping: {{type: SHUFFLE}}}}
  - {{from: it, to: out, grouping: {{type: SHUFFLE}}}}
  - {{from: it, to: bad, grouping: {{type: SHUFFLE, streamId: bad}}}}
"""
LINE = '192.0.2.7 - - [12/Mar/2026:08:15:02 +0100] "GET /a1 HTTP/1.1" 200 5'
# properties, one text, and what goes out of it
PARSERS = {
    "Csv": ("fields: [x, y]", "a1,b2", {"x": "a1", "y": "b2"}),
    "KeyValue": ("fields: [x, y]", "x=a1 y=b2", {"x": "a1", "y": "b2"}),
    "Json": ("fields: [x]", '{"x": "a1"}', {"x": "a1"}),
    "Regex": ("pattern: '^(?<x>a.)$'", "a1", {"x": "a1"}),
    "AccessLog": ("", LINE, None),
}


def classes():
    done = subprocess.run([GALE, "help", "classes"], capture_output=True, text=True, timeout=BOUND, check=True, env=ENVIRONMENT)
    return set(re.findall(r"gale\.(?:spout|bolt)\.\w+", done.stdout))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.process = None
        self.addCleanup(self.kill)

    def kill(self):
        if not self.process:
            return
        self.process.kill()
        self.process.wait()
        if not self.process.stdin.closed:
            self.process.stdin.close()

    def wait_for(self, condition):
        end = time.monotonic() + BOUND
        while not (value := condition()):
            self.assertLess(time.monotonic(), end, self.log())
            time.sleep(0.005)
        return value

    def log(self):
        return (self.path / "log").read_text() if (self.path / "log").exists() else ""

    def rows(self, name="out.json"):
        path = self.path / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def begin(self, text, *arguments):
        self.kill()
        for name in ("out.json", "bad.json", "log"):
            (self.path / name).unlink(missing_ok=True)
        (self.path / "t.yaml").write_text(text)
        with open(self.path / "log", "w") as log:
            self.process = subprocess.Popen([GALE, "run", "t.yaml", "-q", "--no-control", *arguments], cwd=self.path, stderr=log, stdout=log,
                                            stdin=subprocess.PIPE, env=ENVIRONMENT)

    def port(self):
        return int(self.wait_for(lambda: re.search(r"listens at 127.0.0.1:(\d+)", self.log()))[1])

    def end(self):
        """SIGTERM, the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(BOUND)


class Spouts(Case):
    """Lines that come in, by each way: what `feed_...` sends comes out as "a1" and "b2", or is refused by its name."""

    def feed_stdin(self, data):
        self.begin(TOPOLOGY.format(spout="Stdin", properties=""))
        self.process.communicate(data, BOUND)
        return self.process.returncode != 0

    def feed_file(self, data):
        (self.path / "in").write_bytes(data)
        self.begin(TOPOLOGY.format(spout="File", properties="path: in"))
        return self.process.wait(BOUND) != 0

    def feed_followed(self, data):
        """Another file beside it is read on. Half a line at the end of a file that may grow waits."""
        for name in self.path.glob("*.log"):
            name.unlink()
        (self.path / "one.log").write_bytes(data if data.endswith(b"\n") else data.rstrip(b"\r") + b"\n")
        self.begin(TOPOLOGY.format(spout="File", properties="path: '*.log', follow: true"))
        self.wait_for(lambda: len(self.rows()) == 2 or "is not read" in self.log())
        (self.path / "two.log").write_bytes(b"other\n")
        self.wait_for(lambda: any("other" in row["line"] for row in self.rows()))
        self.assertEqual(self.end(), 0)
        (self.path / "out.json").write_text("".join(line for line in (self.path / "out.json").read_text().splitlines(True) if "other" not in line))
        return "is not read" in self.log()

    def feed_exec(self, data):
        (self.path / "in").write_bytes(data)
        self.begin(TOPOLOGY.format(spout="Exec", properties="command: cat in"))
        return self.process.wait(BOUND) != 0

    def by_stream(self, connect, data):
        with connect() as client:
            client.sendall(data)
        self.wait_for(lambda: len(self.rows()) == 2 or "WARN" in self.log())
        return "WARN" in self.log()

    def feed_tcp(self, data):
        self.begin(TOPOLOGY.format(spout="Tcp", properties="listen: '127.0.0.1:0'"))
        port = self.port()
        refused = self.by_stream(lambda: socket.create_connection(("127.0.0.1", port)), data)
        self.assertEqual(self.end(), 0)
        return refused

    def feed_unix(self, data):
        def connect():
            client = socket.socket(socket.AF_UNIX)
            client.connect(str(self.path / "sock"))
            return client
        self.begin(TOPOLOGY.format(spout="Unix", properties="path: sock"))
        self.wait_for(lambda: "listens at" in self.log())
        refused = self.by_stream(connect, data)
        self.assertEqual(self.end(), 0)
        return refused

    def feed_syslog(self, data):
        self.begin(TOPOLOGY.format(spout="Syslog", properties="listen: '127.0.0.1:0', transport: tcp, emit: message").replace("path: out.json", "path: out.json, fields: [message]"))
        port = self.port()
        refused = self.by_stream(lambda: socket.create_connection(("127.0.0.1", port)), data)
        self.assertEqual(self.end(), 0)
        return refused

    def feed_udp(self, data):
        self.begin(TOPOLOGY.format(spout="Udp", properties="listen: '127.0.0.1:0', framing: lines"))
        port = self.port()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.sendto(data, ("127.0.0.1", port))
        self.wait_for(lambda: len(self.rows()) == 2 or "WARN" in self.log())
        refused = "WARN" in self.log()
        self.end()
        return refused

    def feed_http(self, data, headers={}):
        self.begin(TOPOLOGY.format(spout="Http", properties="listen: '127.0.0.1:0', format: lines"))
        port = self.port()
        while True:
            client = http.client.HTTPConnection("127.0.0.1", port, timeout=BOUND)
            client.request("POST", "/", data, headers)
            answer = client.getresponse()
            said = answer.read().decode()
            client.close()
            if answer.status != 503:
                break
        self.end()
        with open(self.path / "log", "a") as log:
            log.write(said)
        return answer.status == 415

    ways = {"Stdin": ["stdin"], "File": ["file", "followed"], "Exec": ["exec"], "Tcp": ["tcp"], "Unix": ["unix"], "Syslog": ["syslog"], "Udp": ["udp"],
            "Http": ["http"]}

    def test_lines_are_the_same_at_every_entrance(self):
        there = classes()
        for spout, ways in self.ways.items():
            for way in ways if f"gale.spout.{spout}" in there else []:
                for name, data, foreign in TEXTS:
                    with self.subTest(way=way, text=name):
                        refused = getattr(self, "feed_" + way)(data)
                        self.assertEqual(refused, foreign is not None, self.log())
                        self.assertEqual([list(row.values())[0] for row in self.rows()], [] if foreign else ["a1", "b2"])
                        if foreign:
                            self.assertIn(f"is {foreign}", self.log())

    @unittest.skipUnless("gale.spout.Http" in classes(), "no plugins")
    def test_a_charset_that_is_declared_is_read_or_refused_by_its_name(self):
        for kind, data, charset in CHARSETS:
            with self.subTest(type=kind):
                refused = self.feed_http(data, {"Content-Type": kind})
                self.assertEqual(refused, charset is not None, self.log())
                self.assertEqual([row["body"] for row in self.rows()], [] if charset else ["a1", "b2"])
                if charset:
                    self.assertIn(f"charset '{charset}' is not understood", self.log())

    def test_every_class_has_its_row(self):
        rows = {f"gale.spout.{name}" for name in self.ways} | {f"gale.bolt.{name}" for name in PARSERS} | {"gale.bolt.Lookup"}
        for name in sorted(classes()):
            self.assertTrue(name in rows or name in EXCUSED or PASS_ON.search(name.rsplit(".", 1)[1]), f"{name} has no row, and no excuse")


class Parsers(Case):
    def test_a_text_is_the_same_for_every_parser(self):
        there = classes()
        for name, (properties, text, wanted) in PARSERS.items():
            if f"gale.bolt.{name}" not in there:
                continue
            self.begin(PARSER.format(name=name, properties=properties))
            client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.addCleanup(client.close)
            client.connect(("127.0.0.1", self.port()))
            plain = text.encode()
            good = [plain, MARK + plain, plain + b"\n", plain + b"\r\n", plain + b"\r", MARK + plain + b"\r\n"]
            foreign = [data for _, data, foreign in TEXTS if foreign]
            for count, data in enumerate(good, 1):
                client.send(data)
                self.wait_for(lambda: len(self.rows()) + len(self.rows("bad.json")) == count)
            with self.subTest(parser=name):
                self.assertEqual(len(self.rows()), len(good), self.rows("bad.json"))
                self.assertEqual(len({json.dumps(row) for row in self.rows()}), 1)
                self.assertIn(wanted, [self.rows()[0], None])
            for count, data in enumerate(foreign, 1):
                client.send(data)
                self.wait_for(lambda: len(self.rows("bad.json")) == count)
            names = [name for _, _, name in TEXTS if name]
            for row, said in zip(self.rows("bad.json"), names):
                with self.subTest(parser=name, said=said):
                    self.assertIn(f"it is {said}", row["problem"])
            self.end()


class Files(Case):
    """Files that the program reads: what they hold is the same behind a mark and with returns; what is packed is named."""

    WHOLE = "name: t\nspouts:\n  - {id: in, className: gale.spout.File, properties: {path: in}}\nbolts:\n" \
            "  - {id: out, className: gale.bolt.FileSink, properties: {path: out.json, format: json, append: true}}\n" \
            "streams:\n  - {from: in, to: out, grouping: {type: SHUFFLE}}\n"
    LOOKUP = "name: t\nspouts:\n  - {{id: in, className: gale.spout.File, properties: {{path: in}}}}\nbolts:\n" \
             "  - {{id: add, className: gale.bolt.Lookup, properties: {{table: {name}, key: line, by: k, add: v}}}}\n" \
             "  - {{id: out, className: gale.bolt.FileSink, properties: {{path: out.json, format: json, append: true}}}}\n" \
             "streams:\n  - {{from: in, to: add, grouping: {{type: SHUFFLE}}}}\n  - {{from: add, to: out, grouping: {{type: SHUFFLE}}}}\n"
    CASES = "topology: whole.yaml\ncases:\n  - name: c\n    steps:\n      - {feed: in, lines: \"a1\\n\"}\n      - {finish: true}\n      - {acked: in}\n"
    LETTER = '{"component":"in","stream":"default","message_id":7,"tuple":["a1"],"reason":"failed","text":"","place":null,"task":0,"attempts":3}\n'

    def gale(self, *arguments):
        (self.path / "out.json").unlink(missing_ok=True)
        done = subprocess.run([GALE, *arguments], cwd=self.path, capture_output=True, text=True, errors="replace", timeout=BOUND, env=ENVIRONMENT)
        return done.returncode, done.stdout + done.stderr

    def read(self, name, run):
        code, said = self.gale(*run)
        return code == 0, said

    def setUp(self):
        super().setUp()
        (self.path / "in").write_text("a1\n")
        (self.path / "whole.yaml").write_text(self.WHOLE)
        (self.path / "vary.yaml").write_text(self.WHOLE.replace("path: in}", 'path: "${FILE}"}'))
        for name in ("t.csv", "t.jsonl", "t.json"):
            (self.path / ("look-" + name + ".yaml")).write_text(self.LOOKUP.format(name=name))

    # the file, its text, the command that reads it
    files = {
        "a topology": ("f.yaml", WHOLE, ["run", "f.yaml", "-q", "--no-control"]),
        "properties": ("f.properties", "FILE=in\n", ["run", "vary.yaml", "-f", "f.properties", "-q", "--no-control"]),
        "cases": ("f.test.yaml", CASES, ["test", "f.test.yaml"]),
        "a table of CSV": ("t.csv", "k,v\na1,1\n", ["run", "look-t.csv.yaml", "-q", "--no-control"]),
        "a table of lines": ("t.jsonl", '{"k":"a1","v":1}\n', ["run", "look-t.jsonl.yaml", "-q", "--no-control"]),
        "a table of JSON": ("t.json", '[{"k":"a1","v":1}]\n', ["run", "look-t.json.yaml", "-q", "--no-control"]),
        "dead letters": ("f.letters", LETTER, ["dead-letters", "show", "f.letters"]),
    }

    def test_a_file_is_the_same_behind_a_mark_and_with_returns(self):
        there = classes()
        for what, (name, text, run) in self.files.items():
            if name.startswith("t.") and "gale.bolt.Lookup" not in there:
                continue
            plain = text.encode()
            (self.path / name).write_bytes(plain)
            wanted = self.gale(*run)
            self.assertEqual(wanted[0], 0, f"{what}: {wanted[1]}")
            for data in (MARK + plain, plain.replace(b"\n", b"\r\n"), MARK + plain.replace(b"\n", b"\r\n"), plain.rstrip(b"\n")):
                with self.subTest(file=what, data=data):
                    (self.path / name).write_bytes(data)
                    self.assertEqual(self.gale(*run)[0], 0, self.gale(*run)[1])
            for data, foreign in ((gzip.compress(plain), "gzip data"), (text.encode("utf-16"), "UTF-16 text"), (lzma.compress(plain), "xz data")):
                with self.subTest(file=what, foreign=foreign):
                    (self.path / name).write_bytes(data)
                    code, said = self.gale(*run)
                    self.assertNotEqual(code, 0, said)
                    self.assertIn(f"this is {foreign}", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
