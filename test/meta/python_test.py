#!/usr/bin/env python3
"""The Python package is as the house has its sources: lines of at most 120 columns, functions of at most 40 lines, modules of at
most 300 but for the one that repeats the headers; every module and every public class says what it is; nothing is imported in
vain, and what is begun with a name of the registry of another (a package that is not Python's own) is not there.

usage: python_test.py ROOT
"""

import ast
import pathlib
import sys

COLUMNS, FUNCTION, MODULE = 120, 40, 300
LONG = {"_c.py"}  # the declarations


def imported(tree):
    """(line, module's first name, name that it has here) of each import, however deep."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                yield node.lineno, one.name.split(".")[0], (one.asname or one.name).split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                yield node.lineno, "." if node.level else node.module.split(".")[0], one.asname or one.name


def used(tree):
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    shown = [node.value for node in ast.walk(tree) if isinstance(node, ast.Assign)
             and [getattr(target, "id", None) for target in node.targets] == ["__all__"]]
    return names | {one.value for each in shown for one in each.elts}


def judge(name, text):
    """Messages about one module."""
    tree, lines = ast.parse(text), text.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            yield f"{name}:{number}: {len(line)} columns; {COLUMNS} are enough"
    if len(lines) > MODULE and name not in LONG:
        yield f"{name}: {len(lines)} lines; what has one idea needs no more than {MODULE}"
    if not ast.get_docstring(tree):
        yield f"{name}: says not what it is"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= FUNCTION:
            yield f"{name}:{node.lineno}: {node.name} has {node.end_lineno - node.lineno + 1} lines"
        if isinstance(node, ast.ClassDef) and node in tree.body and not node.name.startswith("_") and name not in LONG \
                and not ast.get_docstring(node):
            yield f"{name}:{node.lineno}: {node.name} says not what it is"
    for line, module, here in imported(tree):
        if module != "." and module not in sys.stdlib_module_names:
            yield f"{name}:{line}: {module} is not Python's own"
        if here not in used(tree):
            yield f"{name}:{line}: {here} is imported in vain"


def check_self():
    bad = "import os\nimport numpy\n\nclass A:\n    pass\n\ndef f():\n" + "    x = 1\n" * 40 + "# " + "x" * 120 + "\n"
    said = "\n".join(judge("x.py", bad))
    for words in ("x.py:48: 122 columns", "x.py: says not", "x.py:7: f has 41 lines", "x.py:4: A says not", "os is imported in vain",
                  "numpy is not Python's own"):
        assert words in said, (words, said)


def main(root):
    check_self()
    paths = sorted((pathlib.Path(root) / "bindings" / "python" / "gale").glob("*.py"))
    messages = [message for path in paths for message in judge(path.name, path.read_text())]
    print("\n".join(messages) or f"{len(paths)} modules are as they should be")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
