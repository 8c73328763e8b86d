"""Whether a test notices a mutation. The likeliest first: the test of the module, then its floor's, then whatever else
comes by the mutation, each shortest first. A catch counts when the same test passes right afterwards without the
mutation; that it hung, when it was given several times as long as it took then."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

# What comes by the engine and the maps in earnest; the long ones are shortened, by their last argument.
WANTED = re.compile(r"(ds|trees|engine|runtime)/|kit/(count|dedupe|unique|rolling_count)|connect/file/(spout|sink|resume)|"
                    r"front/dead_letter_file|system/(simulate|random_threads)$")
SHORTENED = {"system/simulate": "100", "system/random_threads": "40"}
LEAST, TIMES = 10, 5  # a test hangs when it takes so many seconds more than so many times its usual
MEGABYTES = 4096


@dataclass
class Test:
    name: str
    command: list
    directory: str
    environment: dict = field(default_factory=dict)
    usual: float = 0.0  # seconds that it takes without a mutation
    reached: set = field(default_factory=set)  # the mutations that it comes by


@dataclass
class Verdict:
    caught_by: str | None = None  # the test
    how: str = ""
    came_by: int = 0  # tests
    reason: str = ""  # why it is equivalent

    def is_open(self):
        return not self.caught_by and not self.reason

    def __str__(self):
        return f"{self.how} {self.caught_by}:" if self.caught_by else f"SURVIVED {self.came_by} tests:"


class Suite:
    """The tests, built with the mutations in a preset's directory."""

    def __init__(self, build, sanitized):
        self.build = build
        self.sanitized = sanitized
        listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, check=True)
        entries = json.loads(listing.stdout)["tests"]
        self.tests = [test_of(entry, build) for entry in entries if WANTED.match(entry["name"]) and "command" in entry]

    def measure(self, test):
        """Runs it without a mutation: how long it takes, and what it comes by. Who fails so is of no use."""
        directory = Path(tempfile.mkdtemp(prefix="reached-", dir=self.build))
        began = time.monotonic()
        ended = self.run(test, 1200, reached=directory)
        test.usual = time.monotonic() - began
        if ended:
            print(f"mutate: {test.name} {ended} without a mutation: left out", file=sys.stderr)
        for path in () if ended else directory.iterdir():
            test.reached |= {number for number, mark in enumerate(path.read_bytes()) if mark == ord("1") and number}
        shutil.rmtree(directory)

    def in_order(self, number, site):
        """The tests that come by a mutation, likeliest killer first."""
        floor, module = site.file.removeprefix("src/").rsplit(".", 1)[0].split("/", 1)
        own = f"{floor}/{module}"
        return sorted((test for test in self.tests if number in test.reached),
                      key=lambda test: (test.name != own, not test.name.startswith(floor + "/"), test.usual))

    def judge(self, number, site):
        tests = self.in_order(number, site)
        for test in tests:
            how = self.noticed(test, number)
            if how:
                return Verdict(test.name, how + (", sanitized" if self.sanitized else ""), came_by=len(tests))
        return Verdict(came_by=len(tests))

    def noticed(self, test, number):
        """How a test notices a mutation, "" when it does not."""
        seconds = LEAST + TIMES * test.usual
        how = self.run(test, seconds, mutation=number)
        if not how:
            return ""
        began = time.monotonic()
        if self.run(test, seconds):
            return ""  # it fails as it is: another's doing
        now = time.monotonic() - began
        if how == "hung" and seconds < TIMES * now:  # the machine is busy
            how = self.run(test, LEAST + TIMES * now, mutation=number)
        return how

    def run(self, test, seconds, mutation=0, reached=None):
        """How a test ended: "" (well), "failed", "died" or "hung"."""
        directory = tempfile.mkdtemp(prefix="mutate-")
        environment = {**os.environ, **test.environment, "GX_MUTATION": str(mutation), "TMPDIR": directory,
                       "ASAN_OPTIONS": f"hard_rss_limit_mb={MEGABYTES}"}
        if reached:
            environment["GX_MUTATION_REACHED"] = str(reached)
        child = subprocess.Popen(test.command, cwd=test.directory, env=environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                 preexec_fn=self.limit)
        try:
            status = child.wait(seconds)
            return "" if status == 0 else "died" if status < 0 else "failed"
        except subprocess.TimeoutExpired:
            return "hung"
        finally:
            end(child)
            shutil.rmtree(directory, ignore_errors=True)

    def limit(self):
        """A mutation may write, or allocate, without end; sanitizers want address space, and look at memory."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if not self.sanitized:
            resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20, MEGABYTES << 20))


def test_of(entry, build):
    properties = {item["name"]: item["value"] for item in entry.get("properties", ())}
    environment = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", ()))
    *command, last = entry["command"]
    command.append(SHORTENED.get(entry["name"], last))
    return Test(entry["name"], command, properties.get("WORKING_DIRECTORY", str(build)), environment)


def end(child):
    """It, and what it has started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
