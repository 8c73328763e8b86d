"""Values between Python and C: None, bool, int (64 bits), float, str, bytes, list, dict with str keys.

What goes to C is written into one buffer a task, which is borrowed for one call; what comes from C is copied.
"""

import ctypes
import functools
import operator
import struct
import sys

from . import _c

# gale_value: type, encoded, reserved, size, and the eight bytes of its union.
_HEAD = struct.Struct("<BBHIQ")
_I64 = struct.Struct("<B7xq")
_F64 = struct.Struct("<B7xd")
_SIZE = 16
_NULL, _BOOL, _INT, _FLOAT, _STRING, _BYTES, _LIST, _MAP = map(int, _c.Type)

# All memory, to copy pieces out of: a slice of it is four times as fast as ctypes.string_at.
memory = (ctypes.c_char * sys.maxsize).from_address(0)


# --- To C ------------------------------------------------------------------------------------------------------------


class Full(Exception):
    """The buffer is too small."""


# What to give in place of a value that may be meant in more than one way, by its type.
_IN_PLACE = {
    "datetime.datetime": "value.isoformat() or value.timestamp()", "datetime.date": "value.isoformat()",
    "datetime.time": "value.isoformat()", "datetime.timedelta": "value.total_seconds()",
    "decimal.Decimal": "str(value) or float(value)", "fractions.Fraction": "float(value)", "set": "sorted(value)",
    "frozenset": "sorted(value)", "complex": "[value.real, value.imag]", "range": "list(value)",
    "generator": "list(value)", "uuid.UUID": "str(value)", "pathlib.PosixPath": "str(value)",
    "numpy.ndarray": "value.tolist()", "numpy.datetime64": "str(value)", "numpy.longdouble": "float(value)"}


def _plain(value):
    """The Python value that a number of another type is exactly, like numpy's."""
    try:
        return operator.index(value)
    except TypeError:
        pass
    if getattr(value, "shape", None) == () and hasattr(value, "dtype") and hasattr(value, "item"):
        plain = value.item()  # a scalar of numpy's: bool_, float32, float16
        if type(plain) in (bool, int, float):
            return plain
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    in_place = f"; give {_IN_PLACE[name]}" if name in _IN_PLACE else ""
    raise TypeError(f"a value may be None, bool, int, float, str, bytes, list or dict, not {name}{in_place}")


class Encoder:
    """Writes values for one call of C at a time. One thread."""

    __slots__ = ("_bytes", "_view", "_room", "_base")

    def __init__(self, room=1024):
        self._make(room)

    def _make(self, room):
        self._bytes, self._room = bytearray(room), room
        self._view = (ctypes.c_char * room).from_buffer(self._bytes)
        self._base = ctypes.addressof(self._view)

    def row(self, values):
        """The address of the values as an array of gale_value, good until the next call."""
        while True:
            try:
                self._array(values, 0, self._take(0, _SIZE * len(values)), 0)
                return self._base
            except Full:
                self.grow()

    @property
    def address(self):
        return self._base

    def put(self, values, at, free):
        """Writes them to `at`, and what they point to from `free` on; returns where that ends."""
        return self._array(values, at, free, 0)

    def grow(self):
        """Forgets what it has, and has twice the room."""
        self._make(2 * self._room)

    def rows(self, rows, width):
        """The same of many rows, one behind the other, each of so many values."""
        return self.row([value for row in rows for value in _of_width(row, width)])

    def one(self, value):
        return self.row((value,))

    def _take(self, free, size):
        if free + size > self._room:
            raise Full
        return free + size

    def _data(self, at, kind, data, free):
        size = len(data)
        end = self._take(free, size)
        self._bytes[free:end] = data
        _HEAD.pack_into(self._bytes, at, kind, 0, 0, size, self._base + free)
        return end

    def _array(self, values, at, free, depth):
        """Writes them to `at`, what they point to from `free` on; returns where that ends."""
        for value in values:
            kind = type(value)
            if kind is str:
                free = self._data(at, _STRING, value.encode(), free)
            elif kind is int:
                self._int(at, value)
            else:
                free = self._other(at, value, free, depth)
            at += _SIZE
        return free

    def _int(self, at, value):
        try:
            _I64.pack_into(self._bytes, at, _INT, value)
        except struct.error:
            shown = value if value.bit_length() < 200 else "the number"
            raise OverflowError(f"{shown} does not fit into 64 bits") from None

    def _other(self, at, value, free, depth):
        if value is None:
            _HEAD.pack_into(self._bytes, at, _NULL, 0, 0, 0, 0)
        elif isinstance(value, bool):
            _HEAD.pack_into(self._bytes, at, _BOOL, 0, 0, 0, value)
        elif isinstance(value, float):
            _F64.pack_into(self._bytes, at, _FLOAT, value)
        elif isinstance(value, str):
            return self._data(at, _STRING, value.encode(), free)
        elif isinstance(value, (bytes, bytearray, memoryview)):
            return self._data(at, _BYTES, bytes(value), free)
        elif isinstance(value, (list, tuple)):
            return self._nested(at, _LIST, value, len(value), free, depth)
        elif isinstance(value, dict):
            return self._nested(at, _MAP, _pairs(value), len(value), free, depth)
        else:
            return self._array((_plain(value),), at, free, depth)
        return free

    def _nested(self, at, kind, items, count, free, depth):
        if depth >= _c.VALUE_DEPTH:
            raise ValueError(f"more than {_c.VALUE_DEPTH} lists and dicts inside each other")
        begin = (free + 7) & ~7
        end = self._take(begin, _SIZE * len(items))
        _HEAD.pack_into(self._bytes, at, kind, 0, 0, count, self._base + begin)
        return self._array(items, begin, end, depth + 1)


