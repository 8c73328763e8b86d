#!/usr/bin/env python3
"""Word count of a seeded text equals what tr, sort and uniq say, on one, two and four executors; memory stays small.

usage: word_count_test.py GALE SOURCE MEGABYTES
"""

import json
import os
import subprocess
import sys
import tempfile

MEMORY_MAX = 100 << 20


def reference(text, path):
    command = ("LC_ALL=C tr -s '[:space:]' '\\n' < '%s' | LC_ALL=C grep -a . | LC_ALL=C sort | LC_ALL=C uniq -c | "
               "LC_ALL=C awk '{ print $2 \"\\t\" $1 }' | LC_ALL=C sed 's/\\\\/\\\\\\\\/g' | LC_ALL=C sort > '%s'" % (text, path))
    subprocess.run(command, shell=True, check=True)


def sorted_lines(path):
    return subprocess.run(["sort", path], env=dict(os.environ, LC_ALL="C"), capture_output=True, check=True).stdout


def count(gale, source, text, output, executors):
    """The summary of a run, and its peak memory in bytes."""
    command = [gale, "run", source + "/examples/word-count/topology.yaml", "--input", text, "--output", output,
               "--until-drained", "-j", str(executors), "--json"]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit("exit code %d on %d executors" % (os.waitstatus_to_exitcode(status), executors))
        out.seek(0)
        return json.load(out), usage.ru_maxrss * 1024


def check(summary, peak, executors, sanitized):
    if summary["open"] or summary["acked"] != summary["trees"]:
        sys.exit("on %d executors not every tree was acked: %s" % (executors, summary))
    if peak > MEMORY_MAX and not sanitized:
        sys.exit("on %d executors the peak memory was %d MB" % (executors, peak >> 20))
    print("%d executors: counts equal, %d trees acked, %d MB at the most" % (executors, summary["acked"], peak >> 20))


def main():
    gale, source, megabytes = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        text, wanted = folder + "/text", folder + "/wanted"
        with open(text, "wb") as file:
            subprocess.run([sys.executable, source + "/test/model/make_text.py", megabytes], stdout=file, check=True)
        reference(text, wanted)
        with open(wanted, "rb") as file:
            want = file.read()
        for executors in (1, 2, 4):
            got = folder + "/got%d" % executors
            summary, peak = count(gale, source, text, got, executors)
            if sorted_lines(got) != want:
                sys.exit("on %d executors the counts differ" % executors)
            check(summary, peak, executors, sanitized=int(megabytes) < 100)


if __name__ == "__main__":
    main()
