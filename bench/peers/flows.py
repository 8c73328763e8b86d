#!/usr/bin/env python3
"""The flow peers: Apache Storm, timely dataflow, Hazelcast Jet. Builds what can be built, names what is lacking.
README.md in this folder says what each guarantees, how it is set and what its figures mean.

usage: flows.py FLOW [OPTION VALUE ...]     each peer once by hand, with acks and without, as
                                            flows.py const-null --seconds 3 --warm 10"""

import glob
import json
import os
import subprocess
import sys

from maps import BUILD, HERE, command, lacking, say

JAVA_HOW = "apt-get install openjdk-17-jdk-headless maven, and be online the first time"
RUST_HOW = "install Rust's cargo 1.86 or later, and be online the first time"
# The heap is what throughput needs; resident memory counts only what was touched of it.
JAVA = ["java", "-Xms2g", "-Xmx2g", "-XX:+UseParallelGC"]
# What Hazelcast asks for on a Java with modules.
JET_OPENS = ["--add-modules", "java.se", "--add-exports", "java.base/jdk.internal.ref=ALL-UNNAMED",
             "--add-opens", "java.base/java.lang=ALL-UNNAMED", "--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED",
             "--add-opens", "java.management/sun.management=ALL-UNNAMED",
             "--add-opens", "jdk.management/com.sun.management.internal=ALL-UNNAMED"]
CONST_AND_WORDS = ["const-null", "const-id-null", "word-count"]


def jars(name):
    """The folder with the jars that NAME/pom.xml asks for; nothing when they cannot be had."""
    folder, pom = os.path.join(BUILD, f"{name}-jars"), os.path.join(HERE, name, "pom.xml")
    done = os.path.join(folder, "done")
    if os.path.exists(done) and os.path.getmtime(done) >= os.path.getmtime(pom):
        return folder
    failed = command(["mvn", "-B", "-q", "-f", pom, "dependency:copy-dependencies", f"-DoutputDirectory={folder}"])
    if failed:
        say(f"skipped: {name}: mvn could not fetch the jars ({JAVA_HOW})\n{failed}")
        return None
    with open(done, "w", encoding="utf-8"):
        return folder


def java(name):
    """The class path of a Java peer; nothing when it cannot be built."""
    if lacking(["javac", "java", "mvn"], name, JAVA_HOW):
        return None
    folder = jars(name)
    if not folder:
        return None
    classes = os.path.join(BUILD, f"{name}-classes")
    sources = [file for place in ("flows-java", name) for file in glob.glob(os.path.join(HERE, place, "*.java"))]
    failed = command(["javac", "-nowarn", "-d", classes, "-cp", f"{folder}/*"] + sources)
    if failed:
        say(f"skipped: {name}: javac failed ({JAVA_HOW})\n{failed}")
        return None
    return f"{classes}:{folder}/*"


def storm():
    path = java("storm")
    if not path:
        return {}
    quiet = f"-Dlog4j2.configurationFile={os.path.join(HERE, 'storm', 'log4j2.xml')}"
    return {"storm": (JAVA + [quiet, "-cp", path, "StormFlows"], CONST_AND_WORDS + ["fan-out-10", "diamond"])}


def jet():
    path = java("jet")
    return {"jet": (JAVA + JET_OPENS + ["-cp", path, "JetFlows"], CONST_AND_WORDS)} if path else {}


def timely():
    if lacking(["cargo"], "timely", RUST_HOW):
        return {}
    target = os.path.join(BUILD, "flows-rust")
    failed = command(["cargo", "build", "--release", "--locked", "--quiet", "--manifest-path",
                      os.path.join(HERE, "timely", "Cargo.toml"), "--target-dir", target])
    if failed:
        say(f"skipped: timely: cargo build failed ({RUST_HOW})\n{failed}")
        return {}
    return {"timely": ([os.path.join(target, "release", "flows-timely")], CONST_AND_WORDS)}


def programs(names=None):
    """{name: (command, flows that it has)} of the peers, or of those named, that could be built."""
    os.makedirs(BUILD, exist_ok=True)
    found = {}
    for name, build in (("storm", storm), ("timely", timely), ("jet", jet)):
        if names is None or name in names:
            found.update(build())
    return found


def once(arguments, options):
    """What one trial printed, or why there is none."""
    done = subprocess.run(arguments + options, input="go\n", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode:
        return None, done.stderr.strip() or f"status {done.returncode}"
    return json.loads(done.stdout), None


def by_hand(flow, more):
    able = {name: entry for name, entry in programs().items() if flow in entry[1]}
    if not able:
        return f"no peer has the flow {flow}"
    for name, (arguments, _) in able.items():
        for acks in ("on", "off"):
            standing = f"--flow {flow} --acks {acks} --executors 1 --seconds 2 --warm 5 --trials 1"
            line, why = once(arguments, standing.split() + more)
            if not line:
                print(f"{name:8} acks {acks:3}  -  {why}", flush=True)
                continue
            unit = "word" if "words" in line else "tree"
            latency = f", p50 {line['p50_us']} us, p99 {line['p99_us']} us" if line["p50_us"] is not None else ""
            print(f"{name:8} acks {acks:3}  {line['ns']:.1f} ns a {unit}, {1000 / line['ns']:.2f} M/s{latency}, "
                  f"{line['rss'] >> 20} MB, first after {line['first_ms']} ms  ({line['settings']})", flush=True)
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-") or len(sys.argv) % 2:
        sys.exit(__doc__)
    sys.exit(by_hand(sys.argv[1], sys.argv[2:]))
