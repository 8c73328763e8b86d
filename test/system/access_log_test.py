#!/usr/bin/env python3
"""The operator's example: a log that grows and is rotated by rename is followed by a durable run that is killed again and
again, and what it says is what awk finds in the same log.

usage: access_log_test.py GALE SOURCE [KILLS [LINES]]
"""

import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RESULTS = ("top.json", "failures.tsv", "alerts.txt")


class Job:
    def __init__(self, gale, folder):
        self.gale, self.folder, self.process = gale, folder, None

    def start(self):
        self.process = subprocess.Popen([self.gale, "run", "topology.yaml", "--state", "state", "-q"], cwd=self.folder,
                                        stderr=subprocess.PIPE, text=True)

    def mark(self):
        mark = self.folder / "state" / "commit"
        return mark.read_bytes() if mark.exists() else b""

    def goes_on(self):
        if self.process.poll() is not None:
            sys.exit(f"it has ended: {self.process.stderr.read()}")
        time.sleep(0.01)

    def wait_for_checkpoints(self, count):
        for _ in range(count):
            before = self.mark()
            while self.mark() == before:
                self.goes_on()

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def wait_for_the_end(self, expected):
        """Every window is told, or more than that is."""
        while any(len(self.told(name)) < len(expected[name]) for name in RESULTS):
            self.goes_on()
        self.wait_for_checkpoints(2)
        self.process.send_signal(signal.SIGTERM)
        err = self.process.communicate()[1]
        assert self.process.returncode == 0, (self.process.returncode, err)

    def told(self, name):
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []


def expect(folder, source):
    logs = sorted(folder.glob("access.log.*"), key=lambda path: int(path.suffix[1:])) + [folder / "access.log"]
    subprocess.run(["awk", "-f", str(source / "check.awk"), *map(str, logs)], cwd=folder, check=True)
    return {name: (folder / f"expected-{name}").read_text().splitlines() for name in RESULTS}


def main():
    gale, source = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve() / "examples" / "access-log"
    kills = int(sys.argv[3]) if len(sys.argv) > 3 else 6
    lines = int(sys.argv[4]) if len(sys.argv) > 4 else 150000
    seed = random.randrange(1 << 32)
    drawn = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        shutil.copy(source / "topology.yaml", folder)
        server = subprocess.Popen([sys.executable, str(source / "server.py"), "access.log", "--lines", str(lines), "--rate", "20000",
                                   "--rotate", str(lines // 6 + 11), "--seed", str(seed)], cwd=folder)
        job = Job(str(gale), folder)
        for life in range(kills):
            job.start()
            job.wait_for_checkpoints(1 + life % 2)
            time.sleep(drawn.uniform(0, 0.3))
            job.kill()
        assert server.wait() == 0
        expected = expect(folder, source)
        job.start()
        job.wait_for_the_end(expected)
        for name in RESULTS:
            assert expected[name], f"{name}: nothing is to be said"
            assert sorted(job.told(name)) == sorted(expected[name]), (
                f"seed {seed}, {name}: not wanted: {sorted(set(job.told(name)) - set(expected[name]))[:3]}, "
                f"not there: {sorted(set(expected[name]) - set(job.told(name)))[:3]}")
    print(f"{lines} lines, {kills} kills: {', '.join(f'{len(expected[name])} lines in {name}' for name in RESULTS)}")


if __name__ == "__main__":
    main()
