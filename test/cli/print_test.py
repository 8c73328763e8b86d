#!/usr/bin/env python3
"""Lines for the standard output, by Printer and by FileSink: many go with one write, none is late, torn or lost.

usage: print_test.py GALE
"""

import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
LIMIT = 300  # seconds, of a busy machine
LINES = 20000

TOPOLOGY = """\
name: t
spouts:
  - {{id: lines, className: gale.spout.File, properties: {{path: "{path}"}}}}
bolts:
{bolts}
streams:
{streams}
"""
PRINTER = "className: gale.bolt.Printer"
SINK = "className: gale.bolt.FileSink, properties: {path: '-'}"


def topology(path, *bolts):
    rows = [f"  - {{id: b{i}, {bolt}}}" for i, bolt in enumerate(bolts)]
    streams = [f"  - {{from: lines, to: b{i}, grouping: {{type: SHUFFLE}}}}" for i in range(len(bolts))]
    return TOPOLOGY.format(path=path, bolts="\n".join(rows), streams="\n".join(streams))


def text_of(line):
    return json.loads(line)["values"]["line"] if line.startswith("{") else line


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def start(self, text, executors=1, **streams):
        (self.path / "t.yaml").write_text(text)
        command = [GALE, "run", "t.yaml", "--no-control", "-j", str(executors)]
        process = subprocess.Popen(command + ([] if "stderr" in streams else ["-q"]), cwd=self.path, **streams)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process


class Printed(Case):
    def messages(self, bolt):
        """What each write wrote: it is a message of its own on such a socket."""
        (self.path / "in.txt").write_text("".join(f"line {i}\n" for i in range(LINES)))
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            process = self.start(topology("in.txt", bolt), stdout=theirs)
            theirs.close()
            messages = list(iter(lambda: ours.recv(1 << 20).decode(), ""))
            self.assertEqual(process.wait(LIMIT), 0)
        return messages

    def test_many_lines_go_with_one_write(self):
        for bolt in PRINTER, SINK:
            with self.subTest(bolt):
                messages = self.messages(bolt)
                self.assertTrue(all(message.endswith("\n") for message in messages))
                lines = "".join(messages).splitlines()
                self.assertEqual([text_of(line) for line in lines], [f"line {i}" for i in range(LINES)])
                self.assertLess(len(messages), LINES / 20)

    def test_a_line_is_seen_while_the_run_waits_for_the_next(self):
        for bolt in PRINTER, SINK:
            with self.subTest(bolt):
                process = self.start(topology("-", bolt), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                for i in range(3):
                    process.stdin.write(b"line %d\n" % i)
                    process.stdin.flush()
                    ready, _, _ = select.select([process.stdout], [], [], LIMIT)
                    self.assertTrue(ready, "nothing is written")
                    self.assertEqual(text_of(process.stdout.readline().decode().rstrip("\n")), f"line {i}")
                process.stdin.close()
                self.assertEqual(process.wait(LIMIT), 0)
                process.stdout.close()

    def test_messages_do_not_overtake_the_lines_before_them(self):
        """One pipe for both. The bolt that logs gets a line after the one that prints it."""
        (self.path / "in.txt").write_text("".join(f"line {i}\n" for i in range(20)))
        for bolt in PRINTER, SINK:
            with self.subTest(bolt):
                process = self.start(topology("in.txt", bolt, "className: gale.bolt.Log"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                both, _ = process.communicate(timeout=LIMIT)
                lines = both.decode().splitlines()
                logged = [i for i, line in enumerate(lines) if "INFO b1: " in line]
                printed = [i for i, line in enumerate(lines) if i not in logged and "line " in line and "INFO" not in line]
                self.assertEqual((len(printed), len(logged)), (20, 20), both)
                self.assertTrue(all(p < l for p, l in zip(printed, logged)), both)

    def test_lines_of_several_tasks_are_whole(self):
        """Each is longer than what a pipe takes at once."""
        wanted = ["%d%s" % (i, "abcdefgh"[i % 8] * (9000 if i % 3 else 3)) for i in range(600)]
        (self.path / "in.txt").write_text("".join(line + "\n" for line in wanted))
        process = self.start(topology("in.txt", PRINTER + ", parallelism: 2", SINK + ", parallelism: 2"), executors=2, stdout=subprocess.PIPE)
        out, _ = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 0)
        lines = out.decode().splitlines()
        self.assertEqual(sorted(text_of(line) for line in lines if line.startswith("{")), sorted(wanted))
        self.assertEqual(sorted(line for line in lines if not line.startswith("{")), sorted(wanted))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
