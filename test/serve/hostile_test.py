#!/usr/bin/env python3
"""Hostile clients: nothing is let in, memory is bounded, and the topology goes on.

usage: hostile_test.py GALE SANITIZED
"""

import contextlib
import json
import resource
import socket
import sys
import threading
import unittest
from pathlib import Path

import heads
import rig
from heads import answer

rig.Case.gale = str(Path(sys.argv[1]).resolve())
CONNECTIONS = 10_000
SANITIZED = sys.argv[2:] == ["1"]  # its memory is another's


def memory(run):
    """KiB that the process has resident."""
    text = Path(f"/proc/{run.process.pid}/status").read_text()
    return int(next(line for line in text.splitlines() if line.startswith("VmRSS")).split()[1])


def descriptors(run):
    return len(list(Path(f"/proc/{run.process.pid}/fd").iterdir()))


class Hostile(rig.Case):
    def setUp(self):
        self.run_ = self.run_words()
        self.run_.acked(1)
        self.trees = 1

    def tearDown(self):
        """Of all that strangers began nothing is left; an address sanitizer's build fails at its end otherwise."""
        if self.run_.process.poll() is None:
            self.run_.nobody_left()
            self.assertEqual(self.run_.end(), 0, self.run_.text())

    def still_well(self):
        """It answers who has the token, and the topology takes what comes."""
        self.trees += 1
        with open(self.run_.path / "in.txt", "a") as file:
            file.write("more words\n")
        self.run_.acked(self.trees)

    def grew_less_than(self, kibibytes, before):
        if not SANITIZED:
            self.assertLess(memory(self.run_) - before, kibibytes)

    def status(self, request):
        said = self.run_.raw(request.encode() if isinstance(request, str) else request)
        return int(said.split()[1]) if said.startswith(b"HTTP/") else None

    def get(self, path, *headers, method="GET", host=None):
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.run_.port}'}", "Connection: close", *headers]
        return self.status("\r\n".join(lines) + "\r\n\r\n")

    def bearer(self):
        return f"Authorization: Bearer {self.run_.token}"

    # --- Who is not let in ---

    def test_wrong_tokens(self):
        for token in "", "x", self.run_.token[:-1], self.run_.token + "0", self.run_.token.upper(), "%00", "0" * 48:
            self.assertEqual(self.get("/api/gale/v1/now", f"Authorization: Bearer {token}"), 401, token)
            self.assertIn(self.get(f"/api/gale/v1/now?token={token}"), (400, 401), token)
            self.assertEqual(self.get("/api/gale/v1/now", f"Cookie: gale_token_{self.run_.port}={token}"), 401, token)
        self.still_well()

    def test_foreign_hosts(self):
        for host in "evil.example", f"evil.example:{self.run_.port}", "127.0.0.1.evil.example", "169.254.169.254", "0.0.0.0":
            self.assertEqual(self.get("/api/gale/v1/now", self.bearer(), host=host), 421, host)
            self.assertEqual(self.get("/", host=host), 421, host)
            self.assertEqual(self.get("/healthz", host=host), 421, host)
        for host in "localhost", "LOCALHOST:1", "[::1]":
            self.assertEqual(self.get("/api/gale/v1/now", self.bearer(), host=host), 200, host)

    def test_posts_of_other_sites(self):
        cookie, path = f"Cookie: gale_token_{self.run_.port}={self.run_.token}", "/api/gale/v1/kill"
        for headers in (["Origin: http://evil.example", "Content-Type: application/json"],
                        ["Sec-Fetch-Site: cross-site", "X-Gale: 1"], ["Sec-Fetch-Site: same-site", "X-Gale: 1"],
                        ["Origin: null", "X-Gale: 1"], ["Content-Type: text/plain"],
                        ["Content-Type: application/x-www-form-urlencoded"], ["Content-Type: multipart/form-data; boundary=x"], []):
            self.assertEqual(self.get(path, cookie, "Content-Length: 0", *headers, method="POST"), 403, headers)
        self.assertEqual(self.get(path, self.bearer(), "Origin: http://evil.example", "Content-Length: 0", method="POST"), 403)
        for method in "GET", "HEAD":
            self.assertEqual(self.get(path, cookie, method=method), 405)
        self.still_well()

    def test_no_answer_may_be_read_by_another_site(self):
        for path in "/api/gale/v1/now", "/", "/healthz":
            headers = self.run_.ask(path, headers={"Origin": "http://evil.example"})[1]
            self.assertEqual([name for name in headers if name.lower().startswith("access-control")], [])
            self.assertEqual(headers["Cross-Origin-Resource-Policy"], "same-origin")
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")

    # --- What is no request ---

    def test_paths_that_lead_elsewhere(self):
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/./x", "/api/../../etc/passwd"):
            self.assertEqual(self.get(path, self.bearer()), 400, path)
        for path in "/etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/api/gale/v1/now/../../x/..", "/page.js/../now", "\\etc\\passwd":
            self.assertIn(self.get(path, self.bearer()), (400, 404), path)

    def test_bytes_that_are_no_text(self):
        for path in "/%ff", "/%c3", "/%00", "/%0d%0aSet-Cookie:x", "/%zz", "/?a=%f0%28", "/api/v1/topology/%ed%a0%80":
            self.assertEqual(self.get(path, self.bearer()), 400, path)
        self.assertIn(self.status(b"GET /\xff\xfe HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), (400, None))
        for junk in b"\x16\x03\x01\x02\x00\x01\x00", b"\x00" * 1000, b"\xff" * 1000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 500:
            self.run_.raw(junk, shut=True)
        self.still_well()

    def test_names_that_come_back_are_no_html(self):
        status, headers, text = self.run_.ask("/api/v1/topology/%3Cscript%3Ealert(1)%3C%2Fscript%3E")
        self.assertEqual((status, headers["Content-Type"]), (404, "application/json"))
        self.assertNotIn(b"<script>", text)

    # --- Too much ---

    def test_heads_that_are_too_large(self):
        self.assertIn(self.get("/" + "a" * 100_000), (400, 413, 414, 431, None))
        self.assertIn(self.get("/x", "X: " + "a" * 100_000), (400, 413, 431, None))
        self.assertIn(self.get("/x", *(f"X-{i}: a" for i in range(5000))), (400, 413, 431, None))
        self.assertEqual(self.get("/" + "a" * 3000), 400)
        self.assertEqual(self.get("/" + "a/" * 100), 400)
        self.assertEqual(self.get("/?" + "a&" * 100), 400)
        self.still_well()

    def answers(self, heads):
        for name, data in heads(b"/api/gale/v1/log-level", b'{"level": "warn"}', self.bearer().encode() + b"\r\n"):
            with socket.create_connection(("127.0.0.1", self.run_.port), timeout=rig.PATIENCE) as sock:
                yield name, answer(sock, data)

    def test_a_head_that_can_be_read_in_two_ways_is_refused_and_its_connection_closed(self):
        for name, said in self.answers(heads.refused):
            self.assertEqual(said, (400, True), name)
        for name, said in self.answers(heads.too_large):
            self.assertEqual(said, (431, True), name)
        for name, said in self.answers(heads.taken):
            self.assertEqual(said, (200, False), name)
        for name, said in self.answers(heads.taken_in_chunks):
            self.assertEqual(said[0], 200, name)
        self.still_well()

    def test_nothing_hides_behind_a_request_in_chunks(self):
        for name, packets in heads.hidden(b"/api/gale/v1/log-level", b'{"level": "warn"}', self.bearer().encode() + b"\r\n"):
            with socket.create_connection(("127.0.0.1", self.run_.port), timeout=rig.PATIENCE) as sock:
                self.assertLessEqual(len(heads.answers(sock, packets)), 1, name)
        self.still_well()

    def test_heads_of_which_no_request_comes(self):
        """Their target was read, and then their head was too large, or ended."""
        before = memory(self.run_)
        arguments, line = "a=b&" * 2000, b"GET /?a=b HTTP/1.1\r\nHost: localhost\r\n"
        heads = [f"GET /?{arguments} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(), f"POST /?{arguments} HTTP/1.1\r\nContent-Length: 9\r\n\r\nx".encode(),
                 line, line + b"X: ", line + b"X: a\r\n" * 5000, b"GET /?a=b HTTP/1.1\r\n", line + b"X\r\n\r\n"]
        for _ in range(100):
            for head in heads:
                with socket.create_connection(("127.0.0.1", self.run_.port), timeout=rig.PATIENCE) as sock:
                    with contextlib.suppress(OSError):  # it was closed
                        sock.sendall(head)
                        sock.shutdown(socket.SHUT_WR)
                        while sock.recv(65536):
                            pass
        self.still_well()
        self.grew_less_than(1024, before)

    def test_bodies_of_strangers_are_not_kept(self):
        socks = []
        head = b"POST /api/gale/v1/log-level HTTP/1.1\r\nHost: localhost\r\nContent-Length: 65536\r\n\r\n"
        before = memory(self.run_)
        try:
            for _ in range(120):
                sock = socket.create_connection(("127.0.0.1", self.run_.port), timeout=rig.PATIENCE)
                socks.append(sock)
                sock.sendall(head + b"x" * 65000)
            self.still_well()
            self.grew_less_than(120 * 40, before)
            for sock in socks:
                sock.sendall(b"x" * 536)
                self.assertIn(b" 401 ", sock.recv(65536))
        finally:
            for sock in socks:
                sock.close()

    def test_bodies_that_are_too_large(self):
        path = "/api/gale/v1/log-level"
        self.assertEqual(self.get(path, self.bearer(), "Content-Length: 99999999999", method="POST"), 413)
        status, _, _ = self.run_.ask(path, "POST", b"x" * 65536)
        self.assertEqual(status, 400)
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{self.bearer()}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        chunks = b"".join(b"1000\r\n" + b"x" * 4096 + b"\r\n" for _ in range(40)) + b"0\r\n\r\n"
        self.assertEqual(self.status(head.encode() + chunks), 413)
        for length in "-1", "x", "18446744073709551616":
            self.assertIn(self.get(path, self.bearer(), f"Content-Length: {length}", method="POST"), (400, 413, None), length)
        self.still_well()

    def test_bodies_that_are_no_json(self):
        for body in b"", b"{", b"[]", b"null", b'{"level": 1}', b'{"level": "x", "level": "y"}', b"[" * 60000, b'{"level": "\xff"}', b"\x00":
            for path in "/api/gale/v1/log-level", "/api/v1/topology/served/logconfig":
                self.assertIn(self.run_.ask(path, "POST", body)[0], (400, 409), body[:20])
        self.still_well()

    def test_ten_thousand_connections(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        count = min(CONNECTIONS, (hard if hard > 0 else CONNECTIONS) - 100)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, CONNECTIONS + 100)), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        before = memory(self.run_)
        socks = []
        try:
            for _ in range(count):
                sock = socket.socket()
                sock.setblocking(False)
                sock.connect_ex(("127.0.0.1", self.run_.port))
                socks.append(sock)
                try:
                    sock.send(b"GET /healthz HTTP/1.1\r\nHost: ")
                except OSError:
                    pass
            control = lambda: self.run_.json("/api/gale/v1/now", connection=rig.UnixConnection(self.run_.control()))
            with open(self.run_.path / "in.txt", "a") as file:
                file.write("more\n")
            rig.until(lambda: control()["trees"]["acked"] >= 2, "the owner's answer")
            # A second each for what one may have taken would be over a minute.
            with socket.create_connection(("127.0.0.1", self.run_.port), timeout=30) as sock:
                sock.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertIn(b" 200 ", sock.recv(65536))
            self.assertLess(descriptors(self.run_), 300)
            self.grew_less_than(64 * 1024, before)
        finally:
            for sock in socks:
                sock.close()
        self.trees = 2
        self.still_well()

    def test_readers_who_do_not_read(self):
        before = memory(self.run_)
        socks = []
        request = f"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n{self.bearer()}\r\n\r\n".encode()
        try:
            for _ in range(100):
                sock = socket.socket()
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
                sock.connect(("127.0.0.1", self.run_.port))
                sock.sendall(request * 20)
                socks.append(sock)
            self.still_well()
            self.grew_less_than(128 * 1024, before)
        finally:
            for sock in socks:
                sock.close()

    def test_who_goes_away_in_the_middle(self):
        head = f"POST /api/gale/v1/log-level HTTP/1.1\r\nHost: localhost\r\n{self.bearer()}\r\nContent-Length: 100\r\n\r\n".encode()
        for data in head, head + b"{", head[:20], f"GET /api/gale/v1/open-trees HTTP/1.1\r\nHost: localhost\r\n{self.bearer()}\r\n\r\n".encode():
            for _ in range(20):
                with socket.create_connection(("127.0.0.1", self.run_.port)) as sock:
                    sock.sendall(data)
        self.still_well()
        rig.until(lambda: descriptors(self.run_) < 60, "the end of the connections")

    def test_all_at_once_while_it_ends(self):
        stop = threading.Event()

        def ask():
            while not stop.is_set():
                try:
                    self.run_.ask("/api/gale/v1/open-trees")
                except OSError:
                    return

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        self.still_well()
        self.assertEqual(self.run_.end(), 0)
        stop.set()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
