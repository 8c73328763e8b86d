#!/usr/bin/env python3
"""Plugins are found beside the program and beside the library, with no variable set: in the build folder, in an installed prefix, in one
that was moved, from Python, and from a program in C; but not where others might have put them.

usage: beside_test.py BUILD CMAKE CC
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, CMAKE, CC = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3]
COMPONENTS = ["gale", "libgale0", "libgale-dev", "libgale-front0", "libgale-front-dev", "gale-sqlite", "python3-gale"]
NOT_FOUND = "unknown class|is brought by the plugin gale-sqlite, which is not installed"

TOPOLOGY = """name: t
spouts:
  - {id: rows, className: gale.spout.SqliteRows, properties: {path: a.db, table: t, columns: [n]}}
bolts:
  - {id: print, className: gale.bolt.Printer}
streams:
  - {from: rows, to: print, grouping: {type: SHUFFLE}}
"""

IN_C = """
#include <gale/gale.h>
#include <gale_front.h>
#include <stdio.h>
int main(int argc, char **argv) {
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology = NULL;
    int rc = gale_topology_from_file(argv[argc - 1], NULL, &topology, &error);
    puts(rc < 0 ? error.text : "found");
    gale_topology_free(topology);
    return rc < 0;
}
"""


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.made.cleanup)
        cls.installed = pathlib.Path(cls.made.name) / "installed"
        for component in COMPONENTS:
            subprocess.run([CMAKE, "--install", BUILD, "--prefix", cls.installed, "--component", component], check=True,
                           capture_output=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        (self.path / "t.yaml").write_text(TOPOLOGY)

    def moved(self):
        """The prefix at another place, of this test's own."""
        return pathlib.Path(shutil.copytree(self.installed, self.path / "elsewhere" / "of it", symlinks=True))

    def run_in(self, *command, **more):
        unset = ("GALE_PLUGIN_PATH", "GALE_LIBRARY", "PYTHONPATH", "LD_LIBRARY_PATH")
        environment = {key: value for key, value in os.environ.items() if key not in unset} | more
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, cwd=self.path,
                              env=environment, check=False)
        return done.returncode, done.stdout + done.stderr

    def finds(self, gale, **more):
        self.assertEqual(self.run_in(gale, "check", "t.yaml", **more), (0, "t.yaml: nothing is wrong\n"))

    def misses(self, gale, **more):
        code, said = self.run_in(gale, "check", "t.yaml", **more)
        self.assertEqual(code, 2, said)
        self.assertRegex(said, NOT_FOUND)
        return said


class Program(Case):
    def test_in_the_build_folder(self):
        self.finds(BUILD / "gale")

    def test_by_a_link_to_the_program(self):
        (self.path / "link").symlink_to(BUILD / "gale")
        self.finds(self.path / "link")

    def test_in_an_installed_prefix_and_after_it_was_moved(self):
        self.finds(self.installed / "bin" / "gale")
        self.finds(self.moved() / "bin" / "gale")

    def test_a_run_has_them_too(self):
        code, _ = self.run_in("python3", "-c", "import sqlite3; c = sqlite3.connect('a.db'); c.execute('create table t (n)');"
                              "c.execute('insert into t values (7)'); c.commit()")
        self.assertEqual(code, 0)
        code, said = self.run_in(self.installed / "bin" / "gale", "run", "-q", "t.yaml")
        self.assertEqual(code, 0, said)
        self.assertIn("7", said)

    def test_what_is_missing_is_said_with_all_the_places(self):
        moved = self.moved()
        plugin, = moved.glob("**/gale-sqlite.so")
        plugin.unlink()
        said = self.misses(moved / "bin" / "gale")
        self.assertIn(f"no gale-sqlite.so in GALE_PLUGIN_PATH (which names no folder), {plugin.parent}, /", said)
        said = self.misses(moved / "bin" / "gale", GALE_PLUGIN_PATH="/none:other")
        self.assertIn(f"no gale-sqlite.so in /none, other (GALE_PLUGIN_PATH), {plugin.parent}, /", said)

    def test_the_environment_comes_first(self):
        (self.path / "mine").mkdir()
        (self.path / "mine" / "gale-sqlite.so").write_text("no plugin")
        code, said = self.run_in(self.installed / "bin" / "gale", "check", "t.yaml", GALE_PLUGIN_PATH=f"{self.path}/mine")
        self.assertEqual(code, 2)
        self.assertIn(f"'{self.path}/mine/gale-sqlite.so' is no shared object", said)

    def test_a_relative_folder_begins_where_the_program_runs(self):
        plugin, = self.installed.glob("**/gale-sqlite.so")
        (self.path / "mine").mkdir()
        shutil.copy(plugin, self.path / "mine")
        lone = self.path / "lone"
        lone.mkdir()
        program = shutil.copy(self.installed / "bin" / "gale", lone)
        self.misses(program)
        self.finds(program, GALE_PLUGIN_PATH="mine")


