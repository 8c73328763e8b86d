#!/usr/bin/env python3
"""What it costs to read a million messages of a real broker: gale, each acked, beside a plain loop in Java and, where there is Go, beside benthos, the engine of Redpanda
Connect. By hand, on a machine with nothing else to do.

usage: rates.py GALE PLUGINS CLUSTER JARS [COUNT]
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COUNT = int(sys.argv[5]) if len(sys.argv) > 5 else 1_000_000
del sys.argv[5:]
from broker_test import Broker, Cluster, JARS

GALE, PLUGINS = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
READ = """
name: read
config: {{topology.message.timeout.secs: 60}}
spouts:
  - id: messages
    className: gale.spout.Kafka
    properties: [{{name: brokers, value: "{brokers}"}}, {{name: topics, value: [in]}}, {{name: group, value: {group}}}, {{name: untilEnd, value: true}}]
bolts:
  - {{id: none, className: gale.bolt.Null}}
streams:
  - {{from: messages, to: none, grouping: {{type: SHUFFLE}}}}
"""


def run(command, folder):
    """Seconds of the clock and of the processor, and kilobytes at the most."""
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, "GALE_PLUGIN_PATH": PLUGINS}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, command
    return time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss


def make_benthos(folder):
    if not shutil.which("go"):
        return None
    subprocess.run(["go", "build", "-o", folder / "benthos", "."], cwd=Path(__file__).parent / "benthos", check=True)
    return folder / "benthos"


def main():
    folder = Path(tempfile.mkdtemp())
    broker = Broker()
    brokers = f"127.0.0.1:{broker.port}"
    cluster = Cluster(brokers)
    cluster.ask("topic", "in", 4)
    cluster.ask("produce", "in", 0, COUNT)
    subprocess.run(["javac", "-cp", f"{JARS}/*", "-d", folder, Path(__file__).parent / "broker" / "Consume.java"], check=True)
    benthos = make_benthos(folder)
    print(f"{COUNT:,} messages   seconds   of the processor    kB at most")
    for turn in range(3):
        (folder / "t.yaml").write_text(READ.format(brokers=brokers, group=f"gale-{turn}"))
        print("gale                %8.2f %12.2f %14d" % run([GALE, "run", "t.yaml"], folder))
        print("a loop in Java      %8.2f %12.2f %14d" % run(["java", "-cp", f"{folder}:{JARS}/*", "Consume", brokers, "in", f"java-{turn}", str(COUNT)], folder))
        if benthos:
            print("benthos             %8.2f %12.2f %14d" % run([benthos, brokers, "in", f"benthos-{turn}", str(COUNT)], folder))
    broker.end()


if __name__ == "__main__":
    main()
