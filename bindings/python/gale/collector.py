"""What a task emits and answers with, and what it watches."""

import ctypes
import threading

from . import _c
from ._library import gale
from .errors import GaleError, check
from .metrics import Metric
from .remote import Remote, handles_of
from .rows import RowError, encoded, row_of
from .state import State
from .texts import c_message, c_number
from .values import Encoder
from .watch import Watch


class _Choosing(threading.local):
    """A custom grouping that is asked while this thread emits: is it now, and what has it raised?"""
    now, error = False, None


choosing = _Choosing()


class NoStream(KeyError):
    """A stream that the component does not declare."""


def is_undeclared(error):
    """Is it of what was emitted, and will be again: no row, or to no stream of the component's, or not the stream's
    fields?"""
    return isinstance(error, (NoStream, RowError)) or isinstance(error, GaleError) and error.code == _c.ErrorCode.FIELDS


def is_refused(error):
    """Would the same tuple be refused again? What was emitted of it is undeclared, or holds what is no value."""
    return is_undeclared(error) or getattr(error, "refused", False)


class Collector:
    """What one task emits and answers with. It belongs to the task's thread, and to the calls of its component.

    Emitting returns to how many tasks the tuple goes, and raises a GaleError when it cannot: the tuples that it was
    anchored to then fail.
    """

    __slots__ = ("_out", "thread", "_encoder", "_streams", "outputs", "component", "guard", "watches", "emitted",
                 "_metrics")

    def __init__(self, out, component, outputs, guard):
        self._out, self.component, self.outputs, self.guard = out, component, outputs, guard
        self.thread = threading.get_ident()
        self._streams = {name: index for index, name in enumerate(outputs)}
        self._encoder, self.watches, self.emitted, self._metrics = Encoder(), {}, False, {}

    def here(self):
        """What C knows it by, if this is the task's thread, and the task has not ended."""
        if choosing.now:
            raise GaleError(_c.ErrorCode.STATE, "a grouping chooses, and does nothing else")
        if threading.get_ident() == self.thread:
            return self._out
        if self.thread is None:
            raise GaleError(_c.ErrorCode.STATE, f"this task of '{self.component}' has ended")
        raise GaleError(_c.ErrorCode.THREAD, f"what a task of '{self.component}' has belongs to its own thread")

    def forget_watches(self):
        """C has freed them."""
        for watch in list(self.watches.values()):
            watch.forget()

    def end(self):
        """Nothing can be emitted or answered any more."""
        self.forget_watches()
        self.thread = None

    # --- Emitting

    def emit(self, values, stream="default", *, id=None):
        """A tuple: of a bolt, anchored to the one in execution; of a spout, tracked when it has a message id (0 to
        2**64 - 1), so that `ack` or `fail` will be called with that."""
        out, row = self._begin(values, stream)
        if id is None:
            rc = gale.emit(out, self._stream(stream), row, len(values))
        else:
            rc = gale.emit_tracked(out, self._stream(stream), row, len(values), c_number(id, "a message id"))
        return rc if rc >= 0 else self._refuse(rc, stream, len(values))

    def emit_anchored(self, values, anchors, stream="default"):
        """The same of a bolt, anchored to a Tuple or to several: to tuples that it holds, or to none ([])."""
        out, row = self._begin(values, stream)
        rc = gale.emit_anchored(out, self._stream(stream), row, len(values), *handles_of(anchors))
        return rc if rc >= 0 else self._refuse(rc, stream, len(values))

    def emit_direct(self, task, values, stream="default", *, id=None, anchors=None):
        """To one task, whose component subscribed with direct grouping."""
        out, row = self._begin(values, stream)
        to = (out, task, self._stream(stream), row, len(values))
        if id is not None:
            rc = gale.emit_direct_tracked(*to, c_number(id, "a message id"))
        elif anchors is not None:
            rc = gale.emit_direct_anchored(*to, *handles_of(anchors))
        else:
            rc = gale.emit_direct(*to)
        return rc if rc >= 0 else self._refuse(rc, stream, len(values))

    def emit_many(self, rows, stream="default", *, ids=None):
        """emit for many rows in one call; with `ids` each is tracked. Returns how many were emitted: fewer than there
        are when no more trees can be open now (those behind are to be tried later)."""
        rows = [row_of(row, self.component) for row in rows]
        if not rows:
            return 0
        out, width, done = self.here(), len(rows[0]), ctypes.c_size_t()
        self.emitted = True
        row, index = self._encode_many(rows, width, stream), self._stream(stream)
        if ids is None:
            rc = gale.emit_many(out, index, row, width, len(rows), done)
        else:
            rc = gale.emit_many_tracked(out, index, row, width, len(rows), self._ids(ids, len(rows)), done)
        if rc < 0 and rc != _c.ErrorCode.AGAIN:
            self._refuse(rc, stream, width)
        return done.value

    def _encode_many(self, rows, width, stream):
        try:
            return self._encoder.rows(rows, width)
        except (TypeError, ValueError, OverflowError):
            for row in rows:  # the first that cannot be encoded says why
                encoded(self._encoder, row, self.component, self.outputs.get(stream, ()))
            raise

    def emit_encoded(self, rows, begin, first_id):
        """Those of a Rows from `begin` on, to "default", each tracked by its own id from `first_id` on. Returns how
        many were emitted: all, or as many as trees can be open now."""
        out, count, done = self.here(), rows.count - begin, ctypes.c_size_t()
        self.emitted = True
        ids = (ctypes.c_uint64 * count)(*range(first_id, first_id + count))
        rc = gale.emit_many_tracked(out, self._stream("default"), rows.address(begin), rows.width, count, ids, done)
        if rc < 0 and rc != _c.ErrorCode.AGAIN:
            self._refuse(rc, "default", rows.width)
        return done.value

    def _ids(self, ids, count):
        ids = [c_number(id, "a message id") for id in ids]
        if len(ids) != count:
            raise ValueError(f"{len(ids)} message ids for {count} rows")
        return (ctypes.c_uint64 * count)(*ids)

    def _begin(self, values, stream):
        """Who emits, and the values as C reads them: not before it is sure that nobody else uses the encoder."""
        out = self.here()
        row = encoded(self._encoder, values, self.component, self.outputs.get(stream, ()))
        self.emitted = True
        return out, row

    def _stream(self, name):
        try:
            return self._streams[name]
        except KeyError:
            has = ", ".join(self._streams) or "none"
            raise NoStream(f"'{self.component}' declares no stream '{name}': it has {has}") from None

    def _refuse(self, rc, stream, count):
        error, choosing.error = choosing.error, None
        if error is not None and rc == _c.ErrorCode.COMPONENT:
            raise error
        if rc == _c.ErrorCode.FIELDS:
            raise self._wrong_width(stream, count)
        raise GaleError(rc, f"'{self.component}' could not emit to '{stream}': {gale.error_text(rc).decode()}")

    def _wrong_width(self, stream, count):
        fields = self.outputs[stream]
        has = f"{len(fields)}: {', '.join(fields)}"
        text = f"'{self.component}' emits {count} values to '{stream}', which has {has}"
        return GaleError(_c.ErrorCode.FIELDS, text)

    def check_row(self, values, stream="default"):
        """The values, if they are a row of that stream. Any thread may ask."""
        self._stream(stream)
        row = row_of(values, self.component)
        if len(row) != len(self.outputs[stream]):
            raise self._wrong_width(stream, len(row))
        return row

    # --- Answering

    def ack(self, tuple):
        """For a Bolt, which answers its tuples itself, each once."""
        check(gale.ack(self.here(), tuple.handle))

    def fail(self, tuple, text="", reason=_c.Reason.FAILED):
        check(gale.fail(self.here(), tuple.handle, reason, c_message(text)))

    def reject(self, tuple, text=""):
        """Never again: it is not emitted once more where replay is configured."""
        self.fail(tuple, text, _c.Reason.REJECTED)

    def hold(self, tuple):
        """Keeps the tuple in execution beyond `execute`: it is to be answered later, and can be anchored to. Returns
        it."""
        held = ctypes.c_uint64()
        check(gale.tuple_hold(self.here(), tuple.handle, held))
        tuple.handle = held.value
        return tuple

    def is_held(self, tuple):
        """Is it still to be answered?"""
        return gale.held(self.here(), tuple.handle) is not None

    def reset_timeout(self, tuple):
        """The timeouts of its trees begin anew."""
        check(gale.reset_timeout(self.here(), tuple.handle))

    def congest(self, congested):
        """For a Bolt that holds as much as it wants: True until it says False again, from a watch or a timer. Those who
        feed it are not run meanwhile; what waits for it already still comes."""
        check(gale.congest(self.here(), congested))

    # --- Telling

    def report(self, text):
        """Says in words what went wrong: logged and counted."""
        gale.report(self.here(), c_message(text))

    def health(self, text):
        """The task is not well, with these words, as when its server is away; None: it is well again."""
        gale.health(self.here(), None if text is None else c_message(text))

    def stop(self, text, code=_c.ErrorCode.COMPONENT):
        """Asks the whole runtime to stop, since the work cannot go on."""
        gale.stop(self.here(), code, c_message(text))

    @property
    def pending(self):
        """How many trees of this spout task are open."""
        return gale.pending(self.here())

    # --- Counting

    def metric(self, name, kind="counter", help=""):
        """A figure of the component's own, beside gale's: a "counter" (add), a "gauge" (set), a "histogram" (observe).
        The same name is the same metric, in all tasks."""
        known = self._metrics.get(name)
        if known is None or known.kind != kind:
            known = self._metrics[name] = Metric(self, name, kind, help)
        return known

    # --- Watching

    def watch(self, fd, events, call, *, at=None, always=False):
        """Calls call(watch, events) on this task's thread, between its tuples, when the descriptor (a number, or what
        has fileno) can be read or written (WatchEvent.READ, .WRITE), or when the context's clock shows `at` seconds.
        The descriptor does not block, and is closed after watch.free(). `always`: also while the task may not run."""
        return Watch(self, fd, events, call, at, always)

    def timer(self, at, call, *, always=False):
        """Calls call(watch, WatchEvent.TIME) when the context's clock shows `at` seconds; watch.set(at=...) winds it up
        again."""
        return Watch(self, -1, 0, call, at, always)

    # --- More

    def remote(self):
        """A Remote, for other threads."""
        return Remote(self.here(), self.component, self._stream, self.outputs)

    def state(self, name="state", *, time_to_live=0):
        """A keyed state of this task, in `open` or `prepare`; see State."""
        return State(self, name, time_to_live)
