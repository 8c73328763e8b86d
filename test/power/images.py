"""What may be left in a folder when the power goes: what was synced lasts; of what was not, each operation is there or
lost, whatever came before or after it, and a write may be there in part, by sectors, or as nothing but the file's length.

What is legal here is what POSIX leaves open, which is more than most file systems do: a sync of a file does not make its
name last, names of one folder may be lost in any order, a file may be as long as it was written and be empty. What
is kept even so: a rename is whole or not there, and lasts when either folder was synced.
"""

import random

from recording import BYTES, LOST, NAMES, SYNC, THERE, WRITE

SECTOR = 512


def torn(op, rng):
    """Some of its sectors; the file is long enough for all of them, or only for those."""
    pieces, at, size = [], 0, len(op.data)
    keep = rng.random()
    while at < size:
        end = min(size, at + SECTOR - (op.offset + at) % SECTOR)
        if rng.random() < keep:
            pieces.append((at, end))
        at = end
    longest = op.offset + size if rng.random() < 0.5 else op.offset + (pieces[-1][1] if pieces else 0)
    return (pieces, longest) if pieces or longest > op.offset else LOST


def length_alone(op):
    return ([], op.offset + len(op.data))


def nothing(ops, loose, rng):
    return {i: LOST for i in loose}


def everything(ops, loose, rng):
    return {}


def names_alone(ops, loose, rng):
    return {i: LOST for i in loose if ops[i].kind in BYTES}


def names_and_lengths(ops, loose, rng):
    return {i: length_alone(ops[i]) if ops[i].kind == WRITE else THERE for i in loose}


def bytes_alone(ops, loose, rng):
    return {i: LOST for i in loose if ops[i].kind in NAMES}


def each_or_not(ops, loose, rng):
    keep = rng.random()
    return {i: LOST for i in loose if rng.random() > keep}


def all_but_one(ops, loose, rng):
    return {rng.choice(loose): LOST} if loose else {}


def one_alone(ops, loose, rng):
    one = rng.choice(loose) if loose else None
    return {i: LOST for i in loose if i != one}


def in_pieces(ops, loose, rng):
    fates = each_or_not(ops, loose, rng)
    for i in loose:
        if i not in fates and ops[i].kind == WRITE and rng.random() < 0.7:
            fates[i] = torn(ops[i], rng)
    return fates


def last_in_pieces(ops, loose, rng):
    last = [i for i in loose if ops[i].kind == WRITE][-1:]
    return {i: torn(ops[i], rng) for i in last}


def in_order(ops, loose, rng):
    """Of each file and each folder what came first."""
    until, fates = {}, {}
    for i in loose:
        where = ops[i].file if ops[i].kind in BYTES else ops[i].folder
        if where not in until:
            mine = [k for k in loose if (ops[k].file if ops[k].kind in BYTES else ops[k].folder) == where]
            until[where] = rng.choice(mine + [mine[-1] + 1])
        if i >= until[where]:
            fates[i] = LOST
    return fates


STYLES = [nothing, everything, names_alone, names_and_lengths, bytes_alone, each_or_not, each_or_not, all_but_one,
          one_alone, in_pieces, in_pieces, last_in_pieces, in_order, in_order]


def places(recording):
    """Where it matters most: before and behind what makes something last or gives it a name."""
    near = {k for i, op in enumerate(recording.ops) if op.kind in NAMES or op.kind == SYNC for k in (i, i + 1)}
    return sorted(near | {len(recording.ops)})


class Image:
    """The power goes before operation `end`, and `fates` is what becomes of what was not synced."""

    def __init__(self, recording, number, end, style, rng):
        self.recording, self.number, self.end, self.style = recording, number, end, style.__name__
        self.fates = style(recording.ops, recording.loose(end), rng)

    def picture(self):
        return self.recording.picture(self.end, self.fates)

    def told(self):
        return self.recording.told(self.end)

    def __str__(self):
        ops, lines = self.recording.ops, []
        before = self.recording.say(self.end) if self.end < len(ops) else "the end"
        lines.append(f"image {self.number} ({self.style.replace('_', ' ')}): the power goes before {before}")
        for i, fate in sorted(self.fates.items()):
            if fate != THERE:
                lines.append(f"  {'lost' if fate == LOST else 'in part'}  {self.recording.say(i)}")
        return "\n".join(lines[:40])


def draw(recording, number, seed):
    """Image `number` of a recording, always the same."""
    rng = random.Random(f"{seed}/{number}")
    near = places(recording)
    end = rng.choice(near) if rng.random() < 0.5 else rng.randrange(len(recording.ops) + 1)
    return Image(recording, number, end, rng.choice(STYLES), rng)


def every(recording, seed=1):
    """All places, in all styles: for short recordings."""
    number = 0
    for end in range(len(recording.ops) + 1):
        for style in STYLES:
            yield Image(recording, number, end, style, random.Random(f"{seed}/{number}"))
            number += 1
