#!/usr/bin/env python3
"""The connector http, by gale's command line, against clients and a server of Python's.

usage: http_test.py GALE PLUGINS [CLASS...]
"""

import contextlib
import gzip
import http.client
import itertools
import json
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "serve"))
import heads  # noqa: E402
from living import nobody_left  # noqa: E402

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": PLUGINS}
SANITIZED = b"__asan_init" in Path(GALE).read_bytes() or b"__tsan_init" in Path(GALE).read_bytes()  # its memory is another's

TAKE = """
name: take
config: {{topology.message.timeout.secs: {timeout}, topology.state.checkpoint.interval.ms: 200}}
spouts:
  - id: requests
    className: gale.spout.Http
    parallelism: {tasks}
    properties:
      - {{name: listen, value: "127.0.0.1:{port}"}}
{spout}
bolts:
{bolts}
  - {{id: sink, className: gale.bolt.{sink}, properties: [{to}]}}
streams:
{streams}
  - {{from: {last}, to: sink, grouping: {{type: SHUFFLE}}}}
"""

HELD = "{name: command, value: 'while [ ! -e go ]; do sleep 0.02; done; cat >out.tsv'}"


def properties(**values):
    return "\n".join(f"      - {{name: {name}, value: {json.dumps(value)}}}" for name, value in values.items())


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.process = None

    def gale(self, *arguments):
        done = subprocess.run([GALE, *arguments], cwd=self.path, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def start(self, *arguments):
        """Its words in 'log', while it runs."""
        log = open(self.path / "log", "a")
        self.addCleanup(log.close)
        process = self.process = subprocess.Popen([GALE, "run", "topology.yaml", *arguments], cwd=self.path, env=ENVIRONMENT, stderr=log, stdout=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, condition, what="it did not come about", seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            if self.process and self.process.poll() is not None:
                self.fail(f"it has ended: {self.log()}")
            self.assertLess(time.monotonic(), end, f"{what}: {self.log()}")
            time.sleep(0.01)

    def end(self, code=0):
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(30), code, self.log())

    def nobody_left(self):
        """All clients have gone: neither a connection nor a request lives."""
        nobody_left(lambda: json.loads(self.gale("stats", str(self.process.pid), "--json")[1]), self.wait_for)

    def memory(self):
        """KiB that the process has resident."""
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text()).group(1))

    def log(self):
        path = self.path / "log"
        return path.read_text() if path.exists() else ""

    def lines(self, name="out.tsv"):
        path = self.path / name
        return path.read_text().splitlines() if path.exists() else []


class Server(Case):
    def write(self, spout="", bolts="", streams="", last="requests", timeout=30, tasks=1, sink="FileSink", to="{name: path, value: out.tsv}", port=0):
        (self.path / "topology.yaml").write_text(TAKE.format(spout=spout, bolts=bolts, streams=streams, last=last, timeout=timeout, tasks=tasks,
                                                             sink=sink, to=to, port=port))

    def serve(self, *arguments, **more):
        self.write(**more)
        at = len(self.log())
        self.start(*arguments)
        self.wait_for(lambda: re.search(r"listens at 127.0.0.1:(\d+)", self.log()[at:]))
        self.port = int(re.search(r"listens at 127.0.0.1:(\d+)", self.log()[at:]).group(1))

    def ask(self, body="", path="/", method="POST", headers={}, timeout=8):
        """The status, what the answer says, and its headers. What does not run yet is asked again."""
        end = time.monotonic() + 10
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
            try:
                connection.request(method, path, body, headers)
                answer = connection.getresponse()
                text = answer.read()
            finally:
                connection.close()
            said = json.loads(text)
            if answer.status != 503 or "does not run" not in said.get("error", "") or time.monotonic() > end:
                return answer.status, said, answer.headers
            time.sleep(0.02)

    def ask_later(self, *arguments, **more):
        """Its answer is in the list that is returned, when it has come."""
        answers = []

        def run():
            try:
                answers.append(self.ask(*arguments, **more))
            except OSError as error:
                answers.append((0, {"error": str(error)}, {}))
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self.addCleanup(thread.join, 10)
        return answers

    GUARD = """  - id: guard
    className: gale.bolt.Filter
    properties:
      - {name: where, value: "body:find('bad') == nil or error('it is bad')"}
"""
    TO_GUARD = "  - {from: requests, to: guard, grouping: {type: SHUFFLE}}"


