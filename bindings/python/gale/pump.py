"""A thread that takes rows from an iterator, which may block, for a spout, which must not.

The rows wait until the spout asks. A row goes out as soon as it is yielded, and many at once where there are many. The
thread takes no more than the spout can emit, so that what was yielded is emitted also when the run drains.
"""

import os
import threading

from .errors import describe
from .rows import Rows, encoded
from .values import Encoder

AHEAD = 256  # rows that an iterator is ahead of its spout, at most
PATIENCE = 0.5  # seconds that the end of a spout waits for an iterator that blocks


class Pump:
    """make    returns what is to be gone through; called on the thread, which it is then used on
    out     the spout's Collector

    fd      readable when there is something to take, behind a `take` that returned nothing
    ended   there are no more rows: `raised` is None, or the text of what ended the iterator; `escaped` is None, or
            what is to end the program
    lost    rows that were yielded and not taken; known when it is closed
    """

    def __init__(self, make, out):
        self._make, self._out, self._lock, self._made = make, out, threading.Condition(), threading.Event()
        self._width = len(out.outputs.get("default", ()))
        self._full, self._filling, self._spare = [], Rows(self._width, AHEAD), None
        self._wanted, self._awaited, self._parked, self._closed, self._refused = 0, False, False, False, None
        self.ended, self.raised, self.escaped, self.lost = False, None, None, 0
        self.fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._thread = threading.Thread(target=self._run, name=f"gale {out.component}", daemon=True)
        self._thread.start()
        self._made.wait()
        if self._refused is not None:
            os.close(self.fd)
            raise self._refused

    # --- The spout's side

    def take(self):
        """A list of Rows: all that are there."""
        with self._lock:
            taken, self._full = self._full, []
            if self._filling.count:
                taken.append(self._filling)
                self._filling, self._spare = self._spare or Rows(self._width, AHEAD), None
            if not taken and not self.ended:
                self._await()
            return taken

    def give_back(self, rows):
        """They have been emitted."""
        with self._lock:
            rows.clear()
            self._spare = rows

    def want(self, most):
        """So many rows may be there when the spout asks again."""
        with self._lock:
            self._wanted = most - self._count()
            self._lock.notify_all()

    def park(self):
        """No more rows but the one that is in the making, which is waited for, but not for one that blocks."""
        with self._lock:
            self._wanted = 0
            self._lock.wait_for(lambda: self._parked or self.ended, PATIENCE)

    def close(self):
        """Ends it. Waits for the iterator to be closed, if it is parked."""
        with self._lock:
            self._closed = True
            patience = PATIENCE if self._parked or self.ended else 0
            self._lock.notify_all()
        self._thread.join(patience)
        with self._lock:
            self.lost += self._count()
            os.close(self.fd)
            self.fd = None

    def _count(self):
        return self._filling.count + sum(rows.count for rows in self._full)

    def _await(self):
        try:
            os.eventfd_read(self.fd)
        except BlockingIOError:
            pass
        self._awaited = True

    # --- The thread's

    def _run(self):
        try:
            rows = iter(self._make())
        except BaseException as error:
            self._refused = error
            return
        finally:
            self._made.set()
        raised = escaped = None
        try:
            self._go_through(rows)
            if hasattr(rows, "close"):
                rows.close()
        except Exception as error:
            raised = describe(error, getattr(rows, "gi_frame", None))  # what it yielded may be no row
        except BaseException as error:
            escaped = error
        self._end(raised, escaped)

    def _go_through(self, rows):
        if not self._may_go_on():
            return
        for row in rows:
            if not self._put(row):
                return

    def _may_go_on(self):
        with self._lock:
            return self._wait()

    def _wait(self):
        while self._wanted <= 0 and not self._closed:
            if not self._parked:
                self._parked = True
                self._lock.notify_all()
            self._lock.wait()
        self._parked = False
        return not self._closed

    def _put(self, row):
        """False: it is closed."""
        if type(row) is not list or len(row) != self._width:
            row = self._out.check_row(row)
        with self._lock:
            self._wanted -= 1
            if self._closed:
                self.lost += 1
                return False
            self._add(row)
            self._tell()
            return self._wanted > 0 or self._wait()

    def _add(self, row):
        try:
            if not self._filling.add(row):
                self._full.append(self._filling)
                self._filling = Rows(self._width, AHEAD)
                self._filling.add(row)
        except (TypeError, ValueError, OverflowError):
            encoded(Encoder(), row, self._out.component, self._out.outputs["default"])  # names the field
            raise

    def _tell(self):
        if self._awaited and self.fd is not None:
            self._awaited = False
            os.eventfd_write(self.fd, 1)

    def _end(self, raised, escaped):
        with self._lock:
            self.ended, self.raised, self.escaped = True, raised, escaped
            self._tell()
            self._lock.notify_all()
