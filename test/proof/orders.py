"""orders.toml, read and held against the C files and the models."""

import re
import tomllib

WEAKER = {"relaxed": [], "acquire": ["relaxed"], "release": ["relaxed"], "acq_rel": ["acquire", "release"]}
ACCESS = re.compile(r"\b(?:gx_(?:load|store|exchange|add|sub|cas)_(?:relaxed|acquire|release|acq_rel|seq)"
                    r"|gx_count|gx_count_max|atomic_(?!init\b)\w+)\(")
ORDER_OF = re.compile(r"(?:memory_order_|^gx_[a-z]+_)(relaxed|acquire|release|acq_rel|seq)")
LABEL = re.compile(r"/\* ((?:[RA]\d)(?: [RA]\d)*) \*/[ \\]*$", re.M)


def read(path):
    return tomllib.loads(path.read_text(encoding="utf-8"))


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def call_at(text, start):
    """The call that begins at `start`, to its closing parenthesis."""
    depth = 0
    for at in range(text.index("(", start), len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[start:at + 1]
    return text[start:]


def function_around(text, start):
    """The name of the function whose body holds `start`."""
    name = None
    for match in re.finditer(r"^\w[^\n;=]*?\b(\w+)\([^;{]*\) \{$|^\}", text[:start], re.M):
        name = match.group(1)
    return name


def accesses(text):
    """Every atomic access of a C file: (line, call, order, label, function)."""
    code = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    lines = text.splitlines()
    for match in ACCESS.finditer(code):
        call = call_at(code, match.start())
        last = code.count("\n", 0, match.start() + len(call))
        order, label = ORDER_OF.search(call), LABEL.search(lines[last])
        yield (code.count("\n", 0, match.start()) + 1, squeeze(call), order.group(1) if order else "seq",
               label.group(1) if label else None, function_around(code, match.start()))


def body_of(text, function):
    match = re.search(r"^\w[^\n;=]*?\b" + re.escape(function) + r"\([^;{]*\) \{\n(.*?)^\}", text, re.M | re.S)
    return squeeze(match.group(1)) if match else None


def fits(row, path, call, function):
    return row["file"] == path and squeeze(row["c"]) == call and row.get("function", function) == function


def check_file(orders, path, text):
    """One C file: each access is a row, as the row says."""
    found = []
    rows = [row for row in orders["access"] + orders["outside"] if row["file"] == path]
    for line, call, order, label, function in accesses(text):
        fitting = [row for row in rows if fits(row, path, call, function)]
        found += [id(row) for row in fitting]
        if not fitting:
            if path in orders["files"]:
                yield f"{path}:{line}: `{call}` is not in test/proof/orders.toml: model it, or say why not"
            continue
        row = fitting[0]
        if "name" not in row:
            continue
        wanted = row.get("stronger", row["order"])
        if order != wanted:
            yield f"{path}:{line}: `{call}` is {order}; test/proof/orders.toml says {wanted} ({row['name']})"
        if label != row.get("label"):
            yield f"{path}:{line}: `{call}` has the label {label}; test/proof/orders.toml says {row.get('label')}"
    labelled = sum(1 for access in accesses(text) if access[3])
    written = len(LABEL.findall(text))
    if path in orders["files"] and written != labelled:
        yield f"{path}: {written} labels for {labelled} labelled accesses"
    for row in rows:
        if id(row) not in found:
            yield f"{path}: there is no `{row['c']}`; test/proof/orders.toml has it"


def check_sequence(row, text):
    body = body_of(text, row["function"])
    if body is None:
        yield f"{row['file']}: there is no function {row['function']}; test/proof/orders.toml has it"
        return
    at = 0
    for piece in row["c"]:
        next_at = body.find(piece, at)
        if next_at < 0:
            yield f"{row['file']}: {row['function']}: no `{piece}` where test/proof/orders.toml has it: {row['c']}"
            return
        at = next_at + len(piece)


def check_models(orders, models):
    """Rows and models name the same, and no weakening is left out. `models`: text by name, includes and all."""
    names = {}
    for row in orders["access"]:
        names.setdefault(row["name"], []).append(row)
    for name, rows in names.items():
        first = rows[0]
        if sorted(first.get("weaker", {})) != WEAKER[first["order"]]:
            yield f"orders.toml: {name} is {first['order']}: say how each of {WEAKER[first['order']]} fails"
        if any((row["order"], row["model"]) != (first["order"], first["model"]) for row in rows):
            yield f"orders.toml: {name} has two orders, or two models"
        if not re.search(r"\b" + name + r"\b", models.get(first["model"], "")):
            yield f"orders.toml: the model {first['model']} has no {name}"
    for model, text in models.items():
        for name in sorted(set(re.findall(r"\b[a-z_]+_(?:[RA]\d)\b", text)) - set(names)):
            yield f"test/proof/{model}.pml: {name} is not in orders.toml"
    for row in orders["mutant"]:
        if not re.search(r"#ifn?def " + row["name"] + r"\b", models.get(row["model"], "")):
            yield f"orders.toml: the model {row['model']} has no mutant {row['name']}"
    for model, text in models.items():
        kept = {row["name"] for row in orders["mutant"]}
        for name in sorted(set(re.findall(r"#ifn?def (\w+)", text)) - kept):
            yield f"test/proof/{model}.pml: the mutant {name} is not in orders.toml"


def whole(folder, name):
    """A model's text with what it includes."""
    text = (folder / f"{name}.pml").read_text(encoding="utf-8")
    return re.sub(r'#include "(\w+)\.pml"', lambda m: whole(folder, m.group(1)), text)


def check(orders, root, files=None):
    """All complaints. `files` stands for the C files, by path, where a test changes them."""
    folder = root / "test" / "proof"
    paths = set(orders["files"]) | {row["file"] for key in ("access", "outside", "sequence") for row in orders[key]}
    texts = {path: (root / path).read_text(encoding="utf-8") if (root / path).exists() else None for path in paths}
    texts.update(files or {})
    for path in sorted(texts):
        if texts[path] is None:
            yield f"{path}: test/proof/orders.toml has it, and there is no such file"
            continue
        yield from check_file(orders, path, texts[path])
        for row in orders["sequence"]:
            if row["file"] == path:
                yield from check_sequence(row, texts[path])
    yield from check_models(orders, {row["name"]: whole(folder, row["name"]) for row in orders["model"]})
