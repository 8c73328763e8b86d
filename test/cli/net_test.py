#!/usr/bin/env python3
"""Sockets of the program: clients that are slow, rude, endless or many, datagrams that are lost, and syslog as the page has it.

usage: net_test.py GALE ROOT
"""

import calendar
import json
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
PAGE = Path(sys.argv[2]).resolve() / "docs" / "api" / "net.md"
BOUND = 120  # seconds: longer than any of this takes on any machine
SANITIZED = b"__asan_init" in Path(GALE).read_bytes() or b"__tsan_init" in Path(GALE).read_bytes()

TOPOLOGY = """\
name: t
config: {{ {config} }}
spouts:
  - {{id: in, className: gale.spout.{kind}, parallelism: {tasks}, properties: {{{properties}}}}}
bolts:
  - {{id: out, className: gale.bolt.FileSink, properties: {{path: out.tsv, format: {format}, append: true}}}}
streams:
  - {{from: in, to: out, grouping: {{type: SHUFFLE}}}}
"""


def durable():
    return "--state" in subprocess.run([GALE, "help", "run"], capture_output=True, text=True, check=True).stdout


class Net(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.process = None
        self.runs = 0
        self.addCleanup(self.kill)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    # --- The program

    def start(self, kind, properties, *arguments, config="topology.message.timeout.secs: 3600", tasks=1, text=None, output="text", files=None):
        (self.path / "t.yaml").write_text(text or TOPOLOGY.format(kind=kind, properties=properties, config=config, tasks=tasks, format=output))
        self.runs += 1
        self.errors = self.path / f"errors-{self.runs}"

        def limit():
            if files:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        with open(self.errors, "w") as errors:
            self.process = subprocess.Popen([GALE, "run", "-q", "t.yaml", *arguments], cwd=self.path, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=limit)

    def said(self):
        return self.errors.read_text()

    def wait_for(self, condition, what="it"):
        end = time.monotonic() + BOUND
        while not (value := condition()):
            self.assertLess(time.monotonic(), end, f"{what} does not come\n{self.said()}")
            self.assertIsNone(self.process.poll(), self.said())
            time.sleep(0.005)
        return value

    def wait_for_words(self, words):
        return self.wait_for(lambda: re.search(words, self.said()), words)

    def port(self):
        return int(self.wait_for_words(r"listens at \S*:(\d+)")[1])

    def end(self):
        """It has nothing more to read."""
        self.assertEqual(self.process.wait(BOUND), 0, self.said())

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)
        self.end()

    def lines(self):
        path = self.path / "out.tsv"
        return path.read_bytes().split(b"\n")[:-1] if path.exists() else []

    def wait_for_lines(self, count):
        self.wait_for(lambda: len(self.lines()) >= count, f"{count} lines")
        self.assertEqual(len(self.lines()), count)

    def memory(self):
        return int(re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())[1]) * 1024

    def assert_grew_less(self, before, most, now=None):
        """A sanitizer has memory of its own for each byte."""
        if not SANITIZED:
            self.assertLess((self.memory() if now is None else now) - before, most)

    # --- Its clients

    def dial(self, port):
        s = socket.create_connection(("127.0.0.1", port), timeout=BOUND)
        self.addCleanup(s.close)
        return s

    def send(self, port, data):
        with socket.create_connection(("127.0.0.1", port), timeout=BOUND) as s:
            s.sendall(data)


