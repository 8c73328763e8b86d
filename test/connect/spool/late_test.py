#!/usr/bin/env python3
"""A durable run whose sink commits with checkpoints, and whose system is away: checkpoints go on, and with them the answers to sources. By servers of Debian's: a
RabbitMQ queue, or a Redis stream, is read by gale through a disk buffer, or without one, into Redis or PostgreSQL, which is killed (-9) or stopped.

usage: late_test.py GALE PLUGINS CLASS...
"""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
BOUND = 300  # seconds: longer than any of this takes on any machine
SPOUT_BOUND = 200  # what the source gives without an answer

TOPOLOGY = """\
name: late
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100}}
spouts:
  - {{id: in, className: {spout}, properties: {given}}}
bolts:
  - {{id: out, className: {sink}, properties: {taken}}}
streams:
  - {{from: in, to: out, grouping: {{type: SHUFFLE}}{buffer}}}
"""
BUFFER = ", buffer: {disk: 50 MB, path: buffer}"


def load(name):
    """The server that the tests of a connector start."""
    sys.path.insert(0, str(HERE.parent / name))
    spec = importlib.util.spec_from_file_location(f"{name}_server", HERE.parent / name / "server.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REDIS, POSTGRES, RABBITMQ = map(load, ("redis", "postgres", "rabbitmq"))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.process = None

    def open(self, server):
        self.addCleanup(server.close)
        return server

    def write(self, spout, given, sink, taken, buffer=BUFFER):
        text = TOPOLOGY.format(spout=spout, given=json.dumps(given), sink=sink, taken=json.dumps(taken), buffer=buffer)
        (self.path / "t.yaml").write_text(text, encoding="utf-8")

    def environment(self):
        return {**os.environ, "GALE_PLUGIN_PATH": PLUGINS, "XDG_RUNTIME_DIR": str(self.path)}

    def start(self):
        log = open(self.path / "log", "a", encoding="utf-8")
        self.addCleanup(log.close)
        self.process = subprocess.Popen([GALE, "run", "t.yaml", "--state", "state"], cwd=self.path, env=self.environment(), stdout=log, stderr=log)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)

    def log(self):
        return (self.path / "log").read_text(encoding="utf-8")

    def wait_for(self, what, is_so):
        end = time.monotonic() + BOUND
        while not is_so():
            self.assertLess(time.monotonic(), end, f"{what}: it has not come\n{self.log()[-3000:]}")
            self.assertIsNone(self.process.poll(), f"{what}: it has ended\n{self.log()[-3000:]}")
            time.sleep(0.05)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.assertEqual(self.process.wait(BOUND), 0 if number == signal.SIGTERM else -number, self.log()[-3000:])


class Queue(Case):
    """A queue of RabbitMQ, which is told of each message when a checkpoint has it, and a list of Redis."""
    COUNT = 20 * SPOUT_BOUND

    def setUp(self):
        super().setUp()
        self.broker = self.open(RABBITMQ.Server())
        self.redis = self.open(REDIS.Server(sure=True))
        with self.broker.connect() as connection:
            connection.queue("orders")

    def write_all(self, buffer):
        (self.path / "password").write_text("guest\n", encoding="utf-8")
        given = {"url": self.broker.url(), "user": "guest", "passwordFrom": "password", "queue": "orders", "prefetch": SPOUT_BOUND, "emit": ["body"]}
        self.write("gale.spout.RabbitMQ", given, "gale.bolt.RedisSink", {"server": f"127.0.0.1:{self.redis.port}", "command": "RPUSH", "key": "all", "value": "{body}"}, buffer)

    def fill(self, first, count):
        with self.broker.connect() as connection:
            connection.fill("orders", [str(number) for number in range(first, first + count)])

    def is_empty(self):
        """Neither ready nor with a consumer."""
        said = self.broker.control("list_queues", "-q", "messages")
        return said.split() == ["messages", "0"]

    def arrived(self):
        return list(map(int, self.redis("LRANGE", "all", 0, -1)))

    def check(self, go, come_back, buffer):
        self.write_all(buffer)
        self.fill(0, 10)
        self.start()
        self.wait_for("some arrive", lambda: self.redis("LLEN", "all") == 10)
        go()
        self.fill(10, self.COUNT)
        self.wait_for("all is answered while it is away", self.is_empty)
        come_back()
        self.wait_for("all arrives", lambda: self.redis("LLEN", "all") == 10 + self.COUNT)
        self.assertEqual(self.arrived(), list(range(10 + self.COUNT)))
        self.end()

    def test_the_queue_is_emptied_into_a_disk_buffer_while_redis_is_killed(self):
        self.check(self.redis.kill, self.redis.start, BUFFER)
        self.assertIn("what was asked again is committed", self.log())

    def test_the_queue_is_emptied_into_a_disk_buffer_while_redis_does_not_answer(self):
        self.check(self.redis.hang, self.redis.go_on, BUFFER)

    def test_the_queue_is_emptied_without_a_buffer_too_as_far_as_the_sink_has_room(self):
        self.check(self.redis.kill, self.redis.start, "")


