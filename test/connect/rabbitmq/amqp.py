"""As much of AMQP 0-9-1 as tests need of a client: queues, exchanges, messages with their properties, confirms, gets and acks. One channel."""

import socket
import struct
from collections import deque

PROPERTIES = ["content_type", "content_encoding", "headers", "delivery_mode", "priority", "correlation_id", "reply_to", "expiration",
              "message_id", "timestamp", "type", "user_id", "app_id", "cluster_id"]


class Closed(Exception):
    """The server has closed the connection or its channel: its code and words."""


def short(text):
    data = text if isinstance(text, bytes) else text.encode()
    return bytes([len(data)]) + data


def long(data):
    return struct.pack(">I", len(data)) + data


def value(one):
    if isinstance(one, bool):
        return b"t" + bytes([one])
    if isinstance(one, int):
        return b"l" + struct.pack(">q", one)
    if isinstance(one, float):
        return b"d" + struct.pack(">d", one)
    if isinstance(one, str):
        return b"S" + long(one.encode())
    if isinstance(one, (bytes, bytearray)):
        return b"x" + long(bytes(one))
    if isinstance(one, dict):
        return b"F" + table(one)
    if isinstance(one, list):
        return b"A" + long(b"".join(map(value, one)))
    return b"V"


def table(pairs):
    return long(b"".join(short(name) + value(one) for name, one in pairs.items()))


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        found, = struct.unpack_from(">" + form, self.data, self.at)
        self.at += struct.calcsize(">" + form)
        return found

    def bytes(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def short(self):
        return self.bytes(self.take("B")).decode()

    def long(self):
        return self.bytes(self.take("I"))

    def value(self):
        kind = chr(self.take("B"))
        if kind in "bBsuIilLfd":
            return self.take({"b": "b", "B": "B", "s": "h", "u": "H", "I": "i", "i": "I", "l": "q", "L": "Q", "f": "f", "d": "d"}[kind])
        if kind == "t":
            return bool(self.take("B"))
        if kind == "T":
            return self.take("Q")
        if kind == "S":
            return self.long().decode()
        if kind == "x":
            return self.long()
        if kind == "F":
            return self.table()
        if kind == "A":
            inner, found = Reader(self.long()), []
            while inner.at < len(inner.data):
                found.append(inner.value())
            return found
        return None

    def table(self):
        inner, found = Reader(self.long()), {}
        while inner.at < len(inner.data):
            name = inner.short()
            found[name] = inner.value()
        return found


def properties(given):
    flags, data = 0, b""
    for place, name in enumerate(PROPERTIES):
        one = given.get(name)
        if one is None:
            continue
        flags |= 1 << (15 - place)
        if name == "headers":
            data += one if isinstance(one, bytes) else table(one)
        elif name in ("delivery_mode", "priority"):
            data += bytes([one])
        elif name == "timestamp":
            data += struct.pack(">Q", one)
        else:
            data += short(one)
    return struct.pack(">H", flags) + data


def read_properties(reader):
    flags, found = reader.take("H"), {}
    for place, name in enumerate(PROPERTIES):
        if not flags & 1 << (15 - place):
            continue
        if name == "headers":
            found[name] = reader.table()
        elif name in ("delivery_mode", "priority"):
            found[name] = reader.take("B")
        elif name == "timestamp":
            found[name] = reader.take("Q")
        else:
            found[name] = reader.short()
    return found


class Message:
    def __init__(self, **found):
        self.__dict__.update(found)


class Connection:
    def __init__(self, port, user="guest", password="guest", vhost="/", confirms=True):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer, self.published, self.unconfirmed, self.later = b"", 0, 0, deque()
        try:
            self.socket.sendall(b"AMQP\x00\x00\x09\x01")
            self.wait_for(10, 10)
            capabilities = {"capabilities": {"publisher_confirms": True, "basic.nack": True, "authentication_failure_close": True}}
            self.send(0, 10, 11, table(capabilities) + short("PLAIN") + long(f"\0{user}\0{password}".encode()) + short("en_US"))
            self.wait_for(10, 30)
            self.send(0, 10, 31, struct.pack(">HIH", 64, 131072, 0))
            self.send(0, 10, 40, short(vhost) + short("") + b"\0")
            self.wait_for(10, 41)
            self.ask(20, 10, short(""), 11)
            if confirms:
                self.ask(85, 10, b"\0", 11)
        except BaseException:
            self.socket.close()
            raise

    def close(self):
        try:
            self.ask(10, 50, struct.pack(">H", 200) + short("") + struct.pack(">HH", 0, 0), 51, channel=0)
        except (OSError, Closed):
            pass
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # --- Frames

    def frame(self, kind, channel, payload):
        return struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce"

    def send(self, channel, klass, method, arguments):
        self.socket.sendall(self.frame(1, channel, struct.pack(">HH", klass, method) + arguments))

    def exactly(self, size):
        while len(self.buffer) < size:
            more = self.socket.recv(1 << 16)
            if not more:
                raise Closed("the connection is closed")
            self.buffer += more
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def read(self):
        kind, _, size = struct.unpack(">BHI", self.exactly(7))
        payload = self.exactly(size + 1)[:-1]
        return kind, Reader(payload)

    def method(self):
        """The next method that is no confirmation: its class, its number, its arguments."""
        while True:
            kind, reader = self.read()
            if kind != 1:
                continue
            klass, method = reader.take("H"), reader.take("H")
            if (klass, method) in ((10, 50), (20, 40)):
                raise Closed(f"{reader.take('H')} {reader.short()}")
            if (klass, method) == (60, 80):
                tag, multiple = reader.take("Q"), reader.take("B")
                self.unconfirmed = self.published - tag if multiple or tag == self.published else self.unconfirmed - 1
                continue
            if (klass, method) == (60, 120):
                raise Closed("a message was refused")
            return klass, method, reader

    def wait_for(self, klass, *methods):
        while True:
            found, method, reader = self.method()
            if found == klass and method in methods:
                return method, reader

    def ask(self, klass, method, arguments, *answers, channel=1):
        self.send(channel, klass, method, arguments)
        return self.wait_for(klass, *answers)

    # --- What tests ask

    def queue(self, name, durable=True, passive=False, **arguments):
        """Declares it; how many messages it has. Arguments: x_queue_type=... """
        flags = passive | durable << 1
        pairs = {key.replace("_", "-"): one for key, one in arguments.items()}
        _, reader = self.ask(50, 10, struct.pack(">H", 0) + short(name) + bytes([flags]) + table(pairs), 11)
        reader.short()
        return reader.take("I")

    def depth(self, name):
        return self.queue(name, passive=True)

    def exchange(self, name, kind="direct", durable=True, passive=False):
        self.ask(40, 10, struct.pack(">H", 0) + short(name) + short(kind) + bytes([passive | durable << 1]) + table({}), 11)

    def bind(self, queue, exchange, key=""):
        self.ask(50, 20, struct.pack(">H", 0) + short(queue) + short(exchange) + short(key) + b"\0" + table({}), 21)

    def purge(self, name):
        self.ask(50, 30, struct.pack(">H", 0) + short(name) + b"\0", 31)

    def delete(self, name):
        self.ask(50, 40, struct.pack(">H", 0) + short(name) + b"\0", 41)

    def delete_exchange(self, name):
        self.ask(40, 20, struct.pack(">H", 0) + short(name) + b"\0", 21)

    def publish(self, key, body, exchange="", **given):
        data = body if isinstance(body, bytes) else str(body).encode()
        given.setdefault("delivery_mode", 2)
        out = self.frame(1, 1, struct.pack(">HHH", 60, 40, 0) + short(exchange) + short(key) + b"\0")
        out += self.frame(2, 1, struct.pack(">HHQ", 60, 0, len(data)) + properties(given))
        for at in range(0, len(data), 131064):
            out += self.frame(3, 1, data[at:at + 131064])
        self.socket.sendall(out)
        self.published += 1
        self.unconfirmed += 1

    def confirm(self):
        """Waits until the server has all that was published: what is asked behind it is answered behind it, confirmations may come later."""
        while self.unconfirmed > 0:
            kind, reader = self.read()
            if kind != 1:
                continue
            klass, method = reader.take("H"), reader.take("H")
            if (klass, method) in ((10, 50), (20, 40)):
                raise Closed(f"{reader.take('H')} {reader.short()}")
            if (klass, method) == (60, 80):
                tag, multiple = reader.take("Q"), reader.take("B")
                self.unconfirmed = self.published - tag if multiple else self.unconfirmed - 1

    def fill(self, queue, bodies, **given):
        for body in bodies:
            self.publish(queue, body, **given)
        self.confirm()

    def get(self, queue, ack=True):
        """The next message; None where there is none."""
        method, reader = self.ask(60, 70, struct.pack(">H", 0) + short(queue) + bytes([ack]), 71, 72)
        if method == 72:
            return None
        tag, redelivered = reader.take("Q"), bool(reader.take("B"))
        exchange, key = reader.short(), reader.short()
        kind, header = self.read()
        assert kind == 2
        header.take("I")
        size, given, body = header.take("Q"), read_properties(header), b""
        while len(body) < size:
            kind, part = self.read()
            assert kind == 3
            body += part.data
        return Message(tag=tag, redelivered=redelivered, exchange=exchange, key=key, body=body, **{**dict.fromkeys(PROPERTIES), **given})

    def drain(self, queue):
        found = []
        while (message := self.get(queue)) is not None:
            found.append(message)
        return found
