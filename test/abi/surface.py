#!/usr/bin/env python3
"""Writes a C file that names all that a plugin, or an application, is compiled into: each function's and table's type, each type and each
constant of the public headers. What a compiler makes of it, abidw can describe, without a library.

usage: surface.py INCLUDE > surface.c
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "meta"))
sys.dont_write_bytecode = True

import headers  # noqa: E402


def types(text):
    """Names of the types: `typedef struct x {...} x;`, `typedef uint64_t x;`, `typedef int x(...);`, `typedef struct x x;`."""
    text = headers.without_comments(text)
    flat = re.sub(r"\{[^{}]*\}", "", re.sub(r"\{[^{}]*\}", "", text))
    return re.findall(r"\btypedef\b[^;]*?\b(\w+)(?:\s*\([^;]*\))?;", flat)


def constants(text):
    """Names in enums without a name."""
    for body in re.findall(r"^enum \{(.*?)\};", headers.without_comments(text), flags=re.M | re.S):
        yield from re.findall(r"\b(GALE_\w+)\s*(?==|,|$)", re.sub(r"=[^,]*", "=", body).strip())


def check_self():
    text = "typedef struct a {\n    int x; union { int y; } z;\n} a;\ntypedef int f(void *user);\ntypedef uint64_t h;\ntypedef struct o o;\n"
    assert types(text) == ["a", "f", "h", "o"], types(text)
    assert list(constants("enum { GALE_A = GALE_B + 1, GALE_C };\n")) == ["GALE_A", "GALE_C"]


def main(include):
    check_self()
    texts = [path.read_text() for path in sorted((pathlib.Path(include) / "gale").glob("*.h"))]
    print("#include <gale/gale.h>")
    for name in sorted({n for t in texts for n in headers.exported(t) + headers.inlined(t) + headers.tables(t)}):
        print(f"__typeof__({name}) *abi_{name};")
    for name in sorted({n for t in texts for n in types(t)}):
        print(f"{name} *abi_type_{name};")
    for name in sorted({n for t in texts for n in constants(t)}):
        print(f"char (*abi_constant_{name})[1 + (size_t){name}];")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
