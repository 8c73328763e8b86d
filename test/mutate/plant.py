"""The sources with all mutations compiled in, each off until the environment names it."""

from pathlib import Path

SWITCH = Path(__file__).with_name("mutation.c")
SWITCHED_IN = "src/base/error.c"  # linked into everything


def mutated(text, sites, begin=0, end=None):
    """`text` (bytes) from `begin` to `end` with [(number, site)] in it. Sites nest or are apart."""
    out, at = [], begin
    pending = sorted(sites, key=lambda pair: (pair[1].begin, -pair[1].end, pair[1].kind != "deleted", pair[0]))
    while pending:
        number, site = pending.pop(0)
        inside = [pair for pair in pending if pair[1].end <= site.end]
        pending = pending[len(inside):]
        out += [text[at:site.begin], wrapped(text, number, site, inside)]
        at = site.end
    return b"".join(out) + text[at:end]


def wrapped(text, number, site, inside):
    if site.kind == "swapped":
        return swapped(text, number, site, inside)
    original = mutated(text, inside, site.begin, site.end)
    if site.kind == "deleted":
        return b"{ if (!gx_mutation(%d)) { %s } }" % (number, original)
    return b"(gx_mutation(%d) ? (%s) : (%s))" % (number, site.mutated.encode(), original)


def swapped(text, number, site, inside):
    """Two arguments, each of which chooses."""
    spans = (site.begin, site.gap[0]), (site.gap[1], site.end)
    plain = [text[begin:end] for begin, end in spans]
    parts = [[pair for pair in inside if begin <= pair[1].begin < end] for begin, end in spans]
    planted = [mutated(text, part, *span) for part, span in zip(parts, spans)]
    chosen = [b"(gx_mutation(%d) ? (%s) : (%s))" % (number, plain[1 - i], planted[i]) for i in (0, 1)]
    return b", ".join(chosen)


def write_tree(root, target, numbered):
    """src/ once more in `target`, with the mutations. Files that stay as they are keep their time: little is built.
    Returns the files that have some."""
    by_file = {}
    for number, site in numbered:
        by_file.setdefault(site.file, []).append((number, site))
    kept = set()
    for source in sorted((root / "src").rglob("*")):
        if source.is_dir():
            continue
        path = str(source.relative_to(root))
        copy = target / path.removeprefix("src/")
        text = mutated(source.read_bytes(), by_file.get(path, []))
        if path == SWITCHED_IN:
            text += SWITCH.read_bytes()
        kept.add(copy)
        if not copy.exists() or copy.read_bytes() != text:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(text)
    for copy in set(target.rglob("*.[ch]")) - kept:
        copy.unlink()
    return [target / path.removeprefix("src/") for path in [SWITCHED_IN, *by_file]]
