"""What the components of one topology share."""

import threading


class Crew:
    """escaped   what is to end the program and not a tuple (KeyboardInterrupt, SystemExit), for who runs the topology
    tasks     those that are open
    threaded  what runs them has threads of its own
    timed     time passes while they are called: it does not in a test, which does the same again
    """

    def __init__(self):
        self.escaped, self.tasks, self.threaded, self.timed, self._stepped = [], set(), False, False, None

    def come_here(self):
        """Who steps a runtime may do it from one thread now and from another one then."""
        here = threading.get_ident()
        if here != self._stepped:
            self._stepped = here
            for task in self.tasks:
                task.collector.thread = here

    def raise_escaped(self):
        if self.escaped:
            raise self.escaped.pop()
