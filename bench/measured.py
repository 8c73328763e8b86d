"""What is measured, from the driver's side: programs that speak the protocol of bench/README.md, and the line that tells
whether the two cores are near each other just now."""

import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PROGRAMS = os.path.join(ROOT, "build/bench")
NEAR_NS = 200  # a cache line there and back, at most
PATIENCE = 90  # seconds that a program may take beyond its trial, a virtual machine's start included
LACKS_FLOW = 3  # exit status
# A processor that can do little: the C library takes another memcpy on another one otherwise.
MODEST = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512VL,-EVEX,-ERMS,-FSRM,-SSE4_2,-SSSE3"}


def say(text):
    print(text, file=sys.stderr, flush=True)


class Lacking(Exception):
    """The program has no such flow."""


class Program:
    """A running program of which trials can be asked. It rests in between by itself: to stop it (SIGSTOP) is no good for
    engines that watch over their own parts, and find them dead after a while."""

    def __init__(self, name, command, options):
        self.name = name
        self.seconds = float(options["seconds"]) + float(options["warm"])
        words = [word for key, value in options.items() for word in (f"--{key}", str(value))]
        self.process = subprocess.Popen(command + words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.errors = []
        self.listener = threading.Thread(target=self.listen, daemon=True)
        self.listener.start()

    def listen(self):
        for line in self.process.stderr:  # or a talkative program would wait for us
            self.errors = (self.errors + [line.strip()])[-5:]

    def trial(self):
        watch = threading.Timer(self.seconds + PATIENCE, self.process.kill)
        watch.start()
        try:
            self.process.stdin.write("go\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        watch.cancel()
        if not line:
            self.give_up()
        return check(json.loads(line))

    def give_up(self):
        status = self.process.wait()
        self.listener.join(1)
        last = self.errors[-1] if self.errors else f"ended with status {status}"
        if status == LACKS_FLOW:
            raise Lacking(last)
        raise RuntimeError(f"{self.name}: {last} (status {status})")

    def end(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.listener.join(1)
        self.process.stderr.close()


def check(line):
    """The line, if it is one of the protocol."""
    for key, kinds in (("program", str), ("flow", str), ("acks", bool), ("executors", int), ("trees", int),
                       ("seconds", (int, float)), ("rss", int), ("settings", str)):
        if not isinstance(line.get(key), kinds):
            raise RuntimeError(f"no '{key}' in {line}")
    if line["trees"] < 0 or line["seconds"] <= 0 or (line["trees"] and not line.get("ns")):
        raise RuntimeError(f"these figures do not fit each other: {line}")
    for key in ("ns", "p50_us", "p99_us", "p999_us", "first_ms"):
        if not isinstance(line.setdefault(key, None), (int, float, type(None))):
            raise RuntimeError(f"'{key}' is no number in {line}")
    return line


class Line:
    """Near or far? Asked before and after each trial."""

    def __init__(self, program=os.path.join(PROGRAMS, "gale_bench_line")):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def trip(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def mode(before, after):
    """What both readings say: a trial in whose course the cores moved is neither."""
    if before < NEAR_NS and after < NEAR_NS:
        return "near"
    return "far" if before >= NEAR_NS and after >= NEAR_NS else "mixed"


def prevailing(modes):
    """near or far, whichever is there more often; mixed only when there is nothing else."""
    counts = {name: modes.count(name) for name in ("near", "far")}
    best = max(counts, key=counts.get)
    return best if counts[best] else "mixed"


def median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def summary(trials, kept):
    """One program's figures of a cell: medians over the trials whose mode is `kept` (None: all of them)."""
    used = [t for t in trials if kept in (None, t["line"])]
    last = trials[-1]
    figures = {"trials": len(used), "of": len(trials), "settings": last["settings"], "acks": last["acks"]}
    figures["trees_a_second"] = median([t["trees"] / t["seconds"] for t in used])
    for key in ("ns", "p50_us", "p99_us", "p999_us", "first_ms", "rss"):
        figures[key] = median([t[key] for t in used])
    figures["all_ns"] = [round(t["ns"], 2) if t["ns"] else None for t in trials]
    return figures


# --- Who there is ---


def peers(names=None):
    """{name: (command, [flow])} of the other engines, or of those named, built if need be; nothing, said aloud, without
    their module."""
    sys.path.insert(0, os.path.join(HERE, "peers"))
    try:
        import flows
    except ImportError:
        say("skipped: other engines: there is no bench/peers/flows.py")
        return {}
    return flows.programs(names)


def ours():
    return {"gale": [os.path.join(PROGRAMS, "gale_bench_flow")], "limit": [os.path.join(PROGRAMS, "gale_bench_limit")]}


def instructions(command, options, trees, cache=False):
    """(instructions, cache misses, trees) of a run of so many trees, by callgrind."""
    words = [word for key, value in options.items() for word in (f"--{key}", str(value))]
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"] + ["--cache-sim=yes"] * cache
    done = subprocess.run(tool + command + words + ["--trees", str(trees)], capture_output=True, text=True, check=False)
    if done.returncode == LACKS_FLOW:
        raise Lacking(done.stderr.splitlines()[-1])
    collected = [line.split(":")[1].split() for line in done.stderr.splitlines() if "Collected" in line]
    if done.returncode or not collected:
        raise RuntimeError(f"valgrind {' '.join(command)}: {done.stderr[-400:]}")
    numbers = [int(word) for word in collected[0]]
    misses = sum(numbers[7:9]) if cache else None  # Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw
    return numbers[0], misses, json.loads(done.stdout.splitlines()[-1])["trees"]


def instructions_of_run(command, folder):
    """Instructions of a whole run of a program, all threads, by callgrind: without the randomness of addresses, in an environment of its own."""
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": folder, "TMPDIR": folder, **MODEST}
    tool = ["setarch", "-R", "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run(tool + command, capture_output=True, text=True, check=False, env=environment, cwd=folder, stdin=subprocess.DEVNULL)
    collected = [line.split(":")[1].split() for line in done.stderr.splitlines() if "Collected" in line]
    if done.returncode or not collected:
        raise RuntimeError(f"valgrind {' '.join(command)}: {done.stderr[-400:]}")
    return int(collected[0][0])


def per_tree(command, options, few, many, cache=False):
    """Instructions (and cache misses) a tree: two runs of different length, so that beginning and end cancel."""
    low, high = instructions(command, options, few, cache), instructions(command, options, many, cache)
    trees = high[2] - low[2]
    return (high[0] - low[0]) / trees, (high[1] - low[1]) / trees if cache else None


def has_valgrind():
    if shutil.which("valgrind"):
        return True
    say("skipped: instructions: there is no valgrind (apt-get install valgrind)")
    return False


def commit():
    """What is measured; with a + when it is not what was committed."""
    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False).stdout.strip()
    changed = git("status", "--porcelain", "--", "src", "include", "bench", ":!bench/results", ":!*.md")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("+" if changed else "")


def machine():
    """Which kind of machine."""
    words = [platform.machine(), f"{os.cpu_count()} cores"]
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return ", ".join(words)
    for key in ("model name", "cache size"):
        found = re.search(rf"^{key}\s*: (.*)$", text, re.M)
        if found:
            words.append(found.group(1).strip() + (" of cache" if key == "cache size" else ""))
    if " hypervisor" in text:
        words.append("virtual")
    return ", ".join(words)


def conditions(load):
    """What was measured on which machine; `load` is its load before. Figures of a busy one say little."""
    return f"{machine()}; commit {commit()}; load before {load:.1f}, after {os.getloadavg()[0]:.1f}"
