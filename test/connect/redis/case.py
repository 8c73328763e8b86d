"""What the tests of the connector redis share. usage of each: NAME_test.py GALE PLUGINS [CLASS...]"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import server as redis

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": PLUGINS}
FAULTS = int(os.environ.get("GALE_TEST_FAULTS", "1"))  # so many times as many; script/connectors has more
KILLS = int(os.environ.get("GALE_TEST_KILLS", 6 * FAULTS))  # of gale
SERVER_KILLS = 2 + FAULTS


def properties(**values):
    return "".join(f"      - {{name: {name}, value: {json.dumps(value)}}}\n" for name, value in values.items())


SINK = """
name: write
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100}}
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{{name: path, value: in.tsv}}]
bolts:
  - {{id: fields, className: gale.bolt.Csv, properties: [{{name: separator, value: "\\t"}}, {{name: quote, value: "\\x01"}}, {{name: fields, value: "{fields}"}}]}}
  - id: sink
    className: gale.bolt.RedisSink
    properties:
{sink}
streams:
  - {{from: lines, to: fields, grouping: {{type: SHUFFLE}}}}
  - {{from: fields, to: sink, grouping: {{type: SHUFFLE}}}}
"""


class Case(unittest.TestCase):
    """Each with a server that is empty."""
    SETTINGS = {}
    server = None

    @classmethod
    def setUpClass(cls):
        cls.server = redis.Server(**cls.SETTINGS)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.process = None
        self.server("FLUSHALL")
        self.given = {"server": f"127.0.0.1:{self.server.port}"}
        if self.server.password:
            (self.path / "password").write_text(self.server.password + "\n")
            self.given["passwordFrom"] = "password"

    def gale(self, *arguments, code=0):
        done = subprocess.run([GALE, *arguments], cwd=self.path, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def start(self, *arguments, file="t.yaml"):
        """Its words in 'log', while it runs."""
        log = open(self.path / "log", "a")
        self.addCleanup(log.close)
        process = self.process = subprocess.Popen([GALE, "run", file, *arguments], cwd=self.path, env=ENVIRONMENT, stderr=log, stdout=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def stop(self, process, code=0):
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), code, self.log())

    def wait_for(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, self.log())
            time.sleep(0.02)

    def log(self):
        path = self.path / "log"
        return path.read_text() if path.exists() else ""

    def write(self, rows, shape, **sink):
        """A topology from a file of rows to a sink."""
        (self.path / "in.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
        (self.path / "t.yaml").write_text(SINK.format(fields=shape, sink=properties(**{**self.given, **sink})))


def main():
    if not redis.program():
        print("there is no redis-server: left out")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
