#!/usr/bin/env python3
"""The tap of a running topology: tuples as they pass, in REST and by `gale tap`.

usage: tap_test.py GALE
"""

import json
import os
import signal
import subprocess
import sys
import threading
import unittest
import urllib.parse
from pathlib import Path

import rig

rig.Case.gale = str(Path(sys.argv[1]).resolve())
TAP = "/api/gale/v1/tap"
MOST = 16

STREAMS = """\
name: streams
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{ name: path, value: in.txt }, { name: follow, value: true }]
bolts:
  - id: number
    className: gale.bolt.Map
    properties: { set: { n: "tonumber(line)", half: "tonumber(line) / 4" } }
  - id: big
    className: gale.bolt.Filter
    properties: { where: "n > 5" }
streams:
  - { from: lines, to: number, grouping: { type: SHUFFLE } }
  - { from: number, to: big, grouping: { type: SHUFFLE } }
"""


class Reader:
    """Who looks: the lines that are no heartbeat."""

    def __init__(self, run, sure=True, **query):
        self.connection = rig.UnixConnection(run.control())
        self.connection.request("GET", f"{TAP}?{urllib.parse.urlencode(query)}")
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200 or not sure, self.answer.read()
        if sure:
            self.wait_for_executors(run)

    @staticmethod
    def wait_for_executors(run):
        """A tap is taken up with an executor's next step. Each looks for open trees once a step: the second answer is of one that has
        begun since the first, and so since the tap has."""
        for _ in range(2):
            run.json("/api/gale/v1/open-trees?max=1")

    def next(self):
        while line := self.answer.readline():
            if line != b"\n":
                return json.loads(line)
        return None

    def rest(self):
        lines = []
        while (line := self.next()) is not None:
            lines.append(line)
        return lines

    def close(self):
        self.answer.close()
        self.connection.close()


class Case(rig.Case):
    def add(self, run, *lines):
        with open(run.path / "in.txt", "a") as file:
            file.write("".join(line + "\n" for line in lines))

    def shown(self, run, reader, *lines):
        """What is shown of lines that come one after another: the next when the one before has been shown, and the executor has begun a step
        since. A step that began right behind what was shown shows nothing more, and may last long on a busy machine."""
        tuples = []
        for line in lines:
            reader.wait_for_executors(run)
            self.add(run, line)
            tuples.append(reader.next())
        return tuples

    def numbers(self, **more):
        return rig.Run(self, self.gale, STREAMS, lines=(), **more)

    def reader(self, run, **query):
        reader = Reader(run, **query)
        self.addCleanup(reader.close)
        return reader

    def room(self, run):
        """Another one, where there is room: that a reader has gone is noticed by what is written to him next."""
        reader = Reader(run, False, component="split", rate=10000)
        if reader.answer.status == 200:
            return reader
        assert reader.answer.status == 503, reader.answer.read()
        return reader.close()

    def refused(self, run, **query):
        status, headers, text = run.ask(f"{TAP}?{urllib.parse.urlencode(query)}")
        self.assertEqual(headers["Content-Type"], "application/json")
        return status, json.loads(text)["error"]

    def done(self, run, component, count):
        def executed():
            told = run.json("/api/gale/v1/now")["components"]
            return next(one for one in told if one["name"] == component)["executed"] >= count
        rig.until(executed, f"{count} executed by {component}")


