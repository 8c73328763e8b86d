#!/usr/bin/env python3
"""Plugins as the program has them: those that are right are known wholly and run, those that are wrong are refused with a
sentence that says what to do, and what crashes says whose it was.

usage: plugins_test.py GALE PLUGINS ROOT EMBEDDER-SHARED EMBEDDER-STATIC LINKED CC
"""

import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
PLUGINS = Path(sys.argv[2]).resolve()
ROOT = Path(sys.argv[3]).resolve()
EMBEDDERS = [str(Path(path).resolve()) for path in sys.argv[4:6]]
LINKED, CC = str(Path(sys.argv[6]).resolve()), sys.argv[7]
PATH = PLUGINS / "path"
SANITIZED = b"__asan_init" in Path(GALE).read_bytes() or b"__tsan_init" in Path(GALE).read_bytes()

WRONG = """\
name: t
plugins: [{plugin}]
spouts:
  - {{id: words, className: gale.spout.File, properties: {{path: in.txt}}}}
bolts:
  - {{id: wrong, className: wrong.bolt.Wrong, properties: {{limit: 3}}}}
streams:
  - {{from: words, to: wrong, grouping: {{type: SHUFFLE}}}}
"""

# The printer has the lines before the one that crashes.
PRINTED = WRONG.replace("bolts:\n", "bolts:\n  - {{id: out, className: gale.bolt.Printer}}\n").replace(
    "streams:\n", "streams:\n  - {{from: words, to: out, grouping: {{type: SHUFFLE}}}}\n")

MASK = """\
name: cards
plugins: [{plugin}]
spouts:
  - {{id: cards, className: mask.spout.Cards, properties: {{count: {count}}}}}
bolts:
  - {{id: hide, className: mask.bolt.Mask, properties: {{field: card}}}}
  - {{id: out, className: gale.bolt.FileSink, properties: {{path: "{out}"}}}}
streams:
  - {{from: cards, to: hide, grouping: {{type: SHUFFLE}}}}
  - {{from: hide, to: out, grouping: {{type: GLOBAL}}}}
"""

# What is said of a plugin that is refused, behind "'its path' ".
REFUSED = {
    "unresolved": "calls gale_not_there_yet, which gale 0.1.0 does not have: update gale, or build it with the headers of this one",
    "unlinked": "calls scales_read, which nothing has that it is linked with: link it with what does",
    "lacks-library": "needs libgale-test-gone.so, which is not there: install it",
    "no-entry": "is no plugin of gale: it has no function gale_plugin_v1 (GALE_PLUGIN_ENTRY of gale/plugin.h)",
    "newer-entry": "is made for a newer gale (it has gale_plugin_v2, gale 0.1.0 looks for gale_plugin_v1): update gale",
    "older-entry": "is made for a gale before the first (gale_plugin_v0): build it again with the headers of gale 0.1.0",
    "newer-abi": "needs a gale with plugin ABI 99, and gale 0.1.0 has 1: update gale, or build it with the headers of this one",
    "no-abi": "says plugin ABI 0, and gale 0.1.0 understands 1 to 1: build it again with the headers of this one",
    "no-size": "says that its description has 0 bytes: set `size`, and build it again",
    "null-description": "describes nothing: its gale_plugin_v1 returns NULL",
    "no-name": "has no name of small letters, digits, '-' and '_'",
    "no-license": "does not say its licence",
    "no-prefix": "has no prefix for the names of its classes, such as \"acme.\"",
    "gales-prefix": "has the prefix 'gale.', which is gale's or Storm's own: take another",
    "no-classes": "has no classes, or they are no table (GALE_TABLE)",
    "other-prefix": "has a class 'right.bolt.Wrong', which does not begin with its prefix 'wrong.': rename it",
    "null-make": "has a class wrong.bolt.Wrong that is a bolt, and needs make_bolt and nothing else to make it",
    "made-as-spout": "has a class wrong.bolt.Wrong that is a spout, and needs make_spout and nothing else to make it",
    "gales-alias": "has a class wrong.bolt.Wrong with a name of gale's or Storm's own, 'gale.bolt.Split': leave it out",
    "class-twice": "is not whole: there is a class 'wrong.bolt.Wrong' already",
    "param-twice": "is not whole: class 'wrong.bolt.Wrong' has a parameter twice",
    "no-text": "says nothing of the parameter 'limit' of wrong.bolt.Wrong",
    "unknown-type": "has a parameter 'limit' of wrong.bolt.Wrong of a type or a role that gale 0.1.0 does not know",
    "bad-default": "has a parameter 'limit' of wrong.bolt.Wrong whose default 'many' is not a whole number",
}

