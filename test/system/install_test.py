#!/usr/bin/env python3
"""What `cmake --install` installs is whole, wherever it is moved to: an application is built against it through CMake and
through pkg-config, shared and static, as C99 and as C++17, and runs, as does one in Python; DESTDIR is obeyed; uninstalling leaves nothing.
(add_subdirectory: meta/embedded.)

usage: install_test.py ROOT BUILD CMAKE CC CXX LIBRARIES    (LIBRARIES: beside libgale, with commas between them)
       install_test.py ROOT installed CMAKE CC CXX LIBRARIES    what packages have installed in /usr, as it is
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

PROJECT = """\
cmake_minimum_required(VERSION 3.22)
project(hello LANGUAGES C CXX)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
find_package(gale {version} REQUIRED COMPONENTS {libraries})
find_package(gale {version} REQUIRED)
add_executable(hello "{hello}.c")
target_link_libraries(hello PRIVATE gale::gale)
add_executable(hello_static "{hello}.c")
target_link_libraries(hello_static PRIVATE gale::static)
add_executable(hello_libraries "{hello}_libraries.c")
target_link_libraries(hello_libraries PRIVATE {targets})
find_package(gale 99 QUIET)
if(gale_FOUND)
  message(FATAL_ERROR "version 99 was found")
endif()
find_package(gale QUIET COMPONENTS nothing)
if(gale_FOUND)
  message(FATAL_ERROR "a component that is none was found")