class Values(Case):
    def test_each_tuple_is_shown_as_it_was_emitted(self):
        run = self.run_words(lines=())
        reader = self.reader(run, component="split", rate=10000)
        words = [f"word{number}" for number in range(40)] + ["ä", 'quo"te', "\u001b[31m", "\u202eevil"]
        tuples = self.shown(run, reader, *words)
        self.assertEqual([one["values"] for one in tuples], [{"word": word} for word in words])
        self.assertEqual({(one["component"], one["stream"], one["dropped"], one["message_id"]) for one in tuples}, {("split", "default", 0, None)})
        self.assertEqual([one["time"] for one in tuples], sorted(one["time"] for one in tuples))
        task = next(one["task"] for one in run.json("/api/gale/v1/now")["tasks"] if one["component"] == "split")
        self.assertEqual({one["task"] for one in tuples}, {task})

    def test_fields_have_their_types_and_a_spout_s_tuples_their_ids(self):
        run = self.numbers()
        spout = self.reader(run, component="lines", stream="default", rate=10000)
        number = self.reader(run, component="number", rate=10000)
        self.add(run, "7")
        line = spout.next()
        self.assertEqual(line["values"]["line"], "7")
        self.assertRegex(line["message_id"], r"^\d+$")
        self.assertEqual(number.next()["values"], {"line": "7", "n": 7, "half": 1.75})

    def test_bytes_that_are_no_text_do_not_break_a_line(self):
        run = self.run_words(lines=())
        reader = self.reader(run, component="split", rate=10000)
        with open(run.path / "in.txt", "ab") as file:
            file.write(b"a\xff\x9bb\n")
        self.assertEqual(reader.next()["values"], {"word": {"base64": "Yf+bYg=="}})

    def test_no_more_come_in_a_second_than_were_asked_for(self):
        run = self.run_words(lines=())
        reader = self.reader(run, component="split", rate=1)
        over = threading.Event()
        self.addCleanup(over.set)

        def feed():
            while not over.wait(0.005):
                self.add(run, "a b c d e f g h")
        feeder = threading.Thread(target=feed)
        feeder.start()
        tuples = [reader.next() for _ in range(3)]
        over.set()
        feeder.join()
        times = [one["time"] for one in tuples]
        self.assertTrue(all(after - before > 0.5 for before, after in zip(times, times[1:])), times)


class Where(Case):
    def test_what_it_is_true_of_is_shown_and_nothing_else(self):
        run = self.numbers()
        reader = self.reader(run, component="number", where="n % 3 == 0 and n > 0", rate=10000)
        seen = self.reader(run, component="number", rate=10000)
        for number in range(10):
            self.shown(run, seen, str(number))
        self.assertEqual([reader.next()["values"]["n"] for _ in range(3)], [3, 6, 9])

    def test_a_mistake_is_told_with_its_place(self):
        run = self.numbers()
        status, text = self.refused(run, component="number", where="half > 1 and m == 1")
        self.assertEqual(status, 400)
        self.assertIn("where:1:14: there is no field 'm'", text)
        for wrong in "n >", "n && 1", "end", "os.exit()":
            status, text = self.refused(run, component="number", where=wrong)
            self.assertEqual(status, 400, wrong)
            self.assertIn("where:1", text)

    def test_a_tuple_that_it_fails_with_is_passed_over_and_the_first_is_told(self):
        run = self.numbers()
        reader = self.reader(run, component="lines", stream="default", where="line + 1 > 5", rate=10000)
        seen = self.reader(run, component="lines", stream="default", rate=10000)
        self.shown(run, seen, "7", "x", "y", "8")
        self.assertEqual(reader.next()["values"]["line"], "7")
        told = reader.next()
        self.assertRegex(told["error"], r"^where:1: .*line = \"x\"")
        self.assertNotIn("values", told)
        self.assertEqual(reader.next()["values"]["line"], "8")

    def test_work_without_end_is_bounded(self):
        run = self.numbers()
        reader = self.reader(run, component="lines", stream="default", where="while true do end return true")
        self.add(run, "1")
        self.assertIn("where", reader.next()["error"])


