"""What the tests of the Python package share: components, and running a topology."""

import collections
import contextlib
import threading

import gale

SECONDS = 120  # nothing takes as long; what does has hung


class Numbers(gale.Spout):
    """The numbers below `count`, each tracked under itself; one that fails comes again. Remembers what it hears, of all
    tasks."""
    outputs = ["number"]

    def __init__(self, count, heard, again=True):
        self.left, self.heard, self.again = collections.deque(range(count)), heard, again

    def next(self):
        if not self.left:
            return gale.DONE
        number = self.left.popleft()
        self.out.emit([number], id=number)

    def ack(self, id):
        self.heard.acked.append(id)

    def fail(self, id, failure):
        self.heard.failed.append((id, failure))
        if self.again:
            self.left.append(id)


class Heard:
    def __init__(self):
        self.acked, self.failed = [], []

    def reasons(self):
        return [(id, failure.reason, failure.text) for id, failure in self.failed]


class Taken(gale.BasicBolt):
    """Keeps what comes in a list that the test has."""

    def __init__(self, taken):
        self.taken = taken

    def execute(self, tuple):
        self.taken.append(list(tuple))


class Idle(gale.BasicBolt):
    """Acks what comes."""

    def execute(self, tuple):
        pass


def numbers_to(bolt, count=20, again=True, grouping="shuffle_grouping", **options):
    """A topology of Numbers and one bolt, and what the spout heard."""
    heard, topology = Heard(), gale.Topology("numbers")
    topology.add_spout("numbers", Numbers, arguments={"count": count, "heard": heard, "again": again})
    getattr(topology.add_bolt("bolt", bolt, **options), grouping)("numbers")
    return topology, heard


def run(topology, log=None, **options):
    """Until it has drained, without a word if `log` is not said; returns the figures, whatever failed."""
    with topology, gale.Runtime(topology, until_drained=True, log=log, **options) as runtime:
        runtime.start()
        wait(runtime)
        return runtime.stats()


def wait(runtime):
    """Until it is closed. What failed for good is for the test to look at."""
    with contextlib.suppress(gale.FailedForGood):
        runtime.wait(SECONDS)


def wait_for(condition):
    """Until it is true."""
    done = threading.Event()
    for _ in range(SECONDS * 100):
        if condition():
            return
        done.wait(0.01)
    raise AssertionError("it did not happen")