class Takes(Server):
    def test_a_request_is_a_tuple_and_answered_when_it_is_done(self):
        self.serve()
        for n in range(20):
            status, said, _ = self.ask(f"event {n}")
            self.assertEqual((status, said), (200, {"tuples": 1}))
            self.assertEqual(self.lines()[-1], f"event {n}")
        self.end()
        self.assertEqual(self.lines(), [f"event {n}" for n in range(20)])

    def test_many_at_once_on_connections_that_stay(self):
        self.serve()
        self.ask("first")

        def client(number):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            for n in range(100):
                connection.request("POST", "/", f"{number} {n}")
                answer = connection.getresponse()
                answer.read()
                statuses.append(answer.status)
            connection.close()
        statuses = []
        threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(statuses, [200] * 800)
        self.end()
        self.assertEqual(sorted(self.lines()), sorted(["first"] + [f"{number} {n}" for number in range(8) for n in range(100)]))

    def test_each_line_is_a_tuple(self):
        self.serve(spout=properties(format="lines"))
        self.assertEqual(self.ask("one\r\n\ntwo\nthree")[:2], (200, {"tuples": 3}))
        self.assertEqual(self.ask("")[:2], (200, {"tuples": 0}))
        self.assertEqual(self.ask("\n".join(map(str, range(20000))))[:2], (200, {"tuples": 20000}))
        self.end()
        self.assertEqual(self.lines(), ["one", "two", "three", *map(str, range(20000))])

    def test_a_packed_body_is_unpacked(self):
        def bare(data):
            packer = zlib.compressobj(wbits=-15)
            return packer.compress(data) + packer.flush()

        ways = {"gzip": gzip.compress, "x-gzip": gzip.compress, "GZip": gzip.compress, "deflate": zlib.compress, " deflate ": bare,
                "identity": bytes, "": bytes, "gzip, identity": gzip.compress, ",gzip,": gzip.compress,
                "deflate, gzip": lambda data: gzip.compress(zlib.compress(data)), "gzip,gzip": lambda data: gzip.compress(gzip.compress(data))}
        self.serve(spout=properties(format="lines", emit=["body"], maxBody=1 << 20))
        wanted = []
        for (name, pack), size in itertools.product(ways.items(), (1, 3, 1000)):
            lines = [f"{name.strip()} {i}" for i in range(size)]
            wanted += lines
            answer = self.ask(pack("\n".join(lines).encode()), headers={"Content-Encoding": name})
            self.assertEqual(answer[:2], (200, {"tuples": size}), name)
        members = gzip.compress(b"first\n") + gzip.compress(b"second\n")
        self.assertEqual(self.ask(members, headers={"Content-Encoding": "gzip"})[0], 200)
        self.assertEqual(self.ask(b"", headers={"Content-Encoding": "gzip"})[1], {"tuples": 0})
        self.assertEqual(self.ask(iter([gzip.compress(b"in pieces")]), headers={"Content-Encoding": "gzip"})[0], 200)
        self.assertEqual(self.ask("\ufeffmarked".encode())[0], 200)
        self.end()
        self.assertEqual(self.lines(), wanted + ["first", "second", "in pieces", "marked"])

    def test_all_that_a_request_has_is_emitted(self):
        fields = ["method", "path", "query", "headers", "remote", "time", "key", "body"]
        self.serve(spout=properties(emit=fields, path="/in"), to="{name: path, value: out.tsv}, {name: format, value: json}")
        before = time.time() * 1000
        self.assertEqual(self.ask(b"\xc3\xa4", "/in/b%20c?x=1&y", "PUT", {"X-One": "first", "Idempotency-Key": "k", "Authorization": "Bearer secret"})[0], 200)
        self.assertEqual(self.ask("", "/in")[0], 200)
        self.end()
        first, second = map(json.loads, self.lines())
        self.assertEqual({name: first[name] for name in ("method", "path", "query", "remote", "key", "body")},
                         {"method": "PUT", "path": "/in/b%20c", "query": "x=1&y", "remote": "127.0.0.1", "key": "k", "body": "ä"})
        self.assertEqual(first["headers"]["x-one"], "first")
        self.assertNotIn("secret", json.dumps(first))
        self.assertTrue(before - 1000 < first["time"] < before + 60000)
        self.assertEqual((second["method"], second["path"], second["query"], second["key"], second["body"]), ("POST", "/in", None, None, ""))

    def test_a_client_that_goes_away_takes_nothing_with_it(self):
        self.serve(sink="ExecSink", to=HELD)
        self.ask_later("first")
        with socket.create_connection(("127.0.0.1", self.port)) as one:
            one.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\ngone")
            time.sleep(0.3)
        (self.path / "go").touch()
        self.wait_for(lambda: "gone" in self.lines())
        self.assertEqual(self.ask("last")[0], 200)
        self.end()

    def test_clients_that_go_as_soon_as_they_have_asked(self):
        """Some before they are read, some while their answer is looked for, some behind that."""
        self.serve(sink="ExecSink", to=HELD)
        first, reset = self.ask_later("first"), struct.pack("ii", 1, 0)
        for n in range(600):
            with socket.create_connection(("127.0.0.1", self.port)) as one:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
                one.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\ngone")
                end = time.perf_counter() + n % 200 * 1e-6
                while time.perf_counter() < end:
                    pass
        (self.path / "go").touch()
        self.wait_for(lambda: first)
        self.assertEqual((first[0][0], self.ask("last")[0]), (200, 200))
        self.end()
        self.assertEqual(set(self.lines()), {"first", "gone", "last"})

    def test_what_waits_when_the_run_ends_is_told_to_come_again(self):
        self.serve("--end-within", "1", sink="ExecSink", to="{name: command, value: 'sleep 100'}")
        self.wait_for(lambda: self.ask(method="GET")[0] == 405)
        answers = self.ask_later("waits")
        time.sleep(0.3)
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        time.sleep(0.1)
        self.assertEqual(answers[0][0], 503, self.log())


