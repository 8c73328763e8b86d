#!/usr/bin/env python3
"""The connector postgres, by gale's command line, against a server of Debian's.

usage: postgres_test.py GALE PLUGINS [CLASS...]
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import server as postgres

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": PLUGINS}
SERVER = None


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

    def wait_for(self, condition, seconds=30):
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

    def test_what_a_text_may_have_arrives_as_it_is(self):
        self.table()
        odd = "a \\ back, 'q' \"d\" \\N \\. ünd ☃ \x07"
        self.write([(1, odd, 0.1), (2, "", 1e300)])
        self.gale("run", "t.yaml")
        self.assertEqual(self.sql("SELECT id, name, amount FROM orders ORDER BY id"), [["1", odd, "0.1"], ["2", "", "1e+300"]])

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

    def test_fields_may_be_columns_of_other_names_and_times(self):
        self.sql('CREATE SCHEMA s; CREATE TABLE s."Odd ""x" (n int, "at when" timestamptz)')
        self.write([(1, 1764072000123), (2, -1)], fields="id int, t int", table='s.Odd "x', columns=["n", "at when"], times=["at when"])
        self.gale("run", "t.yaml")
        self.assertEqual(self.sql('SELECT n, "at when" AT TIME ZONE \'UTC\' FROM s."Odd ""x" ORDER BY n'),
                         [["1", "2025-11-25 12:00:00.123"], ["2", "1969-12-31 23:59:59.999"]])
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
        self.assertEqual(self.sql("SELECT id, epoch > 0 FROM gale_markers"), [["write/sink/0", "t"]])

    def test_a_row_that_is_refused_ends_the_run_in_words(self):
        self.table()
        self.write([(1, "a", 1), (2, "b", -1)])
        err = self.gale("run", "t.yaml", "--state", "state", code=1)
        self.assertIn("a row is refused: ", err)
        self.assertEqual(self.sql("SELECT count(*) FROM orders"), [["0"]])

    def test_or_is_put_aside_with_words(self):
        self.table()
        self.write([(n, "a\ttab" if n == 7 else "a", -1 if n in (7, 500) else 1) for n in range(1000)], refused="gale_refused", key=["id"])
        text = (self.path / "in.tsv").read_text().replace("a\ttab", "a tab")
        (self.path / "in.tsv").write_text(text)
        self.gale("run", "t.yaml", "--state", "state")
        self.assertEqual(self.sql("SELECT count(*) FROM orders"), [["998"]])
        self.assertEqual([[target, "violates check" in why, line.split("\\t")[:2]] for target, why, line in
                          self.sql("SELECT target, why, replace(line, E'\\t', '\\t') FROM gale_refused ORDER BY line DESC")],
                         [["orders", True, ["7", "a tab"]], ["orders", True, ["500", "a"]]])


class Faults(Writing):
    def test_a_server_that_is_killed_and_hung_under_load_has_each_row(self):
        self.table()
        self.write([(n, f"name {n}", n) for n in range(100_000)], key=["id"], timeout="1s", batch=100)
        self.start("--rate", "40000")
        for fault in (SERVER.kill, SERVER.hang, SERVER.kill):
            before = int(self.sql("SELECT count(*) FROM orders")[0][0])
            self.wait_for(lambda: int(self.sql("SELECT count(*) FROM orders")[0][0]) > before + 5000)
            fault()
            time.sleep(0.3 if fault == SERVER.kill else 1.5)
            if fault == SERVER.kill:
                SERVER.start()
            else:
                SERVER.go_on()
        self.assertEqual(self.process.wait(60), 0, self.log())
        self.assertEqual(self.sql("SELECT count(*), sum(id) FROM orders"), [["100000", "4999950000"]])

    def test_in_a_durable_run_once(self):
        self.table(keyed=False)
        self.write([(n, f"name {n}", n) for n in range(100_000)], timeout="1s")
        self.start("--state", "state", "--rate", "40000")
        for fault in (SERVER.kill, SERVER.hang, SERVER.kill):
            before = int(self.sql("SELECT count(*) FROM orders")[0][0])
            self.wait_for(lambda: int(self.sql("SELECT count(*) FROM orders")[0][0]) > before + 5000)
            fault()
            time.sleep(0.3 if fault == SERVER.kill else 1.5)
            if fault == SERVER.kill:
                SERVER.start()
            else:
                SERVER.go_on()
        self.assertEqual(self.process.wait(60), 0, self.log())
        self.assertEqual(self.sql("SELECT count(*), count(DISTINCT id) FROM orders"), [["100000", "100000"]])

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
                             ({"times": ["nr"]}, "times: nr is none of the columns that are written"),
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
        self.assertEqual(self.process.wait(60), 0, self.log())
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


if __name__ == "__main__":
    if not postgres.programs():
        print("no PostgreSQL server is installed: script/bootstrap brings one")
        sys.exit(77)
    unittest.main(argv=["postgres_test", *sys.argv[3:]], verbosity=2)
