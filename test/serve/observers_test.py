#!/usr/bin/env python3
"""Observers of every kind keep no run from ending, and none from being changed: slow ones, expensive ones, stopped ones, a thousand at once.

usage: observers_test.py GALE
"""

import resource
import select
import signal
import socket
import subprocess
import sys
import unittest
import urllib.parse
from pathlib import Path

import rig

rig.Case.gale = str(Path(sys.argv[1]).resolve())
LIMIT = 60
THOUSAND = 1000
EXPENSIVE = ("(function() local function f(...) for i = 1, 1e9 do local x = math.max(...) end end local t = {} "
             "for i = 1, 4000 do t[i] = i end return f(table.unpack(t)) end)()")


class Observers(rig.Case):
    def setUp(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4 * THOUSAND)), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.run_ = self.run_words(lines=["one two three"] * 1000)
        self.run_.begun()
        self.run_.acked(1000)

    def open(self, path, read=0, **query):
        """Asks, reads so many bytes, and holds on to the connection."""
        sock = socket.socket()
        self.addCleanup(sock.close)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        sock.connect(("127.0.0.1", self.run_.port))
        target = path + "?" + urllib.parse.urlencode({**query, "token": self.run_.token})
        sock.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        if read:
            self.assertTrue(sock.recv(read))
        return sock

    def command(self, *words):
        env = {"XDG_RUNTIME_DIR": str(self.run_.runtime), "PATH": "/usr/bin:/bin"}
        process = subprocess.Popen([self.gale, *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def feed(self):
        with open(self.run_.path / "in.txt", "a") as file:
            file.write("four five six\n" * 2000)

    # --- Kinds: each returns when it looks ---

    def unread_taps(self):
        for _ in range(12):
            self.open("/api/gale/v1/tap", read=20, component="split", rate=10000)
        self.feed()

    def expensive_taps(self):
        for _ in range(12):
            self.open("/api/gale/v1/tap", read=20, component="split", rate=10000, where=EXPENSIVE)
        self.feed()

    def answers_read_halfway(self):
        for _ in range(20):
            self.open("/api/gale/v1/history", read=10, seconds=600)
            self.open("/openapi.json", read=10)
            self.open("/api/gale/v1/now", read=10)

    def streams_of_the_end(self):
        for _ in range(12):
            self.open("/api/gale/v1/end", read=10)

    def stopped_commands(self):
        for words in (["top", "served"], ["tap", "served", "split", "--rate", "10000"]):
            process = self.command(*words)
            rig.until(lambda: self.feed() or select.select([process.stdout], [], [], 0.1)[0], f"what {words} show")
            process.send_signal(signal.SIGSTOP)
        self.feed()

    def a_thousand_connections(self):
        for n in range(THOUSAND):
            sock = socket.socket()
            self.addCleanup(sock.close)
            sock.setblocking(False)
            sock.connect_ex(("127.0.0.1", self.run_.port))
            if n % 2:
                try:
                    sock.send(b"GET /livez HTTP/1.1\r\nHost: ")
                except OSError:
                    pass

    KINDS = (unread_taps, expensive_taps, answers_read_halfway, streams_of_the_end, stopped_commands, a_thousand_connections)

    def test_no_kind_keeps_a_run_from_ending(self):
        for kind in self.KINDS:
            with self.subTest(kind=kind.__name__):
                self.setUp()
                kind(self)
                self.run_.process.send_signal(signal.SIGTERM)
                self.assertEqual(self.run_.process.wait(LIMIT), 0, self.run_.text())

    def test_no_kind_keeps_a_run_from_being_changed(self):
        for kind in self.KINDS:
            with self.subTest(kind=kind.__name__):
                self.setUp()
                kind(self)
                env = {"XDG_RUNTIME_DIR": str(self.run_.runtime), "PATH": "/usr/bin:/bin"}
                done = subprocess.run([self.gale, "reload", "served"], env=env, capture_output=True, text=True, timeout=LIMIT)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.run_.end(), 0)

    def test_all_at_once_keep_no_run_from_ending_at_once(self):
        for kind in (Observers.answers_read_halfway, Observers.stopped_commands, Observers.a_thousand_connections):
            kind(self)
        self.run_.process.send_signal(signal.SIGTERM)
        rig.until(lambda: self.run_.process.poll() is not None or self.run_.process.send_signal(signal.SIGTERM), "its end")
        self.assertIn(self.run_.process.returncode, (0, 143))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
