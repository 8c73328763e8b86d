#!/usr/bin/env python3
"""The examples' plugins are built by their own CMakeLists with the headers that `cmake --install` has installed, and no others, and
are loaded by the program that it has installed.

usage: installed_test.py ROOT BUILD CMAKE CC CXX
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def build_example(folder, name, root, cmake, compilers):
    """By the commands of its README, in a folder of its own: the repository's headers are not beside it."""
    there = folder / name
    shutil.copytree(pathlib.Path(root) / "examples" / "plugins" / name, there, ignore=shutil.ignore_patterns("build"))
    run(cmake, "-S", there, "-B", there / "build", f"-DCMAKE_PREFIX_PATH={folder}/prefix", *compilers)
    run(cmake, "--build", there / "build")
    return there


def main(root, build, cmake, cc, cxx):
    compilers = [f"-DCMAKE_C_COMPILER={cc}", f"-DCMAKE_CXX_COMPILER={cxx}"]
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        for component in ("gale", "libgale-dev"):  # each has a manifest of its own
            run(cmake, "--install", build, "--prefix", folder / "prefix", "--component", component)
        gale = folder / "prefix" / "bin" / "gale"
        mask, tally = (build_example(folder, name, root, cmake, compilers) for name in ("mask", "tally"))
        cache = (mask / "build" / "CMakeCache.txt").read_text()
        assert f"GALE_INCLUDE_DIR:PATH={folder}/prefix/include\n" in cache, "the headers are not those that were installed"
        found = run(gale, "run", "-q", "-j1", "topology.yaml", cwd=mask)
        assert found.startswith("Ada\t****-****-****-0000\n") and found.count("\n") == 8, found
        found = run(gale, "run", "-q", "topology.yaml", cwd=tally, input="to be or not to be\n")
        assert found == "be\t2\nto\t2\nnot\t1\nor\t1\n", found
        environment = dict(os.environ, GALE_PLUGIN_PATH=f"{mask}/build:{tally}/build")
        found = run(gale, "plugins", env=environment)
        assert "mask.bolt.Mask" in found and "tally.bolt.Tally" in found, found
    print("a plugin in C and one in C++, built with the installed headers, run in the installed program")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
