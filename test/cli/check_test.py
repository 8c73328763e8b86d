#!/usr/bin/env python3
"""`gale check`: what it says, its exit codes, its JSON and its schema; the topologies of test/front/storm run or are refused as
their first lines say; and the page about it shows what it says.

usage: check_test.py GALE ROOT
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
ROOT = Path(sys.argv[2]).resolve()
PAGE = (ROOT / "docs" / "reference" / "check.md").read_text()

WHOLE = """\
name: t
spouts:
  - {id: lines, className: gale.spout.Stdin}
bolts:
  - {id: split, className: gale.bolt.Split}
  - {id: count, className: gale.bolt.Count, parallelism: 2}
streams:
  - {from: lines, to: split, grouping: {type: SHUFFLE}}
  - {from: split, to: count, grouping: {type: FIELDS, args: [word]}}
"""


# flux-examples' simple_wordcount.yaml
STORM = """\
name: "yaml-topology"
config: {topology.workers: 1}
spouts:
  - {id: "spout-1", className: "org.apache.storm.testing.TestWordSpout", parallelism: 1}
bolts:
  - {id: "bolt-1", className: "org.apache.storm.testing.TestWordCounter", parallelism: 1}
  - {id: "bolt-2", className: "org.apache.storm.flux.wrappers.bolts.LogInfoBolt", parallelism: 1}
streams:
  - {name: "spout-1 --> bolt-1", from: "spout-1", to: "bolt-1", grouping: {type: FIELDS, args: ["word"]}}
  - {name: "bolt-1 --> bolt2", from: "bolt-1", to: "bolt-2", grouping: {type: SHUFFLE}}
