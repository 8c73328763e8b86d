"""What others see of a run: the socket by which `gale ps` and `gale top` find it, and an address with the page,
REST and metrics (libgale-serve)."""

import ctypes

from . import _c, _library
from ._library import LibraryError
from .errors import check, log


class Serving:
    """Is closed before the runtime, and keeps the topology that it shows.

    url     of the page, with its token; "" without an address
    """

    def __init__(self, options, topology):
        self._options, self._server, self._topology, self.url = options, None, topology, ""
        self._shown = topology.handle
        topology._keep()

    def open(self, runtime, logger):
        """Once. Without an address, a machine that lacks libgale-serve has no `gale ps` of Python's runs, and that is
        all."""
        if self._server is not None or (self._options.hidden and not self._options.listen):
            return
        try:
            serve = _library.serve()
        except LibraryError as error:
            if self._options.listen:
                raise
            log.debug("%s", error)
            self._options.hidden = True
            return
        handle, report = ctypes.c_void_p(), _c.Error()
        check(serve.server_start(self._options, runtime, self._shown, logger and ctypes.pointer(logger), handle,
                                 report), report)
        self._server = handle.value
        self.url = serve.server_url(self._server).decode()

    def close(self, exit_code):
        """Who waits for the end has this exit code then."""
        server, self._server = self._server, None
        topology, self._topology = self._topology, None
        stopped = server is None or _library.serve().server_stop(server, exit_code)
        if stopped and topology is not None:
            topology._let_go()
