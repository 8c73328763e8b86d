"""A task's collector for other threads."""

import ctypes
import weakref

from . import _c
from ._library import gale
from .errors import check
from .rows import encoded
from .texts import c_message, c_number
from .values import Encoder


def handles_of(tuples):
    """An array of the handles of one Tuple, or of several, and how many there are."""
    handles = [tuples.handle] if hasattr(tuples, "handle") else [each.handle for each in tuples]
    return (ctypes.c_uint64 * len(handles))(*handles), len(handles)


class Remote:
    """Emits and answers for a task from any thread, a pool's for example: what is called here is carried out on the
    task's own thread, in the order of the calls. Made by Collector.remote; it may outlive the run.

    Each raises a GaleError: AGAIN, too much waits to be carried out, try again; STOPPED, the run has ended, or, for a
    spout's tuple, drains. What is wrong with a tuple when its turn comes is counted there, as in Collector.
    """

    __slots__ = ("_remote", "_component", "_stream", "_outputs", "__weakref__")

    def __init__(self, out, component, stream, outputs):
        remote = ctypes.c_void_p()
        check(gale.remote_open(out, remote))
        self._remote, self._component, self._stream, self._outputs = remote.value, component, stream, outputs
        weakref.finalize(self, gale.remote_close, remote.value)

    def emit(self, values, stream="default", *, anchors=(), id=None):
        """Of a bolt, anchored to tuples that it holds; of a spout, tracked when it has a message id."""
        encoder = Encoder()
        row = encoded(encoder, values, self._component, self._outputs.get(stream, ()))
        index = self._stream(stream)
        if id is None:
            check(gale.remote_emit(self._remote, index, row, len(values), *handles_of(anchors)))
        else:
            check(gale.remote_emit_tracked(self._remote, index, row, len(values), c_number(id, "a message id")))

    def ack(self, tuple):
        """Of a tuple that the task holds."""
        check(gale.remote_ack(self._remote, tuple.handle))

    def fail(self, tuple, text="", reason=_c.Reason.FAILED):
        check(gale.remote_fail(self._remote, tuple.handle, reason, c_message(text)))
