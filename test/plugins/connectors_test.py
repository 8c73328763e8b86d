#!/usr/bin/env python3
"""gale's own connectors: a file names their classes and says nothing of plugins. They are taken from the program or loaded, or a sentence
says what to do; nobody else may bring their names.

usage: connectors_test.py LOADING STATIC GALE PLUGINS

LOADING and STATIC are the program with a table of two connectors, probe and absent. STATIC can load nothing and has probe in it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LOADING, STATIC, GALE, PLUGINS = (str(Path(path).resolve()) for path in sys.argv[1:5])
HERE = f"{PLUGINS}/connectors"  # gale-probe.so

TOPOLOGY = """\
name: t
spouts:
  - {{id: numbers, className: {spout}, properties: {{count: 2}}}}
bolts:
  - {{id: out, className: {bolt}, properties: {{path: "-"}}}}
streams:
  - {{from: numbers, to: out, grouping: {{type: GLOBAL}}}}
"""
SUMS = "0\t3523407757\n1\t2768625435\n"
NOWHERE = r"GALE_PLUGIN_PATH \(which names no folder\), /\S+/gale/plugins, /\S+/gale/plugins"
TO_HAVE = "apt install gale-{0}, or build it with -DGALE_CONNECTORS={0}"


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.write()

    def write(self, spout="gale.spout.Probe", bolt="gale.bolt.FileSink", more=""):
        (self.path / "t.yaml").write_text(TOPOLOGY.format(spout=spout, bolt=bolt) + more)

    def gale(self, *arguments, path=None, program=LOADING):
        environment = {k: v for k, v in os.environ.items() if k != "GALE_PLUGIN_PATH"}
        if path is not None:
            environment["GALE_PLUGIN_PATH"] = str(path)
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=300, cwd=self.path, env=environment,
                              check=False)
        return done.returncode, done.stdout, done.stderr

    def wrong(self, path=None, program=LOADING):
        """What `gale check` finds, each with its line and column."""
        code, out, _ = self.gale("check", "--json", "t.yaml", path=path, program=program)
        problems = json.loads(out)["problems"]
        self.assertEqual(code, 2 if problems else 0)
        return [(p["line"], p["column"], p["text"]) for p in problems]

    def only_wrong(self, expected, path=None, program=LOADING):
        told = self.wrong(path, program)
        self.assertEqual([place[:2] for place in told], [expected[:2]])
        self.assertRegex(told[0][2], expected[2])
        self.assertEqual(self.gale("run", "-q", "t.yaml", path=path, program=program),
                         (2, "", f"gale: t.yaml:{told[0][0]}:{told[0][1]}: {told[0][2]}\n"))


class Found(Case):
    def test_a_file_that_names_a_class_loads_its_plugin(self):
        for name in ("gale.spout.Probe", "org.apache.storm.probe.ProbeSpout"):
            self.write(spout=name)
            self.assertEqual(self.gale("run", "-q", "-j1", "t.yaml", path=HERE), (0, SUMS, ""))
            self.assertEqual(self.wrong(path=HERE), [])

    def test_a_file_may_say_it_too(self):
        self.write(more="plugins: [probe]\n")
        self.assertEqual(self.gale("run", "-q", "-j1", "t.yaml", path=HERE), (0, SUMS, ""))
        self.write(more=f"plugins: [{HERE}/gale-probe.so]\n")
        self.assertEqual(self.gale("run", "-q", "-j1", "t.yaml"), (0, SUMS, ""))
        self.write()
        self.assertEqual(self.gale("run", "-q", "-j1", "--plugin", "probe", "t.yaml", path=HERE), (0, SUMS, ""))

    def test_one_that_is_in_the_program_is_taken_from_there(self):
        for path in (None, HERE, f"{PLUGINS}/probe-older"):
            self.assertEqual(self.gale("run", "-q", "-j1", "t.yaml", program=STATIC, path=path), (0, SUMS, ""))

    def test_two_of_its_classes_load_it_once(self):
        self.write(bolt="gale.bolt.ProbeSink")
        text = (self.path / "t.yaml").read_text().replace('path: "-"', "count: 1")
        (self.path / "t.yaml").write_text(text)
        self.assertEqual(self.wrong(path=HERE), [])

    def test_check_knows_its_parameters_and_its_kind(self):
        self.write(spout="gale.bolt.ProbeSink")
        self.assertEqual(self.wrong(path=HERE), [(3, 30, "gale.bolt.ProbeSink is a bolt, not a spout")])
        (self.path / "t.yaml").write_text(TOPOLOGY.format(spout="gale.spout.Probe", bolt="gale.bolt.FileSink").replace("count", "cuont"))
        self.assertEqual(self.wrong(path=HERE), [(3, 61, "gale.spout.Probe has no property 'cuont'; did you mean 'count'?")])

    def test_help_describes_a_class_and_lists_what_is_there(self):
        for program, path in ((LOADING, HERE), (STATIC, None)):
            code, out, _ = self.gale("help", "gale.spout.Probe", path=path, program=program)
            self.assertEqual((code, out.splitlines()[0]), (0, "gale.spout.Probe: makes numbers"))
            out = self.gale("help", "classes", path=path, program=program)[1]
            self.assertRegex(out, r"(?m)^  gale\.spout\.Probe +makes numbers$")
            self.assertIn("\nOf plugins that are not installed:\n  gale.bolt.Absent (gale-absent)\n\n", out)

    def test_the_schema_has_those_that_are_there(self):
        for path, there in ((HERE, True), (None, False)):
            schema = json.loads(self.gale("check", "--schema", path=path)[1])
            self.assertEqual("gale.spout.Probe" in schema["definitions"]["spout"]["properties"]["className"]["enum"], there)

    def test_completion_offers_their_classes_and_loads_none(self):
        self.assertEqual(self.gale("help", "--complete", "help", "classes", "gale.spout.Pr")[1], "gale.spout.Probe\n")


class Missing(Case):
    def test_a_class_whose_plugin_is_not_there_says_what_to_do(self):
        self.only_wrong((3, 30, r"^class gale\.spout\.Probe is brought by the plugin gale-probe, which is not installed "
                                rf"\(no gale-probe\.so in {self.path} \(GALE_PLUGIN_PATH\), /\S+, /\S+/gale/plugins\): " + TO_HAVE.format("probe") + "$"),
                        path=self.path)

    def test_one_in_the_build_folder_of_the_program_is_found(self):
        beside = self.path / "build"
        (beside / "plugins").mkdir(parents=True)
        program = shutil.copy(LOADING, beside / "gale")
        shutil.copy(Path(HERE) / "gale-probe.so", beside / "plugins")
        self.assertNotEqual(self.wrong(program=program), [], "a folder that is beside the program, but of no build")
        (beside / "CMakeCache.txt").touch()
        self.assertEqual(self.wrong(program=program), [])

    def test_in_a_program_that_can_load_none_it_says_how_one_is_linked(self):
        self.write(bolt="gale.bolt.Absent")
        self.only_wrong((5, 26, r"^class gale\.bolt\.Absent is brought by the plugin gale-absent, which is not in this program, and that can load "
                                r"none, as it is linked statically: build gale with -DGALE_LINKED_CONNECTORS=absent$"),
                        program=STATIC, path=HERE)

    def test_help_says_the_same(self):
        code, out, err = self.gale("help", "gale.bolt.Absent")
        self.assertEqual((code, out), (2, ""))
        self.assertRegex(err, r"^gale: class gale\.bolt\.Absent is brought by the plugin gale-absent, which is not installed ")

    def test_who_names_the_plugin_is_told_the_same_once(self):
        self.write(more="plugins: [probe]\n")
        self.only_wrong((8, 11, r"^there is no plugin 'probe': no gale-probe\.so in " + NOWHERE + ": " + TO_HAVE.format("probe") + "$"))
        self.write(bolt="gale.bolt.Absent", more="plugins: [absent]\n")
        self.only_wrong((8, 11, r"^'absent' cannot be loaded: this gale has no loader, as it is linked statically; the plugins in it: probe; "
                                r"build gale with -DGALE_LINKED_CONNECTORS=absent$"), program=STATIC)

    def test_a_name_that_is_nearly_one_of_theirs(self):
        for spout, near in (("gale.spout.Prope", "gale.spout.Probe"), ("com.acme.ProbeSpout", "org.apache.storm.probe.ProbeSpout")):
            self.write(spout=spout)
            self.assertEqual(self.wrong(), [(3, 30, f"unknown class '{spout}'; did you mean '{near}'?")])
        self.write(spout="gale.spout.Absent")
        self.assertNotIn("Absent'?", self.wrong()[0][2])  # a bolt is

    def test_the_real_table_knows_nothing_of_them(self):
        self.assertEqual(self.wrong(program=GALE, path=HERE)[0][:2], (3, 30))
        self.assertRegex(self.wrong(program=GALE, path=HERE)[0][2], "^unknown class 'gale.spout.Probe'")


class Refused(Case):
    def refused(self, case, sentence, **options):
        folder = f"{PLUGINS}/probe-{case}"
        self.assertEqual(self.gale("plugins", "probe", path=folder, **options),
                         (2, f"refused: '{folder}/gale-probe.so' {sentence}\n", ""))
        return folder

    def test_a_plugin_that_is_not_gales_has_none_of_gales_names(self):
        self.assertEqual(self.gale("plugins", f"{PLUGINS}/gales-prefix/gale-gales-prefix.so")[:2],
                         (2, f"refused: '{PLUGINS}/gales-prefix/gale-gales-prefix.so' has the prefix 'gale.', which is gale's or Storm's own: "
                             "take another\n"))
        folder = f"{PLUGINS}/connectors"
        self.assertEqual(self.gale("plugins", "probe", path=folder, program=GALE)[:2],
                         (2, f"refused: '{folder}/gale-probe.so' has the prefix 'gale.', which is gale's or Storm's own: take another\n"))

    def test_one_of_gales_own_has_the_names_that_the_table_gives_to_it(self):
        given = "gale.spout.Probe, gale.bolt.ProbeSink, org.apache.storm.probe.ProbeSpout"
        sentence = f"has a class 'gale.bolt.Other', and gale 0.1.0 gives its plugin 'probe' these alone: {given}; update gale"
        folder = self.refused("others-class", sentence)
        self.only_wrong((3, 30, rf"^class gale\.spout\.Probe: '{folder}/gale-probe\.so' {re.escape(sentence)}$"), path=folder)

    def test_nor_has_it_aliases_of_storms_that_it_was_not_given(self):
        self.refused("others-alias", "has a class gale.spout.Probe with a name of gale's or Storm's own, 'org.apache.storm.probe.OtherSpout': leave it out")

    def test_one_that_is_older_or_somebody_elses_lacks_the_class(self):
        for case in ("older", "stranger"):
            folder = f"{PLUGINS}/probe-{case}"
            self.assertEqual(self.gale("plugins", "probe", path=folder)[0], 0)
            self.only_wrong((3, 30, r"^class gale\.spout\.Probe is to be brought by the plugin gale-probe, and the one that is there does not have it "
                                    r"\(gale plugins probe\): it is older than this gale, or another plugin of that name$"), path=folder)

    def test_one_that_cannot_be_loaded_says_why_at_the_class(self):
        (self.path / "gale-probe.so").write_text("hello")
        self.only_wrong((3, 30, rf"^class gale\.spout\.Probe: '{self.path}/gale-probe\.so' is no shared object: build it with -shared -fPIC$"),
                        path=self.path)


class Listed(Case):
    MISSING = "absent, not installed: reads what nobody has\n  classes  gale.bolt.Absent\n  to have  {}\n"

    def test_plugins_lists_what_is_there_and_what_is_not(self):
        there = "probe 1.0: makes numbers with zlib's sums of them\n  file     {}\n  licence  Apache-2.0\n" \
                "  bolt     gale.bolt.ProbeSink: takes what comes in\n  spout    gale.spout.Probe: makes numbers\n\n"
        for program, path, file, to_have in (
                (LOADING, HERE, f"{HERE}/gale-probe.so", TO_HAVE.format("absent")),
                (STATIC, None, "probe, in this program", "build gale with -DGALE_LINKED_CONNECTORS=absent")):
            code, out, err = self.gale("plugins", program=program, path=path)
            self.assertEqual((code, err), (0, ""))
            self.assertIn(there.format(file), out)
            self.assertTrue(out.endswith("\n\n" + self.MISSING.format(to_have)), out)

    def test_where_none_are_there_all_of_gales_are_missing(self):
        code, out, _ = self.gale("plugins")
        self.assertEqual(code, 0)
        self.assertIn("\nprobe, not installed: makes numbers with zlib's sums of them\n"
                      "  classes  gale.spout.Probe, gale.bolt.ProbeSink, org.apache.storm.probe.ProbeSpout\n"
                      f"  to have  {TO_HAVE.format('probe')}\n\n" + self.MISSING.format(TO_HAVE.format("absent")), out)

    def test_one_that_is_asked_for_says_how_to_have_it(self):
        code, out, _ = self.gale("plugins", "absent")
        self.assertEqual(code, 2)
        self.assertEqual(self.gale("plugins", "--plugin", "absent")[:2], (code, out))
        self.assertRegex(out, r"^refused: there is no plugin 'absent': no gale-absent\.so in " + NOWHERE + ": " + TO_HAVE.format("absent") + "\n$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
