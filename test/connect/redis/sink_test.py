#!/usr/bin/env python3
"""gale.bolt.RedisSink, by gale's command line, against a server of Debian's.

usage: sink_test.py GALE PLUGINS [CLASS...]
"""

import json
import random
import re
import signal
import socket
import subprocess
import threading
import time

from case import KILLS, SERVER_KILLS, Case, main, redis


class Writes(Case):
    """Each command."""
    SETTINGS = {"password": "sesame"}

    def test_xadd_appends_the_fields_in_order(self):
        self.write([(n, f"name {n}", n / 8) for n in range(5000)], "id int, name, amount float", command="XADD", key="orders")
        self.gale("run", "t.yaml")
        entries = self.server("XRANGE", "orders", "-", "+")
        self.assertEqual([fields for _, fields in entries], [["id", str(n), "name", f"name {n}", "amount", str(n / 8)] for n in range(5000)])

    def test_xadd_keeps_about_or_exactly_so_many(self):
        self.write([(n,) for n in range(5000)], "id int", command="XADD", key="about", maxLength=100)
        self.gale("run", "t.yaml")
        self.assertLess(self.server("XLEN", "about"), 1000)
        self.write([(n,) for n in range(500)], "id int", command="XADD", key="exact", maxLength=100, exactLength=True)
        self.gale("run", "t.yaml")
        self.assertEqual(self.server("XLEN", "exact"), 100)

    def test_hset_writes_the_fields_or_one(self):
        self.write([(1, "a"), (2, "b")], "id int, name", command="HSET", key="user:{id}", fields=["name"])
        self.gale("run", "t.yaml")
        self.assertEqual(self.server("HGETALL", "user:2"), ["name", "b"])
        self.write([(1, "a"), (2, "b")], "id int, name", command="HSET", key="users", member="{id}", value="<{name}> {{}}")
        self.gale("run", "t.yaml")
        self.assertEqual(self.server("HGETALL", "users"), ["1", "<a> {}", "2", "<b> {}"])

    def test_increments_add_up(self):
        rows = [(n % 3, n) for n in range(999)]
        sums = {k: sum(n for j, n in rows if j == k) for k in range(3)}
        self.write(rows, "k int, n int", command="HINCRBY", key="h", member="{k}", value="{n}")
        self.gale("run", "t.yaml")
        self.assertEqual(self.server("HGETALL", "h"), [str(x) for k in range(3) for x in (k, sums[k])])
        self.write(rows, "k int, n int", command="ZINCRBY", key="z", member="{k}")
        self.gale("run", "t.yaml")
        self.assertEqual(self.server("ZRANGE", "z", 0, -1, "WITHSCORES"), ["0", "333", "1", "333", "2", "333"])
        self.write(rows, "k int, n int", command="INCRBY", key="i:{k}")
        self.gale("run", "t.yaml")
        self.assertEqual(self.server("MGET", "i:0", "i:1"), ["333", "333"])
        self.write([(0.5,), (0.25,)], "n float", command="INCRBYFLOAT", key="f", value="{n}")
        self.gale("run", "t.yaml")
        self.assertEqual(self.server("GET", "f"), "0.75")
        self.write([(0.5,), (0.25,)], "n float", command="HINCRBYFLOAT", key="hf", member="m", value="{n}")
        self.gale("run", "t.yaml")
        self.assertEqual(self.server("HGET", "hf", "m"), "0.75")

    def test_sets_have_members_and_scores(self):
        self.write([(n, n * 1.5) for n in range(10)], "id int, score float", command="ZADD", key="z", member="m{id}", value="{score}")
        self.gale("run", "t.yaml")
        self.assertEqual(self.server("ZSCORE", "z", "m3"), "4.5")
        self.write([(n % 4,) for n in range(10)], "id int", command="SADD", key="s", member="m{id}")
        self.gale("run", "t.yaml")
        self.assertEqual(sorted(self.server("SMEMBERS", "s")), ["m0", "m1", "m2", "m3"])

    def test_set_writes_values_that_may_expire(self):
        self.write([(1, "a"), (2, "b")], "id int, name", command="SET", key="k:{id}", value="{name}", expire="90s")
        self.gale("run", "t.yaml")
        self.assertEqual(self.server("MGET", "k:1", "k:2"), ["a", "b"])
        self.assertTrue(0 < self.server("PTTL", "k:1") <= 90_000)
        self.write([(1, "c")], "id int, name", command="SET", key="k:{id}", value="{name}")
        self.gale("run", "t.yaml")
        self.assertEqual((self.server("GET", "k:1"), self.server("PTTL", "k:1")), ("c", -1))

    def test_lists_grow_at_either_end(self):
        for command, expected in (("RPUSH", ["1", "2", "3"]), ("LPUSH", ["3", "2", "1"])):
            self.write([(1,), (2,), (3,)], "id int", command=command, key=command, value="{id}")
            self.gale("run", "t.yaml")
            self.assertEqual(self.server("LRANGE", command, 0, -1), expected)

    def test_publish_reaches_who_listens(self):
        client = self.server.client()
        client("SUBSCRIBE", "c1")
        self.write([(1,), (2,)], "id int", command="PUBLISH", key="c{id}", value="<{id}>")
        self.gale("run", "t.yaml")
        self.assertEqual(client.reply(), ["message", "c1", "<1>"])
        client.close()

    def test_a_database_and_a_unix_socket_are_chosen(self):
        self.given["server"] = f"unix:{self.server.path}"
        self.write([(1,)], "id int", command="SET", key="k", value="{id}", database=3)
        self.gale("run", "t.yaml")
        self.assertEqual(self.server("GET", "k"), None)
        client = self.server.client()
        client("SELECT", 3)
        self.assertEqual(client("GET", "k"), "1")
        client.close()

    def test_what_a_text_may_have_arrives_as_it_is(self):
        odd = "a \\ back, 'q' \"d\" $3 *1 ünd ☃ \x07"
        self.write([(1, odd), (2, "x" * 3_000_000)], "id int, name", command="SET", key="k{id}", value="{name}")
        self.gale("run", "t.yaml")
        self.assertEqual(self.server("MGET", "k1", "k2"), [odd, "x" * 3_000_000])

    def test_a_command_that_the_server_refuses_is_rejected_alone(self):
        self.server("SET", "h:7", "no hash")
        self.server("HSET", "h:8", "n", "no number")
        self.write([(n,) for n in range(1000)], "id int", command="HINCRBY", key="h:{id}", member="n")
        said = self.gale("run", "t.yaml", code=1)
        self.assertIn("WRONGTYPE Operation against a key holding the wrong kind of value", said)
        self.assertIn("ERR hash value is not an integer", said)
        self.assertEqual(sum(self.server("HGET", f"h:{n}", "n") == "1" for n in range(1000) if n != 7), 998)

    def test_a_tuple_that_is_no_command_is_rejected_in_words(self):
        self.write([(1, "x" * 2000), (2, "b")], "id int, name", command="SET", key="k{id}", value="{name}", memory=1000)
        self.assertRegex(self.gale("run", "t.yaml", code=1), "its command has 20.. bytes, and `memory` is 1000")
        self.assertEqual(self.server("GET", "k2"), "b")

    def test_many_more_than_may_be_on_their_way_all_arrive_in_order(self):
        self.write([(n,) for n in range(20_000)], "id int", command="RPUSH", key="l", value="{id}", inFlight=7, memory=10_000)
        self.gale("run", "t.yaml")
        self.assertEqual(self.server("LRANGE", "l", 0, -1), [str(n) for n in range(20_000)])


