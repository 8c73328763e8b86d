#!/usr/bin/env python3
"""Are the targets of bench/targets.toml reached? Measures what each names, gale and its limit in turns, and says so.

usage: targets.py [full|quick]          (script/bench builds first, and calls this)"""

import collections
import concurrent.futures
import os
import subprocess
import sys
import tomllib

import budget
import measured
import run
from measured import say

PATH = os.path.join(measured.HERE, "targets.toml")
KEYS = {  # of the entries of each list: what they must have, and what they may
    "throughput": ({"flow", "executors", "megabytes"}, {"most", "aim"}),
    "instructions": ({"flow", "most", "aim"}, {"words"}),
    "in_flight": ({"flow", "executors", "p50", "p99"}, set()),
    "paced": ({"flow", "executors", "rate", "p50_us", "p99_us"}, set()),
    "first_tree": ({"flow", "executors", "milliseconds"}, set()),
}

# A figure beside its bound. `value` None: it could not be measured; `most` None: it is only told.
Finding = collections.namedtuple("Finding", "what value unit most aim mode detail", defaults=(None, None, "", ""))


def read(path=PATH):
    with open(path, "rb") as file:
        table = tomllib.load(file)
    if set(table) != set(KEYS) | {"open_tree"} or set(table["open_tree"]) != {"trees", "bytes"}:
        raise ValueError(f"{path}: there must be {', '.join(KEYS)}, and open_tree with trees and bytes")
    for name, (needed, allowed) in KEYS.items():
        for entry in table[name]:
            wrong = (needed - set(entry)) or (set(entry) - needed - allowed)
            if wrong:
                of = entry.get("flow", "?")
                raise ValueError(f"{path}: {name}, {of}: '{sorted(wrong)[0]}' is lacking, or unknown")
            if entry["flow"] not in run.FLOWS:
                raise ValueError(f"{path}: {name}: there is no flow '{entry['flow']}'")
    return table


def label(entry):
    executors = entry.get("executors", 1)
    return f"{entry['flow']}, {executors} executor{'s' * (executors > 1)}"


def ratio(figures, key):
    """gale's in times the limit's, or None."""
    gale, limit = (figures.get(name, {}).get(key) for name in ("gale", "limit"))
    return gale / limit if gale and limit else None


# --- What is measured ---


def cell_of(entry, c, plan, line):
    """(the programs' figures, the mode): nothing and no mode when it could not be measured."""
    found = run.measure(c, plan, measured.ours(), line)
    if not found:
        say(f"{label(entry)}: not measured")
        return {}, ""
    return found["programs"], found["line"] if found["line"] != "any" else ""


def throughput(entry, plan, line):
    figures, mode = cell_of(entry, run.cell(entry["flow"], executors=entry["executors"]), plan, line)
    gale = figures.get("gale", {})
    ns, unit = gale.get("ns"), "word" if "word-count" in entry["flow"] else "tree"
    yield Finding(label(entry), ratio(figures, "ns"), "times the limit", entry.get("most"), entry.get("aim"), mode,
                  f"{ns:.1f} ns a {unit}" if ns else "")
    rss = gale.get("rss")
    yield Finding(f"{label(entry)}, peak", rss / 1e6 if rss else None, "MB", entry["megabytes"], None, mode)


def in_flight(entry, plan, line):
    figures, mode = cell_of(entry, run.cell(entry["flow"], executors=entry["executors"], pending=1), plan, line)
    for key in ("p50", "p99"):
        us = figures.get("gale", {}).get(f"{key}_us")
        yield Finding(f"{label(entry)}, one in flight, {key}", ratio(figures, f"{key}_us"), "times the limit",
                      entry[key], None, mode, f"{us:.2f} us" if us else "")


def paced(entry, plan, line):
    figures, mode = cell_of(entry, run.cell(entry["flow"], executors=entry["executors"], rate=entry["rate"]), plan, line)
    for key in ("p50", "p99"):
        us = figures.get("gale", {}).get(f"{key}_us")
        what = f"{label(entry)}, {entry['rate']:,} trees a second, {key}"
        yield Finding(what, us, "us", entry[f"{key}_us"], None, mode)


