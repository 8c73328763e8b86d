"""What runs: spouts, bolts, and the streams between them."""

import ctypes
import weakref

from . import _c, _library
from ._library import gale
from .crew import Crew
from .definition import Definition
from .errors import GaleError, check
from .groupings import custom_grouping
from .texts import c_text, c_texts
from .values import borrowed


def _names(fields):
    return fields if isinstance(fields, str) else ", ".join(fields)


class Topology:
    """A topology is built, then given to a Runtime (or a Test), after which it does not change. What is wrong with it
    is raised where it is said, or by `check`, or when it is to run."""

    def __init__(self, name, config=None):
        self._take(gale.topology_new(c_text(name)))
        for key, value in (config or {}).items():
            self.set(key, value)

    def _take(self, handle):
        if not handle:
            raise MemoryError("gale: no memory for a topology")
        self._handle, self.crew, self.outputs = handle, Crew(), {}
        self._kept, self._closed = 0, False
        self._free = weakref.finalize(self, gale.topology_free, handle)

    @classmethod
    def from_file(cls, path, *, properties=None, environment=False, config=None, sets=(), plugins=()):
        """What `gale run` reads (libgale-front). More can be added to it, in Python: the file's streams may name spouts
        and bolts that are added later, its bolts may have their inputs from Python, and it needs no spouts. What is
        missing then is raised by `check`, or when it is to run. `config`: keys over the file's, a dict; `sets`:
        "id.name=value"; `properties`: the file of what ${NAME} stands for."""
        return cls._read("topology_from_file", (c_text(path),), properties, environment, config, sets, plugins)

    @classmethod
    def from_text(cls, text, *, name="text", properties=None, environment=False, config=None, sets=(), plugins=()):
        """The same of a text."""
        data = ctypes.create_string_buffer(text.encode())
        piece = _c.Str(ctypes.addressof(data), len(data) - 1)
        return cls._read("topology_from_text", (c_text(name), piece), properties, environment, config, sets, plugins)

    @classmethod
    def _read(cls, function, what, properties, environment, config, sets, plugins):
        values = [(c_text(key), *borrowed(value)) for key, value in (config or {}).items()]
        settings = (_c.Setting * len(values))(*[(key, value) for key, value, _encoder in values])
        set_texts, set_count = c_texts(sets)
        plugin_texts, plugin_count = c_texts(plugins)
        options = _c.TopologyFileOptions(
            properties=c_text(properties), environment=environment, settings=settings, setting_count=len(values),
            sets=set_texts, set_count=set_count, plugins=plugin_texts, plugin_count=plugin_count, open=True)
        handle, report = ctypes.c_void_p(), _c.Error()
        check(getattr(_library.front(), function)(*what, options, handle, report), report)
        topology = cls.__new__(cls)
        topology._take(handle.value)
        return topology

    @property
    def handle(self):
        """For C."""
        if self._closed or not self._free.alive:
            raise GaleError(_c.ErrorCode.STATE, "the topology is closed")
        return self._handle

    @property
    def name(self):
        return gale.topology_name(self.handle).decode()

    def add_spout(self, name, component, *, parallelism=1, arguments=None, outputs=None, config=None):
        """Adds a class of Spout (or a function that was made one) with so many tasks, each of which makes
        component(**arguments). `outputs` in place of the class's own; `config`: the component's own keys."""
        self._add(name, component, parallelism, arguments, outputs, config, spout=True)

    def add_bolt(self, name, component, *, parallelism=1, arguments=None, outputs=None, config=None):
        """The same of a Bolt. Returns what its inputs are said to:

            topology.add_bolt("count", Count, parallelism=4).fields_grouping("split", ["word"])
        """
        self._add(name, component, parallelism, arguments, outputs, config, spout=False)
        return self.inputs_of(name)

    def _add(self, name, component, parallelism, arguments, outputs, config, spout):
        definition = Definition(component, arguments, outputs, self.crew)
        if definition.is_spout != spout:
            raise TypeError(f"{component.__name__} is a {'Spout' if definition.is_spout else 'Bolt'}")
        add = gale.topology_add_spout if spout else gale.topology_add_bolt
        self._did(add(self.handle, c_text(name), definition.for_c(), parallelism))
        self.outputs[name] = definition.outputs
        for key, value in (config or {}).items():
            self.set(key, value, component=name)

    def set(self, key, value, *, component=None):
        """A key of the topology's configuration, or of one component's. False: it has no effect here."""
        view, _encoder = borrowed(value)
        return self._did(gale.topology_set(self.handle, c_text(component), c_text(key), view)) == 0

    def inputs_of(self, bolt):
        """For more inputs of a bolt that was added, here or by a file."""
        return Inputs(self, bolt)

    def subscribe(self, bolt, source, stream, grouping):
        """Inputs calls it."""
        self._did(gale.topology_subscribe(self.handle, c_text(bolt), c_text(source), c_text(stream), grouping))

    def check(self):
        """Is it whole and sound?"""
        report = _c.Error()
        check(gale.topology_check(self.handle, report), report)

    def _did(self, code):
        """The words of an error are the topology's, which keeps its first."""
        if code < 0:
            self.check()
            raise GaleError(code)
        return code

    def close(self):
        """Frees it; what runs it keeps what it needs. Whoever forgets this has it done when the object goes."""
        self._closed = True
        if not self._kept:
            self._free()

    def _keep(self):
        """It is shown by what serves a run, and is freed after that."""
        self._kept += 1

    def _let_go(self):
        self._kept -= 1
        if self._closed and not self._kept:
            self._free()

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()