# What is said of a component that cannot be made, behind the place of the bolt, or of its parameter.
UNMADE = {
    "fails-in-make": "t.yaml:6:66: wrong.bolt.Wrong: limit 3 is odd",
    "fails-silently": "t.yaml:6:5: wrong.bolt.Wrong: not supported",
    "asks-for-more": "t.yaml:6:5: wrong.bolt.Wrong asks for a parameter 'limits' that it does not have",
    "makes-nothing": "t.yaml:6:5: wrong.bolt.Wrong was made without a table of functions (`ops`)",
    "says-no-size": "t.yaml:6:5: wrong.bolt.Wrong.size is 0; set it to the size of the structure",
}


def built(name):
    return PLUGINS / name / f"gale-{name}.so"


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.write("one\ntwo\n", "in.txt")

    def write(self, text, name="t.yaml"):
        (self.path / name).write_text(text)

    def gale(self, *arguments, path=None, text=None, program=GALE):
        environment = {k: v for k, v in os.environ.items() if k != "GALE_PLUGIN_PATH"}
        if path is not None:
            environment["GALE_PLUGIN_PATH"] = str(path)
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=300, cwd=self.path, input=text,
                              env=environment, preexec_fn=no_core, check=False)
        return done.returncode, done.stdout, done.stderr

    def alone(self):
        """A program that has no plugins beside it, as it has in its build folder."""
        folder = self.path / "bin"
        folder.mkdir(exist_ok=True)
        return shutil.copy(GALE, folder / "gale")

    def says(self, expected, *arguments, path=None):
        self.assertEqual(self.gale(*arguments, path=path), (2, "", f"gale: {expected}\n"))


