#!/usr/bin/env python3
"""How many requests a second gale takes, each answered when its tuple is acked, beside a plain loop on the same library that answers at once (plain.c). By hand, on a
machine with nothing else to do; wants ab (apache2-utils) and a C compiler.

usage: rates.py GALE PLUGINS [REQUESTS [TRIALS]]
"""

import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
REQUESTS = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000
TRIALS = int(sys.argv[4]) if len(sys.argv) > 4 else 5
HERE = Path(__file__).resolve().parent

TOPOLOGY = """
name: rates
spouts:
  - {{id: requests, className: gale.spout.Http, properties: [{{name: listen, value: "127.0.0.1:{port}"}}]}}
bolts:
  - {{id: none, className: gale.bolt.Null}}
streams:
  - {{from: requests, to: none, grouping: {{type: SHUFFLE}}}}
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def seconds_of(process):
    ticks = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(port):
    for _ in range(500):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.02)
    raise SystemExit("it does not listen")


def measure(command, port, folder):
    """Requests a second, microseconds of the process for each, kilobytes at the most."""
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, "GALE_PLUGIN_PATH": PLUGINS}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        before = seconds_of(process)
        told = subprocess.run(["ab", "-q", "-k", "-c", "64", "-n", str(REQUESTS), "-p", "body", f"http://127.0.0.1:{port}/"], cwd=folder, check=True,
                              capture_output=True, text=True).stdout
        used = seconds_of(process) - before
        peak = next(line for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if line.startswith("VmHWM")).split()[1]
    finally:
        process.kill()
        process.wait()
    failed = int(re.search(r"Failed requests: +(\d+)", told)[1]) + int((re.search(r"Non-2xx responses: +(\d+)", told) or [0, 0])[1])
    if failed:
        raise SystemExit(f"{failed} were not answered with 200")
    return float(re.search(r"Requests per second: +([\d.]+)", told)[1]), used / REQUESTS * 1e6, int(peak)


def main():
    folder = Path(tempfile.mkdtemp())
    (folder / "body").write_text("x" * 200)
    subprocess.run(["cc", "-O2", "-o", folder / "plain", HERE / "plain.c", "-lmicrohttpd"], check=True)
    rates = {"plain": [], "gale": []}
    for trial in range(TRIALS):
        for name in rates if trial % 2 else reversed(rates):
            port = free_port()
            (folder / "topology.yaml").write_text(TOPOLOGY.format(port=port))
            command = [folder / "plain", str(port)] if name == "plain" else [GALE, "run", "topology.yaml"]
            rate, used, peak = measure(command, port, folder)
            rates[name].append(rate)
            print(f"{name:6} {rate:8.0f}/s {used:6.1f} us {peak:8} kB", flush=True)
    plain, gale = (statistics.median(rates[name]) for name in ("plain", "gale"))
    print(f"medians: plain {plain:.0f}/s, gale {gale:.0f}/s: {100 * gale / plain:.0f} %")


main()
