#!/usr/bin/env python3
"""The includes of src/ and include/gale/ obey src/LAYERS: a module includes only itself and modules listed before it, and
none that a `deny` line keeps from it; every file is listed and every listed module is a file (CMake builds what is
listed: cmake/floors.cmake); nothing inside includes the umbrella <gale/gale.h>. A connector that is built as a plugin, a folder
of src/connect with a CMakeLists.txt, is on no floor: it includes the public headers, its own and those of the pieces that it
asks for, and nothing includes it. A piece has the public headers and its own.

usage: layers_test.py ROOT
"""

import pathlib
import re
import sys
import tempfile

UMBRELLA = "gale/gale"
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<(gale/[^>]+)>)')


class Layers:
    """What src/LAYERS says: each module's place and floor, and the pairs of prefixes that deny."""

    def __init__(self, text):
        self.place, self.floor, self.line, self.denied, self.errors, self.pieces = {}, {}, {}, [], [], {}
        floor = None
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split("#", 1)[0].split()
            if not words:
                continue
            if (words[0] == "floor" and len(words) == 2) or (words[0] == "piece" and len(words) >= 2):
                floor = words[1]
                if words[0] == "piece":
                    self.pieces[floor] = set(words[2:])
            elif words[0] == "deny" and len(words) == 3:
                self.denied.append((words[1], words[2]))
            elif len(words) != 1:
                self.errors.append(f"src/LAYERS:{number}: expected `floor NAME`, `piece NAME [FLOOR...]`, `deny A B` or one module")
            elif words[0] in self.place:
                self.errors.append(f"src/LAYERS:{number}: {words[0]} is listed in line {self.line[words[0]]} already")
            else:
                self.place[words[0]], self.floor[words[0]], self.line[words[0]] = len(self.place), floor, number

    def refusal(self, module, included):
        """Why `module` may not include `included`, or None when it may."""
        if included == UMBRELLA:
            return "which is for applications: include the header of the noun"
        for who, whom in self.denied:
            if module.startswith(who) and included.startswith(whom):
                return f"which LAYERS denies to {who}"
        if included not in self.place:
            return "which LAYERS does not list"
        own, other = self.floor[module], self.floor[included]
        if own != other and own not in self.pieces.get(other, {own}):
            return "which is of connectors alone"
        if own != other and own in self.pieces and not included.startswith("gale/"):
            return f"and {own}, a piece, has the public headers and its own alone"
        if self.place[included] > self.place[module]:
            return f"which LAYERS lists later (line {self.line[included]}, after {module} in line {self.line[module]})"
        return None


def module_of(root, path):
    base = root / "src" if (root / "src") in path.parents else root / "include"
    return path.relative_to(base).with_suffix("").as_posix()


def sources(root):
    for folder in ("include/gale", "src"):
        for path in sorted((root / folder).rglob("*.[ch]")):
            if module_of(root, path) != UMBRELLA:
                yield path


def includes(path):
    text = path.read_text(errors="replace")
    # A comment may hold an example; its lines stay, so that the numbers are right.
    text = re.sub(r"/\*.*?\*/", lambda match: re.sub(r"[^\n]", " ", match.group()), text, flags=re.S)
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, (match.group(1) or match.group(2))


def connector_of(root, path):
    """The folder of the connector that the file belongs to, "connect/kafka", or None."""
    folder = next((folder for folder in path.parents if folder.parent == root / "src" / "connect"), None)
    return folder.relative_to(root / "src").as_posix() if folder and (folder / "CMakeLists.txt").exists() else None


def pieces_of(root, folder):
    """What it asks for: gale_connector(... PIECES wire ...)."""
    match = re.search(r"\bPIECES((?:\s+[a-z0-9_]+)+)", (root / "src" / folder / "CMakeLists.txt").read_text())
    return match.group(1).split() if match else []


def check_connector(layers, root, path, folder):
    pieces = pieces_of(root, folder)
    for number, target in includes(path):
        if target[:-2] in layers.place and layers.floor[target[:-2]] in layers.pieces.keys() & set(pieces):
            continue
        own = target.startswith(f"{folder}/") and (root / "src" / target).exists()
        public = target.startswith("gale/") and target[:-2] in layers.place and target[:-2] != UMBRELLA
        if not own and not public:
            yield (f"{path.relative_to(root).as_posix()}:{number}: the connector {folder} includes {target[:-2]}, and has the public headers "
                   "(but for the umbrella) and its own alone")


