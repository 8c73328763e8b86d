#!/usr/bin/env python3
"""The connector mqtt against a broker that says what it is told to: every packet, and what no broker should say.

usage: peer_test.py GALE PLUGINS
"""

import json
import os
import re
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

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": PLUGINS}

CONNECT, CONNACK, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP, SUBSCRIBE, SUBACK, PINGREQ, PINGRESP, DISCONNECT = 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14


def text(value):
    return struct.pack(">H", len(value)) + value.encode()


def packet(first, tail=b""):
    size, head = len(tail), b""
    while True:
        head += bytes([size % 128 | (128 if size > 127 else 0)])
        size //= 128
        if not size:
            return bytes([first]) + head + tail


def publish(topic, payload, qos=0, number=0, more=0):
    return packet(0x30 | qos << 1 | more, text(topic) + (struct.pack(">H", number) if qos else b"") + b"\0" + payload)


class Peer:
    """Takes connections of MQTT 5 one after the other; what each packet of the client is answered with, `answer` says."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.heard = []  # (type, tail) of all connections
        self.connections = []
        self.pongs = True
        self.refuses = lambda connect: False  # which CONNECT
        self.connack = packet(0x20, b"\0\0\0")
        self.present = packet(0x20, b"\1\0\0")
        self.server = threading.Thread(target=self.serve, daemon=True)
        self.server.start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self.listen, args=(connection,), daemon=True).start()

    def exactly(self, connection, size):
        data = b""
        while len(data) < size:
            more = connection.recv(size - len(data))
            if not more:
                raise OSError("it is closed")
            data += more
        return data

    def listen(self, connection):
        try:
            while True:
                first = self.exactly(connection, 1)[0]
                size, shift = 0, 0
                while True:
                    byte = self.exactly(connection, 1)[0]
                    size |= (byte & 127) << shift
                    shift += 7
                    if byte < 128:
                        break
                tail = self.exactly(connection, size)
                self.answer(connection, first >> 4, tail)
                self.heard.append((first >> 4, tail, first))
        except OSError:
            pass

    def answer(self, connection, kind, tail):
        if kind == CONNECT and self.refuses(tail):
            connection.sendall(packet(0x20, b"\0\x88\0"))
            connection.close()
        elif kind == CONNECT:
            anew = tail[7] & 2  # no session is asked for
            connection.sendall(self.connack if anew or len(self.connections) == 1 else self.present)
        elif kind == SUBSCRIBE:
            connection.sendall(packet(0x90, tail[:2] + b"\0\2"))
        elif kind == PINGREQ and self.pongs:
            connection.sendall(packet(0xd0))

    def say(self, data):
        self.connections[-1].sendall(data)

    def count(self, kind):
        return sum(one[0] == kind for one in self.heard)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)  # else the thread would take from whoever gets this descriptor next
        self.server.join()
        self.listener.close()
        for connection in self.connections:
            connection.close()


READ = """
name: read
spouts:
  - id: in
    className: gale.spout.Mqtt
    properties: {{server: "127.0.0.1:{port}", topics: ["#"], qos: 2, maxMessage: 64 KiB{more}}}
bolts:
  - {{id: out, className: gale.bolt.FileSink, properties: [{{name: path, value: out.tsv}}]}}
streams:
  - {{from: in, to: out, grouping: {{type: SHUFFLE}}}}
"""

WRITE = """
name: write
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{{name: path, value: in.txt}}]
bolts:
  - id: sink
    className: gale.bolt.MqttSink
    properties: {{server: "127.0.0.1:{port}", topic: t, qos: 2}}
streams:
  - {{from: lines, to: sink, grouping: {{type: SHUFFLE}}}}