class Refuses(Server):
    ends_with = 0

    def tearDown(self):
        """Of all that strangers began nothing is left; an address sanitizer's build fails at its end otherwise."""
        if self.process and self.process.poll() is None:
            self.nobody_left()
            self.end(self.ends_with)

    def test_what_is_rejected_is_told_why(self):
        """A line cannot have an end of line in it."""
        self.ends_with = 1
        with socket.create_server(("127.0.0.1", 0)) as sink:
            self.serve(sink="TcpSink", to=f"{{name: connect, value: '127.0.0.1:{sink.getsockname()[1]}'}}, {{name: framing, value: lines}}, {{name: format, value: text}}")
            status, said, _ = self.ask("two\nlines")
            self.assertEqual(status, 422, said)
            self.assertIn("end of line", said["error"])
            self.assertEqual(self.ask("one line")[0], 200)

    def test_what_fails_may_come_again(self):
        self.serve(bolts=self.GUARD, streams=self.TO_GUARD, last="guard", spout=properties(format="lines"))
        status, said, headers = self.ask("good\nbad\ngood too")
        self.assertEqual((status, headers["Retry-After"]), (503, "1"))
        self.assertIn("it is bad", said["error"])
        self.assertEqual(self.ask("good")[0], 200)
        self.end(1)
        self.assertEqual(sorted(self.lines()), ["good", "good", "good too"])

    def test_more_than_may_wait_are_told_to_come_again(self):
        self.serve(sink="ExecSink", to=HELD, spout=properties(maxRequests=3))
        self.wait_for(lambda: self.ask(method="GET")[0] == 405)
        answers = [self.ask_later(f"held {n}") for n in range(3)]
        time.sleep(0.3)
        status, said, headers = self.ask("more")
        self.assertEqual((status, headers["Retry-After"], said["error"]), (503, "1", "too many requests wait for their answers"))
        (self.path / "go").touch()
        self.wait_for(lambda: all(answers))
        self.assertEqual([answer[0][0] for answer in answers], [200] * 3)
        self.assertEqual(self.ask("more")[0], 200)

    def test_a_body_that_is_too_large_is_not_read(self):
        self.serve(spout=properties(maxBody=1000, memory=100000))
        self.assertEqual(self.ask("x" * 1000)[0], 200)
        status, said, _ = self.ask("x" * 1001)
        self.assertEqual((status, said["error"]), (413, "the body is too large: 1000 bytes at the most"))
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as one:
            one.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")
            self.assertIn(b"413", one.recv(1000))
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as one:
            one.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"400\r\n" + b"x" * 1024 + b"\r\n0\r\n\r\n")
            self.assertIn(b"413", one.recv(1000))
        self.assertEqual(self.ask("good")[0], 200)

    def test_what_cannot_be_unpacked_is_not_passed_on(self):
        self.serve(spout=properties(format="lines", emit=["body"], maxBody=1 << 16))
        whole = gzip.compress(b"one\ntwo\n" * 100)
        cases = [("br", b"x", 415, "'br' is not understood; gzip, deflate are"), ("gzip, zstd", b"x", 415, "'zstd' is not"),
                 ("gzip,gzip,gzip,gzip,gzip", b"x", 415, "more than 4"), ("compress", b"x", 415, "'compress'"),
                 ("gzip", b"plain", 400, "not what its Content-Encoding says"), ("gzip", whole[:-1], 400, "cut off"), ("gzip", whole[:20], 400, ""),
                 ("gzip", whole + b"more", 400, ""), ("deflate", zlib.compress(b"x") + b"y", 400, ""), ("deflate", b"\xff\xff", 400, ""),
                 ("gzip", gzip.compress(bytes(1 << 30)[: 40 << 20]), 413, "too large"),
                 ("gzip,gzip", gzip.compress(gzip.compress(bytes(40 << 20))), 413, "too large"), (None, whole, 415, "the body is gzip data"),
                 (None, "a".encode("utf-16"), 415, "the body is UTF-16 text"), ("gzip", gzip.compress("a".encode("utf-16")), 415, "UTF-16")]
        for coding, body, status, words in cases:
            with self.subTest(coding=coding, words=words):
                found, said, headers = self.ask(body, headers={"Content-Encoding": coding} if coding else {})
                self.assertEqual(found, status, said)
                self.assertIn(words, said["error"])
                self.assertEqual(headers.get("Accept-Encoding"), "gzip, deflate" if status == 415 else None)
        self.end()
        self.assertEqual(self.lines(), [])

    def test_a_head_that_can_be_read_in_two_ways_is_refused_and_its_connection_closed(self):
        self.serve()
        self.assertEqual(self.ask("first")[0], 200)
        for table, expected in ((heads.refused, (400, True)), (heads.too_large, (431, True)), (heads.taken, (200, False))):
            for name, data in table(b"/?a=b&c", b"text"):
                with socket.create_connection(("127.0.0.1", self.port), timeout=60) as one:
                    self.assertEqual(heads.answer(one, data), expected, name)
        for name, data in heads.taken_in_chunks(b"/?a=b&c", b"text"):
            with socket.create_connection(("127.0.0.1", self.port), timeout=60) as one:
                self.assertEqual(heads.answer(one, data)[0], 200, name)
        for name, packets in heads.hidden(b"/?a=b&c", b"text"):
            with socket.create_connection(("127.0.0.1", self.port), timeout=60) as one:
                self.assertLessEqual(len(heads.answers(one, packets)), 1, name)
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as one:
            most = b"/?" + b"&".join([b"a=b"] * 128)
            head = heads.of_lines(heads.START % most + b"Content-Length: 1\r\nX: " + b"x" * 14000 + b"\r\n", 128)
            self.assertEqual(heads.answer(one, head + b"x"), (200, False))

    def test_a_body_in_chunks_arrives_whatever_its_packets_are(self):
        self.serve()
        for name, body, packets in heads.dribbled(b"/", os.getpid()):
            with socket.create_connection(("127.0.0.1", self.port), timeout=60) as one:
                self.assertEqual(heads.answers(one, packets), [200], (name, body, packets))

    def test_half_heads_keep_nobody_waiting(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.serve(spout=properties(maxRequests=16, timeout=600))
        self.ask("x")
        half = []
        for _ in range(3000):
            half.append(socket.create_connection(("127.0.0.1", self.port), timeout=60))
            half[-1].sendall(b"POST / HTTP/1.1\r\nHost: ")
        self.assertEqual(self.ask("y", timeout=60)[0], 200)  # nothing else would make room in ten minutes
        for one in half:
            one.close()

    def test_heads_of_which_no_request_comes(self):
        """Their target was read, and then their head was too large, or ended."""
        self.serve()
        self.assertEqual(self.ask("first")[0], 200)
        arguments, line = "a=b&" * 4500, b"POST /?a=b HTTP/1.1\r\nHost: x\r\n"
        heads = [f"POST /?{arguments} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nx\n".encode(), line, line + b"X: a\r\n" * 5000, line + b"X\r\n\r\n",
                 b"POST /?" + b"x" * 20000, b"POST /?a=b HTTP/1.1\r\n"]
        for n in range(11):
            if n == 1:  # what so many connections need has been made
                before = self.memory()
            all_ = [socket.create_connection(("127.0.0.1", self.port), timeout=60) for _ in range(20 * len(heads))]
            for at, one in enumerate(all_):
                with contextlib.suppress(OSError):  # it was closed
                    one.sendall(heads[at % len(heads)])
                    one.shutdown(socket.SHUT_WR)
            for one in all_:
                with one, contextlib.suppress(OSError):
                    while one.recv(65536):
                        pass
        self.assertEqual(self.ask("last")[0], 200)
        if not SANITIZED:
            self.assertLess(self.memory() - before, 2048)

    def test_lines_need_memory_of_their_own(self):
        self.serve(spout=properties(format="lines", memory=100000))
        self.assertEqual(self.ask("x\n" * 10000)[0], 413)
        self.assertEqual(self.ask("x\n" * 100)[0], 200)

    def test_a_token(self):
        (self.path / "token").write_text("open sesame\n")
        self.serve(spout=properties(tokenFrom="token"))
        for headers in ({}, {"Authorization": "open sesame"}, {"Authorization": "Bearer open sesamf"}, {"Authorization": "Bearer open sesame "[:-2]}):
            status, said, answer = self.ask("x", headers=headers)
            self.assertEqual((status, answer["WWW-Authenticate"]), (401, "Bearer"))
        self.assertEqual(self.ask("x", headers={"Authorization": "bearer open sesame"})[0], 200)
        self.end()
        self.assertEqual(self.lines(), ["x"])
        self.assertNotIn("sesame", self.log())

    def test_paths_and_methods(self):
        self.serve(spout=properties(path="/in"))
        self.assertEqual([self.ask("x", path)[0] for path in ("/in", "/in/", "/in?x", "/inner", "/", "/IN")], [200, 200, 200, 404, 404, 404])
        status, _, headers = self.ask(path="/in", method="GET")
        self.assertEqual((status, headers["Allow"]), (405, "POST, PUT, PATCH"))

    def test_slow_and_hostile_clients_hold_nobody_up(self):
        self.serve(spout=properties(timeout=1))
        self.ask("x")
        slow = [socket.create_connection(("127.0.0.1", self.port), timeout=10) for _ in range(300)]
        for n, one in enumerate(slow):
            one.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n" + (b"Content-Length: 100\r\n\r\nx" if n % 2 else b"X-"))
        began = time.monotonic()
        self.assertEqual(self.ask("y")[0], 200)
        self.assertLess(time.monotonic() - began, 1)
        until = time.monotonic() + 10
        left = slow[:4]
        while left and time.monotonic() < until:
            for one in list(left):
                try:
                    one.sendall(b"x")
                    time.sleep(0.1)
                    one.setblocking(False)
                    if one.recv(1000) == b"":
                        left.remove(one)
                except BlockingIOError:
                    one.setblocking(True)
                except OSError:
                    left.remove(one)
        self.assertEqual(left, [], "it is fed a byte at a time, and not cut off")
        for one in slow:
            one.close()
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as one:
            try:
                one.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 100000)
                self.assertTrue(re.match(rb"HTTP/1.1 4|$", one.recv(1000)))
            except ConnectionError:
                pass
        self.assertEqual(self.ask("z")[0], 200)
        self.end()

    def test_a_thousand_connections_that_say_nothing_make_room(self):
        self.serve(spout=properties(maxRequests=16, timeout=30))
        self.ask("x")
        idle = [socket.create_connection(("127.0.0.1", self.port), timeout=10) for _ in range(800)]
        self.assertEqual(self.ask("y", timeout=15)[0], 200)
        for one in idle:
            one.close()
        self.end()


