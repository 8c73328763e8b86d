#!/usr/bin/env python3
"""What the Python package says of C is what the headers say: sizes, offsets and kinds of fields, numbers, prototypes. A
program that is compiled with the headers tells the first three; prototypes are read from the headers themselves.

usage: layout_test.py ROOT CC
"""

import ctypes as c
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT, CC = pathlib.Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, str(ROOT / "test" / "meta"))

import headers  # noqa: E402

from gale import _c, _library  # noqa: E402

HEADERS = ["gale/gale.h", "gale/metric.h", "gale/remote.h", "gale/state.h", "gale/store.h", "gale/watch.h", "gale_test.h", "gale_front.h", "gale_store.h", "gale_serve.h"]
NUMBERS = {"SECOND": "GALE_SECOND", "ERROR_TEXT": "GALE_ERROR_TEXT", "FAILURE_TEXT": "GALE_FAILURE_TEXT",
           "MORE": "GALE_MORE",
           "OPEN_TREES_MAX": "GALE_OPEN_TREES_MAX", "METRICS_MAX": "GALE_METRICS_MAX",
           "METRIC_NAMES_MAX": "GALE_METRIC_NAMES_MAX", "VALUE_DEPTH": "GALE_VALUE_DEPTH", "DURABLE_STATELESS": "GALE_DURABLE_STATELESS",
           "DURABLE_KEYED": "GALE_DURABLE_KEYED", "FOREVER": "INT64_MAX"}
TYPES = {"void": None, "int": c.c_int, "bool": c.c_bool, "size_t": c.c_size_t, "int32_t": c.c_int32, "int64_t": c.c_int64,
         "uint32_t": c.c_uint32, "uint64_t": c.c_uint64, "double": c.c_double, "gale_handle": c.c_uint64, "gale_watch": c.c_uint64}
# Functions that are typedefs of their own, and fields of CFUNCTYPEs that have another name than the structure's.
FUNCTION_TYPES = {"gale_watch_fn": _c.WATCH, "gale_state_each_fn": _c.EACH}


def c_name(structure):
    return "gale_" + re.sub(r"(?<!^)([A-Z])", r"_\1", structure.__name__).lower()


def structures():
    named = {one for one in vars(_c).values() if isinstance(one, type) and issubclass(one, c.Structure)}
    return sorted(named - {c.Structure, _c.Sized}, key=lambda one: one.__name__)


def is_pointer(kind):
    return kind in (c.c_void_p, c.c_char_p) or issubclass(kind, (c._Pointer, c._CFuncPtr))


def is_record(kind):
    return issubclass(kind, (c.Structure, c.Array))


def field_facts(structure, name, kind):
    """(what, C expression, what Python says) of a field."""
    at, field = c_name(structure), "as" if (structure, name) == (_c.Value, "bits") else name
    place = f"(({at} *)0)->{field}"
    yield f"{at}.{name}: offset", f"offsetof({at}, {field})", getattr(structure, name).offset
    yield f"{at}.{name}: size", f"sizeof {place}", c.sizeof(kind)
    if field == "as" or is_record(kind):
        return
    # In u64 of gale_tuple, pointers are read as numbers.
    if is_pointer(kind):
        yield f"{at}.{name}: pointer", f"__builtin_classify_type({place})", 5
    elif structure is not _c.Tuple:
        signed = kind(-1).value == -1 if kind not in (c.c_bool, c.c_double) else kind is c.c_double
        yield f"{at}.{name}: signed", f"((__typeof__({place}))-1 < 0)", int(signed)


def facts():
    for structure in structures():
        yield f"sizeof {c_name(structure)}", f"sizeof({c_name(structure)})", c.sizeof(structure)
        for name, kind in structure._fields_:
            yield from field_facts(structure, name, kind)
    for numbers, prefix in _c.PREFIXES.items():
        for one in numbers:
            yield f"{prefix}{one.name}", f"{prefix}{one.name}", int(one)
    for name, in_c in NUMBERS.items():
        yield name, in_c, getattr(_c, name)


def program(facts):
    lines = [f"#include <{header}>" for header in HEADERS] + ["#include <stdio.h>", "int main(void) {"]
    return "\n".join(lines + [f'    printf("%lld\\n", (long long)({expression}));' for _what, expression, _value in facts] + ["}\n"])


def ask_c(facts):
    with tempfile.TemporaryDirectory() as folder:
        source, binary = pathlib.Path(folder) / "facts.c", pathlib.Path(folder) / "facts"
        source.write_text(program(facts))
        subprocess.run([CC, f"-I{ROOT / 'include'}", source, "-o", binary], check=True)
        return [int(line) for line in subprocess.run([binary], capture_output=True, check=True).stdout.split()]


# --- Prototypes ------------------------------------------------------------------------------------------------------


def ctype_of(text):
    """Of "const gale_value *values", "size_t count", "void": c.c_void_p stands for any pointer."""
    if "*" in text:
        return c.c_void_p
    words = [word for word in text.split() if word not in ("const", "struct", "static", "inline")]
    names = {c_name(one): one for one in structures()}
    return (TYPES | names)[words[0]]


