"""Requests that two servers may read in two ways, and those that all read alike."""

import random
import re
import socket

START = b"POST %s HTTP/1.1\r\nHost: localhost\r\n"
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n"


def refused(path, body, token=b""):
    """(name, bytes): each is to be answered with 400, and its connection closed."""
    start, length, chunks = START % path + token, b"Content-Length: %d\r\n" % len(body), CHUNKS % (len(body), body)
    chunked = b"Transfer-Encoding: chunked\r\n"
    yield "two equal lengths", start + length + length + b"\r\n" + body
    yield "two lengths", start + length + b"Content-Length: 1\r\n\r\n" + body
    yield "a list of lengths", start + b"Content-Length: %d, %d\r\n\r\n" % (len(body), len(body)) + body
    yield "a length with a sign", start + b"Content-Length: +%d\r\n\r\n" % len(body) + body
    yield "a length, and chunks", start + length + chunked + b"\r\n" + chunks
    yield "chunks, and a length", start + chunked + length + b"\r\n" + chunks
    yield "chunks twice", start + chunked + chunked + b"\r\n" + chunks
    yield "another coding", start + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + chunks
    yield "no coding", start + b"Transfer-Encoding: identity\r\n\r\n" + chunks
    yield "chunks in HTTP/1.0", start.replace(b"/1.1", b"/1.0") + chunked + b"\r\n" + chunks
    yield "absolute form", b"POST http://localhost%s HTTP/1.1\r\nHost: localhost\r\n" % path + token + length + b"\r\n" + body
    yield "two Hosts", start + b"Host: localhost\r\n" + length + b"\r\n" + body
    yield "no Host", b"POST %s HTTP/1.1\r\n" % path + token + length + b"\r\n" + body
    yield "a value that goes on", start + b"X: a\r\n b\r\n" + length + b"\r\n" + body
    yield "a length that goes on", start + b"Content-Length:\r\n %d\r\n\r\n" % len(body) + body
    yield "a last line that goes on", start + length + b"X: a\r\n\tb\r\n\r\n" + body
    yield "a first line that goes on", b"POST %s HTTP/1.1\r\n X: a\r\nHost: localhost\r\n" % path + token + length + b"\r\n" + body
    yield "no returns", (start + length + b"\r\n").replace(b"\r", b"") + body
    yield "one line without a return", start + b"X: y\n" + length + b"\r\n" + body
    yield "an end without a return", start + length + b"\n" + body
    yield "a return alone", start + b"X: y\rContent-Length: 1\r\n" + length + b"\r\n" + body
    yield "a space before the colon", start + b"Content-Length : %d\r\n\r\n" % len(body) + body
    yield "a line without a colon", start + b"Content-Length\r\n\r\n" + body
    yield "a line without a name", start + b": x\r\n" + length + b"\r\n" + body
    yield "a NUL", start + b"X: a\0b\r\n" + length + b"\r\n" + body
    for name in b"Authorization", b"Content-Type", b"Idempotency-Key", b"Origin":
        yield f"two of {name.decode()}", start + name + b": a\r\n" + name + b": b\r\n" + length + b"\r\n" + body
    for target in path + b"\0/x", path + b"\0", path + b"\t", path + b"\r/x", path + b"\x01", path + b"\x7f", path + b"#x":
        yield f"the target {target!r}", start.replace(path, target, 1) + length + b"\r\n" + body
    yield "two spaces before the target", start.replace(b" ", b"  ", 1) + length + b"\r\n" + body
    for name, chunks in wrong_chunks(body):
        yield name, start + chunked + b"\r\n" + chunks


def wrong_chunks(body):
    """(name, bytes) of bodies."""
    size, line, end = b"%x" % len(body), b"%x\r\n" % len(body), b"\r\n0\r\n\r\n"
    for other in (b"\n", b";x\n", b";x\ry\r\n", b";x\0y\r\n", b" \r\n", b"\r", b"\t\r\n", b",5\r\n", b"h\r\n"):
        yield f"a chunk's line that goes on with {other!r}", size + other + body + end
    for other in b"0x", b"+", b"-", b" ", b"\t", b"0" * 16, b";x\r\n":
        yield f"a chunk's line that begins with {other!r}", other + line + body + end
    yield "a chunk without a size", b"\r\n" + body + end
    yield "a second chunk's line without a return", line + body + b"\r\n" + size + b"\n" + body + end
    yield "a line without a return behind a chunk", line + body + b"\n" + line + body + end
    for trailer in b"Content-Length: 3\r\n", b"Transfer-Encoding: chunked\r\n", b"X: 3\n", b"X : 1\r\n", b"X: a\0b\r\n", b"X\r\n", b"X: a\rb\r\n":
        yield f"the trailer {trailer!r}", line + body + end[:-2] + trailer + b"Y: 1\r\n\r\n"


