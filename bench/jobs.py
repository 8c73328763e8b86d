#!/usr/bin/env python3
"""Whole jobs: gale on one executor and on two beside a hand-written program and what else people use, on the same inputs of 100 MB (quick: 10). All
take turns, and must find the same.

usage: jobs.py [full|quick] [JOB ...]          (script/bench builds first, and calls this)

Peers that are lacking are skipped aloud: mawk and jq (Debian), orjson, DuckDB and Polars (PyPI, put into a folder below build), simdjson (Debian), Benthos (Go)."""

import json
import os
import shutil
import subprocess
import sys

import measured
import run
from example import Whole
from jobs.data import make
from measured import ROOT, say

FOLDER = os.path.join(measured.PROGRAMS, "jobs")
HERE = os.path.join(ROOT, "bench/jobs")
GALE = os.path.join(ROOT, "build/gale")
PACKAGES = os.path.join(FOLDER, "python")
WORDS = "{for(i=1;i<=NF;i++)c[$i]++}END{for(w in c)print w\"\\t\"c[w]}"
STATUS = "END{for(s in c)print s\"\\t\"c[s]}"
KV = "{for(i=1;i<=NF;i++){n=index($i,\"=\");k=substr($i,1,n-1);if(k==\"status\")s=substr($i,n+1)}c[s]++}" + STATUS
JQ = "{ts,host,path,status,bytes,latency_ms}"


class Job:
    """A job: its input, gale's file, the limit, and peers that write to their standard output."""

    def __init__(self, name, given, limit, python=(), **pipes):
        self.name, self.given, self.limit, self.python, self.pipes = name, given, limit, python, pipes

    @property
    def topology(self):
        shipped = self.name in ("words", "keys")
        return os.path.join(ROOT, "examples/word-count/topology.yaml") if shipped else os.path.join(HERE, self.name + ".yaml")


COUNT, JOBS_C = os.path.join(measured.PROGRAMS, "gale_bench_count"), os.path.join(measured.PROGRAMS, "gale_bench_jobs")
SIMDJSON = os.path.join(FOLDER, "simdjson")
JOBS = [
    Job("words", "words.txt", [COUNT], ("python",), mawk=["mawk", WORDS]),
    Job("keys", "keys.txt", [COUNT], ("python",), mawk=["mawk", WORDS]),
    Job("json", "requests.json", [SIMDJSON], ("python", "orjson", "duckdb", "polars")),
    Job("json-lines", "requests.json", None, ("python", "orjson"), jq=["jq", "-c", JQ]),
    Job("csv", "requests.csv", [JOBS_C, "csv"], ("python", "duckdb", "polars"), mawk=["mawk", "-F,", "NR>1{c[$5]++}" + STATUS]),
    Job("kv", "requests.kv", [JOBS_C, "kv"], (), mawk=["mawk", KV]),
    Job("regex", "access.log", None, ("python",)),
    Job("log", "access.log", [JOBS_C, "log"], (), mawk=["mawk", "{c[$9]++}" + STATUS]),
]


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
    for name, command in job.pipes.items():
        if shutil.which(command[0]):
            programs.append(Piped(name, command + [given], result(name)))
        else:
            say(f"skipped: {name}, which is not installed")
    return programs


def found(job, program):
    """What it found, in an order and a form that all have in common."""
    lines = program.found()
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
    if not name.startswith("gale"):
        return None
    with open(job.topology, encoding="utf-8") as file:
        return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in file)


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


def count_lines(path):
    with open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def main(words):
    names = [job.name for job in JOBS]
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
    results, line = {}, measured.Line()
    for job in chosen:
        figures = measure(job, data, plan, line)
        if figures:
            results[job.name] = figures
            print_table(job, figures, count_lines(os.path.join(data, job.given)))
    line.end()
    run.write(os.path.join(plan.folder, "jobs.json"),
              {"commit": measured.commit(), "machine": measured.machine(), "megabytes": megabytes, "jobs": results})
    print(measured.conditions(load))
    return 0 if len(results) == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