class Names(Case):
    def test_wrong_ones_are_told_with_the_nearest_right_one(self):
        run = self.run_words()
        self.assertEqual(self.refused(run)[0], 400)
        for query, status, text in (({"component": "splt"}, 404, "did you mean 'split'"),
                                    ({"component": "__acker"}, 404, "no component"),
                                    ({"component": "x" * 1500}, 404, "no component"),
                                    ({"component": "split", "stream": "defualt"}, 404, "did you mean 'default'"),
                                    ({"component": "split", "rate": 0}, 400, "from 1 to 10000"),
                                    ({"component": "split", "rate": 10001}, 400, "from 1 to 10000"),
                                    ({"component": "split", "rate": "x"}, 400, "from 1 to 10000")):
            told = self.refused(run, **query)
            self.assertEqual(told[0], status, query)
            self.assertIn(text, told[1])

    def test_it_is_the_owner_s_alone(self):
        run = self.run_words()
        self.assertEqual(run.ask(f"{TAP}?component=split", token=False)[0], 401)
        self.assertEqual(run.ask(f"{TAP}?component=split", "POST", "{}", {"Content-Type": "application/json"})[0], 405)

    def test_who_asks_for_the_head_gets_it(self):
        run = self.run_words()
        for _ in range(2 * MOST):
            rig.until(lambda: run.ask(f"{TAP}?component=split", "HEAD")[0] == 200, "a head")


class Many(Case):
    def test_ten_at_once_see_the_same(self):
        run = self.run_words(lines=())
        readers = [self.reader(run, component="split", rate=10000) for _ in range(10)]
        for word in "north", "east", "south":
            readers[0].wait_for_executors(run)
            self.add(run, word)
            self.assertEqual([reader.next()["values"]["word"] for reader in readers], [word] * 10)

    def test_one_too_many_is_told_so_and_has_room_when_another_has_gone(self):
        run = self.run_words(lines=())
        readers = [self.reader(run, component="split", rate=10000) for _ in range(MOST)]
        self.assertEqual(self.refused(run, component="split"), (503, f"{MOST} taps are open, which is all that there may be: ask again later"))
        readers[0].close()
        rig.until(lambda: self.room(run), "room").close()

    def test_one_that_is_not_read_loses_tuples_and_holds_nobody_up(self):
        run = self.run_words(lines=())
        slow = self.reader(run, component="split", rate=10000)
        quick = self.reader(run, component="split", rate=10000)
        long, count = "x" * 50000, 300
        self.assertEqual([len(one["values"]["word"]) for one in self.shown(run, quick, *[long] * count)], [50000] * count)
        run.acked(count)
        seen, dropped = 0, 0
        while not dropped:
            quick.wait_for_executors(run)
            self.add(run, "y")
            quick.next()
            one = slow.next()
            seen += 1
            dropped += one["dropped"]
        self.assertLess(seen, count)


class End(Case):
    def test_the_end_of_the_run_ends_it_behind_the_last_tuple(self):
        run = self.run_words(lines=())
        readers = [self.reader(run, component="split", rate=10000) for _ in range(3)]
        self.shown(run, readers[0], "one")
        self.add(run, "last")
        run.acked(2)
        self.assertEqual(run.end(), 0)
        for number, reader in enumerate(readers):
            words = [one["values"]["word"] for one in reader.rest()]
            self.assertEqual(words, ["one", "last"][number == 0:])

    def test_who_does_not_read_does_not_keep_the_run_from_ending(self):
        run = self.run_words(lines=())
        self.reader(run, component="split", rate=10000)
        quick = self.reader(run, component="split", rate=10000)
        self.shown(run, quick, *["x" * 50000] * 50)
        self.assertEqual(run.end(), 0)

    def test_another_topology_in_its_place_ends_it_and_can_be_tapped(self):
        run = self.run_words(lines=("one",))
        reader = self.reader(run, component="split", rate=10000)
        run.acked(1)
        run.json("/api/gale/v1/reload", "POST", "{}", headers={"Content-Type": "application/json"})
        rig.until(lambda: run.json("/api/gale/v1/reload")["state"] == "done", "the other one")
        reader.rest()
        again = self.reader(run, component="split", rate=10000)
        self.assertEqual(self.shown(run, again, "two")[0]["values"], {"word": "two"})

    def test_figures_are_answered_while_taps_come_and_go(self):
        run = self.run_words(lines=["a b c"] * 1000)
        for _ in range(30):
            reader = rig.until(lambda: self.room(run), "room")
            run.json("/api/gale/v1/now")
            reader.close()
        run.acked(1000)
        self.assertEqual(run.end(), 0)


