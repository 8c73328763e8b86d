#!/usr/bin/env python3
"""Does a second core pay? Each flow with two executors, placed by gale, beside one executor; and flows that can be cut in
two beside two processes that share nothing, each pinned to one of the same two cores, in the same minutes.

usage: cores.py [full|quick]          (script/bench builds first, and calls this)"""

import concurrent.futures
import os
import sys
import time

import measured
import run
from measured import say

CUT = ["word-count", "keyed-count", "top-words"]  # a spout, a split and a count on each core
OTHERS = [flow for flow in run.FLOWS if flow not in CUT + run.BY_RATE]
SHARE = 0.80  # of two that share nothing
LEAST = 0.95  # of one executor
WAITED_MOST = 0.05  # seconds a second, in a trial that counts
AGAIN = 4
ONE, SAME, TWO, APART = "one executor", "one, tasks of two", "two executors", "two processes"


class Alone:
    """A program whose trials are told with `waited`: how long its threads wanted a core and others had it, or the machine's
    host had, for each second. A trial in which that was much is made again, a few times at most: a second core that
    somebody else has pays nothing."""

    def __init__(self, program, read=lambda program: stolen() + sum(map(waited, pids(program)))):
        self.name, self.program, self.read = program.name, program, read

    def trial(self):
        for _ in range(AGAIN):
            began, before = time.monotonic(), self.read(self.program)
            line = self.program.trial()
            line["waited"] = (self.read(self.program) - before) / (time.monotonic() - began)
            if line["waited"] <= WAITED_MOST:
                break
        return line

    def end(self):
        self.program.end()


def pids(program):
    return [each.process.pid for each in getattr(program, "programs", [program])]


def stolen():
    """Seconds that the machine's host took from all cores."""
    with open("/proc/stat", encoding="utf-8") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def waited(pid):
    """Seconds that the threads of a process could have run, and others did. One that has just ended waits no more."""
    nanoseconds = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="utf-8") as file:
                nanoseconds += int(file.read().split()[1])
        except OSError:
            continue
    return nanoseconds / 1e9


class Apart:
    """Programs that are asked for a trial at the same time; told as if they were one."""

    def __init__(self, name, programs):
        self.name, self.programs = name, programs
        self.pool = concurrent.futures.ThreadPoolExecutor(len(programs))

    def trial(self):
        return together(list(self.pool.map(lambda program: program.trial(), self.programs)))

    def end(self):
        for program in self.programs:
            program.end()
        self.pool.shutdown()


def together(lines):
    """One line of several: their rates add up."""
    if not all(line["ns"] for line in lines):
        raise RuntimeError("one of the processes did nothing")
    seconds = max(line["seconds"] for line in lines)
    return {**lines[0], "executors": len(lines), "seconds": seconds, "ns": 1 / sum(1 / line["ns"] for line in lines),
            "trees": round(sum(line["trees"] / line["seconds"] for line in lines) * seconds),
            "rss": sum(line["rss"] for line in lines), "settings": f"{len(lines)} processes; {lines[0]['settings']}"}


def pinned(cores, command):
    return ["taskset", "-c", ",".join(map(str, cores))] + command


def program(name, flow, plan, cores, executors, tasks):
    """gale's flow as gale places it; `tasks` of every component, the spout too, or 0: as the flow has it."""
    options = {"flow": flow, "acks": "on", "executors": executors, "place": "engine", "tasks": tasks, "spouts": tasks,
               "seconds": plan.seconds, "warm": plan.warm, "trials": 100}
    return measured.Program(name, pinned(cores, measured.ours()["gale"]), options)


def subjects(flow, plan, cores):
    """One executor and two; of a flow that can be cut in two the yardstick, and what its tasks cost on one."""
    if flow not in CUT:
        return [program(ONE, flow, plan, cores, 1, 0), program(TWO, flow, plan, cores, 2, 0)]
    apart = [program(APART, flow, plan, [core], 1, 1) for core in cores]
    return [program(ONE, flow, plan, cores, 1, 1), program(SAME, flow, plan, cores, 1, 2),
            program(TWO, flow, plan, cores, 2, 2), Apart(APART, apart)]


