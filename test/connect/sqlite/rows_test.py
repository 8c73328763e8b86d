#!/usr/bin/env python3
"""gale.spout.SqliteRows and gale.bolt.SqliteLetters, by gale's command line.

usage: rows_test.py GALE PLUGINS [CLASS...]
"""

import json
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from case import ENVIRONMENT, GALE, Case, main, properties

READ = """
name: read
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100}}
spouts:
  - id: rows
    className: gale.spout.SqliteRows
    properties:
{rows}
bolts:
  - {{id: none, className: gale.bolt.Filter, properties: [{{name: where, value: "{where}"}}]}}
  - {{id: out, className: gale.bolt.FileSink, properties: [{{name: path, value: out.json}}, {{name: format, value: json}}]}}
streams:
  - {{from: rows, to: none, grouping: {{type: SHUFFLE}}}}
  - {{from: none, to: out, grouping: {{type: SHUFFLE}}}}
"""


NEVER_AGAIN = "INTEGER PRIMARY KEY AUTOINCREMENT"
LACKS = "table orders needs AUTOINCREMENT for delete in a durable run, or its numbers come again: add it, or use mark"


class Reading(Case):
    def write(self, where="true", **rows):
        given = {"path": "shop.db", "table": "orders", "columns": ["id", "name as who"], **rows}
        (self.path / "t.yaml").write_text(READ.format(rows=properties(**given), where=where))

    def orders(self, first, last, more="", key="INTEGER PRIMARY KEY"):
        self.script(f"CREATE TABLE IF NOT EXISTS orders (id {key}, name, done TEXT{more});"
                    f"WITH RECURSIVE n(n) AS (VALUES ({first}) UNION ALL SELECT n + 1 FROM n WHERE n < {last}) INSERT INTO orders SELECT n, 'n' || n, NULL FROM n")

    def out(self):
        path = self.path / "out.json"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def ids(self):
        return [row["id"] for row in self.out()]


