"""Ctrl-C while C may call Python on this thread, and SIGTERM while a run is waited for.

Python raises KeyboardInterrupt wherever the main thread next runs Python. In a function that C calls that may be its
first instruction, before anything in it can catch it: then it would be lost, and the call look as if it had gone well.
"""

import contextlib
import signal
import threading

from . import _c

# The main thread waits by so much at a time: there, and between two calls of C, Python's signal handlers run.
_SLICE = _c.SECOND // 10


def _in_main_thread():
    return threading.current_thread() is threading.main_thread()


@contextlib.contextmanager
def held_back():
    """Raises KeyboardInterrupt behind the block, for one that came in it; a second one is raised at once. Handlers of
    the application's own are left alone."""
    if not _in_main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    came = []

    def note(number, frame):
        if came:
            signal.default_int_handler(number, frame)
        came.append(True)
    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt


class Terminations:
    """How often SIGTERM came, and how many of them were seen."""

    def __init__(self):
        self.count = self._seen = 0

    def note(self, _number, _frame):
        self.count += 1

    def is_new(self):
        """Has one come since this was asked last?"""
        new, self._seen = self.count > self._seen, self.count
        return new


@contextlib.contextmanager
def terminations():
    """Counts SIGTERM in the block, on the main thread, where the application has no handler of its own: elsewhere none
    is seen here. What was there before is there behind it."""
    noted = Terminations()
    if not _in_main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield noted
        return
    signal.signal(signal.SIGTERM, noted.note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def slices(timeout):
    """Nanoseconds to wait at a time, for a wait of `timeout` seconds (None: as long as it takes), and whether each is
    the last."""
    if timeout is None:
        while True:
            yield (_SLICE, False) if _in_main_thread() else (-1, True)
    left = max(0, round(timeout * _c.SECOND))
    while _in_main_thread() and left > _SLICE:
        yield _SLICE, False
        left -= _SLICE
    yield left, True
