"""A task: an instance of a component, and what C says to it."""

from . import _c, threads
from ._library import gale
from .collector import Collector
from .components import DONE, WATCHED, Readable, Until
from .context import Context
from .errors import NotNow, code_of, describe
from .texts import c_message
from .tuples import Reader

_EMITTED, _NOTHING, _UNTIL, _READABLE, _DONE, _WATCHED = map(int, _c.Next)
SLOW = 0.001  # seconds of a call after which the next one may be as slow


class Task:
    """An instance of a component, and what it is given. Made, opened, closed and ended on one thread."""

    __slots__ = ("component", "collector", "context", "definition", "out", "reader", "steps", "taken", "blocks",
                 "timed")

    def __init__(self, definition, context, out):
        threads.begin_task()
        self.definition, self.out, self.reader = definition, out, Reader()
        self.context = Context(context, definition.crew.threaded)
        self.steps = None  # the generator that a function returned, and that has not ended
        self.collector = Collector(out, self.context.component, definition.outputs, self.guard)
        self.timed = definition.crew.timed
        self.blocks = self.timed and bool(self.context.config.get("gale.blocking"))
        definition.crew.tasks.add(self)

    def open(self):
        definition = self.definition
        self.component = component = definition.make(**definition.arguments)
        component.context, component.out = self.context, self.collector
        (component.open if definition.is_spout else component.prepare)()

    def close(self):
        self.collector.forget_watches()
        self.guard(self.component.close if self.definition.is_spout else self.component.cleanup)

    def end(self):
        """Nothing that it had reaches C any more."""
        self.collector.end()
        self.context.end()
        self.definition.crew.tasks.discard(self)
        threads.end_task()

    def raised(self, error, stops=False):
        """Says it in words, and returns the code for C. `stops`: the run cannot go on."""
        text = c_message(error.text if isinstance(error, NotNow) else describe(error))
        gale.report(self.out, text)
        if not isinstance(error, Exception):  # somebody wants to end the program: the run ends first
            self.definition.crew.escaped.append(error)
            gale.stop(self.out, _c.ErrorCode.STOPPED, text)
        elif stops:
            gale.stop(self.out, _c.ErrorCode.COMPONENT, text)
        return code_of(error)

    def guard(self, function, *arguments):
        """Calls it; nothing that it raises goes on."""
        try:
            function(*arguments)
        except BaseException as error:
            return self.raised(error)
        return 0

    def in_parts(self, steps):
        """Goes on with the generator that `execute` or `finish` returned, until what it has emitted is a part. For C:
        0 when it has ended, or MORE. Raises what it raises."""
        self.steps = None
        for _ in steps:
            if gale.part_is_full(self.out):
                self.steps = steps
                return _c.MORE
        return 0

    def _emitted(self, seconds, wait):
        """What is emitted leaves when the executor has asked 256 times: at once, if the next call may block."""
        if not self.blocks and (seconds < SLOW or not self.timed):
            return _EMITTED
        wait[0].until = 1  # at once, but not in this turn
        return _UNTIL

    def wait(self, answer, seconds, wait):
        """What `next` said in so many seconds, for C."""
        if answer is None:
            return self._emitted(seconds, wait) if self.collector.emitted else _NOTHING
        if answer is DONE:
            return _DONE
        if answer is WATCHED:
            return _WATCHED
        if isinstance(answer, Until):
            wait[0].until = _nanoseconds(answer.at)
            return _UNTIL
        if isinstance(answer, Readable):
            wait[0].fd = answer.fd if isinstance(answer.fd, int) else answer.fd.fileno()
            wait[0].until = 0 if answer.until is None else _nanoseconds(answer.until)
            return _READABLE
        raise TypeError(f"next() returns None, DONE, WATCHED, Until or Readable, not {answer!r}")


def _nanoseconds(seconds):
    return max(1, round(seconds * _c.SECOND))