class Keys(Server):
    def test_a_key_counts_once(self):
        self.serve()
        key = {"Idempotency-Key": "a"}
        self.assertEqual([self.ask("x", headers=key)[:2] for _ in range(3)], [(200, {"tuples": 1})] * 3)
        self.assertEqual(self.ask("x", headers={"Idempotency-Key": "b"})[0], 200)
        status, said, _ = self.ask("another", headers=key)
        self.assertEqual((status, said["error"]), (422, "the Idempotency-Key came with another request before"))
        self.assertEqual(self.ask("x", headers={"Idempotency-Key": "c" * 256})[0], 400)
        self.end()
        self.assertEqual(self.lines(), ["x", "x"])

    def test_the_second_waits_for_the_first(self):
        self.serve(sink="ExecSink", to=HELD)
        self.wait_for(lambda: self.ask(method="GET")[0] == 405)
        answers = [self.ask_later("x", headers={"Idempotency-Key": "a"}) for _ in range(3)]
        time.sleep(0.3)
        self.assertEqual(answers, [[], [], []])
        (self.path / "go").touch()
        self.wait_for(lambda: all(answers))
        self.assertEqual([answer[0][0] for answer in answers], [200] * 3)
        self.end()
        self.assertEqual(self.lines(), ["x"])

    def test_a_failure_is_forgotten_and_a_rejection_is_not(self):
        with socket.create_server(("127.0.0.1", 0)) as sink:
            self.serve(bolts=self.GUARD, streams=self.TO_GUARD, last="guard",
                       sink="TcpSink", to=f"{{name: connect, value: '127.0.0.1:{sink.getsockname()[1]}'}}, {{name: framing, value: lines}}, {{name: format, value: text}}")
            failed = [self.ask("bad", headers={"Idempotency-Key": "a"})[:2] for _ in range(2)]
            self.assertEqual([status for status, _ in failed], [503, 503])
            rejected = [self.ask("two\nlines", headers={"Idempotency-Key": "b"})[:2] for _ in range(3)]
            self.assertEqual([status for status, _ in rejected], [422] * 3)
            self.assertEqual(rejected[0], rejected[2])
        self.process.kill()
        self.process.wait()
        self.assertEqual(len(re.findall("given up after 1 attempt: failed", self.log())), 2)
        self.assertEqual(len(re.findall("given up after 1 attempt: rejected", self.log())), 1)

    def test_a_key_is_forgotten_after_a_while(self):
        self.serve(spout=properties(idempotency=0.1))
        for _ in range(2):
            self.assertEqual(self.ask("x", headers={"Idempotency-Key": "a"})[0], 200)
            time.sleep(1.5)
        self.end()
        self.assertEqual(self.lines(), ["x", "x"])