class Rows(Reading):
    def test_rows_come_in_order_and_the_run_ends_behind_the_last(self):
        self.orders(1, 5000)
        self.write()
        self.gale("run", "t.yaml")
        self.assertEqual(self.out(), [{"id": n, "who": f"n{n}"} for n in range(1, 5001)])
        self.assertEqual(self.sql("SELECT count(*) FROM orders"), [(5000,)])

    def test_values_are_what_they_are(self):
        self.sql("CREATE TABLE orders (name)")
        self.sql("INSERT INTO orders VALUES (NULL), (1), (-9223372036854775808), (0.5), ('text'), (x'00ff'), ('')")
        self.write(columns=["name as who"])
        self.gale("run", "t.yaml")
        self.assertEqual([row["who"] for row in self.out()], [None, 1, -9223372036854775808, 0.5, "text", {"base64": "AP8="}, ""])

    def test_a_part_of_a_table_or_a_query_in_the_order_of_a_column(self):
        self.orders(1, 100)
        self.write(columns=["id", "name"])
        text = (self.path / "t.yaml").read_text()
        (self.path / "t.yaml").write_text(text.replace("      - {name: columns", "      - {name: where, value: \"id % 10 = 3 or name = 'n50'\"}\n      - {name: columns"))
        self.gale("run", "t.yaml")
        self.assertEqual(self.ids(), [3, 13, 23, 33, 43, 50, 53, 63, 73, 83, 93])
        self.write(table=None, query="select 100 - id as nr, id * 2 as id from orders -- all", by="nr", columns=["nr", "id"])
        self.gale("run", "t.yaml", "--overwrite")
        self.assertEqual(self.out(), [{"nr": n, "id": (100 - n) * 2} for n in range(100)])

    def test_a_path_that_can_be_no_database_is_told_before_anything_runs(self):
        self.is_refused_at_the_start(lambda path: self.write(path=path))

    def test_it_ends_soon_while_somebody_has_the_lock(self):
        self.orders(1, 5)
        other = self.connect()
        other.execute("BEGIN EXCLUSIVE")
        for delete in (None, True):
            with self.subTest(delete=delete):
                self.write(delete=delete, timeout=60)
                self.start()
                time.sleep(0.5)
                self.assertEqual(self.ends_soon(), 0)

    def test_also_when_rows_are_answered_that_cannot_be_deleted(self):
        self.orders(1, 5)
        self.script("PRAGMA journal_mode = wal")
        other = self.connect()
        other.execute("BEGIN IMMEDIATE")
        self.write(delete=True, follow=True, every="20ms", timeout=60)
        self.start()
        self.wait_for(lambda: self.ids() == [1, 2, 3, 4, 5])
        self.assertEqual(self.ends_soon(), 0)
        self.assertIn("5 rows are answered, and neither marked nor deleted: the next run has them again", self.log())

    def test_it_follows_a_table(self):
        self.orders(1, 10)
        self.write(follow=True, every="20ms")
        self.start()
        self.wait_for(lambda: self.ids() == list(range(1, 11)))
        self.orders(11, 2500)
        self.wait_for(lambda: self.ids() == list(range(1, 2501)))
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(30), 0, self.log())

    def test_rows_that_are_answered_are_deleted_and_new_ones_with_old_numbers_are_read(self):
        self.orders(1, 3000)
        self.write(follow=True, every="20ms", delete=True)
        self.start()
        self.wait_for(lambda: self.sql("SELECT count(*) FROM orders") == [(0,)])
        self.orders(1, 5)
        self.wait_for(lambda: self.sql("SELECT count(*) FROM orders") == [(0,)] and len(self.ids()) == 3005)
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(30), 0, self.log())
        self.assertEqual(self.ids(), list(range(1, 3001)) + list(range(1, 6)))

    def test_the_run_ends_when_all_are_deleted(self):
        for state in ((), ("--state", "state")):
            with self.subTest(state=state):
                self.orders(1, 3000, key=NEVER_AGAIN)
                self.write(delete=True)
                self.gale("run", "t.yaml", "--overwrite", *state)
                self.assertEqual((len(self.ids()), self.sql("SELECT count(*) FROM orders")), (3000, [(0,)]))

    def test_a_durable_run_does_not_delete_by_numbers_that_come_again(self):
        for key in ("INTEGER PRIMARY KEY", "INTEGER"):
            with self.subTest(key=key):
                self.sql("DROP TABLE IF EXISTS orders")
                self.orders(1, 10, key=key)
                self.write(delete=True)
                done = subprocess.run([GALE, "run", "t.yaml", "--state", "state"], cwd=self.path, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(LACKS, done.stderr)
                self.assertEqual((self.out(), self.sql("SELECT count(*) FROM orders")), ([], [(10,)]))

    def test_who_names_the_column_says_that_its_numbers_do_not_come_again(self):
        self.orders(1, 10)
        self.write(delete=True, by="id")
        self.gale("run", "t.yaml", "--state", "state")
        self.assertEqual((self.ids(), self.sql("SELECT count(*) FROM orders")), (list(range(1, 11)), [(0,)]))

    def test_a_table_that_comes_later_and_is_none_to_delete_from_is_told(self):
        self.write(delete=True, follow=True)
        self.start("--state", "state")
        self.wait_for(lambda: "sqlite shop.db" in self.log())
        self.orders(1, 10)
        self.wait_for(lambda: LACKS in self.log())
        self.assertEqual((self.out(), self.sql("SELECT count(*) FROM orders")), ([], [(10,)]))
        self.script(f"BEGIN; DROP TABLE orders; CREATE TABLE orders (id {NEVER_AGAIN}, name, done TEXT); COMMIT")
        self.orders(1, 10)
        self.wait_for(lambda: self.ids() == list(range(1, 11)) and self.sql("SELECT count(*) FROM orders") == [(0,)])
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(30), 0, self.log())

    def test_what_is_given_up_is_not_deleted_and_read_again_by_another_run(self):
        self.orders(1, 100)
        self.write(where="id % 10 > 0 or error('no tens')", delete=True, maxAttempts=2)
        self.gale("run", "t.yaml", code=1)
        self.assertEqual(self.sql("SELECT id FROM orders"), [(n,) for n in range(10, 101, 10)])
        self.write(delete=True)
        self.gale("run", "t.yaml", "--overwrite")
        self.assertEqual((self.ids(), self.sql("SELECT count(*) FROM orders")), (list(range(10, 101, 10)), [(0,)]))

    def test_a_mark_says_what_became_of_a_row_and_those_that_have_one_are_not_read(self):
        self.orders(1, 100)
        self.sql("UPDATE orders SET done = 'by hand' WHERE id = 5")
        self.write(where="id % 50 > 0 or error('no fifties')", mark="done", maxAttempts=1)
        self.gale("run", "t.yaml", code=1)
        self.assertEqual(sorted(self.ids()), [n for n in range(1, 101) if n % 50 and n != 5])
        self.assertEqual(self.sql("SELECT done, count(*) FROM orders WHERE id % 50 > 0 GROUP BY done"), [("by hand", 1), ("done", 97)])
        for words, in self.sql("SELECT done FROM orders WHERE id % 50 = 0"):
            self.assertRegex(words, "^failed: .*no fifties")
        self.sql("UPDATE orders SET done = NULL WHERE id = 50")
        self.write(mark="done")
        self.gale("run", "t.yaml", "--overwrite")
        self.assertEqual(self.ids(), [50])

    def test_what_is_wrong_with_the_file_is_told_and_waited_for(self):
        self.sql("CREATE TABLE other (x)")
        self.write(timeout="100ms", delete=True)
        self.start()
        self.wait_for(lambda: "no such table: orders" in self.log())
        self.orders(1, 10)
        self.assertEqual(self.process.wait(30), 0, self.log())
        self.assertEqual(self.ids(), list(range(1, 11)))

    def test_while_it_is_locked_deleting_waits_and_nothing_comes_twice(self):
        self.script("PRAGMA journal_mode = wal")
        self.orders(1, 10)
        self.write(timeout="100ms", delete=True)
        other = self.connect()
        other.execute("BEGIN IMMEDIATE")
        self.start()
        self.wait_for(lambda: "it is locked" in self.log())
        other.execute("COMMIT")
        self.assertEqual(self.process.wait(30), 0, self.log())
        self.assertEqual((self.ids(), self.sql("SELECT count(*) FROM orders")), (list(range(1, 11)), [(0,)]))

    def test_an_order_that_is_none_is_told(self):
        self.orders(1, 10)
        for query, words in (("select 1 as nr, id from orders", "1 stands twice in the column that orders the rows (by)"),
                             ("select 'x' || id as nr, id from orders", "the column that orders the rows (by) has what is no whole number")):
            with self.subTest(query=query):
                self.write(table=None, query=query, by="nr", columns=["id"])
                at = len(self.log())
                self.start()
                self.wait_for(lambda: words in self.log()[at:])
                self.process.kill()
                self.process.wait()

    def test_what_is_wrong_with_a_file_is_told_at_its_place(self):
        for wrong, words in [({"query": "select 1"}, "table: it is one of the two: a table, or a query"),
                             ({"table": None, "query": "select 1"}, "by: a query needs the column that orders its rows"),
                             ({"table": None, "query": "select 1", "by": "x", "delete": True}, "delete: rows of a table can be deleted, not of a query"),
                             ({"table": None, "query": "select 1", "by": "x", "mark": "m"}, "mark: it is of a table, not of a query"),
                             ({"delete": True, "mark": "m"}, "mark: it is one of the two: a row is marked, or deleted"),
                             ({"table": None, "query": "select :a", "by": "x"}, "query: :a is a parameter, and there is nothing that it could be"),
                             ({"columns": ["a as "]}, "columns: a name is empty")]:
            with self.subTest(wrong=wrong):
                self.write(**wrong)
                err = self.gale("check", "t.yaml", code=2)
                self.assertIn(words, err)
                self.assertRegex(err, r"t.yaml:\d+:\d+: ")


