#!/usr/bin/env python3
"""What it costs to write a million messages of 100 bytes from a file to RabbitMQ, Redis, MQTT and NATS JetStream, each confirmed, and to read them, each acked: gale beside
benthos, what Redpanda Connect was (main.go, built by go). Each system's server runs in a folder of its own on this machine. By hand, on a machine with nothing else to do.

A row is one run: seconds of the clock; seconds of the processor, of the process itself; its memory at the most; messages that arrived, at the server or in the reader;
and what the server has left of them behind a reader, unread or without an answer.
"""

import argparse
import atexit
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from systems import SYSTEMS, load

LINE = 101  # bytes, with its end


SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


class Slow(Exception):
    """It does not get on, in words."""


class Run:
    """A process in a group of its own, and what it has used."""

    def __init__(self, command, folder, plugins, seconds):
        self.began, self.seconds, self.memory, self.took, self.used, self.status = time.monotonic(), seconds, 0, None, None, None
        self.log = folder / "log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(command, cwd=folder, env={**os.environ, "GALE_PLUGIN_PATH": plugins}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)

    def look(self):
        """True: it has ended. Its memory is read while it lives: what wait4 tells has that of this program in it, before the exec."""
        try:
            for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    self.memory = max(self.memory, int(line.split()[1]))
        except OSError:
            pass
        pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
        if not pid:
            return False
        self.process.returncode = self.status = os.waitstatus_to_exitcode(status)
        self.used = used.ru_utime + used.ru_stime
        self.took = self.took or time.monotonic() - self.began
        return True

    def until(self, condition):
        """Ends are waited for, too. Slow when the time is over."""
        while not self.look() and not condition():
            if time.monotonic() - self.began > self.seconds:
                self.kill()
                raise Slow(f"not done in {self.seconds:g} s")
            time.sleep(0.02)
        if self.status is not None and condition is not never and not condition():
            raise Slow(f"ended too soon: {self.log.read_text()[-600:]}")
        self.took = self.took or time.monotonic() - self.began

    def stop(self):
        """It is asked to, and its time is that up to here."""
        if self.status is None:
            self.process.send_signal(signal.SIGTERM)
        while self.status is None and not self.look():
            if time.monotonic() - self.began > self.seconds + 60:
                self.kill()
                raise Slow("does not end")
            time.sleep(0.02)

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        if self.status is None:
            while not self.look():
                time.sleep(0.01)


def never():
    return False


def descendants(pid):
    found = [int(child) for thread in Path(f"/proc/{pid}/task").glob("*") for child in (thread / "children").read_text().split()]
    return found + [below for child in found for below in descendants(child)]


def kill_all():
    """All that this program has begun, servers and what they have left behind: it inherits those (main), whatever it was doing when it ended."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            living = descendants(os.getpid())
            for pid in living:
                os.kill(pid, signal.SIGKILL)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        except (ProcessLookupError, FileNotFoundError):
            pass  # one has ended meanwhile
        time.sleep(0.02)


def sent(http):
    """How many messages the peer has written or dropped, in its own words; 0 while it does not say."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{http}/stats", timeout=5) as answer:
            found = json.load(answer)
    except (OSError, ValueError):
        return 0
    return sum(count for name, count in found.items() if name.startswith("output_sent") and isinstance(count, int))


class Bench:
    def __init__(self, given, folder):
        self.given, self.folder = given, folder
        self.gale, self.plugins = str(Path(given.gale).resolve()), str(Path(given.plugins).resolve())
        self.peer = str(folder / "peer")
        subprocess.run(["go", "build", "-o", self.peer, "."], cwd=Path(__file__).resolve().parent, check=True)
        with (folder / "in.txt").open("w") as file:
            file.writelines(f"{n:0100d}\n" for n in range(given.count))

    def start(self, who, text):
        (self.folder / "t.yaml").write_text(text)
        command = [self.gale, "run", "t.yaml"] if who == "gale" else [self.peer, "-c", "t.yaml"]
        return Run(command, self.folder, self.plugins, self.given.timeout)

    def write(self, system, who, texts, http):
        """How many messages arrived: the server's word, or, where it does not say, all that were confirmed (the run's exit code says so); the reader counts them."""
        run = self.start(who, texts[0])
        run.until(never)
        if run.status != 0:
            raise Slow(f"exit code {run.status}: {run.log.read_text()[-600:]}")
        return run, system.held(who), None

    def read(self, system, who, texts, http):
        out = self.folder / "out.txt"
        out.unlink(missing_ok=True)
        run = self.start(who, texts[1])
        size = self.given.count * LINE
        if who == "peer":
            run.until(lambda: sent(http) >= self.given.count)
        elif system.ends_by_itself:
            run.until(never)
        else:
            run.until(lambda: out.exists() and out.stat().st_size >= size)
        run.stop()
        left = system.held(who)
        arrived = self.given.count - left if left is not None else self.given.count if who == "peer" else len(set(out.read_bytes().split()))
        return run, arrived, left

    def row(self, name, system, what, who):
        http = load("redis", "server").free_port()
        label = f"{name:9} {what:6} {'gale' if who == 'gale' else 'benthos':8}"
        try:
            run, arrived, left = getattr(self, what)(system, who, system.texts(who, http), http)
        except Slow as why:
            print(f"{label} {why}", flush=True)
            return False
        told = lambda number: "" if number is None else f"{number:,}"
        print(f"{label} {run.took:9.2f} {run.used:10.2f} {run.memory / 1024:9.0f} {told(arrived):>11} {told(left):>7}", flush=True)
        return True

    def system(self, name):
        """A new server for each turn: it holds nothing of an earlier one."""
        system = SYSTEMS[name]()
        try:
            for who in ("gale", "peer"):
                if self.row(name, system, "write", who):
                    self.row(name, system, "read", who)
        finally:
            system.close()


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--gale", default="build/gale")
    words.add_argument("--plugins", default="build/plugins")
    words.add_argument("--count", type=int, default=1_000_000)
    words.add_argument("--turns", type=int, default=3)
    words.add_argument("--timeout", type=float, default=900, help="seconds of a run, at the most (900)")
    words.add_argument("systems", nargs="*", metavar="SYSTEM", help=f"of {', '.join(SYSTEMS)}; all without any")
    given = words.parse_args()
    for name in given.systems:
        if name not in SYSTEMS:
            words.error(f"there is no {name}: {', '.join(SYSTEMS)}")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    folder = Path(tempfile.mkdtemp(prefix="gale-peer-"))
    tempfile.tempdir = str(folder)  # the servers' are in it
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(kill_all)  # before that
    bench = Bench(given, folder)
    print(f"{given.count:,} messages            seconds  processor  MiB most     arrived    left", flush=True)
    for _ in range(given.turns):
        for name in given.systems or SYSTEMS:
            bench.system(name)


if __name__ == "__main__":
    main()