def hidden(path, body, token=b""):
    """(name, two packets): whatever the first request is taken for, the second one is not to be answered."""
    start = START % path + token
    chunked, again = start + b"Transfer-Encoding: chunked\r\n\r\n", start + b"Content-Length: %d\r\n\r\n" % len(body) + body
    size = b"%x" % len(body)
    yield "a chunk's line of its own", (chunked + size + b";x\n", body + b"\r\n0\r\n\r\n" + again)
    yield "the last chunk's line", (chunked + size + b"\r\n", body + b"\r\n0;x\n\r\n" + again)
    yield "the last line", (chunked + size + b"\r\n", body + b"\r\n0\r\n\n" + again)
    yield "a chunk's end", (chunked + size + b"\r\n", body + b"\n0\r\n\r\n" + again)


def taken(path, body, token=b""):
    """(name, bytes): each is a request, and its connection stays."""
    start, length, chunks = START % path + token, b"Content-Length: %d\r\n" % len(body), CHUNKS % (len(body), body)
    yield "as most are", start + length + b"\r\n" + body
    yield "spaces around values", start + b"X:y\r\nY:  \t z\r\nZ:\r\n" + length + b"\r\n" + body
    yield "an empty line first", b"\r\n" + start + length + b"\r\n" + body
    yield "a head of 16 KiB", of_size(start + length, 16384) + body
    yield "128 lines", of_lines(start + length, 128) + body


def taken_in_chunks(path, body, token=b""):
    """(name, bytes): each is a request. libmicrohttpd's version says whether its connection stays."""
    start = START % path + token + b"Transfer-Encoding: Chunked\r\n\r\n"
    size, end = b"%x" % len(body), b"0\r\n\r\n"
    yield "one chunk", start + CHUNKS % (len(body), body)
    yield "an extension", start + size + b";x=\"y z\"\r\n" + body + b"\r\n" + end
    yield "16 digits", start + size.zfill(16) + b"\r\n" + body + b"\r\n" + end
    yield "a trailer", start + size + b"\r\n" + body + b"\r\n0\r\nX: y\r\nZ:\r\n\r\n"
    yield "a chunk of each byte", start + b"".join(b"1\r\n%c\r\n" % byte for byte in body) + end


def dribbled(path, seed, token=b""):
    """(name, body, packets): each is a request in chunks, whatever its packets are."""
    rnd = random.Random(seed)
    for n in range(60):
        body, data = bytes(rnd.choice(b"abc0;\r") for _ in range(rnd.choice([1, 5, 100, 5000]))), START % path + token + b"Transfer-Encoding: chunked\r\n\r\n"
        rest = body
        while rest:
            size = rnd.choice([1, 2, 16, 1000])
            data += b"%x\r\n%s\r\n" % (len(rest[:size]), rest[:size])
            rest = rest[size:]
        data, most = data + b"0\r\n\r\n", rnd.choice([1, 3, 100, 1460]) if len(body) <= 100 else 1460
        packets = []
        while data:
            size = rnd.randint(1, most)
            packets.append(data[:size])
            data = data[size:]
        yield f"{n} of seed {seed}", body, packets


def too_large(path, body, token=b""):
    """(name, bytes): each is to be answered with 431, and its connection closed."""
    start = START % path + token + b"Content-Length: %d\r\n" % len(body)
    yield "a head of more than 16 KiB", of_size(start, 16385) + body
    yield "129 lines", of_lines(start, 129) + body


def of_size(head, size):
    return head + b"X: " + b"x" * (size - len(head) - 7) + b"\r\n\r\n"


def of_lines(head, count):
    return head + b"".join(b"X-%d: y\r\n" % n for n in range(count - head.count(b"\r\n") + 1)) + b"\r\n"


def answers(sock, packets):
    """The statuses of the answers that come."""
    said = b""
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for packet in packets:
            sock.sendall(packet)
        sock.shutdown(socket.SHUT_WR)
        while more := sock.recv(65536):
            said += more
    except ConnectionError:  # it was closed with the second request unread
        pass
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", said)]


def answer(sock, data):
    """The status of the answer, and whether the connection was closed behind it: it is asked once more, for what is there already."""
    try:
        sock.sendall(data)
        said = sock.recv(65536)
        status = int(said.split()[1]) if said.startswith(b"HTTP/") else None
        sock.settimeout(60 if status in (400, 431) else 0.05)
        while said:
            said = sock.recv(65536)
        return status, True
    except TimeoutError:
        return status, False
    except OSError:
        return None, True
