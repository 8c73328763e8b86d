"""Ctrl-C while C may call Python on this thread.

Python raises KeyboardInterrupt wherever the main thread next runs Python. In a function that C calls that may be its
first instruction, before anything in it can catch it: then it would be lost, and the call look as if it had gone well.
"""

import contextlib
import signal
import threading


@contextlib.contextmanager
def held_back():
    """Raises KeyboardInterrupt behind the block, for one that came in it; a second one is raised at once. Handlers of
    the application's own are left alone."""
    if threading.current_thread() is not threading.main_thread() or \
            signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
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
