#!/usr/bin/env python3
"""script/mutate, which runs by hand, does not rot: the places of test/mutate/list.tsv are in the sources, and these
compile with all mutations in them.

usage: mutations_test.py ROOT COMPILER
"""

import pathlib
import subprocess
import sys
import tempfile
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mutate"))
sys.dont_write_bytecode = True

import places  # noqa: E402
import plant  # noqa: E402
from sites import Site  # noqa: E402

MAY_BE_GONE = 1 / 10  # who changes a line need not renew the list
C = """int other(int n);
static int first(int n) {
    return n < 3 && n < 3;
}
int other(int n) {
    return put(n + 1,
               n) + 1;
}
"""


def check_self():
    """A place is found by its text, wherever that moved, and not found where it is no more."""
    second = Site("c", "first", "relation", 0, 0, "n < 3", "n <= 3", "n < 3", occurrence=1)
    assert places.located(C, second).begin == C.index("n < 3;")
    assert places.located("\n\n" + C, second).begin == C.index("n < 3;") + 2
    assert not places.located(C.replace("n < 3;", "n < 4;"), second)
    assert not places.located(C, Site("c", "third", "relation", 0, 0, "n < 3", "n <= 3", "n < 3"))
    swap = Site("c", "other", "swapped", 0, 0, "n + 1, n", "n, n + 1", "put(n + 1, n)")
    found = places.located(C, swap)
    assert plant.mutated(C.encode(), [(7, found)]).decode().count("gx_mutation(7)") == 2
    assert places.site_of(places.line(found)) == Site(**{**vars(swap), "begin": 0, "end": 0})


def complaints(root, compiler):
    sites = places.read(root / "test/mutate/list.tsv")
    numbered = places.here(root, sites)
    known = {site.identity for site in sites}
    for row in tomllib.loads((root / "test/mutate/equivalent.toml").read_text()).get("equivalent", []):
        if row["site"] not in known:
            yield f"test/mutate/equivalent.toml: not in list.tsv: {row['site']}"
    gone = len(sites) - len(numbered)
    if gone > MAY_BE_GONE * len(sites):
        yield f"{gone} of {len(sites)} places of test/mutate/list.tsv are no more in the sources: script/mutate --renew"
    with tempfile.TemporaryDirectory() as directory:
        files = plant.write_tree(root, pathlib.Path(directory), numbered)
        headers = pathlib.Path(directory, "headers.c")
        headers.write_text("".join(f'#include "{path}"\n' for path in files if path.suffix == ".h"))
        command = [compiler, "-fsyntax-only", "-w", "-D_GNU_SOURCE", "-x", "c", f"-I{root}/include", f"-I{directory}",
                   "-include", root / "test/mutate/mutation.h", headers, *(path for path in files if path.suffix == ".c")]
        if subprocess.run(command).returncode:
            yield "the sources do not compile with the mutations of test/mutate/list.tsv in them"


def main(root, compiler):
    check_self()
    found = list(complaints(pathlib.Path(root), compiler))
    for complaint in found:
        print(complaint, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
