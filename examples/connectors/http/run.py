#!/usr/bin/env python3
"""A shop with an API and a webhook, both in this process, and the topology between them; gale is killed once on the way.

usage: run.py [GALE]
"""

import hashlib
import hmac
import http.server
import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

GALE = sys.argv[1] if len(sys.argv) > 1 else "gale"
ORDERS = [{"id": n, "customer": f"c{n % 5}", "cents": n * 7919 % 20000} for n in range(1, 201)]
SECRET = b"open sesame"
LARGE = [order["id"] for order in ORDERS if order["cents"] >= 10000]
known, lock, busy = {}, threading.Lock(), [0, 0]


class Shop(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, text="", **headers):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(text))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        """Ten orders behind the one that is named."""
        after = int(urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get("after", [0])[0])
        page = ORDERS[after:after + 10]
        self.answer(200, json.dumps({"orders": page, "next": after + len(page)}))

    def do_POST(self):
        """Each key counts once; every seventh request is too much."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["X-Hub-Signature-256"] != "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest():
            return self.answer(401, "the signature is wrong")
        with lock:
            busy[0] += 1
            if busy[0] % 7 == 0:
                busy[1] += 1
                return self.answer(503, "busy", Retry_After="0")
            known.setdefault(self.headers["Idempotency-Key"], json.loads(body))
        self.answer(200)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """gale was killed in the midst of a request."""


def wait_until(condition):
    end = time.monotonic() + 30
    while not condition():
        if time.monotonic() > end:
            sys.exit("it did not come about within 30 s")
        time.sleep(0.01)


def main():
    shop = Server(("127.0.0.1", 0), Shop)
    threading.Thread(target=shop.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        secret = Path(folder) / "secret"
        secret.write_bytes(SECRET)
        (Path(folder) / "names").write_text(f"port={shop.server_address[1]}\nsecret={secret}\n")
        command = [GALE, "run", str(Path(__file__).with_name("topology.yaml")), "--state", f"{folder}/state", "--filter", f"{folder}/names",
                   "--config", "topology.state.checkpoint.interval.ms=100"]
        first = subprocess.Popen(command)
        wait_until(lambda: len(known) > len(LARGE) // 3)
        first.kill()
        first.wait()
        print(f"gale was killed when {len(known)} of {len(LARGE)} orders had come")
        second = subprocess.Popen(command)
        wait_until(lambda: len(known) >= len(LARGE))
        time.sleep(0.5)
        second.terminate()
        second.wait()
    came = [order["id"] for order in known.values()]
    print(f"{len(came)} large orders came, {len(came) - len(set(came))} of them twice, {len(set(LARGE) - set(came))} not at all; "
          f"the shop was busy {busy[1]} times")
    for customer in sorted({order["customer"] for order in ORDERS}):
        ids = [order["id"] for order in known.values() if order["customer"] == customer]
        print(f"  {customer}: {'in order' if ids == sorted(ids) else 'NOT in order'}")
    return 0 if sorted(came) == LARGE else 1


if __name__ == "__main__":
    sys.exit(main())
