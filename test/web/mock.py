#!/usr/bin/env python3
"""A stand-in for a running gale: it serves web/dist with the server's own headers, and figures that move as those of a topology do.

usage: mock.py [PORT]                 then open http://127.0.0.1:PORT/

A test changes what it serves through the attributes of `Mock`: stuck, gone, frozen, absent, hurting, letters, posts.
"""

import http.server
import json
import math
import pathlib
import sys
import threading
import time
import urllib.parse

DIST = pathlib.Path(__file__).resolve().parents[2] / "web" / "dist"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
NASTY = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>\u202e\x1b[31m'
API = "/api/gale/v1"

# name, kind, class, tasks, streams, tuples a second, share of a task's time, seconds a tuple, column, row
PARTS = [
    ("requests", "spout", "gale.spout.File", 1, [("default", ["line"])], 41200, 0.31, 0, 0, 1),
    ("parse", "bolt", "gale.bolt.ParseAccessLog", 2, [("default", ["path", "status", "client", "seconds"]), ("broken", ["line", "why"])],
     41200, 0.62, 30e-6, 1, 1),
    ("per_path", "bolt", "gale.bolt.WindowCount", 4, [("default", ["path", "count", "window_end"])], 41170, 0.44, 41e-6, 2, 0),
    ("errors", "bolt", "gale.bolt.Filter", 1, [("default", ["path", "status"])], 41170, 0.17, 4e-6, 2, 1),
    ("broken_lines", "bolt", "gale.bolt.FileSink", 1, [], 30, 0.01, 11e-6, 2, 2),
    ("rank", "bolt", "gale.bolt.Rank", 1, [("default", ["rankings"])], 2050, 0.09, 45e-6, 3, 0),
    ("alerts", "bolt", "gale.bolt.WindowRate", 2, [("default", ["path", "share"])], 1650, 0.05, 61e-6, 3, 1),
    ("report", "bolt", "gale.bolt.FileSink", 1, [], 22, 0.01, 130e-6, 4, 0),
]  # fmt: skip
EDGES = [
    ("requests", "default", "parse", "shuffle", []),
    ("parse", "default", "per_path", "fields", ["path"]),
    ("parse", "default", "errors", "shuffle", []),
    ("parse", "broken", "broken_lines", "global", []),
    ("per_path", "default", "rank", "global", []),
    ("errors", "default", "alerts", "fields", ["path"]),
    ("rank", "default", "report", "global", []),
    ("alerts", "default", "report", "global", []),
]
SECRET_FREE = {
    "topology.message.timeout.secs": 30,
    "topology.max.spout.pending": 4096,
    "topology.workers": 1,
    "topology.debug": False,
    "gale.executors": 2,
    "gale.state": "/var/lib/access-log/state",
    "report.path": "/var/log/access-log/report.tsv",
    "smtp.password": "***",
    "window.seconds": 10,
    "nasty": NASTY,
}


def latency(mean, count):
    if not count:
        return None
    return {"count": count, "mean": mean, "p50": mean * 0.86, "p90": mean * 1.7, "p99": mean * 3.4, "max": mean * 21}


WAVES = [(1 / 97, 1), (1 / 31, 0.6), (1 / 7, 0.2), (1.3, 0.12)]  # how fast, how high


def wave(at, seed, by=0.1):
    """Something around 1 that moves, slowly and a little."""
    return 1 + by * sum(high * math.sin(at * fast + seed * (place + 1)) for place, (fast, high) in enumerate(WAVES))


def integral(at, seed, by=0.1):
    return at - by * sum(high / fast * math.cos(at * fast + seed * (place + 1)) for place, (fast, high) in enumerate(WAVES))


class Mock:
    def __init__(self, uptime=7264):
        self.began = time.time() - uptime
        self.pid = 4711
        self.frozen = None  # a time at which the figures stand still
        self.stuck = False
        self.gone = False
        self.refused = False
        self.active = True
        self.well = False
        self.absent = set()
        self.posts = []
        self.taps = []
        self.letters = [self.letter(number) for number in range(1, 4)]

    def letter(self, number):
        return {
            "id": str(number),
            "time": self.began + 600 * number,
            "spout": "requests",
            "reason": "exception",
            "component": "parse",
            "text": "line has no closing quote" if number > 1 else NASTY,
            "attempts": 3,
            "values": [f'198.51.100.{number} - - "GET /index{number}.html' if number > 1 else NASTY],
        }

    def time(self):
        return self.frozen if self.frozen is not None else time.time()

    def share(self, name, load):
        if self.stuck and name == "alerts":
            return 1.0
        return min(1, load * wave(self.time(), len(name)))

    def done(self, name, rate):
        slow = 0.35 if self.stuck else 1
        return int(rate * slow * integral(self.time() - self.began, len(name)) + rate * 30)

    def rate(self, at, name, rate):
        slow = 0.35 if self.stuck else 1
        return rate * slow * wave(at - self.began, len(name))

    def topology(self):
        nodes = [
            {"component": part[0], "x": part[8] * 300, "y": part[9] * 70, "width": 150, "height": 48} for part in PARTS
        ]
        at = {node["component"]: node for node in nodes}

        def points(source, target):
            a, b = at[source], at[target]
            return [[a["x"] + a["width"], a["y"] + 24], [b["x"] - 140, b["y"] + 24], [b["x"] - 20, b["y"] + 24], [b["x"], b["y"] + 24]]

        return {
            "name": "access-log",
            "version": "0.1.0",
            "pid": self.pid,
            "started": self.began,
            "file": "examples/access-log/topology.yaml",
            "durable": True,
            "executors": 2,
            "components": [
                {"name": n, "kind": k, "class": c, "tasks": t, "streams": [{"name": s, "fields": f} for s, f in streams]}
                for n, k, c, t, streams, *_ in PARTS
            ],
            "edges": [
                {"id": i, "from": a, "stream": s, "to": b, "grouping": g, "fields": f, "drop": None}
                for i, (a, s, b, g, f) in enumerate(EDGES)
            ],
            "configuration": SECRET_FREE,
            "drawing": {
                "width": 4 * 300 + 150,
                "height": 2 * 70 + 48,
                "nodes": nodes,
                "edges": [{"edge": i, "points": points(a, b), "back": False} for i, (a, _, b, _, _) in enumerate(EDGES)],
            },
        }

    def queued(self, name, load):
        if self.stuck and name == "alerts":
            return 262144
        return int(4096 * load * load * max(0, wave(self.time(), len(name), 0.6)) * 40) if load > 0.4 else 0

    def component(self, part):
        name, kind, _, tasks, streams, rate, load, seconds, *_ = part
        executed = self.done(name, rate) if kind == "bolt" else 0
        held = {"component": "alerts", "index": 1, "share": 0.71, "since": 34.2}
        emitted = self.done(name, rate) if kind == "spout" else (int(executed * 0.98) if streams else 0)
        failures = [{"reason": "exception", "count": 211}, {"reason": "rejected", "count": 17}] if name == "parse" else []
        return {
            "name": name,
            "executed": executed,
            "emitted": emitted,
            "transferred": emitted * (2 if name == "parse" else 1),
            "acked": executed or emitted - 4,
            "failed": 228 if name == "parse" else 0,
            "timed_out": 0, "rejected": 17 if name == "parse" else 0, "expired": 0, "shed": 0, "overflowed": 0, "dropped": 0,
            "errors": 0, "ticks": int(self.time() - self.began) if name == "per_path" else 0, "held": 0,
            "queued_bytes": self.queued(name, load),
            "queued_bytes_max": 262144 if kind == "bolt" else 0,
            "capacity": self.share(name, load),
            "execute": latency(seconds, executed),
            "process": latency(seconds * 1.4, executed),
            "failures": failures,
            "done": False,
            "held_by": held if self.stuck and kind == "spout" else None,
            "pending_share": 0.0,
            "unwell": [],
            "metrics": [
                {"name": "lines_skipped", "kind": "counter", "help": "Lines that are <none>.", "tasks": 4, "value": 30},
                {"name": "asked", "kind": "counter", "labels": {"method": "GET", "url": "/a"}, "help": "", "tasks": 4, "value": 7},
                {"name": "asked", "kind": "counter", "labels": {"method": "GET", "url": "/b"}, "help": "", "tasks": 4, "value": 8},
                {"name": "line_bytes", "kind": "histogram", "help": "", "tasks": 4, "value": {"count": 9000, "mean": 181.2, "p50": 164, "p90": 300, "p99": 411, "max": 4090}},
                {"name": "never", "kind": "histogram", "help": "", "tasks": 4, "value": None},
            ] if name == "parse" else [],
        }  # fmt: skip

    def tasks(self):
        number = 0
        for part in PARTS:
            whole = self.component(part)
            for index in range(part[3]):
                share = {key: whole[key] // part[3] for key in ("executed", "emitted", "transferred", "acked", "failed", "timed_out", "held")}
                yield {
                    "task": number + 1, "component": part[0], "index": index, "executor": number % 2, **share,
                    "queued_bytes": whole["queued_bytes"] // part[3], "queued_bytes_max": whole["queued_bytes_max"],
                    "busy_share": whole["capacity"] / part[3], "execute": whole["execute"],
                }  # fmt: skip
                number += 1

    def hurts(self):
        if self.stuck:
            return [
                {"level": "bad", "component": "alerts", "task": 12, "text": "alerts[1] has been in a call for 34 s; its queue is full: 256 KiB"},
                {"level": "bad", "component": "requests", "task": 12, "text": "spout requests is held 71 % by alerts[1]: 2.1 ms a tuple, queue 256 KiB"},
            ]  # fmt: skip
        if self.well:
            return []
        return [{"level": "warn", "component": "parse", "task": None, "text": "parse fails 0.03 % of its tuples: 211 by an exception, 17 rejected"}]

    def now(self):
        at = self.time()
        acked = self.done("requests", 41200) - 212
        complete = latency(5.1e-3 * (8 if self.stuck else wave(at, 2, 0.2)), acked)
        executors = [
            {"index": i, "tasks": 6, "busy": (at - self.began) * 0.6, "waiting": (at - self.began) * 0.37, "held": (at - self.began) * 0.03, "in_call": None}
            for i in range(2)
        ]  # fmt: skip
        if self.stuck:
            executors[next(t for t in self.tasks() if t["component"] == "alerts" and t["index"] == 1)["executor"]]["in_call"] = {
                "component": "alerts", "task": next(t["task"] for t in self.tasks() if t["component"] == "alerts" and t["index"] == 1),
                "since": 34.2,
            }  # fmt: skip
        return {
            "time": at, "uptime": at - self.began, "phase": "running", "active": self.active,
            "trees": {
                "trees": acked + 440, "acked": acked, "failed": 228, "timed_out": 0, "rejected": 17, "stopped": 0,
                "open": 4096 if self.stuck else int(212 * wave(at, 1, 0.4)), "replayed": 211, "given_up": 3,
                "dead_letters": len(self.letters), "dead_letters_lost": 0,
            },
            "complete": complete,
            "components": [self.component(part) for part in PARTS],
            "tasks": list(self.tasks()),
            "streams": [
                {"component": part[0], "stream": stream, "emitted": self.done(part[0], part[5]) // (1 if i == 0 else 1000),
                 "transferred": self.done(part[0], part[5]) // (1 if i == 0 else 1000)}
                for part in PARTS for i, (stream, _) in enumerate(part[4])
            ],
            "edges": [
                {"id": i, "executed": self.done(b, self.edge_rate(i)), "acked": self.done(b, self.edge_rate(i)), "failed": 0, "dropped": 0,
                 "rejected": 0, "expired": 0, "execute": 2.1e-5, "process": 3e-5}
                for i, (_, _, b, _, _) in enumerate(EDGES)
            ],
            "executors": executors,
            "hurts": self.hurts(),
            "health": {"live": True, "ready": not self.stuck, "problems": [{"component": "alerts", "text": "alerts[1] does not come back from a call", "since": 34.2}] if self.stuck else []},
            "checkpoint": self.checkpoints(),
            "memory": {"in_use": 18 << 20, "reserved": 26 << 20, "tags": [{"name": "batches", "bytes": 9 << 20}, {"name": "trees", "bytes": 5 << 20}, {"name": "windows", "bytes": 4 << 20}]},
        }  # fmt: skip

    def edge_rate(self, number):
        return {6: 20, 7: 2}.get(number, next(part[5] for part in PARTS if part[0] == EDGES[number][2]))

    def history(self, seconds):
        times = [math.floor(self.time()) - back for back in range(min(int(seconds), 600), 0, -1)]
        acked = [self.rate(at, "requests", 41200) for at in times]
        slow = 8 if self.stuck else 1
        return {
            "times": times, "trees": acked, "acked": acked, "failed": [0.0] * len(times), "emitted": acked,
            "open": [int(212 * wave(at, 1, 0.4)) for at in times],
            "p50": [4.4e-3 * slow * wave(at, 2, 0.2) for at in times], "p99": [17e-3 * slow * wave(at, 3, 0.3) for at in times],
            "components": {
                part[0]: {"executed": [self.rate(at, part[0], part[5]) for at in times], "queued_bytes": [int(30000 * wave(at, 1, 0.6)) for at in times]}
                for part in PARTS
            },
        }  # fmt: skip

    def open_trees(self):
        return [
            {"spout": "requests", "task": 0, "message_id": f"4711:{number}", "age": 12.5 - number * 0.7, "place": "waits in alerts[1]",
             "component": "alerts", "text": f"waits in the queue of alerts[1], {number * 30 + 1} batches behind its first"}
            for number in range(12)
        ]  # fmt: skip

    def dead_letters(self):
        return {"file": "/var/lib/access-log/dead-letters.jsonl", "total": len(self.letters), "letters": self.letters}

    def checkpoints(self):
        return {
            "number": int(self.time() - self.began), "resumed": 0, "count": int(self.time() - self.began), "put_off": 0, "age": 0.42,
            "took": 0.0041, "took_p50": 0.0038, "took_p99": 0.0093, "took_max": 0.021, "held": 0.00012, "held_p50": 0.0001,
            "held_p99": 0.0006, "held_max": 0.002, "bytes": 38112, "bytes_max": 65536, "dropped": 0, "again": 0, "owed": 0, "complete": True,
        }  # fmt: skip

    def post(self, path, body):
        self.posts.append((path, body))
        if path == "/activate":
            self.active = True
        if path == "/deactivate":
            self.active = False
        if path == "/dead-letters/replay":
            self.letters = [letter for letter in self.letters if not (body.get("all") or letter["id"] in body.get("ids", []))]
        return {"ok": True}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    @property
    def mock(self):
        return self.server.mock

    def answer(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", CSP)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def say(self, status, value):
        self.answer(status, json.dumps(value).encode())

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = {key: values[0] for key, values in urllib.parse.parse_qs(url.query).items()}
        if not url.path.startswith(API):
            return self.file(url.path)
        if self.mock.gone:
            self.close_connection = True
            return self.connection.close()
        if self.mock.refused:
            return self.say(401, {"error": "the token is another one"})
        name = url.path[len(API) :]
        answers = {
            "/topology": self.mock.topology,
            "/now": self.mock.now,
            "/history": lambda: self.mock.history(query.get("seconds", 600)),
            "/open-trees": self.mock.open_trees,
            "/dead-letters": self.mock.dead_letters,
            "/checkpoints": self.mock.checkpoints,
        }
        if name in self.mock.absent or name not in answers and name != "/tap":
            return self.say(404, {"error": f"there is no {name}"})
        if name == "/tap":
            return self.tap(query)
        return self.say(200, answers[name]())

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        assert self.headers["X-Gale"] and self.headers["Content-Type"] == "application/json"
        name = urllib.parse.urlsplit(self.path).path[len(API) :]
        if name in self.mock.absent:
            return self.say(501, {"error": "not offered"})
        return self.say(200, self.mock.post(name, body))

    def file(self, path):
        file = DIST / (path.lstrip("/") or "index.html")
        if not file.is_file() or file.parent != DIST:
            return self.say(404, {"error": "there is no such page"})
        return self.answer(200, file.read_bytes(), TYPES[file.suffix])

    def tap(self, query):
        self.mock.taps.append(query)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Content-Security-Policy", CSP)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        number = 0
        try:
            while not self.mock.gone:
                number += 1
                path = NASTY if number == 3 else f"/articles/{number % 7}"
                values = {"path": path, "status": 200, "client": f"198.51.100.{number % 250}", "seconds": round(0.012 * (number % 9), 3)}
                tuple_ = {"time": time.time(), "component": query["component"], "task": number % 2, "stream": query["stream"], "values": values, "dropped": 40}
                self.wfile.write(json.dumps(tuple_).encode() + b"\n")
                self.wfile.flush()
                time.sleep(1 / float(query.get("rate", 10)))
        except OSError:
            pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, mock, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.mock = mock
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}/"


if __name__ == "__main__":
    print(Server(Mock(), int(sys.argv[1]) if len(sys.argv) > 1 else 8080).address)
    threading.Event().wait()