class Streams(Net):
    def test_lines_come_as_they_were_sent_and_the_input_ends_with_its_connections(self):
        self.start("Tcp", 'listen: "127.0.0.1:0", connections: 2')
        port = self.port()
        self.send(port, b"a\r\nb\n\nhalf")
        self.send(port, b"other\n")
        self.end()
        self.assertEqual(sorted(self.lines()), [b"", b"a", b"b", b"half", b"other"])

    def test_a_half_closed_connection_has_its_lines_and_hears_the_end(self):
        self.start("Tcp", 'listen: "127.0.0.1:0", connections: 1')
        s = self.dial(self.port())
        s.sendall(b"a\nb")
        s.shutdown(socket.SHUT_WR)
        self.assertEqual(s.recv(1), b"")
        self.end()
        self.assertEqual(self.lines(), [b"a", b"b"])

    def test_fields_say_who_and_when_and_the_how_manieth(self):
        before = time.time()
        self.start("Tcp", 'listen: "127.0.0.1:0", connections: 1, emit: [number, line, peer, received]', output="json")
        s = self.dial(self.port())
        s.sendall(b"a\n\xff\n")
        name = "%s:%d" % s.getsockname()
        s.close()
        self.end()
        rows = [json.loads(line) for line in self.lines()]
        self.assertEqual([(r["number"], r["line"], r["peer"]) for r in rows], [(1, "a", name), (2, {"base64": "/w=="}, name)])
        self.assertTrue(all(before - 1 < r["received"] < time.time() + 1 for r in rows), rows)

    def test_other_framings(self):
        for framing, data, wanted in (("nul", b"a\nb\0c\0", [b"a\nb", b"c"]), ("octets", b"3 a\nb1 c", [b"a\nb", b"c"]),
                                      ("auto", b"5 <1>ab<2>c\n12 d\n", [b"<1>ab", b"<2>c", b"12 d"])):
            with self.subTest(framing):
                (self.path / "out.tsv").unlink(missing_ok=True)
                self.start("Tcp", f'listen: "127.0.0.1:0", connections: 1, framing: {framing}')
                self.send(self.port(), data)
                self.end()
                self.assertEqual(b"\n".join(self.lines()), b"\n".join(wanted))

    def reset(self, s):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()

    def test_a_record_that_the_end_of_its_connection_cuts_off_is_none_and_is_told_of(self):
        for framing, data, wanted in (("octets", b"1 a10 abc", [b"a"]), ("octets", b"1 a10", [b"a"]), ("nul", b"a\0b", [b"a"]), ("auto", b"<1>a\n20 <13>abc\n", [b"<1>a"])):
            with self.subTest(data):
                (self.path / "out.tsv").unlink(missing_ok=True)
                self.start("Tcp", f'listen: "127.0.0.1:0", connections: 1, framing: {framing}')
                self.send(self.port(), data)
                self.end()
                self.assertEqual(self.lines(), wanted)
                self.assertRegex(self.said(), r"the connection of 127\.0\.0\.1:\d+ was closed by the other side within a record, which is dropped")
                self.assertIn("of 1 connection: 1 record was cut off by the end of its connection, or of the run\n", self.said())

    def test_a_last_line_is_none_where_its_connection_is_reset(self):
        self.start("Tcp", 'listen: "127.0.0.1:0", connections: 1')
        s = self.dial(self.port())
        s.sendall(b'a\n{"amount": 1000000')
        self.wait_for_lines(1)  # both came at once
        self.reset(s)
        self.end()
        self.assertEqual(self.lines(), [b"a"])
        self.assertIn("1 record was cut off by the end of its connection, or of the run, 1 connection was reset\n", self.said())

    def test_half_a_record_at_the_end_of_the_run_is_told_of(self):
        self.start("Tcp", 'listen: "127.0.0.1:0"')
        s = self.dial(self.port())
        s.sendall(b"a\nhalf")
        self.wait_for_lines(1)
        self.interrupt()
        self.assertEqual(self.lines(), [b"a"])
        self.assertIn("of 1 connection: 1 record was cut off", self.said())

    def test_a_run_to_which_nothing_happened_has_no_last_words(self):
        self.start("Tcp", 'listen: "127.0.0.1:0", connections: 1')
        self.send(self.port(), b"a\n")
        self.end()
        self.assertNotIn("WARN", self.said())

    def test_connections_are_counted_by_one_task(self):
        self.start("Tcp", 'listen: "127.0.0.1:1", connections: 2', tasks=2)
        self.assertEqual(self.process.wait(BOUND), 2, self.said())
        self.assertIn("connections is for one task, not 2: what the system had for a task that has had its own would be lost", self.said())

    def test_what_is_not_counted_ends_its_connection_alone(self):
        self.start("Tcp", 'listen: "127.0.0.1:0", framing: octets, connections: 2')
        port = self.port()
        rude = self.dial(port)
        rude.sendall(b"1 aGET / HTTP/1.0\r\n\r\n")
        while True:
            try:
                if not rude.recv(1):
                    break
            except ConnectionResetError:
                break
        self.send(port, b"1 b")
        self.end()
        self.assertEqual(self.lines(), [b"a", b"b"])
        self.assertRegex(self.said(), r"the connection of 127\.0\.0\.1:\d+ was closed: what came is not framed as LEN SP record")

    def test_a_reset_has_what_was_received(self):
        self.start("Tcp", 'listen: "127.0.0.1:0", connections: 1')
        s = self.dial(self.port())
        s.sendall(b"a\nb\n")
        self.wait_for_lines(2)
        self.reset(s)
        self.end()
        self.assertEqual(self.lines(), [b"a", b"b"])
        self.assertIn("of 1 connection: 1 connection was reset\n", self.said())

    def test_a_unix_socket_takes_connections_and_leaves_nothing_behind(self):
        self.start("Unix", "path: in.sock, connections: 1")
        self.wait_for_words("listens at in.sock")
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(self.path / "in.sock"))
            s.sendall(b"a\nb\n")
        self.end()
        self.assertEqual(self.lines(), [b"a", b"b"])
        self.assertFalse((self.path / "in.sock").exists())

    def test_a_dead_unix_socket_is_taken_over_and_a_living_one_or_a_file_is_refused(self):
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(str(self.path / "in.sock"))
        self.start("Unix", "path: in.sock")
        self.wait_for_words("listens at in.sock")
        first, self.process = self.process, None
        self.addCleanup(first.wait)
        self.addCleanup(first.kill)
        self.start("Unix", "path: in.sock")
        self.assertEqual(self.process.wait(BOUND), 3, self.said())
        self.assertIn("cannot listen at in.sock: Address already in use", self.said())
        (self.path / "file").write_text("mine")
        self.start("Unix", "path: file")
        self.assertEqual(self.process.wait(BOUND), 3, self.said())
        self.assertIn("cannot listen at file: it is a file that is there, and no socket", self.said())
        self.assertEqual((self.path / "file").read_text(), "mine")

    def test_a_second_one_at_a_unix_socket_is_no_connection_of_the_first(self):
        self.start("Unix", "path: in.sock, connections: 1")
        self.wait_for_words("listens at in.sock")
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        first, errors = self.process, self.errors
        self.start("Unix", "path: in.sock, connections: 1")
        self.assertEqual(self.process.wait(BOUND), 3, self.said())
        self.process, self.errors = first, errors
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(self.path / "in.sock"))
            s.sendall(b"a\n")
        self.end()
        self.assertEqual(self.lines(), [b"a"])

    def test_a_port_that_another_has_is_refused_in_words(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.start("Tcp", f'listen: "127.0.0.1:{s.getsockname()[1]}"')
            self.assertNotEqual(self.process.wait(BOUND), 0)
            self.assertRegex(self.said(), r"cannot listen at 127\.0\.0\.1:\d+: Address already in use")

    def test_several_tasks_share_a_port(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            port = s.getsockname()[1]
        self.start("Tcp", f'listen: "127.0.0.1:{port}"', tasks=3)
        self.wait_for_words("listens at")  # the log says once what several tasks say
        for i in range(30):
            self.send(port, b"%d\n" % i)
        self.wait_for_lines(30)
        self.assertEqual(sorted(map(int, self.lines())), list(range(30)))
        self.interrupt()

    # --- What would hurt

    def test_an_endless_line_takes_no_memory_and_holds_nobody_up(self):
        self.start("Tcp", 'listen: "127.0.0.1:0", longest: 64 KB', "-j", "1")
        port = self.port()
        rude = self.dial(port)
        piece = b"x" * (1 << 20)
        rude.sendall(piece)
        before = self.memory()
        for i in range(100):
            rude.sendall(piece)
            if i % 10 == 0:
                self.send(port, b"between\n")
        self.wait_for(lambda: self.lines().count(b"between") == 10)
        rude.sendall(b"\nnext\n")
        self.wait_for(lambda: b"next" in self.lines())
        self.assertEqual(sorted(len(line) for line in self.lines()), [4] + [7] * 10 + [64000])
        self.assert_grew_less(before, 32 << 20)
        self.interrupt()
        self.assertIn("1 record was longer than `longest`", self.said())

    def test_an_endless_line_holds_up_no_other_source_of_its_executor(self):
        text = TOPOLOGY.replace("bolts:", "  - {{id: other, className: gale.spout.Generator, properties: {{lines: 3000, words: 1}}}}\nbolts:", 1).replace(
            "streams:", "streams:\n  - {{from: other, to: out, grouping: {{type: SHUFFLE}}}}")
        self.start(None, None, "-j", "1", "--rate", "10000", text=text.format(kind="Tcp", properties='listen: "127.0.0.1:0"', config="topology.message.timeout.secs: 3600",
                                                                             tasks=1, format="text"))
        rude = self.dial(self.port())
        rude.setblocking(False)
        piece = b"x" * (1 << 20)
        while len(self.lines()) < 3000:
            self.wait_for(lambda: True)
            try:
                rude.send(piece)
            except BlockingIOError:
                pass
        self.interrupt()

    def test_a_huge_size_that_is_announced_takes_no_memory(self):
        self.start("Tcp", 'listen: "127.0.0.1:0", framing: octets, longest: 64 KB, tooLong: drop', "-j", "1")
        port = self.port()
        rude = [self.dial(port) for _ in range(50)]
        before = self.memory()
        for s in rude:
            s.sendall(b"9999999999 " + b"x" * 100000)
        self.send(port, b"5 after")
        self.wait_for_lines(1)
        self.assert_grew_less(before, 32 << 20)
        self.interrupt()

    def test_many_half_lines_are_bounded_together(self):
        self.start("Tcp", 'listen: "127.0.0.1:0", longest: 1 MiB, memory: 4 MiB', "-j", "1")
        port = self.port()
        before = self.memory()
        for _ in range(40):
            try:
                self.dial(port).sendall(b"x" * 500000)
            except ConnectionError:
                pass
        self.wait_for_words("was closed: half records of all connections take more than `memory` bytes")
        self.send(port, b"after\n")
        self.wait_for(lambda: b"after" in self.lines())
        self.assert_grew_less(before, 48 << 20)
        self.interrupt()

    def test_lines_that_drip_byte_by_byte(self):
        count, text = 100, b"a line that comes slowly\n"
        self.start("Tcp", f'listen: "127.0.0.1:0", connections: {count}', "-j", "1")
        port = self.port()
        slow = [self.dial(port) for _ in range(count)]
        for i in range(len(text)):
            for s in slow:
                s.send(text[i:i + 1])
        for s in slow:
            s.close()
        self.end()
        self.assertEqual(self.lines(), [text[:-1]] * count)

    def test_ten_thousand_connections(self):
        count, room = 10000, 200
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < count + room:
            count = hard - room
            print(f"net_test: {count} connections: this machine allows {hard} descriptors", file=sys.stderr)
        if SANITIZED:
            count = min(count, 2000)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + room) if hard != resource.RLIM_INFINITY else count + room, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.start("Tcp", f'listen: "127.0.0.1:0", maxConnections: {count}, connections: {count}', "-j", "1")
        port = self.port()
        before = self.memory()
        # From many addresses: a port of one has 28,000 others at the most.
        all_of_them = []
        for i in range(count):
            s = socket.socket()
            s.settimeout(BOUND)
            s.bind((f"127.0.1.{i % 200 + 1}", 0))
            s.connect(("127.0.0.1", port))
            all_of_them.append(s)
            s.sendall(b"half of ")
        for i, s in enumerate(all_of_them):
            s.sendall(b"%d\n" % i)
        self.wait_for_lines(count)
        self.assert_grew_less(before, count * 4096 + (16 << 20))
        for s in all_of_them:
            s.close()
        self.end()
        self.assertEqual(sorted(self.lines()), sorted(b"half of %d" % i for i in range(count)))

    def test_further_connections_wait_until_one_ends(self):
        self.start("Tcp", 'listen: "127.0.0.1:0", maxConnections: 2')
        port = self.port()
        first = [self.dial(port) for _ in range(2)]
        for s in first:
            s.sendall(b"first\n")
        self.wait_for_lines(2)
        third = self.dial(port)
        third.sendall(b"third\n")
        self.wait_for_words(r"2 connections are open \(maxConnections\): others wait until one ends")
        self.assertEqual(len(self.lines()), 2)
        first[0].close()
        self.wait_for_lines(3)
        self.interrupt()

    def test_a_system_without_descriptors_is_told_of_once_and_waited_for(self):
        self.start("Tcp", 'listen: "127.0.0.1:0"', "-j", "1", files=40)
        port = self.port()
        many = [self.dial(port) for _ in range(60)]
        for s in many:
            s.sendall(b"x\n")
        self.wait_for_words("no more can be taken: Too many open files; others wait")
        for s in many:
            s.close()
        self.wait_for_lines(60)
        self.interrupt()
        self.assertLess(self.said().count("Too many open files"), 50)  # at most once in ten seconds

    def test_silent_connections_are_closed(self):
        self.start("Tcp", 'listen: "127.0.0.1:0", idleTimeout: 2s, connections: 1')
        s = self.dial(self.port())
        s.sendall(b"a\nhalf")
        self.assertEqual(s.recv(1), b"")
        self.end()
        self.assertEqual(self.lines(), [b"a"])
        self.assertIn("1 record was cut off by the end of its connection, or of the run, 1 connection was closed here for its silence\n", self.said())

    def test_who_may_not_emit_does_not_read(self):
        """A sender waits: what is open is bounded by topology.max.spout.pending, and by `memory`."""
        self.start("Tcp", 'listen: "127.0.0.1:0", connections: 1, memory: 100 KB', "--rate", "20000", "-j", "1",
                   config="topology.message.timeout.secs: 3600, topology.max.spout.pending: 10")
        port = self.port()
        before = self.memory()
        lines = [b"%06d " % i + b"x" * 1000 for i in range(20000)]
        self.send(port, b"\n".join(lines) + b"\n")
        self.wait_for_end_of(lines)
        self.assert_grew_less(before, 24 << 20, self.peak)

    def wait_for_end_of(self, lines):
        self.peak = 0
        while self.process.poll() is None:
            try:
                self.peak = max(self.peak, self.memory())
            except (OSError, TypeError):
                break  # it has ended meanwhile
            time.sleep(0.01)
        self.end()
        self.assertEqual(self.lines(), lines)

    # --- Who connects

    def test_who_connects_tries_again_and_says_so_once(self):
        with socket.socket() as reserved:
            reserved.bind(("127.0.0.1", 0))
            port = reserved.getsockname()[1]
        self.start("Tcp", f'connect: "127.0.0.1:{port}", connections: 2')
        self.wait_for_words("is not well: .*cannot connect: Connection refused")
        server = socket.create_server(("127.0.0.1", port))
        self.addCleanup(server.close)
        server.settimeout(BOUND)
        for text in (b"a\nb\n", b"c\n"):
            s, _ = server.accept()
            s.sendall(text)
            s.close()
        self.end()
        self.assertEqual(self.lines(), [b"a", b"b", b"c"])
        self.assertEqual(self.said().count("cannot connect"), 1)

    def test_one_that_is_required_is_connected_to_before_the_run_begins_or_refused(self):
        with socket.socket() as reserved:
            reserved.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % reserved.getsockname()[1]
            required = "config: {gale.required: true}"
            for component, text in (("Tcp", f"spouts: [{{id: in, className: gale.spout.Tcp, {required}, properties: {{connect: '{address}'}}}}]\n"
                                            "bolts: [{id: out, className: gale.bolt.Printer}]\n"),
                                    ("TcpSink", "spouts: [{id: in, className: gale.spout.Tcp, properties: {listen: '127.0.0.1:0'}}]\n"
                                                f"bolts: [{{id: out, className: gale.bolt.TcpSink, {required}, properties: {{connect: '{address}'}}}}]\n")):
                with self.subTest(component):
                    self.start(None, None, text="name: t\n" + text + "streams: [{from: in, to: out, grouping: {type: SHUFFLE}}]\n")
                    self.assertEqual(self.process.wait(BOUND), 3, self.said())
                    self.assertIn(f"{address}: cannot connect: Connection refused (gale.required)", self.said())

    def test_one_that_is_required_and_there_is_read(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        server.settimeout(BOUND)
        self.start("Tcp", f'connect: "127.0.0.1:{server.getsockname()[1]}", connections: 1', config="gale.required: true")
        s, _ = server.accept()
        s.sendall(b"a\nb\n")
        s.close()
        self.end()
        self.assertEqual(self.lines(), [b"a", b"b"])

    def test_the_log_names_the_port_that_it_got(self):
        self.start("Tcp", 'listen: "127.0.0.1:0", connections: 1, framing: nul')
        port = self.port()
        self.send(port, b"half")
        self.end()
        self.assertIn(f"127.0.0.1:{port}: of 1 connection: 1 record was cut off", self.said())
        self.assertNotIn("127.0.0.1:0", self.said())

    def test_who_connects_drops_the_half_line_of_a_server_that_has_gone(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        server.settimeout(BOUND)
        self.start("Tcp", f'connect: "127.0.0.1:{server.getsockname()[1]}", connections: 2')
        s, _ = server.accept()
        s.sendall(b"a\nhalf")
        self.wait_for_lines(1)
        self.reset(s)
        s, _ = server.accept()
        s.sendall(b"b\nthe last")
        s.close()
        self.end()
        self.assertEqual(self.lines(), [b"a", b"b", b"the last"])

    def test_a_name_that_cannot_be_found_is_looked_for_again(self):
        self.start("Tcp", 'connect: "no such host:1"')
        self.wait_for_words("is not well: cannot find 'no such host:1'")
        self.kill()

    # --- Runs that go on

    def test_a_stop_keeps_what_was_received(self):
        """Ten lines are open, others are read, and the rest has its sender."""
        if not durable():
            self.skipTest("no durable runs here")
        state = ("--state", "state", "--rate", "50", "-j", "1")
        self.start("Tcp", 'listen: "127.0.0.1:0"', *state)
        s = self.dial(self.port())
        s.sendall(b"".join(b"%d\n" % i for i in range(1000)))
        self.wait_for(lambda: self.lines())
        self.interrupt()
        self.assertLess(len(self.lines()), 1000)
        self.start("Tcp", 'listen: "127.0.0.1:0"', "--state", "state", "-j", "1")
        self.wait_for_lines(1000)
        self.interrupt()
        self.assertEqual(self.lines(), [b"%d" % i for i in range(1000)])


class Datagrams(Net):
    def total(self):
        last = re.search(r"\d+ datagrams? w[a-z]+ received.*", self.said())
        self.assertTrue(last, self.said())
        found = [re.search(rf"(\d+) \w+ (?:was|were) {what}", last[0]) for what in ("received", "thrown away by the system", "not read at the end", "longer than `longest`")]
        self.assertNotIn(" 0 ", last[0])
        return [int(one[1]) if one else 0 for one in found]

    def socket(self, port):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(s.close)
        s.connect(("127.0.0.1", port))
        return s

    def test_each_datagram_is_a_record_and_all_are_told_of(self):
        self.start("Udp", 'listen: "127.0.0.1:0", receiveBuffer: 1 MiB')
        s = self.socket(self.port())
        for i in range(500):
            s.send(b"%d" % i)
        self.wait_for_lines(500)
        self.assertEqual(self.lines(), [b"%d" % i for i in range(500)])
        self.interrupt()
        self.assertEqual(self.total(), [500, 0, 0, 0])

    def test_lines_of_a_datagram(self):
        self.start("Udp", 'listen: "127.0.0.1:0", framing: lines')
        s = self.socket(self.port())
        s.send(b"a\nb\r\nc")
        s.send(b"d\n")
        self.wait_for_lines(4)
        self.assertEqual(self.lines(), [b"a", b"b", b"c", b"d"])
        self.interrupt()

    def test_a_longer_one_is_cut_or_dropped_and_counted(self):
        for word, wanted in (("cut", [b"x" * 10, b"y"]), ("drop", [b"y"])):
            (self.path / "out.tsv").unlink(missing_ok=True)
            self.start("Udp", f'listen: "127.0.0.1:0", longest: 10, tooLong: {word}')
            s = self.socket(self.port())
            s.send(b"x" * 11)
            s.send(b"y")
            self.wait_for_lines(len(wanted))
            self.assertEqual(self.lines(), wanted)
            self.interrupt()
            self.assertEqual(self.total(), [2, 0, 0, 1])

    def test_of_a_datagram_in_parts_each_is_as_long_as_it_may_be(self):
        big = b"\n".join(b"%07d" % i for i in range(7000))
        for framing, end in (("lines", b"\n"), ("nul", b"\0")):
            for word, long, wanted in (("drop", b"abc\n123456789\n\nxyz", [b"abc", b"", b"xyz"]), ("cut", b"abc\n123456789\nxyz", [b"abc", b"12345678", b"xyz"])):
                with self.subTest(framing + " " + word):
                    (self.path / "out.tsv").unlink(missing_ok=True)
                    self.start("Udp", f'listen: "127.0.0.1:0", framing: {framing}, longest: 8, tooLong: {word}, receiveBuffer: 1 MiB', "-j", "1")
                    s = self.socket(self.port())
                    s.send(long.replace(b"\n", end))
                    s.send(big.replace(b"\n", end))
                    self.wait_for_lines(len(wanted) + 7000)
                    self.assertEqual(self.lines(), wanted + big.split(b"\n"))
                    self.interrupt()
                    self.assertEqual(self.total(), [2, 0, 0, 1])

    def test_of_a_datagram_above_64_kib_in_lines_those_within_come(self):
        self.start("Unix", "path: in.sock, datagram: true, framing: lines")
        self.wait_for_words("listens at in.sock")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.connect(str(self.path / "in.sock"))
            s.send(b"a\n" + b"x" * 40000 + b"\n" + b"y" * 40000 + b"\nb\n")
            s.send(b"c")
        self.wait_for_lines(3)
        self.assertEqual(self.lines(), [b"a", b"x" * 40000, b"c"])
        self.interrupt()
        self.assertIn("2 datagrams were received, 1 datagram was larger than 64 KiB", self.said())

    def test_what_the_system_throws_away_is_counted_to_the_last(self):
        """A source that may emit forty a second, a buffer for a few, and ten thousand at once."""
        sent = 10000
        self.start("Udp", 'listen: "127.0.0.1:0", receiveBuffer: 4 KB', "--rate", "40")
        s = self.socket(self.port())
        for i in range(sent):
            s.send(b"%d" % i)
        self.wait_for_words(r"the system has thrown away \d+ datagrams")
        self.interrupt()
        received, lost, unread, _ = self.total()
        self.assertEqual(received + lost + unread, sent)
        self.assertGreater(lost, 0)
        self.assertEqual(len(self.lines()), received)
        self.assertEqual(len(set(self.lines())), received)

    def test_a_unix_datagram_waits_for_room(self):
        self.start("Unix", "path: in.sock, datagram: true")
        self.wait_for_words("listens at in.sock")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.connect(str(self.path / "in.sock"))
            for i in range(2000):
                s.send(b"%d" % i)
        self.wait_for_lines(2000)
        self.interrupt()
        self.assertEqual(self.lines(), [b"%d" % i for i in range(2000)])


SENDER = """\
name: t
config: {{ topology.message.timeout.secs: 3600 }}
spouts:
  - {{id: in, className: gale.spout.File, properties: {{path: in.txt}}}}
bolts:
  - {{id: out, className: gale.bolt.{kind}, properties: {{connect: "127.0.0.1:{port}", {properties}}}}}
streams:
  - {{from: in, to: out, grouping: {{type: SHUFFLE}}}}
"""


FROM_NULS = """\
name: t
spouts:
  - {id: in, className: gale.spout.Exec, properties: {command: [cat, nul.txt], records: nul}}
bolts:
  - {id: out, className: gale.bolt.TcpSink, properties: {connect: "127.0.0.1:%d", format: %s, %s}}
streams:
  - {from: in, to: out, grouping: {type: SHUFFLE}}
"""


class Sinks(Net):
    def send_to(self, kind, port, properties, lines, *arguments):
        (self.path / "in.txt").write_bytes(b"".join(line + b"\n" for line in lines))
        self.start(None, None, *arguments, text=SENDER.format(kind=kind, port=port, properties=properties))

    def server(self, port=0):
        server = socket.create_server(("127.0.0.1", port))
        server.settimeout(BOUND)
        self.addCleanup(server.close)
        return server

    def accept(self, server):
        s, _ = server.accept()
        s.settimeout(BOUND)
        self.addCleanup(s.close)
        return s

    def read_all(self, s):
        data = b""
        while piece := s.recv(1 << 16):
            data += piece
        return data

    def free_port(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            return s.getsockname()[1]

    def test_each_tuple_is_a_line_in_order(self):
        server = self.server()
        lines = [b"%d" % i for i in range(20000)]
        self.send_to("TcpSink", server.getsockname()[1], "format: text", lines)
        self.assertEqual(self.read_all(self.accept(server)).split(b"\n"), lines + [b""])
        self.end()

    def test_formats_and_framings(self):
        for properties, wanted in (("format: json", b'{"line":"a"}\n{"line":"b c"}\n'), ("framing: nul", b"a\0b c\0"), ("framing: octets", b"1 a3 b c"),
                                   ("format: csv, fields: [line], framing: octets", b"1 a3 b c")):
            with self.subTest(properties):
                server = self.server()
                self.send_to("TcpSink", server.getsockname()[1], properties, [b"a", b"b c"])
                self.assertEqual(self.read_all(self.accept(server)), wanted)
                self.end()

    def test_what_a_framing_cannot_carry_is_rejected_and_the_others_are_sent(self):
        for kind, properties, bad, wanted, words in (
                ("text", "framing: lines", b"two\nlines", b"a\nb\n", "framing lines cannot carry it: it has an end of line in it; octets and nul can"),
                ("csv", "framing: lines", b"two\nlines", b"a\nb\n", "framing lines cannot carry it"),
                ("text", "framing: lines", b"return\r", b"a\nb\n", "framing lines cannot carry it"),
                ("text", "framing: octets", b"two\nlines", b"1 a9 two\nlines1 b", None),
                ("text", "framing: octets", b"", b"1 a1 b", "framing octets cannot carry it: it is empty, and RFC 6587 has no length 0"),
                ("text", "framing: nul", b"", b"a\0\0b\0", None),
                ("text", "framing: lines", b"", b"a\n\nb\n", None),
                ("tsv", "framing: lines", b"two\nlines", b"a\ntwo\\nlines\nb\n", None)):
            with self.subTest(kind + " " + properties):
                (self.path / "nul.txt").write_bytes(b"a\0" + bad + b"\0b\0")
                server = self.server()
                self.start(None, None, text=FROM_NULS % (server.getsockname()[1], kind, properties))
                self.assertEqual(self.read_all(self.accept(server)), wanted)
                self.assertEqual(self.process.wait(BOUND), 1 if words else 0, self.said())
                if words:
                    self.assertIn(words, self.said())

    def test_what_has_a_nul_in_it_is_not_framed_by_nuls(self):
        server = self.server()
        self.send_to("TcpSink", server.getsockname()[1], "format: text, framing: nul", [b"a", b"with\0nul", b"b"])
        self.assertEqual(self.read_all(self.accept(server)), b"a\0b\0")
        self.assertEqual(self.process.wait(BOUND), 1, self.said())

    def test_a_tuple_is_not_acked_before_the_other_machine_has_it(self):
        """A server that accepts and does not read: its buffers are full, and the run does not end."""
        server = self.server()
        lines = [b"%06d " % i + b"x" * 1000 for i in range(20000)]
        self.send_to("TcpSink", server.getsockname()[1], "format: text, maxBytes: 100 KB", lines, "-j", "1")
        s = self.accept(server)
        before = self.wait_for(self.memory)
        time.sleep(0.2)  # it goes on, or not: either is right
        self.assertIsNone(self.process.poll())
        self.assert_grew_less(before, 64 << 20)
        self.assertEqual(self.read_all(s).split(b"\n"), lines + [b""])
        self.end()

    def test_a_server_that_is_not_there_yet_is_waited_for_and_told_of_once(self):
        port = self.free_port()
        lines = [b"%d" % i for i in range(100)]
        self.send_to("TcpSink", port, "format: text", lines)
        self.wait_for_words("is not well: .*cannot connect: Connection refused")
        server = self.server(port)
        self.assertEqual(self.read_all(self.accept(server)).split(b"\n"), lines + [b""])
        self.end()
        self.assertEqual(self.said().count("cannot connect"), 1)
        self.assertIn("is well again", self.said())

    def down(self, properties):
        """For a server that is down: what a bolt says at the end of the input."""
        port = self.free_port()
        (self.path / "in.txt").write_bytes(b"a\nb\nc\n")
        count = "bolts:\n  - {id: count, className: gale.bolt.Count, properties: {emit: finish}}"
        text = SENDER.format(kind="TcpSink", port=port, properties=properties).replace("bolts:", count)
        self.start(None, None, text=text.replace("from: in, to: out", "from: in, to: count, grouping: {type: GLOBAL}}\n  - {from: count, to: out"))
        return port

    def test_what_comes_at_the_end_alone_is_given_up_when_its_server_stays_down(self):
        self.down("format: text, fields: [word], finishWait: 1s")
        self.assertEqual(self.process.wait(BOUND), 3, self.said())
        self.assertIn("3 records were not taken within 1 seconds", self.said())

    def test_what_comes_at_the_end_alone_is_sent_to_a_server_that_comes_back(self):
        port = self.down("format: text, fields: [word], finishWait: 1000s")
        self.wait_for_words("cannot connect")
        server = self.server(port)
        self.assertEqual(sorted(self.read_all(self.accept(server)).split()), [b"a", b"b", b"c"])
        self.end()

    def test_two_interrupts_end_what_waits_for_a_server(self):
        """The first one comes when a tuple is held: a sink that is not well says so while the run still opens."""
        self.send_to("TcpSink", self.free_port(), "format: text", [b"a"])
        self.wait_for_words("holds 1 tuple")
        self.process.send_signal(signal.SIGINT)
        self.wait_for_words("finishing them")
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(self.process.wait(BOUND), 130, self.said())

    def test_what_was_not_taken_is_sent_again_to_the_next_connection(self):
        """Servers that reset the connection somewhere: at least once, and no line in pieces."""
        server = self.server()
        lines = [b"%06d " % i + b"x" * 500 for i in range(20000)]
        self.send_to("TcpSink", server.getsockname()[1], "format: text", lines)
        seen, s = [], None
        for size in (100, 1 << 16, 3 << 20):
            s = self.accept(server)
            data = b""
            while len(data) < size:
                data += s.recv(1 << 16)
            seen += data.split(b"\n")[:-1]
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            s.close()
        # What a machine had taken and its server did not read is acked: that is as far as can be seen.
        seen += self.read_all(self.accept(server)).split(b"\n")[:-1]
        self.end()
        self.assertEqual(set(seen) - set(lines), set())
        self.assertEqual(seen[-1], lines[-1])
        self.assertGreater(len(set(seen)), len(lines) // 2)

    def test_nothing_is_lost_where_servers_close_in_order(self):
        """A server that reads to the end of what it was sent before it closes its side has all of it, once or more."""
        server = self.server()
        lines = [b"%06d" % i for i in range(3000)]
        self.send_to("TcpSink", server.getsockname()[1], "format: text", lines, "--rate", "3000")
        seen = []
        for _ in range(3):
            s = self.accept(server)
            data = s.recv(1 << 16)
            s.shutdown(socket.SHUT_WR)
            data += self.read_all(s)
            seen += data.split(b"\n")
        seen += self.read_all(self.accept(server)).split(b"\n")
        self.end()
        self.assertEqual(set(lines) - set(seen), set())

    def test_what_the_server_says_is_passed_over(self):
        server = self.server()
        self.send_to("TcpSink", server.getsockname()[1], "format: text", [b"%d" % i for i in range(1000)])
        s = self.accept(server)
        s.sendall(b"hello, and more than a page of it\n" * 1000)
        self.assertEqual(len(self.read_all(s).split(b"\n")), 1001)
        self.end()

    def test_a_run_that_is_killed_sends_what_was_held_again(self):
        if not durable():
            self.skipTest("no durable runs here")
        server = self.server()
        lines = [b"%06d" % i for i in range(5000)]
        seen = []
        for last in (False, False, True):
            self.send_to("TcpSink", server.getsockname()[1], "format: text", lines, "--state", "state", "-c", "topology.state.checkpoint.interval.ms=10",
                         *(() if last else ("--rate", "3000")))
            s = self.accept(server)
            if not last:
                data = b""
                while data.count(b"\n") < 500:
                    data += s.recv(1 << 16)
                self.process.kill()
                self.process.wait()
            seen += ((b"" if last else data) + self.read_all(s)).split(b"\n")[:-1]
        self.end()
        self.assertEqual(set(seen), set(lines))
        self.assertLess(len(seen), 3 * len(lines))

    def test_from_socket_to_socket(self):
        with socket.create_server(("127.0.0.1", 0)) as reserved:
            port = reserved.getsockname()[1]
        receiver = Receiver(self.path, port, 5000)
        self.addCleanup(receiver.stop)
        self.send_to("TcpSink", port, "framing: octets, format: text", [b"%d" % i for i in range(5000)])
        self.end()
        self.assertEqual(receiver.end(), [b"%d" % i for i in range(5000)])

    def test_a_datagram_a_tuple(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            s.settimeout(BOUND)
            s.bind(("127.0.0.1", 0))
            self.send_to("UdpSink", s.getsockname()[1], "format: text", [b"%d" % i for i in range(300)])
            self.assertEqual([s.recv(100) for _ in range(300)], [b"%d" % i for i in range(300)])
        self.end()

    def test_several_in_a_datagram(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            s.settimeout(BOUND)
            s.bind(("127.0.0.1", 0))
            lines = [b"%03d" % i for i in range(300)]
            self.send_to("UdpSink", s.getsockname()[1], "format: text, datagram: 40", lines)
            got = []
            while b"".join(got).count(b"\n") < 300:
                got.append(s.recv(100))
                self.assertLessEqual(len(got[-1]), 40)
                self.assertTrue(got[-1].endswith(b"\n"))
            self.assertEqual(b"".join(got), b"".join(line + b"\n" for line in lines))
        self.end()

    def test_a_datagram_that_is_too_large_fails_in_words_and_the_others_are_sent(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(BOUND)
            s.bind(("127.0.0.1", 0))
            self.send_to("UdpSink", s.getsockname()[1], "format: text", [b"a", b"x" * 70000, b"b"])
            self.assertEqual([s.recv(10), s.recv(10)], [b"a", b"b"])
        self.assertEqual(self.process.wait(BOUND), 1)
        self.assertIn("a datagram of 70000 bytes is too large for the system", self.said())

    def test_nobody_who_listens_is_told_of_once_and_holds_nothing_up(self):
        self.send_to("UdpSink", self.free_port(), "format: text", [b"%d" % i for i in range(5000)])
        self.end()
        self.assertIn("is not well: 127.0.0.1:", self.said())
        self.assertLess(self.said().count("datagrams do not arrive: Connection refused"), 50)

    def test_a_name_that_cannot_be_found_is_looked_for_again(self):
        for kind in ("TcpSink", "UdpSink"):
            self.send_to(kind, 1, "format: text", [b"a"])
            text = (self.path / "t.yaml").read_text()
            self.kill()
            self.start(None, None, text=text.replace("127.0.0.1:1", "no such host:1"))
            self.wait_for_words("is not well: cannot find 'no such host:1'")
            self.kill()

    def test_addresses_are_looked_at_before_a_run(self):
        for kind, properties, words in (("TcpSink", "connect: here", "'here' is no address: host:port"), ("TcpSink", 'connect: ":1"', "':1' has no host to connect to"),
                                        ("UdpSink", 'connect: "h:0"', "no one can be connected to at port 0")):
            (self.path / "t.yaml").write_text(SENDER.replace('connect: "127.0.0.1:{port}", {properties}', properties).format(kind=kind))
            done = subprocess.run([GALE, "check", "t.yaml"], cwd=self.path, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stdout + done.stderr)


class Receiver:
    """Another run: octets from a port to a file."""

    def __init__(self, folder, port, count):
        self.folder = folder / "receiver"
        self.folder.mkdir()
        (self.folder / "t.yaml").write_text(TOPOLOGY.format(kind="Tcp", properties=f'listen: "127.0.0.1:{port}", framing: octets, connections: 1',
                                                           config="topology.message.timeout.secs: 3600", tasks=1, format="text"))
        self.process = subprocess.Popen([GALE, "run", "-q", "t.yaml"], cwd=self.folder, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def end(self):
        assert self.process.wait(BOUND) == 0
        return (self.folder / "out.tsv").read_bytes().split(b"\n")[:-1]


class Syslog(Net):
    def rows(self):
        """(message, what goes out) of the page."""
        for line in PAGE.read_text().splitlines():
            row = re.fullmatch(r"\| `(.*)` \| `(\{.*\})` \|", line)
            if row:
                yield row[1].replace("\\n", "\n").replace("\\ufeff", "\ufeff"), json.loads(row[2])

    def take(self, transport, send):
        (self.path / "out.tsv").unlink(missing_ok=True)
        self.start("Syslog", send[0] + f", transport: {transport}, emit: [facility, severity, time, host, app, procid, msgid, data, message, received]",
                   output="json")
        send[1]()

    def check(self, got, wanted):
        received = got.pop("received")
        if wanted["time"] == "received":
            wanted = {**wanted, "time": received}
        elif isinstance(wanted["time"], str):
            years = [time.gmtime(received).tm_year + i for i in (-1, 0, 1)]
            times = [calendar.timegm(time.strptime(f"{year} {wanted['time']}", "%Y %b %d %H:%M:%S")) for year in years]
            wanted = {**wanted, "time": min(times, key=lambda t: abs(t - received))}
        self.assertEqual(got, wanted)

    def test_messages_are_what_the_page_says_by_each_transport(self):
        rows = list(self.rows())
        self.assertGreater(len(rows), 15)
        counted = b"".join(b"%d " % len(m.encode()) + m.encode() for m, _ in rows if m.startswith("<"))

        def by_tcp():
            port = self.port()
            for message, _ in rows:
                if "\n" not in message:
                    self.send_in_turn(port, message.encode() + b"\n")

        def by_udp():
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.addCleanup(s.close)
            s.connect(("127.0.0.1", self.port()))
            for i, (message, _) in enumerate(rows):
                s.send(message.encode())
                self.wait_for_lines(i + 1)

        def by_counting():
            self.send(self.port(), counted)

        for transport, send, some in (("tcp", by_tcp, [r for r in rows if "\n" not in r[0]]), ("udp", by_udp, rows),
                                      ("tcp", by_counting, [r for r in rows if r[0].startswith("<")])):
            with self.subTest(transport):
                self.take(transport, ('listen: "127.0.0.1:0"', send))
                self.wait_for_lines(len(some))
                self.interrupt()
                for line, (message, wanted) in zip(self.lines(), some):
                    with self.subTest(message):
                        self.check(json.loads(line), wanted)

    def send_in_turn(self, port, data):
        before = len(self.lines())
        self.send(port, data)
        self.wait_for_lines(before + 1)

    def test_a_year_that_is_missing_is_the_one_nearest_to_now(self):
        self.start("Syslog", 'listen: "127.0.0.1:0", transport: tcp, connections: 1, emit: [time], zone: "+02:00"')
        then = time.time() - 3600 * 24 * 30
        self.send(self.port(), time.strftime("<1>%b %e %H:%M:%S host x: y\n", time.gmtime(then + 7200)).encode())
        self.end()
        self.assertEqual(self.lines(), [b"%d" % then])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
