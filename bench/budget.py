#!/usr/bin/env python3
"""Do trees, and lines of whole jobs, take as many instructions as bench/budget.toml grants them, and trees at most so many times as many with a
deadline, a hook, the event log, a tap, replay or an input that drops?

usage: budget.py [--record] [ENTRY...]          (script/bench builds first, and calls this)

--record writes what was counted into bench/budget.toml. A job is a file of bench/jobs on one executor and one thread (bench/job/main.c); of two runs
over the first 1,000 and 11,000 lines of its input the difference counts, so that beginning and end cancel.

Counted on a processor that can do little: the C library takes another memcpy on another processor otherwise. Several
are counted at a time: what callgrind counts is the same on a busy machine."""

import concurrent.futures
import itertools
import os
import re
import sys
import tomllib

import measured
from jobs.data import make
from jobs.table import JOBS

TOLERANCE = 0.02
TREES = {"word-count": 4_000}  # of the shorter of two runs; the longer has three times as many
CLIFF_TREES = 4_000  # enough for a ratio to two digits
TOML = os.path.join(measured.HERE, "budget.toml")
LINES = (1_000, 11_000)  # of a job's two runs
MEGABYTES = 3  # of input, which has more lines than that
FLOW = {"instructions", "reason"}
TASKS = FLOW | {"flow", "tasks"}
JOB = FLOW | {"job"}
CLIFF = {"of", "with", "times", "most", "check", "reason"}
CHECKS = ("report", "gate")


def is_flow(entry):
    return "instructions" in entry


def wrong_with(table, name):
    """What the entry lacks, in words, or None."""
    entry = table[name]
    kinds = (FLOW, TASKS, JOB, CLIFF)
    if set(entry) not in kinds:
        return f"needs {', or '.join(' and '.join(sorted(kind)) for kind in kinds)}, and nothing else"
    if not entry["reason"].strip():
        return "needs a reason"
    if entry.get("job") not in [None] + [job.name for job in JOBS]:
        return f"there is no job '{entry['job']}'"
    if is_flow(entry):
        return None if entry["instructions"] > 0 else "needs instructions above 0"
    if entry["of"] not in table or set(table[entry["of"]]) != FLOW:
        return f"there is no flow '{entry['of']}' among the entries"
    if entry["times"] <= 0 or entry["most"] < 1:
        return "needs times above 0, and most of at least 1"
    return None if entry["check"] in CHECKS else f"check is '{entry['check']}'; there are {' and '.join(CHECKS)}"


def read(path):
    """{name: entry}: instructions a tree of a flow, or how many times those of a flow with something beside it."""
    with open(path, "rb") as file:
        table = tomllib.load(file)
    for name in table:
        wrong = wrong_with(table, name)
        if wrong:
            raise ValueError(f"{path}: [{name}] {wrong}")
    return table


def judge(flow, granted, counted, unit="tree"):
    """What is wrong, in words, or None."""
    share = counted / granted - 1
    if abs(share) <= TOLERANCE:
        return None
    found = f"{flow}: {counted:.0f} instructions a {unit}, {granted} are granted ({share:+.1%})"
    if share > 0:
        return f"{found}: find out why; if it is worth it, bench/budget.toml grants them with a reason, in the same commit"
    return f"{found}: write it down in bench/budget.toml, in the same commit"


def judge_cliff(name, entry, times):
    """The same for what a flow has beside it. Only a gate can be wrong."""
    if entry["check"] == "report" or times <= entry["most"]:
        return None
    return f"{name}: {times:.2f} times the instructions of {entry['of']}, at most {entry['most']} are granted"


def first_lines(job, folder):
    """The paths of the job's input, cut after so many lines."""
    paths = []
    for count in LINES:
        paths.append(os.path.join(folder, f"{job.name}-{count}"))
        with open(os.path.join(folder, "data", job.given), "rb") as given, open(paths[-1], "wb") as cut:
            cut.writelines(itertools.islice(given, count))
    return paths


def count_job(name):
    folder = os.path.join(measured.PROGRAMS, "budget")
    job = next(job for job in JOBS if job.name == name)
    command, out = [os.path.join(measured.PROGRAMS, "gale_bench_job"), job.topology], os.path.join(folder, name + "-out")
    few, many = (measured.instructions_of_run(command + [path, out], folder) for path in first_lines(job, folder))
    return (many - few) / (LINES[1] - LINES[0])


def count(name, entry):
    if "job" in entry:
        return count_job(entry["job"])
    flow, tasks = entry.get("flow", name), entry.get("tasks")
    few = TREES.get(flow, 40_000)
    options = {"flow": flow, **({"tasks": tasks, "spouts": tasks} if tasks else {})}
    return measured.per_tree(measured.ours()["gale"], options, few, 3 * few)[0]


def count_few(options):
    return measured.per_tree(measured.ours()["gale"], options, CLIFF_TREES, 3 * CLIFF_TREES)[0]


def count_all(wanted, pool):
    """{name: a call that waits for what was counted}; a flow with something beside it is told in times the plain one."""
    flows = sorted({entry["of"] for entry in wanted.values() if "of" in entry})
    plain = {flow: pool.submit(count_few, {"flow": flow}) for flow in flows}
    counts = {}
    for name, entry in wanted.items():
        if is_flow(entry):
            counts[name] = pool.submit(count, name, entry).result
        else:
            found = pool.submit(count_few, {"flow": entry["of"], "with": entry["with"]})
            counts[name] = lambda found=found, of=plain[entry["of"]]: found.result() / of.result()
    return counts


def tell(name, entry, counted):
    """Prints the entry's line. What is wrong, in words, or None."""
    if is_flow(entry):
        print(f"  {name:26}{counted:9,.0f} of {entry['instructions']:,}", flush=True)
        return judge(name, entry["instructions"], counted, "line" if "job" in entry else "tree")
    reached = "reached" if counted <= entry["most"] else "not reached"
    print(f"  {name:26}{counted:9.2f} times {entry['of']} (at most {entry['most']}: {reached}; {entry['times']} when it"
          f" was written down; {entry['check']})", flush=True)
    return judge_cliff(name, entry, counted)


def record(counted, path=TOML):
    """Writes {name: instructions} into the table, and nothing else of it anew."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, instructions in counted.items():
        text = re.sub(rf"(^\[{re.escape(name)}\]\n(?:(?!\[).*\n)*?instructions = )\d+", rf"\g<1>{instructions:.0f}", text, flags=re.MULTILINE)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def main(words):
    table = read(TOML)
    names = [word for word in words if word != "--record"]
    unknown = [name for name in names if name not in table]
    if unknown:
        measured.say(f"no budget for '{unknown[0]}'; there are {', '.join(table)}")
        return 2
    if not measured.has_valgrind():
        return 2
    os.environ.update(measured.MODEST)
    wanted = {name: table[name] for name in names or table}
    if any("job" in entry for entry in wanted.values()):
        os.makedirs(os.path.join(measured.PROGRAMS, "budget"), exist_ok=True)
        make(os.path.join(measured.PROGRAMS, "budget", "data"), MEGABYTES)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = count_all(wanted, pool)
        wrong = [tell(name, entry, counts[name]()) for name, entry in wanted.items()]
    if "--record" in words:
        record({name: counts[name]() for name, entry in wanted.items() if is_flow(entry)})
        return 0
    wrong = [text for text in wrong if text]
    for text in wrong:
        measured.say(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