def _of_width(row, width):
    if len(row) != width:
        raise ValueError(f"{len(row)} values, where the others of these rows have {width}")
    return row


def _pairs(value):
    pairs = []
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError(f"the keys of a dict are str, not {type(key).__name__}")
        pairs += (key, item)
    return pairs


def borrowed(value):
    """A _c.Value to pass by value, and the Encoder that must live for as long."""
    encoder = Encoder()
    return _c.Value.from_address(encoder.one(value)), encoder


# --- From C: views that point to arrays, or into a body --------------------------------------------------------------


def from_array(address, count):
    """A list of the `count` values of an array of gale_value."""
    return [from_view(*_HEAD.unpack(memory[at:at + _SIZE])) for at in range(address, address + count * _SIZE, _SIZE)]


def from_value(address):
    return from_view(*_HEAD.unpack(memory[address:address + _SIZE]))


def from_view(kind, encoded, _reserved, size, bits):
    if kind < _STRING:
        return _SCALARS[kind](bits)
    if kind < _LIST:
        data = memory[bits:bits + size]
        return data.decode() if kind == _STRING else data
    count = size if kind == _LIST else 2 * size
    items = from_body(bits, count) if encoded else from_array(bits, count)
    return items if kind == _LIST else dict(zip(items[::2], items[1::2]))


_SCALARS = (lambda bits: None, lambda bits: bool(bits & 0xff), lambda bits: bits - (bits >> 63 << 64),
            lambda bits: struct.unpack("<d", bits.to_bytes(8, "little"))[0])


# --- From C: a body, gale/tuple.h says how it lies -------------------------------------------------------------------

_SLOTS = {_NULL: "8x", _BOOL: "?7x", _INT: "q", _FLOAT: "d"}


class _Shape:
    """How to read bodies whose values are of these types."""

    __slots__ = ("unpack", "size", "kinds")

    def __init__(self, tags):
        count = len(tags)
        head = 4 + count + -(4 + count) % 8
        layout = struct.Struct("<" + f"{head}x" + "".join(_SLOTS.get(tag, "Q") for tag in tags))
        self.unpack, self.size = layout.unpack, layout.size
        self.kinds = None if all(tag in (_BOOL, _INT, _FLOAT) for tag in tags) else tuple(tags)


@functools.lru_cache(maxsize=1024)
def _shape(tags):
    return _Shape(tags)


def from_body(address, count):
    """A list of the values of a body that has `count`."""
    shape = _shape(memory[address + 4:address + 4 + count])
    slots = shape.unpack(memory[address:address + shape.size])
    return list(slots) if shape.kinds is None else _read_slots(address, slots, shape.kinds)


def _read_slots(address, slots, kinds):
    values, slot = [], iter(slots)
    for kind in kinds:
        if kind == _NULL:
            values.append(None)
            continue
        bits = next(slot)
        if kind < _STRING:
            values.append(bits)
            continue
        at, size = address + (bits & 0xffffffff), bits >> 32
        if kind == _STRING:
            values.append(memory[at:at + size].decode())
        elif kind == _BYTES:
            values.append(memory[at:at + size])
        else:
            values.append(_read_nested(at, kind))
    return values


def _read_nested(at, kind):
    items = from_body(at, int.from_bytes(memory[at:at + 4], "little"))
    return items if kind == _LIST else dict(zip(items[::2], items[1::2]))
