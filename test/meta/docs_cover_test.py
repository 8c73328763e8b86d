#!/usr/bin/env python3
"""Every public function stands under a comment in its header and occurs in docs/api/, on the page of that header (gzip.md of
include/gale_gzip.h); every page speaks of functions that exist.

usage: docs_cover_test.py ROOT
"""

import pathlib
import re
import sys

import headers


def compare(header, functions, page_name, page):
    """Messages about one header (its functions) and its page's text, or None when there is no page."""
    if page is None:
        if functions:
            yield f"docs/api/{page_name} is missing: include/{header} declares {', '.join(sorted(functions))}"
        return
    told = set(re.findall(r"\bgale_\w+", page))
    for name in sorted(functions - told):
        yield f"docs/api/{page_name} does not mention {name} of include/{header}"


def strangers(page_name, page, known):
    """Messages about functions that a page describes (in the first column of a table) and no header declares."""
    for name in re.findall(r"^\|\s*`(gale_\w+)`", page, flags=re.M):
        if name not in known:
            yield f"docs/api/{page_name} describes {name}, which no public header declares"


def undocumented(name, text):
    """Messages about prototypes that no comment stands above: right there, or above the group of lines that they are in."""
    lines = text.split("\n")
    for found in re.finditer(r"^(?:GALE_API|GALE_INLINE)\b[^;({]*?\b(\w+)\s*\(", text, flags=re.M):
        at = text.count("\n", 0, found.start())
        above = lines[max((i for i in range(at) if not lines[i]), default=-1) + 1:at]
        if not any(line.endswith("*/") and not line.startswith("    ") for line in above):
            yield f"include/{name}:{at + 1}: {found.group(1)} has no comment"


def check_self():
    assert list(compare("gale/x.h", {"gale_a", "gale_b"}, "x.md", "`gale_a` is"))[0].startswith("docs/api/x.md does not mention gale_b")
    assert len(list(compare("gale/x.h", {"gale_a"}, "x.md", None))) == 1
    told = "/* A. */\nGALE_API int gale_a(void);\nGALE_API int gale_b(int a,\n    int b);\n\nGALE_INLINE int gale_c(void) {\n}\n"
    assert list(undocumented("x.h", told)) == ["include/x.h:6: gale_c has no comment"], list(undocumented("x.h", told))
    assert len(list(strangers("x.md", "| `gale_gone` | was |", {"gale_a"}))) == 1


def main(root):
    check_self()
    pages = {path.name: path.read_text() for path in sorted((pathlib.Path(root) / "docs" / "api").glob("*.md"))}
    known, messages = set(), []
    for path in headers.public_headers(root) + headers.headers_beside(root):
        text = path.read_text()
        functions = set(headers.exported(text)) | set(headers.inlined(text))
        known |= functions
        noun = path.stem.removeprefix("gale_")
        name = path.relative_to(pathlib.Path(root) / "include").as_posix()
        messages += undocumented(name, text)
        messages += compare(name, functions, f"{noun}.md", pages.get(noun + ".md"))
    for name, page in pages.items():
        messages += strangers(name, page, known)
    print("\n".join(messages) or f"{len(known)} functions on {len(pages)} pages")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
