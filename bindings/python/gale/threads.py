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
# How many tasks this thread has, and what it had before the first. (A thread's number may have been another's.)
_here = threading.local()


def begin_task():
    if getattr(_here, "tasks", 0) == 0:
        _here.tasks, _here.before = 0, _ensure()
    _here.tasks += 1


def end_task():
    """Of a task that was begun here; of what another thread began there is nothing to give back."""
    if getattr(_here, "tasks", 0) > 0:
        _here.tasks -= 1
        if _here.tasks == 0:
            _release(_here.before)