class Stream(Case):
    """A stream of Redis into a table of PostgreSQL: once each, whoever is killed."""
    COUNT = 4000

    def setUp(self):
        super().setUp()
        self.redis = self.open(REDIS.Server(sure=True))
        self.postgres = self.open(POSTGRES.Server())
        self.postgres.sql("CREATE TABLE arrived (number int)", "shop")

    def add(self, first, count):
        self.redis.many([("XADD", "numbers", "*", "number", number) for number in range(first, first + count)])

    def rows(self):
        return sorted(int(number) for (number,) in self.postgres.sql("SELECT number FROM arrived", "shop"))

    def pending(self):
        """What the group has neither answered nor been given."""
        try:
            (group,) = self.redis("XINFO", "GROUPS", "numbers")
        except (ValueError, REDIS.Wrong):
            return -1
        about = dict(zip(group[::2], group[1::2]))
        return about["pending"] + (about["lag"] or 0)

    def test_each_row_comes_once_though_gale_is_killed_while_the_database_is_away(self):
        given = {"server": f"127.0.0.1:{self.redis.port}", "streams": ["numbers"], "group": "gale", "fields": ["number"], "inFlight": SPOUT_BOUND, "batch": SPOUT_BOUND}
        self.write("gale.spout.RedisStream", given, "gale.bolt.PostgresSink", {"connection": self.postgres.connection(), "table": "arrived", "fields": ["number"]})
        self.add(0, 10)
        self.start()
        self.wait_for("some arrive", lambda: len(self.rows()) == 10)
        self.postgres.kill()
        for turn in range(4):
            self.add(10 + turn * self.COUNT, self.COUNT)
            self.wait_for("all is answered while it is away", lambda: self.pending() == 0)
            self.end(signal.SIGKILL if turn % 2 else signal.SIGTERM)
            self.start()
        self.postgres.start()
        self.wait_for("all arrives", lambda: len(self.rows()) >= 10 + 4 * self.COUNT)
        self.end()
        self.assertEqual(self.rows(), list(range(10 + 4 * self.COUNT)))


class Hang(Case):
    """A file that is followed into a list of Redis, which is stopped while it is asked to commit, and asked longer than a run takes to end."""

    def setUp(self):
        super().setUp()
        self.redis = self.open(REDIS.Server(sure=True))
        self.write("gale.spout.File", {"path": "in", "follow": True}, "gale.bolt.RedisSink",
                   {"server": f"127.0.0.1:{self.redis.port}", "command": "RPUSH", "key": "all", "value": "{line}", "timeout": 15}, "")
        self.add(0, 10)
        self.start()
        self.wait_for("some arrive", lambda: self.redis("LLEN", "all") == 10)
        self.redis.hang()
        self.add(10, 10)
        time.sleep(1)

    def add(self, first, count):
        with open(self.path / "in", "a", encoding="utf-8") as file:
            file.writelines(f"{number}\n" for number in range(first, first + count))

    def check(self, count):
        self.wait_for("all arrives", lambda: self.redis("LLEN", "all") >= count)
        self.end()
        self.assertEqual(list(map(int, self.redis("LRANGE", "all", 0, -1))), list(range(count)))

    def test_a_run_that_is_suspended_meanwhile_ends_well_and_the_next_one_commits(self):
        self.end()
        self.assertIn("gale: 'out' is still asked to commit, and does not answer", self.log())
        self.redis.go_on()
        self.start()
        self.check(20)

    def test_a_reload_waits_for_its_end(self):
        subprocess.run([GALE, "reload", "late"], cwd=self.path, env=self.environment(), check=True, timeout=BOUND)
        self.assertIn("is still asked to commit, and does not answer", self.log())
        self.add(20, 10)
        self.redis.go_on()
        self.check(30)


def main():
    needed = {"Queue": [RABBITMQ.programs, REDIS.program], "Stream": [REDIS.program, POSTGRES.programs], "Hang": [REDIS.program]}
    if not all(is_there() for name in sys.argv[3:] for is_there in needed[name]):
        print("there is no server: left out")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)


if __name__ == "__main__":
    main()
