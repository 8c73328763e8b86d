#!/usr/bin/env python3
"""What script/connectors found, as a table: from the file that ctest writes.

usage: results.py RESULTS.xml...
"""

import datetime
import os
import subprocess
import sys
import xml.etree.ElementTree as tree


def said(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def result(test):
    return {"run": "passed", "fail": "failed", "notrun": "skipped", "disabled": "skipped"}.get(test.get("status"), test.get("status"))


def main():
    found = {test.get("name"): test for path in sys.argv[1:] for test in tree.parse(path).getroot().iter("testcase")}
    tests = [found[name] for name in sorted(found)]
    packages = ("postgresql", "redis-server", "rabbitmq-server", "mosquitto", "nats-server")
    versions = [f"{name} {said('dpkg-query', '-W', '-f=${Version}', name)}" for name in packages if said("dpkg-query", "-W", "-f=${Version}", name)]
    print("# What script/connectors found\n")
    print(f"{datetime.date.today()}, {said('git', 'rev-parse', '--short', 'HEAD')}, {os.cpu_count()} cores, GALE_TEST_FAULTS={os.environ.get('GALE_TEST_FAULTS', '1')}, "
          f"Kafka's broker by Maven, {', '.join(versions)}.\n")
    print("| test | seconds | |\n| --- | --- | --- |")
    for test in tests:
        print(f"| `{test.get('name')}` | {float(test.get('time')):.0f} | {result(test)} |")


main()
