#!/usr/bin/env python3
"""libgale.so exports exactly the functions and tables of the public headers (GALE_API, and GALE_INLINE, which it has once
more for other languages), and depends on libc alone.

usage: symbols_test.py ROOT LIBGALE.SO
"""

import re
import subprocess
import sys

import headers


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def compare(marked, found):
    """Messages about two sets of names: what the headers promise and what the library has."""
    for name in sorted(marked - found):
        yield f"{name} is GALE_API or GALE_INLINE in a header, but libgale.so does not export it (src/topology/exported.c)"
    for name in sorted(found - marked):
        yield f"libgale.so exports {name}, which no public header marks: make it static or hidden"


def hidden(root):
    """Messages about functions that C alone could call."""
    for path in headers.public_headers(root):
        for name in headers.private(path.read_text()):
            yield f"include/gale/{path.name}: {name} is static, so no other language can call it: write GALE_INLINE"


def foreign(needed):
    """Messages about libraries that are not the C library (or its loader)."""
    for name in needed:
        if not re.match(r"(libc\.so|ld-linux)", name):
            yield f"libgale.so needs {name}; it may need the C library alone"


def check_self():
    text = "GALE_API GALE_MUST_USE int gale_a(int (*f)(void *));\n#define X GALE_API int gale_b(void);\n/* GALE_API c(); */"
    assert headers.exported(text) == ["gale_a"], headers.exported(text)
    text = "GALE_INLINE gale_value gale_c(int a) {\n    gale_d(a);\n}\nstatic inline int gale_e(void) {\n}\n"
    assert headers.inlined(text) == ["gale_c"] and headers.private(text) == ["gale_e"], headers.inlined(text)
    assert headers.tables("GALE_API extern const gale_ops gale_f;\nGALE_API int gale_a(void);") == ["gale_f"]
    assert len(list(compare({"gale_a"}, {"gx_b"}))) == 2
    assert list(foreign(["libc.so.6", "ld-linux-aarch64.so.1"])) == []
    assert len(list(foreign(["libm.so.6"]))) == 1


def main(root, library):
    check_self()
    texts = [path.read_text() for path in headers.public_headers(root)]
    marked = {name for text in texts for name in headers.exported(text) + headers.inlined(text) + headers.tables(text)}
    found = {line.split()[0] for line in output_of("nm", "-D", "--defined-only", "--format=posix", library).splitlines()}
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "--dynamic", "--wide", library))
    messages = list(compare(marked, found)) + list(hidden(root)) + list(foreign(needed))
    if not needed:
        messages.append(f"cannot read what {library} needs")
    print("\n".join(messages) or f"{len(marked)} functions, needs {', '.join(needed)}")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
