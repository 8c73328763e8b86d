#!/usr/bin/env python3
"""How fast gale writes to SQLite and reads from it, beside a plain loop on the same library (loop.c) with the same batch. By hand, on a machine with nothing else to do.

usage: rates.py GALE PLUGINS [ROWS]
"""

import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
ROWS = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
BATCH = 10_000
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": PLUGINS}

WRITE = """
name: write
config: {{topology.message.timeout.secs: 3600}}
spouts:
  - {{id: lines, className: gale.spout.File, properties: [{{name: path, value: in.csv}}]}}
bolts:
  - {{id: fields, className: gale.bolt.Csv, properties: [{{name: fields, value: "id int, name, amount float"}}]}}
  - id: sink
    className: gale.bolt.SqliteSink
    properties: [{{name: path, value: shop.db}}, {{name: table, value: orders}}{more}]
streams:
  - {{from: lines, to: fields, grouping: {{type: SHUFFLE}}}}
  - {{from: fields, to: sink, grouping: {{type: SHUFFLE}}}}
"""

READ = """
name: read
config: {topology.message.timeout.secs: 3600}
spouts:
  - {id: rows, className: gale.spout.SqliteRows, properties: [{name: path, value: shop.db}, {name: table, value: orders}, {name: columns, value: [id, name, amount]}]}
bolts:
  - {id: none, className: gale.bolt.Null}
streams:
  - {from: rows, to: none, grouping: {type: SHUFFLE}}
"""


def run(command, folder):
    """Seconds, of the clock and of the processor."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def make(folder, journal, key):
    for name in folder.glob("shop.db*"):
        name.unlink()
    db = sqlite3.connect(folder / "shop.db")
    db.execute(f"PRAGMA journal_mode = {journal}")
    db.execute(f"CREATE TABLE orders (id INTEGER {key}, name TEXT, amount REAL)")
    db.commit()
    db.close()


def check(folder):
    db = sqlite3.connect(folder / "shop.db")
    there = db.execute("SELECT count(*) FROM orders").fetchone()
    db.close()
    assert there == (ROWS,), there


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        loop = folder / "loop"
        subprocess.run(["cc", "-O2", "-o", loop, Path(__file__).resolve().parent / "loop.c", "-lsqlite3"], check=True)
        (folder / "in.csv").write_text("".join(f"{n},a name of some length {n},{n / 8}\n" for n in range(ROWS)))
        for what, journal, key, more, command in [
            ("loop, wal", "wal", "", "", [loop, "in.csv", "shop.db", str(BATCH)]),
            ("gale, wal", "wal", "", "", [GALE, "run", "t.yaml"]),
            ("loop, delete", "delete", "", "", [loop, "in.csv", "shop.db", str(BATCH)]),
            ("gale, delete", "delete", "", "", [GALE, "run", "t.yaml"]),
            ("gale by key, wal", "wal", "PRIMARY KEY", ", {name: key, value: [id]}", [GALE, "run", "t.yaml"]),
            ("gale durable, wal", "wal", "", "", [GALE, "run", "t.yaml", "--state", "state"]),
        ]:
            for _ in range(3):
                make(folder, journal, key)
                (folder / "t.yaml").write_text(WRITE.format(more=more))
                subprocess.run(["rm", "-rf", folder / "state"], check=True)
                took, used = run(command, folder)
                check(folder)
                print(f"{what}: {took:.2f} s, {used:.2f} s of CPU", flush=True)
        (folder / "t.yaml").write_text(READ)
        for _ in range(3):
            took, used = run([GALE, "run", "t.yaml"], folder)
            print(f"gale reads: {took:.2f} s, {used:.2f} s of CPU", flush=True)


main()