def by_mode(trials, least):
    """{mode: {name: ns}} of the modes in which each has at least so many trials, with the cores to itself."""
    modes = {}
    for mode in ("near", "far"):
        used = {name: [t["ns"] for t in found if t["line"] == mode and t.get("waited", 0) <= WAITED_MOST]
                for name, found in trials.items()}
        if all(len(found) >= least for found in used.values()):
            modes[mode] = {name: measured.median(found) for name, found in used.items()}
    return modes


def measure(flow, plan, cores, line):
    programs = [Alone(program) for program in subjects(flow, plan, cores)]
    try:
        for p in programs:
            p.trial()  # is not counted
        trials, _ = run.take_turns(programs, run.cell(flow, executors=2), plan, line)
    finally:
        for p in programs:
            p.end()
    if len(trials) < len(programs):
        return {}
    return by_mode(trials, max(1, plan.trials // 3))


# --- What comes of it ---


def gain(figures):
    """How many times as fast two executors are as one."""
    return figures[ONE] / figures[TWO]


def share(figures):
    """What two executors reach of what sharing nothing reaches, or None."""
    return figures[APART] / figures[TWO] if APART in figures else None


def verdicts(flows):
    """[(what, [what is short of it, in words])] of {flow: figures} in one mode."""
    shares = {flow: share(f) for flow, f in flows.items() if share(f) is not None}
    lack = [f"{flow} is not measured" for flow in CUT if flow not in shares]
    lack_any = [f"{flow} is not measured" for flow in CUT + OTHERS if flow not in flows]
    return [(f"at least {SHARE:.0%} of two processes that share nothing",
             [f"{flow} {value:.0%}" for flow, value in shares.items() if value < SHARE] + lack),
            (f"never less than {LEAST} of one executor on any flow",
             [f"{flow} {gain(f):.2f}" for flow, f in flows.items() if gain(f) < LEAST] + lack_any)]


def row(flow, mode, figures):
    ns = {name: run.number(figures.get(name), 11) for name in (ONE, SAME, TWO, APART)}
    part = share(figures)
    return (f"  {flow:16} {mode:5}{ns[ONE]}{ns[SAME]}{ns[TWO]}{ns[APART]}{gain(figures):11.2f}"
            + (f"{part:13.0%}" if part is not None else f"{'-':>13}"))


def print_header():
    print("\ndoes a second core pay? ns a tree (word counts: a word), acked, two executors as gale places them")
    print(f"  {'':22}{'one':>11}{'one, tasks':>11}{'two':>11}{'two':>11}{'two of':>11}{'two of two':>13}")
    print(f"  {'':22}{'executor':>11}{'of two':>11}{'executors':>11}{'processes':>11}{'one':>11}{'processes':>13}",
          flush=True)


def print_verdicts(modes):
    for mode in ("near", "far"):
        if mode not in modes:
            print(f"  {mode}: not seen in this run")
            continue
        for what, short in verdicts(modes[mode]):
            print(f"  {mode}: {what}: {'no: ' + ', '.join(short) if short else 'yes'}")


def keep(modes, plan, of):
    """What was not seen in a mode keeps what an earlier run found of it, with that run's commit."""
    path = os.path.join(plan.folder, "cores.json")
    kept = (run.read(path) or {}).get("modes", {})
    for mode, flows in modes.items():
        told = {"commit": of, "trials": plan.trials, "seconds": plan.seconds}
        kept.setdefault(mode, {}).update({flow: {**told, "ns": figures} for flow, figures in flows.items()})
    run.write(path, {"machine": measured.machine(), "modes": kept})


def main(words):
    plan = run.plan_of(words)
    if not plan:
        return __doc__
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        return "there is one core: nothing to be compared"
    load, line, modes = os.getloadavg()[0], measured.Line(), {}
    print_header()
    for flow in CUT + OTHERS:
        if plan.late(flow):
            continue
        found = measure(flow, plan, cores, line)
        for mode, figures in found.items():
            print(row(flow, mode, figures), flush=True)
            modes.setdefault(mode, {})[flow] = figures
        if not found:
            say(f"{flow}: nothing to say: a program failed, no mode lasted, or others took the cores")
    line.end()
    print_verdicts(modes)
    keep(modes, plan, measured.commit())
    print(measured.conditions(load))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