class Words(Case):
    """What is said of what is wrong."""
    SETTINGS = {"password": "sesame"}

    def check(self, expected, rows=((1, "a"),), **sink):
        self.write(rows, "id int, name", **sink)
        said = self.gale("check", "t.yaml", code=2)
        self.assertIn(expected, said)
        self.assertRegex(said, r"t\.yaml:\d+:\d+: ")

    def test_a_text_that_is_only_the_name_of_a_field_is_warned_of(self):
        self.write([(1, "a")], "id int, name", command="RPUSH", key="name", value="{id}")
        self.assertIn("is the text 'name' for every tuple; '{name}' is the field of this name", self.gale("check", "t.yaml"))

    def test_settings_that_make_no_sense_are_refused_at_their_place(self):
        self.check("did you mean 'XADD'?", command="XAD", key="k")
        self.check("member: HINCRBY needs it", command="HINCRBY", key="k")
        self.check("member: SET has none", command="SET", key="k", member="m", value="v")
        self.check("value: HSET has both", command="HSET", key="k", member="m")
        self.check("key: what comes from 'fields' has no field 'idd', but id, name", command="XADD", key="k{idd}")
        self.check("value: a field stands in braces", command="SET", key="k", value="{id")
        self.check("maxLength: it is of XADD", command="SET", key="k", value="v", maxLength=3)
        self.check("expire: it is of SET", command="XADD", key="k", expire=3)
        self.check("fields: they are of XADD", command="SET", key="k", value="v", fields=["id"])
        self.check("user: where the password stands is missing", command="XADD", key="k", user="me", passwordFrom="")

    def test_a_server_that_is_none_is_refused_at_its_place(self):
        self.check("server: 'host:port:3' is none", command="XADD", key="k", server="host:port:3")
        self.check("tls: a UNIX socket is spoken to without", command="XADD", key="k", server="unix:/x", tls=True)
        self.check("ca: it is of TLS", command="XADD", key="k", ca="t.yaml")

    def unwell(self, expected, rows=((1, "a"),), **sink):
        self.write(rows, "id int, name", **sink)
        process = self.start()
        self.wait_for(lambda: expected in self.log())
        return process

    def test_a_wrong_password_is_told_and_not_shown(self):
        (self.path / "password").write_text("open-barley\n")
        process = self.unwell("the server says: WRONGPASS", command="XADD", key="k")
        (self.path / "password").write_text("sesame\n")  # it is read for each connection
        self.assertEqual(process.wait(timeout=90), 0, self.log())
        self.assertNotIn("barley", self.log())
        self.assertEqual(self.server("XLEN", "k"), 1)

    def test_a_missing_password_is_told(self):
        del self.given["passwordFrom"]
        self.unwell("the server says: NOAUTH Authentication required", command="XADD", key="k")

    def test_a_database_that_is_none_is_told(self):
        self.unwell("the server says: ERR DB index is out of range", command="XADD", key="k", database=99)

    def test_a_server_that_is_away_is_waited_for(self):
        port = redis.free_port()
        process = self.unwell("cannot connect: Connection refused", command="XADD", key="k", server=f"127.0.0.1:{port}", passwordFrom="password")
        other = redis.Server(port=port, password="sesame")
        self.addCleanup(other.close)
        self.assertEqual(process.wait(timeout=90), 0, self.log())
        self.assertEqual(other("XLEN", "k"), 1)

    def test_a_server_that_takes_nothing_now_is_waited_for(self):
        self.server("CONFIG", "SET", "maxmemory", 1)
        self.addCleanup(self.server, "CONFIG", "SET", "maxmemory", 0)
        process = self.unwell("the server says: OOM", rows=[(n, "a") for n in range(100)], command="XADD", key="k")
        self.server("CONFIG", "SET", "maxmemory", 0)
        self.assertEqual(process.wait(timeout=90), 0, self.log())
        self.assertEqual(self.server("XLEN", "k"), 100)

    def test_what_is_no_redis_is_told(self):
        def speak(listener):
            while True:
                try:
                    one, _ = listener.accept()
                except OSError:
                    return
                one.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                one.close()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=speak, args=(listener,), daemon=True).start()
            self.unwell("what it says is not Redis's", command="XADD", key="k", server=f"127.0.0.1:{listener.getsockname()[1]}")

    def test_what_was_not_written_at_the_end_is_told(self):
        self.write([(1, "a")], "id int, name", command="XADD", key="k", server=f"127.0.0.1:{redis.free_port()}", finishWait=1)
        process = self.start()
        self.wait_for(lambda: "cannot connect" in self.log())
        process.send_signal(signal.SIGTERM)
        self.assertNotEqual(process.wait(timeout=60), 0)