"""


# Expressions that flow YAML tears apart.
TORN = ['status == "500" or tags[1] == 2', "a, b", 'path == "a: b"', "#path > 3", '"a" == path', "{status: 1}.status", "!status",
        "*status", "%x", "@x", "`x`", "[a]", "{x: 1}", "f(a, b)", "x ~= ': '", "?x", "- x", "t[1] == 'x, y'", "path:lower() == 'x']"]


class Quotes(unittest.TestCase):
    def check(self, where, grouping="{type: SHUFFLE}"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.yaml"
            path.write_text("name: t\nspouts:\n  - {id: s, className: gale.spout.Generator}\nbolts:\n"
                            f"  - {{id: f, className: gale.bolt.Filter, properties: {{fields: [line], where: {where}}}}}\n"
                            f"streams:\n  - {{from: s, to: f, grouping: {grouping}}}\n")
            done = subprocess.run([GALE, "check", str(path)], capture_output=True, text=True, timeout=60)
            return done.returncode, done.stdout + done.stderr

    def test_an_expression_that_yaml_tears_apart_is_to_be_put_in_quotes(self):
        for where in TORN:
            with self.subTest(where):
                code, said = self.check(where)
                self.assertEqual(code, 2, said)
                self.assertIn("in quotes", said.splitlines()[0])

    def test_a_grouping_may_be_a_word(self):
        for word in "SHUFFLE", "GLOBAL", "ALL", "LOCAL_OR_SHUFFLE", "NONE", '"SHUFFLE"':
            code, said = self.check("line", word)
            self.assertEqual(code, 0, said)
        for word, form in ("FIELDS", "{type: FIELDS, args: [field]}"), ("CUSTOM", "{type: CUSTOM, customClass: "), \
                          ("SHUFLE", "did you mean 'SHUFFLE'"):
            code, said = self.check("line", word)
            self.assertEqual(code, 2, said)
            self.assertIn(form, said)


class Attempts(unittest.TestCase):
    def test_attempts_of_a_spout_that_have_no_effect_are_warned_about(self):
        for config, more, warned in (("{topology.dead_letters.file: dead}", ", maxAttempts: 5", True),
                                     ("{topology.replay.attempts: 2}", ", maxAttempts: 5", True),
                                     ("{topology.dead_letters.file: dead}", "", False),
                                     ("{topology.debug: false}", ", maxAttempts: 5", False)):
            with self.subTest(config + more), tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "in").write_text("")
                (Path(folder) / "t.yaml").write_text(
                    f"name: t\nconfig: {config}\nspouts:\n  - {{id: s, className: gale.spout.File, properties: {{path: in{more}}}}}\n"
                    "bolts:\n  - {id: f, className: gale.bolt.Null}\nstreams:\n  - {from: s, to: f, grouping: SHUFFLE}\n")
                done = subprocess.run([GALE, "check", "t.yaml"], cwd=folder, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertEqual("'maxAttempts' has no effect with topology." in done.stdout, warned, done.stdout)


class Schema:
    """As much of JSON Schema as the program's own uses."""

    TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}

    def __init__(self, whole):
        self.whole = whole

    def is_type(self, name, value):
        if name in ("integer", "number"):
            return isinstance(value, int if name == "integer" else (int, float)) and not isinstance(value, bool)
        return isinstance(value, self.TYPES[name])

    def fits(self, value, schema=None):
        schema = self.whole if schema is None else schema
        known = {"$schema", "title", "description", "default", "definitions", "$ref", "type", "enum", "minimum", "maximum",
                 "exclusiveMinimum", "properties", "additionalProperties", "required", "items", "maxItems", "allOf", "anyOf",
                 "if", "then"}
        assert set(schema) <= known, set(schema) - known
        if "$ref" in schema:
            return self.fits(value, self.whole["definitions"][schema["$ref"].rsplit("/", 1)[1]])
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        if types and not any(self.is_type(name, value) for name in types):
            return False
        if "enum" in schema and value not in schema["enum"]:
            return False
        if self.is_type("number", value) and not (
                schema.get("minimum", value) <= value <= schema.get("maximum", value)
                and ("exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"])):
            return False
        if isinstance(value, list) and not (len(value) <= schema.get("maxItems", len(value))
                                            and all(self.fits(item, schema.get("items", {})) for item in value)):
            return False
        if isinstance(value, dict) and not self.fits_object(value, schema):
            return False
        if "anyOf" in schema and not any(self.fits(value, one) for one in schema["anyOf"]):
            return False
        return all(self.fits(value, one["then"]) for one in schema.get("allOf", []) if self.fits(value, one["if"]))

    def fits_object(self, value, schema):
        properties = schema.get("properties", {})
        if not set(schema.get("required", [])) <= set(value):
            return False
        if schema.get("additionalProperties", True) is False and not set(value) <= set(properties):
            return False
        return all(self.fits(item, properties[key]) for key, item in value.items() if key in properties)


