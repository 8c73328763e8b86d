#!/usr/bin/env python3
"""The connector mqtt, by gale's command line, against a mosquitto.

usage: mqtt_test.py GALE PLUGINS [CLASS...]
"""

import collections
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
import broker as mosquitto
from broker import Client

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
ENVIRONMENT = {**os.environ, "GALE_PLUGIN_PATH": PLUGINS}
VERSIONS = {5: "5", 4: "3.1.1"}
LONG = int(os.environ.get("GALE_TEST_FAULTS", "1"))  # about so many times as many faults; script/connectors has 8
FAULTS = max(2, 10 * LONG // 8)  # of a broker, or of a connection, in a run
KILLS = int(os.environ.get("GALE_TEST_KILLS", 50 * LONG // 8))  # of gale, one run after the other


def properties(**values):
    return "".join(f"      - {{name: {name}, value: {json.dumps(value)}}}\n" for name, value in values.items())


READ = """
name: read
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100}}
spouts:
  - id: in
    className: gale.spout.Mqtt
    properties:
{spout}
bolts:
{bolts}
  - {{id: out, className: gale.bolt.FileSink, properties: [{{name: path, value: {out}}}]}}
streams:
{streams}
"""

WRITE = """
name: write
config: {{topology.message.timeout.secs: 3600, topology.state.checkpoint.interval.ms: 100}}
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{{name: path, value: in.tsv}}{more}]
bolts:
  - {{id: fields, className: gale.bolt.Csv, properties: [{{name: separator, value: "\\t"}}, {{name: quote, value: "\\x01"}}, {{name: fields, value: "{fields}"}}]}}
  - id: sink
    className: gale.bolt.MqttSink
    properties:
{sink}
streams:
  - {{from: lines, to: fields, grouping: {{type: SHUFFLE}}}}
  - {{from: fields, to: sink, grouping: {{type: SHUFFLE}}}}
"""

class Case(unittest.TestCase):
    settings, keyed = (), {}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.broker = mosquitto.Broker(*self.settings, **self.keyed)
        self.addCleanup(self.broker.close)
        self.process = None

    def judge(self):
        """A bolt that rejects a payload with a slash."""
        return f"  - {{id: judge, className: gale.bolt.MqttSink, properties: [{{name: server, value: '{self.server()}'}}, {{name: topic, value: 'judged/{{payload}}'}}]}}\n"

    def client(self, *arguments, **more):
        client = Client(self.broker, *arguments, **more)
        self.addCleanup(client.close)
        return client

    def server(self):
        return f"127.0.0.1:{self.broker.port}"

    def read(self, name="t.yaml", out="out.tsv", bolts="", streams="  - {from: in, to: out, grouping: {type: SHUFFLE}}", **spout):
        spout = {"server": self.server(), "topics": ["a/#"], "qos": 1, **spout}
        (self.path / name).write_text(READ.format(spout=properties(**spout), bolts=bolts, streams=streams, out=out))

    def write(self, lines, fields="topic, payload", more="", **sink):
        (self.path / "in.tsv").write_text("".join(line + "\n" for line in lines))
        sink = {"server": self.server(), "topic": "{+topic}", "payload": "payload", **sink}
        (self.path / "t.yaml").write_text(WRITE.format(sink=properties(**sink), fields=fields, more=more))

    def gale(self, *arguments, code=0):
        done = subprocess.run([GALE, *arguments], cwd=self.path, env=ENVIRONMENT, capture_output=True, text=True, timeout=90)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def start(self, *arguments, name="t.yaml"):
        log = open(self.path / "log", "a")
        self.addCleanup(log.close)
        process = subprocess.Popen([GALE, "run", name, *arguments], cwd=self.path, env=ENVIRONMENT, stderr=log, stdout=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.process = process
        return process

    def start_reading(self, *arguments, name="t.yaml", count=1):
        """And waits until it has subscribed (so often)."""
        before = self.broker.log().count("Sending SUBACK to gale") + count
        process = self.start(*arguments, name=name)
        self.wait_for(lambda: self.broker.log().count("Sending SUBACK to gale") >= before)
        return process

    def wait_for(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not condition():
            if self.process and self.process.poll():
                self.fail(f"it has ended: {self.log()}")
            self.assertLess(time.monotonic(), end, self.log()[-3000:] + self.broker.log()[-6000:])
            time.sleep(0.02)

    def end(self, process, code=0):
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), code, self.log())

    def log(self):
        path = self.path / "log"
        return path.read_text() if path.exists() else ""

    def lines(self, name="out.tsv"):
        path = self.path / name
        return path.read_text().splitlines() if path.exists() else []

    def breaches(self, client):
        """How often the broker has sent a message anew that it had released already. mosquitto 2.0.11 does where it loses a client while it says PUBREL again; then nobody can know it."""
        released, count = set(), 0
        for what, number in re.findall(rf"(Sending PUBREL|Received PUBCOMP|Sending PUBLISH) .*{client} \((?:d.*, q2, r., |Mid: )?m?(\d+)", self.broker.log().replace("(m", "(").replace(", m", ", ")):
            if what == "Sending PUBREL":
                released.add(number)
            elif what == "Sending PUBLISH":
                count += number in released
            else:
                released.discard(number)
        return count


class Reads(Case):
    def test_messages_of_every_qos_arrive_with_their_fields(self):
        for version, word in VERSIONS.items():
            with self.subTest(version=word):
                self.read(version=word, qos=2, emit=["payload", "topic", "qos", "retain"], levels="a/{site}/+", out=f"{version}.tsv", clientId=f"gale-{version}")
                process = self.start_reading()
                client = self.client(version=version)
                for qos in range(3):
                    client.publish(f"a/graz/{qos}", f"n{qos}", qos)
                client.publish("a/linz", "short", 1)
                self.wait_for(lambda: len(self.lines(f"{version}.tsv")) == 4)
                self.end(process)
                self.assertEqual(sorted(self.lines(f"{version}.tsv")),
                                 ["n0\ta/graz/0\t0\tfalse\tgraz", "n1\ta/graz/1\t1\tfalse\tgraz", "n2\ta/graz/2\t2\tfalse\tgraz", "short\ta/linz\t1\tfalse\t\\N"])

    def test_what_only_version_5_has_are_fields(self):
        self.read(emit=["payload", "contentType", "responseTopic", "correlation", "filter", "properties"],
                  bolts="  - {id: json, className: gale.bolt.Format, properties: [{name: format, value: json}]}\n",
                  streams="  - {from: in, to: json, grouping: {type: SHUFFLE}}\n  - {from: json, to: out, grouping: {type: SHUFFLE}}")
        process = self.start_reading()
        self.client().publish("a/b", "x", ContentType="text/plain", ResponseTopic="r", CorrelationData=b"7", UserProperty=[("k", "1"), ("l", "2")])
        self.wait_for(lambda: self.lines())
        self.end(process)
        found = json.loads(self.lines()[0])
        self.assertEqual(found, {"payload": "x", "contentType": "text/plain", "responseTopic": "r", "correlation": "7", "filter": "a/#", "properties": {"k": "1", "l": "2"}})

    def test_the_broker_gets_its_puback_when_the_tree_is_done(self):
        self.read()
        path = self.path / "t.yaml"
        nobody = f"{{name: connect, value: '127.0.0.1:{mosquitto.free_port()}'}}"
        path.write_text(path.read_text().replace("gale.bolt.FileSink, properties: [{name: path, value: out.tsv}]", f"gale.bolt.TcpSink, properties: [{nobody}]"))
        process = self.start_reading()
        self.client().publish("a/b", "x", 1)
        self.wait_for(lambda: "Sending PUBLISH to gale-read-in" in self.broker.log())
        time.sleep(0.3)  # what would come too early has time to
        self.assertNotIn("Received PUBACK from gale-read-in", self.broker.log())
        process.kill()
        process.wait()

    def test_no_more_are_out_than_in_flight_allows(self):
        for version, word in VERSIONS.items():
            with self.subTest(version=word):
                self.read(version=word, inFlight=5, out=f"{version}.tsv", clientId=f"gale-{version}")
                process = self.start_reading()
                self.client(version=version).publish_all("a/b", [str(n) for n in range(200)])
                self.wait_for(lambda: len(self.lines(f"{version}.tsv")) == 200)
                self.end(process)
                self.assertEqual(self.lines(f"{version}.tsv"), [str(n) for n in range(200)])

    def test_retained_messages_are_taken_or_skipped(self):
        self.client().publish("a/old", "kept", 1, retain=True)
        for version, word in VERSIONS.items():
            for retained in ("take", "skip"):
                name = f"{version}-{retained}.tsv"
                self.read(version=word, retained=retained, out=name, clientId=f"gale-{version}-{retained}", emit=["payload", "retain"])
                process = self.start_reading()
                self.client(version=version).publish("a/new", "new", 1)
                self.wait_for(lambda: "new\tfalse" in self.lines(name))
                self.end(process)
                self.assertEqual(self.lines(name), (["kept\ttrue"] if retained == "take" else []) + ["new\tfalse"])

    def test_what_is_rejected_goes_to_the_dead_letters(self):
        self.read(deadLetters="dead", streams="  - {from: in, to: judge, grouping: {type: SHUFFLE}}\n  - {from: in, to: out, grouping: {type: SHUFFLE}}", bolts=self.judge())
        process = self.start_reading()
        dead = self.client().subscribe("dead")
        self.client().publish("a/b", "no/level", 1, ContentType="text/x")
        self.client().publish("a/b", "good", 1)
        self.wait_for(lambda: dead.messages and len(self.lines()) == 2)
        self.wait_for(lambda: self.broker.log().count("Received PUBACK from gale-read-in ") == 2)
        self.end(process, code=1)
        self.assertEqual(dead.texts(), ["no/level"])
        self.assertRegex(self.log(), r"message of a/b, packet \d+ given up after 1 attempt: rejected: ")
        more = dict(dead.messages[0].properties.UserProperty)
        self.assertEqual((more["gale.topic"], more["gale.component"], more["gale.reason"], dead.messages[0].properties.ContentType), ("a/b", "judge", "rejected", "text/x"))

    def test_a_large_message_arrives(self):
        self.read()
        process = self.start_reading()
        self.client().publish("a/b", "x" * 3_000_000, 1)
        self.wait_for(lambda: self.lines())
        self.end(process)
        self.assertEqual([len(line) for line in self.lines()], [3_000_000])


class Writes(Case):
    def test_each_tuple_is_a_message_of_its_topic(self):
        for version, word in VERSIONS.items():
            for qos in range(3):
                with self.subTest(version=word, qos=qos):
                    heard = self.client(version=version).subscribe("w/#")
                    self.write([f"w/{n % 3}\tm{n}" for n in range(1000)], version=word, qos=qos)
                    self.gale("run", "t.yaml")
                    self.wait_for(lambda: len(heard.messages) == 1000)
                    self.assertEqual(heard.texts(), [f"m{n}" for n in range(1000)])
                    self.assertEqual(heard.messages[4].topic, "w/1")
                    self.assertEqual({message.qos for message in heard.messages}, {qos})
                    heard.close()

    def test_topics_are_made_of_fields(self):
        heard = self.client().subscribe("alerts/#")
        self.write(["graz\theat\tx", "a/b\theat\tx", "+\theat\ty", "\theat\tz", "linz\tcold\ty"], fields="site, kind, payload", topic="alerts/{site}/{kind}")
        words = self.gale("run", "t.yaml", code=1)
        self.wait_for(lambda: len(heard.messages) == 2)
        self.assertEqual([message.topic for message in heard.messages], ["alerts/graz/heat", "alerts/linz/cold"])
        for fault in ("has a slash: {+name} may have some", "has a wildcard, + or #", "is empty"):
            self.assertIn(f"topic: field site {fault}", words)

    def test_what_version_5_has_goes_along(self):
        heard = self.client().subscribe("w/#")
        self.write(["w/x\tm\ttrace-1"], fields="topic, payload, trace", properties=["trace"], expiry="1h", contentType="text/plain", retain=True)
        self.gale("run", "t.yaml")
        self.wait_for(lambda: heard.messages)
        more = heard.messages[0].properties
        self.assertEqual((more.UserProperty, more.MessageExpiryInterval, more.ContentType), ([("trace", "trace-1")], 3600, "text/plain"))
        late = self.client().subscribe("w/#")
        self.wait_for(lambda: late.messages)
        self.assertTrue(late.messages[0].retain)

    def test_no_more_are_out_than_the_broker_takes(self):
        self.broker.close()
        self.broker = mosquitto.Broker("max_inflight_messages 3")
        self.addCleanup(self.broker.close)
        heard = self.client().subscribe("w/#")
        self.write([f"w/x\tm{n}" for n in range(500)], qos=2)
        self.gale("run", "t.yaml")
        self.wait_for(lambda: len(heard.messages) == 500)
        self.assertEqual(heard.texts(), [f"m{n}" for n in range(500)])


class Words(Case):
    keyed = {"password": "sesame"}

    def check(self, words, **given):
        self.read(**given)
        told = self.gale("check", "t.yaml", code=2)
        self.assertIn(words, told)
        self.assertIn("t.yaml:", told)

    def test_wrong_settings_are_told_at_their_place(self):
        self.check("topics: 'a#': '#' stands alone, as the last level", topics=["a#"])
        self.check("topics: '$share/g': it has a filter behind its group", topics=["$share/g"])
        self.check("levels: it has no field", levels="a/b")
        self.check("levels: {topic} is a field of emit already", levels="{topic}", emit=["topic"])
        self.check("emit: ", emit=["payloud"])
        self.check("deadLetters: it is a topic, without wildcards", deadLetters="a/#")
        self.check("passwordFrom: it is given without its user", passwordFrom="password")
        self.check("will: topic must be there", will={"payload": "x"})
        self.check("will: it has no 'topick': topic, payload, qos, retain and delay", will={"topick": "x"})
        self.check("will: qos is a whole number from 0 to 2", will={"topic": "x", "qos": 3})
        self.check("version", version="3")
        self.check("will: delay is of MQTT 5", version="3.1.1", will={"topic": "x", "delay": 3})
        self.check("server: it is a host and a port alone", server="mqtt://gale:sesame@broker")

    def test_wrong_settings_of_the_sink_are_told_at_their_place(self):
        for words, given in (("topic: it has no wildcards", {"topic": "a/#"}), ("topic: a field stands in braces", {"topic": "a/{b"}),
                             ("' names 'nowhere', which '", {"topic": "a/{+nowhere}"}),
                             ("expiry: it is of MQTT 5", {"version": "3.1.1", "expiry": 5}), ("properties: it is of MQTT 5", {"version": "3.1.1", "properties": ["topic"]})):
            self.write(["a\tb"], **given)
            told = self.gale("check", "t.yaml", code=2)
            self.assertIn(words, told)

    def test_a_password_is_read_from_its_file_and_told_nowhere(self):
        (self.path / "password").write_text("wrong-sesame\n")
        for version, word in VERSIONS.items():
            self.read(version=word, user="gale", passwordFrom="password", out=f"{version}.tsv", clientId=f"gale-{version}")
            (self.path / "password").write_text("wrong-sesame\n")
            process = self.start()
            self.wait_for(lambda: self.log().count("the connection was refused") >= 1)
            self.assertRegex(self.log(), "the connection was refused: (not authorized|bad user name or password)")
            self.assertNotIn("sesame", self.log())
            (self.path / "password").write_text("sesame\n")  # the next attempt reads it anew
            self.wait_for(lambda: f"Sending SUBACK to gale-{version}" in self.broker.log())
            self.client(version=version, password="sesame").publish("a/b", "in", 1)
            self.wait_for(lambda: self.lines(f"{version}.tsv") == ["in"])
            self.end(process)
            self.assertNotIn("sesame", self.log())
            (self.path / "log").unlink()

    def test_several_tasks_share_or_are_refused(self):
        (self.path / "password").write_text("sesame\n")
        self.read(user="gale", passwordFrom="password")
        path = self.path / "t.yaml"
        path.write_text(path.read_text().replace("    className: gale.spout.Mqtt", "    parallelism: 2\n    className: gale.spout.Mqtt"))
        self.assertIn("topics: each of 2 tasks would have all messages: $share/GROUP/a/# shares them", self.gale("run", "t.yaml", code=2))
        path.write_text(path.read_text().replace('"a/#"', '"$share/g/a/#"'))
        process = self.start_reading(count=2)
        self.client(password="sesame").publish_all("a/b", [str(n) for n in range(300)])
        self.wait_for(lambda: len(self.lines()) == 300)
        self.end(process)
        self.assertEqual(sorted(map(int, self.lines())), list(range(300)))
        log = self.broker.log()
        self.assertIn("Sending PUBLISH to gale-read-in-0", log)
        self.assertIn("Sending PUBLISH to gale-read-in-1", log)


class Sessions(Case):
    keyed = {"persistence": True}

    def test_what_comes_while_gale_is_away_waits_in_the_session(self):
        for version, word in VERSIONS.items():
            name = f"{version}.tsv"
            self.read(version=word, out=name, clientId=f"gale-{version}", qos=2)
            self.end(self.start_reading())
            client = self.client(version=version)
            client.publish_all("a/b", [str(n) for n in range(100)], qos=2)
            client.publish_all("a/b", [str(n) for n in range(100, 150)], qos=1)
            process = self.start()
            self.wait_for(lambda: len(self.lines(name)) == 150)
            self.end(process)
            self.assertEqual(self.lines(name), [str(n) for n in range(150)])

    def test_a_broker_that_is_stopped_has_the_session_again(self):
        for version, word in VERSIONS.items():
            name = f"{version}.tsv"
            self.read(version=word, out=name, clientId=f"gale-{version}", qos=2)
            process = self.start_reading()
            self.client(version=version).publish("a/b", "before", 2)
            self.wait_for(lambda: self.lines(name) == ["before"])
            self.broker.stop()
            self.wait_for(lambda: "not well" in self.log() or "cannot connect" in self.log())
            self.broker.start()
            self.client(version=version).publish("a/b", "behind", 2)
            self.wait_for(lambda: "behind" in self.lines(name))
            self.end(process)
            self.assertEqual(self.lines(name), ["before", "behind"])

    def test_two_processes_share_a_subscription(self):
        for version, word in VERSIONS.items():
            names = [f"{version}-{n}" for n in (1, 2)]
            processes = []
            for name in names:
                self.read(name=f"{name}.yaml", out=f"{name}.tsv", version=word, topics=[f"$share/group-{version}/a/#"], clientId=f"gale-{name}")
                processes.append(self.start_reading(name=f"{name}.yaml"))
            self.client(version=version).publish_all("a/b", [str(n) for n in range(400)])
            count = lambda: [len(self.lines(f"{name}.tsv")) for name in names]
            self.wait_for(lambda: sum(count()) == 400)
            self.assertTrue(all(count()), count())
            self.assertEqual(sorted(int(line) for name in names for line in self.lines(f"{name}.tsv")), list(range(400)))
            for process in processes:
                self.end(process)

    def test_a_will_is_said_for_who_is_killed_and_not_for_who_ends(self):
        for version, word in VERSIONS.items():
            heard = self.client(version=version).subscribe("state/#")
            self.read(version=word, clientId=f"gale-{version}", will={"topic": "state/gale", "payload": f"gone {version}", "qos": 1, "retain": True})
            self.end(self.start_reading())
            process = self.start()
            self.wait_for(lambda: self.broker.log().count(f"Sending SUBACK to gale-{version}") == 2)
            self.assertEqual([text for text in heard.texts() if text == f"gone {version}"], [])
            process.kill()
            process.wait()
            self.process = None  # nobody's end is wrong from here on
            self.wait_for(lambda: f"gone {version}" in heard.texts())

    def test_a_session_that_the_broker_has_lost_is_told_of(self):
        self.broker.close()
        self.broker = mosquitto.Broker()
        self.addCleanup(self.broker.close)
        self.read()
        process = self.start_reading()
        self.broker.kill()
        self.broker.start()
        self.wait_for(lambda: "the broker has no session of it any more" in self.log())
        self.client().publish("a/b", "behind", 1)
        self.wait_for(lambda: self.lines() == ["behind"])
        self.end(process, code=1)  # something may be missing


EACH = 200  # messages that come for a life, or between two faults


class Durable(Case):
    keyed = {"persistence": True}

    def lives(self, draw, version, qos):
        """gale is killed again and again, some time after it has done something of what came for this life; the broker stays. What was written, and how many had come."""
        self.read(version=VERSIONS[version], clientId="gale-durable", qos=qos, session="1d", inFlight=50)
        process = self.start_reading("--state", "state")
        client = self.client(version=version)
        sent = []
        for life in range(KILLS):
            before = len(self.lines())
            sent += [client.client.publish("a/b", str(n), qos) for n in range(life * EACH, life * EACH + EACH)]
            self.wait_for(lambda: len(self.lines()) > before)
            time.sleep(draw.uniform(0, 0.3))
            process.kill()
            process.wait()
            self.process = None
            process = self.start("--state", "state")
        for one in sent:
            one.wait_for_publish(60)
        self.wait_for(lambda: len(set(self.lines())) == len(sent), 60)
        client.publish("a/b", "last", qos)
        self.wait_for(lambda: "last" in self.lines())
        self.end(process)
        return [line for line in self.lines() if line != "last"], len(sent)

    def test_of_qos_2_each_message_comes_once_whenever_gale_is_killed(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                lines, count = self.lives(random.Random(version), version, 2)
                breaches = self.breaches("gale-durable")
                again = [line for line, times in collections.Counter(lines).items() if times > 1]
                self.assertLessEqual(len(again), breaches)
                self.assertEqual(list(dict.fromkeys(lines)), [str(n) for n in range(count)])
                if not breaches:
                    self.assertEqual(len(lines), count)
                self.tearDownLife()

    def test_of_qos_1_none_is_lost_whenever_gale_is_killed(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                lines, count = self.lives(random.Random(10 + version), version, 1)
                self.assertEqual(sorted(set(map(int, lines))), list(range(count)))
                self.tearDownLife()

    def tearDownLife(self):
        """A new life: another broker, another folder."""
        self.doCleanups()
        self.setUp()

    def test_a_message_that_is_given_up_in_a_durable_run_is_answered(self):
        self.read(deadLetters="dead", qos=2, bolts=self.judge(), streams="  - {from: in, to: judge, grouping: {type: SHUFFLE}}\n  - {from: in, to: out, grouping: {type: SHUFFLE}}")
        process = self.start_reading("--state", "state")
        dead = self.client().subscribe("dead")
        self.client().publish_all("a/b", ["no/level"] * 30, 2)
        self.wait_for(lambda: len(dead.messages) == 30)
        self.wait_for(lambda: self.broker.log().count("Received PUBCOMP from gale-read-in ") == 30)
        self.end(process, code=1)

    def test_a_sink_sends_again_what_no_checkpoint_has_as_confirmed(self):
        heard = self.client().subscribe("w/#")
        self.write([f"w/x\tm{n}" for n in range(3000)])
        draw = random.Random(4)
        for _ in range(8):
            process = self.start("--state", "state", "--rate", "4000")
            try:
                process.wait(draw.uniform(0.1, 0.4))
            except subprocess.TimeoutExpired:
                process.kill()
            process.wait()
        self.gale("run", "t.yaml", "--state", "state")
        self.wait_for(lambda: len(set(heard.texts())) == 3000)
        last = list(dict.fromkeys(reversed(heard.texts())))[::-1]
        self.assertEqual(last, [f"m{n}" for n in range(3000)])  # in order, also of those that came again


class Faulty(Case):
    """A reader or a sink that lives on, through faults of one kind: stop, kill, hang (of the broker), cut (of its connections)."""

    def fault(self, kind):
        """One; behind it all is as before."""
        if kind == "cut":
            self.between.cut()
        elif kind == "hang":
            self.broker.hang()
            time.sleep(1.5)  # gale's timeout is over
            self.broker.go_on()
        else:
            getattr(self.broker, kind)()
            self.broker.start()

    def given(self, version, qos, kind):
        given = {"version": VERSIONS[version], "qos": qos, "clientId": f"gale-{version}-{qos}-{kind}", "timeout": 1, "keepAlive": 1}
        if kind == "cut":
            self.between = mosquitto.Between(self.broker)
            self.addCleanup(self.between.close)
            given["server"] = f"127.0.0.1:{self.between.port}"
        return given

    def reads(self, version, qos, kind):
        """What is written of FAULTS * EACH messages, in this order."""
        given = self.given(version, qos, kind)
        out = f"{given['clientId']}.tsv"
        self.read(out=out, **given)
        process = self.start_reading()
        client = self.client(f"sends-{out}", version=version, clean=False)
        for turn in range(FAULTS):
            for n in range(turn * EACH, turn * EACH + EACH):
                client.client.publish("a/b", str(n), qos)
            self.wait_for(lambda: len(set(self.lines(out))) > turn * EACH * 3 // 4)
            self.fault(kind)
        self.wait_for(client.client.is_connected)
        client.client.publish("a/b", "last", qos)  # behind all others, which it says again by itself
        self.wait_for(lambda: "last" in self.lines(out), 60)
        self.end(process)
        return [line for line in self.lines(out) if line != "last"]

    def writes(self, version, qos, kind):
        """What is heard of FAULTS * EACH messages, in this order."""
        given = self.given(version, qos, kind)
        heard = self.client(f"hears-{given['clientId']}", version=version, clean=False).subscribe("w/#")
        self.write([f"w/x\tm{n}" for n in range(FAULTS * EACH)], **given)
        process = self.start("--rate", "500")
        for turn in range(FAULTS):
            self.wait_for(lambda: len(heard.messages) > turn * EACH * 3 // 4)
            self.fault(kind)
        self.assertEqual(process.wait(90), 0, self.log())
        self.client(version=version).publish("w/x", "last", 2)
        self.wait_for(lambda: "last" in heard.texts(), 60)
        heard.close()
        return [text for text in heard.texts() if text != "last"]

    def all_read(self):
        return [str(n) for n in range(FAULTS * EACH)]

    def all_written(self):
        return [f"m{n}" for n in range(FAULTS * EACH)]


    def check_reader(self, kind):
        """QoS 1: none is lost; QoS 2: none is doubled either."""
        for version in VERSIONS:
            self.assertEqual(set(self.reads(version, 1, kind)), set(self.all_read()))
            lines = self.reads(version, 2, kind)
            self.assertEqual(list(dict.fromkeys(lines)), self.all_read())
            self.assertLessEqual(len(lines) - FAULTS * EACH, self.breaches(f"gale-{version}-2-{kind}"))

    def check_sink(self, kind):
        """A sink of 3.1.1 has a new session with each connection, so that QoS 2 is as QoS 1."""
        for version, qos in ((5, 1), (4, 2)):
            self.assertEqual(set(self.writes(version, qos, kind)), set(self.all_written()))
        self.assertEqual(self.writes(5, 2, kind), self.all_written())


class Faults(Faulty):
    keyed = {"persistence": True}

    def test_a_broker_that_stops_and_comes_back_costs_a_reader_no_message(self):
        for version in VERSIONS:
            self.assertEqual(set(self.reads(version, 1, "stop")), set(self.all_read()))

    def test_a_broker_that_stops_and_comes_back_costs_a_sink_no_message(self):
        for version, qos in ((5, 1), (5, 2), (4, 1)):
            self.assertEqual(set(self.writes(version, qos, "stop")), set(self.all_written()))

    def test_a_reader_goes_on_with_a_broker_that_is_killed(self):
        """mosquitto confirms a moment before it saves: what it confirmed just then is lost. What gale answered is written, each."""
        for version in VERSIONS:
            lines = self.reads(version, 1, "kill")
            self.assertGreater(len(set(lines)), FAULTS * EACH * 9 // 10)
            self.assertLessEqual(self.broker.log().count(f"Received PUBACK from gale-{version}-1-kill "), len(lines) + 1)

    def test_a_sink_goes_on_with_a_broker_that_is_killed(self):
        """What it lost it had confirmed: all had come there."""
        for version in VERSIONS:
            self.assertGreater(len(set(self.writes(version, 1, "kill"))), FAULTS * EACH * 9 // 10)
            self.assertGreaterEqual(self.broker.log().count(f"Received PUBLISH from gale-{version}-1-kill "), FAULTS * EACH)


class Hangs(Faulty):
    def test_a_broker_that_hangs_costs_a_reader_no_message(self):
        self.check_reader("hang")

    def test_a_broker_that_hangs_costs_a_sink_no_message(self):
        self.check_sink("hang")

    def test_a_broker_that_hangs_is_given_up_and_had_again(self):
        self.read(timeout=1, keepAlive=1)
        process = self.start_reading()
        self.broker.hang()
        self.wait_for(lambda: "it is silent for 1 s (timeout)" in self.log())
        self.broker.go_on()
        self.client().publish("a/b", "behind", 1)
        self.wait_for(lambda: self.lines() == ["behind"])
        self.end(process)


class Cuts(Faulty):
    def test_a_connection_that_is_cut_costs_a_reader_no_message(self):
        self.check_reader("cut")

    def test_a_connection_that_is_cut_costs_a_sink_no_message(self):
        self.check_sink("cut")

    def test_a_connection_that_is_cut_costs_no_message_of_qos_2_and_doubles_none(self):
        """The broker lives on, and throws its clients out: another one takes the client id."""
        heard = self.client().subscribe("w/#")
        self.write([f"w/x\tm{n}" for n in range(4000)], qos=2, clientId="gale-taken")
        process = self.start("--rate", "2000")
        for turn in range(5):
            self.wait_for(lambda: len(heard.messages) > turn * 400)
            Client(self.broker, "gale-taken", clean=False).close()
        self.assertEqual(process.wait(90), 0, self.log())
        self.assertGreaterEqual(self.log().count("is not well"), 3)
        self.wait_for(lambda: len(heard.messages) >= 4000)
        self.assertEqual(heard.texts(), [f"m{n}" for n in range(4000)])

    def test_tls_is_spoken_and_looked_at(self):
        files = [str(self.path / name) for name in ("cert.pem", "key.pem")]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                        "-out", files[0], "-keyout", files[1]], check=True, capture_output=True)
        self.broker.close()
        self.broker = mosquitto.Broker(tls=files)
        self.addCleanup(self.broker.close)
        self.read(server=f"localhost:{self.broker.port}", tls=True, ca="cert.pem")
        process = self.start_reading()
        self.write(["a/b\tby TLS"], server=f"localhost:{self.broker.port}", tls=True, ca="cert.pem")
        self.gale("run", "t.yaml")
        self.wait_for(lambda: self.lines() == ["by TLS"])
        self.end(process)
        self.read(server=f"localhost:{self.broker.port}", tls=True, clientId="gale-other")
        process = self.start()
        self.wait_for(lambda: "TLS" in self.log() and "certificate" in self.log())
        process.kill()
        process.wait()


class Example(unittest.TestCase):
    def test_the_example_runs(self):
        path = Path(__file__).resolve().parents[3] / "examples/connectors/mqtt/run"
        done = subprocess.run([str(path), "3"], env={**ENVIRONMENT, "GALE": GALE}, capture_output=True, text=True, timeout=90)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"averages/\w+/\w+ ")


if __name__ == "__main__":
    if not mosquitto.is_there():
        print("mosquitto or python3-paho-mqtt is not installed: the tests against it are left out")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
