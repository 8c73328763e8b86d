#!/usr/bin/env python3
"""What it costs a topology to be looked at: const-id-null, by turns left alone, with the page open and a scrape a second, and tapped.

usage: served.py [GALE] [--seconds N] [--rounds N] [--json]

One run, so that all share its memory, its placement and the machine's mood: a window of N seconds in each way, in an order that changes from round to round, and
again. A window's rate is what was acked between its two readings; its p99 is the median of those of its seconds. What is told is the median of the windows of each way,
against that of those left alone. Whoever asks runs here, in another process, on the same cores: its own time is part of the cost.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
API = "/api/gale/v1"


class Run:
    def __init__(self, gale):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([gale, "run", ROOT / "bench" / "served" / "topology.yaml", "-j", "1", "-q", "--listen", "127.0.0.1:0"],
                                        stderr=self.errors, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        while not (found := re.search(r"(http://[^/]+)/\?token=(\w+)", self.said())):
            if self.process.poll() is not None:
                sys.exit(f"served: the run has ended: {self.said()}")
            time.sleep(0.05)
        self.address, self.token = found.groups()

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def open(self, path):
        request = urllib.request.Request(self.address + path, headers={"Authorization": f"Bearer {self.token}"})
        return urllib.request.urlopen(request, timeout=30)

    def get(self, path):
        with self.open(path) as answer:
            return answer.read()

    def now(self):
        return json.loads(self.get(f"{API}/now"))

    def end(self):
        self.process.terminate()
        self.process.wait(30)


# Ways to look; each returns what ends it.

def alone(run):
    return lambda: None


def looked_at(run):
    """The page's requests, and a scrape."""
    over = threading.Event()

    def ask():
        run.get(f"{API}/history?seconds=600")
        while not over.wait(1):
            run.get(f"{API}/now")
            run.get("/metrics")

    thread = threading.Thread(target=ask)
    thread.start()
    return lambda: (over.set(), thread.join())


def tapped(run):
    """A hundred a second."""
    stream = run.open(f"{API}/tap?component=id&rate=100")
    counted = []
    thread = threading.Thread(target=lambda: counted.extend(iter(stream.readline, b"")))
    thread.start()

    def end():
        stream.fp.raw._sock.shutdown(2)
        thread.join()
        if not counted:
            sys.exit("served: the tap gave nothing")

    return end


WAYS = {"alone": alone, "page and scrape": looked_at, "tap of 100 a second": tapped}


def window(run, way, seconds):
    end = WAYS[way](run)
    time.sleep(0.5)
    before = run.now()
    time.sleep(seconds)
    after = run.now()
    end()
    rate = (after["trees"]["acked"] - before["trees"]["acked"]) / (after["time"] - before["time"])
    history = json.loads(run.get(f"{API}/history?seconds={int(seconds) + 5}"))
    p99 = [p for t, p in zip(history["times"], history["p99"]) if p and before["time"] + 1 <= t <= after["time"]]
    return rate, statistics.median(p99) if p99 else None


def measure(options):
    run = Run(options.gale)
    found = {way: [] for way in WAYS}
    try:
        time.sleep(2)
        for at in range(options.rounds):
            ways = list(WAYS)
            for way in ways[at % len(ways):] + ways[:at % len(ways)]:
                found[way].append(window(run, way, options.seconds))
                if sys.stderr.isatty():
                    print(f"\r{at + 1} of {options.rounds}: {way:24}", end="", file=sys.stderr)
    finally:
        run.end()
    base = statistics.median(rate for rate, _ in found["alone"])
    told = {}
    for way, windows in found.items():
        rate = statistics.median(rate for rate, _ in windows)
        p99 = [p for _, p in windows if p]
        told[way] = {"trees_a_second": round(rate), "share": round(rate / base, 4), "p99_us": round(statistics.median(p99) * 1e6, 1) if p99 else None}
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gale", nargs="?", default=str(ROOT / "build" / "gale"))
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    told = measure(parser.parse_args())
    if "--json" in sys.argv:
        print(json.dumps(told))
        return
    for way, figures in told.items():
        print(f"{way:22} {figures['trees_a_second']:>12,} trees a second {100 * figures['share']:6.1f} %   p99 {figures['p99_us']} us")


if __name__ == "__main__":
    main()
