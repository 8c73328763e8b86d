"""Rows on their way to C: what is one, which of its values cannot go, and many of them at once."""

import reprlib

from .values import Encoder, Full

_SIZE = 16  # of a gale_value
_NO_ROWS = (str, bytes, bytearray, memoryview, dict, set, frozenset)


class RowError(TypeError):
    """What is emitted is no row."""


def row_of(values, component):
    """The values, if they are a row of the component's. A text is as little one as a number is, though it can be gone
    through; nor has a dict or a set the order of the fields."""
    if type(values) in (list, tuple):
        return values
    if isinstance(values, _NO_ROWS) or not hasattr(values, "__iter__") or not hasattr(values, "__len__"):
        shown = reprlib.repr(values)
        example = f": [{shown}]" if isinstance(values, (str, bytes, int, float)) else ""
        raise RowError(f"{shown} is no row of '{component}': a row is a list or tuple of values{example}")
    return values


def _name_field(error, values, fields, component):
    """The error of a row that cannot be encoded, with the name of the field. `refused` marks it: the same values would
    be refused again."""
    for index, value in enumerate(values):
        try:
            Encoder().one(value)
        except (TypeError, ValueError, OverflowError):
            field = f"field '{fields[index]}'" if index < len(fields) else f"value {index + 1}"
            break
    else:
        return error
    kind = next(kind for kind in (TypeError, OverflowError, ValueError) if isinstance(error, kind))
    named = kind(f"{field} of '{component}': {error}")
    named.refused = True
    return named


def encoded(encoder, values, component, fields=()):
    """Encoder.row of what may be a row; an error names the field."""
    row = row_of(values, component)
    try:
        return encoder.row(row)
    except (TypeError, ValueError, OverflowError) as error:
        raise _name_field(error, row, fields, component) from None


class Rows:
    """Rows of one width, one behind the other as C takes them at once. What a row was made of may change behind
    `add`."""

    __slots__ = ("_encoder", "_free", "_most", "width", "count")

    def __init__(self, width, most, room=1 << 16):
        self._most, self.width = most, width
        self._encoder = Encoder(_SIZE * width * most + room)
        self.clear()

    def clear(self):
        self.count, self._free = 0, _SIZE * self.width * self._most

    def add(self, row):
        """False: it has no room for the row. The first one of all always has."""
        if self.count == self._most:
            return False
        while True:
            try:
                self._free = self._encoder.put(row, _SIZE * self.width * self.count, self._free)
                self.count += 1
                return True
            except Full:
                if self.count:
                    return False
                self._encoder.grow()

    def address(self, index):
        """Of a row, good until `clear` or `add`."""
        return self._encoder.address + _SIZE * self.width * index
