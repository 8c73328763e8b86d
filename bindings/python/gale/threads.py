"""Threads of gale's that run Python.

A thread that Python does not know gets a state in the interpreter for each call, and loses it at its end: some
microseconds each time, and whatever threading.local had. So a thread that has tasks keeps its state from its first
task's start to its last one's end.
"""

import ctypes
import threading

_ensure, _release = ctypes.pythonapi.PyGILState_Ensure, ctypes.pythonapi.PyGILState_Release
_ensure.restype, _ensure.argtypes = ctypes.c_int, []
_release.restype, _release.argtypes = None, [ctypes.c_int]
_tasks = {}  # of each thread: how many there are, and what it had before the first


def begin_task():
    here = threading.get_ident()
    count, before = _tasks.get(here) or (0, _ensure())
    _tasks[here] = count + 1, before


def end_task():
    """Of a task that was begun here; what another thread ends, its own thread's end cleans up."""
    here = threading.get_ident()
    count, before = _tasks.pop(here, (0, None))
    if count > 1:
        _tasks[here] = count - 1, before
    elif count:
        _release(before)
