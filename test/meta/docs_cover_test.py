#!/usr/bin/env python3
"""Every public function occurs in docs/api/, on the page of its header, and every page speaks of functions that exist.

usage: docs_cover_test.py ROOT
"""

import pathlib
import re
import sys

import headers


def compare(noun, functions, page):
    """Messages about one header (its noun, its functions) and its page's text, or None when there is no page."""
    if page is None:
        if functions:
            yield f"docs/api/{noun}.md is missing: include/gale/{noun}.h declares {', '.join(sorted(functions))}"
        return
    told = set(re.findall(r"\bgale_\w+", page))
    for name in sorted(functions - told):
        yield f"docs/api/{noun}.md does not mention {name} of include/gale/{noun}.h"


def strangers(page_name, page, known):
    """Messages about functions that a page describes (in the first column of a table) and no header declares."""
    for name in re.findall(r"^\|\s*`(gale_\w+)`", page, flags=re.M):
        if name not in known:
            yield f"docs/api/{page_name} describes {name}, which no public header declares"


def check_self():
    assert list(compare("x", {"gale_a", "gale_b"}, "`gale_a` is"))[0].startswith("docs/api/x.md does not mention gale_b")
    assert len(list(compare("x", {"gale_a"}, None))) == 1
    assert len(list(strangers("x.md", "| `gale_gone` | was |", {"gale_a"}))) == 1


def main(root):
    check_self()
    pages = {path.name: path.read_text() for path in sorted((pathlib.Path(root) / "docs" / "api").glob("*.md"))}
    known, messages = set(), []
    for path in headers.public_headers(root):
        text = path.read_text()
        functions = set(headers.exported(text)) | set(headers.inlined(text))
        known |= functions
        messages += compare(path.stem, functions, pages.get(path.stem + ".md"))
    for name, page in pages.items():
        messages += strangers(name, page, known)
    print("\n".join(messages) or f"{len(known)} functions on {len(pages)} pages")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
