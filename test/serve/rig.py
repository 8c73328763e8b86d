"""A running topology, and who asks it: plain sockets and http.client, so that what is sent is what a test says."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from living import nobody_left

PATIENCE = 120

WORDS = """\
name: served
config: {{ {config} }}
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{{ name: path, value: in.txt }}, {{ name: follow, value: true }}]
bolts:
  - id: split
    className: gale.bolt.Split
  - id: count
    className: gale.bolt.Count
    parallelism: 3
streams:
  - {{ from: lines, to: split, grouping: {{ type: SHUFFLE }} }}
  - {{ from: split, to: count, grouping: {{ type: FIELDS, args: [word] }} }}
"""

# A line that is no number, or is 0, is given up.
LETTERS = """\
name: letters
config: { topology.dead_letters.file: letters.json }
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{ name: path, value: in.txt }, { name: follow, value: true }]
bolts:
  - id: number
    className: gale.bolt.Map
    properties: { set: { n: "1 // tonumber(line)" } }
streams:
  - { from: lines, to: number, grouping: { type: SHUFFLE } }
"""


def until(condition, what):
    """Waits for an event, however long the machine takes."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what} did not come")


def samples(text):
    """Of /metrics: {name: {labels: value}}"""
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels, value = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line).groups()
            found.setdefault(name, {})[labels or ""] = float(value)
    return found


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.path)


class Run:
    """`gale run` with its doors."""

    def __init__(self, test, gale, text, *options, lines=("one two three",), listen=True, before=None):
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.runtime = self.path / "runtime"
        self.runtime.mkdir(mode=0o700)
        (self.path / "served.yaml").write_text(text)
        (self.path / "in.txt").write_text("".join(line + "\n" for line in lines))
        if before:
            before(self.path)
        self.said = open(self.path / "said.txt", "w+")
        test.addCleanup(self.said.close)
        words = [gale, "run", "served.yaml", *(["--listen", ":0"] if listen else []), *options]
        env = dict(os.environ, XDG_RUNTIME_DIR=str(self.runtime))
        self.process = subprocess.Popen(words, cwd=self.path, stdout=self.said, stderr=subprocess.STDOUT, env=env)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)
        if listen:
            self.url = until(lambda: self.find(r"https?://\S+"), f"the address of {words}")
            self.port = int(re.search(r":(\d+)/", self.url).group(1))
            self.token = self.url.partition("token=")[2]

    def text(self):
        return (self.path / "said.txt").read_text()

    def find(self, pattern):
        found = re.search(pattern, self.text())
        if not found and self.process.poll() is not None:
            raise AssertionError(f"it ended: {self.text()}")
        return found.group() if found else None

    def listened(self):
        """The owner's socket, if somebody listens: it has its path a moment before."""
        for path in (self.runtime / "gale").glob(f"*.{self.process.pid}.sock"):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
                if sock.connect_ex(str(path)) == 0:
                    return path
        return None

    def control(self):
        """The owner's socket."""
        return until(self.listened, "the socket")

    def begun(self):
        """Waits until all is open: a signal before that is the end of a run that has not begun, which is no success."""
        path = self.control()
        until(lambda: self.json("/api/gale/v1/now", connection=UnixConnection(path))["phase"] == "running", "its begin")

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(self, path, method="GET", body=None, headers=None, connection=None, token=True):
        """The status, the headers and the body."""
        connection = connection or self.connect()
        headers = dict(headers or {})
        if token and getattr(self, "token", None):
            headers.setdefault("Authorization", f"Bearer {self.token}")
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def json(self, path, method="GET", body=None, **options):
        """The body of an answer that is good. 503 is: ask again, for executors may be slow to answer on a machine that is."""
        def answered():
            status, _, text = self.ask(path, method, body, **options)
            return (status, text) if status != 503 else None
        status, text = until(answered, f"an answer to {path}")
        assert 200 <= status < 300, (path, status, text)
        return json.loads(text)

    def raw(self, data, shut=False):
        """All that is answered to these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as sock:
            try:
                sock.sendall(data)
                if shut:
                    sock.shutdown(socket.SHUT_WR)
                said = b""
                while piece := sock.recv(65536):
                    said += piece
                return said
            except OSError:  # it was closed, as it may be
                return b""

    def acked(self, count):
        return until(lambda: self.json("/api/gale/v1/now")["trees"]["acked"] >= count, f"{count} acks")

    def nobody_left(self):
        """All clients have gone: neither a connection nor a request, a stream or a tap lives."""
        path = self.control()
        nobody_left(lambda: self.json("/api/gale/v1/now", connection=UnixConnection(path)), until)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


class Case(unittest.TestCase):
    gale = None

    def run_words(self, *options, config="a: 1", **more):
        return Run(self, self.gale, WORDS.format(config=config), *options, **more)
