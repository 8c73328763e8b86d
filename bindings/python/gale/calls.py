"""How C calls components: one function a kind of call for the whole process, which finds the task by the number that C
was given.

C holds nothing of Python's but such numbers, and tables that live as long as their definition: a definition goes when C
frees it with its topology (free_user), a task when it is closed. Nothing that is raised crosses C: an error code does.
"""

import ctypes
import itertools
from inspect import isgenerator as is_generator
from time import monotonic

from . import _c
from ._library import gale
from .collector import is_refused, is_undeclared
from .components import Failure
from .errors import code_of, describe
from .task import SLOW, Task
from .texts import c_message
from .values import Encoder, from_array

numbers = itertools.count(1)
definitions = {}  # by the number that C has as `user`
tasks = {}  # by the number that C has as `self`


@_c.TELL
def on_free_definition(user):
    definitions.pop(user, None)


@_c.OPEN
def on_open(user, context, out, ret_self):
    task = Task(definitions[user], context, out)
    try:
        task.open()
    except BaseException as error:
        code = task.raised(error)
        task.end()
        return code
    number = ret_self[0] = next(numbers)
    tasks[number] = task
    return 0


@_c.TELL
def on_close(self):
    task = tasks.pop(self)
    task.close()
    task.end()


@_c.TELL
def on_activate(self):
    task = tasks[self]
    task.guard(task.component.activate)


@_c.TELL
def on_deactivate(self):
    task = tasks[self]
    task.guard(task.component.deactivate)


@_c.NEXT
def on_next(self, _out, wait):
    task = tasks[self]
    try:
        task.collector.emitted = False
        began = monotonic()
        answer = task.component.next()
        return task.wait(answer, monotonic() - began, wait)
    except BaseException as error:
        return task.raised(error, stops=is_undeclared(error))


@_c.ACK
def on_ack(self, message_id):
    task = tasks[self]
    task.guard(task.component.ack, message_id)


def _reason(number):
    return _c.Reason(number) if number in _c.Reason._value2member_map_ else number


@_c.FAIL
def on_fail(self, message_id, failure):
    task, failure = tasks[self], failure[0]
    component = failure.component.decode() if failure.component else None
    text = failure.text.decode("utf-8", "replace")
    told = Failure(_reason(failure.reason), component, failure.task, text, failure.attempts, failure.final)
    task.guard(task.component.fail, message_id, told)


def _not_executed(task, tuple, error):
    """What was raised while the Tuple was executed fails it. If the bolt makes of it what cannot be emitted, it is
    rejected: it would come again and again."""
    code = task.raised(error)
    if tuple is not None and is_refused(error):
        gale.fail(task.out, tuple.handle, _c.Reason.REJECTED, c_message(describe(error)))
    return code


def _take(task, tuple, execute):
    """A tuple, or one that comes again, under another handle, for the rest of what its generator emits."""
    if task.steps:
        task.taken.handle = tuple.handle
        return task.in_parts(task.steps)
    steps = execute(tuple)
    if not is_generator(steps):
        return 0
    task.taken = tuple
    return task.in_parts(steps)


def _is_interrupted(task, looked):
    """Behind a slow call: has anything changed, such as a stop, that the executor sees before the next tuple? Where the
    answer is yes, C gives no other tuple of the batch."""
    return task.timed and monotonic() - looked > SLOW and gale.part_is_full(task.out)


@_c.EXECUTE
def on_execute(self, address, _out):
    task, tuple, began = tasks[self], None, monotonic()
    try:
        tuple = task.reader.read(address)
        return _take(task, tuple, task.component.execute)
    except BaseException as error:
        return _not_executed(task, tuple, error)
    finally:
        _is_interrupted(task, began)


@_c.EXECUTE
def on_execute_batch(self, addresses, _out):
    task, tuple, looked = tasks[self], None, monotonic()
    take, read, execute = gale.batch_next, task.reader.read, task.component.execute
    try:
        while (address := take(addresses)) is not None:
            tuple = read(address)
            if rc := _take(task, tuple, execute):
                return rc
            if (now := monotonic()) - looked > SLOW:
                if _is_interrupted(task, looked):
                    return 0
                looked = now
        return 0
    except BaseException as error:
        return _not_executed(task, tuple, error)
    finally:
        _is_interrupted(task, looked)


@_c.FLUSH
def on_flush(self, _out):
    task = tasks[self]
    return task.guard(task.component.flush)


@_c.FLUSH
def on_finish(self, _out):
    task = tasks[self]
    try:
        steps = task.steps or task.component.finish()
        return task.in_parts(steps) if is_generator(steps) else 0
    except BaseException as error:
        return task.raised(error)


# --- What is kept beyond a run: one record of one value --------------------------------------------------------------


def _keep(saver, value):
    encoder = Encoder()
    return gale.save(saver, encoder.one(value), 1)


@_c.SAVE
def on_save(self, saver):
    task = tasks[self]
    try:
        return _keep(saver, task.component.save())
    except BaseException as error:
        return task.raised(error)


def _saved(records):
    values, count = ctypes.c_void_p(), ctypes.c_size_t()
    while gale.saved_next(records, values, count) > 0:
        yield from_array(values.value, count.value)[0]


@_c.RESTORE
def on_restore(self, records, _out):
    task = tasks[self]
    try:
        for value in _saved(records):
            task.component.restore(value)
        return 0
    except BaseException as error:
        return task.raised(error)


@_c.MIGRATE
def on_migrate(user, version, records, saver):
    """Without a collector nobody can be told in words but Python's own log, where `describe` puts it."""
    try:
        for value in _saved(records):
            rc = _keep(saver, definitions[user].make.migrate(version, value))
            if rc < 0:
                return rc
        return 0
    except Exception as error:
        describe(error)
        return code_of(error)
