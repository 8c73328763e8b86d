#!/usr/bin/env python3
"""The program and libgale.so are hardened as cmake/hardening.cmake says, by what readelf and objdump find in them.

usage: hardening_test.py HARDENED GALE LIBGALE.SO    (HARDENED: names with commas between them, from CMake)
"""

import re
import subprocess
import sys


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


class Binary:
    def __init__(self, path):
        self.path = path
        self.header = output_of("readelf", "--wide", "--file-header", path)
        self.segments = output_of("readelf", "--wide", "--segments", path)
        self.dynamic = output_of("readelf", "--wide", "--dynamic", path)
        self.notes = output_of("readelf", "--wide", "--notes", path)
        self.symbols = output_of("readelf", "--wide", "--dyn-syms", path)
        self.code = None

    def disassembly(self):
        """Takes a moment: only where it is looked at."""
        if self.code is None:
            self.code = output_of("objdump", "--disassemble", "--no-show-raw-insn", "--section=.text", self.path)
        return self.code


def flags_of(segments, kind):
    """What may be done with the pages of a kind of segment: "RW", "R E"."""
    found = re.search(rf"^ *{kind}(?: +0x[0-9a-f]+){{5}} +([RWE ]+?) +0x", segments, flags=re.M)
    return found and found.group(1)


def has_relro(binary):
    now = re.search(r"\((?:FLAGS|FLAGS_1)\).*\b(?:BIND_NOW|NOW)\b", binary.dynamic.replace("\\", ""))
    return "GNU_RELRO" in binary.segments and now and flags_of(binary.segments, "GNU_STACK") == "RW"


def has_writable_code(binary):
    return re.search(r"^ *LOAD.* RWE ", binary.segments, flags=re.M)


def imports(binary, pattern):
    return re.search(rf" UND {pattern}(?:@|$)", binary.symbols, flags=re.M)


def has_stack_clash(binary):
    """A frame of more than a page is touched page by page; the copies that log lines are made in are such frames."""
    return re.search(r"\bsub +\$0x1000,%rsp\n.*\b(?:or|mov)q? +\$0x0,\(%rsp\)$", binary.disassembly(), flags=re.M) or \
        re.search(r"\bstr\s+xzr, \[sp(?:, #1024)?\]", binary.disassembly())


def has_cet(binary):
    """The note, and a place to land at the beginning of a function that others may call through a pointer."""
    return "SHSTK" in binary.notes and re.search(r"^[0-9a-f]+ <\w+>:\n[^\n]*\bendbr64\b", binary.disassembly(), flags=re.M)


CHECKS = {
    "relro": (has_relro, "full RELRO: a segment GNU_RELRO, BIND_NOW, and a stack that is not executable"),
    "stack-protector": (lambda b: imports(b, "__stack_chk_fail"), "the stack protector: nothing calls __stack_chk_fail"),
    "fortify": (lambda b: imports(b, r"__\w+_chk"), "FORTIFY: no checked copy of the C library is called"),
    "stack-clash": (has_stack_clash, "stack clash protection: no frame is touched page by page"),
    "cet": (has_cet, "CET: no note says SHSTK, or a function does not begin with endbr64"),
    "branch-protection": (lambda b: re.search(r"AArch64 feature:.*BTI.*PAC", b.notes), "branch protection: no note"),
}


def missing(names, binary, is_program):
    for name in names:
        if name in CHECKS and not CHECKS[name][0](binary):
            yield f"{binary.path} lacks {CHECKS[name][1]}"
    if is_program and "pie" in names and not (re.search(r"Type: +DYN", binary.header) and "PIE" in binary.dynamic):
        yield f"{binary.path} lacks a place of its own in each run: it is no PIE"
    if has_writable_code(binary):
        yield f"{binary.path} has pages that may be written and executed"


def check_self():
    text = "  GNU_STACK      0x000000 0x0000000000000000 0x0000000000000000 0x000000 0x000000 RWE 0x10\n"
    assert flags_of(text, "GNU_STACK") == "RWE" and flags_of(text, "GNU_RELRO") is None
    bare = Binary("/proc/self/exe")
    for field in ("segments", "dynamic", "notes", "symbols", "header"):
        setattr(bare, field, "")
    bare.code = "ret"
    assert len(list(missing(["pie", *CHECKS], bare, True))) == 1 + len(CHECKS)


def main(hardened, program, library):
    check_self()
    names = hardened.split(",")
    unknown = [name for name in names if name != "pie" and name not in CHECKS]
    assert not unknown, f"nothing here looks for {unknown}"
    messages = [*missing(names, Binary(program), True), *missing(names, Binary(library), False)]
    print("\n".join(messages) or f"hardened: {', '.join(names)}")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
