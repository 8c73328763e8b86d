#!/usr/bin/env python3
"""What a service manager is told, by a socket of the test's own; and the unit file of the package.

usage: manager_test.py GALE SOURCES
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
SOURCES = Path(sys.argv[2]).resolve()

ENDLESS = """
name: endless
spouts:
  - {id: words, className: gale.spout.Generator, config: {gale.rate: 100}}
bolts:
  - {id: printer, className: gale.bolt.Printer}
streams:
  - {from: words, to: printer, grouping: {type: SHUFFLE}}
"""

# The standard output is a pipe that nobody reads: the printer does not come back from a write to it.
STUCK = ENDLESS.replace("gale.rate: 100", "gale.executor: 0").replace("Printer}", "Printer, config: {gale.executor: 1}}")


class Manager(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        (self.path / "t.yaml").write_text(ENDLESS)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.socket.close)
        self.socket.settimeout(120)

    def start(self, *arguments, address=None, **variables):
        if not address:
            address = str(self.path / "notify")
            self.socket.bind(address)
        process = subprocess.Popen([GALE, "run", "t.yaml", "-j", "2", *arguments], cwd=self.path, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, "NOTIFY_SOCKET": address, **variables})
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.communicate()

    def told(self):
        return self.socket.recv(4096).decode().split("\n")

    def until(self, word):
        """What is told up to a message that begins with `word`, that one included."""
        messages = [self.told()]
        while not messages[-1][0].startswith(word):
            messages.append(self.told())
        return messages

    def drained(self, process, code=0):
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, code, err)
        return err.decode()

    def read_on(self, process):
        """So that the printer's pipe is never full."""
        subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL).wait

    def test_a_run_is_ready_when_all_is_open_then_tells_how_it_is_then_that_it_stops(self):
        process = self.start()
        self.assertEqual(self.told(), ["READY=1", "STATUS=all is open"])
        self.assertRegex(self.until("STATUS=")[-1][0], r"^STATUS=\d+ s  .* open  0 failed$")
        self.drained(process)
        self.assertEqual(self.until("STOPPING=1")[-1], ["STOPPING=1"])

    def test_an_abstract_name_is_as_good_as_a_path(self):
        name = f"gale-manager-test-{os.getpid()}"
        self.socket.bind("\0" + name)
        process = self.start(address="@" + name)
        self.assertEqual(self.told()[0], "READY=1")
        self.drained(process)

    def test_what_is_no_socket_is_told_and_the_run_goes_on(self):
        process = self.start(address="nonsense")
        self.assertTrue(process.stdout.readline())
        self.assertIn("WARN NOTIFY_SOCKET: 'nonsense' is neither a path nor an abstract name (@...)", self.drained(process))

    def test_a_hangup_is_told_as_reloading(self):
        process = self.start()
        self.until("READY=1")
        process.send_signal(signal.SIGHUP)
        reloading = self.until("RELOADING=1")[-1]
        self.assertEqual(reloading[0], "RELOADING=1")
        self.assertRegex(reloading[1], r"^MONOTONIC_USEC=\d+$")
        self.until("READY=1")
        self.drained(process)

    def test_commands_of_a_topology_do_not_speak_for_it(self):
        (self.path / "t.yaml").write_text(ENDLESS.replace("gale.spout.Generator, config: {gale.rate: 100}",
                                                          "gale.spout.Exec, properties: [{name: command, value: [env]}]"))
        process = self.start(WATCHDOG_USEC="600000000")
        out = process.communicate(timeout=600)[0].decode()
        self.assertIn("PATH=", out)
        self.assertNotIn("NOTIFY_SOCKET", out)
        self.assertNotIn("WATCHDOG_USEC", out)

    def test_what_hurts_most_stands_first_in_the_status(self):
        (self.path / "t.yaml").write_text(STUCK)
        process = self.start()
        # By name: the spout that is held, or the printer that holds it, once it has done so for two seconds.
        while not re.match("STATUS=(spout words is held|printer has been in one call)", self.until("STATUS=")[-1][0]):
            self.assertIsNone(process.poll())
        process.kill()

    # --- The dog

    def test_a_run_that_moves_feeds_the_dog(self):
        process = self.start(WATCHDOG_USEC="4000000", WATCHDOG_PID="")
        for _ in range(3):
            self.until("WATCHDOG=1")
        self.drained(process)

    def test_a_run_that_has_nothing_to_do_feeds_it_too(self):
        (self.path / "t.yaml").write_text(ENDLESS.replace("gale.rate: 100", "gale.rate: 0.001"))
        process = self.start(WATCHDOG_USEC="4000000")
        for _ in range(3):
            self.until("WATCHDOG=1")
        self.drained(process)

    def test_another_processs_dog_is_not_fed(self):
        process = self.start(WATCHDOG_USEC="1000", WATCHDOG_PID="1")
        for _ in range(3):
            self.assertNotIn(["WATCHDOG=1"], self.until("STATUS="))
        self.drained(process)

    def stuck(self, *arguments):
        """A run whose printer has filled the pipe, and what it said of it."""
        (self.path / "t.yaml").write_text(STUCK)
        process = self.start(*arguments, WATCHDOG_USEC="2000000")
        said = b""
        while b"the service manager's watchdog is not fed" not in said:
            said = process.stderr.readline()
            self.assertTrue(said)
        return process, said

    def test_a_bolt_that_does_not_come_back_has_it_starve_until_it_does(self):
        process, said = self.stuck()
        self.assertRegex(said, rb"ERROR printer: executor 1 is in a call of 'printer' \(task \d+\) for ")
        self.socket.setblocking(False)
        try:
            while True:
                self.told()
        except BlockingIOError:
            self.socket.settimeout(120)
        for _ in range(3):
            self.assertNotIn(["WATCHDOG=1"], self.until("STATUS="))
        reader = subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL)
        self.until("WATCHDOG=1")
        process.send_signal(signal.SIGTERM)
        process.stdout.close()
        process.stderr.read()
        process.wait(600)
        reader.wait(600)

    def test_a_long_drain_asks_for_more_time(self):
        process, _ = self.stuck("--end-within", "600")  # as long as a slow machine takes for what follows
        process.send_signal(signal.SIGTERM)
        self.until("STOPPING=1")
        for _ in range(2):
            self.assertEqual(self.until("EXTEND_TIMEOUT_USEC=")[-1], ["EXTEND_TIMEOUT_USEC=10000000"])

    # --- The unit file

    def unit(self):
        """The package's, for this program and a topology that is there."""
        text = (SOURCES / "cmake" / "package" / "gale@.service").read_text()
        self.assertIn("ExecStart=gale run /etc/gale/%i.yaml --state /var/lib/gale/%i/state\n", text)
        unit = self.path / "gale@.service"
        unit.write_text(text.replace("ExecStart=gale ", f"ExecStart={GALE} "))
        return unit

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not there (Debian: systemd)")
    def test_the_unit_file_is_whole(self):
        result = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", self.unit()],
                                capture_output=True, text=True, check=False)
        self.assertEqual((result.stdout, result.stderr, result.returncode), ("", "", 0))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not there (Debian: systemd)")
    def test_the_unit_file_is_hardened(self):
        result = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=15",
                                 self.unit()], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout[-2000:] + result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
