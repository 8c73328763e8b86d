#!/usr/bin/env python3
"""gale new: a project of each kind goes from nothing to a passing test by exactly the commands that are printed, with gale as it
is installed; what is there already is not touched.

usage: new_test.py GALE BUILD CMAKE CC
"""

import fcntl
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

GALE, BUILD, CMAKE, CC = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4]
GALE = str(Path(GALE).resolve())
SOURCES = Path(__file__).resolve().parents[2]


class New(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.installed = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.installed.cleanup)
        cls.prefix = Path(cls.installed.name) / "gale"
        subprocess.run([CMAKE, "--install", BUILD, "--prefix", cls.prefix], check=True, capture_output=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def gale(self, *arguments):
        done = subprocess.run([GALE, "new", *arguments], capture_output=True, text=True, timeout=600, cwd=self.path)
        return done.returncode, done.stdout, done.stderr

    def environment(self):
        libraries = next(path.parent for path in self.prefix.rglob("libgale.so"))
        return dict(os.environ, PATH=f"{self.prefix}/bin:{os.environ['PATH']}", CMAKE_PREFIX_PATH=str(self.prefix), LD_LIBRARY_PATH=str(libraries),
                    PYTHONPATH=str(self.packages()), CMAKE_GENERATOR="Ninja", CC=CC)

    def follow(self, name, *options):
        """What the printed commands print, carried out as they stand there."""
        code, out, err = self.gale(name, *options)
        self.assertEqual((code, err), (0, ""))
        commands = [line.strip() for line in out.splitlines() if line.startswith("  ")]
        self.assertEqual(commands[0], f"cd {name}")
        done = subprocess.run(["sh", "-ec", "\n".join(commands)], capture_output=True, text=True, timeout=600, cwd=self.path,
                              env=self.environment())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for file in (self.path / name).rglob("*"):
            if file.is_file() and not {"build", "__pycache__"} & set(file.parts):
                self.assertNotIn("@NAME@", file.read_text())
                self.assertEqual(file.stat().st_mode & 0o444, 0o444 & ~self.mask())
        for line in (self.path / name / "README.md").read_text().split("```")[1].strip().splitlines():
            self.assertIn(line, commands)
        return done.stdout

    def packages(self):
        """Python's, as they are installed."""
        return next(path.parent.parent for path in self.prefix.rglob("gale/__init__.py"))

    def mask(self):
        mask = os.umask(0)
        os.umask(mask)
        return mask

    def test_a_topology(self):
        out = self.follow("words")
        self.assertIn("1 case: 1 passed, 0 failed\n", out)
        self.assertIn("the\t4\n", out)

    def test_a_program(self):
        out = self.follow("my-words_2", "--c")
        self.assertIn("100% tests passed", out)
        self.assertIn('"word":"gale"', out)

    def test_a_program_ends_well_at_the_first_interrupt(self):
        """It has read its line, and waits for the next one: it says what it has counted, as at the end of its input."""
        self.follow("endless", "--c")
        with subprocess.Popen([self.path / "endless/build/bin/endless", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              env=self.environment()) as program:
            program.stdin.write("a b a\n")
            program.stdin.flush()
            while fcntl.ioctl(program.stdin, termios.FIONREAD, b"1234") != bytes(4):
                time.sleep(0.01)
            program.send_signal(signal.SIGINT)
            out, _ = program.communicate(timeout=600)
        self.assertEqual(program.returncode, 0)
        counts = {values["word"]: values["count"] for values in (json.loads(line)["values"] for line in out.splitlines())}
        self.assertIn(counts, ({"a": 2, "b": 1}, {}))

    def test_a_name_that_means_something_to_cmake(self):
        self.assertEqual(self.gale("test", "--c"), (2, "", "gale: 'test' means something else to cmake --build: take another name\n"))
        self.assertIn("1 passed, 0 failed\n", self.follow("test"))

    def test_a_plugin(self):
        out = self.follow("loud", "--plugin")
        self.assertIn("2 cases: 2 passed, 0 failed\n", out)
        self.assertIn("# LOUD!!!\n", out)

    def test_a_topology_in_python(self):
        out = self.follow("my-words_3", "--python")
        self.assertIn("gale\t", out)

    def test_a_topology_in_python_without_an_installation(self):
        code, out, err = self.gale("words", "--python")
        self.assertEqual((code, err), (0, ""))
        settings = out.splitlines()[-1].replace("SOURCES/build", str(Path(BUILD).resolve())).replace("SOURCES", str(SOURCES))
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "GALE_LIBRARY")}

        def run(*arguments):
            command = shlex.join([sys.executable, *arguments])
            done = subprocess.run(["sh", "-ec", f"{settings}\n{command}"], capture_output=True, text=True, timeout=600,
                                  cwd=self.path / "words", env=environment)
            return done.returncode, done.stdout, done.stderr
        self.assertEqual(run("words_test.py")[0], 0)
        self.assertIn("gale\t", run("words.py", "README.md")[1])
        self.assertEqual(run("words.py"), (1, "", "usage: python3 words.py FILE\n"))
        self.assertEqual(run("words.py", "nosuch"), (1, "", "words.py: [Errno 2] No such file or directory: 'nosuch'\n"))
        (self.path / "words" / "bad").write_bytes(b"good\n\xff\n")
        code, out, err = run("words.py", "bad")
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(err, r"words.py: UnicodeDecodeError: .*\(words.py:\d+\)\n")

    def test_what_the_commands_need_is_said(self):
        for option in "--c", "--plugin":
            out = self.gale("a" + option.strip("-"), option)[1]
            self.assertEqual(out.splitlines()[-1], "cmake -B build -DCMAKE_PREFIX_PATH=FOLDER")
        self.assertTrue(self.gale("words")[1].endswith("  gale run topology.yaml\n"))

    def test_a_plugin_whose_name_has_signs(self):
        self.assertIn("2 passed, 0 failed\n", self.follow("my-loud_plugin", "--plugin"))

    def test_what_is_no_plugin_may_have_capital_letters(self):
        self.assertEqual(self.gale("Mixed_9")[0], 0)
        self.assertEqual(self.gale("UPPER", "--c")[0], 0)

    def test_what_is_there_stays(self):
        (self.path / "words").mkdir()
        (self.path / "file").write_text("mine")
        (self.path / "link").symlink_to("nowhere")
        for name in ("words", "file", "link"):
            self.assertEqual(self.gale(name), (2, "", f"gale: '{name}' is there already: nothing was written\n"))
        self.assertEqual(sorted(path.name for path in self.path.iterdir()), ["file", "link", "words"])
        self.assertEqual(list((self.path / "words").iterdir()), [])

    def test_names_that_are_none(self):
        for name in ("", "1a", "a b", "a/b", "..", "é", "x" * 41, "a.b", "-"):
            code, out, err = self.gale("--", name)
            self.assertEqual((code, out), (2, ""))
            self.assertIn("is no name for a project", err)
        self.assertEqual(self.gale("gale", "--plugin")[0], 2)
        for name, right in {"UPPER": "upper", "Mixed_9": "mixed_9", "GALE": "gale"}.items():
            self.assertEqual(self.gale(name, "--plugin"), (2, "", f"gale: '{name}' is no name for a plugin: small letters, digits, '-' and '_'; "
                                                                  f"did you mean '{right}'?\n"))
        self.assertEqual(self.gale("a", "--c", "--plugin")[2], "gale: a project is of one kind: --yaml, --c, --plugin or --python\n")
        self.assertEqual(self.gale()[0], 2)
        self.assertEqual(self.gale("a", "b")[0], 2)
        self.assertEqual(list(self.path.iterdir()), [])

    def test_a_folder_that_cannot_be_made(self):
        self.path.chmod(0o500)
        self.addCleanup(self.path.chmod, 0o700)
        if os.access(self.path, os.W_OK):
            self.skipTest("nothing is forbidden to this user")
        code, out, err = self.gale("words")
        self.assertEqual((code, out), (3, ""))
        self.assertIn("words", err)


if __name__ == "__main__":
    del sys.argv[1:]
    unittest.main()
