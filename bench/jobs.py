#!/usr/bin/env python3
"""Whole jobs: gale on one executor and on two beside a hand-written program and what else people use, on the same inputs of 100 MB (quick: 10). All
take turns, and must find the same.

usage: jobs.py [full|quick] [JOB ...] [--readme]          (script/bench builds first, and calls this)

--readme measures nothing: it writes the table of bench/results/jobs.json (of what `full` measured last) into README.md.

Peers that are lacking are skipped aloud: mawk and jq (Debian), orjson, DuckDB and Polars (PyPI, put into a folder below build), simdjson (Debian), Benthos
(Go), timely (cargo)."""

import json
import os
import shutil
import subprocess
import sys

import measured
import run
from example import Whole
from jobs.data import make
from jobs.table import BENTHOS, FOLDER, GALE, HERE, JOBS, SIMDJSON, TIMELY
from measured import say

PACKAGES = os.path.join(FOLDER, "python")


class Piped(Whole):
    """A program that writes to its standard output."""

    def __init__(self, name, command, result):
        super().__init__(name, ["sh", "-c", 'out=$1; shift; exec "$@" >"$out"', "sh"], result)
        self.words = command

    def trial(self):
        whole = Whole(self.name, self.command + [self.result] + self.words[:-1], self.words[-1])
        return whole.trial()


def install(packages):
    """The packages of PyPI that can be had, in a folder of their own."""
    for package in packages:
        if os.path.isdir(os.path.join(PACKAGES, package)):
            continue
        done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", PACKAGES, package], capture_output=True, check=False)
        if done.returncode:
            say(f"skipped: {package}, which pip did not install")


def build_simdjson():
    if os.path.exists(SIMDJSON) or not shutil.which("c++"):
        return
    done = subprocess.run(["c++", "-O2", "-o", SIMDJSON, os.path.join(HERE, "simdjson.cpp"), "-lsimdjson"], capture_output=True, check=False)
    if done.returncode:
        say("skipped: simdjson, which is not installed (libsimdjson-dev)")


def build(program, command, folder, lacking):
    """A peer's program, built by its own tool; aloud where that cannot be."""
    if os.path.exists(program):
        return
    if not shutil.which(command[0]):
        say(f"skipped: {lacking}, as there is no {command[0]}")
        return
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode:
        say(f"skipped: {lacking}, which {command[0]} did not build: {done.stderr.strip()[-300:]}")


def build_peers(chosen):
    if any(job.benthos for job in chosen):
        build(BENTHOS, ["go", "build", "-mod=readonly", "-o", BENTHOS, "."], os.path.join(HERE, "benthos"), "Benthos")
    if any(job.timely for job in chosen):
        command = ["cargo", "build", "--release", "--locked", "--quiet", "--target-dir", os.path.join(FOLDER, "timely")]
        build(TIMELY, command, os.path.join(HERE, "timely"), "timely")


class Benthos(Whole):
    """Its file has the paths from the environment."""

    def trial(self):
        os.environ["OUTPUT"] = self.result
        return Whole(self.name, self.command[:-1], self.command[-1]).trial()


def benthos(job, given, result):
    os.environ["INPUT"] = given
    return Benthos("benthos", [BENTHOS, "-c", os.path.join(HERE, "benthos", job.name + ".yaml")], result)


def gale(job, given, executors, folder):
    command = [GALE, "run", job.topology, "-q", "--no-control", "-j", str(executors), "--input", given, "--overwrite", "--output"]
    return Whole(f"gale -j {executors}", command, os.path.join(folder, f"{job.name}-gale-{executors}"))


def subjects(job, data, folder):
    """The limit first, if there is one, then gale, then the peers that can be had."""
    given, programs = os.path.join(data, job.given), []
    result = lambda name: os.path.join(folder, f"{job.name}-{name}")
    if job.limit and os.path.exists(job.limit[0]):
        programs.append(Whole("limit", job.limit + [given], result("limit")))
    programs += [gale(job, given, executors, folder) for executors in (1, 2)]
    for peer in job.python:
        if peer == "python" or os.path.isdir(os.path.join(PACKAGES, peer)):
            programs.append(Whole(peer, [sys.executable, os.path.join(HERE, "peers.py"), peer, job.name, given], result(peer)))
    if job.timely and os.path.exists(TIMELY):
        programs.append(Whole("timely", [TIMELY, job.name, given], result("timely")))
    if job.benthos and os.path.exists(BENTHOS):
        programs.append(benthos(job, given, result("benthos")))
    for name, command in job.pipes.items():
        if shutil.which(command[0]):
            programs.append(Piped(name, command + [given], result(name)))
        else:
            say(f"skipped: {name}, which is not installed")
    return programs


def found(job, program):
    """What it found, in an order and a form that all have in common."""
    lines = program.found()
    if job.name in ("words", "keys") and (program.name == "limit" or program.name.startswith("gale")):
        return sorted(line.replace(b"\\\\", b"\\") for line in lines)  # they write a backslash as two
    if job.name == "json-lines":
        number = lambda digits: round(float(digits), 6)  # jq writes 15.0 as 15
        return sorted(json.dumps(json.loads(line, parse_float=number, parse_int=number), sort_keys=True) for line in lines)
    return lines


