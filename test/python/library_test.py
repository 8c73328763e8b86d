#!/usr/bin/env python3
"""How the package finds libgale, and the sentence for each way in which it does not.

usage: library_test.py PACKAGE LIBRARIES CC    (the folder that has the package, and that of the libraries)
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PACKAGE, LIBRARIES, CC = pathlib.Path(sys.argv[1]) / "gale", pathlib.Path(sys.argv[2]), sys.argv[3]
KEPT = ("PATH", "PYTHONDONTWRITEBYTECODE", "LD_PRELOAD", "ASAN_OPTIONS")
FAKE = 'const char *gale_version(void) { return "%s"; }\n'


class Library(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        shutil.copytree(PACKAGE, self.folder / "site" / "gale", ignore=shutil.ignore_patterns("__pycache__"))

    def take(self, *names, to):
        """The libraries in a folder of their own."""
        to.mkdir(parents=True, exist_ok=True)
        for name in names:
            (to / f"{name}.so.0").symlink_to((LIBRARIES / f"{name}.so.0").resolve())
        return to

    def fake(self, version):
        """A library that is of that version, and has nothing."""
        source, made = self.folder / "fake.c", self.folder / "fake" / "libgale.so.0"
        made.parent.mkdir()
        source.write_text(FAKE % version)
        subprocess.run([CC, "-shared", "-fPIC", source, "-o", made], check=True)
        return made

    def python(self, program, **environment):
        kept = {name: value for name, value in os.environ.items() if name in KEPT}
        environment = {**kept, "PYTHONPATH": str(self.folder / "site"), **environment}
        done = subprocess.run([sys.executable, "-c", program], env=environment,
                              capture_output=True, text=True, timeout=120)
        return done.stdout.strip() or done.stderr.strip().splitlines()[-1]

    def says(self, **environment):
        return self.python("import gale; print(gale.version())", **environment)

    def test_named_by_the_environment_as_a_file_or_as_a_folder(self):
        version = self.says(GALE_LIBRARY=str(LIBRARIES))
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")
        self.assertEqual(self.says(GALE_LIBRARY=str(LIBRARIES / "libgale.so.0")), version)
        self.assertEqual(self.python("import gale; print(gale.__version__)", GALE_LIBRARY=str(LIBRARIES)), version)

    def test_in_the_packages_own_folder(self):
        self.take("libgale", to=self.folder / "site" / "gale")
        self.assertRegex(self.says(), r"^\d+\.\d+\.\d+$")

    def test_where_it_was_installed(self):
        self.take("libgale", to=self.folder / "lib")
        (self.folder / "site" / "gale" / "libdir.txt").write_text("../../lib\n")
        self.assertRegex(self.says(), r"^\d+\.\d+\.\d+$")

    def test_where_the_system_looks(self):
        self.assertRegex(self.says(LD_LIBRARY_PATH=str(LIBRARIES)), r"^\d+\.\d+\.\d+$")

    def test_nowhere(self):
        said = self.python(
            "import ctypes; ctypes.CDLL = lambda path: (_ for _ in ()).throw(OSError(path + ': no such file')); import gale")
        self.assertEqual(said, "gale._library.LibraryError: gale: libgale.so.0 cannot be loaded (libgale.so.0: no such file); install the package "
                               "that has it (Debian: libgale0, or libgale-front0), or let the environment variable GALE_LIBRARY name the "
                               "folder that it is in")

    def test_named_wrongly(self):
        self.assertEqual(self.says(GALE_LIBRARY="/nowhere"),
                         "gale._library.LibraryError: gale: there is no libgale.so.0 in /nowhere, which GALE_LIBRARY names")

    def test_of_another_version(self):
        for version in "0.0.9", "1.0.0", "nonsense":
            made = self.fake(version)
            self.assertRegex(self.says(GALE_LIBRARY=str(made)), rf"^gale._library.LibraryError: gale: {made} is version {version}, and this "
                             r"package needs \d+\.\d+\.\d+ or a later 0\.x: install both of one version")
            shutil.rmtree(made.parent)

    def test_one_that_lacks_something(self):
        made = self.fake("0.99.0")
        self.assertRegex(self.says(GALE_LIBRARY=str(made)),
                         r"has no gale_\w+: it is not the libgale that this package is for")

    def test_one_beside_it_is_missing_when_it_is_needed(self):
        folder = self.take("libgale", to=self.folder / "alone")
        for program, name in ("gale.Topology.from_text('x')", "libgale-front"), ("gale.Runtime(gale.Topology('t'), state='x')", "libgale-store"), \
                             ("gale.testing.Test(gale.Topology('t'))", "libgale-sim"):
            self.assertEqual(self.python(f"import gale; {program}", GALE_LIBRARY=str(folder)),
                             f"gale._library.LibraryError: gale: there is no {name}.so.0 in {folder}, which GALE_LIBRARY names")


if __name__ == "__main__":
    del sys.argv[1:]
    unittest.main()
