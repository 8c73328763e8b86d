#!/usr/bin/env python3
"""The driver of the flow benchmarks: trials of gale, its limits and other engines take turns, the distance between the
cores is measured around each, and medians are told beside their ratios to the limit of the same run.

usage: run.py quick|full|FLOW|instructions|scale|micro          (script/bench builds first, and calls this)

bench/README.md says what the numbers mean."""

import collections
import json
import os
import subprocess
import sys
import time

import measured
from measured import HERE, ROOT, Lacking, say

FLOWS = ["const-null", "const-id-null", "word-count", "file-word-count", "low-throughput", "back-pressure", "top-words",
         "fan-out-10", "diamond", "keyed-count"]
LATENCY_FLOWS = ["const-null", "const-id-null", "word-count", "top-words"]
LOADS = [10, 50, 90]  # % of the peak that was just measured
A_MILLION = 1_000_000
PEER_FLOWS = ["const-null", "const-id-null", "word-count"]
PEERS = ("storm", "timely", "jet")
BY_RATE = ["low-throughput", "back-pressure"]  # their time a tree is given; latency is what counts

Cell = collections.namedtuple("Cell", "flow acks executors place pending rate load peers")


def cell(flow, acks=True, executors=1, place="spread", pending=0, rate=0, load="", peers=()):
    """`peers`: the names of the other engines that it is measured with."""
    return Cell(flow, acks, executors, place, pending, rate, load, peers)


class Plan:
    """How much is measured, and for how long."""

    def __init__(self, quick, end_after=None):
        self.quick = quick
        self.trials = 3 if quick else 9
        self.seconds = 0.15 if quick else 0.5
        self.warm = 0.1 if quick else 0.5
        self.peer_seconds = 0.5 if quick else 1
        self.peer_warm = 4 if quick else 15
        self.deadline = time.monotonic() + (end_after or (360 if quick else 52 * 60))
        self.folder = os.path.join(ROOT, "build/bench/results") if quick else os.path.join(HERE, "results")

    def late(self, what):
        if time.monotonic() < self.deadline:
            return False
        say(f"out of time: {what} is left out")
        return True


def plan_of(words):
    """The plan that a script's words ask for: quick (or --quick), full, or none, which is full. None: other words."""
    asked = [word.removeprefix("--") for word in words]
    return Plan(asked == ["quick"]) if asked in ([], ["quick"], ["full"]) else None


def cells_of(flow, plan):
    """What is measured of a flow as fast as it goes, and with one tree in flight."""
    peers = PEERS if flow in PEER_FLOWS else ()
    alone = [name for name in peers if name == "timely"]  # the only one that can do with one thread
    cells = [cell(flow, peers=alone), cell(flow, executors=2, peers=peers), cell(flow, acks=False)]
    if not plan.quick or flow in ("const-null", "word-count"):
        cells += [cell(flow, acks=False, executors=2, peers=peers),
                  cell(flow, executors=2, place="engine")]
    if flow == "const-null":
        cells += [cell(flow, executors=2, pending=1, peers=peers), cell(flow, pending=1)]
    return cells


def name_of(c):
    """A cell's name in tables and files."""
    words = ["acks" if c.acks else "no acks", f"{c.executors} executor{'s' * (c.executors > 1)}"]
    if c.executors > 1 and c.place == "engine":
        words.append("placed by the engine")
    if c.pending == 1:
        words.append("one in flight")
    if c.load:
        words.append(c.load)
    return ", ".join(words)


# --- One cell ---


def options_of(c, plan, own):
    options = {"flow": c.flow, "acks": "on" if c.acks else "off", "executors": c.executors,
               "seconds": plan.seconds if own else plan.peer_seconds, "warm": plan.warm if own else plan.peer_warm,
               "trials": 100, "pending": c.pending, "rate": c.rate}
    return {**options, "place": c.place} if own else options


def begin(name, command, c, plan):
    """The program, warm and running: its first trial is not counted. None when it has no such flow, even without acks."""
    own = name in measured.ours()
    for acks in ([True, False] if c.acks and not own and not c.pending and not c.rate else [c.acks]):
        program = measured.Program(name, command, options_of(c._replace(acks=acks), plan, own))
        try:
            program.trial()
            return program
        except Lacking:
            program.end()
        except RuntimeError as error:
            say(f"skipped: {c.flow}, {name_of(c)}: {error}")
            program.end()
            return None
    return None


