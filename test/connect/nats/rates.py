#!/usr/bin/env python3
"""What it costs to read and to write a million messages: gale, each acked, beside a plain loop on cnats, in turn, and the medians. By hand.

usage: rates.py GALE PLUGINS PLAIN [COUNT [TURNS]]
"""

import atexit
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import server as nats

GALE, PLUGINS, PLAIN = (str(Path(argument).resolve()) for argument in sys.argv[1:4])
COUNT = int(sys.argv[4]) if len(sys.argv) > 4 else 1_000_000
TURNS = int(sys.argv[5]) if len(sys.argv) > 5 else 3
READ = """
name: read
config: {{topology.message.timeout.secs: 3600}}
spouts:
  - id: messages
    className: gale.spout.Nats
    properties: [{{name: servers, value: ["{url}"]}}, {{name: stream, value: IN}}, {{name: consumer, value: {consumer}}}, {{name: untilEnd, value: true}}]
bolts:
  - {{id: none, className: gale.bolt.Null}}
streams:
  - {{from: messages, to: none, grouping: {{type: SHUFFLE}}}}
"""
WRITE = """
name: write
config: {{topology.message.timeout.secs: 3600}}
spouts:
  - {{id: lines, className: gale.spout.File, properties: [{{name: path, value: in.txt}}]}}
bolts:
  - id: sink
    className: gale.bolt.NatsSink
    properties: [{{name: servers, value: ["{url}"]}}, {{name: subject, value: out.a}}{more}]
streams:
  - {{from: lines, to: sink, grouping: {{type: SHUFFLE}}}}
"""


spent = {}  # of what and who: seconds of the clock, and of the processor


def run(what, who, command, folder):
    """Seconds of the clock and of the processor, and kilobytes at the most."""
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, "GALE_PLUGIN_PATH": PLUGINS}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, command
    took = time.monotonic() - began, used.ru_utime + used.ru_stime
    spent.setdefault(what, {}).setdefault(who, []).append(took)
    print("%-24s %8.2f %12.2f %14d" % (f"{who} {what}", *took, used.ru_maxrss), flush=True)


def say_medians():
    for what, both in spent.items():
        (gale, gale_used), (loop, loop_used) = ([statistics.median(column) for column in zip(*both[who])] for who in ("gale", "a loop"))
        print(f"{what}: {COUNT / gale:,.0f} a second by gale, {COUNT / loop:,.0f} by a loop: {100 * loop / gale:.0f} %; "
              f"{1e6 * gale_used / COUNT:.2f} and {1e6 * loop_used / COUNT:.2f} us of the processor each")


def line(n):
    return f"a message of about a hundred bytes, as many are, with its number in it: {n:>12} and a few more"


def main():
    server = nats.Server()
    atexit.register(server.close)
    folder = Path(tempfile.mkdtemp())
    with (folder / "in.txt").open("w") as file:
        file.writelines(line(n) + "\n" for n in range(COUNT))
    with nats.Client(server, 120) as client:
        client.make_stream("OUT", "out.>")
        client.make_stream("IN", "in.>")
        client.fill("in.a", map(line, range(COUNT)))
        print(f"{COUNT:,} messages         seconds   of the processor    kB at most")
        for turn in range(TURNS):
            (folder / "r.yaml").write_text(READ.format(url=server.url, consumer=f"gale{turn}"))
            run("reads", "gale", [GALE, "run", "r.yaml"], folder)
            assert client.consumer("IN", f"gale{turn}")["num_ack_pending"] == 0
            run("reads", "a loop", [PLAIN, "read", server.url, "in.>", f"plain{turn}", str(COUNT)], folder)
        for turn in range(TURNS):
            for name, more, ids in (("with ids", "", ["ids"]), ("without ids", ", {name: makeIds, value: false}", [])):
                (folder / "w.yaml").write_text(WRITE.format(url=server.url, more=more))
                for who, command in (("gale", [GALE, "run", "w.yaml"]), ("a loop", [PLAIN, "write", server.url, "out.a", "in.txt", *ids])):
                    client.api("STREAM.DELETE.OUT")  # its ids, too
                    client.make_stream("OUT", "out.>")
                    run(f"writes {name}", who, command, folder)
                    assert client.state("OUT")["messages"] == COUNT
        say_medians()


if __name__ == "__main__":
    main()
