"""Heads of requests that two servers may read in two ways, and those that all read alike. Each is answered by its connection's end."""

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


def taken(path, body, token=b""):
    """(name, bytes): each is a request, and its connection stays."""
    start, length, chunks = START % path + token, b"Content-Length: %d\r\n" % len(body), CHUNKS % (len(body), body)
    yield "as most are", start + length + b"\r\n" + body
    yield "chunks", start + b"Transfer-Encoding: Chunked\r\n\r\n" + chunks
    yield "spaces around values", start + b"X:y\r\nY:  \t z\r\nZ:\r\n" + length + b"\r\n" + body
    yield "an empty line first", b"\r\n" + start + length + b"\r\n" + body
    yield "a head of 16 KiB", of_size(start + length, 16384) + body
    yield "128 lines", of_lines(start + length, 128) + body


def too_large(path, body, token=b""):
    """(name, bytes): each is to be answered with 431, and its connection closed."""
    start = START % path + token + b"Content-Length: %d\r\n" % len(body)
    yield "a head of more than 16 KiB", of_size(start, 16385) + body
    yield "129 lines", of_lines(start, 129) + body


def of_size(head, size):
    return head + b"X: " + b"x" * (size - len(head) - 7) + b"\r\n\r\n"


def of_lines(head, count):
    return head + b"".join(b"X-%d: y\r\n" % n for n in range(count - head.count(b"\r\n") + 1)) + b"\r\n"


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
