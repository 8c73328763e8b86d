"""Keyed state: values by key that the engine keeps for a task."""

import ctypes

from . import _c
from ._library import gale
from .errors import check
from .texts import c_text
from .values import Encoder, from_value


class State:
    """Values by key that the engine keeps: in memory, and in a durable run beyond the process. Keys and values are
    whatever a tuple may have; with fields grouping the key is the value of that field (or a list that begins with the
    fields' values), and goes to whichever task gets that."""

    __slots__ = ("_collector", "_state", "_key", "_value")

    def __init__(self, collector, name, time_to_live):
        state = ctypes.c_void_p()
        check(gale.state_open(collector.here(), _c.StateOptions(name=c_text(name), time_to_live=time_to_live), state))
        self._collector, self._state, self._key, self._value = collector, state, Encoder(), Encoder()

    def _here(self):
        self._collector.here()
        return self._state

    def get(self, key, default=None):
        found = _c.Value()
        rc = gale.state_get(self._here(), self._key.one(key), ctypes.addressof(found))
        return default if rc == _c.ErrorCode.NOT_FOUND else (check(rc), from_value(ctypes.addressof(found)))[1]

    def put(self, key, value):
        check(gale.state_put(self._here(), self._key.one(key), self._value.one(value)))

    def add(self, key, more=1):
        """A counter: returns the new sum."""
        total = ctypes.c_int64()
        check(gale.state_add(self._here(), self._key.one(key), more, total))
        return total.value

    def remove(self, key):
        """Returns whether it was there."""
        rc = gale.state_remove(self._here(), self._key.one(key))
        return rc != _c.ErrorCode.NOT_FOUND and check(rc) == 0

    def items(self):
        """A list of all pairs of this task, in no order."""
        pairs = []

        def each(_user, key, value):
            pairs.append((from_value(key), from_value(value)))
            return 0
        check(gale.state_each(self._here(), _c.EACH(each), None))
        return pairs
