#!/usr/bin/env python3
"""Runs the models of this folder through spin: each must hold, and each of their mutants must fail as orders.toml says.

usage: prove.py [NAME...]      all, or those whose line has one of the words
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import orders as proof

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 300  # seconds a run; one takes about one, the longest about twenty
COMPILE = ["-w", "-DSAFETY", "-DCOLLAPSE", "-DVECTORSZ=4096"]


def runs(table):
    """(what, model, definitions, outcome)"""
    order = {row["name"]: row["order"] for row in table["access"]}
    true = {name: what.upper() for name, what in order.items()}
    for row in table["litmus"]:
        yield "litmus " + " ".join(row["defines"]), "litmus", row["defines"], row["fails"]
    for row in table["model"]:
        yield f"{row['name']}: {row['says']}", row["name"], as_definitions(true), "holds"
    for row in table["access"]:
        for weaker, fails in row.get("weaker", {}).items():
            yield (f"{row['name']} {row['order']} -> {weaker}", row["model"],
                   as_definitions(true | {row["name"]: weaker.upper()}), fails)
    for row in table["mutant"]:
        yield f"{row['model']} {row['name']}", row["model"], as_definitions(true) + [row["name"]], row["fails"]


def as_definitions(values):
    return [f"{name}={value}" for name, value in values.items()]


def call(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=LIMIT)
    return done.returncode, done.stdout


def outcome_of(text):
    """What pan says: holds, race, wrong, lost; or anything else that it says, which nobody expects."""
    violated = re.search(r"assertion violated +!\((\w+)\)", text)
    if violated:
        return violated.group(1)
    if "invalid end state" in text.replace("invalid end states", ""):
        return "lost"
    partial = re.search(r"max search depth too small|Search not completed|out of memory|error: .*", text)
    if partial or not re.search(r"errors: 0$", text, re.M):
        return partial.group() if partial else text.strip()[-300:]
    return "holds"


def run(model, definitions, expected, reduce):
    """The outcome, how many states were seen, and the seconds that it took."""
    began = time.monotonic()
    optimise = "-O2" if expected == "holds" else "-O0"  # what fails does so soon: compiling takes longer
    with tempfile.TemporaryDirectory(prefix="gale-proof-") as folder:
        for path in HERE.glob("*.pml"):
            (pathlib.Path(folder) / path.name).write_bytes(path.read_bytes())
        options = [f"-D{word}" for word in definitions]
        outcome, states = None, 0
        search = COMPILE + ([] if reduce else ["-DNOREDUCE"])
        for command in (["spin", *options, "-a", f"{model}.pml"], ["gcc", optimise, *search, "-o", "pan", "pan.c"]):
            status, text = call(command, folder)
            if status != 0 or "syntax error" in text:
                outcome = f"{command[0]}: {text.strip()[-300:]}"
                break
        if outcome is None:
            _, text = call(["./pan", "-n", "-m100000", "-w22"], folder)
            outcome = outcome_of(text)
            seen = re.search(r"(\d+) states, stored", text)
            states = int(seen.group(1)) if seen else 0
    return outcome, states, time.monotonic() - began


def attempt(reduced, model, definitions, expected):
    try:
        return run(model, definitions, expected, model in reduced)
    except subprocess.TimeoutExpired:
        return f"no answer in {LIMIT} s", 0, LIMIT


def main(*words):
    table = proof.read(HERE / "orders.toml")
    messages = list(proof.check(table, HERE.parent.parent))
    print("\n".join(messages), end="\n" if messages else "")
    todo = [one for one in runs(table) if not words or any(word in one[0] for word in words)]
    if not todo:
        print(f"no run has one of: {' '.join(words)}")
        return 2
    reduced = {row["name"] for row in table["model"] if row.get("reduce")}
    began, bad, total = time.monotonic(), 0, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        ended = [pool.submit(attempt, reduced, *one[1:]) for one in todo]
        for number, ((what, _, _, expected), future) in enumerate(zip(todo, ended), 1):
            outcome, states, seconds = future.result()
            right = outcome == expected
            bad += not right
            total += states
            verdict = outcome if right else f"{outcome}, NOT {expected}"
            print(f"[{number}/{len(todo)}] {what}: {verdict} ({states} states, {seconds:.1f} s)", flush=True)
    for row in table["access"]:
        if "stronger" in row:
            print(f"{row['name']}: {row['stronger']} in {row['file']}, where {row['order']} would do")
    print(f"{len(todo) - bad} of {len(todo)} as expected, {total} states, {time.monotonic() - began:.0f} s")
    return 1 if bad or messages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
