#!/usr/bin/env python3
"""A window with more keys than its sink's queue holds closes at once: each key comes out once, on one executor and on two,
and in a durable run that is killed while they come out, and goes on. So do the counts of `Count` with `emit: finish`.

usage: parts_test.py GALE
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

KEYS = 160000  # of 480 bytes: some 90 MB of rows, where a queue holds 64 MiB
DEADLINE = 240

HEAD = """name: parts
config: {topology.message.timeout.secs: 600}
spouts:
  - {id: lines, className: gale.spout.File, properties: {path: in.csv}}
bolts:
  - {id: csv, className: gale.bolt.Csv, properties: {fields: [time int, k]}}
  - {id: clock, className: gale.bolt.EventTime, properties: {output: [time, k]}}
  - {id: out, className: gale.bolt.FileSink, properties: {path: out.csv}}
"""

STREAMS = """streams:
  - {from: lines, to: csv, grouping: {type: GLOBAL}}
  - {from: csv, to: clock, grouping: {type: GLOBAL}}
"""

WINDOW = HEAD + """  - {id: work, className: gale.bolt.Window, properties: {key: k, time: time, length: 60s, aggregates: count}}
""" + STREAMS + """  - {from: clock, to: work, grouping: {type: FIELDS, args: [k]}}
  - {from: clock, to: work, grouping: {type: ALL, streamId: watermark}}
  - {from: work, to: out, grouping: {type: GLOBAL}}
"""

COUNT = HEAD + """  - {id: work, className: gale.bolt.Count, properties: {field: k, emit: finish}}
""" + STREAMS + """  - {from: clock, to: work, grouping: {type: FIELDS, args: [k]}}
  - {from: work, to: out, grouping: {type: GLOBAL}}
"""


def write_input(path):
    with open(path, "w") as file:
        for number in range(KEYS):
            file.write("%d,%s%09d\n" % (number * 50 // KEYS, "k" * 470, number))
        file.write("1000,last\n")
        for number in range(20000):
            file.write("%d,tail\n" % (1000 + number // 1000))


def write_topology(text):
    with open("topology.yaml", "w") as file:
        file.write(text)
    if os.path.exists("out.csv"):
        os.unlink("out.csv")


def check():
    """Each key once, and nothing else but the last ones."""
    seen = bytearray(KEYS)
    others = 0
    with open("out.csv") as file:
        for line in file:
            at = line.find("kkk")
            if at < 0:
                others += 1
            else:
                seen[int(line[at + 470:at + 479])] += 1
    missing, doubled = seen.count(0), sum(count > 1 for count in seen)
    assert not missing and not doubled, "%d keys are missing, %d came twice" % (missing, doubled)
    assert 2 <= others <= 5, others


def run(gale, *options):
    done = subprocess.run([gale, "run", "topology.yaml", "-q", "--no-control", *options], timeout=DEADLINE,
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, (options, done.returncode, done.stderr)
    assert "limit" not in done.stderr, done.stderr
    check()


def size():
    return os.path.getsize("out.csv") if os.path.exists("out.csv") else 0


def run_killed(gale, kills):
    """Killed whenever the output has grown by a fifth of it; then it goes on to its end. Checkpoints are cut between parts."""
    end = time.monotonic() + DEADLINE
    happened = 0
    while True:
        process = subprocess.Popen([gale, "run", "topology.yaml", "-q", "--no-control", "--state", "state"])
        begin = size()
        while process.poll() is None:
            assert time.monotonic() < end, "it does not end"
            if happened < kills and size() > begin + 15000000:
                process.send_signal(signal.SIGKILL)
                happened += 1
                process.wait()
            time.sleep(0.001)
        if process.returncode != -signal.SIGKILL:
            break
    assert process.returncode == 0, process.returncode
    assert happened, "it was never killed"
    check()


def main():
    gale = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_input("in.csv")
        for text in WINDOW, COUNT:
            for options in (["-j", "1"], ["-j", "2"]):
                write_topology(text)
                run(gale, *options)
        write_topology(WINDOW.replace("config: {", "config: {topology.state.checkpoint.interval.ms: 50, "))
        run_killed(gale, 3)


main()
