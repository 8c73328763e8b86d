"""How C calls components: one function a kind of call for the whole process, which finds the task by the number that C was given.

C holds nothing of Python's but such numbers, and tables that live as long as their definition: a definition goes when C frees it with its
topology (free_user), a task when it is closed. Nothing that is raised crosses C: `guard` makes an error code of it.
"""

import ctypes
import itertools

from . import _c, threads
from ._library import gale
from .collector import Collector, raised
from .components import DONE, WATCHED, BasicBolt, Component, Failure, Readable, Spout, Until
from .context import Context
from .errors import code_of, describe
from .texts import c_message, c_text
from .tuples import Reader
from .values import Encoder, from_array
from .watch import forget_watches

_numbers = itertools.count(1)
definitions = {}  # by the number that C has as `user`
tasks = {}  # by the number that C has as `self`


# --- Definitions -----------------------------------------------------------------------------------------------------


def _streams(outputs):
    """{"default": ["word"]} of what a component declares."""
    if not isinstance(outputs, dict):
        outputs = {"default": outputs} if outputs else {}
    return {stream: [fields] if isinstance(fields, str) else list(fields) for stream, fields in outputs.items()}


class Definition:
    """A component of a topology, before there are tasks of it. `escaped` gathers what is to end the program and not a tuple:
    KeyboardInterrupt, SystemExit; whoever runs the topology raises it."""

    def __init__(self, make, arguments, outputs, escaped):
        if not (isinstance(make, type) and issubclass(make, Component)):
            raise TypeError(f"a component is a class of Spout or Bolt, of which each task makes its own instance, not {make!r}")
        self.make, self.arguments, self.escaped = make, dict(arguments or {}), escaped
        self.outputs = _streams(make.outputs if outputs is None else outputs)
        self.number, self.is_spout = next(_numbers), issubclass(make, Spout)
        self.name = make.__name__.encode()
        self._durable = self._durable_ops()
        self._ops = self._spout_ops() if self.is_spout else self._bolt_ops()
        names = [(c_text(stream), c_text(", ".join(fields))) for stream, fields in self.outputs.items()]
        self._outputs = (_c.Output * len(names))(*names)

    def has(self, method):
        return callable(getattr(self.make, method, None))

    def _durable_ops(self):
        make = self.make
        if make.durable not in (None, "nothing", "keyed"):
            raise ValueError(f"{make.__name__}.durable is \"nothing\", \"keyed\" or None, not {make.durable!r}")
        flags = {None: 0, "nothing": _c.DURABLE_STATELESS, "keyed": _c.DURABLE_KEYED}[make.durable]
        if self.has("save") != self.has("restore"):
            raise TypeError(f"{make.__name__} has only one of save and restore")
        if not flags and not self.has("save"):
            return None
        ops = _c.DurableOps(version=make.version, flags=flags)
        if self.has("save"):
            ops.save, ops.restore = _save, _restore
        if self.has("migrate"):
            ops.migrate = _migrate
        return ctypes.pointer(ops)

    def _spout_ops(self):
        return _c.SpoutOps(name=self.name, open=_open, activate=_activate, next=_next, ack=_ack, fail=_fail, deactivate=_deactivate,
                           close=_close, durable=self._durable)

    def _bolt_ops(self):
        simple = issubclass(self.make, BasicBolt)
        ops = _c.BoltOps(name=self.name, kind=_c.BoltKind.SIMPLE if simple else _c.BoltKind.MANUAL, prepare=_open, cleanup=_close,
                         durable=self._durable)
        if simple:
            ops.execute_batch = _execute_batch
        else:
            ops.execute = _execute
        if self.has("flush"):
            ops.flush = _flush
        if self.has("finish"):
            ops.finish = _finish
        return ops

    def for_c(self):
        """The gale_spout or gale_bolt; C has it from now on, and says when it has no more use for it."""
        definitions[self.number] = self
        kind = _c.Spout if self.is_spout else _c.Bolt
        return kind(ops=ctypes.pointer(self._ops), user=self.number, free_user=_free_definition, outputs=self._outputs,
                    output_count=len(self._outputs))


@_c.TELL
def _free_definition(user):
    definitions.pop(user, None)


# --- Tasks -----------------------------------------------------------------------------------------------------------


class _Task:
    """An instance of a component, and what C calls for it."""

    __slots__ = ("component", "collector", "definition", "out", "reader")

    def __init__(self, definition, context, out):
        self.definition, self.out, self.reader = definition, out, Reader()
        context = Context(context)
        self.collector = Collector(out, context.component, definition.outputs, self.guard)
        self.component = component = definition.make(**definition.arguments)
        component.context, component.out = context, self.collector
        (component.open if definition.is_spout else component.prepare)()

    def raised(self, error):
        """Says it in words, and returns the code for C."""
        return _raised(self.out, self.definition, error)

    def guard(self, function, *arguments):
        """Calls it; nothing that it raises goes on."""
        try:
            function(*arguments)
        except BaseException as error:
            return self.raised(error)
        return 0

    def wait(self, answer, wait):
        """What `next` said, for C."""
        if answer is None:
            return _EMITTED if self.collector.emitted else _NOTHING
        if answer is DONE:
            return _DONE
        if answer is WATCHED:
            return _WATCHED
        if isinstance(answer, Until):
            wait[0].until = _nanoseconds(answer.at)
            return int(_c.Next.UNTIL)
        if isinstance(answer, Readable):
            wait[0].fd = answer.fd if isinstance(answer.fd, int) else answer.fd.fileno()
            wait[0].until = 0 if answer.until is None else _nanoseconds(answer.until)
            return int(_c.Next.READABLE)
        raise TypeError(f"next() returns None, DONE, WATCHED, Until or Readable, not {answer!r}")


