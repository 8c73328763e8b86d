#!/usr/bin/env python3
"""A week in ten minutes: a service under a supervisor, to which everything happens that does in a week, faster: its input grows and is
rotated, its output is rotated with SIGHUP, it is changed to its file and to other numbers of tasks, its file is wrong for a while, it is
stopped, killed, and its disk is full and comes free again. At the end each line is in the output once, and counted once;
memory and descriptors are what they were.

usage: week.py GALE [--minutes M] [--seed N] [--keep FOLDER]
"""

import argparse
import collections
import http.client
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOPOLOGY = """\
name: week
config:
  topology.message.timeout.secs: 3600
  topology.state.checkpoint.interval.ms: 50
  gale.state.memory.mb: 8
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{name: path, value: in.log}, {name: follow, value: true}]
bolts:
  - {id: split, className: gale.bolt.Split, parallelism: 2}
  - {id: known, className: gale.bolt.Filter, properties: [{name: where, value: "word:sub(1, 1) == 'w'"}]}
  - {id: count, className: gale.bolt.Count, parallelism: 3, properties: [{name: emit, value: finish}]}
  - {id: sink, className: gale.bolt.FileSink, properties: [{name: path, value: out.tsv}]}
streams:
  - {from: lines, to: split, grouping: {type: SHUFFLE}}
  - {from: lines, to: sink, grouping: {type: GLOBAL}}
  - {from: split, to: known, grouping: {type: SHUFFLE}}
  - {from: known, to: count, grouping: {type: FIELDS, args: [word]}}
"""

# How a life may end: in order, by a full disk, killed; and by a signal that came before gale waited for it.
ENDS = (0, 3, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP)
PATIENCE = 300  # seconds after which something hangs
WORDS = 200
BURST = 100  # lines that are written at once
PART = 20_000  # lines of a file, about
KEPT = 8  # rotated files, as logrotate's `rotate 8`: whoever goes on looks into each that is there


class Refused(Exception):
    """The run is not there, or not any more."""


