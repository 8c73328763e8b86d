#!/usr/bin/env python3
"""The connector kafka against a real broker (KRaft), started and killed here in a folder of its own on loopback. script/connectors runs it.

usage: broker_test.py GALE PLUGINS CLUSTER JARS [TEST...]
"""

import collections
import itertools
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from kafka_test import Cluster, Reader, properties

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "postgres"))
import server as postgres

JARS = Path(sys.argv[4]).resolve()
GALE = str(Path(sys.argv[1]).resolve())
MINUTES = float(os.environ.get("GALE_TEST_MINUTES", "5"))

SERVER = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={folder}/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=3
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.retention.ms=-1
log.segment.bytes=1048576
"""

COPY = """
name: copy
config: {{topology.message.timeout.secs: 20}}
spouts:
  - id: messages
    className: gale.spout.Kafka
    properties:
      - {{name: brokers, value: "{brokers}"}}
      - {{name: topics, value: [{topic}]}}
      - {{name: group, value: "of-{topic}"}}
      - {{name: emit, value: [key, value]}}
      - {{name: commitEvery, value: 0.2}}
bolts:
  - id: sink
    className: gale.bolt.KafkaSink
    properties:
      - {{name: brokers, value: "{brokers}"}}
      - {{name: topic, value: copy-of-{topic}}}
      - {{name: key, value: key}}
      - {{name: value, value: value}}
streams:
  - {{from: messages, to: sink, grouping: {{type: SHUFFLE}}}}
"""


TO_POSTGRES = """
name: store
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100}}
spouts:
  - id: messages
    className: gale.spout.Kafka
    properties:
      - {{name: brokers, value: "{brokers}"}}
      - {{name: topics, value: [{topic}]}}
      - {{name: group, value: "of-{topic}"}}
      - {{name: emit, value: [partition, offset, value]}}
      - {{name: untilEnd, value: true}}
bolts:
  - id: sink
    className: gale.bolt.PostgresSink
    properties:
      - {{name: connection, value: "{connection}"}}
      - {{name: table, value: messages}}
      - {{name: timeout, value: 3s}}
streams:
  - {{from: messages, to: sink, grouping: {{type: SHUFFLE}}}}
"""


STAGES = ("""
name: split
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 200}}
spouts:
  - {{id: lines, className: gale.spout.Kafka, properties: {{brokers: "{brokers}", topics: [{lines}], group: split, untilEnd: true}}}}
bolts:
  - {{id: words, className: gale.bolt.Split}}
  - {{id: out, className: gale.bolt.KafkaSink, properties: {{brokers: "{brokers}", topic: {words}, key: word, value: word, markers: gale-markers}}}}
streams:
  - {{from: lines, to: words, grouping: {{type: SHUFFLE}}}}
  - {{from: words, to: out, grouping: {{type: SHUFFLE}}}}
""", """
name: count
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 200}}
spouts:
  - {{id: words, className: gale.spout.Kafka, properties: {{brokers: "{brokers}", topics: [{words}], group: count, emit: [key]}}}}
bolts:
  - {{id: count, className: gale.bolt.Count, parallelism: 2, properties: {{key: key}}}}
  - {{id: out, className: gale.bolt.FileSink, properties: {{path: counts.tsv}}}}
streams:
  - {{from: words, to: count, grouping: {{type: FIELDS, args: [key]}}}}
  - {{from: count, to: out, grouping: {{type: SHUFFLE}}}}
""")


VIA = """
name: through
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 200}}
spouts:
  - {{id: lines, className: gale.spout.Kafka, properties: {{brokers: "{brokers}", topics: [{lines}], group: through-{lines}}}}}
bolts:
  - {{id: words, className: gale.bolt.Split}}
  - {{id: count, className: gale.bolt.Count, parallelism: 2}}
  - {{id: out, className: gale.bolt.FileSink, properties: {{path: counts.tsv}}}}
