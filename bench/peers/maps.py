#!/usr/bin/env python3
"""Expiring maps side by side: gale's, the articles' algorithm, Storm's own, Caffeine, Guava, moka, and as the limit
boost::unordered_flat_map, which does not expire. bench/README.md says what the numbers mean.

usage: maps.py full|quick|jmh          (script/bench maps [quick|jmh] builds first, and calls this)

Each map is a process that does what it is told (workload.h), so that trials can take turns."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import measured

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, "build", "peers")
OURS = ["gale-rotating", "gale-time-cache", "list-of-maps"]
JAVA = ["storm-rotating", "storm-time-cache", "caffeine", "guava"]
ONE_THREAD_ONLY = ["list-of-maps", "storm-rotating"]
OWN_MAPS = ["gale-rotating", "boost"]  # with two threads, each has a map of its own
DOES_NOT_EXPIRE = ["boost", "moka"]  # not in the time that a run takes
WORKS = {"reads 90": "reads 90", "reads 50": "reads 50", "put-if-absent": "zipf", "init-and-ack": "ack"}
PAYLOAD = 16


class Plan:
    """How much is measured, and for how long."""

    def __init__(self, quick):
        self.sizes = [10_000, 64_000] if quick else [10_000, 64_000, 10_000_000]
        self.trials = 3 if quick else 7
        self.memory_keys = 1_000_000 if quick else 10_000_000
        self.seconds = 170 if quick else 17 * 60
        self.warm_ops = 200_000
        self.ops_native = 1_000_000
        self.ops_other = 250_000 if quick else 500_000


def say(text):
    print(text, file=sys.stderr, flush=True)


# --- Peers: what is there is built, what is lacking is named ---


def command(arguments):
    """Its output, when it fails; else nothing."""
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return None if done.returncode == 0 else done.stdout[-800:]


def lacking(programs, what, how):
    for program in programs:
        if not shutil.which(program):
            say(f"skipped: {what}: there is no {program} ({how})")
            return True
    return False


def boost():
    how = "apt-get install g++ libboost1.81-dev"
    if lacking(["g++"], "boost", how):
        return {}
    program = os.path.join(BUILD, "maps-boost")
    failed = command(["g++", "-std=c++20", "-O2", "-DNDEBUG", "-o", program, os.path.join(HERE, "maps-boost/maps.cpp"),
                      "-lpthread"])
    if failed:
        reason = "no boost/unordered/unordered_flat_map.hpp" if "unordered_flat_map.hpp" in failed else failed
        say(f"skipped: boost: {reason} ({how})")
        return {}
    return {"boost": [program]}


def java(heap):
    how = "apt-get install default-jdk-headless maven, and be online the first time"
    what = ", ".join(JAVA)
    if lacking(["javac", "java", "mvn"], what, how):
        return {}
    jars, classes = os.path.join(BUILD, "jars"), os.path.join(BUILD, "classes")
    pom = os.path.join(HERE, "maps-java/pom.xml")
    done = os.path.join(jars, "done")
    if not os.path.exists(done) or os.path.getmtime(done) < os.path.getmtime(pom):
        failed = command(["mvn", "-B", "-q", "-f", pom, "dependency:copy-dependencies", f"-DoutputDirectory={jars}"])
        if failed:
            say(f"skipped: {what}: mvn could not fetch the jars ({how})\n{failed}")
            return {}
        open(done, "w", encoding="utf-8").close()
    failed = command(["javac", "-d", classes, "-cp", f"{jars}/*"] +
                     [os.path.join(HERE, "maps-java/src", file) for file in ("Maps.java", "Jmh.java")])
    if failed:
        say(f"skipped: {what}: javac failed\n{failed}")
        return {}
    return {name: ["java", f"-Xms{heap}", f"-Xmx{heap}", "-cp", f"{classes}:{jars}/*", "maps.Maps", name] for name in JAVA}


def rust():
    how = "install Rust's cargo, and be online the first time"
    if lacking(["cargo"], "moka", how):
        return {}
    target = os.path.join(BUILD, "rust")
    failed = command(["cargo", "build", "--release", "--locked", "--quiet", "--manifest-path",
                      os.path.join(HERE, "maps-rust/Cargo.toml"), "--target-dir", target])
    if failed:
        say(f"skipped: moka: cargo build failed ({how})\n{failed}")
        return {}
    return {"moka": [os.path.join(target, "release/maps-rust")]}


def all_peers(quick):
    os.makedirs(BUILD, exist_ok=True)
    ours = os.path.join(ROOT, "build/bench/peers/gale_peer_maps")
    return {**boost(), **{name: [ours, name] for name in OURS}, **java("1g" if quick else "2600m"), **rust()}


class Peer:
    """A process that holds one kind of map."""

    def __init__(self, name, arguments):
        self.name = name
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE if name in OURS else subprocess.DEVNULL, text=True)

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.name} ended at '{line}' (status {self.process.wait()})")
        return answer.split()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def has_memory_for(keys):
    """All peers hold a map at once, and about 1600 bytes a key between them, spare room of the Java heaps included."""
    with open("/proc/meminfo", encoding="utf-8") as file:
        free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    if free < keys * 1600:
        say(f"skipped: {keys} keys: {free >> 20} MB of memory are free, and {keys * 1600 >> 20} may be needed")
    return free >= keys * 1600


# --- Trials ---


def must_agree(name, threads, work):
    """Whose checks are the same: those that see the same stream and forget the same."""
    if work == "ack":
        return "all"
    if work.startswith("reads"):
        return "own" if threads > 1 and name in OWN_MAPS else "all"
    if threads > 1 or name in ("caffeine", "guava"):  # these forget after two periods, the rotating after two to three
        return None
    return "kept" if name in DOES_NOT_EXPIRE else "rotated"


def compare(checks, threads, work):
    """An error when peers that must agree do not."""
    groups = {}
    for name, check in checks.items():
        groups.setdefault(must_agree(name, threads, work), {})[name] = check
    for group, members in groups.items():
        if group and len(set(members.values())) > 1:
            raise RuntimeError(f"these peers do not do the same work ({work}, {threads} threads): {members}")


def measure(peers, plan, work, keys, threads, deadline):
    """Nanoseconds an operation, a list for each peer. The order of peers turns with the trials."""
    checks = {p.name: p.ask(f"{work} {plan.warm_ops} 1")[1] for p in peers}
    compare(checks, threads, work)
    for p in peers:
        if p.name in JAVA:  # the compiler wants to see more of it
            p.ask(f"{work} {2 * plan.ops_other} 2")
    times = {p.name: [] for p in peers}
    for trial in range(plan.trials):
        if trial and time.monotonic() > deadline:
            break
        turn = trial % len(peers)
        for p in peers[turn:] + peers[:turn]:
            ops = plan.ops_other if p.name in JAVA or p.name == "moka" else plan.ops_native
            times[p.name].append(int(p.ask(f"{work} {ops} {trial + 3}")[0]) / ops)
    return times


def all_trials(programs, plan, deadline):
    cells = []
    peers = [Peer(name, arguments) for name, arguments in programs.items()]
    for keys in filter(has_memory_for, plan.sizes):
        for threads in (1, 2):
            if time.monotonic() > deadline:
                say(f"out of time: {keys} keys, {threads} threads are left out")
                continue
            able = [p for p in peers if threads == 1 or p.name not in ONE_THREAD_ONLY]
            began = time.monotonic()
            for p in able:
                p.ask(f"fill {keys} {threads}")
            for label, work in WORKS.items():
                times = measure(able, plan, work, keys, threads, deadline)
                cells += [{"map": name, "work": label, "keys": keys, "threads": threads,
                           "ns": round(statistics.median(ns), 2), "trials": [round(n, 2) for n in ns]}
                          for name, ns in times.items()]
            say(f"{keys} keys, {threads} threads: {time.monotonic() - began:.0f} s")
    for p in peers:
        p.end()
    return cells


def all_memory(programs, plan, deadline):
    figures = {}
    names = ["rotation_ns", "used_filled", "resident_filled", "used_turned", "resident_turned"]
    for name, arguments in programs.items():
        if time.monotonic() > deadline:
            say(f"out of time: the memory of {name} is left out")
            continue
        began = time.monotonic()
        peer = Peer(name, arguments)
        answer = [int(word) for word in peer.ask(f"memory {plan.memory_keys}")]
        peer.end()
        say(f"memory of {name}: {time.monotonic() - began:.0f} s")
        figures[name] = {key: value if value >= 0 else None for key, value in zip(names, answer)}
    return figures


# --- What comes out ---


def cell_of(cells, name, work, keys, threads):
    for cell in cells:
        if (cell["map"], cell["work"], cell["keys"], cell["threads"]) == (name, work, keys, threads):
            return cell["ns"]
    return None


def print_times(cells, names, plan):
    for keys in plan.sizes:
        for threads in (1, 2):
            if not any(c["keys"] == keys and c["threads"] == threads for c in cells):
                continue
            print(f"\n{keys:,} keys, {threads} thread{'s' * (threads > 1)}: ns an operation (times boost)")
            print(f"{'':18}" + "".join(f"{work:>19}" for work in WORKS))
            for name in names:
                row = ""
                for work in WORKS:
                    ns, limit = (cell_of(cells, n, work, keys, threads) for n in (name, "boost"))
                    ratio = f" ({ns / limit:.2f})" if ns and limit else ""
                    row += f"{f'{ns:.1f}{ratio}' if ns else '-':>19}"
                print(f"{name:18}{row}")


def print_memory(figures, plan):
    print(f"\n{plan.memory_keys:,} entries of {PAYLOAD} bytes: bytes an entry, and the longest of two rotations, ns")
    print(f"{'':18}{'used':>9}{'resident':>10}{'after ten turnovers: used':>27}{'resident':>10}{'rotation':>12}")
    for name, f in figures.items():
        def each(key, width):
            return f"{f[key] / plan.memory_keys:{width}.1f}" if f[key] is not None else f"{'-':>{width}}"
        rotation = f"{f['rotation_ns']:>12,}" if f["rotation_ns"] is not None else f"{'-':>12}"
        print(f"{name:18}{each('used_filled', 9)}{each('resident_filled', 10)}{each('used_turned', 27)}"
              f"{each('resident_turned', 10)}{rotation}")


def worst(cells, plan, pairs, sizes=None, work_of=None):
    """Over all cells that both maps of a pair have: the smallest of other / ours, and where it is."""
    found = []
    for ours, other in pairs:
        for keys in sizes or plan.sizes:
            for threads in (1, 2):
                for work in work_of or WORKS:
                    a, b = cell_of(cells, ours, work, keys, threads), cell_of(cells, other, work, keys, threads)
                    if a and b:
                        found.append((b / a, f"{ours} against {other}, {work}, {keys:,} keys, {threads} thread(s)"))
    return min(found) if found else None


def aims(cells, figures, plan):
    """(what, figure, reached): reached is decided by what was measured, not by what is printed."""
    result = []
    for work in WORKS:
        ns, limit = cell_of(cells, "gale-rotating", work, 64_000, 1), cell_of(cells, "boost", work, 64_000, 1)
        if ns:
            result.append((f"64,000 keys, {work}: at most 20 ns", f"{ns:.1f} ns", ns <= 20))
        if ns and limit:
            result.append((f"64,000 keys, {work}: at most 1.3 times boost", f"{ns / limit:.2f}", ns / limit <= 1.3))
    for pair in (("gale-rotating", "storm-rotating"), ("gale-time-cache", "storm-time-cache")):
        least = worst(cells, plan, [pair])
        if least:
            figure = f"{least[0]:.2f} in the worst cell: {least[1]}"
            result.append((f"{pair[0]} at least 4 times as fast as {pair[1]}", figure, least[0] >= 4))
    for other in ("caffeine", "guava", "moka"):
        least = worst(cells, plan, [("gale-time-cache", other)])
        if least:
            figure = f"{least[0]:.2f} in the worst cell: {least[1]}"
            result.append((f"ahead of {other} everywhere", figure, least[0] > 1))
    for name in OURS[:2]:
        if name not in figures:
            continue
        f = figures[name]
        rotation = f["rotation_ns"]
        result.append((f"{name}: a rotation with nothing dead under 1 us", f"{rotation} ns", rotation < 1000))
        for key in ("used_filled", "resident_filled", "used_turned", "resident_turned"):
            times = f[key] / plan.memory_keys / PAYLOAD
            what = f"{name}: memory {key.replace('_', ', ')}: within 1.6 times the payload"
            result.append((what, f"{times:.3f}", times <= 1.6))
    return result


def jmh():
    """The Java maps under JMH, 64,000 keys, one thread, gets and puts: do the trials above measure the same?"""
    if not java("2600m"):
        return 1
    path = f"{BUILD}/classes:{BUILD}/jars/*"
    how = ["-f", "1", "-wi", "3", "-w", "1", "-i", "5", "-r", "1", "-jvmArgs", "-Xms2600m -Xmx2600m"]
    return subprocess.run(["java", "-cp", path, "org.openjdk.jmh.Main", *how, "Jmh"], check=False).returncode


def main():
    if sys.argv[1:] == ["jmh"]:
        return jmh()
    if sys.argv[1:] not in (["full"], ["quick"]):
        return __doc__
    quick = sys.argv[1] == "quick"
    plan, began, load = Plan(quick), time.monotonic(), os.getloadavg()[0]
    programs = all_peers(quick)
    deadline = time.monotonic() + plan.seconds
    # Memory first: its figures take a known time, trials can be cut short.
    figures = all_memory(programs, plan, deadline)
    cells = all_trials(programs, plan, deadline)
    print_times(cells, list(programs), plan)
    print_memory(figures, plan)
    reached = aims(cells, figures, plan)
    print()
    for what, figure, yes in reached:
        print(f"{'reached    ' if yes else 'not reached'}  {what}: {figure}")
    took = time.monotonic() - began
    load_after = os.getloadavg()[0]
    print(f"\nmedians of {plan.trials} trials; {took:.0f} s; load before {load:.1f}, after {load_after:.1f}")
    path = os.path.join(BUILD, "maps-quick.json") if quick else os.path.join(ROOT, "bench/results/maps.json")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        told = [{"aim": what, "figure": figure, "reached": yes} for what, figure, yes in reached]
        json.dump({"commit": measured.commit(), "machine": measured.machine(), "trials": plan.trials, "seconds": round(took), "cores": os.cpu_count(),
                   "load_before": round(load, 2), "load_after": round(load_after, 2), "memory_keys": plan.memory_keys,
                   "times": cells, "memory": figures, "aims": told}, out, indent=1)
        out.write("\n")
    say(f"written: {os.path.relpath(path, ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
