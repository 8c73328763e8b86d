#!/usr/bin/env python3
"""What a disk buffer feeds is away, as long as GALE_TEST_OUTAGE_SECONDS at GALE_TEST_OUTAGE_RATE messages a second, and gale is killed in the middle: a Redis or a
PostgreSQL server of Debian's, which is killed and started again.

usage: outage_test.py GALE PLUGINS CLASS...
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
SECONDS = int(os.environ.get("GALE_TEST_OUTAGE_SECONDS", "5"))
RATE = int(os.environ.get("GALE_TEST_OUTAGE_RATE", "20000"))
AWAY = SECONDS * RATE  # so many messages wait at the end of it
COUNT = AWAY + 3 * RATE  # and some come before, and some behind
KEYS = 8
TEXT = 1900 if AWAY < 1_000_000 else 60  # what waits is more than memory may have
MEMORY = 160 << 20  # the bound: 16 MiB before and 8 behind the disk of each of two tasks, as much again for what is on the way, the sink, the program
BOUND = 600  # seconds: longer than any of this takes on any machine

TOPOLOGY = """\
name: outage
config: {{topology.message.timeout.secs: 3600}}
spouts:
  - {{id: in, className: gale.spout.File, properties: {{path: in.txt, state: place, emit: [line, number]}}, config: {{gale.rate: {rate}}}}}
bolts:
  - {{id: key, className: gale.bolt.Map, properties: {{set: {{key: number % {keys}}}}}}}
  - id: out
    className: {sink}
    properties: {properties}
streams:
  - {{from: in, to: key, grouping: {{type: SHUFFLE}}}}
  - {{from: key, to: out, grouping: {{type: FIELDS, args: [key]}}, buffer: {{disk: 10 GB, path: buffer, parallelism: 2}}}}