endif()
"""

INPUT = b"to be or not to be\n"
EXPECTED = sorted([b"to\t2", b"be\t2", b"or\t1", b"not\t1"])


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout.decode()}"
                         f"{done.stderr.decode()}")
    return done.stdout


class Test:
    def __init__(self, folder, root, build, cmake, cc, cxx, libraries):
        self.folder, self.build, self.cmake, self.cc, self.cxx = folder, build, cmake, cc, cxx
        self.root = pathlib.Path(root).resolve()
        self.hello = self.root / "test" / "system" / "install" / "hello"
        self.libraries = [name for name in libraries.split(",") if name]
        self.all = {"store", "script", "gzip", "front", "sim"} <= set(self.libraries)
        self.prefix = folder / "moved" / "gale"

    def take_installed(self):
        """What packages have put into /usr."""
        self.prefix = pathlib.Path("/usr")
        self.libdir = next((self.prefix / "lib").glob("*/libgale.so")).parent

    def install(self):
        """Installed with DESTDIR, below which it is whole; then moved."""
        run(self.cmake, "--install", self.build, "--prefix", "/opt/gale", "--strip",
            env=dict(os.environ, DESTDIR=str(self.folder / "root")))
        assert [path.name for path in (self.folder / "root").iterdir()] == ["opt"]
        self.prefix.parent.mkdir()
        (self.folder / "root" / "opt" / "gale").rename(self.prefix)
        self.libdir = next(path.parent for path in self.prefix.rglob("libgale.so"))

    def check_hello(self, program, what):
        found = run(program, input=INPUT, env=dict(os.environ, LD_LIBRARY_PATH=str(self.libdir)))
        assert sorted(found.splitlines()) == EXPECTED, f"{what}: hello said {found}"

    def check_libraries(self, program, what):
        found = run(program, env=dict(os.environ, LD_LIBRARY_PATH=str(self.libdir)))
        assert found == b"3 runs hold\n", f"{what}: hello_libraries said {found}"

    def needs(self, program):
        return run("readelf", "-d", program).decode()

    def by_cmake(self, kind):
        source, build = self.folder / "project", self.folder / f"cmake-{kind}"
        source.mkdir(exist_ok=True)
        targets = " ".join(f"gale::{name}" for name in self.libraries)
        (source / "CMakeLists.txt").write_text(PROJECT.format(
            version="0.1", libraries=" ".join(self.libraries), hello=self.hello, targets=targets))
        run(self.cmake, "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_C_COMPILER={self.cc}", f"-DCMAKE_CXX_COMPILER={self.cxx}",
            f"-DGALE_USE_STATIC_LIBS={'ON' if kind == 'static' else 'OFF'}")
        names = ["hello", "hello_static"] + (["hello_libraries"] if self.all else [])
        run(self.cmake, "--build", build, "--target", *names)
        for name in ("hello", "hello_static"):
            self.check_hello(build / name, f"find_package, {kind}")
            static = kind == "static" or name == "hello_static"
            assert ("libgale.so.0" in self.needs(build / name)) != static, f"{name} of {kind} is linked otherwise"
        if self.all:
            self.check_libraries(build / "hello_libraries", f"find_package, {kind}")

    def pkg_config(self, *words):
        paths = [str(self.libdir / "pkgconfig"), os.environ.get("PKG_CONFIG_PATH", "")]
        return shlex.split(run("pkg-config", *words, env=dict(os.environ, PKG_CONFIG_PATH=":".join(paths))).decode())

    def by_pkg_config(self, kind):
        static = ["--static"] if kind == "static" else []
        link = ["-static"] if static else []
        flags = self.pkg_config("--cflags", "--libs", *static, "gale")
        assert "gale_" not in " ".join(flags)
        program = self.folder / f"hello-{kind}"
        run(self.cc, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", *link, f"{self.hello}.c", "-o", program, *flags)
        self.check_hello(program, f"pkg-config, {kind}, C99")
        run(self.cxx, "-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror", *link, "-xc++", f"{self.hello}.c", "-xnone",
            "-o", program, *flags)
        self.check_hello(program, f"pkg-config, {kind}, C++17")
        if self.all:
            flags = self.pkg_config("--cflags", "--libs", *static, *(f"gale-{name}" for name in self.libraries))
            run(self.cc, *link, f"{self.hello}_libraries.c", "-o", program, *flags)
            self.check_libraries(program, f"pkg-config, {kind}")

    def by_python(self):
        """Without a word about where libgale is; about the package only where Python does not look by itself."""
        package = next(self.prefix.rglob("dist-packages/gale/__init__.py")).parent
        named = {} if self.prefix == pathlib.Path("/usr") else {"PYTHONPATH": str(package.parent)}
        environment = {name: value for name, value in os.environ.items() if name not in ("GALE_LIBRARY", "LD_LIBRARY_PATH")}
        python = "/usr/bin/python3" if not named else sys.executable
        found = run(python, f"{self.hello}.py", input=INPUT, env={**environment, **named})
        assert sorted(found.splitlines()) == EXPECTED, f"hello.py said {found}"

    def check_program(self):
        found = run(self.prefix / "bin" / "gale", "--version")
        assert found.startswith(b"gale "), found

    def check_documents(self):
        """Every link of an installed page leads to what is installed; the pages are all there, with their pictures."""
        folder = self.prefix / "share" / "doc" / "gale"
        pages = {page.relative_to(folder) for page in folder.rglob("*.md")}
        wanted = {page.relative_to(self.root) for page in (self.root / "docs").rglob("*.md")} | {pathlib.Path("README.md")}
        assert wanted <= pages, f"not installed: {wanted - pages}"
        broken = [f"{page}: {target}" for page in pages for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (folder / page).read_text())
                  if not (folder / page).parent.joinpath(target).exists()]
        assert not broken, f"links of installed pages that lead nowhere: {broken}"

    def uninstall(self):
        """No file and no folder of gale's is left; what others have there stays."""
        prefix = self.folder / "prefix"
        (prefix / "lib").mkdir(parents=True)
        (prefix / "lib" / "others").write_text("stays")
        run(self.cmake, "--install", self.build, "--prefix", prefix)
        assert len(list(prefix.rglob("*"))) > 40
        made = next(prefix.rglob("dist-packages/gale")) / "__pycache__"
        made.mkdir()
        (made / "values.cpython-311.pyc").write_text("what Python makes")
        run(self.cmake, "--build", self.build, "--target", "uninstall")
        left = [path.relative_to(prefix) for path in prefix.rglob("*")]
        assert [str(path) for path in left if (prefix / path).is_file()] == ["lib/others"], f"uninstalling left {left}"
        assert not [path for path in left if "gale" in path.name], f"uninstalling left {left}"


def build_all(test):
    test.check_program()
    test.check_documents()
    test.by_python()
    for kind in ("shared", "static"):
        test.by_cmake(kind)
        test.by_pkg_config(kind)


def check_installed(root, *rest):
    with tempfile.TemporaryDirectory() as folder:
        test = Test(pathlib.Path(folder), root, *rest)
        test.take_installed()
        build_all(test)
    print("built and run with what is installed: CMake and pkg-config, shared and static, C99, C++17 and Python")
    return 0


def main(root, build, *rest):
    if build == "installed":
        return check_installed(root, build, *rest)
    manifest = pathlib.Path(build) / "install_manifest.txt"
    kept = manifest.read_bytes() if manifest.exists() else None
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gale-install-"))
    try:
        test = Test(folder, root, build, *rest)
        test.install()
        build_all(test)
        test.uninstall()
    finally:
        shutil.rmtree(folder)
        if kept is not None:
            manifest.write_bytes(kept)
    print("built and run: CMake and pkg-config, shared and static, C99, C++17 and Python; uninstalled without a rest")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
