#!/usr/bin/env python3
"""The connector postgres, by gale's command line, against a server of Debian's.

usage: postgres_test.py GALE PLUGINS [CLASS...]
"""

import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import server as postgres

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": PLUGINS}
SERVER = None
LONG = int(os.environ.get("GALE_TEST_FAULTS", "1"))  # so many times as many faults; script/connectors has more


def setUpModule():
    global SERVER
    SERVER = postgres.Server(password="sesame")


def tearDownModule():
    SERVER.close()


def properties(**values):
    return "".join(f"      - {{name: {name}, value: {json.dumps(value)}}}\n" for name, value in values.items())


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.process = None
        (self.path / "password").write_text("sesame\n")
        self.given = {"connection": SERVER.connection(), "passwordFrom": "password"}
        SERVER.go_on()
        for schema, in SERVER.sql("SELECT nspname FROM pg_namespace WHERE nspname IN ('public')", "shop"):
            self.sql(f"DROP SCHEMA {schema} CASCADE")
        self.sql("CREATE SCHEMA public")

    def sql(self, text):
        return SERVER.sql(text, "shop")

    def gale(self, *arguments, code=0):
        done = subprocess.run([GALE, *arguments], cwd=self.path, env=ENVIRONMENT, capture_output=True, text=True, timeout=90)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def start(self, *arguments):
        """Its words in 'log', while it runs."""
        log = open(self.path / "log", "a")
        self.addCleanup(log.close)
        process = self.process = subprocess.Popen([GALE, "run", "t.yaml", *arguments], cwd=self.path, env=ENVIRONMENT, stderr=log, stdout=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, condition, seconds=120):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, self.log())
            time.sleep(0.02)

    def log(self):
        path = self.path / "log"
        return path.read_text() if path.exists() else ""


SINK = """
name: write
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100}}
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{{name: path, value: in.tsv}}]
bolts:
  - {{id: fields, className: gale.bolt.Csv, properties: [{{name: separator, value: "\\t"}}, {{name: quote, value: "\\x01"}}, {{name: fields, value: "{fields}"}}]}}
  - id: sink
    className: gale.bolt.PostgresSink
    properties:
{sink}
streams:
  - {{from: lines, to: fields, grouping: {{type: SHUFFLE}}}}
  - {{from: fields, to: sink, grouping: {{type: SHUFFLE}}}}
"""


