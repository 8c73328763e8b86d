"""Runtimes that nobody closed, when their objects go."""

from . import _c
from ._library import gale
from .logs import flush

_AT_EXIT = 10 * _c.SECOND  # that their end may take
_stuck = []  # what C may still call


def free_unclosed(runtime, store, logger, topology, serving):
    serving.close(1)
    if gale.runtime_free(runtime, _AT_EXIT, None) < 0:
        _stuck.append((logger, topology))
    elif store is not None:
        store.close(store.self)
    flush(logger, all=True)
