#!/usr/bin/env python3
"""gale.bolt.SqliteLookup, by gale's command line.

usage: lookup_test.py GALE PLUGINS [CLASS...]
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from case import Case, main, properties

TOPOLOGY = """
name: enrich
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100, topology.max.spout.pending: 2000, topology.replay.attempts: 1}}
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{{name: path, value: in.tsv}}]
bolts:
  - {{id: fields, className: gale.bolt.Csv, properties: [{{name: fields, value: "n int, user int"}}]}}
  - id: enrich
    className: gale.bolt.SqliteLookup
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
        given = {"path": "shop.db", "table": "users", "key": "user", "by": ["id"], "add": ["name", "age", "vip as good"], **lookup}
        (self.path / "t.yaml").write_text(TOPOLOGY.format(lookup=properties(**given), stream=stream))

    def users(self, count=50, more=""):
        self.script(f"{more} CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, age REAL, vip INTEGER);"
                    f"WITH RECURSIVE n(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM n WHERE n < {count - 1}) INSERT INTO users SELECT n, 'user ' || n, n / 4.0, n % 2 FROM n")

    def rows(self):
        return sorted((json.loads(line) for line in (self.path / "out.json").read_text().splitlines()), key=lambda row: row["n"])

    def expected(self, n, user, known=True):
        return {"n": n, "user": user, "name": f"user {user}" if known else None, "age": user / 4 if known else None, "good": user % 2 if known else None}

    def test_each_tuple_has_the_columns_of_its_row(self):
        for journal in ("", "PRAGMA journal_mode = wal;"):
            with self.subTest(journal=journal):
                (self.path / "shop.db").unlink(missing_ok=True)
                self.users(more=journal)
                self.write([(n, n % 60) for n in range(20_000)])
                self.gale("run", "t.yaml", "--overwrite")
                self.assertEqual(self.rows(), [self.expected(n, n % 60, n % 60 < 50) for n in range(20_000)])

    def test_what_is_known_is_not_asked_for_again_until_it_is_over(self):
        """The table goes while it is known, and is another one when it is not."""
        for seconds, known in ((3600, True), (0, False)):
            with self.subTest(seconds=seconds):
                (self.path / "shop.db").unlink(missing_ok=True)
                self.users(1)
                self.write([(n, 0) for n in range(2000)], cacheFor=seconds)
                self.start("--rate", "1000", "--overwrite")
                out = self.path / "out.json"
                self.wait_for(lambda: out.exists() and out.read_text().count("user 0") > 100)
                self.sql("UPDATE users SET name = 'another'")
                self.assertEqual(self.process.wait(30), 0, self.log())
                self.assertEqual(self.rows()[-1]["name"], "user 0" if known else "another")

    def test_a_path_that_can_be_no_database_is_told_before_anything_runs(self):
        self.is_refused_at_the_start(lambda path: self.write([(0, 0)], path=path))

    def test_what_is_wrong_is_told_before_a_tuple_comes_and_when_it_is_over_too(self):
        self.write([])
        text = (self.path / "t.yaml").read_text()
        (self.path / "t.yaml").write_text(text.replace("{name: path, value: in.tsv}", "{name: path, value: in.tsv}, {name: follow, value: true}"))
        self.start()
        self.wait_for(lambda: "is not well: sqlite shop.db: unable to open database file: No such file or directory" in self.log())
        self.users()
        self.wait_for(lambda: "is well again" in self.log())
        self.assertEqual(self.ends_soon(), 0)

    def test_at_the_end_what_belongs_to_no_tree_is_waited_for_and_given_up_in_words(self):
        self.users()
        other = self.connect()
        other.execute("BEGIN EXCLUSIVE")
        self.write([(n, n % 3) for n in range(10)], timeout=1, finishWait=2)
        self.belongs_to_no_tree()
        said = self.gale("run", "t.yaml", code=1)
        self.assertIn("sqlite shop.db: 10 tuples were not answered within 2 s (finishWait)", said)
        self.assertIn("10 rejected by enrich, of no tree", said)
        self.write([(n, n % 3) for n in range(10)], timeout=1)
        self.belongs_to_no_tree()
        self.start("--overwrite", "--end-within", "1")
        self.ends_soon("it is locked: somebody else writes to it, for longer than 1 s (timeout)")
        self.start("--overwrite")
        time.sleep(1)
        other.execute("COMMIT")
        self.assertEqual(self.process.wait(30), 0, self.log())
        self.assertEqual(self.rows(), [self.expected(n, n % 3) for n in range(10)])

    def test_what_is_missing_goes_where_it_is_told_to(self):
        self.users(1)
        for missing, expected in (("drop", [self.expected(0, 0)]), ("null", [self.expected(0, 0), self.expected(1, 1, False)])):
            self.write([(0, 0), (1, 1)], missing=missing)
            self.gale("run", "t.yaml", "--overwrite")
            self.assertEqual(self.rows(), expected)
        self.write([(0, 0), (1, 1)], missing="stream", stream=", streamId: missing")
        self.gale("run", "t.yaml", "--overwrite")
        self.assertEqual(self.rows(), [{"n": 1, "user": 1}])
        self.write([(0, 0), (1, 1)], missing="fail")
        self.assertIn("there is no row of its key", self.gale("run", "t.yaml", "--overwrite", code=1))

    def test_a_query_has_parameters_of_fields_and_several_rows_of_a_key(self):
        self.users(4)
        self.write([(1, 2)], table=None, by=None, key=None, query="select id * 10, name || ':x' from users where id < :user and id >= :n - 1 order by id", add=["tens", "name"])
        self.gale("run", "t.yaml")
        self.assertEqual(self.rows(), [{"n": 1, "user": 2, "tens": 0, "name": "user 0:x"}, {"n": 1, "user": 2, "tens": 10, "name": "user 1:x"}])

    def test_a_file_that_is_locked_or_has_no_table_is_told_and_asked_again(self):
        self.sql("CREATE TABLE other (x)")
        self.write([(n, n % 50) for n in range(500)], timeout="100ms")
        self.start()
        self.wait_for(lambda: "no such table: users" in self.log())
        other = self.connect()
        other.execute("BEGIN EXCLUSIVE")
        self.wait_for(lambda: "it is locked" in self.log())
        other.execute("ROLLBACK")
        self.users()
        self.assertEqual(self.process.wait(30), 0, self.log())
        self.assertEqual(self.rows(), [self.expected(n, n % 50) for n in range(500)])

    def test_a_question_that_fails_is_its_tuples_alone(self):
        self.sql("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)")
        self.sql("INSERT INTO users VALUES (1, '{\"a\": 3}'), (2, '{')")
        self.write([(n, n) for n in (1, 2)], table=None, by=None, query="select json_extract(name, '$.a') from users where id = :user", key=None, add=["a"])
        self.assertIn("malformed JSON", self.gale("run", "t.yaml", code=1))
        self.assertEqual(self.rows(), [{"n": 1, "user": 1, "a": 3}])

    def test_a_durable_run_that_is_killed_has_each_tuple_once(self):
        self.users()
        self.write([(n, n % 60) for n in range(15_000)], cacheFor="10ms")
        self.run_until_killed(5, "--state", "state", "--rate", "10000")
        self.assertEqual(self.rows(), [self.expected(n, n % 60, n % 60 < 50) for n in range(15_000)])

    def test_what_is_wrong_with_a_file_is_told_at_its_place(self):
        for wrong, words in [({"query": "select 1"}, "table: it is one of the two: a table, or a query"),
                             ({"by": ["a", "b"]}, "by: 2 columns are named, and the key has 1 fields"),
                             ({"key": None}, "key: it names the fields that say which row"),
                             ({"table": None, "query": "select a from b where c = :usr"}, "query: :usr is no field of key"),
                             ({"missing": "nul"}, "missing")]:
            with self.subTest(wrong=wrong):
                self.write([], **wrong)
                err = self.gale("check", "t.yaml", code=2)
                self.assertIn(words, err)
                self.assertRegex(err, r"t.yaml:\d+:\d+: ")


if __name__ == "__main__":
    main()