class Check(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def gale(self, *arguments, folder=None, **more):
        return subprocess.run([GALE, *arguments], capture_output=True, text=True, timeout=600, cwd=folder or self.path, **more)

    def check(self, text, *arguments):
        (self.path / "t.yaml").write_text(text)
        return self.gale("check", "t.yaml", *arguments)

    def warns(self, text, *lines, arguments=()):
        result = self.check(text, *arguments)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual([line for line in result.stdout.splitlines() if ": warning: " in line],
                         [f"t.yaml:{line}" for line in lines])
        self.assertEqual(self.check(text, "--strict", *arguments).returncode, 1 if lines else 0)

    def test_the_page_shows_what_is_said_of_a_file_with_seven_errors(self):
        blocks = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, flags=re.M | re.S)
        text, said = [text for _, text in blocks][:2]
        (self.path / "requests.yaml").write_text(text)
        result = self.gale("check", "requests.yaml")
        self.assertEqual(result.stdout, said)
        self.assertEqual(result.returncode, 2)
        self.assertTrue(said.endswith("requests.yaml: 7 errors\n"))

    def test_a_file_without_problems(self):
        result = self.check(WHOLE)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "t.yaml: nothing is wrong\n", ""))
        self.assertEqual(self.check(WHOLE, "-q").stdout, "")

    def test_several_files_are_told_of_apart(self):
        (self.path / "u.yaml").write_text(WHOLE.replace("SHUFFLE", "SHUFLE"))
        result = self.gale("check", "nowhere.yaml", "u.yaml")
        self.assertEqual(result.returncode, 2)
        self.assertIn("nowhere.yaml: error: cannot open 'nowhere.yaml': No such file or directory\n", result.stdout)
        self.assertIn("u.yaml: 1 error\n", result.stdout)

    def test_examples_have_no_problems(self):
        files = sorted(str(path) for path in (ROOT / "examples").rglob("*.yaml")
                       if not {"plugins", "connectors"} & set(path.parts) and not path.name.endswith(".test.yaml"))  # test/plugins, test/cases
        self.assertGreater(len(files), 3)
        result = self.gale("check", *files)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertEqual(result.stdout, "".join(f"{file}: nothing is wrong\n" for file in files))

    def test_problems_as_json(self):
        result = self.check(WHOLE.replace("SHUFFLE", "SHUFLE") + "config: {topology.workers: 2}\n", "--json")
        self.assertEqual(json.loads(result.stdout), {"problems": [
            {"file": "t.yaml", "line": 8, "column": 47, "severity": "error",
             "text": "unknown grouping 'SHUFLE'; did you mean 'SHUFFLE'?"},
            {"file": "t.yaml", "line": 10, "column": 10, "severity": "warning", "text": "topology.workers has no effect here: there is one process"},
        ], "errors": 1, "warnings": 1})

    def test_usage(self):
        for arguments, message in (((), "check wants topology files"), (("--schema", "t.yaml"), "--schema checks no file"),
                                   (("--strct",), "did you mean '--strict'?")):
            result = self.gale("check", *arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(message, result.stderr)

    # --- Warnings

    def test_a_grouping_by_fields_to_one_task_where_several_feed_it(self):
        one = WHOLE.replace(", parallelism: 2", "")
        self.warns(one, "6:10: warning: 'count' has one task, so that the grouping by fields of 'split' divides nothing, and 3 tasks of "
                   "'split' feed it (parallelism: 2 would divide)", arguments=("--set", "split.parallelism=3"))
        self.warns(one, arguments=("--set", "split.parallelism=3", "--set", "count.parallelism=2"))

    def test_one_task_of_each_is_right(self):
        self.warns(WHOLE.replace(", parallelism: 2", ""))
        self.warns(self.CLOCK.replace("parallelism: 2, ", ""))

    def test_storm_s_own_word_count_is_right(self):
        self.warns(STORM)
        self.warns(STORM.replace("topology.workers: 1", "topology.workers: 2"),
                   "2:10: warning: topology.workers has no effect here: there is one process")

    def test_acking_that_is_off(self):
        self.warns(WHOLE + "config: {topology.acker.executors: 0}\n",
                   "10:10: warning: acking is off: a tuple that fails, or does not arrive, is not emitted again")

    def test_a_spout_that_nobody_reads(self):
        self.warns(WHOLE.replace("bolts:", "  - {id: more, className: gale.spout.Words}\nbolts:"),
                   "4:10: warning: nobody subscribes to 'more': what it emits is dropped, and acked at once")

    def test_more_in_flight_than_can_be_done_in_time(self):
        pending = "config: {topology.max.spout.pending: 3000000, topology.message.timeout.secs: 2}\n"
        self.warns(WHOLE + pending,
                   "10:10: warning: 3000000 tuples of 'lines' may be in flight (topology.max.spout.pending), each for 2 s "
                   "(topology.message.timeout.secs): where a tuple takes more than 0.67 us, the last ones time out and come again")
        self.warns(WHOLE + pending.replace("3000000", "2000000"))

    def test_a_bolt_that_is_grouped_by_another_field_than_it_counts(self):
        """However many tasks it has: what it counts is not what was asked for."""
        text = WHOLE.replace("gale.bolt.Split", "gale.bolt.AccessLog").replace("[word]", "[status]")
        for given in text, text.replace(", parallelism: 2", ""):
            result = self.check(given)
            self.assertEqual(result.returncode, 2, result.stdout)
            self.assertIn("9:40: error: 'count' is grouped by 'status', but counts 'host', the first field of 'split': give it the "
                          "property 'key' with the value status, or group it by host", result.stdout)

    def test_under_storm_s_name_it_counts_as_it_does_there(self):
        text = WHOLE.replace("gale.bolt.Split", "gale.bolt.AccessLog").replace("[word]", "[status]")
        self.warns(text.replace("gale.bolt.Count", "org.apache.storm.testing.TestWordCounter"),
                   "9:40: warning: 'count' is grouped by 'status', but counts 'host', the first field of 'split': give it the "
                   "property 'key' with the value status, or group it by host")

    def test_a_key_that_the_file_names_may_differ_from_the_grouping(self):
        text = WHOLE.replace("gale.bolt.Split", "gale.bolt.AccessLog").replace("[word]", "[status]")
        self.warns(text.replace("className: gale.bolt.Count,", "className: gale.bolt.Count, properties: {key: path},"),
                   "9:40: warning: 'count' is grouped by 'status', but its 'key' is 'path': what is equal would come to several tasks")

    def test_a_window_for_all_has_no_key_that_a_grouping_could_miss(self):
        self.warns(self.CLOCK.replace("time: time, key: path", "time: time").replace("parallelism: 2, ", ""))

    def test_a_template_that_is_only_the_name_of_a_field(self):
        """It is one text for every tuple: a field stands in braces. Fields come in by one place, so all sinks have it."""
        sink = WHOLE.replace("streams:", "  - {id: out, %s}\nstreams:") + "  - {from: count, to: out, grouping: {type: SHUFFLE}}\n"
        for class_, name, place in ("gale.bolt.FileSink", "path", "7:65"), ("gale.bolt.Format", "template", "7:67"):
            text = sink % f"className: {class_}, properties: {{{name}: %s}}"
            self.warns(text % "word", f"{place}: warning: '{name}' of 'out' is the text 'word' for every tuple; '{{word}}' is the field of "
                                      "this name")
            for right in "'{word}'", "words", "'{{word}}'" if name == "template" else "x":
                self.warns(text % right)

    CLOCK = """\
name: t
spouts:
  - {id: lines, className: gale.spout.AccessLog}
bolts:
  - {id: parse, className: gale.bolt.AccessLog}
  - {id: clock, className: gale.bolt.EventTime, properties: {output: [time, path]}}
  - {id: win, className: gale.bolt.Window, parallelism: 2, properties: {time: time, key: path}}
streams:
  - {from: lines, to: parse, grouping: {type: SHUFFLE}}
  - {from: parse, to: clock, grouping: {type: SHUFFLE}}
  - {from: clock, to: win, grouping: {type: FIELDS, args: [path]}}
  - {from: clock, to: win, grouping: {type: ALL, streamId: watermark}}
"""

    def test_a_clock_that_is_told_in_any_order(self):
        self.warns(self.CLOCK)
        self.warns(self.CLOCK.replace("className: gale.bolt.AccessLog", "parallelism: 2, className: gale.bolt.AccessLog"),
                   "6:10: warning: 'clock' decides by the order of tuples what is late, and they come through 2 tasks of 'parse', "
                   "in an order that depends on how these run; one task keeps the order")

    def test_more_ways_to_a_clock_than_anybody_can_go(self):
        names = ["parse"] + [f"b{i}" for i in range(40)]
        pass_on = "{id: %s, className: gale.bolt.Dedupe, properties: {key: [time, path]}}"
        bolts = "".join(f"  - {pass_on % name}\n" for name in names[1:])
        ways = "".join(f"  - {{from: {names[i]}, to: {names[j]}, grouping: {{type: SHUFFLE}}}}\n"
                       for j in range(1, len(names)) for i in sorted({max(j - 2, 0), j - 1}))
        self.warns(self.CLOCK.replace("  - {id: clock", bolts + "  - {id: clock")
                   .replace("streams:\n", "streams:\n" + ways).replace("{from: parse, to: clock", "{from: b39, to: clock"))

    def test_a_window_that_hears_no_watermark(self):
        self.warns(self.CLOCK[:self.CLOCK.rindex("  - {from: clock")],
                   "7:10: warning: 'win' goes by the tuples' own time ('time') and hears no watermark: it tells nothing before "
                   "the input ends; the stream `watermark` of a gale.bolt.EventTime (grouping ALL) tells it")

    def test_keys_that_are_shuffled(self):
        self.warns(self.CLOCK.replace("{type: FIELDS, args: [path]}", "{type: SHUFFLE}"),
                   "7:10: warning: 'win' has 2 tasks and takes what comes from 'clock' by shuffle: what is equal comes to several "
                   "of them, and each knows a part of it; a grouping by fields brings it to one")

    LINES = """\
name: t
spouts:
  - {id: in, className: gale.spout.Stdin}
bolts:
  - {id: join, %sclassName: gale.bolt.%s}
  - {id: out, className: gale.bolt.Printer}
streams:
  - {from: in, to: join, grouping: {type: SHUFFLE}}
  - {from: join, to: out, grouping: {type: SHUFFLE}}
"""

    def test_lines_that_are_joined_must_come_to_one_task(self):
        said = "5:10: warning: 'join' joins lines, has 2 tasks and takes what comes from 'in' by shuffle: lines that belong together come to " \
               "several of them; one task, or a grouping by fields, keeps them together"
        for name, warns in (("JoinLines, properties: {start: a}", True), ("Csv, properties: {fields: [a], newlines: join}", True),
                            ("Csv, properties: {fields: [a]}", False), ("Csv, properties: {fields: [a], newlines: alone}", False)):
            self.warns(self.LINES % ("parallelism: 2, ", name), *([said] if warns else []))
            self.warns(self.LINES % ("", name))

    def test_what_forgets_behind_a_source_that_goes_on(self):
        (self.path / "in.txt").write_text("a\n")
        text = WHOLE.replace("gale.spout.Stdin", "gale.spout.File, properties: {path: in.txt, state: in.state}")
        self.warns(text, "6:10: warning: 'lines' goes on where an earlier run stopped, but 'count' begins with nothing: "
                         "topology.state.dir (gale run --state) keeps both")
        self.warns(text + "config: {topology.state.dir: kept}\n")

    def test_a_table_that_is_not_there(self):
        text = WHOLE.replace("[word]", "[line]").replace(
            "gale.bolt.Split", "gale.bolt.Lookup, properties: {table: words.csv, key: line, add: word}")
        self.warns(text, "5:66: warning: 'words.csv' is not there")

    def test_files_that_are_not_there_and_files_that_hold_something(self):
        (self.path / "out.tsv").write_text("abc")
        text = WHOLE.replace("gale.spout.Stdin", "gale.spout.File, constructorArgs: [in.txt]").replace(
            "gale.bolt.Count, parallelism: 2", "gale.bolt.FileSink, constructorArgs: [out.tsv]")
        self.warns(text, "3:63: warning: 'in.txt' is not there",
                   "6:66: warning: 'out.tsv' holds 3 bytes: a run that begins anew is refused, unless `append` or `overwrite` "
                   "says what is to become of them")
        following = text.replace("constructorArgs: [in.txt]", "properties: {path: %s, follow: true}")
        (self.path / "out.tsv").unlink()
        for path in ("in.txt", "'*.log'"):  # what is not there yet is waited for
            self.warns(following % path)
        (self.path / "out.tsv").write_text("abc")
        (self.path / "in.txt").write_text("a\n")
        for more in ("tsv, true", "tsv, ~, ~, true"):
            self.warns(text.replace("[out.tsv]", f"[out.tsv, {more}]"))
        self.warns(text + "config: {gale.overwrite: true}\n")

    # --- Secrets

    def test_tasks_that_write_a_file_each(self):
        text = WHOLE.replace("gale.bolt.Count, parallelism: 2", "gale.bolt.FileSink, parallelism: %d, properties: {path: %s}")
        text = text.replace("{type: FIELDS, args: [word]}", "SHUFFLE")
        self.warns(text % (2, "out.tsv"), "6:83: warning: its 2 tasks write a file each: 'out.tsv', 'out.tsv.1'; with one task there "
                                          "is one file, and {task} in the path names them")
        self.warns(text % (3, "out.tsv"), "6:83: warning: its 3 tasks write a file each: 'out.tsv', 'out.tsv.1' and so on; with one "
                                          "task there is one file, and {task} in the path names them")
        for tasks, path in ((1, "out.tsv"), (2, '"out-{task}.tsv"'), (2, '"-"')):
            self.warns(text % (tasks, path))

    def test_a_file_of_cases(self):
        result = self.check("cases:\n  - name: a\n    steps: []\n")
        self.assertEqual(result.returncode, 2)
        self.assertIn("t.yaml:1:1: error: this is a file of cases, which gale test runs, and not a topology\n", result.stdout)

    def test_what_is_secret_is_not_shown(self):
        text = WHOLE.replace("gale.bolt.Split}", "gale.bolt.Split, properties: {minLetters: x, password: hunter2}}") + (
            "config:\n  topology.debug: ${ENV-GALE_TEST_KEY}\n  my.token: |\n    hunter2\n    more hunter2\n  gale.rte: 1\n")
        environment = dict(os.environ, GALE_TEST_KEY="hunter2")
        (self.path / "t.yaml").write_text(text)
        for arguments in (("check", "t.yaml", "-e"), ("check", "t.yaml", "-e", "--json"), ("check", "t.yaml"),
                          ("run", "t.yaml", "-e")):
            result = self.gale(*arguments, env=environment)
            self.assertEqual(result.returncode, 2)
            self.assertNotIn("hunter", result.stdout + result.stderr)
        self.assertIn("  5 |   - {id: split, className: gale.bolt.Split, properties: {minLetters: x, password: ***\n",
                      self.gale("check", "t.yaml", "-e", env=environment).stdout)

    def test_a_line_that_may_be_secret_is_left_out_where_nothing_can_be_parsed(self):
        result = self.check("name: t\npassword: hunter2: x\n")
        self.assertEqual(result.stdout, "t.yaml:2:18: error: mapping values are not allowed in this context; a text with any of "
                                        "[ ] { } , : # in it, or that begins with a sign, is put in quotes: 'a[1] == 2'\nt.yaml: 1 error\n")

    # --- Storm's

    def test_files_with_the_features_of_storms_run_or_are_refused_as_said(self):
        folder = ROOT / "test" / "front" / "storm"
        environment = dict(os.environ, GALE_TEST_HOME="/home")
        files = sorted(folder.glob("*.yaml"))
        self.assertGreater(len(files), 14)
        for path in files:
            first, second = path.read_text().splitlines()[:2]
            arguments = second[8:].split() if second.startswith("# gale: ") else []
            result = self.gale("check", path.name, *arguments, folder=folder, env=environment)
            plugin = re.search(r"brought by the plugin (gale-\w+)", first)
            built = plugin and (Path(GALE).resolve().parent / "plugins" / f"{plugin[1]}.so").exists()
            with self.subTest(path.name):
                if first == "# runs" or built:
                    self.assertEqual(result.returncode, 0, result.stdout)
                    plan = self.gale("run", path.name, "--plan", *arguments, folder=folder, env=environment)
                    self.assertEqual(plan.returncode, 0, plan.stderr)
                else:
                    self.assertEqual(result.returncode, 2, result.stdout)
                    self.assertIn(first[len("# refused: "):], result.stdout)

    def test_what_is_included_runs(self):
        folder = ROOT / "test" / "front" / "storm"
        plan = json.loads(self.gale("run", "include-override.yaml", "--plan", "--json", folder=folder).stdout)
        self.assertIn("bolt-2", json.dumps(plan))

    # --- The schema

    def schema(self):
        result = self.gale("check", "--schema")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)

    GOOD = {"name": "t", "config": {"topology.debug": True, "my.own": [1]},
            "includes": [{"file": "other.yaml", "override": True}],
            "components": [{"id": "n", "className": "java.lang.Integer", "constructorArgs": [3]}],
            "spouts": [{"id": "a", "className": "gale.spout.Generator", "constructorArgs": [5, 2]}],
            "bolts": [{"id": "b", "className": "gale.bolt.Count", "parallelism": 2, "properties": {"emit": "finish"}},
                      {"id": "c", "className": "org.apache.storm.testing.TestWordCounter",
                       "properties": [{"name": "key", "value": "word"}], "config": {"gale.executor": 0}}],
            "streams": [{"from": "a", "to": "b", "grouping": {"type": "FIELDS", "args": ["line"]}},
                        {"from": "b", "to": "c", "grouping": {"type": "SHUFFLE", "drop": "oldest"}}]}

    @staticmethod
    def changed(path, value):
        """GOOD with one thing changed."""
        whole = json.loads(json.dumps(Check.GOOD))
        at = whole
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
        return whole

    def test_the_schema_takes_what_the_program_takes_and_refuses_what_it_refuses(self):
        schema = self.schema()
        fits = [Schema(schema).fits]
        try:
            import jsonschema
            fits.append(jsonschema.Draft7Validator(schema).is_valid)
        except ImportError:
            pass
        right = [self.GOOD, self.changed(("bolts", 0, "properties", "emit"), "each"),
                 self.changed(("spouts", 0, "constructorArgs"), [{"ref": "n"}])]
        wrong = [self.changed(("nme",), "t"), self.changed(("config", "topology.debug"), 1),
                 self.changed(("spouts", 0, "className"), "gale.spout.Generatr"),
                 self.changed(("spouts", 0, "className"), "gale.bolt.Count"),
                 self.changed(("spouts", 0, "constructorArgs"), [1, 2, 3, 4, 5, 6]),
                 self.changed(("bolts", 0, "parallelism"), 0), self.changed(("bolts", 0, "paralelism"), 2),
                 self.changed(("bolts", 0, "properties"), {"emt": "finish"}),
                 self.changed(("bolts", 0, "properties"), {"emit": "never"}),
                 self.changed(("bolts", 1, "properties"), [{"name": "kye", "value": "word"}]),
                 self.changed(("streams", 0, "grouping", "type"), "FIELD"),
                 self.changed(("streams", 0, "grouping"), {"args": ["line"]}),
                 self.changed(("includes", 0), {"fil": "x"})]
        (self.path / "other.yaml").write_text("config: {}\n")
        for topology, expected in [(one, True) for one in right] + [(one, False) for one in wrong]:
            with self.subTest(json.dumps(topology)):
                self.assertEqual([check(topology) for check in fits], [expected] * len(fits))
                code = self.check(json.dumps(topology)).returncode  # JSON is YAML
                self.assertEqual(code, 0 if expected else 2)

    def test_the_schema_knows_every_class_and_key(self):
        text = json.dumps(self.schema())
        for name in re.findall(r"^### (\S+)$", (ROOT / "docs" / "reference" / "classes.md").read_text(), flags=re.M):
            self.assertIn(f'"{name}"', text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
