"""What a component counts: its own figures, beside gale's."""

import ctypes

from . import _c
from ._library import gale
from .errors import GaleError
from .texts import c_text

_KINDS = {kind.name.lower(): kind for kind in _c.MetricKind}


def kind_name(kind):
    """Of a number that C tells; "unknown" for one of a newer libgale's."""
    return gale.metric_kind_name(kind).decode()


class Metric:
    """A counter, a gauge or a histogram of this task; see Collector.metric."""

    __slots__ = ("_collector", "_metric", "name", "kind")

    def __init__(self, collector, name, kind, help, labels):
        if kind not in _KINDS:
            raise ValueError(f"a metric's kind is {', '.join(map(repr, _KINDS))}, not {kind!r}")
        self._collector, self._metric, self.name, self.kind = collector, ctypes.c_void_p(), name, kind
        given = (_c.MetricLabel * len(labels))(*((c_text(each), c_text(value)) for each, value in labels))
        options = _c.MetricOptions(name=c_text(name), kind=_KINDS[kind], help=c_text(help), labels=given,
                                   label_count=len(labels))
        rc = gale.metric_new(collector.here(), options, self._metric)
        if rc < 0:
            raise GaleError(rc, f"there can be no {kind} '{name}': {_why(rc)}")

    def add(self, n=1):
        """Of a counter: so many more, which is not below 0."""
        self._note("counter", n)

    def set(self, value):
        """Of a gauge: that is how much there is now."""
        self._note("gauge", value)

    def observe(self, value):
        """Of a histogram: one more value, not below 0."""
        self._note("histogram", value)

    def _note(self, kind, value):
        if kind != self.kind:
            raise TypeError(f"'{self.name}' is a {self.kind}, and no {kind}")
        self._collector.here()
        rc = gale.metric_note(self._metric, value)
        if rc < 0:
            raise GaleError(rc, f"the {self.kind} '{self.name}' cannot take {value!r}: {_why_not(rc, kind)}")


def _why(rc):
    if rc == _c.ErrorCode.INVALID:
        return "the report before this one says why"
    if rc == _c.ErrorCode.TOO_LARGE:
        return f"a task has at most {_c.METRICS_MAX}, a topology {_c.METRIC_NAMES_MAX} names"
    return gale.error_text(rc).decode()


def _why_not(rc, kind):
    if rc != _c.ErrorCode.INVALID:
        return gale.error_text(rc).decode()
    return "it is a finite number" if kind == "gauge" else "it is a number from 0 on, and so is the sum"
