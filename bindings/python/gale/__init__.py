"""gale: Apache Storm's processing model, in this process.

Spouts and bolts in Python, run by libgale. docs/python.md begins at the beginning.
"""

from . import aio, testing
from ._c import ErrorCode, Phase, Place, Reason, WatchEvent
from ._library import VERSION, LibraryError
from ._library import gale as _gale
from .components import DONE, WATCHED, BasicBolt, Bolt, Failure, Readable, Spout, Until, bolt, spout
from .errors import FailedForGood, GaleError, NotNow
from .runtime import Runtime
from .topology import Topology
from .tuples import Tuple

__all__ = ["DONE", "WATCHED", "BasicBolt", "Bolt", "ErrorCode", "FailedForGood", "Failure", "GaleError",
           "LibraryError", "NotNow", "Phase", "Place", "Readable", "Reason", "Runtime", "Spout",
           "Topology", "Tuple", "Until", "WatchEvent", "aio", "bolt", "spout", "testing", "version"]

__version__ = VERSION


def version():
    """Of libgale: "0.1.0"."""
    return _gale.version().decode()