class Command(Case):
    def start(self, run, *words):
        env = dict(os.environ, XDG_RUNTIME_DIR=str(run.runtime))
        run.control()
        process = subprocess.Popen([self.gale, "tap", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def line(self, run, process, *lines):
        """The first line that comes while these do: nobody says when a tap has begun."""
        import select
        rig.until(lambda: self.add(run, *lines) or select.select([process.stdout], [], [], 0.05)[0], "a line")
        return process.stdout.readline().decode()

    def wait(self, process):
        out, err = process.communicate(timeout=rig.PATIENCE)
        return process.returncode, out.decode(), err.decode()

    def test_a_line_a_tuple(self):
        run = self.numbers()
        process = self.start(run, "streams", "number", "--rate", "10000")
        task = next(one["task"] for one in run.json("/api/gale/v1/now")["tasks"] if one["component"] == "number")
        self.assertEqual(self.line(run, process, "7"), f"number[{task}] default  line=7 n=7 half=1.75\n")

    def test_nothing_in_a_tuple_steers_the_terminal(self):
        run = self.run_words(lines=())
        process = self.start(run, "served", "lines", "--stream", "default", "--rate", "10000")
        line = self.line(run, process, "\u001b[2J \u009b31m\u202e \"a=b\"")
        self.assertIn(r'line="\u001b[2J \u009b31m\u202e \"a=b\""', line)
        self.assertTrue(all(0x20 <= ord(c) < 0x7f for c in line.rstrip("\n")), line)

    def test_json_lines_are_those_of_rest(self):
        run = self.run_words(lines=())
        process = self.start(run, str(run.process.pid), "split", "--json", "--rate", "10000")
        told = json.loads(self.line(run, process, "\u202esea"))
        self.assertEqual((told["component"], told["values"]), ("split", {"word": "\u202esea"}))

    def test_where_is_judged_by_the_run(self):
        run = self.numbers()
        process = self.start(run, "streams", "number", "--where", "n > 5 and n % 2 == 1", "--rate", "10000")
        self.assertIn(" n=7 ", self.line(run, process, "1", "6", "7"))
        code, out, err = self.wait(self.start(run, "streams", "number", "--where", "m > 5"))
        self.assertEqual((code, out), (2, ""))
        self.assertIn("where:1:1: there is no field 'm'", err)

    def test_a_failing_expression_is_told_once(self):
        run = self.numbers()
        process = self.start(run, "streams", "lines", "--stream", "default", "--where", "line + 1 > 5", "--rate", "10000")
        self.line(run, process, "x", "7", "x", "8")
        process.send_signal(signal.SIGINT)
        code, _, err = self.wait(process)
        self.assertEqual(code, 0)
        self.assertEqual(err.count("where:1:"), 1, err)

    def test_the_end_of_the_run_ends_it_with_0(self):
        run = self.run_words(lines=())
        process = self.start(run, "served", "split", "--rate", "10000")
        self.line(run, process, "one")
        self.assertEqual(run.end(), 0)
        self.assertEqual(self.wait(process)[::2], (0, ""))

    def test_ctrl_c_ends_it_with_0_and_the_run_goes_on(self):
        run = self.run_words(lines=())
        process = self.start(run, "served", "split")
        self.line(run, process, "one")
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.wait(process)[::2], (0, ""))
        self.assertEqual(run.json("/api/gale/v1/now")["phase"], "running")

    def test_wrong_words_are_told(self):
        run = self.run_words(lines=())
        for words, text in ((["served"], "wants a topology that runs, and a component"),
                            (["served", "splt"], "did you mean 'split'"),
                            (["srved", "split"], "did you mean 'served'"),
                            (["served", "split", "--stream", "x y&z"], "no stream 'x y&z'"),
                            (["served", "split", "--rate", "0"], "--rate")):
            code, out, err = self.wait(self.start(run, *words))
            self.assertEqual((code, out), (2, ""), words)
            self.assertIn(text, err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
