"""Running a topology in this process."""

import contextlib
import ctypes
import math
import signal
import threading
import weakref

from . import _c, _library, stats
from ._library import gale
from .errors import FailedForGood, GaleError, check
from .errors import log as gales_log
from .figures import Figures
from .logs import flush, logger_of
from .serving import Serving
from .signals import Terminations, held_back, slices, terminations
from .texts import c_text, c_texts
from .unclosed import free_unclosed


def _open_store(folder, topology):
    store, report = _c.Store(), _c.Error()
    options = _c.StoreOptions(folder=c_text(folder), topology=c_text(topology.name), create=True)
    check(_library.store().store_open(options, store, report), report)
    return store


class Runtime(Figures):
    """Runs a topology: on threads of its own (start, run), or on the caller's (step, fileno), which gale.aio does
    inside asyncio.

        with gale.Runtime(topology, until_drained=True) as runtime:
            runtime.run()

    executors      threads that run components. Python's share one interpreter: more of them help what is not Python
    until_drained  it ends by itself when every spout is DONE and all is answered
    inactive       nothing is opened before activate()
    seed           the same seed draws the same random numbers
    log            a logging.Logger (of its own accord "gale": where nothing is configured, warnings go to the standard
                   error); or "info" and the like: lines on the standard error; None: silence
    state          a folder: the run is durable, and goes on from where the last one ended (libgale-store)
    checkpoint     seconds between two checkpoints of a durable run
    adopt          what a checkpoint is gone on from that the topology no longer fits: "OLD=NEW", "*"
    end_within     seconds that the end after Ctrl-C or SIGTERM may take, in run(): then what is still open fails
    listen         an address for the page, REST and metrics, as `gale run --listen` has it: "127.0.0.1:8080", or "" for
                   a free one; `url` says which (libgale-serve)
    listen_token_file, listen_certificate, listen_key: files, as the options of `gale run`
    hidden         `gale ps`, `gale top` and their kin do not see the run; nor do they see one that is stepped without
                   `listen`
    blocking       components that block (gale.blocking) may run on the caller's thread
    queue_limit, ring_memory, state_memory: bytes, as in gale_runtime_options
    """

    def __init__(self, topology, *, executors=1, until_drained=False, inactive=False, seed=0, log=gales_log,
                 state=None, checkpoint=0, adopt=(), queue_limit=0, ring_memory=0, state_memory=0, blocking=False,
                 end_within=10, listen=None, listen_token_file=None, listen_certificate=None, listen_key=None,
                 hidden=False):
        self._logger, self._users, self._lock = logger_of(log), {}, threading.Condition()
        self._topology, self._closing, self._end_within = topology, False, end_within
        topology.crew.threaded, topology.crew.timed = False, True
        adopted, adopt_count = c_texts(adopt)
        store = None if state is None else _open_store(state, topology)
        options = _c.RuntimeOptions(
            executors=executors, until_drained=until_drained, inactive=inactive, seed=seed, queue_limit=queue_limit,
            ring_memory=ring_memory, state_memory=state_memory, inline_blocking=blocking, adopt=adopted,
            adopt_count=adopt_count, checkpoint_interval=round(checkpoint * _c.SECOND),
            logger=self._logger and ctypes.pointer(self._logger), store=store and ctypes.pointer(store))
        handle, report = ctypes.c_void_p(), _c.Error()
        code = gale.runtime_new(topology.handle, options, handle, report)
        if code < 0 and store is not None:
            store.close(store.self)
        check(code, report)
        self._handle, self._store, self._exit_code, self._losses = handle.value, store, 0, None
        self._serving = Serving(_c.ServerOptions(
            hidden=hidden, listen=c_text(listen), token_file=c_text(listen_token_file),
            certificate=c_text(listen_certificate), key=c_text(listen_key)), topology)
        self._free = weakref.finalize(self, free_unclosed, self._handle, store, self._logger, topology, self._serving)
        if listen is not None:
            self._serve()

    def _serve(self):
        self._serving.open(self._handle, self._logger)

    @property
    def url(self):
        """Of the page, with its token; "" without `listen`."""
        return self._serving.url

    # --- Running

    def start(self):
        """Starts the threads, and waits until every task is open. What one of them raised there is raised here."""
        report = _c.Error()
        self._topology.crew.threaded = True
        with self._using() as runtime:
            self._serve()
            code = gale.runtime_start(runtime, report)
        self._done(code, report)

    def run(self):
        """Starts, and waits for the end. Ctrl-C and SIGTERM drain the topology, or suspend a durable run, which goes
        on with the next one; `end_within` or a second one stops it. Behind that KeyboardInterrupt is raised, or
        SystemExit: 0 when it was drained or suspended, 1 when something failed for good, 143 when it was stopped.
        SIGTERM is left alone outside of the main thread, and where the program has a handler for it. FailedForGood is
        raised at any other end where something did."""
        with terminations() as asked:
            self.start()
            try:
                ended = self._wait(None, asked) or self._end_in_order(asked)
            except KeyboardInterrupt:
                self._end_in_order(asked)
                raise
        if asked.count:
            self._exit_code = int(self._losses is not None) if ended else 128 + signal.SIGTERM
            raise SystemExit(self._exit_code)
        self._look_for_losses()

    def _end_in_order(self, asked):
        """Has it drained, or been suspended where it is durable, as the next run goes on from there? Else it was
        stopped. Whom the end waits for is in the log."""
        with contextlib.suppress(KeyboardInterrupt):
            (self.drain if self._store is None else self.suspend)()
            if self._drains(asked):
                return True
        self.stop()
        self._wait(None, Terminations())
        return False

    def _drains(self, asked):
        """Has it ended in time, and without another SIGTERM?"""
        try:
            return self._wait(self._end_within, asked)
        except GaleError as error:
            if error.code != _c.ErrorCode.TIMED_OUT:
                raise
            return False

    def wait(self, timeout=None):
        """Until it is closed, at most so many seconds (then a GaleError, TIMED_OUT). What a component ended it with is
        raised, and FailedForGood where something failed for good."""
        self._wait(timeout, Terminations())
        self._look_for_losses()

    def _look_for_losses(self):
        if self._losses is not None:
            self._exit_code = 1
            raise FailedForGood(self._losses)

    def _wait(self, timeout, asked):
        """False: SIGTERM came."""
        report = _c.Error()
        with self._using() as runtime:
            for nanoseconds, last in slices(timeout):
                code = gale.runtime_wait(runtime, nanoseconds, report)
                flush(self._logger)
                if code != _c.ErrorCode.TIMED_OUT or last:
                    break
                if asked.is_new():
                    return False
            if code >= 0 and gale.runtime_lost(runtime):
                self._losses = stats.of_run(runtime)
        self._done(code, report)
        return True

    def step(self, seconds=0.001):
        """Runs components on this thread until nothing is left to do, for about so long at the most. Returns how many
        seconds may be waited then for fileno() to be readable: 0.0, there is more to do; math.inf, only that will tell;
        None: it is closed."""
        self._topology.crew.come_here()
        with held_back(), self._using() as runtime:
            pause = gale.runtime_step_for(runtime, round(seconds * _c.SECOND))
            flush(self._logger)
        if pause == _c.ErrorCode.STOPPED:
            self.wait(0)
            return None
        self._done(min(pause, 0))
        return math.inf if pause == _c.FOREVER else pause / _c.SECOND

    def fileno(self):
        """A descriptor that is readable when a step has something to do before its time."""
        with self._using() as runtime:
            return check(gale.runtime_fd(runtime))

    def drain(self):
        """Spouts stop, bolts finish when all is answered, and it is closed. Returns at once, as those below do."""
        self._tell(gale.runtime_drain)

    def stop(self):
        """It is closed as soon as the calls in execution return; open trees fail."""
        self._tell(gale.runtime_stop)

    def suspend(self):
        """A checkpoint, and when it lasts it stops."""
        self._tell(gale.runtime_suspend)

    def deactivate(self):
        """Spouts stop emitting."""
        self._tell(gale.runtime_deactivate)

    def activate(self):
        """Spouts go on, or are opened at last."""
        self._tell(gale.runtime_activate)

    def commit(self):
        """Makes the checkpoint that was cut last, for who calls step. False: there was none."""
        report = _c.Error()
        with self._using() as runtime:
            return check(gale.runtime_commit(runtime, report), report) == 1

    def checkpoint(self, timeout=None):
        """Asks for a checkpoint and waits until it lasts. Returns its number."""
        number = ctypes.c_uint64()
        with self._using() as runtime:
            check(gale.runtime_checkpoint(runtime, -1 if timeout is None else round(timeout * _c.SECOND), number))
        return number.value

    # --- Its end

    def close(self, timeout=None):
        """Stops it, waits for the calls in execution (at most so many seconds: then a GaleError names the component,
        and this can be called again), and frees it. Not from inside a component."""
        with self._lock:
            if not self._free.alive:
                return
            self._begin_closing()
        try:
            self._let_go(timeout)
            self._serving.close(self._exit_code)
            self._end(timeout)
        finally:
            self._closing = False

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    # --- Whoever calls C with the runtime is counted, so that it is not freed meanwhile

    @contextlib.contextmanager
    def _using(self):
        here = threading.get_ident()
        with self._lock:
            if self._closing or not self._free.alive:
                raise GaleError(_c.ErrorCode.STATE, "the runtime is closed")
            self._users[here] = self._users.get(here, 0) + 1
        try:
            yield self._handle
        finally:
            with self._lock:
                self._users[here] -= 1
                if not self._users[here]:
                    del self._users[here]
                self._lock.notify_all()

    def _begin_closing(self):
        """Nobody begins a call from now on. open_trees is refused inside of a component, and with no room does nothing
        else."""
        tree = _c.OpenTree(size=ctypes.sizeof(_c.OpenTree))
        if self._closing:
            raise GaleError(_c.ErrorCode.STATE, "the runtime is being closed")
        if gale.runtime_open_trees(self._handle, tree, 0, 0) == _c.ErrorCode.STATE:
            raise GaleError(_c.ErrorCode.STATE, "a component cannot close the runtime that is calling it")
        self._closing = True

    def _let_go(self, timeout):
        """The stop lets those go that wait."""
        here = threading.get_ident()
        gale.runtime_stop(self._handle)
        with self._lock:
            if not self._lock.wait_for(lambda: not self._users.keys() - {here}, timeout):
                raise GaleError(_c.ErrorCode.TIMED_OUT, "another thread is still in a call of this runtime")

    def _end(self, timeout):
        report = _c.Error()
        for nanoseconds, last in slices(timeout):
            with held_back():
                code = gale.runtime_free(self._handle, nanoseconds, report)
                if code >= 0:
                    self._free.detach()
                    flush(self._logger, all=True)
                    if self._store is not None:
                        self._store.close(self._store.self)
                    return
            if code != _c.ErrorCode.TIMED_OUT or last:
                check(code, report)

    def _tell(self, function):
        with self._using() as runtime:
            function(runtime)

    def _done(self, code, report=None):
        """What a component let escape ends the program; else what C says."""
        if code < 0 and code not in (_c.ErrorCode.TIMED_OUT, _c.ErrorCode.STATE):
            self._exit_code = 1
        self._topology.crew.raise_escaped()
        check(code, report)
