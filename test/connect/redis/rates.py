#!/usr/bin/env python3
"""How fast gale writes to Redis and reads its streams, beside a plain loop on hiredis (loop.c, which this compiles). By hand, on a machine with nothing else to do.

usage: rates.py GALE PLUGINS [MESSAGES]
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import server as redis

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": PLUGINS}

WRITE = """
name: write
config: {{topology.message.timeout.secs: 3600}}
spouts:
  - {{id: lines, className: gale.spout.File, properties: [{{name: path, value: in.csv}}]}}
bolts:
  - {{id: fields, className: gale.bolt.Csv, properties: [{{name: fields, value: "id int, name, amount float"}}]}}
  - id: sink
    className: gale.bolt.RedisSink
    properties: [{{name: server, value: "unix:{path}"}}, {{name: command, value: {command}}}, {{name: key, value: out}}{more}]
streams:
  - {{from: lines, to: fields, grouping: {{type: SHUFFLE}}}}
  - {{from: fields, to: sink, grouping: {{type: SHUFFLE}}}}
"""

READ = """
name: read
config: {{topology.message.timeout.secs: 3600}}
spouts:
  - id: stream
    className: gale.spout.RedisStream
    properties: [{{name: server, value: "unix:{path}"}}, {{name: streams, value: [in]}}, {{name: group, value: g}}, {{name: fields, value: [id, name, amount]}},
                 {{name: untilEnd, value: true}}]
bolts:
  - {{id: none, className: gale.bolt.Null}}
streams:
  - {{from: stream, to: none, grouping: {{type: SHUFFLE}}}}
"""


def run(name, command, folder, server, check):
    """Seconds, of the clock, of the processor, and of the server's."""
    used = lambda: sum(map(int, Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    before, at_server, began = resource.getrusage(resource.RUSAGE_CHILDREN), used(), time.monotonic()
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert check(), name
    print("%-22s %8.2f %8.2f %8.2f" % (name, took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, used() - at_server), flush=True)


def main():
    server = redis.Server()
    folder = Path(tempfile.mkdtemp())
    (folder / "in.csv").write_text("".join(f"{n},a name of some length,{n / 8}\n" for n in range(COUNT)))
    subprocess.run(["cc", "-O2", "-o", folder / "loop", Path(__file__).with_name("loop.c"), "-lhiredis"], check=True)
    print(f"{COUNT:,} messages      seconds   of the processor: client, server")
    for _ in range(3):
        written = lambda: server("XLEN", "out") == COUNT
        server("FLUSHALL")
        run("loop, XADD", [folder / "loop", server.path, "out", str(COUNT)], folder, server, written)
        for name, command, more, state in (("gale, XADD", "XADD", "", []), ("gale, XADD, durable", "XADD", "", ["--state", "state"]),
                                           ("gale, HINCRBY", "HINCRBY", ", {name: member, value: '{name}'}", [])):
            server("FLUSHALL")
            subprocess.run(["rm", "-rf", folder / "state"], check=True)
            (folder / "t.yaml").write_text(WRITE.format(path=server.path, command=command, more=more))
            run(name, [GALE, "run", "t.yaml", *state], folder, server, written if command == "XADD" else lambda: server("HVALS", "out") == [str(COUNT)])
    server("FLUSHALL")
    server.many([("XADD", "in", "*", "id", n, "name", "a name of some length", "amount", n / 8) for n in range(COUNT)])
    (folder / "t.yaml").write_text(READ.format(path=server.path))
    for _ in range(3):
        for name, command in (("loop, XREADGROUP", [folder / "loop", server.path, "in", str(COUNT)]), ("gale, XREADGROUP", [GALE, "run", "t.yaml"]),
                              ("gale, durable", [GALE, "run", "t.yaml", "--state", "state"])):
            server("XGROUP", "DESTROY", "in", "g")
            server("XGROUP", "CREATE", "in", "g", "0")
            subprocess.run(["rm", "-rf", folder / "state"], check=True)
            run(name, command, folder, server, lambda: server("XPENDING", "in", "g")[0] == 0 and server("XINFO", "GROUPS", "in")[0][7] != "0-0")
    server.close()


if __name__ == "__main__":
    main()
