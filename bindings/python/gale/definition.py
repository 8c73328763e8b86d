"""A component of a topology as C is told of it."""

import ctypes
import inspect

from . import _c, calls
from .components import BasicBolt, Bolt, FunctionSpout, Spout
from .texts import c_text


def _streams(outputs):
    """{"default": ["word"]} of what a component declares."""
    if not isinstance(outputs, dict):
        outputs = {"default": outputs} if outputs else {}
    return {stream: [fields] if isinstance(fields, str) else list(fields) for stream, fields in outputs.items()}


def _check_complete(make):
    """The one method that each has to have."""
    base, method = (Spout, "next(self)") if issubclass(make, Spout) else (Bolt, "execute(self, tuple)")
    name = method.partition("(")[0]
    if getattr(make, name, None) in (None, getattr(base, name)):
        raise TypeError(f"{make.__name__} has no {method}: a {base.__name__} needs it")


def _check_arguments(make, arguments):
    """Each task makes make(**arguments), or calls its function so, on a thread of its own. Raised here, an argument
    that does not fit has the place where it was given."""
    try:
        signature = inspect.signature(make.function if issubclass(make, FunctionSpout) else make)
    except (TypeError, ValueError):  # Python knows none of it
        return
    try:
        signature.bind(**arguments)
    except TypeError as error:
        raise TypeError(f"{make.__name__}: {error}") from None


class Definition:
    """A component of a topology, before there are tasks of it."""

    def __init__(self, make, arguments, outputs, crew):
        if not (isinstance(make, type) and issubclass(make, (Spout, Bolt))):
            raise TypeError(f"a component is a class of Spout or Bolt, of which each task makes its own instance, not "
                            f"{make!r}")
        self.make, self.arguments, self.crew = make, dict(arguments or {}), crew
        self.outputs = _streams(make.outputs if outputs is None else outputs)
        self.number, self.is_spout = next(calls.numbers), issubclass(make, Spout)
        self.name = make.__name__.encode()
        self._durable = self._durable_ops()
        self._ops = self._spout_ops() if self.is_spout else self._bolt_ops()
        names = [(c_text(stream), c_text(", ".join(fields))) for stream, fields in self.outputs.items()]
        self._outputs = (_c.Output * len(names))(*names)
        _check_complete(make)
        _check_arguments(make, self.arguments)

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
            ops.save, ops.restore = calls.on_save, calls.on_restore
        if self.has("migrate"):
            ops.migrate = calls.on_migrate
        return ctypes.pointer(ops)

    def _spout_ops(self):
        return _c.SpoutOps(
            name=self.name, open=calls.on_open, activate=calls.on_activate, next=calls.on_next, ack=calls.on_ack,
            fail=calls.on_fail, deactivate=calls.on_deactivate, close=calls.on_close, durable=self._durable)

    def _bolt_ops(self):
        simple = issubclass(self.make, BasicBolt)
        kind = _c.BoltKind.SIMPLE if simple else _c.BoltKind.MANUAL
        ops = _c.BoltOps(name=self.name, kind=kind, prepare=calls.on_open, cleanup=calls.on_close,
                         durable=self._durable)
        if simple:
            ops.execute_batch = calls.on_execute_batch
        else:
            ops.execute = calls.on_execute
        if self.has("flush"):
            ops.flush = calls.on_flush
        if self.has("finish"):
            ops.finish = calls.on_finish
        return ops

    def for_c(self):
        """The gale_spout or gale_bolt; C has it from now on, and says when it has no more use for it."""
        calls.definitions[self.number] = self
        kind = _c.Spout if self.is_spout else _c.Bolt
        return kind(ops=ctypes.pointer(self._ops), user=self.number, free_user=calls.on_free_definition,
                    outputs=self._outputs, output_count=len(self._outputs))