class Client(http.client.HTTPConnection):
    """One request at a run's own socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(str(self.path))


class Input:
    """A log that grows and is rotated, and what stands in it."""

    def __init__(self, folder, drawn):
        self.folder, self.drawn = folder, drawn
        self.lines, self.parts, self.words = 0, 0, collections.Counter()
        self.file = (folder / "in.log").open("a", buffering=1 << 20)
        self.in_part = 0
        self.ends = []  # of rotated files that are there: number, lines up to its end

    def grow(self):
        for _ in range(BURST):
            words = [f"w{self.drawn.randrange(WORDS)}" for _ in range(3)]
            self.words.update(words)  # the names of lines are not counted: the state would grow
            self.file.write(f"{' '.join(words)} line-{self.lines}\n")
            self.lines += 1
        self.file.flush()
        self.in_part += BURST

    def rotate(self):
        self.parts += 1
        os.rename(self.folder / "in.log", self.folder / f"in.log.{self.parts}")
        self.ends.append((self.parts, self.lines))
        self.file.close()
        self.file = (self.folder / "in.log").open("a", buffering=1 << 20)
        self.in_part = 0


    def remove(self, through):
        """Old files, of which all came through, and so many lines behind them that a checkpoint knows."""
        while len(self.ends) > KEPT and self.ends[1][1] <= through:
            (self.folder / f"in.log.{self.ends.pop(0)[0]}").unlink()


class Service:
    """The supervisor: it starts the run again whenever it has ended."""

    def __init__(self, gale, folder):
        self.gale, self.folder = gale, folder
        self.process, self.lives, self.codes = None, 0, collections.Counter()
        self.full = False  # the next life begins with a full disk
        self.start()

    def start(self):
        limit = self.limit() if self.full else None
        self.process = subprocess.Popen(
            [self.gale, "run", "week.yaml", "--state", "state", "--log-file", "log", "--log-format", "json", "-q", "-j", "2"],
            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=(self.folder / "err").open("a"),
            env={**os.environ, "XDG_RUNTIME_DIR": str(self.folder)},
            preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)) if limit else None)
        self.lives += 1

    @staticmethod
    def limit(size=1 << 16):
        return (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1])

    def look(self):
        """Starts it again if it has ended."""
        code = self.process.poll()
        if code is None:
            return
        self.codes[code] += 1
        if code not in ENDS:
            raise SystemExit(f"a life ended with {code}:\n" + tail(self.folder))
        self.start()

    def ask(self, method, what, body=None):
        client = Client(self.folder / "gale" / f"week.{self.process.pid}.sock")
        try:
            client.request(method, "/api/gale/v1/" + what, body and json.dumps(body),
                           {"Content-Type": "application/json"} if body is not None else {})
            answer = client.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Refused from error
        finally:
            client.close()

    def change(self, **body):
        """Until it is done; what became of it."""
        status, asked = self.ask("POST", "restart", body)
        if status == 503:
            raise Refused
        assert status == 202, asked
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            told = self.ask("GET", "reload")[1]
            if told["number"] == asked["number"] and told["state"] in ("done", "refused"):
                return told
            time.sleep(0.002)
        raise SystemExit("a change hangs:\n" + tail(self.folder))

    def stop(self, number):
        """Ended by a signal, and waited for."""
        process = self.process
        process.send_signal(number)
        try:
            return process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise SystemExit(f"signal {number} does not end it:\n" + tail(self.folder)) from None

    def runs(self):
        """Waits until a life runs."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.look()
            try:
                if self.ask("GET", "now")[0] == 200:
                    return
            except Refused:
                pass
            time.sleep(0.005)
        raise SystemExit("it does not begin:\n" + tail(self.folder))

    def size(self):
        """Kilobytes in memory, and descriptors."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)), len(os.listdir(f"/proc/{self.process.pid}/fd"))


def tail(folder):
    return "".join(path.read_text()[-3000:] for path in (folder / "log", folder / "err") if path.exists())


class Week:
    def __init__(self, gale, folder, drawn):
        self.folder, self.drawn = folder, drawn
        self.write(TOPOLOGY)
        self.input = Input(folder, drawn)
        self.service = Service(gale, folder)
        self.rotations, self.stills, self.done = 0, [], collections.Counter()

    # --- What happens

    def rotate_output(self):
        self.rotations += 1
        if (self.folder / "out.tsv").exists():
            os.rename(self.folder / "out.tsv", self.folder / f"out.tsv.{self.rotations}")
        if (self.folder / "log").exists():
            os.replace(self.folder / "log", self.folder / "log.1")
        self.service.process.send_signal(signal.SIGHUP)

    def rotate_input(self):
        if self.input.in_part >= PART:
            self.input.rotate()
            self.input.remove(len(self.output()))

    def count(self, told):
        self.done[told["state"]] += 1
        if told["state"] == "done":
            self.stills.append(told["stood_still"])
        return told

    def reload(self):
        self.count(self.service.change())

    def restart(self):
        self.count(self.service.change(set=[f"count.parallelism={self.drawn.randrange(1, 7)}",
                                            f"split.parallelism={self.drawn.randrange(1, 5)}"]))

    def write(self, text):
        """All of it or what it was, as an editor does."""
        (self.folder / "week.yaml.new").write_text(text)
        os.replace(self.folder / "week.yaml.new", self.folder / "week.yaml")

    def wrong_file(self):
        self.service.runs()  # who begins with it would be refused for good
        self.write(TOPOLOGY.replace("SHUFFLE", "SHUFLE"))
        try:
            assert self.count(self.service.change())["state"] == "refused"
        finally:
            self.write(TOPOLOGY)

    def stop(self):
        code = self.service.stop(signal.SIGTERM)
        if code not in ENDS:
            raise SystemExit(f"SIGTERM ended it with {code}:\n" + tail(self.folder))

    def kill(self):
        self.service.stop(signal.SIGKILL)

    def full_disk(self):
        """For the life that runs, and mostly for one more."""
        try:
            resource.prlimit(self.service.process.pid, resource.RLIMIT_FSIZE, self.service.limit())
        except ProcessLookupError:
            return
        self.service.full = self.drawn.random() < 0.7
        end = time.monotonic() + 1
        while time.monotonic() < end and self.service.process.poll() is None:
            self.input.grow()
            time.sleep(0.01)
        self.service.look()
        self.service.full = False
        end = time.monotonic() + 1
        while time.monotonic() < end and self.service.process.poll() is None:
            time.sleep(0.01)
        if self.service.process.poll() is None:
            resource.prlimit(self.service.process.pid, resource.RLIMIT_FSIZE, self.service.limit(resource.RLIM_INFINITY))

    # --- The days

    def day(self, end, deeds):
        """Things happen until `end`; whoever is asked and is not there has just ended."""
        while time.monotonic() < end:
            self.input.grow()
            self.rotate_input()
            self.service.look()
            if self.drawn.random() < 0.2:
                deed = self.drawn.choice(deeds)
                self.done[deed.__name__] += 1
                try:
                    deed()
                except Refused:
                    pass
            time.sleep(0.03)

    def flat(self, end):
        """A life that is changed and rotated and nothing else: its memory and descriptors over that time."""
        self.service.runs()
        sizes = []
        while time.monotonic() < end:
            self.day(time.monotonic() + 1, (self.reload, self.restart, self.rotate_output, self.wrong_file))
            self.count(self.service.change(set=["count.parallelism=4", "split.parallelism=2"]))
            sizes.append(self.service.size())
        return sizes

    def finish(self):
        """Until all is through; then it ends in order."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.service.look()
            try:
                now = self.service.ask("GET", "now")[1]
                if now["trees"]["open"] == 0 and len(self.output()) >= self.input.lines:
                    return self.stop()
            except (Refused, KeyError):
                pass
            time.sleep(0.2)
        raise SystemExit(f"{self.input.lines} lines were written, and {len(self.output())} came through:\n" + tail(self.folder))

    def output(self):
        parts = [*self.folder.glob("out.tsv.*"), self.folder / "out.tsv"]
        return [line for path in parts if path.exists() for line in path.read_text().splitlines()]


