#!/usr/bin/env python3
"""The shipped example, examples/word-count, as whole runs of the program beside a hand-written C program of one thread
(limit/count.c) on the same text: 110 MB, in quick 11. They take turns, and must find the same.

usage: example.py [full|quick]          (script/bench builds first, and calls this)"""

import os
import subprocess
import sys
import threading
import time

import measured
import run
from measured import ROOT

GALE = os.path.join(ROOT, "build/gale")
LIMIT = os.path.join(measured.PROGRAMS, "gale_bench_count")
TOPOLOGY = os.path.join(ROOT, "examples/word-count/topology.yaml")
MOST = 1.6  # times the C program
PATIENCE = 120  # seconds that a run may take
BY_HAND = "C program"


class Whole:
    """A program that runs from begin to end for each trial: `command`, and the path of the result behind it."""

    def __init__(self, name, command, result):
        self.name, self.command, self.result = name, command, result

    def trial(self):
        began = time.monotonic()
        process = subprocess.Popen(self.command + [self.result], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        watch = threading.Timer(PATIENCE, process.kill)
        watch.start()
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        watch.cancel()
        process.stderr.close()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            last = errors.decode(errors="replace").strip()[-200:]
            raise RuntimeError(f"{self.name}: status {process.returncode}: {last}")
        return {"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "memory": usage.ru_maxrss / 1024}

    def found(self):
        """The lines of the result, sorted."""
        with open(self.result, "rb") as file:
            return sorted(file.read().splitlines(keepends=True))


def text_of(megabytes, folder=os.path.join(measured.PROGRAMS, "texts")):
    """The path of that text, made if it is not there."""
    path = os.path.join(folder, f"example-{megabytes}")
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        maker = os.path.join(ROOT, "test/model/make_text.py")
        with open(path + ".new", "wb") as file:
            subprocess.run([sys.executable, maker, "--seed", "2", "--vocabulary", "10000", str(megabytes)], stdout=file,
                           check=True)
        os.replace(path + ".new", path)
    return path


def threads():
    """1, 2, 4 ... and as many as there are cores."""
    cores = len(os.sched_getaffinity(0))
    return sorted({1, cores} | {n for n in (2, 4, 8, 16, 32, 64) if n < cores})


def example(text, executors, folder, gale=GALE):
    command = [gale, "run", TOPOLOGY, "-q", "-j", str(executors), "--input", text, "--overwrite", "--output"]
    return Whole(f"-j {executors}", command, os.path.join(folder, f"counts-{executors}"))


def subjects(text, folder):
    """The C program first: the others must find what it finds."""
    by_hand = Whole(BY_HAND, [LIMIT, text], os.path.join(folder, "counts"))
    return [by_hand] + [example(text, n, folder) for n in threads()]


def differing(programs):
    """The names of those whose result is not that of the first."""
    wanted = programs[0].found()
    return [p.name for p in programs[1:] if p.found() != wanted]


def medians(trials, kept):
    """{name: figures}; one thread is the same in every mode."""
    figures = {}
    for name, found in trials.items():
        used = [t for t in found if name in (BY_HAND, "-j 1") or kept in (None, t["line"])] or found
        figures[name] = {key: measured.median([t[key] for t in used]) for key in ("seconds", "cpu")}
        figures[name]["trials"] = len(used)
    return figures


def verdicts(figures):
    """[(what, its figure in words, reached)]."""
    names = [name for name in figures if name != BY_HAND]
    ratio = figures[names[-1]]["seconds"] / figures[BY_HAND]["seconds"]
    said = [(f"the example as it is takes at most {MOST} times the C program", f"{ratio:.1f} times", ratio <= MOST)]
    for few, many in zip(names, names[1:]):
        gain = figures[few]["seconds"] / figures[many]["seconds"]
        said.append((f"{many} is faster than {few}", f"{gain:.2f} times", gain > 1))
    return said


def print_table(figures):
    by_hand = figures[BY_HAND]["seconds"]
    print(f"  {'':14}{'seconds':>9}{'times':>8}{'CPU s':>9}")
    for name, f in figures.items():
        print(f"  {name:14}{f['seconds']:9.2f}{f['seconds'] / by_hand:8.1f}{f['cpu']:9.2f}")


def main(words):
    plan = run.plan_of(words)
    if not plan:
        return __doc__
    load, megabytes = os.getloadavg()[0], 11 if plan.quick else 110
    folder = os.path.join(measured.PROGRAMS, "texts")
    programs = subjects(text_of(megabytes), folder)
    line = measured.Line()
    trials, kept = run.take_turns(programs, run.cell("example", executors=2), plan, line)
    line.end()
    if set(trials) != {p.name for p in programs}:
        return "some did not run: nothing is said"
    different = differing(programs)
    if different:
        return f"other counts than the C program's: {', '.join(different)}"
    figures = medians(trials, kept)
    print(f"\nexamples/word-count, {megabytes} MB, whole runs, {kept} mode; the counts are equal")
    print_table(figures)
    for what, figure, reached in verdicts(figures):
        print(f"  {what}: {figure}: {'yes' if reached else 'no'}")
    run.write(os.path.join(plan.folder, "example.json"),
              {"commit": measured.commit(), "machine": measured.machine(), "megabytes": megabytes, "line": kept,
               "programs": figures})
    print(measured.conditions(load))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
