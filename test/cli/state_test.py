#!/usr/bin/env python3
"""gale state and gale checkpoint: what a durable run has kept is shown, exported, imported, reset, and kept under names.

usage: state_test.py GALE
"""

import collections
import hashlib
import json
import os
import pty
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from lives import Lives

GALE = str(Path(sys.argv[1]).resolve())

COUNT = """\
name: count
config: {{ topology.state.checkpoint.interval.ms: {interval}, topology.message.timeout.secs: 3600 }}
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{{ name: path, value: in.txt }}]
bolts:
  - id: split
    className: gale.bolt.Split
  - id: count
    className: gale.bolt.Count
    parallelism: 2
    properties: [{{ name: emit, value: finish }}]
  - id: sink
    className: gale.bolt.FileSink
    properties: [{{ name: path, value: out.txt }}]
streams:
  - {{ from: lines, to: split, grouping: {{ type: SHUFFLE }} }}
  - {{ from: split, to: count, grouping: {{ type: FIELDS, args: [word] }} }}
  - {{ from: count, to: sink, grouping: {{ type: GLOBAL }} }}
"""


NAMED = """\
name: named
config: {{ topology.state.checkpoint.interval.ms: {interval} }}
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{{ name: path, value: in.txt }}]
bolts:
  - id: sink
    className: gale.bolt.FileSink
    properties: {{ path: "out/{{line}}/log", maxOpen: 3, rotateBytes: 100 }}
  - id: dated
    className: gale.bolt.FileSink
    properties: {{ path: "dated/{{now:%S-%L}}.{{line}}", maxOpen: 3 }}
streams:
  - {{ from: lines, to: sink, grouping: {{ type: GLOBAL }} }}
  - {{ from: lines, to: dated, grouping: {{ type: GLOBAL }} }}
"""


