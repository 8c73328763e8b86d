#!/usr/bin/env python3
"""How many datagrams a second `gale.spout.Udp` takes into a rolling count, and whether every one that was sent is accounted for.

usage: udp.py [GALE] [--rate N] [--seconds N] [--senders N] [--tasks N] [--receive-buffer BYTES] [--json]

Senders (build/bench/gale_bench_udp_send) keep to the rate together, by the clock, in batches of sendmmsg; each counts what the system took from it. At the end
the run is interrupted and says what was received, thrown away by the system, and not read. The sum must be what was sent, exactly, and all that was received
must have been acked.
"""

import argparse
import json
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

TOPOLOGY = """\
name: udp
config: {{ topology.message.timeout.secs: 600 }}
spouts:
  - {{id: in, className: gale.spout.Udp, parallelism: {tasks}, properties: {{listen: "127.0.0.1:{port}", receiveBuffer: {buffer}}}}}
bolts:
  - {{id: count, className: gale.bolt.RollingCount, constructorArgs: [9, 3]}}
  - {{id: out, className: gale.bolt.Null}}
streams:
  - {{from: in, to: count, grouping: {{type: FIELDS, args: [line]}}}}
  - {{from: count, to: out, grouping: {{type: SHUFFLE}}}}
"""


def wait_for(pattern, path, process, bound=60):
    end = time.monotonic() + bound
    while not (found := re.search(pattern, path.read_text())):
        if process.poll() is not None or time.monotonic() > end:
            sys.exit(f"udp: the run does not say '{pattern}':\n{path.read_text()}")
        time.sleep(0.01)
    return found


def measure(options):
    sender = Path(options.gale).resolve().parent / "bench" / "gale_bench_udp_send"
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "t.yaml").write_text(TOPOLOGY.format(tasks=options.tasks, port=options.port, buffer=options.receive_buffer))
        errors = folder / "errors"
        with open(errors, "w") as to, open(folder / "summary", "w") as summary:
            run = subprocess.Popen([options.gale, "run", "t.yaml", "-j", str(options.executors), "--json"], cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=summary, stderr=to)
        try:
            port = int(wait_for(r"listens at 127\.0\.0\.1:(\d+)", errors, run)[1])
            senders = [subprocess.Popen([sender, str(port), str(options.rate // options.senders), str(options.seconds)], stdout=subprocess.PIPE, text=True)
                       for _ in range(options.senders)]
            began = time.monotonic()
            said = [json.loads(s.communicate()[0]) for s in senders]
            took = time.monotonic() - began
            time.sleep(1)  # what is in the buffer is read
            run.send_signal(signal.SIGINT)
            run.wait(120)
        finally:
            if run.poll() is None:
                run.kill()
        figures = json.loads((folder / "summary").read_text())
        totals = [list(map(int, t)) for t in
                  re.findall(r"(\d+) datagrams were received, (\d+) were thrown away by the system, (\d+) not read at the end", errors.read_text())]
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    received, lost, unread = (sum(column) for column in zip(*totals))
    acked = next(c["acked"] for c in figures["components"] if c["component"] == "in")
    return {"sent": sum(s["sent"] for s in said), "refused": sum(s["refused"] for s in said), "seconds": round(took, 2), "received": received, "lost": lost,
            "unread": unread, "acked": acked, "a_second": round(sum(s["sent"] for s in said) / max(s["seconds"] for s in said)),
            "memory_mb": round(usage.ru_maxrss / 1024, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gale", nargs="?", default=str(ROOT / "build" / "gale"))
    for name, default in (("rate", 200000), ("seconds", 5), ("senders", 1), ("tasks", 1), ("executors", 1), ("receive-buffer", 4 << 20), ("port", 0)):
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options)
    if options.json:
        print(json.dumps(found))
    else:
        print(f"{found['sent']:,} sent in {found['seconds']} s ({found['a_second']:,} a second): {found['received']:,} received, {found['lost']:,} thrown away by the "
              f"system and told, {found['unread']:,} not read at the end; {found['acked']:,} acked")
    if found["received"] + found["lost"] + found["unread"] != found["sent"] or found["acked"] != found["received"]:
        sys.exit("udp: these do not add up")


if __name__ == "__main__":
    main()
