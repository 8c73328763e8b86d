#!/usr/bin/env python3
"""Ctrl-C and SIGTERM end every command, in every state, within a second: of the signal, or of --end-within. A busy machine delays one attempt, and perhaps
the next one; it does not delay all, as a bound in the program that is too long does. So a row is played again, ATTEMPTS times at most, until it has ended within
PROMISE. Every attempt ends before LIMIT, where it would have waited for LONG otherwise.

usage: ends_test.py GALE HAS-STORE SANITIZED
"""

import concurrent.futures
import contextlib
import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "serve"))
import rig  # noqa: E402

GALE = str(Path(sys.argv[1]).resolve())
HAS_STORE = sys.argv[2:3] == ["1"]
SANITIZED = sys.argv[3:4] == ["1"]  # its bounds are longer (GX_SIGNALS_SLOW)
LIMIT, LONG = 60, 600
PROMISE, ATTEMPTS = 1.5, 1 if SANITIZED else 12
SIGNALS = (signal.SIGINT, signal.SIGTERM)

# Whether the sink comes back is up to whoever reads the pipe: nobody does.
TOPOLOGY = """\
name: {name}
config: {{ topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100 }}
spouts:
  - id: in
    className: gale.spout.File
    properties: [{{ name: path, value: {input} }}, {{ name: follow, value: {follow} }}]
bolts:
  - id: out
    className: gale.bolt.{sink}
    properties: {{ {properties} }}
streams:
  - {{ from: in, to: out, grouping: {{ type: SHUFFLE }} }}
"""

CASES = """\
cases:
  - name: goes on
    seeds: 100000
    steps:
      - feed: in
        lines: "a"
      - acked: in
"""


