#!/usr/bin/env python3
"""The power goes while a process has a store: of every folder that it may leave, each commit that was told is there. Unlike
test/store/power_test.c this sees names and folders, too: how a store is made above all.

usage: store_test.py SHIM STORE_LIFE [IMAGES]
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main():
    shim, life = (str(Path(word).resolve()) for word in sys.argv[1:3])
    count = sys.argv[3] if len(sys.argv) > 3 else "400"
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) and "TMPDIR" not in os.environ else None
    for commits in ("1", "60"):
        with tempfile.TemporaryDirectory(dir=base) as folder:
            command = [sys.executable, str(HERE / "power.py"), "--shim", shim, "--folder", folder + "/run",
                       "--images", count, f"'{life}' run {commits}", f"'{life}' check {commits} $POWER_TOLD"]
            ended = subprocess.run(command, capture_output=True, text=True)
            print(ended.stdout + ended.stderr, end="")
            assert ended.returncode == 0, f"status {ended.returncode}"
            assert int(ended.stdout.split()[2]) > 20, ended.stdout  # different folders


if __name__ == "__main__":
    main()
