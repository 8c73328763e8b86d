#!/usr/bin/env python3
"""The jobs of bench/jobs as one writes them in Python, for Python's own modules, orjson, DuckDB and Polars.

usage: peers.py PEER JOB INPUT OUTPUT"""

import collections
import csv
import re
import sys


def write_counts(counts, path):
    with open(path, "w", encoding="utf-8") as out:
        for key, count in counts.items():
            print(*(key if isinstance(key, tuple) else (key,)), count, sep="\t", file=out)


# --- Python ---


def json_window(given, path, loads):
    counts = collections.Counter()
    with open(given, "rb") as lines:
        for line in lines:
            request = loads(line)
            if request["status"] >= 500:
                begin = int(request["ts"]) // 10 * 10
                counts[request["path"], begin, begin + 10] += 1
    write_counts(counts, path)


MEMBERS = ("ts", "host", "path", "status", "bytes", "latency_ms")


def json_lines(given, path, loads, dumps):
    with open(given, "rb") as lines, open(path, "wb") as out:
        for line in lines:
            request = loads(line)
            out.write(dumps({name: request[name] for name in MEMBERS}) + b"\n")


def python_csv(given, path):
    counts = collections.Counter()
    with open(given, encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            float(row["ts"]), int(row["bytes"]), float(row["latency_ms"])
            counts[int(row["status"])] += 1
    write_counts(counts, path)


PATTERN = re.compile(r'^(?P<host>\S+) \S+ \S+ \[[^\]]+\] "(?P<method>\S+) (?P<path>\S+) [^"]*" (?P<status>\d+) (\d+)')


def python_regex(given, path):
    counts = collections.Counter()
    with open(given, encoding="utf-8") as lines:
        for line in lines:
            found = PATTERN.search(line)
            counts[int(found["status"])] += 1
    write_counts(counts, path)


def python_words(given, path):
    counts = collections.Counter()
    with open(given, "rb") as lines:
        for line in lines:
            counts.update(line.split())
    with open(path, "wb") as out:
        out.writelines(b"%s\t%d\n" % pair for pair in counts.items())


def orjson(job, given, path):
    import orjson as made  # pylint: disable=import-outside-toplevel

    if job == "json":
        json_window(given, path, made.loads)
    else:
        json_lines(given, path, made.loads, made.dumps)


def python(job, given, path):
    import json as made  # pylint: disable=import-outside-toplevel

    if job == "json":
        json_window(given, path, made.loads)
    elif job == "json-lines":
        json_lines(given, path, made.loads, lambda value: made.dumps(value, separators=(",", ":")).encode())
    else:
        {"csv": python_csv, "regex": python_regex, "words": python_words, "keys": python_words}[job](given, path)


# --- DuckDB, Polars: one thread each ---


def duckdb(job, given, path):
    import duckdb as made  # pylint: disable=import-outside-toplevel

    run = made.connect(config={"threads": 1})
    columns = "columns={ts: 'DOUBLE', path: 'VARCHAR', status: 'BIGINT'}"
    queries = {
        "json": f"SELECT path, (ts::BIGINT // 10) * 10 AS b, b + 10 AS e, count(*) FROM (SELECT path, floor(ts) AS ts FROM read_json('{given}', {columns}, "
                "format='newline_delimited') WHERE status >= 500) GROUP BY ALL",
        "csv": f"SELECT status, count(*) FROM read_csv('{given}', header=true) GROUP BY status",
    }
    run.execute(f"COPY ({queries[job]}) TO '{path}' (DELIMITER '\t', HEADER false, QUOTE '')")


def polars(job, given, path):
    import polars as pl  # pylint: disable=import-outside-toplevel

    if job == "json":
        schema = {"ts": pl.Float64, "path": pl.String, "status": pl.Int64}
        begin = (pl.col("ts").floor().cast(pl.Int64) // 10) * 10
        rows = pl.scan_ndjson(given, schema=schema).filter(pl.col("status") >= 500).with_columns(begin.alias("b"))
        rows = rows.with_columns((pl.col("b") + 10).alias("e")).group_by("path", "b", "e").len()
    else:
        rows = pl.scan_csv(given).group_by("status").len()
    rows.collect().write_csv(path, include_header=False, separator="\t", quote_style="never")


if __name__ == "__main__":
    {"python": python, "orjson": orjson, "duckdb": duckdb, "polars": polars}[sys.argv[1]](*sys.argv[2:])
