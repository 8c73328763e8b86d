"""What a command did to the files of a folder, as test/power/shim.c wrote it down, and what the folder is after any part
of it.

A file is an object, told apart by its inode; a folder is an object whose names are slots. A Picture is a state of all of
them. `fates` says of every operation whether it is there, lost or there in part: see images.py, which draws it.
"""

import collections
import os
import stat
import struct
from pathlib import Path

HEAD = struct.Struct("<IIQQQQqIIII")
MAKE, LINK, UNLINK, RENAME, WRITE, CUT, SYNC_BEGINS, SYNC, TOLD, UNSEEN = range(1, 11)
NAMES = {MAKE, LINK, UNLINK, RENAME}
BYTES = {WRITE, CUT}
VERBS = {MAKE: "make", LINK: "link", UNLINK: "unlink", RENAME: "rename", WRITE: "write", CUT: "cut",
         SYNC_BEGINS: "sync begins", SYNC: "sync", TOLD: "told", UNSEEN: "map"}

Op = collections.namedtuple("Op", "kind file folder name other other_folder other_name offset data mode")

THERE, LOST = "there", "lost"


class Unexplained(Exception):
    """What was noted is not all that happened."""


class Picture:
    """objects: number -> mode; content: number -> bytes of a file, or a link's target; slots: folder -> name -> number."""

    def __init__(self, root):
        self.root, self.modes, self.content, self.slots = root, {root: stat.S_IFDIR | 0o700}, {}, {root: {}}

    def copy(self):
        made = Picture(self.root)
        made.modes = dict(self.modes)
        made.content = {number: bytearray(content) for number, content in self.content.items()}
        made.slots = {number: dict(names) for number, names in self.slots.items()}
        return made

    def add(self, number, mode, content=b""):
        self.modes[number] = mode
        if stat.S_ISDIR(mode):
            self.slots[number] = {}
        else:
            self.content[number] = bytearray(content)

    def apply(self, op, fate):
        """One operation. Its fate: THERE, LOST, or of a write the pieces (from, to) that are there and how long the
        file is at least."""
        if op.kind == MAKE:
            self.add(op.file, op.mode, op.data)
        if fate == LOST or op.file not in self.modes:
            return
        if op.kind in (MAKE, LINK):
            self.name(op.folder, op.name, op.file)
        elif op.kind == UNLINK:
            self.slots.get(op.folder, {}).pop(op.name, None)
        elif op.kind == RENAME:
            self.rename(op)
        elif op.kind == CUT:
            self.cut(self.content[op.file], op.offset)
        elif op.kind == WRITE:
            self.write(op, fate)

    def name(self, folder, name, number):
        if folder in self.slots:
            self.slots[folder][name] = number

    def rename(self, op):
        """One that was moved before, and whose moves were lost, is where it was: it has one name, not two."""
        olds = [(folder, name) for folder, names in self.slots.items() for name, is_it in names.items() if is_it == op.file]
        old = (op.folder, op.name)
        if old not in olds and len(olds) == 1:
            old = olds[0]
        if old in olds:
            del self.slots[old[0]][old[1]]
        self.name(op.other_folder, op.other_name, op.file)
        if op.other:
            self.name(op.folder, op.name, op.other)

    @staticmethod
    def cut(content, size):
        if size < len(content):
            del content[size:]
        content.extend(bytes(size - len(content)))

    def write(self, op, fate):
        content = self.content[op.file]
        pieces, size = ([(0, len(op.data))], op.offset + len(op.data)) if fate == THERE else fate
        if len(content) < size:
            content.extend(bytes(size - len(content)))
        for begin, end in pieces:
            content[op.offset + begin:op.offset + end] = op.data[begin:end]

    def paths(self):
        """(path, number) of everything that has a name, folders before what is in them."""
        waiting, seen = [("", self.root)], set()
        while waiting:
            path, number = waiting.pop()
            if number in seen and number in self.slots:
                continue
            seen.add(number)
            if path:
                yield path, number
            for name, child in sorted(self.slots.get(number, {}).items(), reverse=True):
                waiting.append((f"{path}/{name}" if path else name, child))


def look_at(folder):
    """The Picture of a folder as it is, and how the objects' inodes are numbered."""
    root = os.lstat(folder).st_ino
    picture = Picture(root)

    def walk(path, number):
        for entry in os.scandir(path):
            about = entry.stat(follow_symlinks=False)
            if about.st_ino not in picture.modes:
                content = b""
                if stat.S_ISREG(about.st_mode):
                    content = Path(entry.path).read_bytes()
                elif stat.S_ISLNK(about.st_mode):
                    content = os.fsencode(os.readlink(entry.path))
                picture.add(about.st_ino, about.st_mode, content)
            picture.slots[number][os.fsencode(entry.name).decode(errors="surrogateescape")] = about.st_ino
            if entry.is_dir(follow_symlinks=False):
                walk(entry.path, about.st_ino)

    walk(folder, root)
    return picture


def records(data):
    at = 0
    while at + HEAD.size <= len(data):
        size, kind, file, folder, other, other_folder, offset, mode, name, other_name, _ = HEAD.unpack_from(data, at)
        if size < HEAD.size or at + size > len(data):
            break
        rest = data[at + HEAD.size:at + size]
        text = [rest[:name], rest[name:name + other_name]]
        names = [part.decode(errors="surrogateescape") for part in text]
        yield Op(kind, file, folder, names[0], other, other_folder, names[1], offset, rest[name + other_name:], mode)
        at += size


