#!/usr/bin/env python3
"""What CMake makes of gale's connectors: the lists that choose them, with a sentence for each mistake, and a package of its own for each, which
is installed, found and removed.

usage: connectors_built_test.py ROOT CMAKE CC PROGRAM

PROGRAM has a table with the connectors of test/connectors.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT, CMAKE, CC, PROGRAM = (Path(sys.argv[1]).resolve(), *sys.argv[2:4], str(Path(sys.argv[4]).resolve()))
CPACK = str(Path(CMAKE).parent / "cpack")
PROBE, ABSENT = ROOT / "test" / "connectors" / "probe", ROOT / "test" / "connectors" / "absent"
LEFT_OUT = "gale: no gale-no-such-library>=7 (libgale-no-such-dev): the connector absent is left out"


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=600, **options)


class Case(unittest.TestCase):
    """One tree, configured anew by each test: all lists are given each time."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name)
        cls.build = cls.path / "build"

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def configure(self, plugins="auto", linked="", folders=(PROBE, ABSENT), more=()):
        """The exit code, and what CMake says, in one line each."""
        done = run(CMAKE, "-S", ROOT, "-B", self.build, "-G", "Ninja", f"-DCMAKE_C_COMPILER={CC}", "-DCMAKE_INSTALL_PREFIX=/usr",
                   "-DGALE_TESTS=OFF", "-DGALE_BENCH=OFF", "-DGALE_LOADER=ON", "-DGALE_STATIC_NEEDS=OFF", "-DGALE_OWN_CONNECTORS=OFF", f"-DGALE_CONNECTORS={plugins}",
                   f"-DGALE_LINKED_CONNECTORS={linked}", f"-DGALE_CONNECTOR_FOLDERS={';'.join(map(str, folders))}", *more)
        told = re.findall(r"(?m)^-- (gale: .*)$", done.stdout)
        wrong = re.search(r"(?ms)^CMake Error at \S+ \(message\):\n(.*?)\n(Call Stack|\n)", done.stderr)
        return done.returncode, told, " ".join(wrong[1].split()) if wrong else ""

    def chooses(self, expected, in_program, **options):
        code, told, wrong = self.configure(**options)
        self.assertEqual((code, wrong), (0, ""))
        self.assertEqual(told[-1], f"gale: connectors as plugins: {expected}; in the program: {in_program}")
        return told

    def refuses(self, sentence, **options):
        code, _, wrong = self.configure(**options)
        self.assertEqual(wrong, sentence)
        self.assertNotEqual(code, 0)


class Chosen(Case):
    def test_auto_builds_what_can_be_built_and_tells_once_what_cannot_and_what_to_install(self):
        self.assertEqual(self.chooses("probe", "none").count(LEFT_OUT), 1)
        self.assertEqual(self.chooses("none", "probe", linked="auto").count(LEFT_OUT), 1)

    def test_names_are_built_and_nothing_else(self):
        self.assertNotIn(LEFT_OUT, self.chooses("probe", "none", plugins="probe;probe"))
        self.assertNotIn(LEFT_OUT, self.chooses("none", "none", plugins=""))
        self.chooses("none", "probe", linked="probe")
        self.chooses("probe", "probe", plugins="probe", linked="probe")
        self.assertIn('{ "probe", gale_plugin_v1_probe }', (self.build / "linked" / "gale.c").read_text())
        self.assertEqual((self.build / "connectors" / "linked").read_text(), "zlib1g-dev\n")

    def test_those_that_are_left_out_are_in_the_table_all_the_same(self):
        self.chooses("none", "none", plugins="")
        table = (self.build / "connectors.c").read_text()
        self.assertIn('{ "absent", "reads what nobody has", "gale.bolt.Absent", "" }', table)

    def test_where_nothing_can_be_loaded_they_are_linked_in_from_archives(self):
        self.assertNotIn(LEFT_OUT, self.chooses("none", "none", more=["-DGALE_LOADER=OFF"]))
        self.chooses("none", "probe", linked="auto", more=["-DGALE_LOADER=OFF"])
        self.assertRegex((self.build / "build.ninja").read_text(), r"(?m)^build gale: .*/libz\.a")
        self.refuses("GALE_CONNECTORS: this gale loads no plugins (GALE_LOADER is off); say it by GALE_LINKED_CONNECTORS=probe",
                     plugins="probe", more=["-DGALE_LOADER=OFF"])

    def test_a_name_that_there_is_not(self):
        self.refuses("GALE_CONNECTORS: there is no connector 'prope' among probe, absent; did you mean 'probe'?", plugins="prope")
        self.refuses("GALE_LINKED_CONNECTORS: there is no connector 'apsent' among probe, absent; did you mean 'absent'?",
                     linked="probe;apsent")
        self.refuses("GALE_CONNECTORS: there is no connector 'kafka' among probe, absent", plugins="kafka")
        self.refuses("GALE_CONNECTORS: auto stands alone, without names", plugins="auto;probe")

    def test_a_library_that_there_is_not(self):
        needs = "the connector absent needs gale-no-such-library>=7 (libgale-no-such-dev), which is not there: install it, or leave absent out"
        self.refuses(f"GALE_CONNECTORS: {needs}", plugins="probe;absent")
        self.refuses(f"GALE_LINKED_CONNECTORS: {needs}", linked="absent")

    def test_one_name_is_not_two_plugins_of_the_program(self):
        other = self.path / "others" / "probe"
        other.mkdir(parents=True)
        (other / "other.c").write_text("")
        more = [f"-DGALE_LINKED_PLUGINS={other}"]
        self.refuses("GALE_LINKED_PLUGINS, GALE_LINKED_CONNECTORS: two plugins are called 'probe'", linked="probe", more=more)
        self.chooses("probe", "none", more=["-DGALE_LINKED_PLUGINS="])


