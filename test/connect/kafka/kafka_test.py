#!/usr/bin/env python3
"""The connector kafka, by gale's command line, against a cluster in a process (cluster.c).

usage: kafka_test.py GALE PLUGINS CLUSTER TIMES
"""

import collections
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

GALE, PLUGINS, CLUSTER, TIMES = (str(Path(argument).resolve()) for argument in sys.argv[1:5])
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": PLUGINS}

READ = """
name: {name}
config: {{topology.message.timeout.secs: {timeout}, topology.max.spout.pending: 1000{config}}}
spouts:
  - id: messages
    className: gale.spout.Kafka
    parallelism: {tasks}
    properties:
      - {{name: brokers, value: "{brokers}"}}
      - {{name: topics, value: [in]}}
      - {{name: group, value: readers}}
      - {{name: properties, value: {kafka}}}
{spout}
bolts:
{bolts}
  - {{id: sink, className: gale.bolt.{sink}, properties: [{to}]}}
streams:
{streams}
  - {{from: {last}, to: sink, grouping: {{type: SHUFFLE}}}}
"""

WRITE = """
name: write
config: {{topology.message.timeout.secs: {timeout}, topology.state.checkpoint.interval.ms: 50}}
spouts:
  - {{id: lines, className: gale.spout.File, properties: [{{name: path, value: in.txt}}]}}
bolts:
{bolts}
  - id: sink
    className: gale.bolt.KafkaSink
    properties:
      - {{name: brokers, value: "{brokers}"}}
      - {{name: topic, value: out}}
      - {{name: properties, value: {kafka}}}
{sink}
streams:
{streams}
  - {{from: {last}, to: sink, grouping: {{type: SHUFFLE}}}}
"""

VIA = """
name: counts
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100{config}}}
spouts:
  - {{id: lines, className: gale.spout.Kafka, properties: {{brokers: "{brokers}", topics: [lines], group: lines}}}}
bolts:
  - {{id: words, className: gale.bolt.Split}}
  - {{id: count, className: gale.bolt.Count}}
  - {{id: out, className: gale.bolt.FileSink, properties: {{path: counts.tsv}}}}
streams:
  - {{from: lines, to: words, grouping: {{type: SHUFFLE}}}}
  - {{from: words, to: count, grouping: {{type: FIELDS, args: [word]}}, via: {{kafka: {{brokers: "{brokers}", topic: words{via}}}}}}}
  - {{from: count, to: out, grouping: {{type: SHUFFLE}}}}
"""

# A member that was killed is missed soon (the cluster's groups take three seconds to form), and brokers are asked again soon.
SHORT = {"session.timeout.ms": 6000, "max.poll.interval.ms": 60000, "heartbeat.interval.ms": 100, "reconnect.backoff.max.ms": 500}

Message = collections.namedtuple("Message", "partition offset key value time headers")


def properties(**values):
    return "\n".join(f"      - {{name: {name}, value: {json.dumps(value)}}}" for name, value in values.items())