def enough(rounds, plan, kept_counts):
    """Nine in one mode, for as long as that is to be had."""
    if rounds < plan.trials:
        return False
    return plan.quick or rounds >= 2 * plan.trials or min(kept_counts) >= plan.trials


def one_trial(program, line):
    before = line.trip()
    trial = program.trial()
    after = line.trip()
    return {**trial, "line": measured.mode(before, after), "trips": [before, after]}


def take_turns(programs, c, plan, line):
    """Trials of each, and the mode that prevails. One that fails is left out from then on."""
    trials = {p.name: [] for p in programs}
    for rounds in range(1, 1000):
        turn = rounds % len(programs)
        for p in programs[turn:] + programs[:turn]:
            try:
                trials[p.name].append(one_trial(p, line))
            except RuntimeError as error:  # the others go on without it
                say(f"skipped: {c.flow}, {name_of(c)}: {error}")
                programs = [other for other in programs if other is not p]
                del trials[p.name]
        if not programs:
            return {}, None
        kept = measured.prevailing([t["line"] for found in trials.values() for t in found])
        if c.executors == 1:
            kept = None  # nothing crosses cores
        counts = [sum(kept in (None, t["line"]) for t in found) for found in trials.values()]
        if enough(rounds, plan, counts) or time.monotonic() > plan.deadline + 120:
            return trials, kept


def measure(c, plan, commands, line):
    """The cell's figures, or None when nobody has it."""
    able = {name: command for name, command in commands.items() if name in measured.ours() or name in c.peers}
    programs = [p for p in (begin(name, command, c, plan) for name, command in able.items()) if p]
    if not programs:
        return None
    try:
        trials, kept = take_turns(programs, c, plan, line)
    finally:
        for p in programs:
            p.end()
    figures = {name: measured.summary(found, kept) for name, found in trials.items()
               if kept is None or any(t["line"] == kept for t in found)}
    if not figures:
        return None
    return {**c._asdict(), "name": name_of(c), "line": kept or "any", "programs": figures}


# --- A flow ---


def figure(cells, name, program, key):
    """A figure of the cell of that name, or None."""
    for c in cells:
        if c["name"] == name and program in c["programs"]:
            return c["programs"][program][key]
    return None


def loads_of(flow, cells, plan):
    """Latency at shares of the peak just measured, at a million trees a second, and where a peer is half loaded."""
    loads = []
    for executors in ((2,) if plan.quick else (1, 2)):
        peak = figure(cells, name_of(cell(flow, executors=executors)), "gale", "trees_a_second")
        if peak:
            loads += [cell(flow, executors=executors, rate=round(peak * share / 100), load=f"{share} % of gale's peak")
                      for share in LOADS]
    if flow == "const-null":
        loads.append(cell(flow, executors=2, rate=A_MILLION, load="a million trees a second"))
    storm = figure(cells, name_of(cell(flow, executors=2)), "storm", "trees_a_second")
    if storm and (flow == "const-null" or not plan.quick):
        loads.append(cell(flow, executors=2, rate=round(storm / 2), load="half of storm's peak", peers=PEERS))
    return loads


def measure_flow(flow, plan, commands, peer_flows, line):
    able = {name: command for name, command in commands.items()
            if name in measured.ours() or flow in peer_flows.get(name, [])}
    cells = []
    for c in cells_of(flow, plan):
        if not plan.late(f"{flow}, {name_of(c)}"):
            cells.append(measure(c, plan, able, line))
    cells = [c for c in cells if c]
    for c in loads_of(flow, cells, plan) if flow in LATENCY_FLOWS else []:
        if not plan.late(f"{flow}, {name_of(c)}"):
            cells.append(measure(c, plan, able, line))
    return [c for c in cells if c]


