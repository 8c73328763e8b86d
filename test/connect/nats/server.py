"""A NATS server with JetStream in a folder of its own on loopback, for tests: started, killed, hung, and started again; and a small client, to look into it."""

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
from pathlib import Path


def program():
    """None where there is none."""
    return shutil.which("nats-server") or (shutil.which("nats-server", path="/usr/sbin:/usr/local/sbin"))


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    def __init__(self, more="", **connect):
        """`more` is of its configuration; `connect` what its own client says of itself; `tls`, a context, and `sign`, which makes more of that of a nonce."""
        self.folder = tempfile.mkdtemp(prefix="gale-nats-")
        self.port = free_port()
        self.tls = connect.pop("tls", None)
        self.sign = connect.pop("sign", None)
        self.connect = connect
        Path(f"{self.folder}/conf").write_text(f"""
listen: "127.0.0.1:{self.port}"
jetstream: {{ store_dir: "{self.folder}/js" }}
{more}
""")
        self.start()

    @property
    def url(self):
        return f"{'tls' if self.tls else 'nats'}://127.0.0.1:{self.port}"

    def start(self):
        with open(f"{self.folder}/log", "a") as log:
            self.process = subprocess.Popen([program(), "-c", f"{self.folder}/conf"], stdout=log, stderr=log, cwd=self.folder)
        end = time.monotonic() + 60
        while True:
            try:
                with Client(self) as client:
                    client.api("INFO")
                return
            except (OSError, TimeoutError, KeyError):
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(Path(f"{self.folder}/log").read_text()[-2000:])
                time.sleep(0.02)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def hang(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def end_soon(self):
        """Lame duck mode."""
        self.process.send_signal(signal.SIGUSR2)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Client:
    """One connection, and one inbox."""

    def __init__(self, server, timeout=20):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=timeout)
        self.left = b""
        info = json.loads(self.line().removeprefix("INFO "))
        if server.tls:
            self.socket = server.tls.wrap_socket(self.socket, server_hostname="127.0.0.1")
        self.send("CONNECT " + json.dumps({"verbose": False, "pedantic": False, "headers": True, "no_responders": True, **server.connect,
                                            **(server.sign(info["nonce"]) if server.sign else {})}))
        self.inbox = f"_INBOX.{os.getpid()}.{id(self)}"
        self.send(f"SUB {self.inbox} 1", "PING")
        while self.line() != "PONG":
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *lines):
        self.socket.sendall("".join(line + "\r\n" for line in lines).encode())

    def more(self):
        part = self.socket.recv(1 << 20)
        if not part:
            raise OSError("the server has closed the connection")
        self.left += part

    def line(self):
        while b"\r\n" not in self.left:
            self.more()
        line, self.left = self.left.split(b"\r\n", 1)
        if line.startswith(b"-ERR"):
            raise OSError(line.decode())
        return line.decode()

    def take(self, size):
        while len(self.left) < size + 2:
            self.more()
        data, self.left = self.left[:size], self.left[size + 2:]
        return data

    def message(self):
        """Subject, where an answer goes to, headers, payload."""
        while True:
            line = self.line()
            if line == "PING":
                self.send("PONG")
            words = line.split()
            if words and words[0] == "MSG":
                return words[1], words[3] if len(words) > 4 else "", "", self.take(int(words[-1]))
            if words and words[0] == "HMSG":
                head, size = int(words[-2]), int(words[-1])
                data = self.take(size)
                return words[1], words[3] if len(words) > 5 else "", data[:head].decode(errors="surrogateescape"), data[head:]

    def ask(self, subject, payload=b"", headers=None):
        self.publish(subject, payload, headers, self.inbox)
        return self.message()

    def publish(self, subject, payload=b"", headers=None, reply=""):
        payload = payload.encode() if isinstance(payload, str) else payload
        if headers:
            head = ("NATS/1.0\r\n" + "".join(f"{name}: {text}\r\n" for name, text in headers) + "\r\n").encode()
            self.socket.sendall(f"HPUB {subject} {reply} {len(head)} {len(head) + len(payload)}\r\n".encode() + head + payload + b"\r\n")
        else:
            self.socket.sendall(f"PUB {subject} {reply} {len(payload)}\r\n".encode() + payload + b"\r\n")

    def api(self, what, /, **body):
        answer = json.loads(self.ask(f"$JS.API.{what}", json.dumps(body) if body else b"")[3])
        if "error" in answer:
            raise KeyError(answer["error"]["description"])
        return answer

    def make_stream(self, name, *subjects, **more):
        return self.api(f"STREAM.CREATE.{name}", name=name, subjects=list(subjects), retention="limits", storage="file", num_replicas=1, max_consumers=-1,
                        max_msgs=more.pop("max_msgs", -1), max_bytes=-1, discard=more.pop("discard", "old"), **more)

    def fill(self, subject, payloads, headers=None):
        """Many messages; each is in its stream then. `subject` may be a function of the number."""
        wait = 0
        for number, payload in enumerate(payloads):
            self.publish(subject(number) if callable(subject) else subject, payload, headers, self.inbox)
            wait += 1
            if wait == 500:
                for _ in range(wait):
                    self.confirmed()
                wait = 0
        for _ in range(wait):
            self.confirmed()

    def confirmed(self):
        answer = json.loads(self.message()[3])
        if "error" in answer:
            raise KeyError(answer["error"]["description"])

    def state(self, stream):
        return self.api(f"STREAM.INFO.{stream}")["state"]

    def consumer(self, stream, name):
        return self.api(f"CONSUMER.INFO.{stream}.{name}")

    def read(self, stream, subject=""):
        """All messages of a stream as (subject, headers, payload), by a consumer that does not last."""
        config = {"deliver_policy": "all", "ack_policy": "none", "inactive_threshold": 5_000_000_000, **({"filter_subject": subject} if subject else {})}
        made = self.api(f"CONSUMER.CREATE.{stream}", stream_name=stream, config=config)
        left, found = made["num_pending"], []
        while left:
            count = min(left, 5000)
            self.publish(f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{made['name']}", json.dumps({"batch": count, "expires": 10_000_000_000}), None, self.inbox)
            for _ in range(count):
                on, _, headers, payload = self.message()
                found.append((on, headers, payload))
            left -= count
        self.api(f"CONSUMER.DELETE.{stream}.{made['name']}")
        return found


def context(ca):
    """Of a client that knows who has signed the server's certificate."""
    made = ssl.create_default_context(cafile=ca)
    made.check_hostname = False
    return made