class Cluster:
    def __init__(self, brokers=1):
        self.process = subprocess.Popen([CLUSTER, str(brokers)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.brokers = self.process.stdout.readline().strip()

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        lines = []
        while (line := self.process.stdout.readline()).strip() != "ok":
            if not line or line.startswith("error "):
                raise AssertionError(f"{words}: {line}")
            lines.append(line.rstrip("\n").split("\t"))
        return lines

    def read(self, topic):
        return [Message(int(p), int(o), key[1:], value[1:], int(time), headers)
                for p, o, key, value, time, headers in self.ask("read", topic)]

    def committed(self, topic="in", group="readers"):
        """A broker that has just begun is no coordinator yet."""
        for tries in range(60):
            try:
                return {int(partition): int(offset) for partition, offset in self.ask("committed", group, topic)}
            except AssertionError as error:
                if "coordinator" not in str(error) or tries == 59:
                    raise
                time.sleep(1)

    def ends(self, topic="in"):
        """How many messages a partition has."""
        return dict(collections.Counter(message.partition for message in self.read(topic)))

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Case(unittest.TestCase):
    environment = ENVIRONMENT

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.cluster = self.new_cluster()
        self.addCleanup(self.cluster.close)

    def new_cluster(self):
        return Cluster()

    def gale(self, *arguments):
        done = subprocess.run([GALE, *arguments], cwd=self.path, env=self.environment, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def start(self, *arguments):
        process = subprocess.Popen([GALE, "run", "topology.yaml", *arguments], cwd=self.path, env=self.environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        def end():
            process.kill()
            process.communicate()
        self.addCleanup(end)
        return process

    def start_logged(self, *arguments):
        """Its words in 'log', while it runs."""
        log = open(self.path / "log", "w")
        self.addCleanup(log.close)
        process = subprocess.Popen([GALE, "run", "topology.yaml", *arguments], cwd=self.path, env=self.environment, stderr=log, stdout=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, condition, process=None, what="it did not come about"):
        end = time.monotonic() + 120
        while not condition():
            if process and process.poll() is not None:
                self.fail(f"it has ended: {process.communicate()[1]}")
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def end(self, process, code=0):
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate()
        self.assertEqual(process.returncode, code, err)
        return err

    def log_has(self, words, name="log"):
        path = self.path / name
        return path.exists() and re.search(words, path.read_text()) is not None

    def lines(self, name="out.tsv"):
        path = self.path / name
        return path.read_text().splitlines() if path.exists() else []


class Reader(Case):
    def write(self, spout="", bolts="", streams="", last="messages", timeout=3600, tasks=1, name="read", sink="FileSink",
              to="{name: path, value: out.tsv}", kafka={}, config="", replaces=("", "")):
        text = READ.format(kafka=json.dumps({**SHORT, **kafka}), brokers=self.cluster.brokers, spout=spout, bolts=bolts, streams=streams,
                           last=last, timeout=timeout, tasks=tasks, name=name, sink=sink, to=to, config=config and ", " + config)
        (self.path / "topology.yaml").write_text(text.replace(*replaces))

    HELD = 'while [ ! -e go ]; do sleep 0.05; done; cat >out.tsv'

    def places(self, name="out.tsv"):
        return {tuple(map(int, line.split("\t"))) for line in self.lines(name)}

    def run_to_end(self, **more):
        self.write(**{"spout": properties(untilEnd=True), **more})
        code, _, err = self.gale("run", "topology.yaml")
        self.assertEqual(code, 0, err)
        return err


class Reads(Reader):
    def test_a_topic_is_read_and_the_group_knows_it_at_the_end(self):
        self.cluster.ask("topic", "in", 3)
        self.cluster.ask("produce", "in", 0, 5000)
        self.run_to_end()
        self.assertEqual(sorted(self.lines()), sorted(f"message {n}" for n in range(5000)))
        self.assertEqual(self.cluster.committed(), self.cluster.ends())

    def test_the_next_run_goes_on_where_the_group_was(self):
        self.cluster.ask("topic", "in", 2)
        self.cluster.ask("produce", "in", 0, 100)
        self.run_to_end()
        self.cluster.ask("produce", "in", 100, 50)
        self.run_to_end(to="{name: path, value: next.tsv}")
        self.assertEqual(sorted(self.lines("next.tsv")), sorted(f"message {n}" for n in range(100, 150)))
        self.assertEqual(self.cluster.committed(), self.cluster.ends())

    def test_an_empty_topic_has_an_end(self):
        self.cluster.ask("topic", "in", 2)
        self.run_to_end()
        self.assertEqual(self.lines(), [])
        self.assertEqual(self.cluster.committed(), {})

    def test_a_new_group_may_begin_at_the_end(self):
        self.cluster.ask("topic", "in", 1)
        self.cluster.ask("produce", "in", 0, 10)
        self.run_to_end(spout=properties(**{"untilEnd": True, "from": "latest"}))
        self.assertEqual(self.lines(), [])

    def test_a_new_group_may_begin_at_offsets(self):
        """A partition that is not named begins at its earliest; what the group was told goes before."""
        self.cluster.ask("topic", "in", 2)
        self.cluster.ask("produce", "in", 0, 100)
        ends = self.cluster.ends()
        begins = properties(**{"untilEnd": True, "from": {"in": {"0": ends[0] - 5}}, "emit": ["partition", "offset"]})
        self.run_to_end(spout=begins)
        self.assertEqual(self.places(), {(0, n) for n in range(ends[0] - 5, ends[0])} | {(1, n) for n in range(ends[1])})
        self.assertEqual(self.cluster.committed(), ends)
        self.run_to_end(spout=begins, to="{name: path, value: next.tsv}")
        self.assertEqual(self.places("next.tsv"), set())

    def test_a_new_group_may_begin_at_a_time(self):
        """The cluster knows no times: a library between says that millisecond 1000 + N is offset N."""
        self.cluster.ask("topic", "in", 1)
        self.cluster.ask("produce", "in", 0, 100)
        for name, fixed in (("group", {}), ("fixed", {"member": "1/1"})):
            with self.subTest(name):
                self.environment = {**ENVIRONMENT, "LD_PRELOAD": TIMES, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
                spout = {"untilEnd": True, "from": "1970-01-01T00:00:01.090Z", "emit": ["partition", "offset"], **fixed}
                self.run_to_end(spout=properties(**spout, group=name), replaces=("- {name: group, value: readers}", "- {name: memory, value: 1MB}"),
                                to=f"{{name: path, value: {name}.tsv}}")
                self.assertEqual(self.places(f"{name}.tsv"), {(0, n) for n in range(90, 100)})

    def test_an_age_is_a_time(self):
        self.cluster.ask("topic", "in", 1)
        self.cluster.ask("produce", "in", 0, 10)
        self.run_to_end(spout=properties(**{"untilEnd": True, "from": "-1h30m"}))
        self.assertEqual(self.lines(), [])

    def test_every_run_may_begin_where_it_says(self):
        self.cluster.ask("topic", "in", 2)
        self.cluster.ask("produce", "in", 0, 100)
        for life in ("one", "two"):
            self.run_to_end(spout=properties(untilEnd=True, fromAlways=True), tasks=2, to=f"{{name: path, value: {life}.tsv}}")
            self.assertEqual(sorted(self.lines(f"{life}.tsv")), sorted(f"message {n}" for n in range(100)))
        self.assertEqual(self.cluster.committed(), self.cluster.ends())

    def test_where_it_begins_is_asked_until_brokers_say_it(self):
        self.cluster.ask("topic", "in", 1)
        self.cluster.ask("produce", "in", 0, 100)
        self.cluster.ask("refuse", 9, 29, 1)  # OffsetFetch: TOPIC_AUTHORIZATION_FAILED
        self.write(spout=properties(**{"from": {"in": {"0": 90}}, "commitEvery": 0.1}))
        process = self.start_logged()
        self.wait_for(lambda: self.log_has(r"is not well: kafka \S+: kafka: what the group was told is not known: .*authorization"), process)
        self.wait_for(lambda: self.cluster.committed() == {0: 100}, process)
        self.assertEqual(self.lines(), [f"message {n}" for n in range(90, 100)])

    def test_all_that_a_message_has_is_emitted(self):
        self.cluster.ask("topic", "in", 1)
        self.cluster.ask("produce", "in", 7, 1)
        self.cluster.ask("tombstone", "in", "gone")
        fields = ["offset", "key", "value", "topic", "partition", "timestamp", "headers"]
        self.run_to_end(spout=properties(untilEnd=True, emit=fields), to="{name: path, value: out.tsv}, {name: format, value: json}")
        first, second = map(json.loads, self.lines())
        self.assertEqual(first, {"offset": 0, "key": "key 7", "value": "message 7", "topic": "in", "partition": 0, "timestamp": 1007,
                                 "headers": {"n": "7"}})
        self.assertEqual([second[name] for name in fields[:5]], [1, "gone", None, "in", 0])
        self.assertEqual(second["headers"], {})

    BAD = """  - id: check
    className: gale.bolt.Map
    properties:
      - {name: set, value: {n: "value == 'message 3' and error('bad') or value"}}
"""

    def test_what_fails_comes_again_is_given_up_and_is_done_then(self):
        self.cluster.ask("topic", "in", 1)
        self.cluster.ask("produce", "in", 0, 10)
        self.write(spout=properties(untilEnd=True, maxAttempts=2), bolts=self.BAD, last="check",
                   streams="  - {from: messages, to: check, grouping: {type: SHUFFLE}}")
        code, _, err = self.gale("run", "topology.yaml")
        self.assertEqual(code, 1)
        self.assertIn("message 3 of in[0] given up after 2 attempts: ", err)
        self.assertEqual(len(self.lines()), 9)
        self.assertEqual(self.cluster.committed(), {0: 10})

    def test_the_group_is_not_told_of_what_has_no_answer(self):
        self.cluster.ask("topic", "in", 1)
        self.cluster.ask("produce", "in", 0, 500)
        self.write(spout=properties(commitEvery=0.1), sink="ExecSink", to=f"{{name: command, value: {json.dumps(self.HELD)}}}")
        process = self.start()
        time.sleep(2)
        self.assertEqual(self.cluster.committed(), {})
        (self.path / "go").touch()
        self.wait_for(lambda: self.cluster.committed() == {0: 500}, process)
        self.end(process)
        self.assertEqual(len(self.lines()), 500)

    def test_brokers_that_are_away_are_told_and_waited_for(self):
        self.cluster.ask("topic", "in", 1)
        self.cluster.ask("produce", "in", 0, 10)
        self.cluster.ask("down", 1)
        self.write(spout=properties(commitEvery=0.1))
        process = self.start_logged()
        self.wait_for(lambda: self.log_has(r"is not well: kafka 127\.0\.0\.1:\d+: "), process)
        self.cluster.ask("up", 1)
        self.wait_for(lambda: len(self.lines()) == 10, process)
        self.wait_for(lambda: self.log_has(r"is well again"), process)
        self.wait_for(lambda: self.cluster.committed() == {0: 10}, process)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 0)

    def test_offsets_that_are_refused_are_told_again(self):
        self.cluster.ask("topic", "in", 1)
        self.cluster.ask("produce", "in", 0, 10)
        self.cluster.ask("refuse", 8, 29, 2)  # OffsetCommit: TOPIC_AUTHORIZATION_FAILED
        self.write(spout=properties(commitEvery=0.1))
        process = self.start()
        self.wait_for(lambda: self.cluster.committed() == {0: 10}, process)
        self.assertIn("offsets are not committed: Broker: Topic authorization failed", self.end(process))

    def test_a_topic_that_may_not_be_read_is_told(self):
        self.cluster.ask("topic", "in", 1)
        self.cluster.ask("produce", "in", 0, 10)
        self.cluster.ask("wrong", "in", 29)
        self.write(kafka={"topic.metadata.refresh.interval.ms": 200})
        process = self.start_logged()
        self.wait_for(lambda: self.log_has(r"is not well: kafka \S+: in: .*Topic authorization failed"), process)
        self.cluster.ask("wrong", "in", 0)
        self.wait_for(lambda: len(self.lines()) == 10, process)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 0)


class Letters(Reader):
    """Dead letters."""

    BAD = """  - id: check
    className: gale.bolt.Map
    properties:
      - {name: set, value: {n: "value:sub(-1) == '3' and error('bad ' .. value) or value"}}
"""

    def write_bad(self, spout={}, bolts=BAD, **more):
        self.write(spout=properties(maxAttempts=2, deadLetters="dead", **spout), bolts=bolts, last="check",
                   streams="  - {from: messages, to: check, grouping: {type: SHUFFLE}}", **more)

    def letters(self):
        return {message.value: message for message in self.cluster.read("dead")}

    def ask_topics(self, count):
        self.cluster.ask("topic", "in", 2)
        self.cluster.ask("topic", "dead", 1)
        self.cluster.ask("produce", "in", 0, count)

    def test_what_is_given_up_is_written_whole_and_says_why_and_whence(self):
        self.ask_topics(40)
        self.write_bad({"untilEnd": True})
        code, _, err = self.gale("run", "topology.yaml")
        self.assertEqual(code, 1, err)
        self.assertNotIn("CONFWARN", err)
        letters, sources = self.letters(), {message.value: message for message in self.cluster.read("in")}
        self.assertEqual(set(letters), {"message 3", "message 13", "message 23", "message 33"})
        for value, letter in letters.items():
            headers, source = dict(pair.split("=", 1) for pair in letter.headers.split(",")), sources[value]
            self.assertEqual((letter.key, headers.pop("n")), (source.key, value.split()[1]))
            self.assertIn(f"bad {value}", headers.pop("gale.words"))
            self.assertEqual(headers, {"gale.reason": "failed", "gale.component": "check", "gale.topic": "in",
                                       "gale.partition": str(source.partition), "gale.offset": str(source.offset)})
        self.assertEqual(self.cluster.committed(), self.cluster.ends())
        self.assertEqual(len(self.lines()), 36)

    def test_an_offset_waits_for_its_dead_letter(self):
        """While the topic takes none, nothing behind the message is committed, and the task is not well."""
        self.ask_topics(10)
        where = next(message for message in self.cluster.read("in") if message.value == "message 3")
        self.cluster.ask("refuse", 0, 29, 3)  # Produce: TOPIC_AUTHORIZATION_FAILED
        self.write_bad({"commitEvery": 0.1})
        process = self.start_logged()
        self.wait_for(lambda: self.log_has(r"is not well: kafka \S+: dead: .*authorization"), process)
        self.wait_for(lambda: len(self.lines()) == 9, process)
        self.assertLessEqual(self.cluster.committed().get(where.partition, 0), where.offset)
        self.wait_for(lambda: self.cluster.committed() == self.cluster.ends(), process)
        self.assertEqual(set(self.letters()), {"message 3"})
        self.wait_for(lambda: self.log_has(r"is well again"), process)
        process.send_signal(signal.SIGTERM)
        process.wait()

    def test_what_can_be_no_dead_letter_is_told_and_left_out(self):
        self.ask_topics(10)
        self.cluster.ask("refuse", 0, 10, 1)  # Produce: MSG_SIZE_TOO_LARGE
        self.write_bad({"untilEnd": True})
        code, _, err = self.gale("run", "topology.yaml")
        self.assertEqual(code, 1, err)
        self.assertRegex(err, r"the message at offset \d+ can be no dead letter of dead, and is left out: .*too large")
        self.assertEqual((self.letters(), self.cluster.committed()), ({}, self.cluster.ends()))

    def test_a_durable_run_that_is_killed_writes_every_dead_letter(self):
        self.ask_topics(3000)
        self.write_bad({"untilEnd": True}, config="topology.state.checkpoint.interval.ms: 50")
        for _ in range(40):
            process = self.start("--state", "state", "--rate", "1500")
            try:
                process.wait(1.2)
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
        else:
            process = self.start("--state", "state")
            process.wait()
        self.assertIn(process.returncode, (0, 1), process.communicate())  # 0: it was killed behind its end, and had nothing to do any more
        self.assertEqual(set(self.letters()), {f"message {n}" for n in range(3, 3000, 10)})
        if process.returncode:
            self.assertEqual(self.cluster.committed(), self.cluster.ends())

    def test_letters_that_are_not_written_are_in_the_checkpoints(self):
        """Of a run whose brokers take none; the next one, which has nothing else to do, writes them."""
        self.ask_topics(100)
        self.cluster.ask("refuse", 0, 29, 10)
        self.write_bad({"commitEvery": 0.1}, config="topology.state.checkpoint.interval.ms: 50")
        process = self.start_logged("--state", "state")
        self.wait_for(lambda: len(self.lines()) == 90 and self.log_has("is not well"), process)
        time.sleep(0.5)
        self.assertEqual(self.letters(), {})
        process.kill()
        process.wait()
        told = self.cluster.committed()
        self.assertLess(sum(told.values()), 100)
        self.write(config="topology.state.checkpoint.interval.ms: 50", bolts=self.BAD, last="check",
                   streams="  - {from: messages, to: check, grouping: {type: SHUFFLE}}")
        code, _, err = self.gale("run", "topology.yaml", "--state", "state", "--state-adopt")
        self.assertNotEqual(code, 0)
        self.assertIn("kafka: there are dead letters that are not written yet: deadLetters must say where to", err)
        self.write_bad({"commitEvery": 0.1}, config="topology.state.checkpoint.interval.ms: 50")
        process = self.start("--state", "state")
        self.wait_for(lambda: self.cluster.committed() == self.cluster.ends(), process)
        self.assertEqual(set(self.letters()), {f"message {n}" for n in range(3, 100, 10)})


STORM = """
name: storm
config: {{topology.message.timeout.secs: 3600}}
components:
  - id: retry
    className: org.apache.storm.kafka.spout.KafkaSpoutRetryExponentialBackoff
    constructorArgs: [0, 2, 1, 10]
  - id: builder
    className: "org.apache.storm.kafka.spout.KafkaSpoutConfig$Builder"
    constructorArgs: ["{brokers}", [in]]
    properties:
      - {{name: firstPollOffsetStrategy, value: {strategy}}}
      - {{name: retry, ref: retry}}
    configMethods:
      - {{name: setProp, args: [{{group.id: readers, key.deserializer: org.apache.kafka.common.serialization.StringDeserializer}}]}}
      - {{name: setProp, args: ["session.timeout.ms", 6000]}}
      - {{name: setOffsetCommitPeriodMs, args: [100]}}
      - {method}
  - id: config
    className: org.apache.storm.kafka.spout.KafkaSpoutConfig
    constructorArgs: [{{ref: builder}}]
spouts:
  - {{id: messages, className: org.apache.storm.kafka.spout.KafkaSpout, constructorArgs: [{{ref: config}}], parallelism: 2}}
bolts:
  - {{id: sink, className: gale.bolt.FileSink, properties: {{path: out.tsv}}}}
streams:
  - {{from: messages, to: sink, grouping: {{type: SHUFFLE}}}}
"""


class Storm(Case):
    """Flux files with Storm's KafkaSpout."""

    def write(self, strategy="UNCOMMITTED_EARLIEST", method="{name: setProcessingGuarantee, args: [AT_LEAST_ONCE]}"):
        (self.path / "topology.yaml").write_text(STORM.format(brokers=self.cluster.brokers, strategy=strategy, method=method))

    def test_a_file_with_its_builder_reads_what_it_says(self):
        self.cluster.ask("topic", "in", 2)
        self.cluster.ask("produce", "in", 0, 100)
        self.write()
        process = self.start()
        self.wait_for(lambda: self.cluster.committed() == self.cluster.ends(), process)
        self.end(process)
        self.assertEqual({tuple(line.split("\t")) for line in self.lines()},
                         {("in", str(m.partition), str(m.offset), m.key, m.value) for m in self.cluster.read("in")})

    def test_the_strategies_of_the_first_poll(self):
        self.cluster.ask("topic", "in", 2)
        self.cluster.ask("produce", "in", 0, 100)
        for life in range(2):
            self.write("EARLIEST")
            process = self.start("--overwrite")
            self.wait_for(lambda: self.cluster.committed() == self.cluster.ends() and len(self.lines()) == 100, process)
            self.end(process)

    def said(self, **more):
        self.write(**more)
        code, out, err = self.gale("check", "topology.yaml")
        return code, [line for line in (out + err).splitlines() if line.startswith("topology.yaml:") and ("error:" in line or "warning:" in line)]

    def test_what_has_no_counterpart_is_told_of_where_it_stands(self):
        delays = "topology.yaml:5:5: warning: its delays have no effect here: what fails is emitted again at once (topology.replay.* has delays)"
        for method, code, words in (
                ("{name: setMaxUncommittedOffsets, args: [250]}", 0, "topology.yaml:18:49: warning: this has no effect here: topology.max.spout.pending"),
                ("{name: setProcessingGuarantee, args: [NO_GUARANTEE]}", 0, "topology.yaml:18:47: warning: gale.spout.Kafka is at least once all the same"),
                ("{name: setProcessingGuarantee, args: [AT_MOST_ONCE]}", 2, "topology.yaml:18:47: error: gale.spout.Kafka is at least once"),
                ("{name: setRecordTranslator, args: [{ref: mine}]}", 2, "topology.yaml:18:44: error: a record translator is Java code"),
                ("{name: setProp, args: [value.deserializer, com.example.Mine]}", 2, "topology.yaml:18:52: error: a deserializer is Java code"),
                ("{name: setProp, args: [max.poll.records, 5]}", 0, "topology.yaml:18:32: warning: 'max.poll.records' has no effect here"),
                ("{name: setTopicFilter, args: [x]}", 2, "topology.yaml:18:16: error: 'setTopicFilter' of a KafkaSpoutConfig has no counterpart")):
            said = self.said(method=method)
            self.assertEqual((said[0], said[1][0]), (code, delays), said)
            self.assertTrue(said[1][1].startswith(words), said)
        self.assertIn("error: a first poll offset strategy is one of: EARLIEST LATEST", "".join(self.said(strategy="FIRST")[1]))


class Kept(Reader):
    def test_a_spout_that_is_held_stays_in_its_group(self):
        self.cluster.ask("topic", "in", 2)
        self.cluster.ask("produce", "in", 0, 20000)
        self.write(spout=properties(commitEvery=0.1), kafka={"max.poll.interval.ms": 6000}, name="held",
                   sink="ExecSink", to=f"{{name: command, value: {json.dumps(self.HELD)}}}")
        process = self.start()
        time.sleep(9)
        code, out, err = self.gale("stats", "held", "--json")
        self.assertEqual(code, 0, err)
        lags = [metric for component in json.loads(out)["components"] for metric in component.get("metrics", []) if metric["name"] == "kafka_lag"]
        self.assertEqual(len(lags), 1, out)
        self.assertTrue(0 < lags[0]["value"] < 20000, lags)
        (self.path / "go").touch()
        self.wait_for(lambda: self.cluster.committed() == self.cluster.ends(), process)
        err = self.end(process)
        self.assertNotIn("max.poll", err)
        self.assertEqual(set(self.lines()), {f"message {n}" for n in range(20000)})

    def test_a_killed_run_loses_nothing(self):
        """Whenever it is killed, all that the group was told of is in the sink's file."""
        self.cluster.ask("topic", "in", 2)
        self.cluster.ask("produce", "in", 0, 30000)
        self.write(spout=properties(commitEvery=0.02), to="{name: path, value: out.tsv}, {name: append, value: true}")
        seen = set()
        for life in range(3):
            process = self.start("--rate", "8000")
            before = sum(self.cluster.committed().values())
            self.wait_for(lambda: sum(self.cluster.committed().values()) > before or process.poll() is not None)
            process.kill()
            process.communicate()
            seen |= set(self.lines())
            told = self.cluster.committed()
            for message in self.cluster.read("in"):
                if message.offset < told.get(message.partition, 0):
                    self.assertIn(message.value, seen, (life, told))
        process = self.start()
        self.wait_for(lambda: self.cluster.committed() == self.cluster.ends(), process)
        self.end(process)
        self.assertEqual(seen | set(self.lines()), {f"message {n}" for n in range(30000)})


class Durable(Reader):
    """In a durable run the partitions are fixed, and places are in its checkpoints."""

    def run_killed(self, most=40):
        """Runs and kills it until it comes to its end; what the group was told is never ahead of what was answered."""
        for life in range(most):
            process = self.start("--rate", "12000", "--state", "state")
            try:
                process.wait(0.2 + 0.05 * life)
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        return life, err

    def test_a_run_that_is_killed_writes_each_message_once(self):
        for tasks in (1, 2):
            with self.subTest(tasks=tasks):
                cluster = self.cluster = Cluster()
                self.addCleanup(cluster.close)
                cluster.ask("topic", "in", 3)
                cluster.ask("produce", "in", 0, 12000)
                self.write(spout=properties(untilEnd=True, commitEvery=0.02), tasks=tasks,
                           config="topology.state.checkpoint.interval.ms: 50")
                life, err = self.run_killed()
                self.assertGreater(life, 1)
                self.assertIn("resumed from checkpoint", err)
                self.assertEqual(sorted(self.lines()), sorted(f"message {n}" for n in range(12000)))
                shutil.rmtree(self.path / "state")
                (self.path / "out.tsv").unlink()

    def test_the_checkpoint_goes_before_what_the_group_was_told(self):
        self.cluster.ask("topic", "in", 1)
        self.cluster.ask("produce", "in", 0, 100)
        self.write(spout=properties(commitEvery=0.02))
        process = self.start("--state", "state")
        self.wait_for(lambda: self.cluster.committed() == {0: 100}, process)
        self.end(process)
        self.cluster.ask("produce", "in", 100, 100)
        self.write(spout=properties(untilEnd=True), replaces=("name: group, value: readers", "name: group, value: others"))
        code, _, err = self.gale("run", "topology.yaml", "--state", "state")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.lines(), [f"message {n}" for n in range(200)])

    def test_a_topic_that_was_deleted_and_made_again_is_logged_and_read_from_its_beginning(self):
        self.cluster.ask("topic", "in", 1)
        self.cluster.ask("produce", "in", 0, 100)
        self.write(spout=properties(commitEvery=0.02))
        process = self.start("--state", "state")
        self.wait_for(lambda: self.cluster.committed() == {0: 100}, process)
        self.end(process)
        self.make_again(500, 7)
        self.write(spout=properties(untilEnd=True))
        code, _, err = self.gale("run", "topology.yaml", "--state", "state")
        self.assertEqual(code, 0, err)
        self.assertIn("kafka in[0]: the saved position 100 lies behind the end 7: the topic was deleted and made again since, or "
                      "cut; it is read from its earliest message", err)
        self.assertEqual(self.lines(), [f"message {n}" for n in range(100)] + [f"message {n}" for n in range(500, 507)])

    def make_again(self, first, count):
        """What is behind the name now is another topic."""
        self.cluster = Cluster()
        self.addCleanup(self.cluster.close)
        self.cluster.ask("topic", "in", 1)
        self.cluster.ask("produce", "in", first, count)

    def test_a_topic_that_was_made_again_and_is_longer_than_the_position_is_logged_and_read_from_its_beginning(self):
        self.cluster.ask("topic", "in", 1)
        self.cluster.ask("produce", "in", 0, 100)
        self.write(spout=properties(commitEvery=0.02))
        process = self.start("--state", "state")
        self.wait_for(lambda: self.cluster.committed() == {0: 100}, process)
        self.end(process)
        self.make_again(500, 300)
        self.write(spout=properties(untilEnd=True))
        code, _, err = self.gale("run", "topology.yaml", "--state", "state")
        self.assertEqual(code, 0, err)
        self.assertIn("kafka in[0]: message 99, the last that was read, is another one now: the topic was deleted and made again since, "
                      "or cut; it is read from its earliest message", err)
        self.assertEqual(self.lines(), [f"message {n}" for n in range(100)] + [f"message {n}" for n in range(500, 800)])

    def test_a_topic_that_is_the_same_one_is_read_on_and_nothing_is_logged_of_it(self):
        self.cluster.ask("topic", "in", 2)
        for first in (0, 100, 200):
            self.cluster.ask("produce", "in", first, 100)
            self.write(spout=properties(commitEvery=0.02))
            process = self.start("--state", "state")
            self.wait_for(lambda: sum(self.cluster.committed().values()) == first + 100, process)
            self.assertNotIn("made again", self.end(process))
        self.assertEqual(sorted(self.lines(), key=lambda line: int(line.split()[1])), [f"message {n}" for n in range(300)])

    def test_a_run_that_had_come_to_its_end_refuses_another_topic_of_the_same_length(self):
        self.cluster.ask("topic", "in", 1)
        self.cluster.ask("produce", "in", 0, 100)
        self.write(spout=properties(untilEnd=True))
        code, _, err = self.gale("run", "topology.yaml", "--state", "state")
        self.assertEqual(code, 0, err)
        self.make_again(500, 100)
        self.write(spout=properties(untilEnd=True))
        code, _, err = self.gale("run", "topology.yaml", "--state", "state")
        self.assertNotEqual(code, 0)
        self.assertIn("the run had come to its end, and in[0] has been deleted and made again, or cut, since, from 100 to 100", err)

    def test_the_group_is_told_of_what_a_checkpoint_has(self):
        self.cluster.ask("topic", "in", 1)
        self.cluster.ask("produce", "in", 0, 100)
        self.write(spout=properties(commitEvery=0.02), config="topology.state.checkpoint.interval.ms: 3600000")
        process = self.start("--state", "state")
        self.wait_for(lambda: len(self.lines()) == 100, process)
        time.sleep(0.5)
        self.assertEqual(self.cluster.committed(), {})
        self.end(process)

    def test_a_run_that_had_come_to_its_end_refuses_what_has_come_since(self):
        self.cluster.ask("topic", "in", 2)
        self.cluster.ask("produce", "in", 0, 1000)
        self.write(spout=properties(untilEnd=True))
        code, _, err = self.gale("run", "topology.yaml", "--state", "state")
        self.assertEqual(code, 0, err)
        code, _, err = self.gale("run", "topology.yaml", "--state", "state")
        self.assertEqual((code, self.cluster.committed()), (0, {0: 500, 1: 500}), err)
        self.cluster.ask("produce", "in", 1000, 10)
        code, _, err = self.gale("run", "topology.yaml", "--state", "state")
        self.assertNotEqual(code, 0)
        self.assertRegex(err, r"the run had come to its end, and in\[\d\] has grown since, from 500 to 50\d")

    def test_members_by_their_numbers_divide_the_partitions(self):
        """Also without a state. Keys of one partition stay with one process, whoever comes and goes."""
        self.cluster.ask("topic", "in", 6)
        self.cluster.ask("produce", "in", 0, 3000)
        shares = {}
        for member in ("1/2", "2/2"):
            self.write(spout=properties(untilEnd=True, member=member, emit=["partition", "value"]), tasks=2, to=f"{{name: path, value: out-{member[0]}.tsv}}")
            code, _, err = self.gale("run", "topology.yaml", *(("--state", "state") if member == "2/2" else ()))
            self.assertEqual(code, 0, err)
            shares[member] = [line.split("\t") for line in self.lines(f"out-{member[0]}.tsv")]
        parts = {member: {int(partition) for partition, _ in lines} for member, lines in shares.items()}
        self.assertEqual(parts, {"1/2": {0, 1, 4, 5}, "2/2": {2, 3}})
        self.assertEqual(sorted(value for lines in shares.values() for _, value in lines), sorted(f"message {n}" for n in range(3000)))
        self.assertEqual(self.cluster.committed(), self.cluster.ends())

    def test_the_command_line_says_which_member_a_run_is(self):
        self.cluster.ask("topic", "in", 4)
        self.cluster.ask("produce", "in", 0, 1000)
        parts = []
        for member in ("1/2", "2/2"):
            self.write(spout=properties(untilEnd=True, emit=["partition", "value"]), to=f"{{name: path, value: out-{member[0]}.tsv}}")
            code, _, err = self.gale("run", "topology.yaml", "--member", member)
            self.assertEqual(code, 0, err)
            parts.append({line.split("\t")[0] for line in self.lines(f"out-{member[0]}.tsv")})
        self.assertEqual(parts, [{"0", "2"}, {"1", "3"}])
        code, _, err = self.gale("run", "topology.yaml", "--member", "3/2", "--overwrite")
        self.assertNotEqual(code, 0)
        self.assertIn("member: '3/2' is none: 2/3 is the second of three", err)

    def test_a_member_that_no_source_makes_use_of_is_told(self):
        said = "--member 1/3: no source of this file takes a share by it: each process reads what it would read alone"
        to = "gale.bolt.KafkaSink"
        sink = properties(brokers="127.0.0.1:1", topic="out")
        (self.path / "in.txt").write_text("a\n")
        (self.path / "topology.yaml").write_text(f"""
name: copy
spouts:
  - {{id: lines, className: gale.spout.File, properties: [{{name: path, value: in.txt}}]}}
bolts:
  - id: sink
    className: {to}
    properties:
{sink}
streams:
  - {{from: lines, to: sink, grouping: {{type: SHUFFLE}}}}
""")
        code, out, err = self.gale("check", "topology.yaml", "--member", "1/3")
        self.assertEqual(code, 0)
        self.assertIn(said, out + err)
        self.assertNotIn("share", "".join(map(str, self.gale("check", "topology.yaml")[1:])))
        for given, told in ((dict(member="2/3"), True), ({}, False)):  # its own goes before
            self.write(spout=properties(**given))
            code, out, err = self.gale("check", "topology.yaml", "--member", "1/3")
            self.assertEqual((code, said in out + err), (0, told), out + err)

    def test_a_member_that_is_none_is_refused(self):
        for member in ("0/2", "3/2", "2", "a/b", "1/2x", "1/20000"):
            self.write(spout=properties(member=member))
            code, out, err = self.gale("check", "topology.yaml")
            self.assertNotEqual(code, 0)
            self.assertIn(f"member: '{member}' is none: 2/3 is the second of three", out + err)

    def test_a_pattern_is_refused(self):
        self.cluster.ask("topic", "in", 1)
        self.write(replaces=("[in]", "[^in]"))
        code, _, err = self.gale("run", "topology.yaml", "--state", "state")
        self.assertNotEqual(code, 0)
        self.assertIn("topics: ^in is a pattern; fixed partitions are of topics that are known", err)


class Shared(Reader):
    def test_tasks_share_the_partitions(self):
        self.cluster.ask("topic", "in", 4)
        self.cluster.ask("produce", "in", 0, 2000)
        self.write(spout=properties(commitEvery=0.1), tasks=3)
        process = self.start()
        self.wait_for(lambda: self.cluster.committed() == self.cluster.ends(), process)
        self.end(process)
        self.assertEqual(set(self.lines()), {f"message {n}" for n in range(2000)})

    def test_processes_share_a_group_and_one_that_ends_hands_over(self):
        for strategy in ("range", "cooperative-sticky"):
            with self.subTest(strategy):
                cluster = self.cluster = Cluster()
                self.addCleanup(cluster.close)
                cluster.ask("topic", "in", 4)
                made = 0

                def make(count):
                    nonlocal made
                    cluster.ask("produce", "in", made, count)
                    made += count
                make(2000)
                more, kafka = properties(commitEvery=0.1), {"partition.assignment.strategy": strategy}
                self.write(spout=more, kafka=kafka, name="one", to=f"{{name: path, value: one-{strategy}.tsv}}")
                first = self.start()
                self.wait_for(lambda: sum(cluster.committed().values()) == made, first)
                self.write(spout=more, kafka=kafka, name="two", to=f"{{name: path, value: two-{strategy}.tsv}}")
                second = self.start()
                while len(self.lines(f"two-{strategy}.tsv")) < 500:
                    make(200)
                    time.sleep(0.05)
                self.end(first)
                make(1000)
                self.wait_for(lambda: cluster.committed() == cluster.ends(), second)
                self.end(second)
                every = collections.Counter(self.lines(f"one-{strategy}.tsv") + self.lines(f"two-{strategy}.tsv"))
                self.assertEqual(set(every), {f"message {n}" for n in range(made)})
                # What was read while the group changed is not read again by and by. (This cluster takes no offsets then.)
                if strategy != "range":
                    self.assertLess(sum(every.values()), made + made // 2)


class Writes(Case):
    def write(self, lines, sink="", bolts="", streams="", last="lines", timeout=3600, kafka={}):
        (self.path / "in.txt").write_text("".join(line + "\n" for line in lines))
        (self.path / "topology.yaml").write_text(WRITE.format(kafka=json.dumps({"reconnect.backoff.max.ms": 500, **kafka}), brokers=self.cluster.brokers, sink=sink, bolts=bolts, streams=streams,
                                                              last=last, timeout=timeout))

    KEYED = """  - id: keyed
    className: gale.bolt.Map
    properties:
      - {name: set, value: {user: "line:match('[a-z0-9]+')", at: "1000", part: "3.25"}}
"""
    TO_KEYED = "  - {from: lines, to: keyed, grouping: {type: SHUFFLE}}"

    def test_each_line_is_a_message(self):
        self.cluster.ask("topic", "out", 3)
        lines = [f"line {n}" for n in range(5000)]
        self.write(lines)
        code, _, err = self.gale("run", "topology.yaml")
        self.assertEqual(code, 0, err)
        self.assertEqual(sorted(message.value for message in self.cluster.read("out")), sorted(lines))

    def test_keys_headers_and_times_are_fields_and_a_key_keeps_its_order(self):
        self.cluster.ask("topic", "out", 3)
        self.write([f"user{n % 7} {n}" for n in range(700)], bolts=self.KEYED, streams=self.TO_KEYED, last="keyed",
                   sink=properties(key="user", value="line", timestamp="at", headers=["part", "user"]))
        code, _, err = self.gale("run", "topology.yaml")
        self.assertEqual(code, 0, err)
        by_key, where = collections.defaultdict(list), collections.defaultdict(set)
        for message in self.cluster.read("out"):
            self.assertEqual((message.key, message.time, message.headers), (message.value.split()[0], 1000, f"part=3.25,user={message.key}"))
            by_key[message.key].append(int(message.value.split()[1]))
            where[message.key].add(message.partition)
        self.assertEqual(by_key, {f"user{k}": list(range(k, 700, 7)) for k in range(7)})
        # As Java's default partitioner has it: toPositive(murmur2(key)) % 3.
        self.assertEqual({key: min(found) for key, found in where.items()}, {f"user{k}": murmur2(f"user{k}".encode()) % 3 for k in range(7)})
        self.assertTrue(all(len(found) == 1 for found in where.values()))

    def test_what_no_broker_takes_is_rejected_and_the_rest_goes_on(self):
        self.cluster.ask("topic", "out", 1)
        self.write(["short", "x" * 5000, "last"], kafka={"message.max.bytes": 2000})
        code, _, err = self.gale("run", "topology.yaml")
        self.assertEqual([message.value for message in self.cluster.read("out")], ["short", "last"])
        self.assertIn("Message size too large", err)
        self.assertEqual(code, 1)

    def test_while_brokers_are_away_tuples_are_held_and_go_out_later_once(self):
        self.cluster.ask("topic", "out", 1)
        lines = [f"line {n}" for n in range(3000)]
        self.write(lines, timeout=2)
        self.cluster.ask("down", 1)
        process = self.start_logged()
        self.wait_for(lambda: self.log_has(r"is not well: kafka "), process)
        time.sleep(5)
        self.cluster.ask("up", 1)
        self.assertEqual(process.wait(), 0)
        self.assertEqual([message.value for message in self.cluster.read("out")], lines)

    def test_a_durable_run_that_is_killed_writes_every_line(self):
        """What was on its way is sent again: some lines come twice, none is missing."""
        self.cluster.ask("topic", "out", 1)
        lines = [f"line {n}" for n in range(20000)]
        self.write(lines)
        state = ("--state", "state")
        for life in range(3):
            process = self.start("--rate", "5000", *state)
            before = len(self.cluster.read("out"))
            self.wait_for(lambda: len(self.cluster.read("out")) > before + 500 or process.poll() is not None)
            process.kill()
            process.communicate()
        code, _, err = self.gale("run", "topology.yaml", *state)
        self.assertEqual(code, 0, err)
        self.assertIn("resumed from checkpoint", err)
        self.assertEqual({message.value for message in self.cluster.read("out")}, set(lines))

    def test_a_durable_run_with_markers_sends_with_its_checkpoints(self):
        """Stopped and started again: each line once, in order. (The mock shows what is not committed, too: kills are tried with a real broker.)"""
        self.cluster.ask("topic", "out", 1)
        self.cluster.ask("topic", "marks", 4)
        lines = [f"line {n}" for n in range(20000)]
        self.write(lines, sink=properties(markers="marks"))
        for life in range(3):
            process = self.start("--rate", "5000", "--state", "state")
            before = len(self.cluster.read("out"))
            self.wait_for(lambda: len(self.cluster.read("out")) > before + 500 or process.poll() is not None)
            process.send_signal(signal.SIGTERM)
            process.communicate()
        code, _, err = self.gale("run", "topology.yaml", "--state", "state")
        self.assertEqual(code, 0, err)
        self.assertIn("resumed from checkpoint", err)
        self.assertEqual([message.value for message in self.cluster.read("out")], lines)
        marks = [message for message in self.cluster.read("marks")]
        runs = list(dict.fromkeys(message.key for message in marks))
        self.assertTrue(all(re.fullmatch(r"write/sink/0/\d+", run) for run in runs), runs)
        self.assertGreater(len(runs), 1)
        for run in runs[:-1]:  # each has one of its own, which goes when nobody asks for it any more
            self.assertEqual([message.value for message in marks if message.key == run][-1], "-")
        numbers = [int(message.value) for message in marks if message.value != "-"]
        self.assertEqual(numbers, sorted(set(numbers)))

    def test_a_list_is_no_message(self):
        self.cluster.ask("topic", "out", 1)
        bolts = """  - id: parts
    className: gale.bolt.Map
    properties:
      - {name: set, value: {parts: "{line, line}"}}
"""
        self.write(["a"], bolts=bolts, streams="  - {from: lines, to: parts, grouping: {type: SHUFFLE}}", last="parts", sink=properties(value="parts"))
        code, _, err = self.gale("run", "topology.yaml")
        self.assertEqual(code, 1)
        self.assertIn("field parts is a list or a map: a text is made of it before, as by gale.bolt.Format", err)


def murmur2(data):
    """Of Kafka's Java client, without its sign."""
    m, h = 0x5BD1E995, (0x9747B28C ^ len(data)) & 0xFFFFFFFF
    for at in range(0, len(data) // 4 * 4, 4):
        k = int.from_bytes(data[at:at + 4], "little") * m & 0xFFFFFFFF
        k = (k ^ k >> 24) * m & 0xFFFFFFFF
        h = (h * m & 0xFFFFFFFF) ^ k
    rest = data[len(data) // 4 * 4:]
    if rest:
        h = (h ^ int.from_bytes(rest, "little")) * m & 0xFFFFFFFF
    h = (h ^ h >> 13) * m & 0xFFFFFFFF
    return (h ^ h >> 15) & 0x7FFFFFFF


class Via(Case):
    """A stream of a file that goes through a topic."""

    def write(self, config=", gale.member: 1/1", via="", replaces=("", "")):
        text = VIA.format(brokers=self.cluster.brokers, config=config, via=via)
        (self.path / "topology.yaml").write_text(text.replace(*replaces))

    def make_topics(self, count, partitions=4):
        self.cluster.ask("topic", "lines", 3)
        self.cluster.ask("topic", "words", partitions)
        self.cluster.ask("produce", "lines", 0, count)
        return {"message": count, **{str(n): 1 for n in range(count)}}

    def counts(self, *names):
        last = {}
        for line in itertools.chain.from_iterable(map(self.lines, names or ["counts.tsv"])):
            word, number = line.split("\t")
            last[word] = max(last.get(word, 0), int(number))
        return last

    def test_what_goes_in_comes_out_by_key(self):
        expected = self.make_topics(500)
        self.write()
        process = self.start()
        self.wait_for(lambda: self.counts() == expected, process)
        self.end(process)
        messages = self.cluster.read("words")
        self.assertEqual(len(messages), 1000)
        for message in messages:
            self.assertEqual(json.loads(message.value), {"word": message.key})
            self.assertEqual(message.partition, murmur2(message.key.encode()) % 4)

    def test_two_members_of_one_file_count_each_word_once_whoever_is_killed(self):
        expected, drawn, running = self.make_topics(3000), random.Random(7), {}
        self.write(config="")

        def begin(n, *more):
            log = open(self.path / f"log-{n}", "a")
            self.addCleanup(log.close)
            running[n] = subprocess.Popen([GALE, "run", "topology.yaml", "--member", f"{n}/2", "--state", f"state-{n}", "--output", f"counts-{n}.tsv", *more],
                                          cwd=self.path, env=self.environment, stdout=log, stderr=log)
            self.addCleanup(running[n].wait)
            self.addCleanup(running[n].kill)
        for n in (1, 2):
            begin(n, "--rate", "1500")
        for _ in range(6):
            time.sleep(drawn.uniform(0.2, 0.6))
            n = drawn.choice((1, 2))
            self.assertIsNone(running[n].poll(), (self.path / f"log-{n}").read_text()[-2000:])
            running[n].kill()
            running[n].wait()
            begin(n, "--rate", "1500")
        self.wait_for(lambda: self.counts("counts-1.tsv", "counts-2.tsv") == expected, what="not all words were counted, or some twice")
        for n in (1, 2):
            self.end_quietly(running[n], n)
        self.assertEqual(self.counts("counts-1.tsv", "counts-2.tsv"), expected)
        self.assertFalse(set(self.counts("counts-1.tsv")) & set(self.counts("counts-2.tsv")))

    def end_quietly(self, process, n):
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 0, (self.path / f"log-{n}").read_text()[-2000:])

    def test_a_message_that_is_none_is_told_and_costs_no_other(self):
        expected = self.make_topics(50)
        self.cluster.ask("produce", "words", 0, 1)
        self.write(via=", deadLetters: dead")
        self.cluster.ask("topic", "dead", 1)
        process = self.start_logged()
        self.wait_for(lambda: self.counts() == expected and self.cluster.read("dead"))
        process.send_signal(signal.SIGTERM)
        process.wait()
        [letter] = self.cluster.read("dead")
        self.assertEqual(letter.value, "message 0")
        self.assertIn("the message is no object of JSON", letter.headers)
        self.assertIn("words-count-unpack", letter.headers)

    def test_its_components_are_seen_and_set(self):
        self.write()
        code, out, err = self.gale("graph", "topology.yaml", "--set", "words-count-unpack.parallelism=2")
        self.assertEqual(code, 0, err)
        for part in ("words-count-pack", "words-count-sink", "words-count-spout", "words-count-unpack", "gale.bolt.Unpack ×2"):
            self.assertIn(part, out)

    def refuses(self, words, **more):
        self.write(**more)
        code, out, err = self.gale("check", "topology.yaml")
        self.assertEqual([line for line in out.splitlines() if ": error: " in line], [f"topology.yaml:{words}"], out + err)
        self.assertEqual(code, 2)

    def test_what_is_wrong_with_it_is_told_once_with_its_place(self):
        self.write()
        code, out, err = self.gale("check", "topology.yaml")
        self.assertEqual((code, out), (0, "topology.yaml: nothing is wrong\n"), err)
        self.refuses("12:62: error: 'words' has no field 'wrod' in stream 'default'; did you mean 'word'?", replaces=("[word]", "[wrod]"))
        self.refuses("12:47: error: a stream with `via` is grouped by FIELDS, which become the messages' key: any other grouping needs no topic in between, or a "
                     "stage of its own (docs/scaling.md)", replaces=("type: FIELDS, args: [word]", "type: SHUFFLE"))
        column = 111 + len(self.cluster.brokers)
        self.refuses(f"12:{column + 24}: error: properties fetch.min: librdkafka has no such property", via=", properties: {fetch.min: 1}")
        self.refuses(f"12:{column}: error: unknown key 'grup' in a stream's `via: {{kafka: ...}}`; did you mean 'group'?", via=", grup: g")

    def test_its_partitions_are_fixed_whatever_is_behind(self):
        refused = ("12:83: error: 'words-count-spout' is read by a group, and 'count' is grouped by key: when a process of the group comes or goes, keys go "
                   "to one that knows nothing of them. Fix its share: `gale.member: 1/1` in the config of the file (or gale run --member 1/1) says that this process "
                   "is alone, 2/3 that it is the second of three")
        self.refuses(refused, config="")
        self.refuses(refused, config="", replaces=("gale.bolt.Count", "gale.bolt.Map, properties: {set: {n: word}}"))


class Words(Case):
    """What is wrong with a file is told before it runs."""

    COUNT = ("{id: count, className: gale.bolt.Count, parallelism: 2}", "{type: FIELDS, args: [value]}")

    def write_keeper(self, bolt=COUNT[0], grouping=COUNT[1], spout="", config=""):
        """A group, and two bolts behind it the one that may keep something."""
        bolts = f"  - {{id: pass, className: gale.bolt.Map, properties: [{{name: set, value: {{n: value}}}}]}}\n  - {bolt}"
        streams = f"  - {{from: messages, to: pass, grouping: {{type: SHUFFLE}}}}\n  - {{from: pass, to: count, grouping: {grouping}}}"
        text = READ.format(kafka="{}", brokers=self.cluster.brokers, spout=spout, bolts=bolts, streams=streams, last="count", timeout=30, tasks=1,
                           name="read", sink="FileSink", to="{name: path, value: out.tsv}", config=config)
        (self.path / "topology.yaml").write_text(text)

    REFUSED = ("topology.yaml:11:30: {}'messages' is read by a group, and 'count' keeps what it knows by key: when a process of the group comes or goes, keys go to "
               "one that knows nothing of them. Fix its share: `gale.member: 1/1` in the config of the file (or gale run --member 1/1) says that this process is "
               "alone, 2/3 that it is the second of three\n")

    def is_refused(self, *arguments):
        code, out, err = self.gale("check", "topology.yaml", *arguments)
        self.assertEqual(code, 2 if self.REFUSED.format("error: ") in out else 0, out + err)
        return code == 2

    def test_a_group_before_keyed_state_is_refused(self):
        self.write_keeper()
        self.assertTrue(self.is_refused())
        code, _, err = self.gale("run", "topology.yaml")
        self.assertEqual((code, err), (2, "gale: " + self.REFUSED.format("")))

    def test_what_keeps_something_by_key(self):
        for bolt, grouping, refused in ((*self.COUNT, True),
                                        ("{id: count, className: gale.bolt.Count}", "{type: SHUFFLE}", True),
                                        ("{id: count, className: gale.bolt.Dedupe, properties: {key: value}}", "{type: GLOBAL}", True),
                                        ("{id: count, className: gale.bolt.Window, properties: {key: value}}", "{type: GLOBAL}", True),
                                        ("{id: count, className: gale.bolt.Window}", "{type: GLOBAL}", False),
                                        ("{id: count, className: gale.bolt.Map, parallelism: 2, properties: {set: {m: value}}}", self.COUNT[1], False)):
            with self.subTest(bolt, grouping=grouping):
                self.write_keeper(bolt, grouping)
                self.assertEqual(self.is_refused(), refused)

    def test_what_fixes_a_share(self):
        for fixed in (dict(spout=properties(member="1/1")), dict(spout=properties(fromAlways=True)), dict(config=", gale.member: 2/3"),
                      dict(config=", topology.state.dir: state")):
            with self.subTest(**fixed):
                self.write_keeper(**fixed)
                self.assertFalse(self.is_refused())
        self.write_keeper()
        self.assertFalse(self.is_refused("--member", "2/3"))
        self.assertFalse(self.is_refused("-c", "gale.member=2/3"))

    def test_a_state_and_a_member_fix_it_in_a_run(self):
        self.cluster.ask("topic", "in", 2)
        self.write_keeper(spout=properties(untilEnd=True))
        for count, more in ((20, ["--state", "state"]), (5, ["--member", "1/1", "--overwrite"])):
            self.cluster.ask("produce", "in", count, count)
            code, _, err = self.gale("run", "topology.yaml", *more)
            self.assertEqual(code, 0, err)
            self.assertEqual(len(self.lines()), count)

    def test_what_runs_nothing_of_it_does_not_mind(self):
        self.write_keeper()
        self.assertEqual(self.gale("graph", "topology.yaml")[0], 0)

    def wrong(self, words, spout="", replaces=("", ""), kafka={}):
        text = READ.format(kafka=json.dumps(kafka), brokers=self.cluster.brokers, spout=spout, bolts="", streams="", last="messages", timeout=30, tasks=1,
                           name="read", sink="FileSink", to="{name: path, value: out.tsv}", config="")
        (self.path / "topology.yaml").write_text(text.replace(*replaces))
        code, out, err = self.gale("check", "topology.yaml")
        self.assertEqual(code, 2, out + err)
        self.assertIn(words, out + err)

    def test_properties_are_librdkafkas(self):
        self.wrong("properties fetch.min.byte: librdkafka has no such property", kafka={"fetch.min.byte": 1})
        self.wrong("properties fetch.min.bytes: Configuration property \"fetch.min.bytes\" value 0 is outside allowed range",
                   kafka={"fetch.min.bytes": 0})
        self.wrong("propertiesFrom sasl.pasword: librdkafka has no such property", properties(propertiesFrom={"sasl.pasword": "x"}))

    def test_what_the_spout_sets_itself_is_not_set_twice(self):
        self.wrong("properties group.id: it is not set so: group says it", kafka={"group.id": "x"})
        self.wrong("properties enable.auto.commit: it is not set so: offsets are committed when their messages are answered, every commitEvery",
                   kafka={"enable.auto.commit": True})

    def test_where_reading_begins(self):
        for wrong in ("earlist", "1969-01-01", "2026-13-01", "2026-02-29T00:00:00Z", "2026-11-01T24:00", "2026-11-01T00:00:00Y", "-1", "-1w", "-", 123, True):
            shown = "that" if wrong is True else wrong
            self.wrong(f"from: '{shown}' is neither earliest nor latest, nor a time (2026-11-01T00:00:00Z), nor an age (-1h), nor offsets ({{topic: {{0: 123}}}})",
                       properties(**{"from": wrong}))
        self.wrong("from: in: partitions and their offsets are a map, {0: 123}", properties(**{"from": {"in": 3}}))
        self.wrong("from: in: a partition is a number from 0 on", properties(**{"from": {"in": {"-1": 3}}}))
        self.wrong("from: in: the offset of partition 1 is a number from 0 on", properties(**{"from": {"in": {"1": "end"}}}))

    def test_fields_and_topics(self):
        self.wrong("a message has no 'valu': it has value, key, topic, partition, offset, timestamp and headers", properties(emit="key, valu"))
        self.wrong("key stands twice", properties(emit="key, key"))
        self.wrong("topics", replaces=("value: [in]", "value: []"))

    def test_secrets_come_from_files_and_are_in_no_words(self):
        (self.path / "password").write_text("open sesame\n")
        self.cluster.ask("topic", "in", 1)
        secret = {"sasl.password": "password", "enable.sasl.oauthbearer.unsecure.jwt": "missing"}
        text = READ.format(kafka="{}", brokers=self.cluster.brokers, spout=properties(untilEnd=True, propertiesFrom=secret), bolts="", streams="",
                           last="messages", timeout=30, config="", tasks=1, name="read", sink="FileSink", to="{name: path, value: out.tsv}")
        (self.path / "topology.yaml").write_text(text)
        code, out, err = self.gale("run", "topology.yaml")
        self.assertNotEqual(code, 0)
        self.assertIn("propertiesFrom: cannot open 'missing': No such file or directory", err)
        (self.path / "missing").write_text("open sesame")
        code, out, err = self.gale("run", "topology.yaml")
        self.assertNotEqual(code, 0)
        self.assertIn("propertiesFrom: what missing has is no value of enable.sasl.oauthbearer.unsecure.jwt", err)
        self.assertNotIn("sesame", out + err)
        (self.path / "missing").write_text("false\n")
        code, out, err = self.gale("run", "topology.yaml")
        self.assertEqual(code, 0, err)
        self.assertNotIn("sesame", out + err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