class Case(Lives, unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        self.running = []
        self.addCleanup(self.end_all)
        self.topology(10)
        self.words(2000, 200)

    def end_all(self):
        for process in self.running:
            process.kill()
            process.communicate()

    def topology(self, interval):
        (self.path / "t.yaml").write_text(COUNT.format(interval=interval))

    def words(self, lines, different, in_line=10):
        drawn = random.Random(7)
        text = "".join(" ".join(f"w{drawn.randrange(different)}" for _ in range(in_line)) + "\n" for _ in range(lines))
        (self.path / "in.txt").write_text(text)
        self.expected = collections.Counter(text.split())

    def gale(self, *arguments, **more):
        ended = subprocess.run([GALE, *arguments], cwd=self.folder.name, text=True, capture_output=True, timeout=600, **more)
        return ended.returncode, ended.stdout, ended.stderr

    def start(self, *arguments):
        process = subprocess.Popen([GALE, "run", "t.yaml", "--state", "state", "-q", *arguments], cwd=self.folder.name,
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.running.append(process)
        return process

    def go_on(self, state="state", *arguments):
        return self.gale("run", "t.yaml", "--state", state, "-q", *arguments)

    def has_store(self):
        return self.mark() != b""

    def killed_run(self):
        """A run that was killed in the middle: all words were counted already."""
        keys = 0
        while keys < len(self.expected):
            before = self.mark()
            process = self.start("--rate", "400")
            self.wait_for_checkpoints(process, before, 10)  # each 10 ms, and a line each 2.5
            process.kill()
            process.communicate()
            keys = self.gale("state", "show", "state", "--keys", "count", "--limit", "1000", "--json")[1].count("\n")
        self.assertFalse(self.show()["complete"])

    def counted(self):
        return {word: int(count) for word, count in (line.split("\t") for line in
                                                     (self.path / "out.txt").read_text().splitlines())}

    def sums(self, folder="state"):
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in (self.path / folder).iterdir()}

    def show(self, folder="state"):
        code, out, err = self.gale("state", "show", folder, "--json")
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def export(self, folder="state"):
        code, out, err = self.gale("state", "export", folder)
        self.assertEqual((code, err), (0, ""))
        return out


class Show(Case):
    def test_it_tells_of_checkpoint_components_keys_positions_and_what_is_on_its_way(self):
        self.killed_run()
        code, out, err = self.gale("state", "show", "state")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"\Atopology 'count', checkpoint \d+, \S+ m?s old\nformat 1 in a store of format 1, .* on disk\n")
        self.assertRegex(out, r"(?m)^component +kind +tasks +by key +version +records +saved +keys +keyed$")
        self.assertRegex(out, r"(?m)^count +bolt +2 +yes +- +- +- +\d+ +\S+ k?B$")
        self.assertRegex(out, r"(?m)^lines +spout +1 +no +\d+ +\d+ +\S+ k?B +- +-$")
        self.assertRegex(out, r"(?m)^count: keyed state 'state', \d+ keys, ")
        self.assertRegex(out, r"(?m)^lines\[0\]: in\.txt, line \d+, byte \d+")
        self.assertRegex(out, r"(?m)^on its way: \d+ tuples? in queues, \d+ held, \d+ trees? open.*, 0 to be emitted again$")

    def test_the_figures_of_its_json_fit_together(self):
        self.killed_run()
        shown = self.show()
        self.assertEqual((shown["topology"], shown["complete"]), ("count", False))
        self.assertGreater(shown["checkpoint"], 0)
        self.assertGreaterEqual(shown["age_seconds"], 0)
        parts = {one["component"]: one for one in shown["components"]}
        self.assertEqual(sorted(parts), ["count", "lines", "sink", "split"])
        self.assertEqual((parts["lines"]["kind"], parts["count"]["kind"], parts["count"]["by_key"]), ("spout", "bolt", True))
        position = parts["lines"]["saved"][0]["values"][0]
        line, offset = position[5], position[3]
        self.assertEqual(parts["lines"]["saved"][0]["first"], f"in.txt, line {line + 1}, byte {offset}")
        text = (self.path / "in.txt").read_bytes()
        self.assertEqual(text[:offset].count(b"\n"), line)
        keys = [json.loads(row) for row in self.gale("state", "show", "state", "--keys", "count", "--limit", "100000",
                                                     "--json")[1].splitlines()]
        self.assertEqual(len(keys), parts["count"]["states"][0]["keys"])

    def test_keys_are_shown_up_to_a_limit(self):
        self.killed_run()
        code, out, _ = self.gale("state", "show", "state", "--keys", "count", "--limit", "2")
        self.assertEqual(code, 0)
        self.assertRegex(out, r'\Astate\t"w0"\t\d+\nstate\t"w1"\t\d+\nand more: --limit N shows so many \(these are 2\)\n\Z')
        self.assertEqual(self.gale("state", "show", "state", "--keys", "conut"),
                         (2, "", "gale: the checkpoint has no component 'conut'; did you mean 'count'?\n"))

    def test_it_changes_no_byte(self):
        self.killed_run()
        before = self.sums()
        self.assertTrue((self.path / "state" / "data-wal").stat().st_size > 0)
        self.show()
        self.export()
        self.gale("state", "show", "state", "--keys", "count")
        after = self.sums()
        before.pop("gale-store.lock", None)
        self.assertEqual(after, before)

    def test_the_end_of_a_run_is_told(self):
        self.assertEqual(self.go_on()[0], 0)
        self.assertIn(", of the end of a run: all is done\n", self.gale("state", "show", "state")[1])
        self.assertTrue(self.show()["complete"])

    def test_what_a_run_has_is_named_and_left_alone(self):
        process = self.start("--rate", "100")
        self.wait_for(self.has_store, process)
        for verb in ("show", "export"):
            code, out, err = self.gale("state", verb, "state")
            self.assertEqual((code, out), (2, ""))
            self.assertIn(f"'state/gale-store' is in use by process {process.pid}", err)
            self.assertIn("gale checkpoint NAME --state state has it keep a copy", err)
        code, _, err = self.gale("state", "reset", "state", "--yes")
        self.assertEqual(code, 2)
        self.assertIn(f"process {process.pid}", err)
        self.assertIsNone(process.poll())

    def test_no_state_and_damage_are_told_apart(self):
        self.assertEqual(self.gale("state", "show", "state"), (2, "", "gale: there is no state of a run in 'state'\n"))
        (self.path / "mine").mkdir()
        (self.path / "mine" / "letter").write_text("")
        code, _, err = self.gale("state", "show", "mine")
        self.assertEqual(code, 2)
        self.assertIn("'mine' has files ('letter'), but no store", err)
        self.assertEqual(self.go_on()[0], 0)
        data = bytearray((self.path / "state" / "data").read_bytes())
        data[5000] ^= 1
        (self.path / "state" / "data").write_bytes(data)
        code, _, err = self.gale("state", "show", "state")
        self.assertEqual(code, 3)
        self.assertIn("gale: 'state/data' is damaged: ", err)
        self.assertIn("page 2", err)

    def test_what_it_does_not_know_is_refused_with_the_nearest_word(self):
        self.assertEqual(self.gale("state", "shwo", "x"), (2, "", "gale: state knows no 'shwo'; did you mean 'show'?\n"))
        code, _, err = self.gale("state", "show")
        self.assertEqual((code, err), (2, "gale: state show wants one folder: gale state show|export|reset DIR, state "
                                          "import DIR FILE\n"))
        self.assertEqual(self.gale("state", "export", "x", "--json"),
                         (2, "", "gale: --json is of no use with state export\n"))