class Once(Case):
    """Durable runs."""
    SETTINGS = {"sure": True}
    ROWS, KILLS = 5000 + 3000 * KILLS, KILLS

    def run_and_kill(self, rate, between=lambda: None):
        drawn = random.Random(7)
        for life in range(self.KILLS + 1):
            process = self.start("--state", "state", "--rate", str(rate))
            try:
                process.wait(drawn.uniform(0.1, 0.9) if life < self.KILLS else 120)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                between()
                continue
            self.assertEqual(process.returncode, 0, self.log())
            self.assertEqual(life, self.KILLS)
            return
        self.fail(self.log())

    def test_increments_are_exact_over_kills(self):
        rows = [(n % 10, n) for n in range(self.ROWS)]
        self.write(rows, "k int, n int", command="HINCRBY", key="h", member="{k}", value="{n}")
        self.run_and_kill(rate=5000)
        sums = [sum(n for j, n in rows if j == k) for k in range(10)]
        self.assertEqual([int(self.server("HGET", "h", k)) for k in range(10)], sums)

    def test_entries_are_there_once_and_in_order_over_kills(self):
        self.write([(n,) for n in range(self.ROWS)], "id int", command="XADD", key="s")
        self.run_and_kill(rate=5000)
        self.assertEqual([int(fields[1]) for _, fields in self.server("XRANGE", "s", "-", "+")], list(range(self.ROWS)))

    def test_increments_are_exact_beside_another_process_of_the_same_file(self):
        self.write([(n,) for n in range(self.ROWS)], "n int", command="INCRBY", key="i", value="{n}")
        other = self.start("--state", "other", "--rate", "5000")
        self.run_and_kill(rate=5000)
        self.assertEqual(other.wait(timeout=120), 0, self.log())
        self.assertEqual(int(self.server("GET", "i")), 2 * sum(range(self.ROWS)))

    def test_increments_are_exact_while_the_server_is_killed(self):
        def kill_server():
            self.server.kill()
            time.sleep(0.05)
            self.server.start()
        self.write([(n,) for n in range(self.ROWS)], "n int", command="INCRBY", key="i", value="{n}", timeout=5)
        self.run_and_kill(rate=5000, between=kill_server)
        self.assertEqual(int(self.server("GET", "i")), sum(range(self.ROWS)))

    def test_increments_are_exact_while_the_server_is_killed_under_load(self):
        self.write([(n,) for n in range(self.ROWS)], "n int", command="INCRBY", key="i", value="{n}", timeout=5)
        process = self.start("--state", "state", "--rate", "5000")
        drawn = random.Random(11)
        kills = 0
        while process.poll() is None and kills < SERVER_KILLS:
            time.sleep(drawn.uniform(0.1, 0.5))
            self.server.kill()
            time.sleep(drawn.uniform(0, 0.1))
            self.server.start()
            kills += 1
        self.assertEqual(process.wait(timeout=120), 0, self.log())
        self.assertEqual(int(self.server("GET", "i")), sum(range(self.ROWS)))

    def test_a_server_that_hangs_is_given_up_and_nothing_counts_twice(self):
        """What a connection of before has left behind is executed when it goes on, or what comes later is: not both."""
        self.write([(n,) for n in range(self.ROWS)], "n int", command="INCRBY", key="i", value="{n}", timeout=1)
        process = self.start("--state", "state", "--rate", "8000")
        self.wait_for(lambda: int(self.server("GET", "i") or 0) > 0)
        for _ in range(2):
            said = self.log().count("silent")
            self.server.hang()
            self.wait_for(lambda: self.log().count("silent") > said or process.poll() is not None)
            self.server.go_on()
            time.sleep(0.3)
        self.assertEqual(process.wait(timeout=120), 0, self.log())
        self.assertEqual(int(self.server("GET", "i")), sum(range(self.ROWS)))

    def test_a_command_that_is_refused_ends_the_run_or_is_kept(self):
        self.server("SET", "h:7", "no hash")
        self.write([(n,) for n in range(1000)], "id int", command="HINCRBY", key="h:{id}", member="n")
        said = self.gale("run", "t.yaml", "--state", "state", code=1)
        self.assertIn("HINCRBY h:7: WRONGTYPE Operation against a key holding the wrong kind of value: 1 of 1000 commands of a checkpoint is refused, "
                      "the others are in, and are not sent again (a stream in the property `refused` takes such)\n", said)
        self.assertEqual(sum(self.server("HGET", f"h:{n}", "n") == "1" for n in range(1000) if n != 7), 999)
        self.server("FLUSHALL")
        self.server("SET", "h:7", "no hash")
        self.write([(n,) for n in range(1000)], "id int", command="HINCRBY", key="h:{id}", member="n", refused="gone")
        said = self.gale("run", "t.yaml", "--state", "other")
        self.assertRegex(said, r"sink: 1 row is refused, 1 so far, and in the stream gone: HINCRBY h:7: WRONGTYPE")
        (_, fields), = self.server("XRANGE", "gone", "-", "+")
        kept = dict(zip(fields[::2], fields[1::2]))
        self.assertRegex(kept["marker"], r"^gale:marker:write/sink/0/\d+$")
        self.assertIn("WRONGTYPE", kept["why"])
        self.assertIn("h:7", kept["command"])

    def test_a_run_that_begins_anew_is_another_one(self):
        for count in (1, 2):
            self.write([(5,)], "n int", command="INCRBY", key="i", value="{n}")
            self.gale("run", "t.yaml", "--state", f"state{count}")
            self.assertEqual(self.server("GET", "i"), str(5 * count))


