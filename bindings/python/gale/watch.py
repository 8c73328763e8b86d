"""Descriptors and times that a task waits for."""

import ctypes

from . import _c
from ._library import gale
from .errors import check


def _time(at):
    return 0 if at is None else max(1, round(at * _c.SECOND))


class Watch:
    """A descriptor or a time that a task waits for; see Collector.watch."""

    __slots__ = ("collector", "_name", "call", "__weakref__")

    def __init__(self, collector, fd, events, call, at, always):
        fd = fd if isinstance(fd, int) else fd.fileno()
        options = _c.WatchOptions(fd=fd, events=events, at=_time(at), always=always, call=_on_watch, user=id(self))
        name = ctypes.c_uint64()
        self.collector, self._name, self.call = collector, 0, call
        check(gale.watch_new(collector.here(), options, name))
        self._name = name.value
        collector.watches[self._name] = self
        _watches[id(self)] = self

    def set(self, events=0, *, at=None):
        """Waits for these events from now on (0: none), and until `at` (None: for ever)."""
        check(gale.watch_set(self.collector.here(), self._name, events, _time(at)))

    def free(self):
        """It is told of no more. Before its descriptor is closed."""
        if self._name in self.collector.watches:
            out = self.collector.here()
            self.forget()
            check(gale.watch_free(out, self._name))

    def forget(self):
        """Python's part of it."""
        _watches.pop(id(self), None)
        self.collector.watches.pop(self._name, None)


_watches = {}  # by the number that C is given; each is in its collector's `watches`, too


@_c.WATCH
def _on_watch(user, _out, _name, events):
    watch = _watches.get(user)
    return watch.collector.guard(watch.call, watch, _c.WatchEvent(events)) if watch is not None else 0