class Move(Case):
    def test_an_export_is_imported_and_exported_again_as_it_was_and_gone_on_from(self):
        self.killed_run()
        first = self.export()
        (self.path / "e").write_text(first)
        code, out, err = self.gale("state", "import", "moved", "e")
        self.assertEqual((code, err), (0, ""))
        number = json.loads(first.splitlines()[0])["checkpoint"]
        self.assertEqual(out, f"made checkpoint {number} in 'moved'; gale run FILE --state moved goes on from it\n")
        self.assertEqual(self.export("moved"), first)
        self.assertFalse((self.path / "moved.part").exists())
        code, _, err = self.go_on("moved")
        self.assertEqual(code, 0, err)
        self.assertIn(f"INFO resumes from checkpoint {number} in 'moved'", err)
        self.assertEqual(self.counted(), self.expected)

    def test_what_was_on_its_way_goes_along(self):
        self.words(1, 200, 150_000)  # such a line keeps them busy for longer than a cut waits
        lines = 40
        (self.path / "in.txt").write_text((self.path / "in.txt").read_text() * lines)
        self.expected = collections.Counter({word: count * lines for word, count in self.expected.items()})
        found = ""
        for life in range(100):
            before = self.mark()
            process = self.start("--rate", "40")
            self.wait_for_checkpoints(process, before, 1 + life % 5, ends=True)
            process.kill()
            process.communicate()
            found = self.gale("state", "export", "state")[1]
            if '"rest":"row"' in found and '"rest":"tree"' in found:
                break
            if '"complete":true' in found:
                self.gale("state", "reset", "state", "--yes")
        shown = self.show()["on_its_way"]
        self.assertGreater(shown["tuples"], 0)
        self.assertEqual((shown["tuples"], shown["open_trees"]), (found.count('"rest":"row"'), found.count('"rest":"tree"')))
        self.assertGreaterEqual(shown["oldest_tree_seconds"], 0)
        (self.path / "e").write_text(found)
        self.assertEqual(self.gale("state", "import", "moved", "e")[0], 0)
        self.assertEqual(self.export("moved"), found)
        code, _, err = self.go_on("moved")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.counted(), self.expected)

    def test_a_component_that_was_renamed_has_its_keys(self):
        self.killed_run()
        text = (self.path / "t.yaml").read_text()
        (self.path / "t.yaml").write_text(text.replace("id: count", "id: tally").replace("to: count", "to: tally")
                                          .replace("from: count", "from: tally"))
        process = self.start("--rate", "100", "--state-adopt", "count=tally")
        before = (self.path / "state" / "commit").read_bytes()
        self.wait_for(lambda: (self.path / "state" / "commit").read_bytes() != before, process)
        self.assertEqual(self.gale("checkpoint", "renamed", "--state", "state")[0], 0)
        process.kill()
        process.communicate()
        parts = {one["component"]: one for one in self.show("state.renamed")["components"]}
        self.assertEqual((parts["tally"]["states"][0]["keys"], "count" in parts), (len(self.expected), False))
        self.assertTrue(self.gale("state", "show", "state.renamed", "--keys", "tally")[1].startswith('state\t"w0"\t'))
        exported = self.export("state.renamed")
        self.assertEqual(self.gale("state", "import", "moved", "-", input=exported)[0], 0)
        self.assertEqual(self.export("moved"), exported)
        code, _, err = self.go_on("moved")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.counted(), self.expected)
        self.assertEqual(self.gale("state", "reset", "state.renamed", "--component", "tally", "--yes")[0], 0)
        parts = {one["component"]: one for one in self.show("state.renamed")["components"]}
        self.assertEqual((parts["tally"]["states"], parts["tally"]["begins_anew"]), ([], True))

    def test_through_pipes_too(self):
        self.killed_run()
        first = self.export()
        self.assertEqual(self.gale("state", "import", "moved", "-", input=first)[0], 0)
        self.assertEqual(self.gale("state", "export", "moved", "-o", "again"), (0, "", ""))
        self.assertEqual((self.path / "again").read_text(), first)

    def test_a_count_that_was_changed_by_hand_is_taken_up(self):
        self.killed_run()
        lines = self.export().splitlines(keepends=True)
        for number, line in enumerate(lines):
            row = json.loads(line)
            if row.get("key") == "w7":
                row["value"] += 1000000
                lines[number] = json.dumps(row) + "\n"
        (self.path / "e").write_text("".join(lines))
        code, _, err = self.gale("state", "import", "moved", "e")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(self.go_on("moved")[0], 0)
        self.assertEqual(self.counted(), self.expected + collections.Counter({"w7": 1000000}))

    def wrong(self, change, expected, code=2):
        lines = self.good.splitlines()
        lines = change(lines)
        (self.path / "e").write_text("\n".join(lines) + "\n")
        got, out, err = self.gale("state", "import", "moved", "e")
        self.assertEqual((got, out), (code, ""))
        self.assertRegex(err, expected)
        self.assertFalse((self.path / "moved").exists())
        self.assertFalse((self.path / "moved.part" / "gale-store").exists())

    def replaced(self, number, text):
        return lambda lines: lines[:number] + [text] + lines[number + 1:]

    def test_what_is_wrong_with_a_line_is_told_with_its_place_and_nothing_is_made(self):
        self.killed_run()
        self.good = self.export()
        keyed = next(n for n, line in enumerate(self.good.splitlines()) if '"key"' in line)
        row = '{"component":"count","state":"state","key":"x","value":1'
        self.wrong(self.replaced(0, "{}"), r"gale: e:1:1: this is no export: its first line has 'gale_state'\n")
        self.wrong(self.replaced(0, '{"gale_state":2}'), r"gale: e:1:2: the export is of format 2; gale \S+ knows format 1\n")
        self.wrong(self.replaced(keyed, row), rf"gale: e:{keyed + 1}:\d+: this is no line of an export: ")
        self.wrong(self.replaced(keyed, row + ',"valeu":1}'),
                   rf"gale: e:{keyed + 1}:\d+: such a line has no field 'valeu'; did you mean 'value'\?\n")
        self.wrong(self.replaced(keyed, row.replace("count", "cuont") + "}"),
                   rf"gale: e:{keyed + 1}:2: the checkpoint has no component 'cuont'; did you mean 'count'\?\n")
        self.wrong(self.replaced(keyed, '{"component":"count","state":"state","key":"x"}'),
                   rf"gale: e:{keyed + 1}:1: such a line needs the field 'value'\n")
        self.wrong(self.replaced(keyed, '{"component":"count","state":"state","key":"x","value":{"i64":5}}'),
                   rf"gale: e:{keyed + 1}:48: 'value' must be a value as an export writes it")
        self.wrong(self.replaced(keyed, row + ',"task":2}'),
                   rf"gale: e:{keyed + 1}:\d+: 'task' must be a whole number from 0 to 1\n")
        self.wrong(self.replaced(keyed, row.replace("count", "sink") + "}"),
                   rf"gale: e:{keyed + 1}:1: such a line needs the field 'task': keys of 'sink' are its tasks' own\n")
        self.wrong(self.replaced(keyed, '{"nothing":1}'), rf"gale: e:{keyed + 1}:1: this is no line of an export: it has no")
        self.wrong(lambda lines: lines[:-1], rf"gale: e:{len(self.good.splitlines())}:1: the file was cut: the last line")
        self.wrong(lambda lines: lines + ["{}"], rf"gale: e:{len(self.good.splitlines()) + 1}:1: there is a line behind the end\n")
        self.wrong(lambda lines: lines[:keyed] + [lines[keyed]] + lines[keyed:],
                   r"gale: e: 1 of its lines are of a key that another line is of, too")

    def test_a_folder_with_something_in_it_is_not_imported_into(self):
        self.killed_run()
        (self.path / "e").write_text(self.export())
        before = self.sums()
        code, _, err = self.gale("state", "import", "state", "e")
        self.assertEqual((code, err), (2, "gale: 'state' is not empty: an export is made a folder of its own\n"))
        self.assertEqual(self.sums(), before)

    def test_an_import_that_is_killed_leaves_no_folder(self):
        self.killed_run()
        (self.path / "e").write_text(self.export())
        fifo = self.path / "fifo"
        os.mkfifo(fifo)
        process = subprocess.Popen([GALE, "state", "import", "moved", "fifo"], cwd=self.folder.name)
        with open(fifo, "w") as pipe:
            pipe.write((self.path / "e").read_text()[:20000])
            pipe.flush()
            self.wait_for(lambda: (self.path / "moved.part" / "gale-store").exists(), process)
            process.kill()
            process.wait()
        self.assertFalse((self.path / "moved").exists())
        code, _, err = self.gale("state", "import", "moved", "e")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(self.go_on("moved")[0], 0)
        self.assertEqual(self.counted(), self.expected)


