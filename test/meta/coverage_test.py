#!/usr/bin/env python3
"""What script/coverage says of gcov's figures (test/coverage/coverage.py), and its list: each entry names a line that is in
the sources, so that it does not rot until the gate runs.

usage: coverage_test.py ROOT
"""

import pathlib
import sys
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "coverage"))
sys.dont_write_bytecode = True

import coverage  # noqa: E402

C = """int other(int n);

static int first(int n) {
    if (n) return 1;
    return put(
        2);
}

const char *gx_first_flaw(int n) {
    return n ? "odd" : 0;
}

int other(int n) {
    if (n) return 1;
    return 3;
}
"""
COUNTS = {3: 5, 4: 5, 5: 0, 9: 0, 10: 0, 13: 2, 14: 0, 15: 2}
LISTED = [{"file": "a.c", "function": "first", "lines": ["return put("], "why": "nobody puts"},
          {"file": "a.c", "function": "other", "lines": ["if (n) return 1;"], "why": "n is 0"}]


def said(counts, entries):
    return list(coverage.complaints(coverage.lines_of("a.c", C, counts), entries))


def check_lines():
    functions = {line.number: line.function for line, _ in coverage.lines_of("a.c", C, COUNTS)}
    assert functions == {3: "first", 4: "first", 5: "first", 13: "other", 14: "other", 15: "other"}, functions
    report = {"current_working_directory": "/root/build"}
    once = {**report, "files": [{"file": "../src/a.h", "lines": [{"line_number": 1, "count": 0}]}]}
    twice = {**report, "files": [{"file": "../src/a.h", "lines": [{"line_number": 1, "count": 2}]},
                                 {"file": "/usr/include/b.h", "lines": [{"line_number": 1, "count": 0}]}]}
    assert coverage.merge([once, twice, once], pathlib.Path("/root")) == {"src/a.h": {1: 2}}


def check_complaints():
    assert said(COUNTS, LISTED) == []
    assert said({**COUNTS, 15: 0}, LISTED) == ["a.c:15: never run (other): return 3;"]
    assert said(COUNTS, LISTED[:1]) == ["a.c:14: never run (other): if (n) return 1;"]
    assert "was run: a.c, other: if (n) return 1;" in said({**COUNTS, 14: 1}, LISTED)[0]
    gone = {"file": "a.c", "function": "other", "lines": ["return 4;"], "why": "it was never there"}
    assert "is not there: a.c, other: return 4;" in said(COUNTS, [*LISTED, gone])[0]
    assert "no reason: a.c, first" in said(COUNTS, [{**LISTED[0], "why": " "}, LISTED[1]])[0]
    assert len(said({3: 1}, LISTED)) == 2  # of a file without figures no entry holds


def rotten(root):
    for entry in tomllib.loads((root / "test/coverage/unreached.toml").read_text()).get("unreached", []):
        lines = (root / entry["file"]).read_text().splitlines()
        places = {(coverage.function_at(lines, i + 1), line.strip()) for i, line in enumerate(lines)}
        if entry["file"] not in coverage.WAY:
            yield f"test/coverage/unreached.toml: {entry['file']} is not of a tuple's way"
        for text in entry["lines"]:
            if (entry["function"], text) not in places:
                yield f"test/coverage/unreached.toml: not in {entry['file']}, {entry['function']}: {text}"
    for file in coverage.WAY:
        if file.endswith(".c") and not (root / file).exists():
            yield f"test/coverage/coverage.py: there is no {file}"


def main(root):
    check_lines()
    check_complaints()
    found = list(rotten(pathlib.Path(root)))
    print("\n".join(found) or "the list names lines that there are")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