"""

MALFORMED = {
    "there is no packet of type 0": b"\0\0",
    "PUBLISH: its QoS is 3": packet(0x36, text("t") + b"\0\1\0"),
    "PUBLISH: its topic is empty, or has a wildcard": publish("t/#", b""),
    "PUBLISH: its topic is not UTF-8, or has a NUL": packet(0x30, b"\0\2\xc3\x28\0"),
    "PUBLISH: it ends in its topic": packet(0x30, b"\0\x09t"),
    "PUBLISH: its packet id is 0": publish("t", b"", 1, 0),
    "PUBLISH: it has an alias for its topic, and none was allowed": packet(0x30, b"\0\0\3\x23\0\1"),
    "PUBLISH: its property 'payload format indicator' is there twice": packet(0x30, text("t") + b"\4\1\1\1\1"),
    "PUBLISH: its length has more than four bytes": b"\x30\xff\xff\xff\xff\x7f",
    "PUBLISH: it has 100001 bytes, and no more than 65536 are taken": b"\x30" + b"\x9d\x8d\x06" + b"x",
    "PUBREL: its flags are others": packet(0x60, b"\0\1"),
    "PINGRESP: something stands behind its end": packet(0xd0, b"x"),
    "SUBACK: it answers nothing": packet(0x90, b"\0\1\0\0"),
    "CONNACK: it answers nothing": packet(0x20, b"\0\0\0"),
    "CONNECT: its protocol is not MQTT": packet(0x10, text("MQTX") + b"\5\0\0\0\0\0\0"),
    "SUBSCRIBE: a broker does not say that": packet(0x82, b"\0\1\0" + text("a") + b"\0"),
    "UNSUBSCRIBE: a broker does not say that": packet(0xa2, b"\0\1\0" + text("a")),
    "UNSUBACK: a broker does not say that": packet(0xb0, b"\0\1\0\0"),
    "PINGREQ: a broker does not say that": packet(0xc0),
    "AUTH: a broker does not say that": packet(0xf0, b"\x18\0"),
    "the broker ends the connection: the server shuts down": packet(0xe0, b"\x8b\0"),
    "DISCONNECT: 0x01 is no reason of it": packet(0xe0, b"\1\0"),
}


class Peers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.peer = Peer()
        self.addCleanup(self.peer.close)

    def start(self, topology, **more):
        (self.path / "t.yaml").write_text(topology.format(port=self.peer.port, more="".join(f", {key}: {json.dumps(value)}" for key, value in more.items())))
        log = open(self.path / "log", "a")
        self.addCleanup(log.close)
        self.process = subprocess.Popen([GALE, "run", "t.yaml"], cwd=self.path, env=ENVIRONMENT, stderr=log, stdout=log)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)

    def log(self):
        return (self.path / "log").read_text()

    def wait_for(self, condition, what=""):
        end = time.monotonic() + 20
        while not condition():
            self.assertIsNone(self.process.poll() or None, self.log())
            self.assertLess(time.monotonic(), end, f"{what}: {self.log()[-2000:]} {self.peer.heard[-10:]}")
            time.sleep(0.01)

    def up(self):
        before = self.peer.count(SUBSCRIBE)
        self.wait_for(lambda: self.peer.count(SUBSCRIBE) > before, "it is up")

    def health(self):
        """What the task has said of itself."""
        return [re.sub(r" \(\d+ times? more\)$", "", words) for words in re.findall("is not well: (.*)", self.log())]

    def words(self, what):
        return f"mqtt 127.0.0.1:{self.peer.port}{what}: the connection was refused: the server is not available"

    def lines(self):
        path = self.path / "out.tsv"
        return path.read_text().splitlines() if path.exists() else []

    def test_a_message_that_is_cut_into_bytes_is_read_and_many_in_one_piece_are(self):
        self.start(READ)
        self.up()
        for byte in publish("t", b"slow", 1, 7):
            self.peer.say(bytes([byte]))
            time.sleep(0.005)
        self.peer.say(b"".join(publish("t", b"m%d" % n, 1, 100 + n) for n in range(500)))
        self.wait_for(lambda: self.peer.count(PUBACK) == 501)
        self.assertEqual(self.lines(), ["slow"] + [f"m{n}" for n in range(500)])
        self.assertEqual([struct.unpack(">H", tail[:2])[0] for kind, tail, _ in self.peer.heard if kind == PUBACK], [7, *range(100, 600)])

    def test_qos_2_is_once_however_often_the_broker_says_it(self):
        self.start(READ)
        self.up()
        self.peer.say(publish("t", b"one", 2, 1))
        self.wait_for(lambda: self.peer.count(PUBREC) == 1)
        self.peer.say(publish("t", b"one", 2, 1, more=8))
        self.wait_for(lambda: self.peer.count(PUBREC) == 2)
        self.peer.connections[-1].shutdown(socket.SHUT_RDWR)
        self.wait_for(lambda: self.peer.count(SUBSCRIBE) == 2)
        self.peer.say(publish("t", b"one", 2, 1, more=8))
        self.wait_for(lambda: self.peer.count(PUBREC) == 3)
        self.peer.say(packet(0x62, b"\0\1") + packet(0x62, b"\0\1") + packet(0x62, b"\0\x63"))
        self.wait_for(lambda: self.peer.count(PUBCOMP) == 3)
        self.peer.say(publish("t", b"two", 2, 1))
        self.wait_for(lambda: self.peer.count(PUBREC) == 4)
        self.assertEqual(self.lines(), ["one", "two"])

    def test_what_is_malformed_ends_the_connection_in_words_and_is_forgotten(self):
        """gale connects again after 0.1 s, and is well."""
        self.start(READ)
        self.up()
        for number, (words, data) in enumerate(MALFORMED.items(), 1):
            with self.subTest(words):
                self.peer.say(publish("t", b"before", 1, number) + data)
                self.wait_for(lambda: self.peer.count(SUBSCRIBE) == number + 1, words)
                self.assertIn(words, self.log())
        said = [tail[:1] for kind, tail, _ in self.peer.heard if kind == DISCONNECT]
        self.assertEqual((said.count(b"\x82"), said.count(b"\x95")), (len(MALFORMED) - 2, 1))
        self.assertIsNone(self.process.poll())

    def test_the_words_of_two_connections_neither_hide_nor_clear_each_other(self):
        """That of the dead letters and that of the messages are one task's."""
        of_letters = lambda connect: b"gale-read-in-letters" in connect
        self.peer.refuses = of_letters
        self.start(READ, deadLetters="dead")
        self.wait_for(lambda: self.peer.count(SUBSCRIBE) == 1 and self.health() == [self.words(", dead letters")])
        self.peer.refuses = lambda connect: True
        for connection in self.peer.connections:
            if connection.fileno() >= 0:
                connection.shutdown(socket.SHUT_RDWR)
        self.wait_for(lambda: self.health()[-1] == f"{self.words('')}; {self.words(', dead letters')}")
        self.peer.refuses = of_letters
        self.wait_for(lambda: self.health()[-1] == self.words(", dead letters"))
        self.assertNotIn("well again", self.log())
        self.peer.refuses = lambda connect: False
        self.wait_for(lambda: "well again" in self.log())

    def test_pauses_grow_until_a_session_came_about(self):
        """Of a broker that hangs up as soon as it is connected to, and of one that refuses; not of one that serves."""
        hangs_up = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(hangs_up.close)
        self.addCleanup(hangs_up.shutdown, socket.SHUT_RDWR)
        count = 0

        def accept():
            nonlocal count
            while True:
                try:
                    hangs_up.accept()[0].close()
                except OSError:
                    return
                count += 1
        threading.Thread(target=accept, daemon=True).start()
        port, self.peer.port = self.peer.port, hangs_up.getsockname()[1]
        self.start(READ)
        time.sleep(3)
        self.assertLess(count, 8)
        self.assertGreater(count, 2)
        self.process.kill()
        self.peer.port = port
        self.peer.refuses = lambda connect: True
        self.start(READ)
        time.sleep(3)
        self.assertLess(len(self.peer.connections), 8)
        self.peer.refuses = lambda connect: False
        self.wait_for(lambda: self.peer.count(SUBSCRIBE) == 1)
        for number in range(2, 7):  # a server that comes back is not waited for
            begun = time.monotonic()
            self.peer.connections[-1].shutdown(socket.SHUT_RDWR)
            self.wait_for(lambda: self.peer.count(SUBSCRIBE) == number)
            self.assertLess(time.monotonic() - begun, 1)

    def test_a_broker_that_says_nothing_is_given_up(self):
        self.peer.connack = self.peer.present = b""
        self.start(READ, timeout=0.3)
        self.wait_for(lambda: "it is silent for 0.3 s (timeout)" in self.log())
        self.assertEqual(self.peer.count(SUBSCRIBE), 0)

    def test_a_message_without_an_end_is_given_up(self):
        self.start(READ, keepAlive=1, timeout=1)
        self.up()
        self.peer.pongs = False
        self.peer.say(b"\x30\xff\xbf\x03" + text("t"))
        self.wait_for(lambda: self.peer.count(PINGREQ) >= 1)
        self.wait_for(lambda: "it is silent for 1 s (timeout)" in self.log())

    def test_a_sink_says_again_what_was_not_confirmed(self):
        (self.path / "in.txt").write_text("a\nb\n")
        self.start(WRITE)
        self.wait_for(lambda: self.peer.count(PUBLISH) == 2)
        self.peer.say(packet(0x50, b"\0\1"))
        self.wait_for(lambda: self.peer.count(PUBREL) == 1)
        self.peer.connections[-1].shutdown(socket.SHUT_RDWR)
        self.wait_for(lambda: self.peer.count(PUBREL) == 2 and self.peer.count(PUBLISH) == 3)
        kind, tail, first = [one for one in self.peer.heard if one[0] == PUBLISH][-1]
        self.assertEqual((first, tail), (0x3c, text("t") + b"\0\2\0b"))
        self.peer.say(packet(0x70, b"\0\1") + packet(0x50, b"\0\2"))
        self.wait_for(lambda: self.peer.count(PUBREL) == 3)
        self.peer.say(packet(0x70, b"\0\2"))
        self.assertEqual(self.process.wait(30), 0, self.log())
        self.assertEqual(self.peer.count(DISCONNECT), 1)

    def hang_up_on(self, word):
        """The broker confirms each message, and ends the connection behind one with this word."""
        answers = self.peer.answer

        def answer(connection, kind, tail):
            if kind == PUBLISH and word in tail:
                connection.shutdown(socket.SHUT_RDWR)
            elif kind == PUBLISH:
                connection.sendall(packet(0x40, tail[3:5]))
            else:
                answers(connection, kind, tail)
        self.peer.answer = answer
        self.peer.present = self.peer.connack

    def test_a_message_that_ends_each_connection_is_rejected_and_its_neighbours_arrive(self):
        """The second bad one has no neighbour behind it."""
        for version in ("5", "3.1.1"):
            with self.subTest(version):
                self.peer.heard.clear()
                self.peer.connections.clear()
                self.peer.connack = packet(0x20, b"\0\0\0" if version == "5" else b"\0\0")
                self.hang_up_on(b"poison")
                (self.path / "in.txt").write_text("".join(f"n{n}\n" for n in range(100)) + "poison 1\n" + "".join(f"m{n}\n" for n in range(100)) + "poison 2\n")
                self.start(WRITE.replace("qos: 2", f'qos: 1, version: "{version}"'))
                self.assertEqual(self.process.wait(60), 1, self.log())
                arrived = {tail.rpartition(b"\0")[2] for kind, tail, _ in self.peer.heard if kind == PUBLISH}
                wanted = {f"{letter}{n}".encode() for letter in "nm" for n in range(100)}
                self.assertLessEqual(wanted, {re.sub(rb"^.*?(?=[nm]\d+$)", b"", one, flags=re.S) for one in arrived})
                self.assertEqual(self.log().count("3 connections ended behind it while nothing else was on its way"), 2, self.log())
                self.assertLess(len(self.peer.connections), 15)
                (self.path / "log").unlink()

    def test_a_broker_that_ends_the_connection_for_a_reason_of_its_own_rejects_nothing(self):
        """It shuts down, six times, behind the same message, and then takes it."""
        (self.path / "in.txt").write_text("one\n")
        answers, ends = self.peer.answer, []

        def answer(connection, kind, tail):
            if kind != PUBLISH:
                answers(connection, kind, tail)
            elif len(ends) < 6:
                ends.append(tail)
                connection.sendall(packet(0xe0, b"\x8b\0"))
            else:
                connection.sendall(packet(0x40, tail[3:5]))
        self.peer.answer = answer
        self.peer.present = self.peer.connack
        self.start(WRITE.replace("qos: 2", "qos: 1"))
        self.assertEqual(self.process.wait(60), 0, self.log())
        self.assertEqual(len(ends), 6)

    def test_what_the_broker_refuses_is_rejected_in_words(self):
        (self.path / "in.txt").write_text("a\n")
        self.start(WRITE)
        self.wait_for(lambda: self.peer.count(PUBLISH) == 1)
        self.peer.say(packet(0x50, b"\0\1\x87"))
        self.assertEqual(self.process.wait(30), 1, self.log())
        self.assertIn("not authorized", self.log())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