def check_output(week):
    names = collections.Counter(line.rsplit(" ", 1)[-1] for line in week.output())
    wanted = {f"line-{number}" for number in range(week.input.lines)}
    twice = [name for name, times in names.items() if times > 1]
    if twice or set(names) != wanted:
        raise SystemExit(f"{len(wanted - set(names))} lines are lost, {len(twice)} came twice: "
                         f"{sorted(wanted - set(names))[:3]} {twice[:3]}")


def check_counts(week):
    text = subprocess.run([week.service.gale, "state", "export", "state"], cwd=week.folder, capture_output=True, text=True,
                          check=True).stdout
    counts = {}
    for line in text.splitlines():
        record = json.loads(line)
        if record.get("component") == "count":
            counts[record["key"]] = record["value"]
    wrong = [word for word, times in week.input.words.items() if counts.get(word) != times]
    if wrong or len(counts) != len(week.input.words):
        raise SystemExit(f"{len(wrong)} words of {len(week.input.words)} are counted wrongly: "
                         f"{[(word, counts.get(word), week.input.words[word]) for word in wrong[:3]]}")


def check_flat(sizes):
    """The last third against the second, when all had their sizes."""
    third = max(1, len(sizes) // 3)
    before, after = sizes[third:2 * third] or sizes, sizes[-third:]
    memory = [max(size[0] for size in part) for part in (before, after)]
    files = [max(size[1] for size in part) for part in (before, after)]
    if memory[1] > memory[0] * 1.25 + 8192 or files[1] > files[0] + 4:
        raise SystemExit(f"it grows: {memory[0]} kB and {files[0]} descriptors became {memory[1]} kB and {files[1]}: {sizes}")
    return memory[1], files[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gale")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--keep", help="work in this folder, and leave it")
    chosen = parser.parse_args()
    folder = Path(chosen.keep or tempfile.mkdtemp(prefix="gale-week-"))
    folder.mkdir(exist_ok=True)
    print(f"a week in {chosen.minutes:g} minutes, seed {chosen.seed}", flush=True)
    week = Week(str(Path(chosen.gale).resolve()), folder, random.Random(chosen.seed))
    try:
        begin, seconds = time.monotonic(), chosen.minutes * 60
        sizes = week.flat(begin + seconds * 0.3)
        week.day(begin + seconds, (week.reload, week.restart, week.rotate_output, week.rotate_output, week.wrong_file,
                                   week.stop, week.kill, week.kill, week.full_disk))
        week.finish()
        check_output(week)
        check_counts(week)
        memory, files = check_flat(sizes)
    finally:
        week.service.process.kill()
        week.service.process.wait()
    stills = sorted(week.stills) or [0]
    print(f"{week.input.lines} lines in {week.input.parts + 1} files, {week.service.lives} lives "
          f"({', '.join(f'{times} ended with {code}' for code, times in sorted(week.service.codes.items()))}), "
          f"{week.rotations} rotations, {week.done['done']} changes, {week.done['refused']} refused; spouts stood still for "
          f"{stills[len(stills) // 2] * 1e3:.1f} ms (median), {stills[-1] * 1e3:.1f} ms at the most; {memory} kB, {files} "
          "descriptors: each line is there once, and counted once")
    if not chosen.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
