#!/usr/bin/env python3
"""A disk buffer while its consumer is away and when it is back: rate, memory, disk, time to drain.

usage: rates.py GALE [SECONDS [RATE]]      60 seconds, 50,000 messages a second
"""

import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 60
RATE = int(sys.argv[3]) if len(sys.argv) > 3 else 50_000

TOPOLOGY = """\
name: t
config: {{topology.message.timeout.secs: 3600}}
spouts:
  - {{id: in, className: gale.spout.File, properties: {{path: in.txt}}, config: {{gale.rate: {rate}}}}}
bolts:
  - {{id: out, className: gale.bolt.TcpSink, properties: {{connect: '127.0.0.1:{port}'}}}}
streams:
  - {{from: in, to: out, grouping: {{type: SHUFFLE}}, buffer: {{disk: 10 GB, path: buffer}}}}
"""


def memory(process):
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0


def seconds_of_cpu(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def waiting(folder):
    total = 0
    for segment in (folder / "buffer" / "0").glob("*.spool"):
        try:
            total += segment.stat().st_size
        except FileNotFoundError:
            pass
    return total / 1e6


def serve(server, taken):
    client, _ = server.accept()
    with client:
        while part := client.recv(1 << 20):
            taken[0] += part.count(b"\n")


def main():
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    with tempfile.TemporaryDirectory() as name:
        folder, count, taken = Path(name), SECONDS * RATE, [0]
        with open(folder / "in.txt", "w", encoding="utf-8") as lines:
            for i in range(count):
                lines.write(f"{i:012} {'x' * 87}\n")
        (folder / "t.yaml").write_text(TOPOLOGY.format(rate=RATE, port=server.getsockname()[1]))
        process = subprocess.Popen([GALE, "run", "t.yaml"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        began, most = time.monotonic(), [0, 0]
        for second in range(1, SECONDS + 2):
            time.sleep(max(0, began + second - time.monotonic()))
            most[second * 2 > SECONDS] = max(most[second * 2 > SECONDS], memory(process))
        away = waiting(folder)
        print(f"away for {SECONDS} s at {RATE:,} a second: {away:,.0f} MB on the disk, {seconds_of_cpu(process):.1f} s of CPU; "
              f"memory at the most {most[0]:.0f} MB in the first half, {most[1]:.0f} MB in the second")
        server.listen()
        threading.Thread(target=serve, args=(server, taken), daemon=True).start()
        back, high = time.monotonic(), 0
        while process.poll() is None:
            high = max(high, memory(process))
            time.sleep(0.1)
        took = time.monotonic() - back
        print(f"back: {taken[0]:,} of {count:,} came in {took:.1f} s, {taken[0] / took:,.0f} a second, the pause of the consumer's "
              f"connection included; memory at the most {high:.0f} MB; it ended with {process.returncode}")


if __name__ == "__main__":
    main()