def split_arguments(text):
    """At the commas that are in no parentheses."""
    flat = re.sub(r"\([^()]*\)(?=\s*\()|(?<=\))\s*\([^()]*\)", "*", text)
    return [] if flat.strip() == "void" else [ctype_of(one) for one in flat.split(",")]


def plain(kind):
    return None if kind is None else c.c_void_p if is_pointer(kind) else kind


def prototypes():
    """name: (result, argument...) of each function of the headers."""
    found = {}
    for path in headers.public_headers(ROOT) + headers.headers_beside(ROOT):
        text = re.sub(r"\b(GALE_MUST_USE|GALE_PRINTF\([^)]*\))\s*", "", headers.without_comments(path.read_text()))
        for result, name, arguments in re.findall(r"\bGALE_(?:API|INLINE)\s+([^;({]*?)\b(gale_\w+)\(((?:[^()]|\([^()]*\))*)\)\s*[;{]", text):
            found[name] = (result, arguments)
    return found


def function_fields():
    """(structure, field): (result, arguments) of each function in a table of the headers, and typedefs under their
    names."""
    found = {}
    for path in headers.public_headers(ROOT):
        text = headers.without_comments(path.read_text())
        for name, body in re.findall(r"typedef struct (\w+) \{(.*?)^\} \w+;", text, flags=re.M | re.S):
            for result, field, arguments in re.findall(r"([\w \*]+?)\(\*(\w+)\)\(([^)]*)\)", body):
                found[name, field] = (result, arguments)
        for result, name, arguments in re.findall(r"typedef (\w+) (gale_\w+)\(([^)]*)\);", text):
            found[name] = (result, arguments)
    return found


def is_same(function, declared):
    result, arguments = declared
    return [plain(function._restype_), *map(plain, function._argtypes_)] == [ctype_of(result), *split_arguments(arguments)]


class Layout(unittest.TestCase):
    def test_sizes_offsets_and_numbers_are_those_of_the_headers(self):
        wanted = list(facts())
        wrong = [f"{what}: {value} in Python, {in_c} in C" for (what, _e, value), in_c in zip(wanted, ask_c(wanted)) if value != in_c]
        self.assertEqual(wrong, [])
        self.assertGreater(len(wanted), 700)

    def test_every_number_of_an_enum_is_there(self):
        counted = {_c.Reason: "GALE_REASON_COUNT", _c.Phase: "GALE_PHASE_COUNT", _c.Place: "GALE_PLACE_COUNT", _c.Type: "GALE_TYPE_COUNT",
                   _c.GroupingKind: "GALE_GROUPING_COUNT", _c.Drop: "GALE_DROP_COUNT", _c.TestOrder: "GALE_TEST_ORDER_COUNT",
                   _c.MetricKind: "GALE_METRIC_KIND_COUNT",
                   _c.TestState: "GALE_TEST_STATE_COUNT"}
        wanted = [(name, name, sum(one < 1000 for one in numbers)) for numbers, name in counted.items()]
        self.assertEqual(ask_c(wanted), [value for _n, _e, value in wanted])
        codes = re.findall(r"\bX\((\w+), -\d+", (ROOT / "include/gale/error.h").read_text())
        self.assertEqual(codes, [one.name for one in _c.ErrorCode])

    def test_functions_are_called_as_they_are_declared(self):
        declared = prototypes()
        self.assertGreater(len(declared), 150)
        for table in (_c.GALE, _c.SIM, _c.FRONT, _c.STORE):
            for name, (result, *arguments) in table.items():
                with self.subTest(name):
                    self.assertIn(name, declared)
                    in_c = [ctype_of(declared[name][0]), *split_arguments(declared[name][1])]
                    self.assertEqual([plain(result), *map(plain, arguments)], in_c)

    def test_what_c_calls_takes_what_it_is_given(self):
        declared, seen = function_fields(), 0
        for structure in structures():
            for name, kind in structure._fields_:
                function = kind if issubclass(kind, c._CFuncPtr) else None
                if function and (c_name(structure), name) in declared:
                    seen += 1
                    self.assertTrue(is_same(function, declared[c_name(structure), name]), f"{c_name(structure)}.{name}")
        for name, function in FUNCTION_TYPES.items():
            self.assertTrue(is_same(function, declared[name]), name)
        self.assertGreater(seen, 25)

    def test_structures_that_have_a_size_are_given_it(self):
        for structure in structures():
            if issubclass(structure, _c.Sized):
                self.assertEqual(structure().size, c.sizeof(structure), structure)

    def test_the_package_is_of_the_headers_version(self):
        text = (ROOT / "include/gale/base.h").read_text()
        self.assertIn(f'#define GALE_VERSION_TEXT "{_library.VERSION}"', text)
        self.assertIn(f'version = "{_library.VERSION}"', (ROOT / "bindings/python/pyproject.toml").read_text())

    def test_a_drift_is_seen(self):
        """Of the test itself."""
        self.assertFalse(is_same(_c.NEXT, ("int", "void *self, gale_collector *out")))
        self.assertNotEqual(ask_c([("x", "offsetof(gale_spout_ops, ack)", 0)]), [0])


if __name__ == "__main__":
    del sys.argv[1:]
    unittest.main()