# --- Results ---


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def write(path, content):
    """As a whole, or not at all."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as out:
        json.dump(content, out, indent=1)
        out.write("\n")
    os.replace(path + ".new", path)


def worth(c):
    """The less, the better: times the limit, or ns when there is none, or the median latency when the rate is given."""
    gale, limit = c["programs"].get("gale"), c["programs"].get("limit")
    if not gale:
        return float("inf")
    if c["rate"] or c["flow"] in BY_RATE or c["pending"] == 1:
        return gale["p50_us"] or float("inf")
    if not gale["ns"]:
        return float("inf")
    return gale["ns"] / limit["ns"] if limit and limit["ns"] else gale["ns"]


def better(cells, best, of):
    """The best of each cell in each mode; both lists as they are in files."""
    kept = {(c["name"], c["line"]): c for c in best}
    for c in cells:
        old = kept.get((c["name"], c["line"]))
        if old is None or worth(c) < worth(old):
            kept[(c["name"], c["line"])] = {**c, "commit": of}
    return list(kept.values())


def keep(flow, cells, plan, of):
    path = os.path.join(plan.folder, f"{flow}.json")
    write(path, {"flow": flow, "commit": of, "machine": measured.machine(), "trials": plan.trials, "seconds": plan.seconds,
                 "cells": cells})
    best_path = os.path.join(plan.folder, "best", f"{flow}.json")
    best = (read(best_path) or {}).get("cells", [])
    write(best_path, {"flow": flow, "machine": measured.machine(), "cells": better(cells, best, of)})


def number(value, width=9):
    if value is None:
        return f"{'-':>{width}}"
    return f"{value:>{width}.{0 if value >= 1000 else 1 if value >= 10 else 2}f}"


def times(value, by):
    return f" ({value / by:.1f})" if value and by else ""


def print_flow(flow, cells):
    unit = "word" if flow in ("word-count", "file-word-count") else "tree"
    print(f"\n{flow}: ns a {unit} (times the limit); p50, p99, p99.9 of the complete latency in us; peak MB; "
          "ms to the first tree")
    for c in cells:
        print(f"  {c['name']}" + (f" [{c['line']}]" if c["line"] != "any" else ""))
        limit = c["programs"].get("limit", {})
        for name, f in sorted(c["programs"].items(), key=lambda item: item[0] not in ("limit", "gale")):
            ratio = times(f["ns"], limit.get("ns")) if name != "limit" and not c["rate"] else ""
            label = name + (" (no acks)" if c["acks"] and not f["acks"] else "")
            print(f"    {label:18}{number(f['ns'])}{ratio:9}{number(f['p50_us'], 10)}{number(f['p99_us'], 10)}"
                  f"{number(f['p999_us'], 10)}{number((f['rss'] or 0) / 1e6, 9)}{number(f['first_ms'], 9)}")
    for executors in (1, 2):
        print_cost_of_acks(flow, cells, executors)
    sys.stdout.flush()


def print_cost_of_acks(flow, cells, executors):
    on, off = name_of(cell(flow, executors=executors)), name_of(cell(flow, acks=False, executors=executors))
    found = [figure(cells, name, who, "ns") for who in ("gale", "limit") for name in (on, off)]
    if None in found:
        return
    ours, limits = found[0] - found[1], found[2] - found[3]
    print(f"  acking adds, {executors} executor{'s' * (executors > 1)}: {ours:.1f} ns, to the limit {limits:.1f} ns"
          f"{f' ({ours / limits:.1f} times)' if limits > 0 else ''}")


# --- What is not a flow as fast as it goes ---


def print_instructions():
    if not measured.has_valgrind():
        return
    print("\ninstructions a tree, by callgrind: one executor, all on one thread (times the limit)")
    lines = []
    for flow in FLOWS:
        if flow in BY_RATE:
            continue
        for acks in ("on", "off"):
            counted = {}
            few = 4_000 if "word-count" in flow else 40_000
            for name, command in measured.ours().items():
                try:
                    counted[name] = measured.per_tree(command, {"flow": flow, "acks": acks}, few, 3 * few)[0]
                except Lacking:
                    counted[name] = None
            lines.append({"flow": flow, "acks": acks == "on", **counted})
            print(f"  {flow:18}{'acks' if acks == 'on' else 'no acks':9}limit{number(counted['limit'])}   gale"
                  f"{number(counted['gale'])}{times(counted['gale'], counted['limit'])}", flush=True)
    write(os.path.join(HERE, "results/instructions.json"),
          {"commit": measured.commit(), "machine": measured.machine(), "instructions": lines})


def print_scale(quick):
    """Cost grows as the work does: trees open, tasks a component, keys."""
    if not measured.has_valgrind():
        return
    gale = measured.ours()["gale"]
    print("\ninstructions a tree by open trees (every tuple held until so many more have come)", flush=True)
    for opened in (64, 1024, 65_536) if quick else (64, 1024, 16_384, 262_144, 1_000_000):
        few = opened + 20_000
        counted = measured.per_tree(gale, {"flow": "open-trees", "pending": opened}, few, few + 60_000)[0]
        print(f"  {opened:>9,}{number(counted)}", flush=True)
    print("\ninstructions a tree by tasks of the bolt (const-null, shuffle)")
    for tasks in (1, 2, 4, 16, 64):
        counted = measured.per_tree(gale, {"flow": "const-null", "tasks": tasks}, 40_000, 120_000)[0]
        print(f"  {tasks:>9}{number(counted)}", flush=True)
    print_keys(quick, gale)


def print_keys(quick, gale):
    print("\nkeyed-count by keys: ns a tree, instructions and last-level misses a tree (callgrind's model), peak MB")
    for keys in (10, 10_000, 1_000_000) if quick else (10, 1000, 100_000, 1_000_000, 10_000_000):
        options = {"flow": "keyed-count", "keys": keys}
        program = measured.Program("gale", gale, {**options, "seconds": 0.5, "warm": 1, "trials": 3})
        trials = [program.trial() for _ in range(3)]
        program.end()
        counted, misses = (None, None) if quick else measured.per_tree(gale, options, 150_000, 300_000, cache=True)
        ns, rss = measured.median([t["ns"] for t in trials]), trials[-1]["rss"] / 1e6
        print(f"  {keys:>11,}{number(ns)}{number(counted)}{number(misses)}{number(rss)}", flush=True)


def print_micro():
    done = subprocess.run([os.path.join(measured.PROGRAMS, "gale_bench_micro")], capture_output=True, text=True,
                          check=True)
    print("\nsingle modules, ns an operation, a million trees or keys")
    for line in done.stdout.splitlines():
        found = json.loads(line)
        print(f"  {found['what']:45}{number(found['ns'])}", flush=True)


# --- The whole ---


def run_flows(flows, plan, again):
    """Each flow, unless this commit's figures are there."""
    found = measured.peers()
    commands = {**measured.ours(), **{name: command for name, (command, _) in found.items()}}
    peer_flows = {name: has for name, (_, has) in found.items()}
    of = measured.commit()
    line = measured.Line()
    for flow in flows:
        old = read(os.path.join(plan.folder, f"{flow}.json"))
        if not again and old and old["commit"] == of and not of.endswith("+"):
            say(f"{flow}: measured at this commit ({of}) before; script/bench {flow} measures it again")
            print_flow(flow, old["cells"])
            continue
        if plan.late(flow):
            continue
        began, late = time.monotonic(), plan.deadline
        cells = measure_flow(flow, plan, commands, peer_flows, line)
        print_flow(flow, cells)
        say(f"{flow}: {time.monotonic() - began:.0f} s")
        if time.monotonic() < late:  # else it is not whole, and is to be measured again
            keep(flow, cells, plan, of)
    line.end()


def main(words):
    if len(words) != 1 or words[0] not in ["quick", "full", "instructions", "scale", "micro"] + FLOWS:
        return __doc__
    what, load = words[0], os.getloadavg()[0]
    if what == "instructions":
        print_instructions()
    elif what == "scale":
        print_scale(False)
    elif what == "micro":
        print_micro()
    else:
        plan = Plan(what == "quick")
        run_flows(FLOWS if what in ("quick", "full") else [what], plan, again=what != "full")
        if what in ("quick", "full"):
            print_micro()
        if what == "full" and not plan.late("instructions"):
            print_instructions()
        if what == "full" and not plan.late("scale"):
            print_scale(True)
    print(f"\n{measured.conditions(load)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