_EMITTED, _NOTHING, _DONE, _WATCHED = int(_c.Next.EMITTED), int(_c.Next.NOTHING), int(_c.Next.DONE), int(_c.Next.WATCHED)


def _nanoseconds(seconds):
    return max(1, round(seconds * _c.SECOND))


def _raised(out, definition, error):
    text = c_message(describe(error))
    gale.report(out, text)
    if not isinstance(error, Exception):  # somebody wants to end the program: the run ends first
        definition.escaped.append(error)
        gale.stop(out, _c.ErrorCode.STOPPED, text)
    return code_of(error)


# --- What C calls ----------------------------------------------------------------------------------------------------


@_c.OPEN
def _open(user, context, out, ret_self):
    threads.begin_task()
    definition = definitions[user]
    try:
        task = _Task(definition, context, out)
    except BaseException as error:
        threads.end_task()
        return _raised(out, definition, error)
    number = ret_self[0] = next(_numbers)
    tasks[number] = task
    return 0


@_c.TELL
def _close(self):
    task = tasks.pop(self)
    forget_watches(task.collector)
    task.guard(task.component.close if task.definition.is_spout else task.component.cleanup)
    threads.end_task()


@_c.TELL
def _activate(self):
    task = tasks[self]
    task.guard(task.component.activate)


@_c.TELL
def _deactivate(self):
    task = tasks[self]
    task.guard(task.component.deactivate)


@_c.NEXT
def _next(self, _out, wait):
    task = tasks[self]
    try:
        task.collector.emitted = False
        return task.wait(task.component.next(), wait)
    except BaseException as error:
        return task.raised(error)


@_c.ACK
def _ack(self, message_id):
    task = tasks[self]
    task.guard(task.component.ack, message_id)


def _reason(number):
    return _c.Reason(number) if number in _c.Reason._value2member_map_ else number


@_c.FAIL
def _fail(self, message_id, failure):
    task, failure = tasks[self], failure[0]
    component = failure.component.decode() if failure.component else None
    told = Failure(_reason(failure.reason), component, failure.task, failure.text.decode("utf-8", "replace"), failure.attempts,
                   failure.final)
    task.guard(task.component.fail, message_id, told)


@_c.EXECUTE
def _execute(self, tuple, _out):
    task = tasks[self]
    try:
        task.component.execute(task.reader.read(tuple))
        return 0
    except BaseException as error:
        return task.raised(error)


@_c.EXECUTE
def _execute_batch(self, tuples, _out):
    task = tasks[self]
    take, read, execute = gale.batch_next, task.reader.read, task.component.execute
    try:
        while (tuple := take(tuples)) is not None:
            execute(read(tuple))
        return 0
    except BaseException as error:
        return task.raised(error)


@_c.FLUSH
def _flush(self, _out):
    task = tasks[self]
    return task.guard(task.component.flush)


@_c.FLUSH
def _finish(self, _out):
    task = tasks[self]
    return task.guard(task.component.finish)


# --- What is kept beyond a run: one record of one value --------------------------------------------------------------


@_c.SAVE
def _save(self, saver):
    task = tasks[self]
    try:
        return gale.save(saver, Encoder().one(task.component.save()), 1)
    except BaseException as error:
        return task.raised(error)


def _saved(records):
    values, count = ctypes.c_void_p(), ctypes.c_size_t()
    while gale.saved_next(records, values, count) > 0:
        yield from_array(values.value, count.value)[0]


@_c.RESTORE
def _restore(self, records, _out):
    task = tasks[self]
    try:
        for value in _saved(records):
            task.component.restore(value)
        return 0
    except BaseException as error:
        return task.raised(error)


@_c.MIGRATE
def _migrate(user, version, records, saver):
    """Without a collector nobody can be told in words but Python's own log, where `describe` puts it."""
    try:
        for value in _saved(records):
            rc = gale.save(saver, Encoder().one(definitions[user].make.migrate(version, value)), 1)
            if rc < 0:
                return rc
        return 0
    except Exception as error:
        describe(error)
        return code_of(error)


# --- Groupings of one's own ------------------------------------------------------------------------------------------

choosers = {}  # by the number that C has as `user`


def custom_grouping(choose):
    """A gale_grouping of  choose(values, task_count) -> indices of tasks."""
    number = next(_numbers)
    choosers[number] = choose
    return _c.Grouping(kind=_c.GroupingKind.CUSTOM, custom=ctypes.pointer(_CUSTOM), user=number, free_user=_free_chooser)


@_c.TELL
def _free_chooser(user):
    choosers.pop(user, None)


@_c.CHOOSE
def _choose(self, targets, values, count, ret_indices):
    try:
        chosen = list(choosers[self](from_array(values, count), targets[0].task_count))
        if len(chosen) > targets[0].task_count:
            raise ValueError(f"{len(chosen)} tasks were chosen of {targets[0].task_count}")
        for at, index in enumerate(chosen):
            if not 0 <= index < targets[0].task_count:
                raise ValueError(f"task {index} was chosen of {targets[0].task_count}, which count from 0")
            ret_indices[at] = index
        return len(chosen)
    except Exception as error:
        describe(error)
        raised.error = error  # for a Python emitter, whose emit this is a part of; of another's it is in the log
        return int(_c.ErrorCode.COMPONENT)


_CUSTOM = _c.CustomOps(name=b"python", choose=_choose)