def check_file(layers, root, path):
    name, module = path.relative_to(root).as_posix(), module_of(root, path)
    if module not in layers.place:
        yield f"{name}:1: module {module} is not listed in src/LAYERS"
        return
    for number, target in includes(path):
        if not target.endswith(".h"):
            yield f'{name}:{number}: {module} includes "{target}", which is no header'
            continue
        included = target[:-2]
        reason = None if included == module else layers.refusal(module, included)
        if reason:
            yield f"{name}:{number}: {module} includes {included}, {reason}"


def check(root):
    root = pathlib.Path(root).resolve()
    layers = Layers((root / "src" / "LAYERS").read_text())
    messages, present = list(layers.errors), set()
    for path in sources(root):
        folder = connector_of(root, path)
        if folder:
            messages += check_connector(layers, root, path, folder)
            continue
        present.add(module_of(root, path))
        messages += check_file(layers, root, path)
    for module in layers.place:
        if module not in present:
            messages.append(f"src/LAYERS:{layers.line[module]}: {module} is listed, but there is no such file")
    return messages


BROKEN = {
    "src/LAYERS": "floor base\nbase/a\nbase/b\nbase/gone\nfloor engine\nengine/y\nfloor kit\ngale/kit\nkit/x\n"
                  "piece wire\nwire/w\nfloor top\ntop/t\ndeny kit engine\n",
    "src/base/a.h": '#include "base/b.h"\n',
    "src/base/a.c": '#include "base/a.h"\n',
    "src/base/b.h": '/* #include "kit/x.h" */\n#include <stdint.h>\n',
    "src/base/b.c": '#include "base/b.h"\n#include "base/a.h"\n#include "b.h"\n',
    "src/engine/y.h": "",
    "src/kit/x.c": '#include <gale/kit.h>\n\n#include "engine/y.h"\n#include <gale/gale.h>\n',
    "src/kit/stray.h": "",
    "src/connect/far/CMakeLists.txt": "",
    "src/connect/far/a.c": '#include "connect/far/a.h"\n#include <gale/kit.h>\n#include <zlib.h>\n#include "connect/near/b.h"\n',
    "src/connect/far/a.h": "#include <gale/gale.h>\n",
    "src/connect/near/CMakeLists.txt": "",
    "src/connect/near/b.h": '#include "base/b.h"\n',
    "src/connect/ask/CMakeLists.txt": "gale_connector(ask SOURCES a.c PIECES wire)",
    "src/connect/ask/a.c": '#include "wire/w.h"\n',
    "src/connect/near/c.c": '#include "wire/w.h"\n',
    "src/wire/w.h": '#include "kit/x.h"\n#include <gale/kit.h>\n',
    "src/top/t.h": '#include "wire/w.h"\n',
    "include/gale/kit.h": "",
    "include/gale/gale.h": "#include <gale/kit.h>\n",
}
COMPLAINTS = [
    "src/base/a.h:1: base/a includes base/b, which LAYERS lists later (line 3, after base/a in line 2)",
    "src/base/b.c:3: base/b includes b, which LAYERS does not list",
    "src/connect/far/a.c:4: the connector connect/far includes connect/near/b, and has the public headers (but for the umbrella) and its own alone",
    "src/connect/far/a.h:1: the connector connect/far includes gale/gale, and has the public headers (but for the umbrella) and its own alone",
    "src/connect/near/b.h:1: the connector connect/near includes base/b, and has the public headers (but for the umbrella) and its own alone",
    "src/connect/near/c.c:1: the connector connect/near includes wire/w, and has the public headers (but for the umbrella) and its own alone",
    "src/kit/stray.h:1: module kit/stray is not listed in src/LAYERS",
    "src/kit/x.c:3: kit/x includes engine/y, which LAYERS denies to kit",
    "src/kit/x.c:4: kit/x includes gale/gale, which is for applications: include the header of the noun",
    "src/top/t.h:1: top/t includes wire/w, which is of connectors alone",
    "src/wire/w.h:1: wire/w includes kit/x, and wire, a piece, has the public headers and its own alone",
    "src/LAYERS:4: base/gone is listed, but there is no such file",
]


def check_self():
    """A tree that breaks every rule once draws exactly one complaint for each."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in BROKEN.items():
            path = pathlib.Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found = check(root)
        assert found == COMPLAINTS, "\n".join(found)


def main(root):
    check_self()
    messages = check(root)
    print("\n".join(messages) or "every include looks down")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
