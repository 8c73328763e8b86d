"""A server by Python's http.server that says what it is told to, and remembers what it was asked."""

import collections
import http.server
import threading
import time

Request = collections.namedtuple("Request", "method path headers body begun")


def say(status, body=b"", **headers):
    """An answer: a function of the handler and the request's body."""
    def answer(handler, _):
        data = body if isinstance(body, bytes) else body.encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)
    return answer


def hang(seconds=30):
    def answer(handler, _):
        handler.server.stopping.wait(seconds)
        handler.close_connection = True
    return answer


def cut_off(handler, _):
    """In the midst of the body."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"x" * 10)
    handler.close_connection = True


def endless(handler, _):
    handler.send_response(200)
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.close_connection = True
    part, end = b"x" * 65536, time.monotonic() + 20
    while time.monotonic() < end:
        handler.wfile.write(part)
        handler.sent[0] += len(part)


def endless_headers(handler, _):
    handler.send_response(200)
    handler.close_connection = True
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for n in range(1000):
            handler.send_header(f"X-{n}", "x" * 1000)
        handler.flush_headers()
        handler.sent[0] += 1000000


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10
    sent = [0]

    def log_message(self, *_):
        pass

    def answer(self):
        begun = time.monotonic()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.server.lock:
            number = self.server.count
            self.server.count += 1
            self.server.requests.append(Request(self.command, self.path, dict(self.headers.items()), body, begun))
            reply = self.server.reply(number, self, body)
        try:
            reply(self, body)
        except OSError:
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer


class Quiet(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A client that goes away is no news."""


class Peer:
    """`replies` are those of the first requests, then each is told `always`; or a function of number, handler and body that returns one."""

    def __init__(self, *replies, always=say(200), tls=None, port=0, choose=None):
        self.server = Quiet(("127.0.0.1", port), Handler)
        self.server.lock, self.server.requests, self.server.count = threading.RLock(), [], 0
        self.server.stopping = threading.Event()
        self.server.reply = choose or (lambda number, handler, body: replies[number] if number < len(replies) else always)
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    @property
    def requests(self):
        """In the order they came. Each is here before it is answered, so that a client that has its answers finds them all."""
        with self.server.lock:
            return sorted(self.server.requests, key=lambda request: request.begun)

    @property
    def bodies(self):
        return [request.body.decode() for request in self.requests]

    def close(self):
        self.server.stopping.set()
        self.server.shutdown()
        self.server.server_close()
