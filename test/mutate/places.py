"""The list of mutations, and where each stands now. list.tsv names a place by its text (file, function, the expression
around it) and not by its line, so that it is found again while code moves, without a compiler, in no time."""

import re
from dataclasses import replace

from sites import Site, squeeze

FIELDS = ("file", "function", "kind", "original", "mutated", "context", "occurrence")


def pattern(text):
    """Matches a piece of C however it is laid out, and not in the middle of a word."""
    words = r"\s+".join(map(re.escape, squeeze(text).split(" ")))
    return re.compile((r"(?<!\w)" if text[:1].isalnum() else "") + words + (r"(?!\w)" if text[-1:].isalnum() else ""))


def body(text, function):
    """Where a function is defined in a file: (begin, end), or None."""
    for head in re.finditer(rf"^[a-zA-Z].*\b{re.escape(function)}\(", text, re.M):
        brace = re.compile(r"[{;]").search(text, head.end())
        end = re.compile(r"^}", re.M).search(text, head.end())
        if brace and brace[0] == "{" and end:
            return head.start(), end.end()
    return None


def spans(text, site):
    """Where the function has the text of a site inside of the text around it."""
    whole = body(text, site.function)
    if not whole:
        return []
    found = set()
    for around in pattern(site.context).finditer(text, *whole):
        found |= {match.span() for match in pattern(site.original).finditer(text, *around.span())}
    return sorted(found)


def gap(text, span, site):
    """What lies between two arguments that change places: that is where exchanging the sides gives what is wanted."""
    for comma in re.finditer(r"\s*,\s*", text[slice(*span)]):
        at = span[0] + comma.start(), span[0] + comma.end()
        if squeeze(f"{text[at[1]:span[1]]}, {text[span[0]:at[0]]}") == squeeze(site.mutated):
            return at
    return None


def located(text, site):
    """The site with its bytes in the file as it is now, or None where it is no more."""
    found = spans(text, site)
    if site.occurrence >= len(found):
        return None
    begin, end = found[site.occurrence]
    between = gap(text, (begin, end), site) if site.kind == "swapped" else ()
    if between is None:
        return None
    return replace(site, begin=begin, end=end, original=text[begin:end], gap=between)


def named(text, site):
    """A site that clang has found, as the list names it; None when its text does not say which it is."""
    if not text.isascii():
        return None
    for number, span in enumerate(spans(text, site)):
        if span == (site.begin, site.end):
            twin = replace(site, occurrence=number)
            return twin if located(text, twin) else None
    return None


def line(site):
    return "\t".join(squeeze(str(getattr(site, field))) for field in FIELDS)


def site_of(text):
    fields = dict(zip(FIELDS, text.split("\t")))
    return Site(**{**fields, "occurrence": int(fields["occurrence"])}, begin=0, end=0)


def read(path):
    return [site_of(text) for text in path.read_text().splitlines()]


def here(root, sites):
    """[(number, site)] of those that are still there; numbers count from one."""
    out = []
    for number, site in enumerate(sites, 1):
        path = root / site.file
        now = located(path.read_text(), site) if path.exists() else None
        if now:
            out.append((number, now))
    return out
