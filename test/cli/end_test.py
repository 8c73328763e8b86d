#!/usr/bin/env python3
"""How long the end after a signal may take (gale run --end-within): components that have something to end get that time.

usage: end_test.py GALE HAS-STORE
"""

import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
HAS_STORE = sys.argv[2:] == ["1"]
PATIENCE = 600

# The command needs a while after the end of its input.
TOPOLOGY = """\
name: end
config: { topology.message.timeout.secs: 3600 }
spouts:
  - id: in
    className: gale.spout.File
    properties: [{ name: path, value: in.txt }, { name: follow, value: true }]
bolts:
  - id: out
    className: gale.bolt.ExecSink
    properties:
      - { name: command, value: "cat >> out.txt; sleep 3; echo done >> out.txt" }
      - { name: stopWait, value: 100 }
streams:
  - { from: in, to: out, grouping: { type: SHUFFLE } }
"""


class End(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        (self.path / "end.yaml").write_text(TOPOLOGY)
        (self.path / "in.txt").write_text("one\ntwo\n")

    def out(self):
        try:
            return (self.path / "out.txt").read_text().split()
        except OSError:
            return []

    def run_and_end(self, *options):
        """Until both lines are there; then Ctrl-C. Returns the exit code and what was said."""
        process = subprocess.Popen([GALE, "run", "end.yaml", *options], cwd=self.path, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        end = time.monotonic() + PATIENCE
        while self.out() != ["one", "two"] and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=PATIENCE)
        return process.returncode, said

    def test_a_command_works_off_what_it_has_read(self):
        code, said = self.run_and_end("--end-within", "500")
        self.assertEqual((code, self.out()), (0, ["one", "two", "done"]), said)

    @unittest.skipUnless(HAS_STORE, "without SQLite there is no durable run")
    def test_and_in_a_durable_run_that_is_suspended(self):
        code, said = self.run_and_end("--end-within", "500", "--state", "state")
        self.assertEqual((code, self.out()), (0, ["one", "two", "done"]), said)

    def test_what_takes_longer_is_left_and_named(self):
        (self.path / "end.yaml").write_text(TOPOLOGY.replace("sleep 3", "sleep 100"))
        code, said = self.run_and_end("--end-within", "1")
        self.assertEqual((code, self.out()), (130, ["one", "two"]), said)
        self.assertIn("still in a call of 'out'", said)

    def test_a_time_that_is_none_is_refused(self):
        ended = subprocess.run([GALE, "run", "end.yaml", "--end-within", "soon"], cwd=self.path, capture_output=True,
                               text=True, timeout=PATIENCE)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--end-within", ended.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
