#!/usr/bin/env python3
"""gale.bolt.SqliteSink, by gale's command line.

usage: sink_test.py GALE PLUGINS [CLASS...]
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from case import Case, Writing, main


class Writes(Writing):
    def test_each_tuple_is_a_row(self):
        self.table()
        self.write([(n, f"name {n}", n / 8) for n in range(25_000)], batch=1000)
        self.gale("run", "t.yaml")
        self.assertEqual(self.sql("SELECT count(*), sum(id), sum(amount), min(name), max(name) FROM orders"),
                         [(25000, 312487500, 39060937.5, "name 0", "name 9999")])

    def test_what_is_missing_is_made_when_it_is_told_to(self):
        self.write([(1, "a", 0.5), (2, "b", 2)], create=True, key=["id"])
        self.gale("run", "t.yaml")
        self.assertEqual(self.sql("SELECT id, name, amount, typeof(id), typeof(name), typeof(amount) FROM orders"),
                         [(1, "a", 0.5, "integer", "text", "real"), (2, "b", 2.0, "integer", "text", "real")])
        self.write([(1, "c", 7)], create=True, key=["id"])
        self.gale("run", "t.yaml")
        self.assertEqual(self.sql("SELECT name FROM orders ORDER BY id"), [("c",), ("b",)])

    def test_a_key_that_is_there_is_replaced_by_the_last_row(self):
        self.table()
        self.sql("INSERT INTO orders VALUES (1, 'old', 1), (99, 'stays', 9)")
        self.write([(n % 10, f"v{n}", n) for n in range(10_000)], key=["id"])
        self.gale("run", "t.yaml")
        self.assertEqual(self.sql("SELECT * FROM orders ORDER BY id"), [(n, f"v{9990 + n}", 9990 + n) for n in range(10)] + [(99, "stays", 9)])

    def test_what_is_there_stays_when_it_is_told_to(self):
        self.table()
        self.sql("INSERT INTO orders VALUES (1, 'old', 1)")
        self.write([(n % 10, f"v{n}", n) for n in range(1000)], key=["id"], onConflict="ignore")
        self.gale("run", "t.yaml")
        self.assertEqual(self.sql("SELECT * FROM orders ORDER BY id"), [(n, "old" if n == 1 else f"v{n}", 1 if n == 1 else n) for n in range(10)])

    def test_a_statement_takes_fields_by_their_names(self):
        self.sql("CREATE TABLE stock (item TEXT PRIMARY KEY, n INTEGER)")
        self.sql("INSERT INTO stock VALUES ('a', 100), ('b', 100)")
        self.write([(n, "ab"[n % 2], 1) for n in range(30)], table=None,
                   statement="update stock set n = n - :amount /* not :this */ where item = :name -- nor :that\n and ':x' <> $name returning n")
        self.gale("run", "t.yaml")
        self.assertEqual(self.sql("SELECT * FROM stock ORDER BY item"), [("a", 85), ("b", 85)])

    def test_rows_that_break_a_constraint_are_rejected_alone(self):
        self.table()
        self.sql("INSERT INTO orders VALUES (500, 'there', 1)")
        self.write([(n, "n", -1 if n in (3, 4, 777) else 1) for n in range(1000)])
        err = self.gale("run", "t.yaml", code=1)
        self.assertEqual(self.sql("SELECT count(*), sum(name = 'there') FROM orders"), [(997, 1)])
        self.assertIn("CHECK constraint failed: amount >= 0", err)
        self.assertIn("UNIQUE constraint failed: orders.id", err)

    def test_also_by_a_trigger_that_undoes_the_transaction(self):
        self.table()
        self.sql("CREATE TRIGGER no BEFORE INSERT ON orders WHEN new.id % 400 = 7 BEGIN SELECT raise(ROLLBACK, 'not this one'); END")
        self.write([(n, "n", 1) for n in range(1000)])
        self.assertIn("not this one", self.gale("run", "t.yaml", code=1))
        self.assertEqual(self.sql("SELECT count(*), count(DISTINCT id), sum(id IN (7, 407, 807)) FROM orders"), [(997, 997, 0)])

    def test_and_what_a_function_of_the_statement_does_not_take(self):
        self.table()
        self.write([(1, '{"a": 5}', 1), (2, "{", 1), (3, '{"a": 7}', 1)], table=None,
                   statement="insert into orders values (:id, json_extract(:name, '$.a'), :amount)")
        self.assertIn("malformed JSON", self.gale("run", "t.yaml", code=1))
        self.assertEqual(self.sql("SELECT id, name FROM orders"), [(1, "5"), (3, "7")])

    def test_fields_may_be_columns_of_other_and_odd_names(self):
        self.sql('CREATE TABLE "odd ""`t" ("a`b" INTEGER, "select" TEXT)')
        self.write([(1, "x", 0)], table='odd "`t', fields="id int, name, amount float", columns=["a`b", "select", "rowid"])
        self.gale("run", "t.yaml")
        self.assertEqual(self.sql('SELECT rowid, * FROM "odd ""`t"'), [(0, 1, "x")])

    def test_the_journal_is_as_it_is_set(self):
        for journal, expected in (("wal", "wal"), ("keep", "wal"), ("delete", "delete"), ("keep", "delete")):
            with self.subTest(journal=journal):
                self.write([(1, "a", 1)], create=True, journal=journal, sync="normal")
                self.gale("run", "t.yaml")
                self.assertEqual(self.sql("PRAGMA journal_mode"), [(expected,)])


class Once(Writing):
    """Durable runs."""

    KILLS, ROWS, MOST = 6, 13_000, 0.2

    def kill(self, **sink):
        self.write([(n, f"name {n}", n) for n in range(self.ROWS)], **sink)
        self.run_until_killed(self.KILLS, "--state", "state", "--rate", "10000", most=self.MOST)
        self.assertEqual(self.sql("SELECT count(*), count(DISTINCT id), sum(id) FROM orders"),
                         [(self.ROWS, self.ROWS, self.ROWS * (self.ROWS - 1) // 2)])
        markers = self.sql("SELECT id, epoch > 0, at > 1.7e9 FROM gale_markers")  # of the last runs
        self.assertEqual(set(markers), {("write/sink/0", 1, 1)})
        self.assertLess(len(markers), 2 + self.KILLS // 2)

    def test_a_run_that_is_killed_again_and_again_has_each_row_once(self):
        self.table(keyed=False)
        self.kill()

    def test_also_with_a_log_of_its_own_and_tables_that_are_made(self):
        self.kill(create=True, journal="wal")

    def test_a_run_from_an_older_state_writes_again_what_came_since_whenever_it_is_killed(self):
        """The database is not set back with it."""
        self.table(keyed=False)
        self.write([(n, "n", 1) for n in range(3000)])
        count = lambda: self.sql("SELECT count(*) FROM orders")[0][0]
        self.start("--state", "state", "--rate", "2000")
        self.wait_for(lambda: count() > 500)
        self.gale("checkpoint", "older", "--state", "state")
        self.assertEqual(self.process.wait(60), 0, self.log())
        self.assertEqual(count(), 3000)
        self.gale("state", "reset", "state", "--yes")
        self.start("--state", "state", "--from", "older", "--rate", "2000")
        for _ in range(4):  # each has a checkpoint before it is killed: one without begins anew
            before = count()
            self.wait_for(lambda: count() > before or self.process.poll() is not None)
            self.process.kill()
            self.process.wait()
            self.start("--state", "state", "--rate", "2000")
        self.assertEqual(self.process.wait(60), 0, self.log())
        times = self.sql("SELECT id, count(*) FROM orders GROUP BY id ORDER BY id")
        self.assertEqual([n for n, _ in times], list(range(3000)))
        again = [n for n, times in times if times == 2]
        self.assertEqual(again, list(range(again[0], 3000)))
        self.assertGreater(again[0], 500)

    def test_a_row_that_is_refused_ends_the_run_in_words(self):
        self.table()
        self.write([(1, "a", 1), (2, "b", -1)])
        err = self.gale("run", "t.yaml", "--state", "state", code=1)
        self.assertIn("a row is refused (a table in the property `refused` takes such): CHECK constraint failed", err)
        self.assertEqual(self.sql("SELECT count(*) FROM orders"), [(0,)])

    def test_or_is_put_aside_with_words(self):
        self.table()
        self.write([(n, "a", -1 if n in (7, 500) else 1) for n in range(1000)], refused="gale_refused", key=["id"])
        said = self.gale("run", "t.yaml", "--state", "state")
        self.assertRegex("".join(said), r"(?s)sink: .*2 so far, and in the table gale_refused: CHECK constraint failed: amount >= 0")
        self.assertEqual(self.sql("SELECT count(*) FROM orders"), [(998,)])
        self.assertEqual(self.sql("SELECT target, why, line FROM gale_refused ORDER BY rowid"),
                         [("orders", "CHECK constraint failed: amount >= 0", '{"id":%d,"name":"a","amount":-1.0}' % n) for n in (7, 500)])

    def test_what_could_not_be_written_when_a_run_is_ended_the_next_one_writes(self):
        self.sql("CREATE TABLE other (x)")
        self.write([(n, "n", 1) for n in range(3000)])
        for _ in range(2):
            at = len(self.log())
            self.start("--state", "state", "--rate", "1000")
            self.wait_for(lambda: "no such table: orders" in self.log()[at:])
            self.process.send_signal(signal.SIGTERM)
            self.assertEqual(self.process.wait(30), 0, self.log())
        self.table()
        self.gale("run", "t.yaml", "--state", "state")
        self.assertEqual(self.sql("SELECT count(*), count(DISTINCT id) FROM orders"), [(3000, 3000)])


class Kills(Once):
    """The same with fifty kills."""

    KILLS, ROWS, MOST = 50, 130_000, 0.3


class Faults(Writing):
    """Each is told in words, held, and gone on with when it is over; none is lost, and none comes twice."""

    def all_are_there(self, count, code=0):
        self.assertEqual(self.process.wait(60), code, self.log())
        self.assertEqual(self.sql("SELECT count(*), count(DISTINCT id) FROM orders"), [(count, count)])

    def test_a_lock_of_somebody_else_is_told_and_waited_for(self):
        for state in ((), ("--state", "state")):
            with self.subTest(state=state):
                self.script("DROP TABLE IF EXISTS orders; CREATE TABLE orders (id INTEGER, name, amount)")
                self.write([(n, "n", 1) for n in range(2000)], timeout="100ms")
                other = self.connect()
                other.execute("BEGIN EXCLUSIVE")
                at = len(self.log())
                self.start(*state)
                self.wait_for(lambda: "shop.db: it is locked: somebody else writes to it, for longer than 0.1 s (timeout)" in self.log()[at:])
                other.execute("COMMIT")
                self.all_are_there(2000)

    def test_while_it_is_locked_the_executor_goes_on(self):
        """A second sink in the same topology, and on the same executor, writes meanwhile."""
        self.table()
        self.write([(n, "n", 1) for n in range(500)], timeout="60s")
        path = self.path / "t.yaml"
        path.write_text(path.read_text().replace("streams:", "  - {id: file, className: gale.bolt.FileSink, properties: [{name: path, value: out.tsv}]}\nstreams:").replace(
            "  - {from: fields, to: sink", "  - {from: fields, to: file, grouping: {type: SHUFFLE}}\n  - {from: fields, to: sink"))
        other = self.connect()
        other.execute("BEGIN EXCLUSIVE")
        self.start("--executors", "1")
        out = self.path / "out.tsv"
        self.wait_for(lambda: out.exists() and len(out.read_text().splitlines()) == 500)
        self.assertIsNone(self.process.poll())
        other.execute("COMMIT")
        self.all_are_there(500)

    def test_a_table_that_is_missing_and_a_column_that_goes_are_told_and_mended_while_it_runs(self):
        self.sql("CREATE TABLE other (x)")
        self.write([(n, "n", 1) for n in range(3000)], linger="200ms")
        self.start("--rate", "600")
        self.wait_for(lambda: "no such table: orders" in self.log())
        self.table()
        self.wait_for(lambda: self.sql("SELECT count(*) FROM orders")[0][0] > 100)
        self.sql("ALTER TABLE orders RENAME COLUMN amount TO total")
        self.wait_for(lambda: "has no column named amount" in self.log())
        self.sql("ALTER TABLE orders RENAME COLUMN total TO amount")
        self.all_are_there(3000)

    def test_a_file_that_is_missing_or_none_of_sqlites_or_damaged(self):
        self.write([(n, "n", 1) for n in range(100)])
        self.start()
        self.wait_for(lambda: "unable to open database file: No such file or directory" in self.log())
        (self.path / "shop.db").write_text("this is a text, and no database at all " * 50)
        self.wait_for(lambda: "it is no database of SQLite's: file is not a database" in self.log())
        (self.path / "other.db").unlink(missing_ok=True)
        self.script("CREATE TABLE orders (id INTEGER, name, amount); CREATE INDEX i ON orders (id)", "other.db")
        whole = (self.path / "other.db").read_bytes()
        (self.path / "bad.db").write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
        os.replace(self.path / "bad.db", self.path / "shop.db")
        self.wait_for(lambda: "it is damaged: database disk image is malformed" in self.log())
        os.replace(self.path / "other.db", self.path / "shop.db")
        self.all_are_there(100)

    def test_a_file_that_is_moved_away_is_written_to_no_more(self):
        self.table()
        self.write([(n, "n", 1) for n in range(4000)], batch=100)
        self.start("--rate", "1000")  # four seconds, in whose first it is moved
        self.wait_for(lambda: self.sql("SELECT count(*) FROM orders")[0][0] > 200)
        os.rename(self.path / "shop.db", self.path / "old.db")
        self.wait_for(lambda: "unable to open database file" in self.log())
        before = self.sql("SELECT count(*) FROM orders", "old.db")[0][0]
        self.table()
        self.assertEqual(self.process.wait(60), 0, self.log())
        self.assertEqual(self.sql("SELECT count(*) FROM orders", "old.db")[0][0], before)
        self.assertEqual(before + self.sql("SELECT count(*) FROM orders")[0][0], 4000)

    def small_disk(self, size):
        if os.geteuid() != 0:
            self.skipTest("only root can mount a small disk")
        disk = tempfile.mkdtemp(prefix="gale-disk-")
        self.addCleanup(os.rmdir, disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], capture_output=True).returncode:
            self.skipTest("nothing can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", disk])
        return Path(disk)

    def test_a_disk_that_is_full_is_told_and_waited_for(self):
        for state in ((), ("--state", "state")):
            with self.subTest(state=state):
                disk = self.small_disk("512k")
                (self.path / "shop.db").unlink(missing_ok=True)
                (self.path / "shop.db").symlink_to(disk / "shop.db")
                self.sql("CREATE TABLE orders (id INTEGER, name, amount)")
                self.write([(n, "x" * 100, n) for n in range(20_000)], batch=1000, path=str(disk / "shop.db"))
                at = len(self.log())
                self.start(*state)
                self.wait_for(lambda: "there is no room for it: database or disk is full" in self.log()[at:])
                subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
                self.all_are_there(20_000)

    def test_a_file_that_may_only_be_read(self):
        disk = self.small_disk("8m")
        (self.path / "shop.db").symlink_to(disk / "shop.db")
        self.table()
        self.write([(n, "n", 1) for n in range(100)], path=str(disk / "shop.db"))
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        self.assertIn("it may only be read: Read-only file system (path)", self.gale("run", "t.yaml", code=3))
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
        os.rename(disk / "shop.db", disk / "other.db")
        self.start()
        self.wait_for(lambda: "unable to open database file" in self.log())
        self.process.send_signal(signal.SIGSTOP) # while it has none open
        os.rename(disk / "other.db", disk / "shop.db")
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        self.process.send_signal(signal.SIGCONT)
        self.wait_for(lambda: "it may only be read" in self.log())
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
        self.all_are_there(100)

    def test_what_could_not_be_written_is_answered_as_what_was_stopped(self):
        self.write([(n, "n", 1) for n in range(100)], path="nothing.db")
        self.start("--end-within", "1")
        self.wait_for(lambda: "unable to open database file" in self.log())
        self.process.send_signal(signal.SIGTERM)
        self.assertNotEqual(self.process.wait(30), 0)
        self.assertIn("0 acked, 0 failed, 0 timed out, 100 stopped", self.log())


class Words(Writing):
    def test_a_path_that_can_be_no_database_is_told_before_anything_runs(self):
        for state in ((), ("--state", "state")):
            self.is_refused_at_the_start(lambda path: self.write([(1, "n", 1)], path=path), *state)

    def test_at_the_end_what_belongs_to_no_tree_is_waited_for_and_given_up_in_words(self):
        self.table()
        other = self.connect()
        other.execute("BEGIN EXCLUSIVE")
        self.write([(n, "n", 1) for n in range(10)], timeout=1, finishWait=2)
        self.belongs_to_no_tree()
        said = self.gale("run", "t.yaml", code=1)
        self.assertIn("sqlite shop.db: 10 tuples were not written within 2 s (finishWait)", said)
        self.assertIn("10 rejected by sink, of no tree", said)
        self.write([(n, "n", 1) for n in range(10)], timeout=1)
        self.belongs_to_no_tree()
        self.start("--end-within", "1")
        self.ends_soon("it is locked: somebody else writes to it, for longer than 1 s (timeout)")
        self.start()
        time.sleep(1)
        other.execute("COMMIT")
        self.assertEqual(self.process.wait(30), 0, self.log())
        self.assertEqual(self.sql("SELECT count(*) FROM orders"), [(10,)])

    def test_what_is_wrong_is_told_before_a_row_comes_and_when_it_is_over_too(self):
        self.write([])
        text = (self.path / "t.yaml").read_text()
        (self.path / "t.yaml").write_text(text.replace("{name: path, value: in.tsv}", "{name: path, value: in.tsv}, {name: follow, value: true}"))
        self.start()
        self.wait_for(lambda: "is not well: sqlite shop.db: unable to open database file: No such file or directory" in self.log())
        self.sql("CREATE TABLE other (x)")
        self.wait_for(lambda: "no such table: orders" in self.log())
        self.table()
        self.wait_for(lambda: "is well again" in self.log())
        self.assertEqual(self.ends_soon(), 0)
        self.assertEqual(self.sql("SELECT count(*) FROM orders"), [(0,)])

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_so_is_one_that_may_not_be_written_to(self):
        self.table()
        (self.path / "closed").mkdir()
        (self.path / "closed").chmod(0o500)
        self.write([(1, "n", 1)], path="closed/shop.db", create=True)
        self.assertIn("its folder 'closed' may not be written to: Permission denied (path)", self.gale("run", "t.yaml", code=3))
        (self.path / "shop.db").chmod(0o400)
        self.write([(1, "n", 1)])
        self.assertIn("sqlite shop.db: it may only be read: Permission denied (path)", self.gale("run", "t.yaml", code=3))

    def test_a_durable_run_ends_soon_while_it_is_locked(self):
        self.table()
        other = self.connect()
        other.execute("BEGIN EXCLUSIVE")
        self.write([(n, "n", 1) for n in range(10)], timeout=60)
        self.start("--state", "state")
        self.ends_soon("it is locked: somebody else writes to it, for longer than 1 s;")
        other.execute("COMMIT")
        self.gale("run", "t.yaml", "--state", "state")
        self.assertEqual(self.sql("SELECT count(*) FROM orders"), [(10,)])

    def test_what_is_wrong_with_a_file_is_told_at_its_place(self):
        for wrong, words in [({"path": ":memory:"}, "path: ':memory:' is no file"),
                             ({"columns": ["a"]}, "columns: 1 are named, and there are 3 fields"),
                             ({"key": ["nr"]}, "key: nr is none of the columns that are written"),
                             ({"statement": "delete from x where a = :id"}, "table: it is one of the two: a table, or a statement"),
                             ({"table": None}, "table: it is one of the two: a table, or a statement"),
                             ({"table": None, "statement": "delete from x where a = ?"}, "statement: ? has no name: parameters are named by fields, as in :id"),
                             ({"table": None, "statement": "delete from x"}, "statement: it has no parameter that a field could be, as in :id"),
                             ({"table": None, "statement": "delete from x where a = :nr"}, "statement: :nr is no field of what comes in: id, name, amount"),
                             ({"table": None, "statement": "delete from x where a = :id", "create": True}, "create: it is of a table"),
                             ({"journal": "wall"}, "journal"), ({"tabel": "x"}, "table")]:
            with self.subTest(wrong=wrong):
                self.write([], **wrong)
                err = self.gale("check", "t.yaml", code=2)
                self.assertIn(words, err)
                self.assertRegex(err, r"t.yaml:\d+:\d+: ")

    def test_a_statement_that_is_two_or_ends_the_transaction_is_told(self):
        self.table()
        for statement, words in (("delete from orders where id = :id; select 1", "there is more than one statement"),
                                 ("select :id; commit", "there is more than one statement")):
            with self.subTest(statement=statement):
                self.write([(1, "a", 1)], table=None, statement=statement)
                at = len(self.log())
                self.start()
                self.wait_for(lambda: words in self.log()[at:])
                self.process.kill()
                self.process.wait()


if __name__ == "__main__":
    main()