class Recording:
    """begin: the Picture before; ops: what happened, with numbers of objects in the place of inodes."""

    def __init__(self, begin, data):
        self.begin, self.inodes = begin, {}
        self.ops = list(self.numbered(data))
        self.known = set(begin.modes) | {op.file for op in self.ops if op.kind == MAKE}
        self.syncs = list(self.find_syncs())

    def numbered(self, data):
        """An inode that is given to something new is another object from then on."""
        now, used = {number: number for number in self.begin.modes}, set(self.begin.modes)
        for op in records(data):
            if op.kind == MAKE:
                number = op.file
                while number in used:
                    number += 1 << 64
                used.add(number)
                now[op.file] = number
                self.inodes[number] = op.file
            if op.kind in (SYNC_BEGINS, SYNC):  # `other` is a sync's number, and file 0 everything
                yield op._replace(file=now.get(op.file, op.file))
                continue
            yield op._replace(file=now.get(op.file, op.file), folder=now.get(op.folder, op.folder),
                              other=now.get(op.other, op.other), other_folder=now.get(op.other_folder, op.other_folder))

    def find_syncs(self):
        """(where it was over, from where back everything lasts, of what)."""
        begun = {}
        for i, op in enumerate(self.ops):
            if op.kind == SYNC_BEGINS:
                begun[op.other] = i
            elif op.kind == SYNC:
                yield i, begun.pop(op.other, i), op.file

    def inode(self, number):
        return self.inodes.get(number, number)

    def lasting(self, end):
        """number -> index: operations on it before that one last, when the power goes before operation `end`."""
        lasts = collections.defaultdict(int)
        for over, since, number in self.syncs:
            if over < end:
                lasts[number] = max(lasts[number], since)
        return lasts

    def is_safe(self, i, lasts):
        op = self.ops[i]
        if i < lasts.get(0, 0):
            return True
        if op.kind in BYTES:
            return i < lasts.get(op.file, 0)
        return i < max(lasts.get(op.folder, 0), lasts.get(op.other_folder, 0) if op.kind == RENAME else 0)

    def loose(self, end):
        """The operations that may be lost when the power goes before operation `end`."""
        lasts = self.lasting(end)
        return [i for i in range(end) if self.ops[i].kind in NAMES | BYTES and not self.is_safe(i, lasts)]

    def told(self, end):
        return b"".join(op.data for op in self.ops[:end] if op.kind == TOLD)

    def picture(self, end, fates):
        """fates: index -> fate, for those that are not whole."""
        made = self.begin.copy()
        for i, op in enumerate(self.ops[:end]):
            if op.kind in NAMES | BYTES:
                made.apply(op, fates.get(i, THERE))
        return made

    def check(self, folder):
        """Raises Unexplained unless the operations make of what was there what is there."""
        for op in self.ops:
            if op.kind == UNSEEN and op.file in self.known:
                raise Unexplained("the command maps files for writing, which is not seen")
            if op.kind in (RENAME, LINK) and op.file not in self.known and self.is_inside(op):
                raise Unexplained(f"'{op.other_name or op.name}' comes from outside of the folder")
        ours, real = described(self.picture(len(self.ops), {})), described(look_at(folder))
        for path in sorted(ours.keys() | real.keys()):
            if ours.get(path) != real.get(path):
                raise Unexplained(f"'{path}' is {brief(real.get(path))}, "
                                  f"but what was noted makes it {brief(ours.get(path))}")

    def is_inside(self, op):
        return (op.other_folder if op.kind == RENAME else op.folder) in self.known

    def say(self, i):
        """An operation in words."""
        op = self.ops[i]
        paths = self.paths_by_number(i + 1)
        file = paths.get(op.file, "(a file without a name)")
        if op.kind in (WRITE, CUT):
            what = f"{len(op.data)} bytes at {op.offset} of" if op.kind == WRITE else f"to {op.offset} bytes"
            return f"{i}: {VERBS[op.kind]} {what} '{file}'"
        if op.kind == RENAME:
            return f"{i}: rename '{op.name}' to '{op.other_name}'"
        if op.kind == TOLD:
            return f"{i}: told {bytes(op.data[:60])!r}"
        if op.kind in NAMES:
            return f"{i}: {VERBS[op.kind]} '{op.name}'"
        return f"{i}: {VERBS[op.kind]} '{'.' if op.file == self.begin.root else file}'"

    def paths_by_number(self, end):
        """The last names of all objects."""
        named = {number: path for path, number in self.begin.paths()}
        for op in self.ops[:end]:
            if op.kind in (MAKE, LINK):
                named[op.file] = op.name
            elif op.kind == RENAME:
                named[op.file] = op.other_name
        return named


def described(picture):
    """path -> (kind, content) of everything that has a name."""
    return {path: (stat.S_IFMT(picture.modes[number]), bytes(picture.content.get(number, b"")))
            for path, number in picture.paths()}


def brief(what):
    if what is None:
        return "not there"
    kind, content = what
    if stat.S_ISDIR(kind):
        return "a folder"
    return f"of {len(content)} bytes, {content[:40]!r}..."
