"""Values that some system cannot take: the columns of the table of sinks."""

KIB = 1024

# Names of classes, and the bytes of each. What is not UTF-8 comes to a sink as bytes, everything else as text.
VALUES = {
    "tab": b"a\tb",
    "control character": b"a\x01b",
    "DEL": b"a\x7fb",
    "C1 control character": "a\u0085b".encode(),
    "NUL": b"a\0b",
    "newline": b"a\nb",
    "CR LF": b"a\r\nb: c",
    "U+FFFF": "a\uffffb".encode(),
    "U+FDD0": "a\ufdd0b".encode(),
    "blank": b"a b",
    "empty": b"",
    "dot": b".",
    "two dots": b"..",
    "slash": b"a/b",
    "leaves the folder": b"../../a",
    "wildcards": b"a+#*>b",
    "backslash and quotes": b"a\\b\"c'd",
    "braces": b"{x}",
    "not UTF-8": b"a\xffb",
    "lone surrogate": b"a\xed\xa0\x80b",
    "255 bytes": b"y" * 255,
    "256 bytes": b"y" * 256,
    "65,536 bytes": b"y" * 65536,
    "too large": b"y" * (2048 * KIB),
}


def lines_of(values, good):
    """(name, bytes) in the order in which a sink is given them: a bad one before all, each between good ones, and one behind all. `good` makes a good one of a number."""
    first = next(iter(values.items()))
    lines = [first, ("good", None)]
    for one in values.items():
        lines += [one, ("good", None)]
    return [(name, good(n) if value is None else value) for n, (name, value) in enumerate([*lines, first])]
