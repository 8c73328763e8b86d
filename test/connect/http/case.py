"""A folder, gale, and a peer."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from peer import Peer


def properties(**values):
    return "\n".join(f"      - {{name: {name}, value: {json.dumps(value)}}}" for name, value in values.items())


class Case(unittest.TestCase):
    gale_path = plugins = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.process = None
        self.environment = {**os.environ, "GALE_PLUGIN_PATH": self.plugins, "no_proxy": "*"}

    def peer(self, *replies, **more):
        peer = Peer(*replies, **more)
        self.addCleanup(peer.close)
        return peer

    def gale(self, *arguments):
        done = subprocess.run([self.gale_path, *arguments], cwd=self.path, env=self.environment, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def run_it(self, *arguments, code=0):
        found, words = self.gale("run", "topology.yaml", *arguments)
        self.assertEqual(found, code, words)
        return words

    def start(self, *arguments):
        """Its words in 'log', while it runs."""
        log = open(self.path / "log", "a")
        self.addCleanup(log.close)
        process = self.process = subprocess.Popen([self.gale_path, "run", "topology.yaml", *arguments], cwd=self.path, env=self.environment,
                                                  stderr=log, stdout=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, condition, what="it did not come about", seconds=10):
        end = time.monotonic() + seconds
        while not condition():
            if self.process and self.process.poll() is not None:
                self.fail(f"it has ended: {self.log()}")
            self.assertLess(time.monotonic(), end, f"{what}: {self.log()}")
            time.sleep(0.01)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self, code=0):
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(30), code, self.log())

    def log(self):
        path = self.path / "log"
        return path.read_text() if path.exists() else ""

    def lines(self, name="out.tsv"):
        path = self.path / name
        return path.read_text().splitlines() if path.exists() else []


def main():
    import sys
    Case.gale_path, Case.plugins = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