class Said(Case):
    def says(self, text, sentence, name="mine"):
        folder = self.path / "said" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "CMakeLists.txt").write_text(text)
        self.refuses(sentence, folders=(PROBE, folder))

    def test_what_a_connector_says_wrongly_of_itself(self):
        self.says('gale_connector(yours "x" CLASSES gale.bolt.X SOURCES x.c)',
                  "gale_connector(yours): a connector is called as its folder, 'mine', in small letters, digits, '-' and '_'")
        self.says('gale_connector(Mine "x" CLASSES gale.bolt.X SOURCES x.c)', name="Mine",
                  sentence="gale_connector(Mine): a connector is called as its folder, 'Mine', in small letters, digits, '-' and '_'")
        for text, what in (("SOURCES x.c", ""), ("CLASSES gale.bolt.X", ""), ("Kafka CLASSES gale.bolt.X SOURCES x.c", "Kafka")):
            self.says(f'gale_connector(mine "x" {text})',
                      f"gale_connector(mine): it has CLASSES and SOURCES, and may have STANDS_FOR, PIECES, NEEDS and PACKAGES{what and f'; what is {what}?'}")
        for line in "org.apache.storm.x. gale.bolt.Y { a: 1 }", "org.apache.storm.x. gale.bolt.X", "org.apache.storm.x.":
            self.says(f'gale_connector(mine "x" CLASSES gale.bolt.X SOURCES x.c STANDS_FOR "{line}")',
                      "gale_connector(mine): STANDS_FOR wants lines 'CLASS GALES-CLASS { properties }', of a class that it brings, or 'CLASS - "
                      f"sentence', without a semicolon, not '{line}'")
        self.says('gale_connector(mine "x" CLASSES mine.bolt.X SOURCES x.c)',
                  "gale_connector(mine): 'mine.bolt.X' is no name of gale's or Storm's own")
        self.says('gale_connector(mine "x" CLASSES gale.bolt.X gale.spout.Probe SOURCES x.c)',
                  "gale_connector(mine): the class gale.spout.Probe is brought by the connector probe already")


@unittest.skipUnless(shutil.which("dpkg-shlibdeps") and shutil.which("dpkg-deb"), "needs dpkg-dev")
class Packed(Case):
    def do(self, *command, **options):
        done = run(*command, **options)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def program(self, *words):
        """As it is where the packages are installed in `root`."""
        folders = list((self.path / "root").glob("usr/lib/**/gale/plugins"))
        environment = dict(os.environ, GALE_PLUGIN_PATH=":".join(map(str, folders)))
        return run(PROGRAM, *words, env=environment, cwd=self.path)

    def test_a_connector_is_a_package_of_its_own_that_comes_and_goes(self):
        self.chooses("probe", "none")
        self.do(CMAKE, "--build", self.build, "--target", "gale_connector_probe")
        self.do(CPACK, "-G", "DEB", "-B", self.path / "out", "-D", "CPACK_COMPONENTS_ALL=gale-probe", cwd=self.build, umask=0o022)
        package, = (self.path / "out").glob("gale-probe_*.deb")
        self.has_what_debian_wants(package)
        root = self.path / "root"
        self.assertIn("\nprobe, not installed: ", self.program("plugins").stdout)
        self.do("dpkg-deb", "-x", package, root)
        plugin, = root.glob("usr/lib/**/gale/plugins/gale-probe.so")
        listed = self.program("plugins").stdout
        self.assertIn(f"probe 1.0: makes numbers with zlib's sums of them\n  file     {plugin}\n", listed)
        self.assertNotIn("probe, not installed", listed)
        self.assertTrue(self.program("help", "gale.spout.Probe").stdout.startswith("gale.spout.Probe: makes numbers\n"))
        plugin.unlink()
        self.assertIn("which is not installed (no gale-probe.so in ", self.program("help", "gale.spout.Probe").stderr)

    def has_what_debian_wants(self, package):
        field = {name: self.do("dpkg-deb", "-f", package, name).rstrip("\n") for name in ("Package", "Depends", "Section", "Source", "Description")}
        self.assertEqual((field["Package"], field["Section"], field["Source"]), ("gale-probe", "utils", "gale"))
        self.assertRegex(field["Depends"], r"^gale \(>= 0\.1\.0\) \| libgale-front0 \(>= 0\.1\.0\), (?=.*\blibc6\b)(?=.*\bzlib1g\b)")
        self.assertNotIn("libgale0", field["Depends"])
        self.assertTrue(field["Description"].startswith("stream processing after Storm's model (probe)\n"))
        self.assertTrue(field["Description"].endswith(
            "\n This package has a plugin that topology files load by naming one of these:\n  * gale.spout.Probe\n  * gale.bolt.ProbeSink\n"
            "  * org.apache.storm.probe.ProbeSpout\n It makes numbers with zlib's sums of them."), field["Description"])
        files = [line.split()[-1] for line in self.do("dpkg-deb", "-c", package).splitlines() if not line.endswith("/")]
        self.assertEqual(sorted(Path(file).name for file in files), ["changelog.gz", "copyright", "gale-probe.so"])
        if shutil.which("lintian"):
            self.assertEqual(run("lintian", "--allow-root", "--no-cfg", package).stdout, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