streams:
  - {{from: lines, to: words, grouping: {{type: SHUFFLE}}}}
  - {{from: words, to: count, grouping: {{type: FIELDS, args: [word]}}, via: {{kafka: {{brokers: "{brokers}", topic: {words}}}}}}}
  - {{from: count, to: out, grouping: {{type: SHUFFLE}}}}
"""


class Broker:
    def __init__(self):
        self.folder = Path(tempfile.mkdtemp())
        self.port = postgres.free_port()
        (self.folder / "server.properties").write_text(SERVER.format(port=self.port, controller=postgres.free_port(), folder=self.folder))
        self.java("kafka.tools.StorageTool", "format", "-t", "2HGQy586SoOc9-opM85UKQ", "-c", "server.properties").wait()
        self.start()

    def java(self, *words):
        with open(self.folder / "log", "a") as log:
            return subprocess.Popen(["java", "-Xmx512m", "-cp", f"{JARS}/*", *words], cwd=self.folder, stdout=log, stderr=log)

    def start(self):
        self.process = self.java("kafka.Kafka", "server.properties")
        end = time.monotonic() + 120
        while True:
            assert self.process.poll() is None and time.monotonic() < end, (self.folder / "log").read_text()[-3000:]
            try:
                return socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.1)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.kill()
        shutil.rmtree(self.folder)


class Real(Reader):
    names = itertools.count()

    @classmethod
    def setUpClass(cls):
        cls.broker = Broker()

    @classmethod
    def tearDownClass(cls):
        cls.broker.end()

    def new_cluster(self):
        return Cluster(f"127.0.0.1:{self.broker.port}")

    def new_topic(self, count, partitions=4):
        topic = f"topic-{next(self.names)}"
        self.cluster.ask("topic", topic, partitions)
        self.cluster.ask("produce", topic, 0, count)
        return topic

    def write(self, topic, **more):
        super().write(**more)
        path = self.path / "topology.yaml"
        path.write_text(path.read_text().replace("value: [in]", f"value: [{topic}]").replace("value: readers", f"value: of-{topic}"))

    def committed(self, topic):
        return sum(self.cluster.committed(topic, f"of-{topic}").values())

    def test_processes_that_come_and_go_read_each_message_once(self):
        """Who hands a partition over has its answers, and has told the group, first."""
        count = 200000
        for strategy in ("range", "cooperative-sticky"):
            with self.subTest(strategy):
                topic = self.new_topic(count)

                def go(name):
                    self.write(topic, spout=properties(commitEvery=0.5), kafka={"partition.assignment.strategy": strategy}, name=name,
                               to=f"{{name: path, value: {name}-{topic}.tsv}}")
                    return self.start("--rate", "15000")

                def read(name):
                    return self.lines(f"{name}-{topic}.tsv")
                one = go("one")
                self.wait_for(lambda: len(read("one")) > 20000, one)
                two = go("two")
                self.wait_for(lambda: len(read("two")) > 20000, two)
                self.end(one)
                three = go("three")
                self.wait_for(lambda: self.committed(topic) >= count, three)
                self.end(two)
                self.end(three)
                every = collections.Counter(read("one") + read("two") + read("three"))
                self.assertEqual(set(every), {f"message {n}" for n in range(count)})
                self.assertEqual(sum(every.values()), count)

    def test_processes_that_come_and_go_at_random_for_minutes_commit_nothing_unanswered(self):
        for strategy in ("range", "cooperative-sticky"):
            with self.subTest(strategy):
                self.come_and_go(strategy, MINUTES / 2)

    def come_and_go(self, strategy, minutes):
        """Up to three, ended or killed; what the group was told is compared with what is in their files, again and again."""
        topic, drawn, made, processes, answered, places = self.new_topic(0), random.Random(31), 0, [], collections.defaultdict(set), {}

        def begin():
            name = f"{strategy}-{len(places)}"
            places[name] = 0
            self.write(topic, spout=properties(commitEvery=0.2, emit="partition, offset"), name=name, to=f"{{name: path, value: {name}.tsv}}",
                       kafka={"session.timeout.ms": 6000, "partition.assignment.strategy": strategy})
            processes.append(self.start())

        def look():
            for name, at in places.items():
                path = self.path / f"{name}.tsv"
                if not path.exists():
                    continue
                with open(path, "rb") as file:
                    file.seek(at)
                    text = file.read()
                text = text[:text.rfind(b"\n") + 1]
                places[name] += len(text)
                for line in text.splitlines():
                    partition, offset = line.split(b"\t")
                    answered[int(partition)].add(int(offset))

        def check():
            told = self.cluster.committed(topic, f"of-{topic}")  # first: files only grow
            look()
            for partition, offset in told.items():
                missing = set(range(offset)) - answered[partition]
                self.assertFalse(missing, f"{partition} is committed up to {offset}, without {len(missing)}")
            return sum(told.values())
        end = time.monotonic() + minutes * 60
        begin()
        while time.monotonic() < end:
            self.cluster.ask("produce", topic, made, 2000)
            made += 2000
            time.sleep(drawn.uniform(0, 1))
            what = drawn.random()
            if what < 0.25 and len(processes) < 3:
                begin()
            elif what < 0.4 and len(processes) > 1:
                one = processes.pop(drawn.randrange(len(processes)))
                if what < 0.33:
                    self.end(one)
                else:
                    one.kill()
                    one.communicate()
            check()
        self.wait_for(lambda: check() >= made, what="not all was committed")
        for one in processes:
            self.end(one)
        self.assertEqual(sum(map(len, answered.values())), made)

    def begin(self, name, *words):
        log = open(self.path / f"{name}.log", "a")
        self.addCleanup(log.close)
        process = subprocess.Popen([GALE, "run", *words], cwd=self.path, env=self.environment, stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def end_well(self, name, process):
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 0, (self.path / f"{name}.log").read_text()[-2000:])

    def kill_again_and_again(self, commands, kills, seed):
        """The processes by their names, killed one after the other, and ended at last."""
        drawn = random.Random(seed)
        running = {name: self.begin(name, *words, "--rate", "10000") for name, words in commands.items()}
        for _ in range(kills):
            time.sleep(drawn.uniform(0.2, 1))
            name = drawn.choice(list(commands))
            if running[name].poll() is None:
                running[name].kill()
                running[name].wait()
            running[name] = self.begin(name, *commands[name], "--rate", "10000")
        for name, process in running.items():
            if process.poll() is None:
                self.end_well(name, process)

    def counts(self):
        """The last count of each word, in the files of both members."""
        last = {}
        for n in (1, 2):
            path = self.path / f"count-{n}.tsv"
            for line in path.read_text().splitlines() if path.exists() else []:
                word, number = line.split("\t")
                last[word] = max(last.get(word, 0), int(number))
        return last

    def members(self, file):
        return {f"count-{n}": [file, "--member", f"{n}/2", "--state", f"count-{n}", "--output", f"count-{n}.tsv"] for n in (1, 2)}

    def test_two_members_count_words_that_a_stage_before_keys_for_them_whoever_is_killed(self):
        count = 100000
        lines, words = self.new_topic(count), f"words-{next(self.names)}"
        self.cluster.ask("topic", words, 4)
        (self.path / "split.yaml").write_text(STAGES[0].format(brokers=self.cluster.brokers, lines=lines, words=words))
        (self.path / "count.yaml").write_text(STAGES[1].format(brokers=self.cluster.brokers, words=words))
        commands = {"split": ["split.yaml", "--state", "split"], **self.members("count.yaml")}
        self.kill_again_and_again(commands, 15, 41)
        running = {name: self.begin(name, *commands[name]) for name in commands}
        self.assertEqual(running["split"].wait(120), 0, (self.path / "split.log").read_text()[-2000:])
        expected = {"message": count, **{str(n): 1 for n in range(count)}}
        self.wait_for(lambda: self.counts() == expected)
        for n in (1, 2):
            self.assertIsNone(running[f"count-{n}"].poll())

    def test_two_members_of_one_file_count_words_through_a_topic_whoever_is_killed(self):
        count = 100000
        lines, words = self.new_topic(count), f"words-{next(self.names)}"
        self.cluster.ask("topic", words, 4)
        (self.path / "through.yaml").write_text(VIA.format(brokers=self.cluster.brokers, lines=lines, words=words))
        commands = self.members("through.yaml")
        self.kill_again_and_again(commands, 20, 43)
        running = {name: self.begin(name, *commands[name]) for name in commands}
        expected = {"message": count, **{str(n): 1 for n in range(count)}}
        self.wait_for(lambda: self.counts() == expected)
        for name, process in running.items():
            self.end_well(name, process)
        self.assertEqual(self.counts(), expected)

    def test_reading_begins_at_a_time_in_whichever_segment_it_is(self):
        """Message n is of millisecond 1000 + n of 1970, and those of each partition are in order."""
        count = 120000
        topic = self.new_topic(count, 2)
        for partition in (0, 1):
            self.assertGreater(len(list((self.broker.folder / "data" / f"{topic}-{partition}").glob("*.log"))), 1)
        for run, first in enumerate((0, 1, 60000, 119999, 120000)):
            with self.subTest(first=first):
                time_of = f"1970-01-01T00:{(1000 + first) // 60000:02}:{(1000 + first) % 60000 / 1000:06.3f}Z"
                self.write(topic, spout=properties(untilEnd=True, fromAlways=True, **{"from": time_of}), to=f"{{name: path, value: out-{run}.tsv}}")
                code, _, err = self.gale("run", "topology.yaml")
                self.assertEqual(code, 0, err)
                lines = self.lines(f"out-{run}.tsv")
                self.assertEqual(set(lines), {f"message {n}" for n in range(first, count)})
                self.assertEqual(len(lines), count - first)

    def limit(self, topic, size):
        """What its messages may have."""
        self.assertEqual(self.broker.java("kafka.admin.ConfigCommand", "--bootstrap-server", self.cluster.brokers, "--alter", "--entity-type", "topics",
                                          "--entity-name", topic, "--add-config", f"max.message.bytes={size}").wait(), 0)

    def make_letters(self, count):
        """A topic, and one for its dead letters."""
        topic = self.new_topic(count)
        dead = f"dead-{topic}"
        self.cluster.ask("topic", dead, 1)
        return topic, dead

    def run_rejecting(self, topic, dead):
        """What is no object of JSON is rejected: all of it."""
        self.write(topic, spout=properties(untilEnd=True, deadLetters=dead), bolts="  - {id: check, className: gale.bolt.Unpack, properties: {fields: [a]}}",
                   streams="  - {from: messages, to: check, grouping: {type: SHUFFLE}}", last="check")
        code, _, err = self.gale("run", "topology.yaml")
        self.assertEqual(code, 1, err)
        self.assertEqual(self.committed(topic), sum(self.cluster.ends(topic).values()))
        return err

    def test_what_is_rejected_is_a_dead_letter_with_its_key_and_headers(self):
        topic, dead = self.make_letters(500)
        self.run_rejecting(topic, dead)
        sources = {message.value: message for message in self.cluster.read(topic)}
        letters = self.cluster.read(dead)
        self.assertEqual(sorted(letter.value for letter in letters), sorted(sources))
        for letter in letters:
            source, headers = sources[letter.value], dict(pair.split("=", 1) for pair in letter.headers.split(","))
            self.assertEqual((letter.key, headers), (source.key, {
                "n": letter.value.split()[1], "gale.reason": "rejected", "gale.words": "the message is no object of JSON", "gale.component": "check",
                "gale.topic": topic, "gale.partition": str(source.partition), "gale.offset": str(source.offset)}))

    def test_a_letter_that_is_too_large_for_its_topic_is_told_and_left_out(self):
        topic, dead = self.make_letters(20)
        self.limit(dead, 200)
        err = self.run_rejecting(topic, dead)
        told = re.findall(rf"the message at offset \d+ can be no dead letter of {dead}, and is left out: .*too large(?: \((\d+) times? more\))?", err)
        self.assertEqual(sum(int(more or 1) for more in told), 20, err[-3000:])  # a line may stand for several
        self.assertEqual(self.cluster.read(dead), [])

    def test_a_topic_that_takes_little_is_written_in_batches_that_are_smaller(self):
        """Brokers judge a batch, not its messages: docs/connectors/kafka.md says what to give."""
        count = 2000
        for batch, passes in ((None, False), (4000, True)):
            with self.subTest(batch=batch):
                topic = self.new_topic(count)
                copy = f"copy-of-{topic}"
                self.cluster.ask("topic", copy, 1)
                self.limit(copy, 5000)
                text = COPY.format(brokers=self.cluster.brokers, topic=topic)
                text = text.replace("value: 0.2}", "value: 0.2}\n      - {name: untilEnd, value: true}")
                sizes = {"linger.ms": 200, **({"batch.size": batch} if batch else {})}
                (self.path / "topology.yaml").write_text(text.replace("{name: key, value: key}", f"{{name: key, value: key}}\n      - {{name: properties, value: {json.dumps(sizes)}}}"))
                code, _, err = self.gale("run", "topology.yaml")
                self.assertEqual(code, 0 if passes else 1, err)
                arrived = {message.value for message in self.cluster.read(copy)}
                self.assertEqual(arrived == {f"message {n}" for n in range(count)}, passes)
                self.assertEqual("Message size too large" in err, not passes)

    def test_the_example_counts_each_click_once(self):
        example = Path(__file__).resolve().parents[3] / "examples" / "connectors" / "kafka" / "run"
        done = subprocess.run([example, "6"], env={**self.environment, "GALE": GALE, "KAFKA_JARS": str(JARS)}, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        clicked, counted, late = map(int, re.search(r"clicked (\d+), counted (\d+), late (\d+); gale was killed once", done.stdout).groups())
        self.assertGreater(clicked, 0)
        self.assertEqual(counted + late, clicked)

    def test_a_killed_run_loses_nothing(self):
        count = 100000
        topic = self.new_topic(count)
        self.write(topic, spout=properties(commitEvery=0.05), to="{name: path, value: out.tsv}, {name: append, value: true}")
        for life in range(5):
            process, before = self.start("--rate", "8000"), self.committed(topic)
            self.wait_for(lambda: self.committed(topic) > before, process)
            process.kill()
            process.communicate()
            seen, told = set(self.lines()), self.cluster.committed(topic, f"of-{topic}")
            passed = {message.value for message in self.cluster.read(topic) if message.offset < told.get(message.partition, 0)}
            self.assertLessEqual(passed, seen, (life, told))
        process = self.start()
        self.wait_for(lambda: self.committed(topic) >= count, process)
        self.end(process)
        self.assertEqual(set(self.lines()), {f"message {n}" for n in range(count)})

    def copy(self, count, disturb):
        """From a topic to another one; what arrived."""
        topic = self.new_topic(count)
        self.cluster.ask("topic", f"copy-of-{topic}", 4)
        (self.path / "topology.yaml").write_text(COPY.format(brokers=self.cluster.brokers, topic=topic))
        process = self.start_logged("--rate", "5000")

        def wait_for_progress():
            before = self.committed(topic)
            self.wait_for(lambda: self.committed(topic) > before, process)
        disturb(wait_for_progress)
        try:
            self.wait_for(lambda: self.committed(topic) >= count)
        except AssertionError:
            self.fail((self.path / "log").read_text()[-5000:])
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 0)
        return collections.Counter(message.value for message in self.cluster.read(f"copy-of-{topic}"))

    def copy_once(self, count, lives, disturb, rate=20000):
        """The same in a durable run with markers, killed again and again."""
        topic = self.new_topic(count)
        self.cluster.ask("topic", f"copy-of-{topic}", 4)
        text = COPY.format(brokers=self.cluster.brokers, topic=topic).replace("secs: 20}", "secs: 3600, topology.state.checkpoint.interval.ms: 100}")
        text = text.replace("value: 0.2}", "value: 0.2}\n      - {name: untilEnd, value: true}").replace("{name: key, value: key}", "{name: key, value: key}\n      - {name: markers, value: gale-markers}")
        (self.path / "topology.yaml").write_text(text)
        for life in range(lives):
            process = self.start_logged("--rate", str(rate), "--state", "state")
            try:
                process.wait(0.5 + random.random() * 2)
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                disturb(life)
        process = self.start_logged("--state", "state")
        self.assertEqual(process.wait(), 0, (self.path / "log").read_text()[-3000:])
        every = collections.Counter(message.value for message in self.cluster.read(f"copy-of-{topic}"))
        self.assertEqual(set(every), {f"message {n}" for n in range(count)})
        self.assertEqual(sum(every.values()), count)
        return life

    def test_a_durable_copy_with_markers_has_each_message_once_however_often_it_is_killed(self):
        self.assertGreater(self.copy_once(200000, 12, lambda life: None), 3)

    def test_in_short_twenty_thousand_messages_and_two_kills_of_each(self):
        """What the CI has time for."""
        def disturb(life):
            self.broker.kill()
            self.broker.start()
        self.assertEqual(self.copy_once(20000, 2, disturb, rate=4000), 1)

    def test_and_however_often_the_broker_is_killed_or_hangs(self):
        def disturb(life):
            if life % 3 == 1:
                self.broker.kill()
                self.broker.start()
            if life % 3 == 2:
                self.broker.process.send_signal(signal.SIGSTOP)
                threading.Timer(4, lambda: self.broker.process.send_signal(signal.SIGCONT)).start()
        self.assertGreater(self.copy_once(200000, 9, disturb), 3)

    def test_to_postgres_each_message_once_whoever_is_killed(self):
        """gale fifty times, the database ten times, which also hangs ten times; the broker three times."""
        server = postgres.Server()
        self.addCleanup(server.close)
        count, drawn = 500000, random.Random(21)
        topic = self.new_topic(count)
        server.sql('CREATE TABLE messages (partition int, "offset" bigint, value text)', "shop")
        (self.path / "topology.yaml").write_text(TO_POSTGRES.format(brokers=self.cluster.brokers, topic=topic, connection=server.connection()))
        for life in range(50):
            process = self.start_logged("--rate", "20000", "--state", "state")
            time.sleep(0.2)
            if life % 5 == 1:
                server.kill()
                server.start()
            elif life % 5 == 3:
                server.hang()
                threading.Timer(drawn.uniform(0.2, 4), server.go_on).start()
            elif life in (10, 25, 40):
                self.broker.kill()
                self.broker.start()
            try:
                process.wait(drawn.uniform(0.2, 1))
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        time.sleep(4)
        process = self.start_logged("--state", "state")
        self.assertEqual(process.wait(), 0, (self.path / "log").read_text()[-3000:])
        self.assertEqual(server.sql('SELECT count(*), count(DISTINCT (partition, "offset")), count(DISTINCT value) FROM messages', "shop"),
                         [[str(count)] * 3])
        self.assertEqual(life, 49)

    def test_a_broker_that_is_killed_costs_no_message(self):
        def disturb(wait_for_progress):
            for _ in range(3):  # not while it recovers from the last time, when it may lose what it has (one replica)
                wait_for_progress()
                self.broker.kill()
                time.sleep(2)
                self.broker.start()
        every = self.copy(100000, disturb)
        self.assertEqual(set(every), {f"message {n}" for n in range(100000)})

    def test_a_broker_that_hangs_costs_no_message(self):
        def disturb(wait_for_progress):
            for _ in range(2):
                wait_for_progress()
                self.broker.process.send_signal(signal.SIGSTOP)
                time.sleep(5)
                self.broker.process.send_signal(signal.SIGCONT)
        every = self.copy(60000, disturb)
        self.assertEqual(set(every), {f"message {n}" for n in range(60000)})


if __name__ == "__main__":
    if not list(Path(JARS).glob("*.jar")):
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + (sys.argv[5:] or ["Real"]), verbosity=2)
