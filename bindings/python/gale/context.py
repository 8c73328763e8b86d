"""What a task knows of itself."""

import ctypes

from . import _c
from ._library import gale
from .errors import GaleError
from .values import from_value, memory


def _config(address):
    config, key, value = {}, _c.Str(), _c.Value()
    for index in range(gale.config_size(address)):
        gale.config_at(address, index, key, ctypes.addressof(value))
        config[memory[key.data:key.data + key.size].decode()] = from_value(ctypes.addressof(value))
    return config


class Context:
    """topology, component      their names
    task                     its number, from 1 in Storm's order
    task_index, task_count   which of the component's tasks it is, from 0, and how many they are
    config                   what is set of the topology's keys, overlaid by the component's: a dict
    rate                     tuples a second that a spout's task is to emit at the most, as it is now; 0: no bound
    durable, resumes         checkpoints are made; and the run goes on from one
    threaded                 the run has threads of its own (Runtime.start, run); else its caller, or a test, steps it
    """

    def __init__(self, address, threaded):
        from_c = _c.Context.from_address(address)
        self._address, self.threaded = address, threaded
        self.topology, self.component = from_c.topology.decode(), from_c.component.decode()
        self.task, self.task_index, self.task_count = from_c.task, from_c.task_index, from_c.task_count
        self.config, self.durable, self.resumes = _config(from_c.config), from_c.durable, from_c.resumes

    @property
    def rate(self):
        return _c.Context.from_address(self._here()).rate

    def _here(self):
        if self._address is None:
            raise GaleError(_c.ErrorCode.STATE, f"this task of '{self.component}' has ended")
        return self._address

    def end(self):
        """What it tells of stays; what it asks C for is gone."""
        self._address = None

    def now(self):
        """The runtime's clock in seconds. Virtual in tests: to be used instead of the machine's."""
        return gale.context_now(self._here()) / _c.SECOND

    def random(self):
        """64 random bits, the same again in a run with the same seed."""
        return gale.context_random(self._here())
