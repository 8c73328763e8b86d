"""Tuples as components see them: copies, which may be kept for as long as one likes."""

from . import _c
from ._library import gale
from .values import from_body


class Origin:
    """What all tuples of one stream of one task have in common."""

    __slots__ = ("component", "task", "stream", "fields", "indices")

    def __init__(self, address, source):
        self.component, self.stream = gale.tuple_component(address).decode(), gale.tuple_stream(address).decode()
        self.task = source
        names = [gale.tuple_field(address, index) for index in range(gale.tuple_size(address))]
        self.fields = tuple(name.decode() for name in names)
        self.indices = {name: index for index, name in enumerate(self.fields)}


class Tuple:
    """The values of a tuple, by index or by the name of a field, and what to answer it by.

    It is a copy: what is kept of it after `execute` is whole. `handle` names the delivery, which is to be answered
    once.
    """

    __slots__ = ("values", "handle", "origin")

    def __init__(self, values, handle, origin):
        self.values, self.handle, self.origin = values, handle, origin

    def __getitem__(self, key):
        if type(key) is str:
            try:
                return self.values[self.origin.indices[key]]
            except KeyError:
                has = ", ".join(self.fields)
                raise KeyError(f"'{self.component}' has no field '{key}' in '{self.stream}': it has {has}") from None
        return self.values[key]

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)

    def __repr__(self):
        pairs = ", ".join(f"{name}={value!r}" for name, value in zip(self.fields, self.values))
        return f"<{self.component}:{self.stream} {pairs}>"

    @property
    def component(self):
        return self.origin.component

    @property
    def task(self):
        """Who emitted it; 0: the system."""
        return self.origin.task

    @property
    def stream(self):
        return self.origin.stream

    @property
    def fields(self):
        return self.origin.fields

    @property
    def is_tick(self):
        return self.origin.stream == "__tick" and self.origin.component == "__system"


class Reader:
    """Copies the tuples of one task. Where they are from is asked once for each stream of each task."""

    __slots__ = ("_origins", "_address", "_view")

    def __init__(self):
        self._origins, self._address, self._view = {}, 0, None

    def read(self, address):
        if address != self._address:
            self._address, self._view = address, _c.Tuple.from_address(address)
        view = self._view
        key = (view.schema, view.source, view.stream)
        origin = self._origins.get(key)
        if origin is None:
            origin = self._origins[key] = Origin(address, view.source)
        return Tuple(from_body(view.body, len(origin.fields)), view.handle, origin)
