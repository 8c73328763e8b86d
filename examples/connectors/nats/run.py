#!/usr/bin/env python3
"""Starts a NATS server in a folder of its own, places orders, and has gale count them by region; gale is killed twice on the way. Then shows what was counted, and ends all.

usage: run.py [SECONDS]       5, unless told; GALE: the program, unless it is on the path
"""

import base64
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 5
GALE = os.environ.get("GALE", "gale")
NATS = shutil.which("nats-server") or shutil.which("nats-server", path="/usr/sbin")
REGIONS = ["eu", "us", "asia"]


class Client:
    """As little of NATS as is needed: publishes, and asks."""

    def __init__(self, port):
        self.file = socket.create_connection(("127.0.0.1", port), 10).makefile("rwb")
        self.file.readline()
        self.say('CONNECT {"verbose":false,"headers":true}', "SUB _INBOX.example 1")

    def say(self, *lines):
        self.file.write("".join(line + "\r\n" for line in lines).encode())
        self.file.flush()

    def ask(self, subject, body):
        body = body if isinstance(body, str) else json.dumps(body)
        self.say(f"PUB {subject} _INBOX.example {len(body)}", body)
        while True:
            words = self.file.readline().decode().split()
            if words[0] == "MSG":
                return json.loads(self.file.read(int(words[-1]) + 2))
            if words[0] == "PING":
                self.say("PONG")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def connect(port):
    for _ in range(200):
        try:
            client = Client(port)
            client.ask("$JS.API.INFO", "")
            return client
        except (OSError, IndexError):
            time.sleep(0.05)
    sys.exit("run.py: the server does not come up")


def counted(client):
    """The last total of each region."""
    found = {}
    for region in REGIONS:
        answer = client.ask("$JS.API.STREAM.MSG.GET.TOTALS", {"last_by_subj": f"totals.{region}"})
        if "message" in answer:
            found[region] = json.loads(base64.b64decode(answer["message"]["data"]))
    return found


def main():
    if not NATS:
        sys.exit("run.py: there is no NATS server: apt install nats-server")
    if subprocess.run([GALE, "plugins", "nats"], stdout=subprocess.DEVNULL, check=False).returncode != 0:
        sys.exit(1)  # it has said what lacks
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([NATS, "-js", "-a", "127.0.0.1", "-p", str(port), "-sd", f"{folder}/js", "-l", f"{folder}/log"])
        gale = None
        try:
            client = connect(port)
            for name, subjects in (("ORDERS", ["orders.>"]), ("TOTALS", ["totals.>"])):
                client.ask(f"$JS.API.STREAM.CREATE.{name}", {"name": name, "subjects": subjects, "storage": "file", "retention": "limits"})
            start = lambda: subprocess.Popen([GALE, "run", Path(__file__).with_name("topology.yaml"), "-e", "--state", f"{folder}/state"],
                                             env={**os.environ, "NATS_URL": f"nats://127.0.0.1:{port}"})
            gale = start()
            orders, began, kills = 0, time.monotonic(), [SECONDS / 3, SECONDS * 2 / 3]
            while time.monotonic() < began + SECONDS:
                region = random.choice(REGIONS)
                client.ask(f"orders.{region}.placed", {"id": orders, "cents": random.randint(100, 5000)})
                client.ask(f"orders.{region}.paid", {"id": orders})
                orders += 1
                if kills and time.monotonic() > began + kills[0]:
                    kills.pop(0)
                    gale.kill()
                    gale.wait()
                    print(f"gale was killed when {orders} orders were placed")
                    gale = start()
            for _ in range(600):
                totals = counted(client)
                if sum(total["orders"] for total in totals.values()) >= orders:
                    break
                time.sleep(0.05)
            for region, total in sorted(totals.items()):
                print(f"  {region}: {total['orders']} orders, {total['cents'] / 100:.2f}")
            print(f"{orders} orders, {sum(total['orders'] for total in totals.values())} counted")
        finally:
            for process in (gale, server):
                if process:
                    process.terminate()
                    process.wait()


if __name__ == "__main__":
    main()
