#!/usr/bin/env python3
"""Another project takes gale in with add_subdirectory: it gets the library, static and shared, and nothing else; no
tests, no benchmarks, and nothing has to be installed for the program. By Makefiles, which are CMake's own choice, and by Ninja.

usage: embedded_test.py ROOT CMAKE CTEST CC
"""

import pathlib
import subprocess
import sys
import tempfile

PROJECT = """\
cmake_minimum_required(VERSION 3.22)
project(parent LANGUAGES C)
enable_testing()
add_subdirectory("{root}" gale)
foreach(kind gale static shared)
  add_executable(app_${{kind}} "{root}/examples/embed/main.c" "{root}/examples/embed/words.c")
  target_link_libraries(app_${{kind}} PRIVATE gale::${{kind}})
endforeach()
if(TARGET gale OR TARGET gale_bench_flow OR TARGET gale_front OR TARGET test_base_error)
  message(FATAL_ERROR "the parent project builds more than the library")
endif()
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout.decode()}"
                         f"{done.stderr.decode()}")
    return done.stdout


def main(root, cmake, ctest, compiler):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "CMakeLists.txt").write_text(PROJECT.format(root=root))
        for generator in ("Unix Makefiles", "Ninja"):
            check(folder, folder / generator.replace(" ", "-"), generator, cmake, ctest, compiler)
    print("a parent project builds and links libgale alone, with make and with ninja")
    return 0


def check(folder, build, generator, cmake, ctest, compiler):
    run(cmake, "-S", folder, "-B", build, "-G", generator, f"-DCMAKE_C_COMPILER={compiler}",
        "-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON", "-DCMAKE_BUILD_TYPE=Debug")  # half the time of Release
    run(cmake, "--build", build, "--parallel", "2", "--target", "app_gale", "app_static", "app_shared")
    outputs = [run(build / f"app_{kind}", input=b"to be or not to be\n") for kind in ("gale", "static", "shared")]
    tests = run(ctest, "--test-dir", build, "-N").decode()
    assert all(b'"values":{"word":"be","count":2}' in text for text in outputs), outputs
    assert "Total Tests: 0" in tests, tests


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
