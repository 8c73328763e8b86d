"""A Redis server in a folder of its own on loopback, for tests: started, killed, hung, and started again; and a client of a few lines, which knows RESP and nothing else."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path


def program():
    return shutil.which("redis-server")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Wrong(Exception):
    """What the server says is wrong."""


class Client:
    def __init__(self, address, password=None):
        self.socket = socket.socket(socket.AF_UNIX) if isinstance(address, str) else socket.socket()
        self.socket.settimeout(30)
        try:
            self.socket.connect(address)
        except OSError:
            self.socket.close()
            raise
        self.file = self.socket.makefile("rb")
        if password:
            self("AUTH", password)

    @staticmethod
    def pack(words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)

    def send(self, commands):
        self.socket.sendall(b"".join(map(self.pack, commands)))

    def reply(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server is gone")
        kind, text = line[:1], line[1:-2]
        if kind == b"-":
            return Wrong(text.decode())
        if kind == b":":
            return int(text)
        if kind == b"$":
            return None if text == b"-1" else self.file.read(int(text) + 2)[:-2].decode(errors="surrogateescape")
        if kind == b"*":
            return None if text == b"-1" else [self.reply() for _ in range(int(text))]
        return text.decode()

    def __call__(self, *words):
        self.send([words])
        said = self.reply()
        if isinstance(said, Wrong):
            raise said
        return said

    def many(self, commands, at_once=1000):
        """All their replies."""
        said = []
        for at in range(0, len(commands), at_once):
            self.send(commands[at:at + at_once])
            said += [self.reply() for _ in commands[at:at + at_once]]
        return said

    def close(self):
        self.file.close()
        self.socket.close()


class Server:
    def __init__(self, *settings, password=None, sure=False, port=None):
        """With `sure`, what it has confirmed is on its disk."""
        self.folder = tempfile.mkdtemp(prefix="gale-redis-")
        self.port = port or free_port()
        self.password = password
        self.path = f"{self.folder}/socket"
        words = ["--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", self.path, "--dir", self.folder, "--save", "", "--daemonize", "no",
                 "--appendonly", "yes" if sure else "no", "--appendfsync", "always", "--loglevel", "notice", "--shutdown-timeout", "0"]
        if password:
            words += ["--requirepass", password]
        self.words = [program(), *words, *settings]
        self.kept = None
        self.start()

    def start(self):
        with open(f"{self.folder}/log", "a") as log:
            self.process = subprocess.Popen(self.words, stdout=log, stderr=log, cwd=self.folder)
        end = time.monotonic() + 60
        while True:
            try:
                self.kept = Client(self.path, self.password)
                if self.kept("PING") == "PONG":
                    return
            except OSError:
                pass
            except Wrong:  # it reads what it had
                self.kept.close()
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError(Path(f"{self.folder}/log").read_text()[-2000:])
            time.sleep(0.02)

    def client(self):
        return Client(self.path, self.password)

    def __call__(self, *words):
        return self.kept(*words)

    def many(self, commands):
        return self.kept.many(commands)

    def kill(self):
        self.kept.close()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def hang(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def go_on(self):
        os.kill(self.process.pid, signal.SIGCONT)

    def close(self):
        if self.process.poll() is None:
            self.kept.close()
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
