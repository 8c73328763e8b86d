"""Spouts and bolts: what an application derives from, or makes of a function.

Each task is an instance of its own, made on the task's own thread. `self.context` and `self.out` are there from `open`
or `prepare` on.
"""

import collections
import functools
import math

from ._c import ErrorCode, Reason
from .collector import Collector
from .context import Context
from .errors import GaleError, describe
from .pump import AHEAD, Pump

# --- What a spout's `next` may return, beside None ---

DONE = object()  # nothing more, unless one of my tuples fails: then I am asked again
WATCHED = object()  # nothing before a watch of mine was told
Until = collections.namedtuple("Until", "at")
Until.__doc__ = "Nothing before the context's clock shows `at` seconds."
Readable = collections.namedtuple("Readable", "fd until", defaults=(None,))
Readable.__doc__ = "Nothing before the descriptor is readable, or, unless `until` is None, before that time."


class Component:
    """What spouts and bolts have in common.

    outputs   the fields of what it emits, ["word", "count"]; or of several streams, {"default": ["word"], "bad": ["x"]}
    durable   what it keeps beyond a run that is durable: "nothing", "keyed" (all in Collector.state), or None: what
              its `save` returns, or, without one, nobody knows
    version   of what `save` returns; what an older one saved goes through `migrate`

    A component that can be saved defines  save(self) -> a value  and  restore(self, value), which is called behind
    `open` or `prepare` when a run goes on; and if need be  migrate(version, value) -> the value in version + 1, as a
    static method.
    """

    outputs = ()
    durable = None
    version = 1
    context: Context
    out: Collector


class Spout(Component):
    """Emits with self.out.emit(values, id=...) from `next`, and hears of what has a message id exactly once: `ack` or
    `fail`.

    `next` returns None (asked again at once when it emitted something, else soon), DONE, WATCHED, Until or Readable.
    """

    def open(self):
        """Before everything else. What it raises stops the start."""

    def activate(self):
        """From now on `next` is called."""

    def next(self):
        raise NotImplementedError

    def ack(self, id):
        """The whole tree of the tuple is done."""

    def fail(self, id, failure):
        """It is not: a Failure says why. Emitting it again, from `next`, is the spout's to decide. Without a method of
        its own a spout gives the tuple up: that is reported, and the run does not end well."""
        if not failure.final and failure.reason not in (Reason.REJECTED, Reason.STOPPED):
            self.out.report(f"gives up the tuple with id {id}: {failure.text or failure.reason.name.lower()}")

    def deactivate(self):
        """For the time being `next` is not called."""

    def close(self):
        """At the end, however it came."""


class Bolt(Component):
    """Answers each tuple itself, at once or later: self.out.ack, fail, reject; or self.out.hold it and answer when it
    is done.

    Methods beside `execute` are called when there are any: `flush` after all that was there to execute, before the
    executor looks for more; `finish` once all before this bolt has drained.

    `execute` and `finish` that emit much are generators: a `yield` after each row lets the rows go in parts, as their
    consumers take them. The tuple is answered when the generator has ended. A run that goes on from a checkpoint begins
    the generator anew.
    """

    def prepare(self):
        """Before everything else. What it raises stops the start."""

    def execute(self, tuple):
        raise NotImplementedError

    def cleanup(self):
        """At the end, however it came."""


class BasicBolt(Bolt):
    """Is answered for: a tuple is acked when `execute` returns, and fails when it raises. What it emits is anchored to
    the tuple. With a `flush` it is answered when that returns."""


Failure = collections.namedtuple("Failure", "reason component task text attempts final")
Failure.__doc__ = "Why a tuple failed (a Reason), where, in words; how often it was emitted; is it the last word?"


# --- Of functions ----------------------------------------------------------------------------------------------------


def _class_of(function, base, outputs, **more):
    return type(function.__name__, (base,), {"function": staticmethod(function), "outputs": outputs,
                                             "__doc__": function.__doc__, "__module__": function.__module__, **more})


