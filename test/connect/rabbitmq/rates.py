#!/usr/bin/env python3
"""What it costs to publish messages of 100 bytes to a RabbitMQ server, each confirmed, and to read them, each acked: gale beside a plain loop on librabbitmq, by turns, and
the medians of all turns: seconds of the clock, of the processor, and of the server's processor. By hand.

usage: rates.py GALE PLUGINS LOOP [COUNT [TURNS]]        LOOP: ninja -C build test_connect_rabbitmq_loop
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import server as rabbitmq

GALE, PLUGINS, LOOP = (str(Path(argument).resolve()) for argument in sys.argv[1:4])
COUNT = int(sys.argv[4]) if len(sys.argv) > 4 else 100_000
TURNS = int(sys.argv[5]) if len(sys.argv) > 5 else 5

FILL = """
name: fill
config: {{topology.message.timeout.secs: 3600}}
spouts:
  - {{id: in, className: gale.spout.File, properties: [{{name: path, value: in.txt}}]}}
bolts:
  - {{id: out, className: gale.bolt.RabbitMQSink, properties: [{{name: url, value: "{url}"}}, {{name: routingKey, value: {queue}}}]}}
streams:
  - {{from: in, to: out, grouping: {{type: SHUFFLE}}}}
"""
READ = """
name: read
config: {{topology.message.timeout.secs: 3600}}
spouts:
  - id: in
    className: gale.spout.RabbitMQ
    properties: [{{name: url, value: "{url}"}}, {{name: queue, value: {queue}}}, {{name: untilEmpty, value: true}}]
bolts:
  - {{id: none, className: gale.bolt.Null}}
streams:
  - {{from: in, to: none, grouping: {{type: SHUFFLE}}}}
"""


def processor(group):
    """Seconds that the processes of a group have had."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def run(command, folder, server):
    """Seconds of the clock, of the processor, and of the server's."""
    began, before = time.monotonic(), processor(server.process.pid)
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, "GALE_PLUGIN_PATH": PLUGINS}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, command
    return time.monotonic() - began, used.ru_utime + used.ru_stime, processor(server.process.pid) - before


def depth(server, queue):
    with server.connect() as c:
        return c.depth(queue)


def turn(number, folder, server, found):
    for what, text, left in (("fill", FILL, COUNT), ("read", READ, 0)):
        for who in ("gale", "loop") if number % 2 else ("loop", "gale"):
            queue = f"{who}{number}"
            (folder / "t.yaml").write_text(text.format(url=server.url(), queue=queue))
            command = [GALE, "run", "t.yaml"] if who == "gale" else [LOOP, what, str(server.port), queue, str(COUNT)]
            figures = run(command, folder, server)
            assert depth(server, queue) == left, queue
            found.setdefault((what, who), []).append(figures)
            print(f"{what} by {who:12s} %8.2f %12.2f %12.2f" % figures, flush=True)


def show(found):
    print(f"medians of {TURNS}, and microseconds a message of either processor; the load is %.1f" % os.getloadavg()[0])
    for (what, who), rows in sorted(found.items()):
        clock, own, servers = (statistics.median(column) for column in zip(*rows))
        print(f"{what} by {who:12s} {clock:8.2f} {own:12.2f} {servers:12.2f} {own / COUNT * 1e6:8.2f} {servers / COUNT * 1e6:8.2f}")


def main():
    server, found = rabbitmq.Server(), {}
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "in.txt").write_text("".join(f"{n:0100d}\n" for n in range(COUNT)))
            print(f"{COUNT:,} messages      seconds   of its processor   of the server's", flush=True)
            for number in range(TURNS):
                with server.connect() as c:
                    c.queue(f"gale{number}")
                    c.queue(f"loop{number}")
                turn(number, folder, server, found)
                with server.connect() as c:
                    c.delete(f"gale{number}")
                    c.delete(f"loop{number}")
            show(found)
    finally:
        server.close()


if __name__ == "__main__":
    main()