def first_of(command, entry):
    """ms of one start, of a process that runs alone."""
    options = {"flow": entry["flow"], "executors": entry["executors"], "seconds": 0.001, "warm": 0, "trials": 1}
    program = measured.Program("gale", command, options)
    try:
        return program.trial()["first_ms"]
    finally:
        program.end()


def first_trees(entries, plan, command=None):
    """Starts take turns; the median of each."""
    command = command or measured.ours()["gale"]
    starts = [[first_of(command, entry) for entry in entries] for _ in range(plan.trials)]
    for entry, found in zip(entries, zip(*starts)):
        yield Finding(f"{label(entry)}, first tree", measured.median(found), "ms", entry["milliseconds"])


def instructions(entries):
    """Counted as the budget is."""
    if not measured.has_valgrind():
        return [Finding(f"{entry['flow']}, instructions", None, "", entry["most"], entry["aim"]) for entry in entries]
    os.environ.update(measured.MODEST)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(lambda entry: budget.count(entry["flow"], {}), entries))
    del os.environ["GLIBC_TUNABLES"]
    return [Finding(f"{entry['flow']}, instructions a {'word' if 'words' in entry else 'tree'}",
                    counted / entry.get("words", 1), "", entry["most"], entry["aim"])
            for entry, counted in zip(entries, counts)]


def ledger_bytes(text):
    """Bytes a tree that the ledger reserved, from the table of gale_bench_open_trees, or None."""
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["ledger"]:
            return float(words[3])
    return None


def open_tree(entry):
    command = [os.path.join(measured.PROGRAMS, "gale_bench_open_trees"), str(entry["trees"])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    yield Finding("an open tree", ledger_bytes(done.stdout), "bytes", entry["bytes"])


# --- What comes of it ---


def verdict(finding):
    """(reached: True, False, or None for what is only told, in words)."""
    if finding.most is None:
        return None, "told only"
    if finding.value is None:
        return False, "not measured"
    if finding.value > finding.most:
        return False, "not reached"
    return True, "reached, the aim too" if finding.aim is not None and finding.value <= finding.aim else "reached"


def tell(finding):
    bound = f"at most {finding.most:g}" if finding.most is not None else ""
    bound += f" [{finding.aim:g}]" if finding.aim is not None else ""
    what = finding.what + (f" [{finding.mode}]" if finding.mode else "")
    print(f"  {what:56}{finding.detail:>18}{run.number(finding.value)} {finding.unit:16}{bound:20}{verdict(finding)[1]}",
          flush=True)


def findings(table, plan, line):
    """One after the other, as they are found; what needs a quiet machine first."""
    for entry in table["throughput"]:
        yield from throughput(entry, plan, line)
    for entry in table["in_flight"]:
        yield from in_flight(entry, plan, line)
    for entry in table["paced"]:
        yield from paced(entry, plan, line)
    yield from first_trees(table["first_tree"], plan)
    yield from open_tree(table["open_tree"])
    yield from instructions(table["instructions"])


def summary(found):
    """How many are reached, and the names of those that are not."""
    bound = [(f, verdict(f)[0]) for f in found if f.most is not None]
    missed = [f.what for f, ok in bound if not ok]
    return f"{len(bound) - len(missed)} of {len(bound)} reached" + (f"; not: {'; '.join(missed)}" if missed else "")


def main(words):
    plan = run.plan_of(words)
    if not plan:
        return __doc__
    load, table, line, found = os.getloadavg()[0], read(), measured.Line(), []
    print(f"\ntargets (bench/targets.toml), medians of {plan.trials} trials that take turns with the limit's; [the aim]")
    for finding in findings(table, plan, line):
        tell(finding)
        found.append(finding)
    line.end()
    print(f"  {summary(found)}")
    run.write(os.path.join(plan.folder, "targets.json"),
              {"commit": measured.commit(), "machine": measured.machine(), "trials": plan.trials,
               "seconds": plan.seconds, "findings": [{**f._asdict(), "reached": verdict(f)[0]} for f in found]})
    print(measured.conditions(load))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