class Faults(Case):
    """A server that goes while commands are on their way, in a run that is not durable: at least once, in order."""
    SETTINGS = {"sure": True}

    def check_all(self, count):
        there = [int(text) for text in self.server("LRANGE", "l", 0, -1)]
        self.assertEqual(sorted(set(there)), list(range(count)))
        first = [n for i, n in enumerate(there) if n not in there[:i]] if len(there) < 5000 else list(dict.fromkeys(there))
        self.assertEqual(first, list(range(count)))

    def test_a_server_that_is_killed(self):
        self.write([(n,) for n in range(20_000)], "id int", command="RPUSH", key="l", value="{id}", timeout=5)
        process = self.start("--rate", "5000")
        drawn = random.Random(1)
        for _ in range(SERVER_KILLS):
            time.sleep(drawn.uniform(0.1, 0.6))
            self.server.kill()
            self.server.start()
        self.assertEqual(process.wait(timeout=120), 0, self.log())
        self.check_all(20_000)

    def test_a_server_that_hangs(self):
        self.write([(n,) for n in range(20_000)], "id int", command="RPUSH", key="l", value="{id}", timeout=0.5)
        process = self.start("--rate", "8000")
        self.wait_for(lambda: self.server("LLEN", "l") > 0)
        self.server.hang()
        self.wait_for(lambda: "it is silent for 0.5 s (timeout)" in self.log())
        self.server.go_on()
        self.assertEqual(process.wait(timeout=120), 0, self.log())
        self.check_all(20_000)

    def test_a_connection_that_is_cut_off(self):
        self.write([(n,) for n in range(20_000)], "id int", command="RPUSH", key="l", value="{id}")
        process = self.start("--rate", "10000")
        while process.poll() is None:
            self.server("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            time.sleep(0.3)
        self.assertEqual(process.returncode, 0, self.log())
        self.check_all(20_000)


if __name__ == "__main__":
    main()
