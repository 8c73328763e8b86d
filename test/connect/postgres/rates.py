#!/usr/bin/env python3
"""How fast gale writes to PostgreSQL and reads its changes, beside plain loops on the same library: psql's \\copy, and pg_recvlogical. By hand, on a machine with nothing
else to do.

usage: rates.py GALE PLUGINS [ROWS]
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import server as postgres

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
ROWS = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": PLUGINS}

WRITE = """
name: write
config: {{topology.message.timeout.secs: 3600}}
spouts:
  - {{id: lines, className: gale.spout.File, properties: [{{name: path, value: in.csv}}]}}
bolts:
  - {{id: fields, className: gale.bolt.Csv, properties: [{{name: fields, value: "id int, name, amount float"}}]}}
  - id: sink
    className: gale.bolt.PostgresSink
    properties: [{{name: connection, value: "{connection}"}}, {{name: table, value: orders}}{more}]
streams:
  - {{from: lines, to: fields, grouping: {{type: SHUFFLE}}}}
  - {{from: fields, to: sink, grouping: {{type: SHUFFLE}}}}
"""

FOLLOW = """
name: follow
config: {{topology.message.timeout.secs: 3600}}
spouts:
  - id: changes
    className: gale.spout.Postgres
    properties: [{{name: connection, value: "{connection}"}}, {{name: slot, value: follow}}, {{name: tables, value: [orders]}}, {{name: snapshot, value: false}},
                 {{name: emit, value: op}}, {{name: columns, value: [id, name, amount]}}]
bolts:
  - {{id: none, className: gale.bolt.Null}}
streams:
  - {{from: changes, to: none, grouping: {{type: SHUFFLE}}}}
"""


def run(command, folder, **more):
    """Seconds, of the clock and of the processor."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True, **more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def follow(server, command, folder):
    """Until the slot is confirmed beyond all."""
    end = server.sql("SELECT pg_current_wal_lsn()")[0][0]
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while server.sql(f"SELECT confirmed_flush_lsn >= '{end}' FROM pg_replication_slots") != [["t"]]:
        time.sleep(0.02)
    took = time.monotonic() - began
    ticks = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    peak = next(line for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if line.startswith("VmHWM")).split()[1]
    process.terminate()
    process.wait()
    return took, (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK"), int(peak)


def main():
    server = postgres.Server("max_wal_size=8GB")
    folder = Path(tempfile.mkdtemp())
    (folder / "in.csv").write_text("".join(f"{n},a name of some length {n},{n / 8}\n" for n in range(ROWS)))
    table = "CREATE TABLE orders (id bigint, name text, amount float8)"
    psql = [f"{server.bin}/psql", "-h", "127.0.0.1", "-p", str(server.port), "-U", "gale", "-d", "shop"]
    more = {"": "", "by key": ", {name: key, value: [id]}"}
    print(f"{ROWS:,} rows         seconds   of the processor (client)")
    for _ in range(3):
        server.sql(f"DROP TABLE IF EXISTS orders; {table}", "shop")
        print("psql \\copy       %8.2f %8.2f" % run([*psql, "-c", "\\copy orders from in.csv csv"], folder))
        for name, text in more.items():
            server.sql(f"DROP TABLE IF EXISTS orders; {table.replace('bigint', 'bigint PRIMARY KEY' if name else 'bigint')}", "shop")
            (folder / "t.yaml").write_text(WRITE.format(connection=server.connection(), more=text))
            print("gale %-11s %8.2f %8.2f" % (name, *run([GALE, "run", "t.yaml"], folder)))
            assert server.sql("SELECT count(*) FROM orders", "shop") == [[str(ROWS)]]
    for _ in range(3):
        for name in ("pg_recvlogical", "gale"):
            server.sql(f"DROP TABLE IF EXISTS orders; {table}; DROP PUBLICATION IF EXISTS follow; CREATE PUBLICATION follow FOR TABLE orders", "shop")
            server.sql("SELECT pg_create_logical_replication_slot('follow', 'pgoutput')", "shop")
            server.sql(f"DO $$ BEGIN FOR i IN 1..{ROWS // 1000} LOOP INSERT INTO orders SELECT n, 'a name of some length ' || n, n / 8.0 FROM "
                       "generate_series(i * 1000, i * 1000 + 999) n; COMMIT; END LOOP; END $$", "shop")
            (folder / "f.yaml").write_text(FOLLOW.format(connection=server.connection()))
            command = [GALE, "run", "f.yaml"] if name == "gale" else [
                f"{server.bin}/pg_recvlogical", "-h", "127.0.0.1", "-p", str(server.port), "-U", "gale", "-d", "shop", "-S", "follow", "--start", "-f", "/dev/null", "-n",
                "-s", "1", "-F", "1", "-o", "proto_version=1", "-o", "publication_names=follow"]
            print("%-16s %8.2f %8.2f   %d kB at most" % (name, *follow(server, command, folder)))
            for _ in range(100):
                if server.sql("SELECT active FROM pg_replication_slots") == [["f"]]:
                    break
                time.sleep(0.05)
            server.sql("SELECT pg_drop_replication_slot('follow')")
    server.close()


if __name__ == "__main__":
    main()