class Durable(Server):
    KEY = {"Idempotency-Key": "a"}

    def kill(self):
        self.process.kill()
        self.process.wait()

    def test_what_was_answered_and_its_key_outlive_the_process(self):
        self.serve("--state", "state")
        began = time.monotonic()
        self.assertEqual(self.ask("x", headers=self.KEY)[:2], (200, {"tuples": 1}))
        self.assertEqual(self.ask("y")[0], 200)
        self.assertLess(time.monotonic() - began, 5)
        self.kill()
        self.serve("--state", "state")
        self.assertEqual(self.ask("x", headers=self.KEY)[:2], (200, {"tuples": 1}))
        self.assertEqual(self.ask("another", headers=self.KEY)[0], 422)
        self.assertEqual(self.ask("z")[0], 200)
        self.end()
        self.assertEqual(self.lines(), ["x", "y", "z"])

    def test_clients_that_try_again_count_once_whenever_it_is_killed(self):
        """Each makes its request until it is told 200."""
        self.serve("--state", "state")
        self.stopping, done = False, []

        def client(number):
            n = 0
            while not self.stopping:
                try:
                    if self.ask(f"{number} {n}", headers={"Idempotency-Key": f"{number}-{n}"}, timeout=4)[0] == 200:
                        done.append(f"{number} {n}")
                        n += 1
                except OSError:
                    time.sleep(0.01)
                except http.client.HTTPException:
                    pass
            counts[number] = n
        counts = {}
        threads = [threading.Thread(target=client, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(3):
            before = len(done)
            self.wait_for(lambda: len(done) > before + 20)
            self.kill()
            self.serve("--state", "state")
        before = len(done)
        self.wait_for(lambda: len(done) > before + 20)
        self.stopping = True
        for thread in threads:
            thread.join()
        self.end()
        lines = self.lines()
        self.assertEqual(len(lines), len(set(lines)), "some came twice")
        self.assertEqual(set(done) - set(lines), set())

    def test_what_was_open_goes_on(self):
        self.serve("--state", "state", sink="ExecSink", to=HELD)
        self.wait_for(lambda: self.ask(method="GET")[0] == 405)
        answers = self.ask_later("x", headers=self.KEY)
        time.sleep(1)
        self.kill()
        self.assertNotEqual([answer[0] for answer in answers], [200])
        (self.path / "go").touch()
        self.serve("--state", "state", sink="ExecSink", to=HELD)
        self.assertEqual(self.ask("x", headers=self.KEY)[:2], (200, {"tuples": 1}))
        self.end()
        self.assertEqual(self.lines()[-1:], ["x"])


class Words(Server):
    """What is wrong with a file is told before it runs."""

    def wrong(self, words, spout="", command="check", code=2, **more):
        self.write(spout=spout, **more)
        found, out, err = self.gale(command, "topology.yaml")
        self.assertEqual(found, code, out + err)
        self.assertIn(words, out + err)

    def test_addresses_and_fields(self):
        self.wrong("listen: '127.0.0.1:x' is no address", port="x")
        self.wrong("listen: '127.0.0.1:65536' is no address", port="65536")
        self.wrong("a request has no 'bodi'", properties(emit="path, bodi"))
        self.wrong("body stands twice", properties(emit="body, body"))
        self.wrong("path: it begins with a /", properties(path="in"))
        self.wrong("certificate: it is given without its key", properties(certificate="topology.yaml"))

    def test_what_cannot_be_opened_ends_the_run(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            self.wrong("Address already in use", command="run", code=3, port=taken.getsockname()[1])
        self.wrong("its parallelism is 1, not 2", command="run", tasks=2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