class NotTrusted(Case):
    def test_a_folder_that_everybody_may_write_to(self):
        moved = self.moved()
        folder = next(moved.glob("**/gale-sqlite.so")).parent
        for open_ in folder, folder.parent, moved:
            open_.chmod(0o777)
            said = self.misses(moved / "bin" / "gale")
            self.assertIn(f"{folder} (not trusted: {open_} may be changed by everybody)", said)
            open_.chmod(0o755)
        self.finds(moved / "bin" / "gale")

    def test_one_below_a_folder_with_the_sticky_bit_is_its_owners(self):
        moved = self.moved()
        moved.parent.chmod(0o1777)
        self.finds(moved / "bin" / "gale")
        folder = next(moved.glob("**/gale-sqlite.so")).parent
        folder.chmod(0o1777)
        self.misses(moved / "bin" / "gale")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a folder away")
    def test_one_of_another_user(self):
        moved = self.moved()
        folder = next(moved.glob("**/gale-sqlite.so")).parent
        os.chown(folder, 12345, -1)
        said = self.misses(moved / "bin" / "gale")
        self.assertIn(f"{folder} (not trusted: {folder} belongs to another user)", said)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file away")
    def test_a_file_of_another_user_is_not_run_unless_the_program_is_that_users_too(self):
        moved = self.moved()
        plugin = next(moved.glob("**/gale-sqlite.so"))
        os.chown(plugin, 12345, -1)
        code, said = self.run_in(moved / "bin" / "gale", "check", "t.yaml")
        self.assertEqual(code, 2, said)
        self.assertIn(f"'{plugin}' belongs to another user, and what is in it runs as you", said)
        for whole in moved, *moved.glob("**/*"):
            os.chown(whole, 12345, -1)
        self.finds(moved / "bin" / "gale")

    def test_a_link_does_not_hide_where_it_leads(self):
        moved = self.moved()
        folder = next(moved.glob("**/gale-sqlite.so")).parent
        everybodys = self.path / "everybodys"
        everybodys.mkdir()
        everybodys.chmod(0o777)
        shutil.move(folder, everybodys / "plugins")
        folder.symlink_to(everybodys / "plugins")
        self.assertIn(f"(not trusted: {everybodys} may be changed by everybody)", self.misses(moved / "bin" / "gale"))

    def test_what_the_environment_names_is_the_users_own_word(self):
        moved = self.moved()
        folder = next(moved.glob("**/gale-sqlite.so")).parent
        folder.chmod(0o777)
        self.finds(moved / "bin" / "gale", GALE_PLUGIN_PATH=str(folder))


class Library(Case):
    PYTHON = "import gale; gale.Topology.from_file('t.yaml').check(); print('found')"

    def test_python_with_the_build_folder(self):
        package = pathlib.Path(__file__).resolve().parents[2] / "bindings" / "python"
        found = self.run_in("python3", "-c", self.PYTHON, PYTHONPATH=str(package), GALE_LIBRARY=str(BUILD))
        self.assertEqual(found, (0, "found\n"))

    def test_python_in_an_installed_prefix_and_after_it_was_moved(self):
        for prefix in self.installed, self.moved():
            package = next(prefix.glob("**/gale/_library.py")).parents[1]
            self.assertEqual(self.run_in("python3", "-c", self.PYTHON, PYTHONPATH=str(package)), (0, "found\n"))

    def test_a_program_in_c(self):
        (self.path / "c.c").write_text(IN_C)
        moved = self.moved()
        library = next(moved.glob("**/libgale-front.so")).parent
        code, said = self.run_in(CC, "-I", moved / "include", "c.c", "-o", "c", "-L", library, "-lgale-front", "-lgale",
                                 f"-Wl,-rpath,{library}")
        self.assertEqual(code, 0, said)
        self.assertEqual(self.run_in("./c", "t.yaml"), (0, "found\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