class Refused(Case):
    def test_what_is_wrong_with_a_plugin_is_one_sentence_at_its_place(self):
        for name, sentence in REFUSED.items():
            with self.subTest(name):
                self.write(WRONG.format(plugin=built(name)))
                self.says(f"t.yaml:2:11: '{built(name)}' {sentence}", "run", "-q", "t.yaml")

    def test_check_tells_it_once_and_nothing_of_the_classes_that_are_missing_for_it(self):
        self.write(WRONG.format(plugin=built("no-license")).replace("SHUFFLE", "SHUFLE"))
        code, out, _ = self.gale("check", "--json", "t.yaml")
        told = [(p["line"], p["column"], p["text"]) for p in json.loads(out)["problems"]]
        self.assertEqual((code, told), (2, [(2, 11, f"'{built('no-license')}' does not say its licence"),
                                            (8, 47, "unknown grouping 'SHUFLE'; did you mean 'SHUFFLE'?")]))

    def test_the_command_line_names_itself_as_the_place(self):
        self.write(WRONG.format(plugin=built("whole")))
        bad = built("no-license")
        for command in (["run", "-q"], ["check"], ["simulate"]):
            code, out, err = self.gale(*command, "--plugin", str(bad), "t.yaml")
            self.assertEqual(code, 2)
            self.assertIn(f"--plugin {bad}: '{bad}' does not say its licence\n", out + err)
        self.says(f"--plugin {bad}: '{bad}' does not say its licence", "help", "classes", "--plugin", str(bad))
        self.says(f"--plugin {bad}: '{bad}' does not say its licence", "check", "--schema", "--plugin", str(bad))

    def test_what_a_make_function_refuses_has_the_place_of_its_component(self):
        for name, sentence in UNMADE.items():
            with self.subTest(name):
                self.write(WRONG.format(plugin=built(name)))
                self.says(sentence, "run", "-q", "t.yaml")

    def test_what_fails_in_prepare_is_told_as_of_any_other_component(self):
        self.write(WRONG.format(plugin=built("fails-in-prepare")))
        code, _, err = self.gale("run", "-q", "t.yaml")
        self.assertEqual((code, err), (3, "gale: the scales cannot be reached\n  bolt 'wrong' (task 2) could not be prepared\n"))

    def test_what_is_no_plugin_file_at_all(self):
        whole = built("whole").read_bytes()
        other = bytearray(whole)
        machine = struct.unpack_from("<H", whole, 18)[0]
        struct.pack_into("<H", other, 18, 183 if machine == 62 else 62)
        thirty_two = bytearray(whole)
        thirty_two[4] = 1
        struct.pack_into("<H", thirty_two, 18, 3)
        program = bytearray(whole)
        struct.pack_into("<H", program, 16, 1)
        names = {62: "x86-64", 183: "arm64"}
        ours, theirs = names[machine], names[183 if machine == 62 else 62]
        build = "build it with -shared -fPIC"
        for text, sentence in (
                (b"hello", f"is no shared object: {build}"), (b"", f"is no shared object: {build}"),
                (whole[:40], "is cut off: build or copy it again"),
                (whole[:len(whole) // 2], "is cut off: build or copy it again"),
                (bytes(other), f"is built for {theirs}, and this gale for {ours}: build it for this machine"),
                (bytes(thirty_two), f"is built for 32-bit x86, and this gale for {ours}: build it for this machine"),
                (bytes(program), f"is an object file or a program, and no shared object: {build}")):
            (self.path / "x.so").write_bytes(text)
            self.assertEqual(self.gale("plugins", "./x.so")[:2], (2, f"refused: './x.so' {sentence}\n"))

    def test_what_everybody_may_change_is_not_run(self):
        shutil.copy(built("whole"), self.path / "x.so")
        (self.path / "x.so").chmod(0o757)
        self.assertEqual(self.gale("plugins", "x.so")[:2],
                         (2, "refused: './x.so' may be changed by everybody, and what is in it runs as you: chmod o-w\n"))

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file away")
    def test_what_belongs_to_another_user_is_not_run(self):
        whole, link = self.path / "x.so", self.path / "link.so"
        shutil.copy(built("whole"), whole)
        link.symlink_to("x.so")
        self.assertEqual([self.gale("plugins", name)[0] for name in ("x.so", "link.so")], [0, 0])
        why = "belongs to another user, and what is in it runs as you: chown it, or copy it"
        os.chown(link, 12345, -1, follow_symlinks=False)
        self.assertEqual(self.gale("plugins", "link.so")[:2], (2, f"refused: './link.so' {why}\n"))
        os.chown(link, 0, -1, follow_symlinks=False)
        os.chown(whole, 12345, -1)
        for name in "x.so", "link.so":
            self.assertEqual(self.gale("plugins", name)[:2], (2, f"refused: './{name}' {why}\n"))

    def test_what_is_not_there_and_what_is_no_file(self):
        (self.path / "folder.so").mkdir()
        os.mkfifo(self.path / "pipe.so")
        self.write(WRONG.format(plugin="sub/x.so"))
        self.says("t.yaml:2:11: 'sub/x.so' is not there", "run", "-q", "t.yaml")
        for name in ("folder.so", "pipe.so"):
            self.assertEqual(self.gale("plugins", name)[:2], (2, f"refused: './{name}' is no file\n"))

    def test_a_name_that_is_nowhere_says_where_it_was_looked_for_and_what_is_near(self):
        self.write(WRONG.format(plugin="maks"))
        code, _, err = self.gale("run", "-q", "t.yaml", path=f"{self.path}:{PATH}")
        self.assertEqual(code, 2)
        self.assertRegex(err, rf"^gale: t\.yaml:2:11: there is no plugin 'maks': no gale-maks\.so in {self.path}, {PATH} "
                              rf"\(GALE_PLUGIN_PATH\), {Path(GALE).parent}/plugins, /\S+/gale/plugins; did you mean 'mask'\?\n$")

    def test_the_list_must_be_one_of_names(self):
        self.write(WRONG.format(plugin="[a]"))
        self.says("t.yaml:2:11: a plugin must be a name or a path, not a list", "run", "-q", "t.yaml")
        self.write(WRONG.format(plugin='""'))
        self.says("t.yaml:2:11: a plugin's name is empty", "run", "-q", "t.yaml")
        self.write(WRONG.format(plugin="x").replace("[x]", "mask"))
        self.says("t.yaml:2:10: 'plugins' of a topology must be a list, not a string", "run", "-q", "t.yaml")

    def test_one_class_is_not_two_plugins(self):
        first, second = built("whole"), built("whole-again")
        self.write(WRONG.format(plugin=f"{first}, {second}"))
        self.says(f"t.yaml:2:{13 + len(str(first))}: '{second}' is the plugin 'wrong', and so is '{first}': load one of them",
                  "run", "-q", "t.yaml")

    def test_the_same_plugin_twice_is_one(self):
        (self.path / "link.so").symlink_to(built("whole"))
        self.write(WRONG.format(plugin=f"{built('whole')}, {built('whole')}, link.so"))
        self.assertEqual(self.gale("run", "-q", "--plugin", str(built("whole")), "t.yaml"), (0, "", ""))

    def test_a_class_of_a_plugin_that_is_there_and_not_loaded_names_it(self):
        self.write(MASK.format(plugin="", count=1, out="-"))
        code, _, err = self.gale("run", "-q", "t.yaml", path=PATH)
        self.assertEqual((code, err), (2, "gale: t.yaml:4:28: unknown class 'mask.spout.Cards'; is it of the plugin 'mask'? Then "
                                          "`plugins: [mask]`, or --plugin mask\n"))


class Crashed(Case):
    def crashes(self, number, note, *arguments):
        code, _, err = self.gale(*arguments)
        self.assertEqual(err.splitlines()[0], f"gale: the plugin {note}")
        self.assertNotEqual(code, 0)
        if not SANITIZED:
            self.assertEqual((code, err.count("\n")), (-number, 1))

    def test_a_crash_says_whose_it_was_and_doing_what(self):
        for name, number, doing in (("crash-in-prepare", signal.SIGSEGV, "preparing"),
                                    ("abort-in-prepare", signal.SIGABRT, "preparing"),
                                    ("crash-in-make", signal.SIGSEGV, "making")):
            with self.subTest(name):
                self.write(WRONG.format(plugin=built(name)))
                self.crashes(number, f"wrong crashed while {doing} wrong.bolt.Wrong", "run", "-q", "t.yaml")

    def test_lines_that_were_printed_before_a_crash_are_not_lost(self):
        self.write(PRINTED.format(plugin=built("crash-in-execute")))
        (self.path / "in.txt").write_text("one\ntwo\n")
        code, out, _ = self.gale("run", "-q", "t.yaml")
        self.assertNotEqual(code, 0)
        self.assertEqual([json.loads(line)["values"]["line"] for line in out.splitlines()], ["one", "two"])

    def test_check_says_it_of_what_it_makes(self):
        self.write(WRONG.format(plugin=built("crash-in-make")))
        self.crashes(signal.SIGSEGV, "wrong crashed while making wrong.bolt.Wrong", "check", "t.yaml")

    def test_one_that_crashes_before_it_has_a_name_is_called_by_its_path(self):
        path = built("crash-on-load")
        self.crashes(signal.SIGSEGV, f"{path} crashed while it was loaded", "plugins", str(path))


class Embedded(Case):
    def run_by(self, embedder, *arguments):
        done = subprocess.run([embedder, *arguments], capture_output=True, text=True, timeout=300, cwd=self.path,
                              preexec_fn=no_core, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_an_application_with_the_shared_library_runs_what_a_file_names_and_what_it_names_itself(self):
        mask = PATH / "gale-mask.so"
        self.write(MASK.format(plugin=mask, count=2, out="-"))
        expected = (0, "Ada\t****-****-****-0000\nGrace\t****-****-****-0001\n", "")
        self.assertEqual(self.run_by(EMBEDDERS[0], "t.yaml"), expected)
        self.write(MASK.format(plugin="", count=2, out="-"))
        self.assertEqual(self.run_by(EMBEDDERS[0], "t.yaml", str(mask)), expected)
        self.assertEqual(self.run_by(EMBEDDERS[0], "t.yaml", "./none.so"), (1, "", "'./none.so' is not there\n"))

    @unittest.skipIf(SANITIZED, "a sanitizer has the signals")
    def test_a_library_leaves_the_signals_of_its_application_alone(self):
        self.write(WRONG.format(plugin=built("crash-in-prepare")))
        self.assertEqual(self.run_by(EMBEDDERS[0], "t.yaml"), (-signal.SIGSEGV, "", ""))

    @unittest.skipIf(SANITIZED, "a sanitizer shows what is in a program")
    def test_one_that_does_not_show_libgale_is_told_what_is_missing(self):
        self.write(MASK.format(plugin=PATH / "gale-mask.so", count=2, out="-"))
        code, _, err = self.run_by(EMBEDDERS[1], "t.yaml")
        self.assertEqual(code, 1)
        self.assertRegex(err, r"^t\.yaml:2:11: '/\S+/gale-mask\.so' calls gale_\w+, which this program does not show: ")


class Linked(Case):
    def test_a_plugin_in_the_program_is_found_by_its_name_before_any_file(self):
        self.write(MASK.format(plugin="mask, mask", count=2, out="-"))
        expected = (0, "Ada\t****-****-****-0000\nGrace\t****-****-****-0001\n", "")
        for path in (None, PATH):
            self.assertEqual(self.gale("run", "-q", "-j1", "t.yaml", program=LINKED, path=path), expected)
        self.assertEqual(self.gale("run", "-q", "t.yaml")[0], 2)

    def test_it_is_listed(self):
        code, out, _ = self.gale("plugins", program=LINKED)
        self.assertEqual((code, [line for line in out.splitlines() if line.startswith("  file")]),
                         (0, ["  file     mask, in this program", "  file     tally, in this program"]))


class Documented(Case):
    def test_the_plugin_of_the_page_is_built_by_its_command_and_says_what_stands_there(self):
        page = (ROOT / "docs" / "plugins.md").read_text()
        source, topology = (re.search(rf"(?ms)^```{language}\n(.*?)^```$", page)[1] for language in ("c", "yaml"))
        command = re.search(r"(?m)^(cc .*)$", page)[1].split()
        shown = re.search(r"(?ms)^```\n(\$ gale check.*?)^```$", page)[1].splitlines(keepends=True)
        self.write(source, "shout.c")
        self.write(topology, "shout.yaml")
        subprocess.run([CC, *command[1:], f"-I{ROOT}/include", "-std=c99", "-pedantic", "-Wall", "-Wextra",
                        "-Werror"], cwd=self.path, check=True)
        self.assertEqual(self.gale("check", "shout.yaml"), (0, shown[1], ""))
        self.assertEqual(self.gale("run", "-q", "shout.yaml", text="hear me\n"), (0, shown[3], ""))


class Right(Case):
    def masked(self, count):
        owners = ["Ada", "Grace", "Edsger", "Barbara"]
        return "".join(f"{owners[i % 4]}\t****-****-****-{i % 10000:04}\n" for i in range(count))

    def test_a_spout_and_a_bolt_run_by_path_by_name_and_by_the_command_line(self):
        shutil.copy(PATH / "gale-mask.so", self.path / "beside.so")
        for plugin, options in ((str(PATH / "gale-mask.so"), []), ("mask", []), ("./beside.so", []), ("beside.so", []),
                                ("", ["--plugin", "mask"]), ("", ["--plugin", "beside.so"])):
            with self.subTest(plugin=plugin, options=options):
                self.write(MASK.format(plugin=plugin, count=9, out="-"))
                self.assertEqual(self.gale("run", "-q", "-j1", *options, "t.yaml", path=PATH), (0, self.masked(9), ""))

    def test_a_relative_path_is_beside_the_file_that_has_it_and_an_included_file_has_its_own(self):
        (self.path / "sub").mkdir()
        shutil.copy(PATH / "gale-mask.so", self.path / "sub" / "m.so")
        part = MASK.format(plugin="m.so", count=4, out="-")
        self.write(part, "sub/part.yaml")
        self.write("name: t\nincludes: [{file: sub/part.yaml}]\n")
        for file in ("sub/part.yaml", "t.yaml"):
            self.assertEqual(self.gale("run", "-q", "-j1", file), (0, self.masked(4), ""))

    def test_a_variable_may_stand_for_it(self):
        self.write(MASK.format(plugin="${which}", count=4, out="-"))
        self.write("which=mask\n", "p.properties")
        self.assertEqual(self.gale("run", "-q", "-j1", "-f", "p.properties", "t.yaml", path=PATH), (0, self.masked(4), ""))

    def test_what_was_built_with_other_headers_runs(self):
        for name in ("short", "long", "oldest"):
            with self.subTest(name):
                self.write("name: t\nplugins: [" + str(built(name)) + "]\nspouts:\n"
                           "  - {id: in, className: gale.spout.File, properties: {path: in.txt}}\nbolts:\n"
                           "  - {id: one, className: sizes.bolt.One}\n  - {id: two, className: sizes.bolt.Two}\n"
                           "  - {id: out, className: gale.bolt.FileSink, properties: {path: '-'}}\nstreams:\n"
                           "  - {from: in, to: one, grouping: {type: SHUFFLE}}\n"
                           "  - {from: one, to: two, grouping: {type: SHUFFLE}}\n"
                           "  - {from: two, to: out, grouping: {type: GLOBAL}}\n")
                self.assertEqual(self.gale("run", "-q", "-j1", "t.yaml"), (0, "one\ntwo\n", ""))

    def test_the_examples_have_no_errors(self):
        for name in ("mask", "tally"):
            (self.path / "build").mkdir(exist_ok=True)
            shutil.copy(PATH / f"gale-{name}.so", self.path / "build")
            shutil.copy(ROOT / "examples" / "plugins" / name / "topology.yaml", self.path / "t.yaml")
            self.assertEqual(self.gale("check", "t.yaml"), (0, "t.yaml: nothing is wrong\n", ""))

    def test_a_plugin_in_cpp_counts(self):
        text = (ROOT / "examples/plugins/tally/topology.yaml").read_text().replace("build/gale-tally.so", "tally")
        self.write(text)
        lines = "to be or not to be\nthat is the question to be\n"
        code, out, err = self.gale("run", "-q", "t.yaml", path=PATH, text=lines)
        self.assertEqual((code, out, err), (0, "be\t3\nto\t3\nis\t1\nnot\t1\nor\t1\n", ""))

    def test_the_simulator_runs_them(self):
        self.write(MASK.format(plugin="mask", count=50, out="-"))
        code, out, err = self.gale("simulate", "t.yaml", "--runs", "20", path=PATH)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"(?m)^20 runs, .*: all hold$")

    def test_a_durable_run_that_is_killed_goes_on(self):
        if "--state" not in self.gale("help", "run")[1]:
            self.skipTest("this gale has no store")
        count, out = 2000, self.path / "out.txt"
        self.write(MASK.format(plugin=PATH / "gale-mask.so", count=f"{count}, pause: 100ms", out="out.txt"))
        command = [GALE, "run", "-q", "-j1", "t.yaml", "--state", "state", "-c", "topology.state.checkpoint.interval.ms=10",
                   "-c", "topology.message.timeout.secs=3600"]
        for _ in range(3):
            before = out.stat().st_size if out.exists() else 0
            run = subprocess.Popen(command, cwd=self.path, stderr=subprocess.DEVNULL)
            until = time.monotonic() + 120
            while run.poll() is None and time.monotonic() < until and (out.stat().st_size if out.exists() else 0) <= before:
                time.sleep(0.01)
            run.kill()
            self.assertEqual(run.wait(), -signal.SIGKILL)
        code, _, err = self.gale(*command[1:], "--set", "cards.pause=0")  # else it would be three minutes
        self.assertEqual(code, 0, err)
        self.assertIn("resumes from checkpoint", err)
        self.assertEqual(sorted((self.path / "out.txt").read_text().splitlines(keepends=True)),
                         sorted(self.masked(count).splitlines(keepends=True)))

    def test_check_knows_their_parameters(self):
        self.write(MASK.format(plugin="mask", count="many", out="-").replace("field: card", "feild: card, keep: 101"))
        code, out, _ = self.gale("check", "--json", "t.yaml", path=PATH)
        told = [p["text"] for p in json.loads(out)["problems"]]
        self.assertEqual((code, told), (2, [
            "'count' of mask.spout.Cards must be a whole number, not a string (many)",
            "mask.bolt.Mask has no property 'feild'; did you mean 'field'?",
            "'keep' of mask.bolt.Mask must be in 0 to 100, not 101"]))

    def test_check_knows_what_a_make_function_knows(self):
        self.write(MASK.format(plugin="mask", count=1, out="-").replace("field: card", "field: cart"))
        code, out, _ = self.gale("check", "--json", "t.yaml", path=PATH)
        told = [(p["line"], p["column"], p["text"]) for p in json.loads(out)["problems"]]
        self.assertEqual((code, told), (2, [(6, 63, "mask.bolt.Mask: field 'cart' does not come in; 'cards' has owner, card")]))

    def test_a_file_does_not_know_what_another_has_loaded(self):
        self.write(MASK.format(plugin="mask", count=1, out="-"), "a.yaml")
        self.write(MASK.format(plugin="", count=1, out="-"), "b.yaml")
        code, out, _ = self.gale("check", "a.yaml", "b.yaml", path=PATH)
        self.assertEqual(code, 2)
        self.assertIn("a.yaml: nothing is wrong\n", out)
        self.assertIn("b.yaml:4:28: error: unknown class 'mask.spout.Cards'", out)

    def test_the_schema_has_them(self):
        schema = json.loads(self.gale("check", "--schema", "--plugin", "mask", path=PATH)[1])
        names = schema["definitions"]["bolt"]["properties"]["className"]["enum"]
        self.assertIn("mask.bolt.Mask", names)
        self.assertIn("plugins", schema["properties"])

    def test_help_describes_their_classes_by_name(self):
        asked = [["help", "classes", "mask.bolt.Mask", "--plugin", "mask"], ["help", "mask.bolt.Mask"],
                 ["help", "classes", "mask.bolt.Mask"]]
        said = {self.gale(*words, path=PATH) for words in asked}
        self.assertEqual(len(said), 1)
        code, out, _ = said.pop()
        self.assertEqual(code, 0)
        self.assertIn("mask.bolt.Mask: hides all but the end of a field\n", out)
        self.assertIn("  keep   whole number, from 0 to 100, in characters; default 4\n", out)
        self.assertIn("mask.spout.Cards", self.gale("help", "classes", "--plugin", "mask", path=PATH)[1])
        self.assertNotIn("mask.spout.Cards", self.gale("help", "classes", path=PATH)[1])

    def test_completion_offers_them_by_name_and_loads_none(self):
        shutil.copy(built("crash-on-load"), self.path / "gale-crash.so")
        out = self.gale("help", "--complete", "run", "--plugin", "", path=f"{self.path}:{PATH}", program=self.alone())[1]
        self.assertEqual(out, ":files\ncrash\nmask\ntally\n")
        self.assertEqual(self.gale("help", "--complete", "run", "--plugin=ta", path=PATH)[1], ":files\n--plugin=tally\n")

    def test_plugins_lists_what_can_be_found_and_what_of_it_is_refused(self):
        shutil.copy(PATH / "gale-mask.so", self.path / "gale-mask.so")
        shutil.copy(built("no-license"), self.path / "gale-a.so")
        (self.path / "gale-.so").write_text("")
        (self.path / "libgale-x.so").write_text("")
        (self.path / "gale-a\x1b[2J\n.so").write_text("")
        code, out, _ = self.gale("plugins", path=f"{self.path}::{PATH}:{self.path}/none", program=self.alone())
        out = re.sub(r"(?m)^\n\S+, not installed: .*\n(?:  .*\n)+", "", out)  # gale's own connectors
        self.assertEqual((code, out), (2, f"""\
refused: '{self.path}/gale-a.so' does not say its licence

mask 1.0: hides what is not for everybody's eyes
  file     {self.path}/gale-mask.so
  licence  Apache-2.0
  spout    mask.spout.Cards: makes owners and card numbers up
  bolt     mask.bolt.Mask: hides all but the end of a field

tally 1.0: counts in C++
  file     {PATH}/gale-tally.so
  licence  Apache-2.0
  bolt     tally.bolt.Tally: tells what there was most of, when all has been read
"""))
        code, out, _ = self.gale("plugins", program=self.alone())
        if code == 0 and out.startswith("no plugins"):
            self.assertRegex(out, r"^no plugins: no file gale-NAME\.so in GALE_PLUGIN_PATH \(which names no folder\), "
                                  r"/\S+/gale/plugins, /\S+/gale/plugins\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