class _FunctionBolt(BasicBolt):
    function = None

    def execute(self, tuple):
        return self.function(tuple, self.out)


def bolt(function=None, *, outputs=()):
    """Makes a BasicBolt of  function(tuple, out):

        @gale.bolt(outputs=["word"])
        def split(tuple, out): ...
    """
    if function is None:
        return functools.partial(bolt, outputs=outputs)
    return _class_of(function, _FunctionBolt, outputs, durable="nothing")


class FunctionSpout(Spout):
    """What is raised is the end of the iterator, and of the run, once all that came before is answered; no end of the
    input. Where the run has threads of its own the iterator has one, too (Pump), and may block."""
    function = None

    def __init__(self, *arguments, **named):
        self._make = functools.partial(self.function, *arguments, **named)
        self._rows = self._pump = self._raised = None
        self._count, self._left, self._stopped = 0, collections.deque(), False  # the left: (Rows, from which row on)

    def open(self):
        if self.context.threaded:
            self._pump = Pump(self._make, self.out)
            self._most = self.context.config.get("topology.max.spout.pending") or math.inf
        else:
            self._rows = iter(self._make())

    def next(self):
        if self._raised is None:
            try:
                return self._emit() if self._pump is None else self._emit_pumped()
            except Exception as error:
                self._raise(describe(error, getattr(self._rows, "gi_frame", None)))  # what it yielded may be no row
        if self.out.pending == 0:
            self._stop()
        return None

    def _emit(self):
        for row in self._rows:
            self.out.emit(row, id=self._count)
            self._count += 1
            return None
        return DONE

    def _emit_pumped(self):
        pump, taken = self._pump, self._emit_taken()
        pump.want(0 if self._left else min(AHEAD, self._most - self.out.pending))
        if taken or self._left or self._raised is not None:
            return None
        if not pump.ended:
            return Readable(pump.fd)
        if pump.escaped is not None:
            raise pump.escaped
        if pump.raised is None:
            return DONE
        self._raise(pump.raised)
        return None

    def _emit_taken(self):
        """Was there any? What no tree may be open for now is left."""
        if not self._left:
            self._left.extend((rows, 0) for rows in self._pump.take())
        some = bool(self._left)
        while self._left:
            rows, begin = self._left[0]
            emitted = self.out.emit_encoded(rows, begin, self._count)
            self._count += emitted
            if begin + emitted < rows.count:
                self._left[0] = rows, begin + emitted
                break
            self._left.popleft()
            self._pump.give_back(rows)
        return some

    def _raise(self, text):
        self._raised = text
        self._left.clear()
        self.out.report(text)

    def _stop(self):
        self.out.stop(self._raised)

    def deactivate(self):
        """What was yielded is emitted before a drain. A stop takes nothing any more."""
        if self._pump is None or self._raised is not None:
            return
        self._pump.park()
        try:
            self._emit_taken()
        except GaleError as error:
            if error.code != ErrorCode.STOPPED:
                raise
            self._stopped = True

    def close(self):
        """A drain does not ask `next` any more."""
        if self._pump is not None:
            self._close_pump()
        if self._raised is not None:
            self._stop()

    def _close_pump(self):
        self._pump.close()
        lost = self._pump.lost + sum(rows.count - begin for rows, begin in self._left)
        if self._raised is None and self._pump.raised is not None:
            self._raise(self._pump.raised)
        elif lost and not self._stopped:
            self.out.report(f"{lost} row{'s' * (lost > 1)} yielded behind the end of the run: not emitted")


def spout(function=None, *, outputs=()):
    """Makes a Spout of a function that returns an iterator of rows, as a generator does. Each is tracked; one that
    fails is emitted again where topology.replay.attempts says so. What the function raises stops the run, when the
    rows before it are answered:

        @gale.spout(outputs=["line"])
        def lines(path):
            for line in open(path):
                yield [line]
    """
    if function is None:
        return functools.partial(spout, outputs=outputs)
    return _class_of(function, FunctionSpout, outputs)
