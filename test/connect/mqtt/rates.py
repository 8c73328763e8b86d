#!/usr/bin/env python3
"""What it costs to read and to write messages at QoS 1, a mosquitto on the same machine: gale, each acked, beside a plain loop on libmosquitto (libmosquitto-dev). By hand, on a
machine with nothing else to do.

usage: rates.py GALE PLUGINS [COUNT]
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from broker import Broker

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 200_000
READ = """
name: read
spouts: [{{id: in, className: gale.spout.Mqtt, properties: {{server: "127.0.0.1:{port}", topics: ["a/#"]}}}}]
bolts: [{{id: out, className: gale.bolt.FileSink, properties: [{{name: path, value: out.txt}}]}}]
streams: [{{from: in, to: out, grouping: {{type: SHUFFLE}}}}]
"""
WRITE = """
name: write
spouts: [{{id: in, className: gale.spout.File, properties: [{{name: path, value: in.txt}}]}}]
bolts: [{{id: out, className: gale.bolt.MqttSink, properties: {{server: "127.0.0.1:{port}", topic: a/b}}}}]
streams: [{{from: in, to: out, grouping: {{type: SHUFFLE}}}}]
"""


class Run:
    """Seconds of the clock and of the processor."""

    def __init__(self, command, folder, stdin=None):
        self.began = time.monotonic()
        self.process = subprocess.Popen(command, cwd=folder, env={**os.environ, "GALE_PLUGIN_PATH": PLUGINS}, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end(self, seconds=None):
        _, status, used = os.wait4(self.process.pid, 0)
        assert status == 0, self.process.args
        return f"{seconds or time.monotonic() - self.began:7.1f} s  {used.ru_utime + used.ru_stime:6.2f} s"


def lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def read_by_gale(folder, broker, plain):
    (folder / "read.yaml").write_text(READ.format(port=broker.port))
    out = folder / "out.txt"
    out.unlink(missing_ok=True)
    first = Run([GALE, "run", "read.yaml"], folder)
    time.sleep(1)  # it has subscribed, and its session stays
    first.process.send_signal(signal.SIGTERM)
    first.end()
    out.unlink(missing_ok=True)
    Run([plain, "out", str(broker.port)], folder, open(folder / "in.txt")).end()
    run = Run([GALE, "run", "read.yaml"], folder)
    while lines(out) < COUNT:
        time.sleep(0.02)
    seconds = time.monotonic() - run.began
    run.process.send_signal(signal.SIGTERM)
    return run.end(seconds)


def read_plainly(folder, broker, plain):
    Run([plain, "session", str(broker.port)], folder).end()
    Run([plain, "out", str(broker.port)], folder, open(folder / "in.txt")).end()
    return Run([plain, "in", str(broker.port), str(COUNT)], folder).end()


def write_by_gale(folder, broker, plain):
    (folder / "write.yaml").write_text(WRITE.format(port=broker.port))
    return Run([GALE, "run", "write.yaml"], folder).end()


def write_plainly(folder, broker, plain):
    return Run([plain, "out", str(broker.port)], folder, open(folder / "in.txt")).end()


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = str(folder / "plain")
        subprocess.run(["cc", "-O2", "-o", plain, str(Path(__file__).with_name("rates.c")), "-lmosquitto"], check=True)
        (folder / "in.txt").write_text("".join(f"{n:0100}\n" for n in range(COUNT)))
        print(f"{COUNT:,} messages of 100 bytes, QoS 1        seconds   processor")
        for turn in range(3):
            for what in (read_by_gale, read_plainly, write_by_gale, write_plainly):
                broker = Broker("max_inflight_messages 1000", "log_type none")
                print(f"  {what.__name__.replace('_', ' '):36}", what(folder, broker, plain), flush=True)
                broker.close()


if __name__ == "__main__":
    main()