"""


def load(name):
    """The server that the tests of a connector start."""
    spec = importlib.util.spec_from_file_location(f"{name}_server", HERE.parent / name / "server.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Gale:
    """A run of the topology: what it says of itself, and the most memory it had."""

    def __init__(self, path, number, port):
        self.port, self.most = port, 0
        self.said = path / f"log{number}"
        with open(self.said, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([GALE, "run", "t.yaml", "--listen", f"127.0.0.1:{port}", "--listen-token-file", "token"], cwd=path,
                                            env={**os.environ, "GALE_PLUGIN_PATH": PLUGINS}, stdout=log, stderr=log)

    def look(self):
        """The high-water mark is the system's, so that nothing is missed between two looks."""
        try:
            found = re.search(r"VmHWM:\s+([0-9]+)", Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return
        if found:
            self.most = max(self.most, int(found.group(1)) << 10)

    def figures(self, *names):
        """Sums over tasks, of the buffer's own metrics; zeros before it serves."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/metrics", headers={"Authorization": "Bearer sesame-sesame-sesame-sesame"})
        try:
            text = urllib.request.urlopen(request, timeout=30).read().decode()
        except OSError:
            return [0] * len(names)
        return [sum(float(value) for value in re.findall(rf"^gale_metric_disk_buffer_{name}\{{.*\}} (\S+)$", text, re.M)) for name in names]

    def kill(self):
        self.look()
        self.process.kill()
        self.process.wait()


class Outage(unittest.TestCase):
    """Each server says how it is written to, and what has arrived."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.runs = []
        self.addCleanup(lambda: [run.kill() for run in self.runs if run.process.poll() is None])
        (self.path / "token").write_text("sesame-sesame-sesame-sesame\n", encoding="utf-8")

    def write(self, sink, **properties):
        (self.path / "t.yaml").write_text(TOPOLOGY.format(rate=RATE, keys=KEYS, sink=sink, properties=json.dumps(properties)), encoding="utf-8")
        with open(self.path / "in.txt", "w", encoding="utf-8") as lines:
            lines.writelines(f"{number:0{TEXT}}\n" for number in range(1, COUNT + 1))

    def start(self):
        self.runs.append(Gale(self.path, len(self.runs), self.module.free_port()))
        return self.runs[-1]

    def wait_for(self, what, run, is_so):
        end = time.monotonic() + BOUND
        while not is_so():
            run.look()
            self.assertLess(time.monotonic(), end, f"{what}: it has not come\n{run.said.read_text()[-2000:]}")
            self.assertIsNone(run.process.poll(), f"{what}: it has ended\n{run.said.read_text()[-2000:]}")
            time.sleep(0.1)

    def check(self, arrived):
        """{key: numbers in the order of their arrival}. What came again is what came before."""
        again = 0
        for key in range(KEYS):
            first = list(dict.fromkeys(arrived[key]))
            self.assertEqual(first, list(range(key or KEYS, COUNT + 1, KEYS)), f"key {key}")
            again += len(arrived[key]) - len(first)
        return again

    def be_away(self, server, has_some):
        """The server goes, gale is killed when half waits, and goes on."""
        first = self.start()
        self.wait_for("some arrive", first, has_some)
        server.kill()
        self.wait_for("half of it waits", first, lambda: first.figures("records")[0] >= AWAY / 2)
        first.kill()
        second = self.start()
        self.wait_for("all of it waits", second, lambda: second.figures("records")[0] >= AWAY)
        return second

    def run_all(self, server, has_some, arrived):
        began = time.monotonic()
        run = self.be_away(server, has_some)
        size, limit = run.figures("bytes", "limit_bytes")
        self.assertEqual(limit, 2 * 10e9)
        self.assertGreater(size, MEMORY)
        back = time.monotonic()
        server.start()
        while run.process.poll() is None:
            run.look()
            self.assertLess(time.monotonic(), back + BOUND, run.said.read_text()[-2000:])
            time.sleep(0.1)
        self.assertEqual(run.process.returncode, 0, run.said.read_text()[-2000:])
        ended = time.monotonic()
        again = self.check(arrived())
        most = [run.most for run in self.runs]
        print(f"{COUNT:,} of {COUNT:,} arrived in order, {again:,} came again; {back - began:.0f} s until {AWAY:,} waited, in {size / 1e6:,.0f} MB of the disk; "
              f"{ended - back:.0f} s from the server's start to the end; memory at the most {', '.join(f'{one / 1e6:.0f} MB' for one in most)}")
        self.assertLess(max(most), MEMORY)


class Redis(Outage):
    """Each key's numbers are a list."""
    module = load("redis")

    def test_nothing_is_lost_and_order_kept_while_it_is_away_and_gale_is_killed(self):
        server = self.module.Server(sure=True)
        self.addCleanup(server.close)
        self.write("gale.bolt.RedisSink", server=f"127.0.0.1:{server.port}", command="RPUSH", key="{key}", value="{number}")
        self.run_all(server, lambda: server("EXISTS", "1"), lambda: {key: list(map(int, server("LRANGE", key, 0, -1))) for key in range(KEYS)})


class Postgres(Outage):
    """Rows have the order in which they were inserted."""
    module = load("postgres")

    def arrived(self, server):
        found = {key: [] for key in range(KEYS)}
        for key, number in server.sql("SELECT key, number FROM arrived ORDER BY place", "shop"):
            found[int(key)].append(int(number))
        return found

    def test_nothing_is_lost_and_order_kept_while_it_is_away_and_gale_is_killed(self):
        server = self.module.Server()
        self.addCleanup(server.close)
        server.sql("CREATE TABLE arrived (place bigserial PRIMARY KEY, key int, number bigint)", "shop")
        self.write("gale.bolt.PostgresSink", connection=server.connection(), table="arrived", fields=["key", "number"])
        self.run_all(server, lambda: server.sql("SELECT 1 FROM arrived LIMIT 1", "shop"), lambda: self.arrived(server))


def main():
    there = {"Redis": "redis", "Postgres": "postgres"}
    for name in sys.argv[3:]:
        module = globals()[name].module
        if not (module.program() if there[name] == "redis" else module.programs()):
            print(f"there is no server of {name}: left out")
            sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)


if __name__ == "__main__":
    main()
