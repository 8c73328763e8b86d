#!/usr/bin/env python3
"""libgale exports exactly the functions and tables of the public headers (GALE_API, and GALE_INLINE, which it has once
more for other languages), and the shared one depends on libc alone; a library beside it exports those of its own header. That
holds for shared libraries, in which all stands under the version GALE_0, and for static ones, in which no inner name is global.
The program shows what all public headers declare to the plugins that it loads, and nothing else.

usage: symbols_test.py ROOT NAME LIBNAME.SO LIBNAME.A ... [--program GALE]    (NAME: gale, or gale_store for include/gale_store.h)
"""

import pathlib
import re
import subprocess
import sys

import headers


# What libgale and the libraries beside it share in builds with GALE_CHECKS.
OF_CHECKS = re.compile(r"gx_object_(begin|end|is)(@|$)")


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def compare(library, marked, found):
    """Messages about two sets of names: what the headers promise and what the library has."""
    for name in sorted(marked - found):
        yield f"{name} is GALE_API or GALE_INLINE in a header, but {library} does not export it (src/topology/exported.c)"
    for name in sorted(found - marked):
        yield f"{library} exports {name}, which its public headers do not mark: make it static or hidden"


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


def shown(marked, more, found):
    """Messages about what the program shows to plugins."""
    for name in sorted(marked - found):
        yield f"gale does not show {name} to plugins (cmake/plugins.list, and all of libgale's objects)"
    for name in sorted(found - marked - more):
        yield f"gale shows {name} to plugins, which no public header marks: make it static or hidden"


def check_self():
    text = "GALE_API GALE_MUST_USE int gale_a(int (*f)(void *));\n#define X GALE_API int gale_b(void);\n/* GALE_API c(); */"
    assert headers.exported(text) == ["gale_a"], headers.exported(text)
    text = "GALE_INLINE gale_value gale_c(int a) {\n    gale_d(a);\n}\nstatic inline int gale_e(void) {\n}\n"
    assert headers.inlined(text) == ["gale_c"] and headers.private(text) == ["gale_e"], headers.inlined(text)
    assert headers.tables("GALE_API extern const gale_ops gale_f;\nGALE_API int gale_a(void);") == ["gale_f"]
    assert len(list(compare("l", {"gale_a"}, {"gx_b"}))) == 2
    assert len(list(shown({"gale_a"}, {"gale_c"}, {"gale_c", "gx_b"}))) == 2
    assert list(foreign(["libc.so.6", "ld-linux-aarch64.so.1"])) == []
    assert len(list(foreign(["libm.so.6"]))) == 1


def marked_for(root, name):
    """What a library is to export: libgale what include/gale has, another one what its header has."""
    if name == "gale":
        texts = [path.read_text() for path in headers.public_headers(root)]
    else:
        names = {"gale_sim": ["gale_sim", "gale_test"]}.get(name, [name])
        texts = [(pathlib.Path(root) / "include" / f"{header}.h").read_text() for header in names]
    return {name for text in texts for name in headers.exported(text) + headers.inlined(text) + headers.tables(text)}


def exported_by(shared):
    """The names that a shared library exports, and messages about those without a version."""
    lines = output_of("nm", "-D", "--defined-only", "--with-symbol-versions", "--format=posix", shared).splitlines()
    names = {line.split()[0] for line in lines} - {"GALE_0"}
    found = {name.split("@")[0] for name in names if not OF_CHECKS.match(name)}
    return found, [f"{shared} exports {name} without a version" for name in names if not name.endswith("@@GALE_0")]


def global_in(static):
    lines = output_of("nm", "-g", "--defined-only", "--format=posix", static).splitlines()
    names = {line.split()[0] for line in lines if len(line.split()) > 2}
    return {name for name in names if not OF_CHECKS.match(name)}


def check_library(root, name, shared, static):
    marked = marked_for(root, name)
    found, messages = exported_by(shared)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "--dynamic", "--wide", shared))
    soname = re.findall(r"\(SONAME\).*\[(.*)\]", output_of("readelf", "--dynamic", "--wide", shared))
    messages += [*compare(shared, marked, found), *compare(static, marked, global_in(static))]
    messages += foreign(needed) if name == "gale" else []
    messages += [] if needed else [f"cannot read what {shared} needs"]
    messages += [] if soname == [f"lib{name.replace('_', '-')}.so.0"] else [f"{shared} calls itself {soname}"]
    return messages, f"{name}: {len(marked)} names, needs {', '.join(needed)}"


def check_program(root, program):
    beside = {name for path in pathlib.Path(root, "include").glob("*.h") for name in marked_for(root, path.stem)}
    listed = output_of("nm", "-D", "--defined-only", "--format=posix", program).splitlines()
    return list(shown(marked_for(root, "gale"), beside, {line.split()[0] for line in listed}))


def main(root, *libraries):
    check_self()
    messages, told = list(hidden(root)), []
    if "--program" in libraries:
        messages += check_program(root, libraries[-1])
        libraries = libraries[:-2]
    for at in range(0, len(libraries), 3):
        found, text = check_library(root, *libraries[at:at + 3])
        messages += found
        told.append(text)
    print("\n".join(messages or told))
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