class RowsOnce(Reading):
    """Durable runs."""

    KILLS, ROWS, MOST = 6, 13_000, 0.2

    def kill(self, **rows):
        self.orders(1, self.ROWS, key=NEVER_AGAIN)
        self.write(**rows)
        self.run_until_killed(self.KILLS, "--state", "state", "--rate", "10000", most=self.MOST)
        self.assertEqual(sorted(self.ids()), list(range(1, self.ROWS + 1)))

    def test_a_run_that_is_killed_again_and_again_has_each_row_once(self):
        self.kill()

    def test_also_where_rows_are_deleted(self):
        self.kill(delete=True)
        self.assertEqual(self.sql("SELECT count(*) FROM orders"), [(0,)])

    def test_and_where_they_are_marked(self):
        self.kill(mark="done")
        self.assertEqual(self.sql("SELECT done, count(*) FROM orders GROUP BY done"), [("done", self.ROWS)])

    def test_rows_that_came_behind_the_end_of_a_finished_run_are_told(self):
        self.orders(1, 10)
        self.write()
        self.gale("run", "t.yaml", "--state", "state")
        self.gale("run", "t.yaml", "--state", "state")
        self.orders(11, 12)
        done = self.refused()
        self.assertIn("it has rows behind the end of a run that had finished: begin anew (gale state reset), or follow it", done.stderr)
        self.assertEqual(self.ids(), list(range(1, 11)))

    def test_a_place_in_another_table_is_refused(self):
        self.orders(1, 10)
        self.script("CREATE TABLE others AS SELECT * FROM orders")
        self.write(follow=True, every="20ms")
        self.start("--state", "state")
        self.wait_for(lambda: len(self.ids()) == 10)
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(30), 0, self.log())
        self.write(table="others", follow=True)
        done = self.refused()
        self.assertIn("is a place in another table or query, or by another column", done.stderr)

    def refused(self):
        done = subprocess.run([GALE, "run", "t.yaml", "--state", "state"], cwd=self.path, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        return done


class RowsKills(RowsOnce):
    """The same with fifty kills."""

    KILLS, ROWS, MOST = 50, 130_000, 0.3


LETTERS = """
name: orders
config: {topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100, topology.replay.attempts: 2, topology.replay.backoff.initial.secs: 0.01}
spouts:
  - {id: lines, className: gale.spout.File, properties: [{name: path, value: in.txt}]}
bolts:
  - {id: fields, className: gale.bolt.Csv, properties: [{name: fields, value: "id int, amount"}]}
  - {id: check, className: gale.bolt.Filter, properties: [{name: where, value: "tonumber(amount) and true or error('no amount')"}]}
  - {id: out, className: gale.bolt.FileSink, properties: [{name: path, value: out.json}, {name: format, value: json}]}
  - {id: letters, className: gale.bolt.SqliteLetters, properties: [{name: path, value: letters.db}]}
streams:
  - {from: lines, to: fields, grouping: {type: SHUFFLE}}
  - {from: fields, to: check, grouping: {type: SHUFFLE}}
  - {from: check, to: out, grouping: {type: SHUFFLE}}
  - {from: lines, to: letters, grouping: {type: SHUFFLE, streamId: __dead_letter}}
"""

REPLAY = LETTERS.replace("{id: lines, className: gale.spout.File, properties: [{name: path, value: in.txt}]}",
                         "{id: lines, className: gale.spout.SqliteRows, properties: {path: letters.db, table: letters, columns: [tuple], mark: replayed, where: \"component = 'lines'\"}}").replace(
    "bolts:\n", "bolts:\n  - {id: again, className: gale.bolt.Map, properties: {set: {line: \"json.decode(tuple)[1]\"}, keep: line}}\n").replace(
    "{from: lines, to: fields", "{from: lines, to: again, grouping: {type: SHUFFLE}}\n  - {from: again, to: fields")


class Letters(Reading):
    def run_lines(self, lines, *arguments, code=1):
        (self.path / "t.yaml").write_text(LETTERS)
        (self.path / "in.txt").write_text("".join(line + "\n" for line in lines))
        return self.gale("run", "t.yaml", *arguments, code=code)

    def test_each_letter_is_a_row_that_says_what_and_why(self):
        for state in ((), ("--state", "state")):
            with self.subTest(state=state):
                self.run_lines(["1,5", "2,x", 'odd "q" \\ \x01,y', "4,7"], "--overwrite", *state)
                rows = self.sql("SELECT id, topology, component, stream, tuple, reason, text LIKE '%no amount%', place, attempts, abs(time - unixepoch()) < 600, replayed FROM letters "
                                "WHERE tuple LIKE '%x%'", "letters.db")
                self.assertEqual(rows, [(rows[0][0], "orders", "lines", "default", '["2,x"]', "failed", 1, "check", 2, 1, None)] * 1)
                (self.path / "letters.db").unlink()

    def test_a_letter_goes_to_the_tool_and_back_as_a_line_of_a_file_of_dead_letters(self):
        """What the view has, `gale run --replay-dead-letters` reads."""
        lines = ["2,x", "7,ünd ☃ 'q' \\ /", "9,z"]
        self.run_lines(lines)
        view = self.sql("SELECT line FROM letters_lines ORDER BY id", "letters.db")
        self.assertEqual(len(view), 3)
        (self.path / "again.jsonl").write_text("".join(line + "\n" for line, in view))
        shown = self.gale("dead-letters", "show", "again.jsonl", "--json")
        self.assertEqual([json.loads(line)["tuple"] for line in shown.splitlines()], [[line] for line in lines])
        (self.path / "again.jsonl").write_text("".join(line.replace("2,x", "2,20").replace("9,z", "9,90") + "\n" for line, in view if "ünd" not in line))
        self.gale("run", "t.yaml", "--replay-dead-letters", "again.jsonl", "--overwrite")
        self.assertEqual(self.out(), [{"id": 2, "amount": "20"}, {"id": 9, "amount": "90"}])

    @unittest.skipUnless(shutil.which("sqlite3"), "there is no sqlite3")
    def test_people_open_them_with_sqlite3(self):
        self.run_lines(["1,x", "2,y"])
        done = subprocess.run("sqlite3 letters.db \"select count(*) from letters where reason = 'failed'\" && sqlite3 letters.db 'select line from letters_lines' > lines.jsonl",
                              shell=True, cwd=self.path, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("2\n", ""))
        self.assertIn("1,x", self.gale("dead-letters", "show", "lines.jsonl"))

    def test_they_are_replayed_from_there_and_marked(self):
        self.run_lines(["1,5", "2,x", "3,y"])
        self.sql("UPDATE letters SET tuple = json_array('2,22') WHERE tuple LIKE '%x%'", "letters.db")
        (self.path / "t.yaml").write_text(REPLAY.replace("name: orders", "name: again").replace("letters.db}]", "again.db}]"))
        self.gale("run", "t.yaml", "--overwrite", code=1)
        self.assertEqual(self.out(), [{"id": 2, "amount": "22"}])
        rows = self.sql("SELECT json_extract(tuple, '$[0]'), replayed FROM letters ORDER BY id", "letters.db")
        self.assertEqual(rows[0], ("2,22", "done"))
        self.assertEqual(rows[1][0], "3,y")
        self.assertRegex(rows[1][1], "^failed: .*no amount")

    def test_there_is_an_index_for_what_people_ask(self):
        self.run_lines(["1,x"])
        plan = self.sql("EXPLAIN QUERY PLAN SELECT * FROM letters WHERE component = 'lines' AND reason = 'timeout' ORDER BY time", "letters.db")
        self.assertIn("USING INDEX letters_by_reason", plan[0][3])

    def test_a_durable_run_that_is_killed_has_each_letter_once(self):
        (self.path / "t.yaml").write_text(LETTERS)
        (self.path / "in.txt").write_text("".join(f"{n},{'x' if n % 3 else 1}\n" for n in range(6000)))
        self.run_until_killed(4, "--state", "state", "--rate", "4000", code=1)
        self.assertEqual(self.sql("SELECT count(*), count(DISTINCT tuple) FROM letters", "letters.db"), [(4000, 4000)])


if __name__ == "__main__":
    main()