class Reset(Case):
    def test_all_of_it_and_nothing_else_goes(self):
        self.killed_run()
        (self.path / "state" / "mine").write_text("")
        code, out, err = self.gale("state", "reset", "state", "--yes")
        self.assertEqual((code, out, err), (0, "", ""))
        self.assertEqual([file.name for file in (self.path / "state").iterdir()], ["mine"])
        self.assertEqual(self.gale("state", "reset", "state", "--yes"),
                         (2, "", "gale: there is no state of a run in 'state'\n"))
        (self.path / "state" / "mine").unlink()
        code, _, err = self.go_on()
        self.assertEqual(code, 0, err)
        self.assertIn("INFO begins anew, with its state in 'state'", err)
        self.assertEqual(self.counted(), self.expected)

    def test_a_damaged_one_can_be_reset(self):
        self.killed_run()
        for file in (self.path / "state").iterdir():
            os.truncate(file, file.stat().st_size // 2)
        self.assertEqual(self.gale("state", "reset", "state", "--yes")[0], 0)
        self.assertEqual(list((self.path / "state").iterdir()), [])

    def test_without_a_terminal_it_wants_to_be_told_yes(self):
        self.killed_run()
        before = self.sums()
        code, _, err = self.gale("state", "reset", "state", stdin=subprocess.DEVNULL)
        self.assertEqual((code, err), (2, "gale: state reset asks first, and there is no terminal to ask on: give --yes\n"))
        self.assertEqual(self.sums(), before)

    def answered(self, answer):
        primary, secondary = pty.openpty()
        process = subprocess.Popen([GALE, "state", "reset", "state"], cwd=self.folder.name, stdin=secondary,
                                   stderr=subprocess.PIPE, text=True)
        os.write(primary, answer)
        err = process.communicate(timeout=600)[1]
        os.close(primary)
        os.close(secondary)
        return process.returncode, err

    def test_on_a_terminal_it_asks(self):
        self.killed_run()
        self.assertEqual(self.answered(b"no\n"), (1, "forget the state of the run in 'state'? [y/N] "))
        self.assertTrue((self.path / "state" / "data").exists())
        self.assertEqual(self.answered(b"y\n")[0], 0)
        self.assertEqual(list((self.path / "state").iterdir()), [])

    def test_a_component_alone_is_forgotten_and_the_next_run_says_so(self):
        self.killed_run()
        counted_before = sum(row["value"] for row in map(json.loads, self.export().splitlines()) if "key" in row)
        self.assertGreater(counted_before, 0)
        code, _, err = self.gale("state", "reset", "state", "--component", "count", "--yes")
        self.assertEqual((code, err), (0, ""))
        parts = {one["component"]: one for one in self.show()["components"]}
        self.assertEqual((parts["count"]["begins_anew"], parts["count"]["states"]), (True, []))
        self.assertEqual(len(parts["lines"]["saved"]), 1)
        self.assertIn("count begins anew with the next run: its state was reset\n", self.gale("state", "show", "state")[1])
        exported = self.export()
        (self.path / "e").write_text(exported)
        self.assertEqual(self.gale("state", "import", "moved", "e")[0], 0)
        self.assertEqual(self.export("moved"), exported)
        code, _, err = self.go_on()
        self.assertEqual(code, 0, err)
        self.assertIn("WARN count: begins anew: what it had saved was removed from the state\n", err)
        self.assertEqual(sum(self.counted().values()), sum(self.expected.values()) - counted_before)
        self.assertNotIn("begins anew", self.go_on()[2])

    def test_a_source_that_is_forgotten_reads_from_its_beginning(self):
        self.killed_run()
        counted_before = sum(row["value"] for row in map(json.loads, self.export().splitlines()) if "key" in row)
        self.assertEqual(self.gale("state", "reset", "state", "--component", "lines", "--yes")[0], 0)
        code, _, err = self.go_on()
        self.assertEqual(code, 0, err)
        self.assertIn("WARN lines: begins anew", err)
        self.assertGreaterEqual(sum(self.counted().values()), sum(self.expected.values()) + counted_before)

    def test_an_unknown_component_is_refused_and_nothing_is_forgotten(self):
        self.killed_run()
        before = self.export()
        self.assertEqual(self.gale("state", "reset", "state", "--component", "count", "--component", "line", "--yes"),
                         (2, "", "gale: the checkpoint has no component 'line'; did you mean 'lines'?\n"))
        self.assertEqual(self.export(), before)


class Keep(Case):
    def keep(self, name, *arguments):
        return self.gale("checkpoint", name, "--state", "state", *arguments)

    def test_a_run_that_goes_on_keeps_one_and_is_not_disturbed(self):
        process = self.start("--rate", "400")
        self.wait_for(self.has_store, process)
        code, out, err = self.keep("monday")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"\Akept checkpoint \d+ in 'state\.monday'; gale run FILE --state state\.monday goes on from it\n\Z")
        self.assertIsNone(process.poll())
        self.assertFalse(any("keep" in file.name for file in (self.path / "state").iterdir()))
        number = self.show("state.monday")["checkpoint"]
        self.assertIn(f"checkpoint {number} ", out)
        process.kill()
        process.communicate()
        self.assertEqual(self.go_on()[0], 0)
        self.assertEqual(self.counted(), self.expected)
        code, _, err = self.go_on("state.monday")
        self.assertIn(f"resumes from checkpoint {number} in 'state.monday'", err)
        self.assertEqual(self.counted(), self.expected)

    def test_it_does_not_wait_for_a_long_interval(self):
        self.topology(3600 * 1000)
        process = self.start("--rate", "100")
        self.wait_for(self.has_store, process)
        before = time.monotonic()
        self.assertEqual(self.keep("now")[0], 0)
        self.assertLess(time.monotonic() - before, 600)
        self.assertIsNone(process.poll())

    def test_when_the_run_has_the_name_already_it_is_refused(self):
        process = self.start("--rate", "100")
        self.wait_for(self.has_store, process)
        self.assertEqual(self.keep("monday")[0], 0)
        before = self.sums("state.monday")
        code, _, err = self.keep("monday")
        self.assertEqual((code, err), (2, "gale: the folder 'state.monday' is there already, with 'commit' in it\n"))
        self.assertEqual(self.sums("state.monday"), before)

    def test_what_the_run_cannot_do_is_told(self):
        process = self.start("--rate", "100")
        self.wait_for(self.has_store, process)
        (self.path / "state.monday.part").mkdir()
        (self.path / "state.monday.part" / "mine").write_text("")
        code, _, err = self.keep("monday")
        self.assertEqual(code, 2)
        self.assertIn("cannot remove the folder", err)
        self.assertIn("state.monday.part'", err)
        self.assertIsNone(process.poll())

    def test_a_process_that_makes_no_checkpoints_is_named_after_a_time(self):
        process = self.start("--rate", "100")
        self.wait_for(self.has_store, process)
        process.send_signal(signal.SIGSTOP)
        code, _, err = self.keep("monday", "--wait", "1")
        process.send_signal(signal.SIGCONT)
        self.assertEqual(code, 1)
        self.assertIn(f"'state/gale-store' is in use by process {process.pid}", err)
        self.assertIn("has not made the copy 'state.monday'", err)
        self.assertIn("--wait SECONDS waits longer", err)
        self.assertFalse(any(".keep." in file.name for file in (self.path / "state").iterdir()))
        self.assertFalse((self.path / "state.monday").exists())

    def test_who_asks_and_is_killed_has_asked_for_nothing(self):
        process = self.start("--rate", "100")
        self.wait_for(self.has_store, process)
        process.send_signal(signal.SIGSTOP)
        asks = subprocess.Popen([GALE, "checkpoint", "monday", "--state", "state"], cwd=self.folder.name)
        self.wait_for(lambda: any(".keep." in file.name and not file.name.endswith((".lock", ".new"))
                                  for file in (self.path / "state").iterdir()), asks)
        asks.kill()
        asks.wait()
        process.send_signal(signal.SIGCONT)
        self.wait_for(lambda: not any(".keep." in file.name for file in (self.path / "state").iterdir()), process)
        self.assertFalse((self.path / "state.monday").exists())

    def test_the_run_may_be_killed_at_any_moment_of_the_copy(self):
        seed = random.randrange(1 << 32)
        drawn = random.Random(seed)
        self.words(20000, 5000)
        for number in range(12):
            process = self.start("--rate", "4000")
            self.wait_for(self.has_store, process)
            time.sleep(drawn.uniform(0, 0.15))
            asks = subprocess.Popen([GALE, "checkpoint", f"c{number}", "--state", "state"], cwd=self.folder.name,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            end = time.monotonic() + drawn.uniform(0, 0.2)
            while time.monotonic() < end and not (self.path / f"state.c{number}.part").exists():
                pass
            process.kill()
            process.communicate()
            out, err = asks.communicate(timeout=600)
            self.assertFalse((self.path / f"state.c{number}.part").exists(), f"seed {seed}")
            if asks.returncode == 0:
                self.assertIn(f"kept checkpoint {self.show(f'state.c{number}')['checkpoint']} ", out, f"seed {seed}")
            else:
                self.assertIn("there is no checkpoint in 'state' yet", err, f"seed {seed}")
                self.assertFalse((self.path / f"state.c{number}").exists(), f"seed {seed}")
        kept = [state for number in range(12) if (self.path / (state := f"state.c{number}")).exists()]
        kept = [state for state in kept if not self.show(state)["complete"]]  # that one wants its own file
        self.assertTrue(kept, f"seed {seed}")
        for state in (kept[0], kept[-1]):
            code, _, err = self.go_on(state)
            self.assertEqual(code, 0, f"seed {seed}: {err}")
            self.assertEqual(self.counted(), self.expected, f"seed {seed}")

    def test_both_may_be_killed_and_the_next_one_is_whole(self):
        self.words(20000, 5000)
        process = self.start("--rate", "20000")
        self.wait_for(self.has_store, process)
        asks = subprocess.Popen([GALE, "checkpoint", "monday", "--state", "state"], cwd=self.folder.name,
                                stdout=subprocess.DEVNULL)
        end = time.monotonic() + 1
        while time.monotonic() < end and not (self.path / "state.monday.part").exists():
            pass
        process.kill()
        asks.kill()
        process.communicate()
        asks.wait()
        if not (self.path / "state.monday").exists():
            self.assertEqual(self.keep("monday")[0], 0)
        self.assertFalse((self.path / "state.monday.part").exists())
        self.assertEqual(self.go_on("state.monday")[0], 0)
        self.assertEqual(self.counted(), self.expected)


class From(Case):
    def kept(self):
        process = self.start("--rate", "400")
        self.wait_for(self.has_store, process)
        code, out, err = self.gale("checkpoint", "monday", "--state", "state")
        self.assertEqual(code, 0, err)
        self.before = self.sums("state.monday")
        for _ in range(2):  # it has gone on since
            mark = (self.path / "state" / "commit").read_bytes()
            self.wait_for(lambda: (self.path / "state" / "commit").read_bytes() != mark, process)
        process.kill()
        process.communicate()

    def test_a_run_begins_from_it_as_often_as_it_is_told_to(self):
        self.kept()
        number = self.show("state.monday")["checkpoint"]
        for _ in range(2):
            self.assertEqual(self.gale("state", "reset", "state", "--yes")[0], 0)
            code, _, err = self.go_on("state", "--from", "monday")
            self.assertEqual(code, 0, err)
            self.assertIn(f"INFO begins from checkpoint {number}, which is kept as 'monday' in 'state.monday'\n", err)
            self.assertIn(f"INFO resumes from checkpoint {number} in 'state'", err)
            self.assertEqual(self.counted(), self.expected)
            self.assertEqual(self.sums("state.monday"), self.before)

    def test_a_state_of_its_own_is_not_replaced(self):
        self.kept()
        before = self.export()
        code, _, err = self.go_on("state", "--from", "monday")
        self.assertEqual(code, 2)
        self.assertRegex(err, r"gale: 'state' has checkpoint \d+ of its own, .* old; without --from, the run goes on from "
                              r"there; to begin from 'monday', forget it first: gale state reset state\n")
        self.assertEqual(self.export(), before)

    def test_what_is_a_copy_of_it_already_is_gone_on_with(self):
        self.kept()
        self.gale("state", "reset", "state", "--yes")
        self.assertEqual(self.gale("state", "export", "state.monday", "-o", "e")[0], 0)
        (self.path / "state").rmdir()
        self.assertEqual(self.gale("state", "import", "state", "e")[0], 0)
        code, _, err = self.go_on("state", "--from", "monday")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.counted(), self.expected)

    def test_a_name_that_is_not_kept_is_refused_with_the_nearest(self):
        self.kept()
        self.gale("state", "reset", "state", "--yes")
        code, _, err = self.go_on("state", "--from", "mondya")
        self.assertEqual((code, err), (2, "gale: no checkpoint 'mondya' of 'state' is kept: there is no 'state.mondya'; did "
                                          "you mean 'monday'?\n"))
        code, _, err = self.gale("run", "t.yaml", "--from", "monday")
        self.assertEqual((code, err), (2, "gale: --from monday: no state is kept; --state DIR says where\n"))


class FromNamed(From):
    """Of files that the lines name, and of files that the clock does, which no later run makes again."""

    def topology(self, interval):
        (self.path / "t.yaml").write_text(NAMED.format(interval=interval))

    def words(self, lines, different, in_line=1):
        super().words(lines, 30, 1)

    def counted(self):
        """Of each file its part of the words; and none twice."""
        found, dated = collections.Counter(), collections.Counter()
        for path in self.path.glob("out/*/log*"):
            lines = path.read_text().split()
            self.assertEqual(set(lines), {path.parent.name})
            self.assertLessEqual(path.stat().st_size, 100)
            found.update(lines)
        for path in self.path.glob("dated/[!.]*"):
            dated.update(path.read_text().split())
        self.assertEqual(dated, found)
        return found


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
