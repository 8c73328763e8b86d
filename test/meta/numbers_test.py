#!/usr/bin/env python3
"""Numbers have one reader and one writer, whatever the locale: base/number (gale_number_write, gale_value_text for connectors). Nothing else in
src/ writes digits of a double or reads them: `numbers_test.py ROOT`.

Messages for people round on purpose, as "%g" does: the files that have some are named here.
"""
import pathlib
import re
import sys

# A conversion of printf for a double, in a string: "%.17g", "%*.3f", "%lf". Formats of strftime ("%e %a") stand in tables of their own.
STRINGS = re.compile(r'"((?:[^"\\]|\\.)*)"')
WRITES = re.compile(r"%[-+#0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?l?[gG]|%l[fe]|%\.(?:\*|\d+)[eEaA]")
READS = re.compile(r"\b(?:strto(?:d|f|ld)(?:_l)?|atof|lua_stringtonumber)\s*\(")
ROUNDED = re.compile(r"%\.?\d?g")  # what a message may have

READERS = {"base/number.c"}  # the C library's way, for what 128 bits do not say; in the locale "C"
MESSAGES = {
    "connect/exec/child.c", "connect/exec/settings.c", "connect/exec/sink.c", "connect/file/settings.c", "connect/file/sink_options.c", "connect/net/settings.c", "connect/net/sink_settings.c",
    "connect/net/tcp_sink.c", "connect/postgres/link.c", "connect/postgres/session.c", "connect/sqlite/base.c", "connect/sqlite/ending.c",
    "front/advice.c", "kit/csv_bolt.c", "kit/dedupe.c", "kit/dispatch.c", "kit/event_time.c", "kit/rate_limit.c", "kit/sample.c", "kit/window.c", "runtime/tap.c",
    "runtime/timeout_warning.c", "script/join_lines.c", "script/lookup.c", "sim/wanted.c", "topology/config.c", "topology/keyed.c", "topology/plan.c", "wire/wire.c",
}


def without_comments(text):
    """Lines stay where they are."""
    return re.sub(r"/\*.*?\*/", lambda match: "\n" * match.group().count("\n"), text, flags=re.S)


def faults(name, text):
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        if READS.search(line) and name not in READERS:
            yield f"src/{name}:{number}: reads a number by the C library; gx_number_read (gale_number_read) does"
        for found in WRITES.findall(" ".join(STRINGS.findall(line))):
            message = name in MESSAGES and (ROUNDED.fullmatch(found) or name == "topology/config.c")
            if not message:
                yield f"src/{name}:{number}: writes a number by '{found}'; gx_number_write (gale_value_text) does"


def itself():
    assert list(faults("a.c", 'snprintf(to, 40, "%.*g", digits, number);'))
    assert list(faults("a.c", 'gx_buf_format(to, "x %.17g", number);'))
    assert list(faults("wire/wire.c", 'snprintf(to, 40, "%.17g", number);'))
    assert list(faults("a.c", "double n = strtod(text, &end);"))
    assert not list(faults("wire/wire.c", 'snprintf(to, 40, "silent for %g s", seconds);'))
    assert not list(faults("a.c", '/* strtod( alone\n %g */ printf("%zu %.*s %d%%", a, b, c, d);'))


def main(root):
    itself()
    sources = pathlib.Path(root) / "src"
    files = sorted(path for pattern in ("*.c", "*.h") for path in sources.rglob(pattern))
    assert len(files) > 500
    found = [fault for path in files for fault in faults(path.relative_to(sources).as_posix(), path.read_text())]
    idle = sorted(name for name in MESSAGES if not WRITES.search(without_comments((sources / name).read_text())))
    found += [f"test/meta/numbers_test.py: src/{name} has no such message any longer" for name in idle]
    sys.exit("\n".join(found) or 0)


main(*sys.argv[1:])
