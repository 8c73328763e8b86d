#!/usr/bin/env python3
"""What it costs to publish a million messages of 100 bytes to a RabbitMQ server, each confirmed, and to read them, each acked: gale beside a plain loop on librabbitmq. By hand,
on a machine with nothing else to do.

usage: rates.py GALE PLUGINS LOOP [COUNT [TURNS]]        LOOP: ninja -C build test_connect_rabbitmq_loop
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import server as rabbitmq

GALE, PLUGINS, LOOP = (str(Path(argument).resolve()) for argument in sys.argv[1:4])
COUNT = int(sys.argv[4]) if len(sys.argv) > 4 else 1_000_000
TURNS = int(sys.argv[5]) if len(sys.argv) > 5 else 3

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


def run(command, folder):
    """Seconds of the clock and of the processor."""
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, "GALE_PLUGIN_PATH": PLUGINS}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, command
    return time.monotonic() - began, used.ru_utime + used.ru_stime


def main():
    server = rabbitmq.Server()
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "in.txt").write_text("".join(f"{n:0100d}\n" for n in range(COUNT)))
            print(f"{COUNT:,} messages              seconds   of the processor", flush=True)
            for turn in range(TURNS):
                for who in ("gale", "loop"):
                    queue = f"{who}{turn}"
                    with server.connect() as c:
                        c.queue(queue)
                    for what, text in (("fill", FILL), ("read", READ)):
                        (folder / "t.yaml").write_text(text.format(url=server.url(), queue=queue))
                        command = [GALE, "run", "t.yaml"] if who == "gale" else [LOOP, what, str(server.port), queue, str(COUNT)]
                        print(f"{what} by {who:20s} %8.2f %12.2f" % run(command, folder), flush=True)
                    with server.connect() as c:
                        assert c.depth(queue) == 0
                        c.delete(queue)
    finally:
        server.close()


if __name__ == "__main__":
    main()