class Writing(Case):
    def write(self, rows, fields="id int, name, amount float", **sink):
        (self.path / "in.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
        (self.path / "t.yaml").write_text(SINK.format(fields=fields, sink=properties(**{**self.given, "table": "orders", **sink})))

    def table(self, keyed=True):
        self.sql(f"CREATE TABLE orders (id bigint {'PRIMARY KEY' if keyed else ''}, name text, amount float8 CHECK (amount >= 0))")


class Writes(Writing):
    def test_each_tuple_is_a_row(self):
        self.table()
        self.write([(n, f"name {n}", n / 8) for n in range(25_000)], batch=1000)
        self.gale("run", "t.yaml")
        self.assertEqual(self.sql("SELECT count(*), sum(id), sum(amount), min(name), max(name) FROM orders"),
                         [["25000", "312487500", "39060937.5", "name 0", "name 9999"]])

    def test_what_is_in_no_tree_is_refused_in_words_as_well(self):
        """The rows of a window are anchored to nothing."""
        self.sql("CREATE TABLE orders (name text PRIMARY KEY, count bigint); INSERT INTO orders VALUES ('b', 5)")
        self.write([(1, "a", 1), (2, "b", 1), (3, "a", 1)])
        path = self.path / "t.yaml"
        text = path.read_text().replace("streams:", "  - {id: window, className: gale.bolt.Window, properties: {key: name}}\nstreams:")
        text = text.replace("{from: fields, to: sink", "{from: fields, to: window, grouping: {type: SHUFFLE}}\n  - {from: window, to: sink")
        path.write_text(text.replace("      - {name: table,", "      - {name: fields, value: [name, count]}\n      - {name: table,"))
        self.assertIn("duplicate key value violates unique constraint", self.gale("run", "t.yaml", code=1))
        self.assertEqual(self.sql("SELECT * FROM orders ORDER BY name"), [["a", "2"], ["b", "5"]])

    def test_no_more_rows_go_out_together_than_are_told(self):
        self.table()
        self.write([(n, "n", 0) for n in range(5000)], batch=300)
        self.gale("run", "t.yaml")
        sizes = [int(size) for size, in self.sql("SELECT count(*) FROM orders GROUP BY xmin::text")]
        self.assertEqual((sum(sizes), max(sizes)), (5000, 300))

    def test_what_a_text_may_have_arrives_as_it_is(self):
        self.table()
        odd = "a \\ back, 'q' \"d\" \\N \\. ünd ☃ \x07"
        self.write([(1, odd, 0.1), (2, "", 1e300)])
        self.gale("run", "t.yaml")
        self.assertEqual(self.sql("SELECT id, name, amount FROM orders ORDER BY id"), [["1", odd, "0.1"], ["2", "", "1e+300"]])

    def test_numbers_arrive_to_the_last_digit(self):
        self.table()
        drawn = random.Random(9)
        numbers = [0.1, 0.5, 1e15, 2.0 ** 53, 9007199254740993.0, 1e22, 1.5e-7, 123456.789, 0.000001, 0.0000015, 1 / 3, 1e300, 5e-324, 99999999.999999, 12345678901.123457]
        numbers += [drawn.uniform(0, 10 ** drawn.randint(-5, 20)) for _ in range(300)] + [round(drawn.uniform(0, 1e9), drawn.randint(0, 7)) for _ in range(700)]
        keys = [-9223372036854775808, 9223372036854775807, 0, -1, 10, 1000000] + list(range(2000, 2000 + len(numbers) - 6))
        self.write([(key, "n", repr(number)) for key, number in zip(keys, numbers)])
        self.gale("run", "t.yaml")
        there = self.sql("SELECT id, amount FROM orders ORDER BY id")
        self.assertEqual([(int(key), float(number)) for key, number in there], sorted(zip(keys, numbers)))

    def test_a_key_that_is_there_is_replaced_by_the_last_row(self):
        self.table()
        self.sql("INSERT INTO orders VALUES (1, 'old', 1), (99, 'stays', 9)")
        self.write([(n % 10, f"v{n}", n) for n in range(10_000)], key=["id"])
        self.gale("run", "t.yaml")
        self.assertEqual(self.sql("SELECT * FROM orders ORDER BY id"),
                         [[str(n), f"v{9990 + n}", str(9990 + n)] for n in range(10)] + [["99", "stays", "9"]])

    def test_what_is_there_stays_when_it_is_told_to(self):
        self.table()
        self.sql("INSERT INTO orders VALUES (1, 'old', 1)")
        self.write([(n % 10, f"v{n}", n) for n in range(1000)], key=["id"], onConflict="ignore")
        self.gale("run", "t.yaml")
        self.assertEqual(self.sql("SELECT * FROM orders ORDER BY id"),
                         [[str(n), "old" if n == 1 else f"v{n}", str(n)] for n in range(10)])

    def test_a_source_that_remembers_its_place_loses_nothing_by_a_sink_that_keeps_rows_outside(self):
        self.table()
        self.write([(n, "n", 1) for n in range(10)])
        file = self.path / "t.yaml"
        file.write_text(file.read_text().replace("value: in.tsv}", "value: in.tsv}, {name: state, value: place}"))
        self.assertNotIn("WARN", self.gale("run", "t.yaml"))
        self.assertTrue((self.path / "place").exists())

    def test_fields_may_be_columns_of_other_names_and_times(self):
        self.sql('CREATE SCHEMA s; CREATE TABLE s."Odd ""x" (n int, "at when" timestamptz, u timestamp)')
        self.write([(1, 1764072000123, 1764072000.5), (2, -1, 0)], fields="id int, t int, u float", table='s.Odd "x', columns=["n", "at when", "u"], times=["at when ms", "u s"])
        self.gale("run", "t.yaml")
        self.assertEqual(self.sql('SELECT n, "at when" AT TIME ZONE \'UTC\', u FROM s."Odd ""x" ORDER BY n'),
                         [["1", "2025-11-25 12:00:00.123", "2025-11-25 12:00:00.5"], ["2", "1969-12-31 23:59:59.999", "1970-01-01 00:00:00"]])
        self.sql("DROP SCHEMA s CASCADE")

    def test_rows_that_the_server_refuses_are_rejected_alone(self):
        self.table()
        self.sql("INSERT INTO orders VALUES (500, 'there', 1)")
        self.write([(n, "n", -1 if n in (3, 4, 777) else 1) for n in range(1000)])
        err = self.gale("run", "t.yaml", code=1)
        self.assertEqual(self.sql("SELECT count(*), count(*) FILTER (WHERE name = 'there') FROM orders"), [["997", "1"]])
        self.assertIn("violates check constraint", err)
        self.assertIn("duplicate key value", err)


class Once(Writing):
    """Durable runs."""

    def test_a_run_that_is_killed_again_and_again_has_each_row_once(self):
        self.table(keyed=False)
        drawn = random.Random(3)
        self.write([(n, f"name {n}", n) for n in range(20_000)])
        for life in range(100):
            process = self.start("--state", "state", "--rate", "20000")
            try:
                process.wait(drawn.uniform(0.05, 0.3 + 0.05 * life))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                continue
            break
        self.assertEqual(process.returncode, 0, self.log())
        self.assertGreater(life, 1)
        self.assertEqual(self.sql("SELECT count(*), count(DISTINCT id), sum(id) FROM orders"), [["20000", "20000", "199990000"]])
        self.assertEqual(self.sql("SELECT DISTINCT id, epoch > 0 FROM gale_markers"), [["write/sink/0", "t"]])

    def test_a_row_that_is_refused_ends_the_run_in_words(self):
        self.table()
        self.write([(1, "a", 1), (2, "b", -1)])
        err = self.gale("run", "t.yaml", "--state", "state", code=1)
        self.assertIn("a row is refused (a table in the property `refused` takes such): ", err)
        self.assertEqual(self.sql("SELECT count(*) FROM orders"), [["0"]])

    def test_what_could_not_be_sent_when_a_run_is_ended_the_next_one_sends(self):
        """Several checkpoints would be made until the end, and what the first has is not in the others."""
        self.write([(n, "n", 1) for n in range(5000)])
        for end in (signal.SIGTERM, signal.SIGTERM, signal.SIGTERM):
            at = len(self.log())
            self.start("--state", "state", "--rate", "1000")
            self.wait_for(lambda: 'relation "orders" does not exist' in self.log()[at:])
            time.sleep(0.5)
            self.process.send_signal(end)
            self.assertEqual(self.process.wait(30), 0, self.log())
            self.assertNotIn("well again", self.log())
        self.table()
        self.gale("run", "t.yaml", "--state", "state")
        self.assertEqual(self.sql("SELECT count(*), count(DISTINCT id) FROM orders"), [["5000", "5000"]])

    def test_or_is_put_aside_with_words(self):
        self.table()
        self.write([(n, "a\ttab" if n == 7 else "a", -1 if n in (7, 500) else 1) for n in range(1000)], refused="gale_refused", key=["id"])
        text = (self.path / "in.tsv").read_text().replace("a\ttab", "a tab")
        (self.path / "in.tsv").write_text(text)
        said = self.gale("run", "t.yaml", "--state", "state")
        self.assertRegex(said, r"(?s)sink: .*2 so far, and in the table gale_refused: .*violates check")
        self.assertEqual(self.sql("SELECT count(*) FROM orders"), [["998"]])
        self.assertEqual([[target, "violates check" in why, line.split("\\t")[:2]] for target, why, line in
                          self.sql("SELECT target, why, replace(line, E'\\t', '\\t') FROM gale_refused ORDER BY line DESC")],
                         [["orders", True, ["7", "a tab"]], ["orders", True, ["500", "a"]]])


class Faults(Writing):
    ROWS = 100_000 * LONG

    def disturb(self):
        """Killed, hung, killed, while it is written to."""
        for fault in [SERVER.kill, SERVER.hang, SERVER.kill] * LONG:
            before = int(self.sql("SELECT count(*) FROM orders")[0][0])
            self.wait_for(lambda: int(self.sql("SELECT count(*) FROM orders")[0][0]) > before + 5000)
            fault()
            time.sleep(0.3 if fault == SERVER.kill else 1.5)
            if fault == SERVER.kill:
                SERVER.start()
            else:
                SERVER.go_on()
        self.assertEqual(self.process.wait(120), 0, self.log())

    def test_a_server_that_is_killed_and_hung_under_load_has_each_row(self):
        self.table()
        self.write([(n, f"name {n}", n) for n in range(self.ROWS)], key=["id"], timeout="1s", batch=100)
        self.start("--rate", "15000")
        self.disturb()
        self.assertEqual(self.sql("SELECT count(*), sum(id) FROM orders"), [[str(self.ROWS), str(self.ROWS * (self.ROWS - 1) // 2)]])

    def test_in_a_durable_run_once(self):
        self.table(keyed=False)
        self.write([(n, f"name {n}", n) for n in range(self.ROWS)], timeout="1s")
        self.start("--state", "state", "--rate", "15000")
        self.disturb()
        self.assertEqual(self.sql("SELECT count(*), count(DISTINCT id) FROM orders"), [[str(self.ROWS)] * 2])

    def test_a_disk_that_is_full_is_told_and_waited_for(self):
        """A table space of little room; only root can make one."""
        if os.geteuid() != 0:
            self.skipTest("only root can mount a small disk")
        disk = tempfile.mkdtemp(prefix="gale-disk-")
        self.addCleanup(os.rmdir, disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", disk], capture_output=True).returncode:
            self.skipTest("nothing can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", disk])
        shutil.chown(disk, "nobody", "nogroup")
        self.addCleanup(lambda: (self.sql("DROP TABLE IF EXISTS orders"), SERVER.sql("DROP TABLESPACE IF EXISTS small")))
        SERVER.sql(f"CREATE TABLESPACE small LOCATION '{disk}'")
        self.sql("CREATE TABLE orders (id bigint, name text, amount float8) TABLESPACE small")
        self.write([(n, "x" * 100, n) for n in range(50_000)], batch=1000)
        self.start()
        self.wait_for(lambda: "No space left on device" in self.log())
        subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        self.assertEqual(self.process.wait(120), 0, self.log())
        self.assertEqual(self.sql("SELECT count(*), count(DISTINCT id) FROM orders"), [["50000", "50000"]])

    def test_what_is_wrong_is_told_and_mended_while_it_runs(self):
        self.write([(n, "n", 1) for n in range(10)])
        self.start()
        self.wait_for(lambda: 'relation "orders" does not exist' in self.log())
        self.table()
        self.assertEqual(self.process.wait(30), 0, self.log())
        self.assertEqual(self.sql("SELECT count(*) FROM orders"), [["10"]])

    def test_credentials_that_are_wrong_are_told_without_them(self):
        self.table()
        (self.path / "password").write_text("open-barley\n")
        self.write([(n, "n", 1) for n in range(10)])
        self.start()
        self.wait_for(lambda: "password authentication failed" in self.log())
        self.assertNotIn("open-barley", self.log())
        (self.path / "password").write_text("sesame\n")
        self.assertEqual(self.process.wait(30), 0, self.log())


class Words(Writing):
    def test_what_is_wrong_with_a_file_is_told_at_its_place(self):
        for wrong, words in [({"connection": "host=a password=b"}, "connection: it has a password, which is read from a file: passwordFrom"),
                             ({"connection": "what is this"}, "connection: it is neither 'host=... dbname=...' nor postgresql://host/dbname"),
                             ({"connection": "host=a replication=database"}, "connection: replication is set by the class alone"),
                             ({"columns": ["a"]}, "columns: 1 are named, and there are 3 fields"),
                             ({"key": ["nr"]}, "key: nr is none of the columns that are written"),
                             ({"times": ["nr s"]}, "times: nr is none of the columns that are written"), ({"times": ["id"]}, "times: id has no unit: s, ms, us or ns since 1970, as in 'id s'"),
                             ({"onConflict": "replace"}, "onConflict")]:
            with self.subTest(wrong=wrong):
                self.write([], **wrong)
                err = self.gale("check", "t.yaml", code=2)
                self.assertIn(words, err)
                self.assertRegex(err, r"t.yaml:\d+:\d+: ")

    def test_a_file_without_a_password_is_named(self):
        self.table()
        self.write([(1, "a", 1)], passwordFrom="no-file")
        self.start()
        self.wait_for(lambda: "passwordFrom: cannot open 'no-file'" in self.log())


LOOKUP = """
name: enrich
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100, topology.max.spout.pending: 2000, topology.replay.attempts: 1}}
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{{name: path, value: in.tsv}}]
bolts:
  - {{id: fields, className: gale.bolt.Csv, properties: [{{name: fields, value: "n int, user int"}}]}}
  - id: enrich
    className: gale.bolt.PostgresLookup
    properties:
{lookup}
  - {{id: text, className: gale.bolt.Format, properties: [{{name: format, value: json}}]}}
  - {{id: out, className: gale.bolt.FileSink, properties: [{{name: path, value: out.json}}]}}
streams:
  - {{from: lines, to: fields, grouping: {{type: SHUFFLE}}}}
  - {{from: fields, to: enrich, grouping: {{type: SHUFFLE}}}}
  - {{from: enrich, to: text, grouping: {{type: SHUFFLE{stream}}}}}
  - {{from: text, to: out, grouping: {{type: SHUFFLE}}}}
"""


class Lookup(Case):
    def write(self, rows, stream="", **lookup):
        (self.path / "in.tsv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
        given = {**self.given, "table": "users", "key": "user", "by": ["id"], "add": ["name", "age", "vip as good"], **lookup}
        self.properties = properties(**{name: value for name, value in given.items() if value is not None})
        (self.path / "t.yaml").write_text(LOOKUP.format(lookup=self.properties, stream=stream))

    def users(self, count=50):
        self.sql(f"CREATE TABLE users (id bigint PRIMARY KEY, name text, age float8, vip bool);"
                 f"INSERT INTO users SELECT n, 'user ' || n, n / 4.0, n % 2 = 0 FROM generate_series(0, {count - 1}) n")

    def asked(self):
        """How often the server was asked, as it counts."""
        self.sql("SELECT pg_sleep(0.05)")
        return int(self.sql("SELECT seq_scan + coalesce(idx_scan, 0) FROM pg_stat_user_tables WHERE relname = 'users'")[0][0])

    def rows(self):
        return [json.loads(line) for line in (self.path / "out.json").read_text().splitlines()]

    def expected(self, n, user, known=True):
        return {"n": n, "user": user, "name": f"user {user}" if known else None, "age": user / 4 if known else None,
                "good": user % 2 == 0 if known else None}

    def test_each_tuple_has_the_columns_of_its_row(self):
        self.users()
        self.write([(n, n % 60) for n in range(20_000)])
        self.gale("run", "t.yaml")
        self.assertEqual(sorted(self.rows(), key=lambda row: row["n"]), [self.expected(n, n % 60, n % 60 < 50) for n in range(20_000)])

    def test_what_is_asked_for_or_known_is_not_asked_again(self):
        self.users()
        self.sql("SELECT pg_stat_force_next_flush()")
        before = self.asked()
        self.write([(n, n % 60) for n in range(20_000)])
        self.gale("run", "t.yaml")
        self.wait_for(lambda: self.asked() > before)
        time.sleep(0.5)
        self.assertLessEqual(self.asked() - before, 60)

    def test_what_is_missing_goes_where_it_is_told_to(self):
        self.users(1)
        for missing, expected in (("drop", [self.expected(0, 0)]), ("null", [self.expected(0, 0), self.expected(1, 1, False)])):
            self.write([(0, 0), (1, 1)], missing=missing)
            self.gale("run", "t.yaml", "--overwrite")
            self.assertEqual(sorted(self.rows(), key=lambda row: row["n"]), expected)
        self.write([(0, 0), (1, 1)], missing="stream", stream=", streamId: missing")
        self.gale("run", "t.yaml", "--overwrite")
        self.assertEqual(self.rows(), [{"n": 1, "user": 1}])
        self.write([(0, 0), (1, 1)], missing="fail")
        self.assertIn("there is no row of its key", self.gale("run", "t.yaml", "--overwrite", code=1))

    def test_a_query_may_have_several_rows_of_a_key(self):
        self.users(4)
        self.write([(0, 2)], table=None, by=None, query="select id * 10, name from users where id < $1 order by id", add=["tens", "name"])
        self.gale("run", "t.yaml")
        self.assertEqual(self.rows(), [{"n": 0, "user": 2, "tens": 0, "name": "user 0"}, {"n": 0, "user": 2, "tens": 10, "name": "user 1"}])

    def test_a_server_that_is_killed_and_hung_is_asked_again(self):
        self.users()
        self.write([(n, n % 50) for n in range(40_000)], timeout="1s", cacheFor=0)
        self.start("--rate", "20000")
        for fault in (SERVER.kill, SERVER.hang):
            before = (self.path / "out.json").stat().st_size if (self.path / "out.json").exists() else 0
            self.wait_for(lambda: (self.path / "out.json").exists() and (self.path / "out.json").stat().st_size > before + 100_000)
            fault()
            time.sleep(0.3 if fault == SERVER.kill else 1.5)
            if fault == SERVER.kill:
                SERVER.start()
            else:
                SERVER.go_on()
        self.assertEqual(self.process.wait(120), 0, self.log())
        self.assertEqual(sorted(self.rows(), key=lambda row: row["n"]), [self.expected(n, n % 50) for n in range(40_000)])

    def test_a_durable_run_that_is_killed_has_each_once(self):
        self.users()
        self.write([(n, n % 50) for n in range(20_000)], cacheFor=0)
        drawn = random.Random(5)
        for life in range(100):
            process = self.start("--state", "state", "--rate", "20000")
            try:
                process.wait(drawn.uniform(0.05, 0.3 + 0.05 * life))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                continue
            break
        self.assertEqual(process.returncode, 0, self.log())
        self.assertEqual(sorted(self.rows(), key=lambda row: row["n"]), [self.expected(n, n % 50) for n in range(20_000)])

    def test_what_is_wrong_is_told(self):
        self.users()
        for wrong, words in [({"query": "select 1"}, "table: it is one of the two: a table, or a query"), ({"by": ["id", "x"]}, "by: 2 columns are named, and the key has 1 fields"),
                             ({"add": [" as x"]}, "add: a name is empty"), ({"key": "usr"}, "usr")]:
            self.write([(0, 0)], **wrong)
            self.assertIn(words, self.gale("check", "t.yaml", code=2))
        self.write([(0, 0)], add=["nome"])
        self.start()
        self.wait_for(lambda: 'column "nome" does not exist' in self.log())


CHANGES = """
name: follow
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 50, topology.max.spout.pending: {pending}, gale.append: true}}
spouts:
  - id: changes
    className: gale.spout.Postgres
    properties:
{spout}
bolts:
  - {{id: text, className: gale.bolt.Format, properties: [{{name: format, value: json}}]}}
  - {{id: out, className: gale.bolt.FileSink, properties: [{{name: path, value: out.json}}]}}
streams:
  - {{from: changes, to: text, grouping: {{type: SHUFFLE}}}}
  - {{from: text, to: out, grouping: {{type: SHUFFLE}}}}
"""


class Changes(Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.drop)
        self.sql("CREATE TABLE orders (id bigint PRIMARY KEY, name text, amount float8, raw bytea, big text)")

    def drop(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for name, in self.sql("SELECT slot_name FROM pg_replication_slots"):
            self.wait_for(lambda: self.sql(f"SELECT coalesce(pg_terminate_backend(active_pid), true) FROM pg_replication_slots WHERE slot_name = '{name}' AND active") == [])
            self.sql(f"SELECT pg_drop_replication_slot('{name}')")
        for name, in self.sql("SELECT pubname FROM pg_publication"):
            self.sql(f"DROP PUBLICATION {name}")

    def write(self, pending=10000, **spout):
        given = {**self.given, "slot": "follow", "tables": ["orders"], **spout}
        (self.path / "t.yaml").write_text(CHANGES.format(pending=pending, spout=properties(**given)))

    def rows(self):
        path = self.path / "out.json"
        text = path.read_text() if path.exists() else ""
        return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(30), 0, self.log())

    def test_rows_that_are_there_come_first_and_then_each_change(self):
        self.sql("INSERT INTO orders SELECT n, 'n' || n, n / 2.0 FROM generate_series(1, 1000) n")
        self.write()
        self.start()
        self.wait_for(lambda: len(self.rows()) == 1000)
        self.assertEqual(sorted(self.rows(), key=lambda row: row["row"]["id"])[2],
                         {"op": "snapshot", "table": "orders", "row": {"id": 3, "name": "n3", "amount": 1.5, "raw": None, "big": None}})
        self.wait_for(lambda: self.sql("SELECT active FROM pg_replication_slots WHERE slot_name = 'follow'") == [["t"]])
        self.sql("INSERT INTO orders VALUES (2000, 'new', 0.5, NULL, 'b'); UPDATE orders SET name = 'other' WHERE id = 2000;"
                 "UPDATE orders SET id = 2001 WHERE id = 2000; DELETE FROM orders WHERE id = 2001; TRUNCATE orders")
        self.wait_for(lambda: len(self.rows()) == 1005)
        self.assertEqual(self.rows()[1000:], [
            {"op": "insert", "table": "orders", "row": {"id": 2000, "name": "new", "amount": 0.5, "raw": None, "big": "b"}},
            {"op": "update", "table": "orders", "row": {"id": 2000, "name": "other", "amount": 0.5, "raw": None, "big": "b"}},
            {"op": "update", "table": "orders", "row": {"id": 2001, "name": "other", "amount": 0.5, "raw": None, "big": "b"}},
            {"op": "delete", "table": "orders", "row": None},
            {"op": "truncate", "table": "orders", "row": None}])
        self.end()

    def test_tables_of_a_snapshot_may_have_few_columns_and_many(self):
        self.sql("CREATE TABLE few (id int); CREATE TABLE z_many (id int, a text, b text, c text, d text, e text, f text);"
                 "INSERT INTO few VALUES (1), (2); INSERT INTO orders VALUES (3, 'n', 1.5); INSERT INTO z_many VALUES (4, 'a', NULL, 'c', 'd', NULL, 'f')")
        self.write(tables=["few", "orders", "z_many"], emit="table, row")
        self.start()
        self.wait_for(lambda: len(self.rows()) == 4)
        self.assertEqual(sorted(self.rows(), key=lambda row: row["row"]["id"]), [
            {"table": "few", "row": {"id": 1}}, {"table": "few", "row": {"id": 2}},
            {"table": "orders", "row": {"id": 3, "name": "n", "amount": 1.5, "raw": None, "big": None}},
            {"table": "z_many", "row": {"id": 4, "a": "a", "b": None, "c": "c", "d": "d", "e": None, "f": "f"}}])
        self.end()

    def test_columns_are_fields_and_a_transaction_says_what_it_is(self):
        self.write(emit="op, old, lsn, time, xid", columns=["id", "name"])
        self.start()
        self.wait_for(lambda: self.sql("SELECT active FROM pg_replication_slots WHERE slot_name = 'follow'") == [["t"]])
        before = time.time()
        self.sql("BEGIN; INSERT INTO orders VALUES (1, 'a'), (2, 'b'); DELETE FROM orders WHERE id = 1; COMMIT")
        self.wait_for(lambda: len(self.rows()) == 3)
        rows = self.rows()
        self.assertEqual([(row["op"], row["id"], row["name"]) for row in rows], [("insert", 1, "a"), ("insert", 2, "b"), ("delete", 1, None)])
        self.assertEqual(rows[2]["old"], {"id": 1})
        self.assertEqual(len({(row["lsn"], row["xid"]) for row in rows}), 1)
        self.assertRegex(rows[0]["lsn"], r"^[0-9A-F]+/[0-9A-F]+$")
        self.assertLess(abs(rows[0]["time"] / 1000 - before), 5)
        self.end()

    def test_what_is_given_up_is_reported_by_its_place_in_the_log(self):
        self.sql("INSERT INTO orders VALUES (1, 'there')")
        self.write(emit="op, lsn, table", maxAttempts=2)
        text = (self.path / "t.yaml").read_text()
        (self.path / "t.yaml").write_text(text.replace("gale.bolt.Format, properties: [{name: format, value: json}]", "gale.bolt.Map, properties: {set: {line: \"error('bad')\"}}"))
        self.start()
        self.wait_for(lambda: "snapshot of orders given up after 2 attempts: " in self.log())
        self.sql("INSERT INTO orders VALUES (2, 'new')")
        self.wait_for(lambda: re.search(r"insert of orders at [0-9A-F]+/[0-9A-F]+ given up after 2 attempts: failed", self.log()))

    def test_the_slot_is_told_of_what_is_answered_alone(self):
        self.write(snapshot=False, confirmEvery="50ms")
        text = (self.path / "t.yaml").read_text().replace("className: gale.bolt.FileSink, properties: [{name: path, value: out.json}]",
                                                          "className: gale.bolt.ExecSink, properties: [{name: command, value: 'while [ ! -e go ]; do sleep 0.02; done; cat >out.json'}]")
        (self.path / "t.yaml").write_text(text)
        self.start()
        confirmed = lambda: self.sql("SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = 'follow' AND active")
        self.wait_for(confirmed)
        self.sql("INSERT INTO orders SELECT n, repeat('x', 1000) FROM generate_series(1, 1000) n")
        (end,), = self.sql("SELECT pg_current_wal_lsn()")  # what is before the commit may be confirmed, as it is sent as a whole
        told = lambda: self.sql(f"SELECT confirmed_flush_lsn >= '{end}' FROM pg_replication_slots") == [["t"]]
        time.sleep(0.8)
        self.assertFalse(told())
        (self.path / "go").touch()
        self.wait_for(told)

    def load(self, transactions, seed):
        """Transactions of 1 to 20 rows, some of them other changes; what the table has at the end is what `apply` makes of them."""
        drawn = random.Random(seed)
        statements, key = [], 0
        for _ in range(transactions):
            one = []
            for _ in range(drawn.randint(1, 20)):
                key += 1
                one.append(f"INSERT INTO orders VALUES ({key}, 'n{key}', 0)")
                if drawn.random() < 0.3:
                    one.append(f"UPDATE orders SET amount = amount + 1 WHERE id = {drawn.randint(1, key)}")
                if drawn.random() < 0.1:
                    one.append(f"DELETE FROM orders WHERE id = {drawn.randint(1, key)}")
            statements.append("BEGIN; " + "; ".join(one) + "; COMMIT;")
        return statements

    def apply(self, rows):
        table = {}
        for row in rows:
            if row["op"] == "delete":
                del table[row["old"]["id"]]
            else:
                table[row["row"]["id"]] = row["row"]
        return sorted((row["id"], row["name"], row["amount"]) for row in table.values())

    def there(self):
        return sorted((int(key), name, float(amount)) for key, name, amount in self.sql("SELECT id, name, amount FROM orders"))

    def lives(self, statements, *arguments, fault=lambda drawn: None):
        drawn = random.Random(7)
        self.start(*arguments)
        self.wait_for(lambda: self.sql("SELECT active FROM pg_replication_slots WHERE slot_name = 'follow'") == [["t"]])
        for at in range(0, len(statements), 50):
            self.sql("".join(statements[at:at + 50]))
            fault(drawn)
        changes = int(self.sql("SELECT 1")[0][0])
        self.assertEqual(changes, 1)

    def test_a_durable_run_that_is_killed_again_and_again_has_each_change_once(self):
        self.write(emit="op, row, old")
        statements = self.load(2000, 1)

        def fault(drawn):
            time.sleep(drawn.uniform(0, 0.2))
            self.process.kill()
            self.process.wait()
            self.start("--state", "state")
        self.lives(statements, "--state", "state", fault=fault)
        inserted = sum(one.count("INSERT") for one in statements)
        self.wait_for(lambda: sum(row["op"] == "insert" for row in self.rows()) >= inserted and self.apply(self.rows()) == self.there())
        self.end()
        rows = self.rows()
        self.assertEqual(sum(row["op"] == "insert" for row in rows), inserted)
        self.assertEqual([row["row"]["id"] for row in rows if row["op"] == "insert"], list(range(1, inserted + 1)))
        self.assertEqual(self.apply(rows), self.there())

    def test_a_run_that_is_killed_misses_none(self):
        self.write(emit="op, row, old", confirmEvery="20ms")
        statements = self.load(1000, 2)

        def fault(drawn):
            time.sleep(drawn.uniform(0, 0.2))
            self.process.kill()
            self.process.wait()
            self.start()
        self.lives(statements, fault=fault)
        inserted = sum(one.count("INSERT") for one in statements)
        self.wait_for(lambda: len({row["row"]["id"] for row in self.rows() if row["op"] == "insert"}) == inserted)
        self.end()

    def test_a_server_that_is_killed_and_hung_goes_on_with_each_once_in_one_process(self):
        self.write(emit="op, row, old", timeout="1s")
        statements = self.load(1000, 3)
        faults = iter([SERVER.kill, SERVER.hang, SERVER.kill] + [None] * 100)

        def fault(drawn):
            what = next(faults)
            if not what:
                return
            what()
            time.sleep(0.3 if what == SERVER.kill else 1.5)
            if what == SERVER.kill:
                SERVER.start()
            else:
                SERVER.go_on()
        self.lives(statements, fault=fault)
        inserted = sum(one.count("INSERT") for one in statements)
        self.wait_for(lambda: sum(row["op"] == "insert" for row in self.rows()) >= inserted and self.apply(self.rows()) == self.there())
        self.end()
        self.assertEqual([row["row"]["id"] for row in self.rows() if row["op"] == "insert"], list(range(1, inserted + 1)))

    def test_a_snapshot_that_is_cut_off_begins_anew(self):
        self.sql("INSERT INTO orders SELECT n, 'n' || n, n / 2.0 FROM generate_series(1, 20000) n")
        self.write(pending=100)
        self.start("--rate", "20000")
        self.wait_for(lambda: len(self.rows()) > 1000)
        self.process.kill()
        self.process.wait()
        self.assertEqual(self.sql("SELECT 1 FROM pg_replication_slots WHERE slot_name = 'follow'"), [])
        self.start()
        self.wait_for(lambda: self.sql("SELECT active FROM pg_replication_slots WHERE slot_name = 'follow'") == [["t"]])
        self.assertEqual({row["row"]["id"] for row in self.rows()}, set(range(1, 20001)))
        self.end()

    def test_a_slot_that_is_gone_or_ahead_ends_a_durable_run_in_words(self):
        self.write()
        self.start("--state", "state")
        self.wait_for(lambda: self.sql("SELECT active FROM pg_replication_slots WHERE slot_name = 'follow'") == [["t"]])
        self.sql("INSERT INTO orders VALUES (1)")
        self.wait_for(lambda: len(self.rows()) == 1)
        time.sleep(0.3)
        self.process.kill()
        self.process.wait()
        self.sql("INSERT INTO orders VALUES (2)")
        self.wait_for(lambda: self.sql("SELECT 1 FROM pg_replication_slots WHERE active") == [])
        self.sql("SELECT pg_replication_slot_advance('follow', pg_current_wal_lsn())")
        self.assertIn("was confirmed beyond what the state has", self.gale("run", "t.yaml", "--state", "state", code=1))
        self.sql("SELECT pg_drop_replication_slot('follow')")
        self.assertIn("is gone, and changes with it", self.gale("run", "t.yaml", "--state", "state", code=1))

    def test_what_is_wrong_is_told(self):
        for wrong, words in [({"slot": "Big Slot"}, "slot: Big Slot is none: small letters, digits and _, at most 54"),
                             ({"emit": "op, rwo"}, "emit: a change has no 'rwo'"), ({"emit": "op, op"}, "emit: op stands twice")]:
            self.write(**wrong)
            self.assertIn(words, self.gale("check", "t.yaml", code=2))
        self.write(tables=[])
        self.start()
        self.wait_for(lambda: "there is no publication follow, and tables names none to make it of" in self.log())


HTTP = """
name: take
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 50}}
spouts:
  - id: requests
    className: gale.spout.Http
    properties: [{{name: listen, value: "127.0.0.1:{port}"}}, {{name: format, value: lines}}]
bolts:
  - {{id: fields, className: gale.bolt.Csv, properties: [{{name: fields, value: "id int, name"}}]}}
  - id: sink
    className: gale.bolt.PostgresSink
    properties:
{sink}
streams:
  - {{from: requests, to: fields, grouping: {{type: SHUFFLE}}}}
  - {{from: fields, to: sink, grouping: {{type: SHUFFLE}}}}
"""


class Http(Case):
    """From HTTP, with Idempotency-Key, to PostgreSQL, in a durable run: clients try again until they are told 200."""

    def client(self, number, requests):
        for n in range(requests):
            body = "".join(f"{(number * requests + n) * 10 + line},r{line}\n" for line in range(10))
            status = 0
            while status != 200 and not self.over:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                try:
                    connection.request("POST", "/", body, {"Idempotency-Key": f"{number}-{n}"})
                    answer = connection.getresponse()
                    answer.read()
                    status = answer.status
                except (OSError, http.client.HTTPException):
                    time.sleep(0.02)
                finally:
                    connection.close()
                self.tried += 1
            self.answered += 1

    def test_each_request_is_there_once_whoever_is_killed(self):
        self.sql("CREATE TABLE events (id bigint, name text)")
        self.port, self.tried, self.answered, self.over = postgres.free_port(), 0, 0, False
        self.addCleanup(lambda: setattr(self, "over", True))
        (self.path / "t.yaml").write_text(HTTP.format(port=self.port, sink=properties(**self.given, table="events", timeout="1s")))
        drawn = random.Random(11)
        clients = [threading.Thread(target=self.client, args=(number, 250 * LONG), daemon=True) for number in range(8)]
        for client in clients:
            client.start()
        for life in range(6 * LONG):
            self.start("--state", "state")
            before = self.answered
            self.wait_for(lambda: self.answered > before + 20 or self.answered == 2000 * LONG)
            time.sleep(drawn.uniform(0, 0.3))
            if life % 3 == 1:
                SERVER.kill()
                SERVER.start()
            self.process.kill()
            self.process.wait()
        self.start("--state", "state")
        for client in clients:
            client.join(60 * LONG)
        self.assertEqual(self.answered, 2000 * LONG, self.log())
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(30), 0, self.log())
        self.assertEqual(self.sql("SELECT count(*), count(DISTINCT id), max(id) FROM events"), [[str(20000 * LONG), str(20000 * LONG), str(20000 * LONG - 1)]])


class Example(unittest.TestCase):
    def test_the_example_counts_all_that_is_ordered(self):
        example = Path(__file__).resolve().parents[3] / "examples" / "connectors" / "postgres" / "run"
        done = subprocess.run([example, "3"], env={**ENVIRONMENT, "GALE": GALE}, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        ordered, counted = re.search(r"ordered +\| +counted *\n[-+]+\n +([0-9.]+) +\| +([0-9.]+)", done.stdout).groups()
        self.assertEqual(ordered, counted)
        self.assertGreater(float(ordered), 200_000)


class Listen(Case):
    def test_notifications_are_tuples_and_a_time_without_a_connection_is_told(self):
        (self.path / "t.yaml").write_text(CHANGES.format(pending=100, spout=properties(**self.given, channels=["orders", "Odd one"], emit="channel, payload"))
                                          .replace("gale.spout.Postgres", "gale.spout.PostgresListen"))
        rows = lambda: [json.loads(line) for line in (self.path / "out.json").read_text().splitlines()] if (self.path / "out.json").exists() else []
        self.start()
        listening = lambda: self.sql("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND state = 'idle'")
        self.wait_for(listening)
        self.sql("SELECT pg_notify('orders', 'n' || n) FROM generate_series(1, 5000) n; NOTIFY \"Odd one\"; NOTIFY other")
        self.wait_for(lambda: len(rows()) == 5001)
        self.assertEqual(rows(), [{"channel": "orders", "payload": f"n{n}"} for n in range(1, 5001)] + [{"channel": "Odd one", "payload": ""}])
        SERVER.kill()
        SERVER.start()
        self.wait_for(listening)
        self.wait_for(lambda: "notifications of the time without a connection are lost" in self.log())
        self.sql("NOTIFY orders, 'again'")
        self.wait_for(lambda: rows()[-1]["payload"] == "again")
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(30), 0, self.log())


if __name__ == "__main__":
    if not postgres.programs():
        print("no PostgreSQL server is installed: script/bootstrap brings one")
        sys.exit(77)
    unittest.main(argv=["postgres_test", *sys.argv[3:]], verbosity=2)
