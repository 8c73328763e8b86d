"""What the tests of the connector sqlite share: a folder, gale's command line, and Python's own sqlite3 for the other side."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": PLUGINS}


def properties(**values):
    return "".join(f"      - {{name: {name}, value: {json.dumps(value)}}}\n" for name, value in values.items() if value is not None)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.process = None

    def connect(self, name="shop.db", **more):
        connection = sqlite3.connect(self.path / name, isolation_level=None, timeout=30, **more)
        self.addCleanup(connection.close)
        return connection

    def sql(self, text, name="shop.db"):
        connection = sqlite3.connect(self.path / name, isolation_level=None, timeout=30)
        try:
            return connection.execute(text).fetchall()
        finally:
            connection.close()

    def script(self, text, name="shop.db"):
        connection = sqlite3.connect(self.path / name, timeout=30)
        connection.executescript(text)
        connection.close()

    def gale(self, *arguments, code=0, text=None, environment=ENVIRONMENT):
        done = subprocess.run([GALE, *arguments], cwd=self.path, env=environment, capture_output=True, text=True, timeout=90, input=text)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def belongs_to_no_tree(self):
        """What the topology has is tracked no more: at its end `finish` waits for it."""
        text = (self.path / "t.yaml").read_text()
        (self.path / "t.yaml").write_text(text.replace("config: {", "config: {topology.acker.executors: 0, "))

    def is_refused_at_the_start(self, write, *arguments):
        """`write` writes the topology with a path; nothing runs, and the words have the file, the cause and the property."""
        (self.path / "text.db").write_text("this is a text, and no database at all " * 50)
        (self.path / "folder.db").mkdir(exist_ok=True)
        for path, words in (("nowhere/shop.db", "sqlite nowhere/shop.db: its folder 'nowhere' cannot be used: No such file or directory (path)"),
                            ("text.db", "sqlite text.db: it is no database of SQLite's: file is not a database (path)"),
                            ("folder.db", "sqlite folder.db: it is no file: a folder (path)")):
            with self.subTest(path=path, arguments=arguments):
                write(path)
                self.gale("check", "t.yaml")
                log = self.gale("run", "t.yaml", *arguments, code=3)
                self.assertIn(words, log)
                self.assertIn(" could not be ", log)

    def ends_soon(self, words=None):
        """Asked to, in less time than a lock is waited for."""
        if words:
            self.wait_for(lambda: words in self.log())
        begun = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(30)
        self.assertLess(time.monotonic() - begun, 4, self.log())
        self.assertNotIn("still in a call", self.log())
        return code

    def start(self, *arguments):
        """Its words in 'log', while it runs."""
        log = open(self.path / "log", "a")
        self.addCleanup(log.close)
        process = self.process = subprocess.Popen([GALE, "run", "t.yaml", *arguments], cwd=self.path, env=ENVIRONMENT, stderr=log, stdout=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_until_killed(self, kills, *arguments, seed=3, least=0.05, most=0.3, code=0):
        """Starts it again and again, and kills it at any moment, so many times; the last life comes to its end."""
        drawn = random.Random(seed)
        for life in range(kills):
            process = self.start(*arguments)
            try:
                process.wait(drawn.uniform(least, most))
                self.fail(f"it came to its end before it was killed {kills} times: {self.log()}")
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.assertEqual(self.start(*arguments).wait(120), code, self.log())

    def wait_for(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, self.log())
            time.sleep(0.02)

    def log(self):
        path = self.path / "log"
        return path.read_text() if path.exists() else ""


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
    className: gale.bolt.SqliteSink
    properties:
{sink}
streams:
  - {{from: lines, to: fields, grouping: {{type: SHUFFLE}}}}
  - {{from: fields, to: sink, grouping: {{type: SHUFFLE}}}}
"""


class Writing(Case):
    def write(self, rows, fields="id int, name, amount float", **sink):
        (self.path / "in.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
        (self.path / "t.yaml").write_text(SINK.format(fields=fields, sink=properties(**{"path": "shop.db", "table": "orders", **sink})))

    def table(self, keyed=True, more=""):
        self.sql(f"CREATE TABLE orders (id INTEGER {'PRIMARY KEY' if keyed else ''}, name TEXT, amount REAL CHECK (amount >= 0){more})")


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