def fill(fd):
    """Until nothing more fits."""
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    fcntl.fcntl(fd, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(fd, b"x")
    fcntl.fcntl(fd, fcntl.F_SETFL, flags)


def ticks(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[0], fields[11], fields[12]


class Scene:
    """A folder with what a row needs, and the processes that are started in it. All end with it."""

    def __init__(self):
        self.stack = contextlib.ExitStack()
        self.path = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.runtime = self.path / "run"
        self.runtime.mkdir(mode=0o700)
        (self.path / "in.txt").write_text("a line\n" * 50000)
        (self.path / "empty.txt").write_text("")
        os.mkfifo(self.path / "fifo")
        self.write("quick", "empty.txt", "Count", "")
        self.write("lasts", "in.txt", "FileSink", "path: /dev/null, overwrite: true")
        self.write("hung", "in.txt", "FileSink", "path: fifo, overwrite: true")
        self.write("opens", "fifo", "FileSink", "path: out.tsv, overwrite: true")
        self.write("away", "in.txt", "TcpSink", f"connect: '127.0.0.1:{self.closed_port()}', framing: lines")

    def write(self, name, source, sink, properties):
        (self.path / f"{name}.yaml").write_text(TOPOLOGY.format(name=name, input=source, sink=sink, properties=properties,
                                                                  follow=str(source != "fifo").lower()))

    def closed_port(self):
        """It is bound, and nobody listens at it."""
        bound = self.stack.enter_context(socket.socket())
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]

    def start(self, *words, out=None, **more):
        log = open(self.path / "log", "ab") if out is None else out
        process = subprocess.Popen([GALE, *words], cwd=self.path, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   env=dict(os.environ, XDG_RUNTIME_DIR=str(self.runtime)), **more)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        if out is None:
            log.close()
        return self.heeds(process)

    def heeds(self, process):
        """Its signals are the program's own from here on."""
        blocked = re.compile(r"^SigBlk:\s*[0-9a-f]*[4-7c-f][0-9a-f]{3}$", re.M)  # SIGTERM among them
        rig.until(lambda: process.poll() is not None or blocked.search(Path(f"/proc/{process.pid}/status").read_text()), "its first step")
        return process

    def settles(self, process):
        """It waits: three times in a row it sleeps, and has done nothing."""
        seen = []

        def waits():
            if process.poll() is not None:
                return True
            seen.append(ticks(process.pid))
            return len(seen) > 3 and seen[-1][0] == "S" and len(set(seen[-3:])) == 1
        rig.until(waits, "its sleep")
        return process

    def full_pipe(self):
        ours, theirs = os.pipe()
        self.stack.callback(os.close, ours)
        self.stack.callback(os.close, theirs)
        fill(theirs)
        return theirs

    def control(self, process):
        def listened():
            assert process.poll() is None, self.log()
            return next(self.runtime.glob(f"gale/*.{process.pid}.sock"), None)
        return rig.until(listened, "its socket")

    def now(self, process):
        path, run = self.control(process), rig.Run.__new__(rig.Run)
        try:
            return run.json("/api/gale/v1/now", connection=rig.UnixConnection(path))
        except (OSError, ValueError):
            return {"phase": "", "executors": []}

    def runs(self, name, *options, **more):
        """A run whose components are all open."""
        process = self.start("run", f"{name}.yaml", "--end-within", str(LONG), *options, **more)
        rig.until(lambda: self.now(process)["phase"] == "running", f"its begin: {self.log()}")
        return process

    def hangs(self, *options):
        """--end-within is the last one that is given. Somebody holds the pipe open and does not read it: the sink is in a write that does not come back."""
        self.stack.callback(os.close, os.open(self.path / "fifo", os.O_RDWR))
        process = self.runs("hung", *options)
        rig.until(lambda: any(e["in_call"] and e["in_call"]["since"] > 0.5 for e in self.now(process)["executors"]), "its hang")
        return process

    def stopped(self):
        """A run that answers nobody."""
        return self.stop(self.runs("lasts"))

    def stop(self, process):
        """All its threads."""
        process.send_signal(signal.SIGSTOP)
        threads = lambda: [path.read_text().rpartition(")")[2].split()[0] for path in Path(f"/proc/{process.pid}/task").glob("*/stat")]
        rig.until(lambda: set(threads()) == {"T"}, "its stop")
        return process

    def log(self):
        path = self.path / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.stack.close()


# --- States: each returns the process that is to end ---

def help_to_nobody(s, command):
    """It prints, and nobody reads."""
    return s.settles(s.start(command, "--help", out=s.full_pipe()))


def reads(*words):
    """It reads a file that nobody writes."""
    return lambda s, command: s.settles(s.start(command, *words))


def asks(*words):
    """The run that it asks is stopped."""
    def begin(s, command):
        run = s.stopped()
        return s.settles(s.start(command, *(word.replace("RUN", str(run.pid)) for word in words)))
    return begin


def asks_hung(*words):
    """The run that it asks has a sink that hangs."""
    def begin(s, command):
        run = s.hangs()
        process = s.start(command, *(word.replace("RUN", str(run.pid)) for word in words))
        return s.settles(process)
    return begin


def busy(*words):
    return lambda s, command: s.start(command, *words)


def running(s, command):
    return s.runs("lasts")


def opening(s, command):
    return s.settles(s.start("run", "opens.yaml", "--end-within", str(LONG)))


def opening_an_output(s, command):
    return s.settles(s.start("run", "hung.yaml", "--end-within", str(LONG)))


def reading_a_pipe(s, command):
    """Somebody has the named pipe open, and does not write."""
    s.stack.callback(os.close, os.open(s.path / "fifo", os.O_RDWR))
    return s.runs("opens")


def writing_to_a_pipe(s, command):
    return s.hangs("--end-within", str(WITHIN))


def writing_to_nobody(s, command):
    s.write("prints", "in.txt", "FileSink", "path: '-'")
    return s.settles(s.start("run", "prints.yaml", "--end-within", str(WITHIN), out=s.full_pipe()))


def reads_for_the_door(*words):
    return reads("lasts.yaml", "--end-within", str(LONG), "--listen", "127.0.0.1:0", *words)


def pausing(s, command):
    run = s.runs("lasts")
    assert s.start("deactivate", str(run.pid)).wait(LIMIT) == 0
    return run


def waiting_for_a_system(s, command):
    return s.runs("away", "--end-within", str(WITHIN))


def second_while_a_system_is_away(s, command):
    run = s.runs("away")
    run.send_signal(signal.SIGTERM)
    rig.until(lambda: "open: finishing them" in s.log(), "its drain")
    return run


def second_of_hung(s, command):
    """The first signal has begun the drain, which does not end."""
    run = s.hangs()
    run.send_signal(signal.SIGTERM)
    rig.until(lambda: "open: finishing them" in s.log(), "its drain")
    return run


def second_of_hung_durable(s, command):
    run = s.hangs("--state", "state")
    run.send_signal(signal.SIGTERM)
    rig.until(lambda: "makes a checkpoint, and stops" in s.log(), "its checkpoint")
    return run


def second_while_a_change_waits(s, command):
    run = s.hangs()
    s.settles(s.start("reload", str(run.pid)))
    run.send_signal(signal.SIGTERM)
    rig.until(lambda: "open: finishing them" in s.log(), "its drain")
    return run


def second_of_a_command_that_works(s, command):
    """The sink's command reads to the end of its input, and goes on for long."""
    s.write("works", "in.txt", "ExecSink", f"command: 'cat >/dev/null; sleep {LONG}', finishWait: {LONG}, stopWait: {LONG}")
    run = s.runs("works")
    run.send_signal(signal.SIGTERM)
    rig.until(lambda: "waits for the command" in s.log(), "its end")
    return run


def log_to_nobody(s, command):
    return s.settles(s.start("run", "away.yaml", "--log-level", "trace", "--end-within", str(WITHIN), out=s.full_pipe()))


def demo_to_nobody(s, command):
    return s.settles(s.start("demo", "unique-visitors", out=s.full_pipe()))


def demo(s, command):
    process = s.start("demo", "unique-visitors")
    s.control(process)
    return process


def test_without_end(s, command):
    (s.path / "quick.test.yaml").write_text(CASES)
    return s.start("test", "quick.test.yaml")


def copy_of_a_stopped_run(s, command):
    run = s.runs("lasts", "--state", "state")
    rig.until(lambda: (s.now(run).get("checkpoint") or {}).get("count"), "a checkpoint")
    s.stop(run)
    return s.settles(s.start("checkpoint", "copy", "--state", "state", "--wait", str(LONG)))


WITHIN = 1  # seconds that a run may have to end in order
ITS_TIME = (waiting_for_a_system, log_to_nobody, writing_to_a_pipe, writing_to_nobody)  # they need it
BY_SIGNAL = "128 + signal"
CUT = (BY_SIGNAL, 128 + signal.SIGTERM)  # the first one was SIGTERM
ROWS = [
    # command, state, what the exit code may be
    ("run", running, 0), ("run", opening, BY_SIGNAL), ("run", pausing, 0), ("run", waiting_for_a_system, BY_SIGNAL),
    ("run", second_while_a_system_is_away, CUT), ("run", second_of_hung, CUT), ("run", second_while_a_change_waits, CUT),
    ("run", second_of_a_command_that_works, CUT),
    ("run", log_to_nobody, None), ("run", reads("fifo"), BY_SIGNAL),
    ("run", opening_an_output, BY_SIGNAL), ("run", reading_a_pipe, 0), ("run", writing_to_a_pipe, BY_SIGNAL), ("run", writing_to_nobody, BY_SIGNAL),
    ("run", reads_for_the_door("--listen-token-file", "fifo"), BY_SIGNAL),
    ("run", reads_for_the_door("--listen-cert", "fifo", "--listen-key", "fifo"), BY_SIGNAL),
    ("run", reads("lasts.yaml", "--log-file", "fifo"), BY_SIGNAL),
    ("run", reads("lasts.yaml", "--log-events", "in", "--events-file", "fifo"), BY_SIGNAL),
    ("run", reads("lasts.yaml", "--filter", "fifo"), BY_SIGNAL), ("run", reads("lasts.yaml", "--replay-dead-letters", "fifo"), BY_SIGNAL),
    ("check", reads("fifo"), BY_SIGNAL), ("graph", reads("fifo"), BY_SIGNAL),
    ("dead-letters", reads("show", "fifo"), BY_SIGNAL), ("state", reads("import", "new", "fifo"), BY_SIGNAL),
    ("test", reads("fifo"), BY_SIGNAL), ("test", test_without_end, BY_SIGNAL),
    ("simulate", reads("fifo"), BY_SIGNAL), ("simulate", busy("--random", "--runs", "1000000000"), BY_SIGNAL),
    ("demo", demo, 0), ("demo", demo_to_nobody, None), ("demo", reads("word-count", "--input", "fifo"), BY_SIGNAL),
    ("ps", asks(), BY_SIGNAL), ("top", asks("RUN"), (0, BY_SIGNAL)), ("stats", asks("RUN"), BY_SIGNAL),
    ("activate", asks("RUN"), BY_SIGNAL), ("deactivate", asks("RUN"), BY_SIGNAL),
    ("drain", asks("RUN"), BY_SIGNAL), ("drain", asks("RUN", "--wait"), BY_SIGNAL), ("drain", asks_hung("RUN", "--wait"), BY_SIGNAL),
    ("kill", asks("RUN"), BY_SIGNAL), ("kill", asks("RUN", "--wait"), BY_SIGNAL),
    ("tap", asks("RUN", "in"), 0), ("log-level", asks("RUN", "debug"), BY_SIGNAL), ("set", asks("RUN", "in.rate=1"), BY_SIGNAL),
    ("reload", asks("RUN"), BY_SIGNAL), ("reload", asks_hung("RUN"), BY_SIGNAL), ("restart", asks("RUN"), BY_SIGNAL),
    ("restart", asks_hung("RUN", "--set", "out.parallelism=2"), BY_SIGNAL),
]
DURABLE = [("run", second_of_hung_durable, CUT), ("checkpoint", copy_of_a_stopped_run, BY_SIGNAL)]
PRINTS_ONLY = "waits for nobody but its reader: test_a_signal_ends_every_command_that_prints_to_nobody"
EXCUSED = {"help": PRINTS_ONLY, "new": PRINTS_ONLY, "plugins": PRINTS_ONLY}


def commands():
    """Those of the program's table."""
    told = subprocess.run([GALE, "help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  ([a-z][a-z-]*) ", told, re.M)


def allowed(expected, number):
    codes = expected if isinstance(expected, tuple) else (expected,)
    return [128 + number if code == BY_SIGNAL else code for code in codes]


def play(command, begin, expected, number):
    """None, or what is wrong."""
    promised = PROMISE + (WITHIN if begin in ITS_TIME else 0)
    fastest = LIMIT
    for _ in range(ATTEMPTS):
        wrong, took = play_once(command, begin, expected, number)
        fastest = min(fastest, took)
        if wrong or SANITIZED or fastest < promised:
            return wrong
    return f"it takes {fastest:.1f} s at least"


def play_once(command, begin, expected, number):
    """None or what is wrong, and the seconds from the signal to the end."""
    with Scene() as s:
        process = begin(s, command)
        if process.poll() is not None:
            return f"it had ended by itself, with {process.returncode}: {s.log()[-1000:]}", 0
        begun = time.monotonic()
        process.send_signal(number)
        try:
            code = process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            return f"it goes on: {s.log()[-1000:]}", LIMIT
        took = time.monotonic() - begun
        if expected is not None and code not in allowed(expected, number):
            return f"it ended with {code}: {s.log()[-1000:]}", took
    return None, took


class Ends(unittest.TestCase):
    def play_all(self, rows):
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            played = {(command, getattr(begin, "__name__", "") + f" {at}", number.name): pool.submit(play, command, begin, expected, number)
                      for at, (command, begin, expected) in enumerate(rows) for number in SIGNALS}
        for row, future in played.items():
            with self.subTest(row=row):
                self.assertIsNone(future.result())

    def test_every_command_has_a_row(self):
        rows = {command for command, _, _ in ROWS + DURABLE}
        self.assertEqual(sorted(commands()), sorted(rows | set(EXCUSED)))

    def test_a_signal_ends_every_command_that_prints_to_nobody(self):
        self.play_all([(command, help_to_nobody, BY_SIGNAL) for command in commands() if command != "help"])

    def test_a_signal_ends_every_command_in_every_state(self):
        self.play_all(ROWS)

    @unittest.skipUnless(HAS_STORE, "without the store there is no durable run")
    def test_and_those_of_durable_runs(self):
        self.play_all(DURABLE)


class Changes(unittest.TestCase):
    def hangs_and_goes_on(self, *options):
        with Scene() as s:
            run = s.hangs("--end-within", "1", *options)
            done = subprocess.run([GALE, "reload", str(run.pid)], env=dict(os.environ, XDG_RUNTIME_DIR=str(s.runtime)), capture_output=True,
                                  text=True, timeout=LIMIT)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, r"component 'out' \(task \d+\) has been in one call for .* s, and cannot be stopped in it")
            before = s.now(run)["trees"]["acked"]
            with open(s.path / "fifo", "rb") as fifo:
                rig.until(lambda: fifo.read1(65536) and s.now(run)["trees"]["acked"] > before, "what the run does")
                self.assertEqual(s.now(run)["phase"], "running")

    def test_a_sink_that_hangs_refuses_a_change_and_the_run_goes_on(self):
        self.hangs_and_goes_on()

    @unittest.skipUnless(HAS_STORE, "without the store there is no durable run")
    def test_and_so_in_a_durable_run(self):
        self.hangs_and_goes_on("--state", "state")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