class Inputs:
    """The inputs of a bolt, under Storm's names of the groupings. `stream` None is "default"; `drop`, "oldest" or
    "newest", is for a stream of which the bolt would rather lose tuples than hold up those who feed it. Each returns
    the same, for the next one."""

    def __init__(self, topology, bolt):
        self._topology, self._bolt = topology, bolt

    def shuffle_grouping(self, source, stream=None, *, drop="nothing"):
        """Evenly, to those that are not busy."""
        return self._add("SHUFFLE", source, stream, drop)

    def fields_grouping(self, source, fields, stream=None, *, drop="nothing"):
        """Equal values of these fields go to the same task."""
        return self._add("FIELDS", source, stream, drop, fields)

    def partial_key_grouping(self, source, fields, stream=None, *, drop="nothing"):
        """Equal values of these fields go to one of two tasks, the less used."""
        return self._add("PARTIAL_KEY", source, stream, drop, fields)

    def all_grouping(self, source, stream=None, *, drop="nothing"):
        """Every task gets every tuple."""
        return self._add("ALL", source, stream, drop)

    def global_grouping(self, source, stream=None, *, drop="nothing"):
        """The task with the lowest number gets all."""
        return self._add("GLOBAL", source, stream, drop)

    def none_grouping(self, source, stream=None, *, drop="nothing"):
        """Any task, drawn anew for each tuple."""
        return self._add("NONE", source, stream, drop)

    def local_or_shuffle_grouping(self, source, stream=None, *, drop="nothing"):
        """Tasks on the emitting task's executor, if there are any."""
        return self._add("LOCAL_OR_SHUFFLE", source, stream, drop)

    def direct_grouping(self, source, stream=None, *, drop="nothing"):
        """The task that the producer names (Collector.emit_direct)."""
        return self._add("DIRECT", source, stream, drop)

    def custom_grouping(self, source, choose, stream=None, *, drop="nothing"):
        """Those that  choose(values, task_count)  returns the indices of, from 0. Called on the emitter's thread; it
        does not emit."""
        return self._subscribe(source, stream, drop, custom_grouping(choose))

    def _add(self, kind, source, stream, drop, fields=None):
        names = None if fields is None else c_text(_names(fields))
        return self._subscribe(source, stream, drop, _c.Grouping(kind=_c.GroupingKind[kind], fields=names))

    def _subscribe(self, source, stream, drop, grouping):
        try:
            grouping.drop = _c.Drop[drop.upper()]
        except KeyError:
            raise ValueError(f"drop is 'nothing', 'oldest' or 'newest', not {drop!r}") from None
        self._topology.subscribe(self._bolt, source, stream, grouping)
        return self
