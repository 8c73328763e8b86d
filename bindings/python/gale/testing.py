"""A bolt, a spout or a whole topology under test, on virtual time (libgale-sim; <gale_test.h> says more).

    with gale.testing.Test(topology) as test:
        test.feed("lines", ["to be or not to be"])
        test.expect("count", [["be", 2], ["not", 1], ["or", 1], ["to", 2]], order="any")
        test.expect_acked()

Spouts are replaced by ones that emit what they are fed, unless they are kept. Nothing is waited for: ten hours pass at
once.
"""

import collections
import ctypes
import weakref

from . import _c, _library
from ._c import TestState
from .crew import Crew
from .definition import Definition
from .errors import GaleError, check
from .logs import flush, logger_of
from .rows import encoded, row_of
from .signals import held_back
from .texts import c_text, c_texts
from .values import Encoder, from_array

_ORDERS = {"same": _c.TestOrder.IN_ORDER, "any": _c.TestOrder.ANY_ORDER, "contains": _c.TestOrder.CONTAINS}

Answer = collections.namedtuple("Answer", "state reason attempts final component text")
Answer.__doc__ = "What became of a tuple that was fed: a TestState, the Reason of one that failed, where, in words."


class Test:
    """A test of a topology.

    seed       the same seed does the same again; executors and order are drawn from it
    faults     "fail=0.05,hold=0.1", as for `gale simulate`
    stand_ins  {"writer": Recorder}: classes of bolts in place of others; without outputs they have theirs, of bolts
               in Python
    edges      [("split", "count")]: the first is replaced by what it is fed, and that goes to the second
    kept       spouts that run as they are
    """

    __test__ = False  # for pytest, which takes every Test for a case

    def __init__(self, topology, *, seed=1, executors=0, faults=None, stand_ins=None, edges=(), kept=(), log=None):
        bolts = [(c_text(name), _stand_in(topology, name, bolt).for_c()) for name, bolt in (stand_ins or {}).items()]
        options, alive = _options(seed, executors, faults, log, bolts, edges, kept)
        self._make("test_new", (topology.handle,), options, alive, topology.crew)
        self._topology = topology

    @classmethod
    def of_bolt(cls, bolt, inputs, *, arguments=None, seed=1, faults=None, log=None):
        """Of one bolt, called "bolt". `inputs`: {"lines": ["line"]}, the fields of what comes to it by the component
        that they are from, or by (component, stream)."""
        streams = [(key, None) if isinstance(key, str) else key for key in inputs]
        rows = [(c_text(source), c_text(stream), c_text(", ".join(fields)))
                for (source, stream), fields in zip(streams, inputs.values())]
        given = ((_c.TestInput * len(rows))(*rows), len(rows))
        return cls._of_one("test_new_for_bolt", bolt, arguments, given, seed, faults, log)

    @classmethod
    def of_spout(cls, spout, *, arguments=None, seed=1, faults=None, log=None):
        """Of one spout, called "spout": what it emits is acked."""
        return cls._of_one("test_new_for_spout", spout, arguments, (), seed, faults, log)

    @classmethod
    def _of_one(cls, function, component, arguments, given, seed, faults, log):
        test, crew = cls.__new__(cls), Crew()
        options, alive = _options(seed, 1, faults, log, (), (), ())
        definition = Definition(component, arguments, None, crew)
        test._make(function, (definition.for_c(), *given), options, (*alive, given), crew)
        return test

    def _make(self, function, what, options, alive, crew):
        handle, report = ctypes.c_void_p(), _c.Error()
        crew.threaded = crew.timed = False
        check(getattr(_library.sim(), function)(*what, options, handle, report), report)
        self._handle, self._crew, self._encoder, self._busy = handle.value, crew, Encoder(), False
        self._free = weakref.finalize(self, _free, handle.value, alive)

    # --- Doing

    def feed(self, component, values, stream=None):
        """A tuple for a stream of a component that is fed. Returns its number: 0 for the first, and so on."""
        report = _c.Error()
        row = encoded(self._encoder, values, component)
        return check(self._call("feed", c_text(component), c_text(stream), row, len(values), report), report)

    def settle(self):
        """Lets everything run that can at this time; what looks does so by itself."""
        self._did("settle")

    def advance(self, seconds):
        """Lets time pass: ticks, windows, timeouts happen on the way, each at its moment."""
        self._did("advance", round(seconds * _c.SECOND))

    def finish(self):
        """The input ends: all is drained, bolts finish, everything is closed."""
        self._did("finish")

    @property
    def now(self):
        """The clock in seconds, from 0."""
        return self._call("now") / _c.SECOND

    # --- What was emitted

    def expect(self, component, rows, stream=None, *, order="same"):
        """What the component has emitted since it was last looked at: these rows in the "same" order, in "any", or it
        "contains" them. An AssertionError says what differs."""
        if order not in _ORDERS:
            raise ValueError(f"order is {', '.join(map(repr, _ORDERS))}, not {order!r}")
        rows = [row_of(row, component) for row in rows]
        width = len(rows[0]) if rows else 0
        values = self._encoder.rows(rows, width)
        what = (c_text(component), c_text(stream), _ORDERS[order])
        self._assert(self._call("differs", *what, values, width, len(rows)))

    def take(self, component, stream=None):
        """The oldest row that was not looked at, or None."""
        values, count = ctypes.c_void_p(), ctypes.c_size_t()
        rc = self._call("take", c_text(component), c_text(stream), values, count)
        if rc == _c.ErrorCode.NOT_FOUND:
            return None
        check(rc)
        return from_array(values.value, count.value)

    def emitted(self, component, stream=None):
        """All of them that were not looked at."""
        return list(iter(lambda: self.take(component, stream), None))

    def reports(self, component):
        """What it has reported."""
        texts, number = [], 0
        while (text := self._call("report", c_text(component), number)) is not None:
            texts.append(text.decode("utf-8", "replace"))
            number += 1
        return texts

    # --- What became of a tuple that was fed

    def answer(self, number):
        answer = _c.TestAnswer()
        check(self._call("answer_of", number, answer))
        reason = _c.Reason(answer.reason) if answer.reason in _c.Reason._value2member_map_ else answer.reason
        component, text = (answer.component or b"").decode(), (answer.text or b"").decode("utf-8", "replace")
        return Answer(TestState(answer.state), reason, answer.attempts, answer.final, component, text)

    def expect_acked(self):
        """Every tuple that was fed has been acked, or an AssertionError says which were not, and why."""
        self._assert(self._call("not_acked"))

    def expect_failed(self, number, text=None, *, reason=_c.Reason.FAILED):
        """The tuple has failed for this reason, with this in its text."""
        self._assert(self._call("not_failed", number, reason, c_text(text)))

    # ---

    def close(self):
        if self._free.alive:
            self._not_inside()
            self._free()

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    def _not_inside(self):
        if self._busy:
            raise GaleError(_c.ErrorCode.STATE, "a component cannot use the test that is calling it")

    def _call(self, function, *arguments):
        """gale_test_FUNCTION, which may call components."""
        self._not_inside()
        if not self._free.alive:
            raise GaleError(_c.ErrorCode.STATE, "the test is closed")
        self._busy = True
        try:
            with held_back():
                return getattr(_library.sim(), f"test_{function}")(self._handle, *arguments)
        finally:
            self._busy = False

    def _did(self, function, *arguments):
        report = _c.Error()
        code = self._call(function, *arguments, report)
        self._crew.raise_escaped()
        check(code, report)

    def _assert(self, difference):
        self._crew.raise_escaped()
        if difference is not None:
            raise AssertionError(difference.decode("utf-8", "replace"))


def _free(test, alive):
    _library.sim().test_free(test)
    flush(alive[0], all=True)


def _stand_in(topology, name, bolt):
    """Without outputs it has those of the bolt in whose place it is."""
    return Definition(bolt, None, None if bolt.outputs else topology.outputs.get(name), topology.crew)


def _options(seed, executors, faults, log, bolts, edges, kept):
    """The gale_test_options, and what they point to."""
    pairs = [(c_text(source), c_text(bolt)) for source, bolt in edges]
    names, name_count = c_texts(kept)
    logger = logger_of(log)
    options = _c.TestOptions(
        seed=seed, executors=executors, faults=c_text(faults), stand_ins=(_c.TestStandIn * len(bolts))(*bolts),
        stand_in_count=len(bolts), edges=(_c.TestEdge * len(pairs))(*pairs), edge_count=len(pairs), kept=names,
        kept_count=name_count, logger=ctypes.addressof(logger) if logger else None)
    return options, (logger, bolts)