def differing(job, programs):
    wanted = found(job, programs[0])
    return [p.name for p in programs[1:] if found(job, p) != wanted]


def print_table(job, figures, events):
    first = next(iter(figures))
    print(f"\n{job.name}: {events:,} lines, whole runs; {first} is 1")
    print(f"  {'':12}{'ns a line':>10}{'from':>8}{'to':>8}{'times':>8}{'CPU s':>8}{'MB':>7}{'lines':>7}")
    for name, f in figures.items():
        ns = [seconds * 1e9 / events for seconds in (f["median"], f["least"], f["most"])]
        print(f"  {name:12}{ns[0]:10.0f}{ns[1]:8.0f}{ns[2]:8.0f}{f['median'] / figures[first]['median']:8.2f}{f['cpu']:8.2f}{f['memory']:7.0f}"
              f"{f['lines'] or '':>7}")


def lines_of(job, name):
    """Of configuration, without blank lines and comments."""
    written = {"timely": os.path.join(HERE, "timely/src/main.rs"), "benthos": os.path.join(HERE, "benthos", job.name + ".yaml")}
    path = job.topology if name.startswith("gale") else written.get(name)
    if not path:
        return None
    with open(path, encoding="utf-8") as file:
        return sum(bool(line.strip()) and not line.lstrip().startswith(("#", "//")) for line in file)


def summary(job, name, trials):
    seconds = [t["seconds"] for t in trials]
    return {"median": measured.median(seconds), "least": min(seconds), "most": max(seconds), "trials": len(trials),
            "cpu": measured.median([t["cpu"] for t in trials]), "memory": max(t["memory"] for t in trials), "lines": lines_of(job, name)}


def measure(job, data, plan, line):
    """The figures, by program; None when some found something else."""
    programs = subjects(job, data, FOLDER)
    trials, _ = run.take_turns(programs, run.cell("job", executors=1), plan, line)
    different = differing(job, [p for p in programs if p.name in trials])
    if different:
        say(f"{job.name}: others found something else than {programs[0].name}: {', '.join(different)}")
        return None
    return {name: summary(job, name, found_trials) for name, found_trials in trials.items()}


# --- The table of README.md ---

BEGIN, END = "<!-- script/bench jobs --readme: begin -->", "<!-- end -->"


def readme_table(found):
    """A row a job: ns a line, of the limit, of gale, and of each peer that was there."""
    peers = sorted({name for figures in found["jobs"].values() for name in figures} - {"limit", "gale -j 1", "gale -j 2"})
    heads = ["job", "by hand", "gale", "gale, two executors"] + peers
    rows = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for job, figures in found["jobs"].items():
        cells = [f"{figures[name]['median'] * 1e9 / found['lines'][job]:,.0f}" if name in figures else ""
                 for name in ["limit", "gale -j 1", "gale -j 2"] + peers]
        rows.append(f"| {job} | {' | '.join(cells)} |")
    return f"ns a line, whole runs over {found['megabytes']} MB, medians; commit {found['commit']}.\n\n" + "\n".join(rows)


def write_readme(results, page):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    if BEGIN not in text or END not in text:
        return f"{page} has no lines '{BEGIN}' and '{END}' between which the table goes"
    before, after = text.split(BEGIN, 1)[0], text.split(BEGIN, 1)[1].split(END, 1)[1]
    with open(results, encoding="utf-8") as file:
        table = readme_table(json.load(file))
    with open(page, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n{table}\n{END}{after}")
    return 0


def count_lines(path):
    with open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def main(words):
    names = [job.name for job in JOBS]
    if "--readme" in words:
        return write_readme(os.path.join(measured.HERE, "results/jobs.json"), os.path.join(measured.ROOT, "README.md"))
    plan = run.plan_of([word for word in words if word not in names])
    if not plan:
        return __doc__
    chosen = [job for job in JOBS if job.name in words] or JOBS
    load, megabytes = os.getloadavg()[0], 10 if plan.quick else 100
    os.makedirs(FOLDER, exist_ok=True)
    data = make(os.path.join(FOLDER, f"data-{megabytes}"), megabytes)
    install({peer for job in chosen for peer in job.python} - {"python"})
    os.environ["PYTHONPATH"] = PACKAGES
    build_simdjson()
    build_peers(chosen)
    results, line = {}, measured.Line()
    lines = {job.name: count_lines(os.path.join(data, job.given)) for job in chosen}
    for job in chosen:
        figures = measure(job, data, plan, line)
        if figures:
            results[job.name] = figures
            print_table(job, figures, lines[job.name])
    line.end()
    run.write(os.path.join(plan.folder, "jobs.json"),
              {"commit": measured.commit(), "machine": measured.machine(), "megabytes": megabytes, "lines": lines, "jobs": results})
    print(measured.conditions(load))
    return 0 if len(results) == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
