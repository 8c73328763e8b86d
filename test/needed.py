#!/usr/bin/env python3
"""What ninja has to make for some of the tests of a build folder, one target a line: the programs, plugins and folders of them that the tests'
commands and environments name. A build under a sanitizer takes minutes, and half of it is for tests that do not run there.

usage: needed.py BUILD [OPTION OF CTEST]...
"""

import os
import pathlib
import re
import subprocess
import sys


def said(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def chosen(build, options):
    text = said("ctest", "--test-dir", build, "-N", *options)
    if refused := re.search(r"^RegularExpression.*", text, re.M):  # ctest goes on, as if there were no pattern
        sys.exit(f"needed.py: ctest does not take a pattern, which may have nine pairs of parentheses: {refused[0]}")
    names = set(re.findall(r"^ +Test +#\d+: (\S+)", text, re.M))
    if not names:
        sys.exit(f"needed.py: no test is chosen by {' '.join(options)}")
    return names


def mentioned(build, names):
    """Paths inside of the build folder, from it, of the lines that CMake has written of the tests."""
    line = re.compile(r"^(?:add_test|set_tests_properties)\(\[=\[(.*?)\]=\] (.*)$", re.M)
    path = re.compile(re.escape(str(build)) + r"(?:/([^\"; :]*))?(?=[\"; :])")
    return {found[1] or "" for file in build.rglob("CTestTestfile.cmake") for name, rest in line.findall(file.read_text()) if name in names
            for found in path.finditer(rest)}


def linked(build):
    """What is linked: programs and libraries. What a program needs besides, ninja knows."""
    targets = re.findall(r"^(.*): (\S+)$", said("ninja", "-C", build, "-t", "targets", "all"), re.M)
    return {target for target, rule in targets if "_LINKER__" in rule or rule == "CMAKE_SYMLINK_LIBRARY"}


def is_wanted(target, paths):
    """By its name or a folder that it is in; or as a library, beside one that is named: who loads that finds others there."""
    beside = {os.path.dirname(path) for path in paths if ".so" in path}
    return (target in paths or any(target.startswith(path + "/") for path in paths)
            or ".so" in target and os.path.dirname(target) in beside)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    paths = mentioned(build, chosen(build, sys.argv[2:]))
    print("all" if "" in paths else "\n".join(target for target in sorted(linked(build)) if is_wanted(target, paths)))


main()
