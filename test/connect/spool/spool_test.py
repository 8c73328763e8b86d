#!/usr/bin/env python3
"""A disk buffer of the program: consumers that are away, kill -9, a full disk, a folder that is damaged.

usage: spool_test.py GALE CLASS
"""

import json
import random
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
BOUND = 240  # seconds: longer than any of this takes on any machine

TOPOLOGY = """\
name: t
config: {{topology.message.timeout.secs: 3600{config}}}
spouts:
  - {{id: in, className: gale.spout.File, properties: {{path: in.txt{state}}}}}
bolts:
  - {out}
streams:
  - {{from: in, to: out, grouping: {{type: {grouping}}}, buffer: {{disk: {disk}, path: {folder}{more}}}}}
"""


def durable():
    return "--state" in subprocess.run([GALE, "help", "run"], capture_output=True, text=True, check=True).stdout


def has_class(name):
    return name in subprocess.run([GALE, "help", "classes"], capture_output=True, text=True, check=True).stdout


class Consumer:
    """A server of lines, which may begin late."""

    def __init__(self):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(("127.0.0.1", 0))  # nobody listens: who connects is refused
        self.port = self.socket.getsockname()[1]
        self.taken = []
        self.threads = []

    def begin(self):
        self.socket.listen()
        thread = threading.Thread(target=self.serve, daemon=True)
        thread.start()

    def serve(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            thread = threading.Thread(target=self.take, args=(client,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def take(self, client):
        data = bytearray()
        with client:
            while part := client.recv(1 << 20):
                data += part
        self.taken.append(data)

    def lines(self):
        for thread in self.threads:
            thread.join(BOUND)
        return b"".join(self.taken).decode().splitlines()

    def end(self):
        self.socket.close()


class Buffers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.process = None
        self.runs = 0
        self.addCleanup(self.kill)
        self.consumer = Consumer()
        self.addCleanup(self.consumer.end)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()

    # --- The program

    def write(self, count, **given):
        """The file of `count` lines, and the topology that reads it."""
        sink = f"{{id: out, className: gale.bolt.TcpSink, properties: {{connect: '127.0.0.1:{self.consumer.port}'}}}}"
        told = {"config": "", "state": "", "out": sink, "grouping": "SHUFFLE", "disk": "64 MB", "folder": "buffer", "more": ""}
        (self.path / "t.yaml").write_text(TOPOLOGY.format(**{**told, **given}))
        if count:
            (self.path / "in.txt").write_text("".join(f"{i} {'x' * (i % 50)}\n" for i in range(1, count + 1)))

    def start(self, *arguments):
        self.runs += 1
        self.log = self.path / f"log{self.runs}"
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([GALE, "run", "t.yaml", *arguments], cwd=self.path, stdout=log, stderr=subprocess.STDOUT)

    def said(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def wait_for(self, what, is_so):
        end = time.monotonic() + BOUND
        while not is_so():
            self.assertLess(time.monotonic(), end, f"{what}: it has not come\n{self.said()[-2000:]}")
            self.assertIsNone(self.process.poll(), f"{what}: it has ended\n{self.said()[-2000:]}")
            time.sleep(0.02)

    def wait_for_words(self, words):
        self.wait_for(words, lambda: re.search(words, self.said()))

    def end(self, code=0):
        self.assertEqual(self.process.wait(BOUND), code, self.said()[-2000:])

    # --- The folder

    def segments(self, folder="buffer/0"):
        return sorted((self.path / folder).glob("*.spool"))

    def bytes_waiting(self, folder="buffer/0"):
        return sum(segment.stat().st_size for segment in self.segments(folder))

    def wait_until_all_waits(self, count, folder="buffer/0"):
        """Each record takes its head and its body: nothing moves any more when all are there."""
        last = ["", 0]

        def still():
            now = self.bytes_waiting(folder)
            last[1] = last[1] + 1 if now == last[0] else 0
            last[0] = now
            return last[1] > 10 and now > 40 * count

        self.wait_for("all records are in the folder", still)

    def wanted(self):
        return (self.path / "in.txt").read_text().splitlines()


class Away(Buffers):
    COUNT = 50_000

    def test_what_came_while_the_consumer_was_away_comes_when_it_is_back_in_order_once_and_the_run_ends(self):
        self.write(self.COUNT)
        self.start()
        self.wait_until_all_waits(self.COUNT)
        self.consumer.begin()
        self.end()
        self.assertEqual(self.consumer.lines(), self.wanted())
        self.assertEqual(self.segments(), [])

    def test_a_run_whose_consumer_is_there_leaves_nothing(self):
        self.write(self.COUNT)
        self.consumer.begin()
        self.start()
        self.end()
        self.assertEqual(self.consumer.lines(), self.wanted())
        self.assertEqual(self.segments(), [])

    def test_an_input_of_nothing_ends_at_once(self):
        self.write(0)
        (self.path / "in.txt").write_text("")
        self.consumer.begin()
        self.start()
        self.end()
        self.assertEqual(self.consumer.lines(), [])

    def test_a_buffer_that_is_full_holds_its_input_says_so_and_goes_on(self):
        self.write(self.COUNT, disk="256 KB")
        self.start()
        self.wait_for_words("in-out-buffer.*is full: [0-9]+ records wait in 256000 bytes")
        self.assertLessEqual(self.bytes_waiting(), 256_000)
        self.consumer.begin()
        self.end()
        self.assertEqual(self.consumer.lines(), self.wanted())

    def test_a_key_has_one_of_several_tasks_and_keeps_its_order(self):
        self.write(self.COUNT, grouping="FIELDS, args: [line]", more=", parallelism: 3", state=", emit: [line, number]")
        (self.path / "in.txt").write_text("".join(f"key{i % 7}\n" for i in range(7_000)))
        self.consumer.begin()
        self.start()
        self.end()
        numbers = {}
        for line in self.consumer.lines():
            key, number = line.split("\t")
            numbers.setdefault(key, []).append(int(number))
        self.assertEqual(numbers, {f"key{key}": list(range(key + 1, 7_001, 7)) for key in range(7)})

    def test_two_runs_do_not_share_a_folder(self):
        self.write(self.COUNT)
        self.start()
        self.wait_until_all_waits(self.COUNT)
        second = subprocess.run([GALE, "run", "t.yaml"], cwd=self.path, capture_output=True, text=True, check=False, timeout=BOUND)
        self.assertNotEqual(second.returncode, 0)
        self.assertIn(f"is in use by process {self.process.pid}", second.stderr)
        self.consumer.begin()
        self.end()
        self.assertEqual(self.consumer.lines(), self.wanted())

    def test_another_number_of_tasks_waits_until_the_folder_is_empty(self):
        self.write(self.COUNT)
        self.start()
        self.wait_until_all_waits(self.COUNT)
        self.kill()
        self.write(0, more=", parallelism: 2")
        self.start()
        self.assertNotEqual(self.process.wait(BOUND), 0)
        self.assertIn("run it with parallelism 1 until it is empty", self.said())


class Letters(Buffers):
    @unittest.skipUnless(has_class("gale.bolt.Filter"), "a gale without expressions")
    def test_what_is_rejected_behind_it_is_a_dead_letter_of_the_drain(self):
        (self.path / "in.txt").write_text("one\n")
        (self.path / "t.yaml").write_text("""\
name: t
config: {topology.dead_letters.file: dead.jsonl}
spouts: [{id: in, className: gale.spout.File, properties: {path: in.txt}}]
bolts:
  - {id: out, className: gale.bolt.Filter, properties: {where: "error(line)"}}
  - {id: letters, className: gale.bolt.FileSink, properties: {path: letters.txt}}
streams:
  - {from: in, to: out, grouping: {type: SHUFFLE}, buffer: {disk: 1 MB, path: buffer}}
  - {from: in-out-drain, to: letters, grouping: {type: SHUFFLE, streamId: __dead_letter}}
""")
        self.start()
        self.end(1)
        letter = json.loads((self.path / "dead.jsonl").read_text())
        self.assertEqual([letter["component"], letter["tuple"], letter["place"]], ["in-out-drain", ["one"], "out"])
        self.assertEqual((self.path / "letters.txt").read_text().split("\t")[0], "in-out-drain")


class Seen(Buffers):
    """What waits, and how much there is room for, is told wherever a run is looked at."""

    COUNT = 10_000
    TOKEN = "sesame-sesame-sesame-sesame"
    NAMES = ("records", "bytes", "limit_bytes")

    def listen(self):
        (self.path / "token").write_text(self.TOKEN + "\n")
        self.start("--listen", "127.0.0.1:0", "--listen-token-file", "token")
        self.wait_for_words(r"http://127\.0\.0\.1:[0-9]+")
        self.url = re.search(r"http://127\.0\.0\.1:[0-9]+", self.said()).group()

    def ask(self, path):
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {self.TOKEN}"})
        return urllib.request.urlopen(request, timeout=30).read().decode()

    def figures(self):
        """-1: it is not open yet."""
        found = dict(re.findall(r'^gale_metric_disk_buffer_(\w+)\{component="in-out-buffer",task="[0-9]+"\} (\S+)$', self.ask("/metrics"), re.M))
        return [float(found.get(name, -1)) for name in self.NAMES]

    def of_buffer(self, components, key):
        metrics = next(each["metrics"] for each in components if each[key] == "in-out-buffer")
        return {each["name"]: each["value"] for each in metrics}

    def test_what_waits_is_in_the_metrics_in_now_and_in_the_next_run(self):
        self.write(self.COUNT, disk="4 MB")
        self.listen()
        self.wait_for("all waits", lambda: self.figures()[0] == self.COUNT)
        self.assertEqual(self.figures()[1:], [self.bytes_waiting(), 4_000_000])
        now = json.loads(self.ask("/api/gale/v1/now"))
        self.assertEqual(self.of_buffer(now["components"], "name"),
                         {"disk_buffer_records": self.COUNT, "disk_buffer_bytes": self.bytes_waiting(), "disk_buffer_limit_bytes": 4_000_000})
        self.kill()
        (self.path / "in.txt").write_text("")
        self.listen()
        self.wait_for("it is open", lambda: self.figures()[2] >= 0)
        self.assertEqual(self.figures(), [self.COUNT, self.bytes_waiting(), 4_000_000])

    def test_a_run_that_is_over_says_that_nothing_waits(self):
        self.write(self.COUNT)
        self.consumer.begin()
        done = subprocess.run([GALE, "run", "t.yaml", "--json"], cwd=self.path, capture_output=True, text=True, check=True, timeout=BOUND)
        found = self.of_buffer(json.loads(done.stdout)["components"], "component")
        self.assertEqual((found["disk_buffer_records"], found["disk_buffer_limit_bytes"]), (0, 64_000_000))

    def test_a_buffer_that_is_nearly_full_is_not_well_until_there_is_room(self):
        self.write(self.COUNT)
        self.start()
        self.wait_until_all_waits(self.COUNT)
        self.kill()
        size = self.bytes_waiting()
        self.assertNotIn("nearly full", self.said())
        self.write(0, disk=int(size / 0.95), folder="other", state=", follow: true")
        self.listen()
        self.wait_for_words(r"in-out-buffer.*is nearly full: [0-9]+ records wait in [0-9]+ of [0-9]+ bytes \(disk\) of 'other/0'")
        self.wait_for("all waits", lambda: self.figures()[0] == self.COUNT)
        self.assertGreater(self.figures()[1] / self.figures()[2], 0.9)
        self.assertNotIn("is full", self.said())
        health = json.loads(self.ask("/api/gale/v1/now"))
        self.assertIn("is nearly full", json.dumps(health))
        self.consumer.begin()
        self.wait_for_words("in-out-buffer.*is well again")
        self.wait_for("nothing waits", lambda: self.figures()[0] == 0)
        self.assertEqual(self.said().count("is nearly full"), 1)
        self.kill()
        self.assertEqual(self.consumer.lines(), self.wanted())


class Killed(Buffers):
    COUNT = 30_000

    def check_at_least_once(self):
        """Each line came, and first ones in order: what came again is what came before."""
        seen, first = set(), []
        for line in self.consumer.lines():
            if line not in seen:
                first.append(line)
            seen.add(line)
        self.assertEqual(first, self.wanted())

    def test_kill_9_while_the_consumer_is_away_loses_nothing(self):
        self.write(self.COUNT, state=", state: place", config=", gale.rate: 60000")
        for round_ in range(8):
            self.start()
            before = self.bytes_waiting() if round_ else 0
            self.wait_for("more is in the folder", lambda: self.bytes_waiting() > before or self.bytes_waiting() > 40 * self.COUNT)
            self.kill()
        self.start()
        self.wait_until_all_waits(self.COUNT)
        self.consumer.begin()
        self.end()
        self.check_at_least_once()

    def test_kill_9_while_it_drains_repeats_what_was_not_written_down_and_loses_nothing(self):
        self.write(self.COUNT, state=", state: place")
        self.start()
        self.wait_until_all_waits(self.COUNT)
        self.kill()
        self.write(0, state=", state: place", config=", gale.rate: 20000")
        self.consumer.begin()
        for _ in range(4):
            had = sum(map(len, self.consumer.taken))
            self.start()
            clients = len(self.consumer.threads)
            self.wait_for("the consumer is connected to", lambda: len(self.consumer.threads) > clients)
            time.sleep(random.uniform(0.05, 0.3))
            self.kill()
            self.assertGreaterEqual(sum(map(len, self.consumer.taken)), had)
        self.write(0, state=", state: place")
        self.start()
        self.end()
        # A line that was cut off by a kill is none: it comes again, and is behind it.
        data = b"".join(part[: part.rfind(b"\n") + 1] for part in self.consumer.taken)
        self.consumer.taken = [data]
        self.check_at_least_once()


class Damaged(Buffers):
    """What was lost is an error of the run: it ends with 1."""

    COUNT = 20_000

    def fill(self):
        self.write(self.COUNT, disk="4 MB", state=", state: place")
        self.start()
        self.wait_until_all_waits(self.COUNT)
        self.kill()

    def test_a_damaged_segment_is_told_and_the_rest_goes_on(self):
        self.fill()
        segment = self.segments()[1]
        data = bytearray(segment.read_bytes())
        for at in range(5_000, 6_000):
            data[at] ^= 0x5A
        segment.write_bytes(data)
        self.consumer.begin()
        self.start()
        self.end(1)
        told = re.search(rf"{re.escape(segment.name)}' is damaged: of (\d+) bytes from byte (\d+) on, records (\d+) to (\d+) \((\d+)\) are lost", self.said())
        self.assertIsNotNone(told, self.said()[-2000:])
        size, offset, first, last, count = map(int, told.groups())
        self.assertLessEqual(offset, 5_000)
        self.assertGreaterEqual(offset + size, 6_000)
        self.assertEqual(last - first + 1, count)
        wanted = self.wanted()
        self.assertEqual(self.consumer.lines(), wanted[: first - 1] + wanted[last:])
        self.assertIn(f"{count} records were damaged and passed over in this run", self.said())

    def test_a_segment_that_is_gone_is_told_and_the_others_go_on(self):
        self.fill()
        segment, behind = self.segments()[1:3]
        first, last = int(segment.name[:20]), int(behind.name[:20]) - 1
        segment.unlink()
        self.consumer.begin()
        self.start()
        self.end(1)
        self.assertIn(f"records {first} to {last} ({last - first + 1}) are lost", self.said())
        wanted = self.wanted()
        self.assertEqual(self.consumer.lines(), wanted[: first - 1] + wanted[last:])

    def test_records_of_other_fields_stop_the_run_and_are_not_lost(self):
        self.fill()
        text = (self.path / "t.yaml").read_text()
        (self.path / "t.yaml").write_text(text.replace("state: place", "state: place, emit: [line, number]"))
        self.start()
        self.assertNotEqual(self.process.wait(BOUND), 0)
        self.assertIn("has 1 values, and there are 2 fields ('line, number')", self.said())
        (self.path / "t.yaml").write_text(text)
        self.consumer.begin()
        self.start()
        self.end()
        self.assertEqual(self.consumer.lines(), self.wanted())


class Full(Buffers):
    COUNT = 40_000

    def setUp(self):
        super().setUp()
        self.disk = self.path / "disk"
        self.disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(self.disk)], capture_output=True, check=False)
        if mounted.returncode:
            self.skipTest("no small disk can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.disk)], check=False)

    def fill_disk(self):
        """To the last byte."""
        with open(self.disk / "other", "wb", buffering=0) as other:
            for size in (65536, 1):
                try:
                    while other.write(b"x" * size):
                        pass
                except OSError:
                    pass

    def test_a_full_disk_holds_the_input_says_so_and_goes_on_when_there_is_room(self):
        self.write(self.COUNT, folder="disk/buffer")
        self.start()
        self.wait_for_words("in-out-buffer.*No space left on device")
        self.consumer.begin()
        self.end()
        self.assertEqual(self.consumer.lines(), self.wanted())

    def test_a_disk_that_others_have_filled_is_waited_for(self):
        self.write(self.COUNT, folder="disk/buffer")
        self.fill_disk()
        self.consumer.begin()
        self.start()
        self.wait_for_words("No space left on device")
        (self.disk / "other").unlink()
        self.end()
        self.assertEqual(self.consumer.lines(), self.wanted())


@unittest.skipUnless(durable(), "no run can be durable here")
class Durable(Buffers):
    COUNT = 60_000
    OUT = "{id: out, className: gale.bolt.FileSink, properties: {path: out.txt}}"

    def output(self):
        return (self.path / "out.txt").read_text().splitlines()

    def test_kill_9_at_any_moment_gives_each_line_once_and_in_order(self):
        random.seed(17)
        self.write(self.COUNT, out=self.OUT, config=", gale.rate: 30000, topology.state.checkpoint.interval.ms: 50")
        for _ in range(12):
            self.start("--state", "state")
            time.sleep(random.uniform(0.05, 0.4))
            self.kill()
        self.write(0, out=self.OUT, config=", topology.state.checkpoint.interval.ms: 50")
        self.start("--state", "state")
        self.end()
        self.assertEqual(self.output(), self.wanted())
        self.assertNotIn("lost", self.said())

    def test_a_buffer_that_is_full_asks_for_checkpoints(self):
        self.write(15_000, out=self.OUT, disk="128 KB")  # some dozen times as much
        self.start("--state", "state")
        self.end()
        self.assertEqual(self.output(), self.wanted())

    def test_a_consumer_that_is_away_while_the_run_is_killed_gets_all(self):
        self.write(self.COUNT, config=", topology.state.checkpoint.interval.ms: 50")
        self.start("--state", "state")
        self.wait_until_all_waits(self.COUNT)
        self.wait_for("a checkpoint", lambda: (self.path / "state").exists())
        self.kill()
        self.start("--state", "state")
        self.wait_until_all_waits(self.COUNT)
        self.consumer.begin()
        self.end()
        self.assertEqual(self.consumer.lines(), self.wanted())

    def test_a_folder_that_is_not_the_runs_is_refused(self):
        self.write(self.COUNT, config=", topology.state.checkpoint.interval.ms: 50")
        self.start("--state", "state")
        self.wait_until_all_waits(self.COUNT)
        self.kill()
        for segment in self.segments():
            segment.unlink()
        self.start("--state", "state")
        self.assertNotEqual(self.process.wait(BOUND), 0)
        self.assertIn("disk buffer 'buffer/0': it has fewer records than the checkpoint's ", self.said())
        self.assertRegex(self.said(), "to go on: gale state reset DIR --component in-out-(buffer --component in-out-drain|drain --component in-out-buffer)")
        self.reset()
        self.append(-1, -1)
        self.consumer.begin()
        self.start("--state", "state")
        self.end()
        self.assertEqual(self.consumer.lines()[-1], "-1")  # what stood in the folder is gone, and nothing else

    def test_behind_an_older_checkpoint_the_buffer_begins_anew(self):
        self.write(10, config=", topology.state.checkpoint.interval.ms: 50", state=", follow: true")
        self.consumer.begin()
        self.start("--state", "state")
        self.wait_for("ten are answered", lambda: self.position() == 11)
        subprocess.run([GALE, "checkpoint", "old", "--state", "state"], cwd=self.path, check=True, capture_output=True, timeout=BOUND)
        self.append(11, 20)
        self.wait_for("twenty are answered", lambda: self.position() == 21)
        self.process.terminate()
        self.end()
        subprocess.run([GALE, "state", "reset", "state", "--yes"], cwd=self.path, check=True, capture_output=True, timeout=BOUND)
        self.start("--state", "state", "--from", "old")
        self.assertNotEqual(self.process.wait(BOUND), 0)
        self.assertRegex(self.said(), "to go on: gale state reset DIR --component in-out-(buffer --component in-out-drain|drain --component in-out-buffer)")
        self.reset()
        self.start("--state", "state")
        self.wait_for("ten are answered again", lambda: self.position() == 31)
        self.process.terminate()
        self.end()
        lines = self.wanted()
        self.assertEqual(self.consumer.lines(), lines + lines[10:])  # what came since the checkpoint comes again

    def append(self, first, last):
        with open(self.path / "in.txt", "a", encoding="utf-8") as lines:
            lines.write("".join(f"{i}\n" for i in range(first, last + 1)))

    def position(self):
        """All records below it are answered: of two places, the newer."""
        try:
            places = struct.iter_unpack("<8sQQQ", (self.path / "buffer/0/position").read_bytes())
            return max((turn, position) for _, turn, position, _ in places)[1]
        except (OSError, ValueError, struct.error):
            return 0

    def reset(self):
        """The buffer alone."""
        components = ["--component", "in-out-buffer", "--component", "in-out-drain"]
        subprocess.run([GALE, "state", "reset", "state", "--yes", *components], cwd=self.path, check=True, timeout=BOUND)

    def test_a_run_without_the_state_is_refused_and_takes_nothing(self):
        self.write(10)
        self.start("--state", "state")
        self.wait_until_all_waits(10)
        self.process.terminate()
        self.end()
        self.assertIn("'buffer/0': 10 records stay for the next run", self.said())
        kept = [segment.read_bytes() for segment in self.segments()]
        letter = {"component": "in", "stream": "default", "message_id": 1, "tuple": ["again"], "reason": "rejected", "text": "", "place": "out", "task": 1, "attempts": 1}
        (self.path / "letters").write_text(json.dumps(letter) + "\n")
        for replay in [], ["--replay-dead-letters", "letters"]:
            self.start(*replay)
            self.assertNotEqual(self.process.wait(BOUND), 0)
            self.assertIn("disk buffer 'buffer/0': durable runs have it", self.said())
            self.assertIn("remove 'buffer/durable' where no state needs it", self.said())
        self.assertEqual([segment.read_bytes() for segment in self.segments()], kept)
        # Its ways out: another folder, and the state.
        self.start("--set", "in-out-buffer.path=other", "--set", "in-out-drain.path=other")
        self.wait_until_all_waits(10, "other/0")
        self.kill()
        self.consumer.begin()
        self.start("--state", "state")
        self.end()
        self.assertEqual(self.consumer.lines(), self.wanted())

    def test_one_record_that_stays_is_one(self):
        self.write(1)
        self.start("--state", "state")
        self.wait_until_all_waits(1)
        self.process.terminate()
        self.end()
        self.assertIn("'buffer/0': 1 record stays for the next run", self.said())

    def test_a_durable_run_goes_on_with_what_a_run_without_a_state_left(self):
        self.write(10)
        self.start()
        self.wait_until_all_waits(10)
        self.kill()
        self.consumer.begin()
        self.start("--state", "state")
        self.end()
        self.assertEqual(self.consumer.lines()[:10], self.wanted())
        self.start()
        self.assertNotEqual(self.process.wait(BOUND), 0)
        self.assertIn("durable runs have it", self.said())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], sys.argv[2]], verbosity=2)
