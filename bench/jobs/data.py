#!/usr/bin/env python3
"""Makes the inputs of `script/bench jobs`: requests of a web server, the same ones as JSON, CSV, logfmt and an access log; and two texts.

usage: data.py FOLDER MEGABYTES          (of JSON; the others have as many requests)"""

import itertools
import json
import os
import random
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JSON_BYTES = 256  # a request, about
BEGIN, RATE = 1789000000.0, 800  # seconds, requests a second
AGENTS = ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36",
          "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
          "curl/8.5.0", "python-requests/2.32", "Go-http-client/1.1"]
PLACES = ["api", "v1", "v2", "users", "orders", "items", "cart", "search", "login", "static", "img", "css", "blog", "help"]
STATUS = [200] * 8 + [301, 304, 304, 404, 404, 403, 500, 502, 503]
FILES = ("requests.json", "requests.csv", "requests.kv", "access.log", "words.txt", "keys.txt")


def make_path(rng):
    path = "/" + "/".join(rng.choices(PLACES, k=rng.randint(1, 3)))
    return path + f"/{rng.randint(1, 9999)}" if rng.random() < 0.6 else path


def requests(rng, count):
    paths = [make_path(rng) for _ in range(2000)]
    weights = list(itertools.accumulate((rank + 1) ** -1.05 for rank in range(len(paths))))
    hosts = [f"10.{rng.randint(0, 3)}.{rng.randint(0, 255)}.{rng.randint(1, 254)}" for _ in range(5000)]
    for i in range(count):
        yield {"ts": round(BEGIN + i / RATE + rng.random() * 0.4, 3), "host": rng.choice(hosts), "method": rng.choice(["GET"] * 8 + ["POST", "PUT"]),
               "path": rng.choices(paths, cum_weights=weights)[0], "status": rng.choice(STATUS), "bytes": int(rng.paretovariate(1.1) * 200) % 2000000,
               "latency_ms": round(rng.expovariate(1 / 35), 2), "ua": rng.choice(AGENTS),
               "user": {"id": rng.randint(1, 200000), "plan": rng.choice(["free", "pro", "team"])}}


def write_requests(folder, rng, count):
    names = {name: open(os.path.join(folder, name), "w", encoding="ascii") for name in FILES[:4]}
    as_json, as_csv, as_kv, as_log = names.values()
    as_csv.write("ts,host,method,path,status,bytes,latency_ms,ua\n")
    for i, r in enumerate(requests(rng, count)):
        as_json.write(json.dumps(r, separators=(",", ":")) + "\n")
        as_csv.write("{ts:.3f},{host},{method},{path},{status},{bytes},{latency_ms},\"{ua}\"\n".format(**r))
        level = "error" if r["status"] >= 500 else "info"
        as_kv.write("ts={ts:.3f} level={level} host={host} method={method} path={path} status={status} bytes={bytes} "
                    "latency_ms={latency_ms} msg=\"request done by worker {worker}\"\n".format(level=level, worker=i % 16, **r))
        at = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(BEGIN + i // RATE))
        as_log.write("{host} - - [{at}] \"{method} {path} HTTP/1.1\" {status} {bytes} \"-\" \"{ua}\"\n".format(at=at, **r))
    for file in names.values():
        file.close()


def write_text(path, vocabulary, megabytes):
    """Its white space is such that awk cuts words as C does."""
    maker = os.path.join(ROOT, "test/model/make_text.py")
    made = subprocess.run([sys.executable, maker, "--seed", "2", "--vocabulary", str(vocabulary), str(megabytes)], stdout=subprocess.PIPE, check=True)
    with open(path, "wb") as file:
        file.write(made.stdout.translate(bytes.maketrans(b"\v\f\r", b"   ")))


def write_keys(path, rng, megabytes):
    """A million different words, if there is room for them, each as likely."""
    count = min(1000000, megabytes * 20000)
    with open(path, "w", encoding="ascii") as file:
        for _ in range(megabytes * 12500):
            file.write(" ".join(f"k{key:07d}" for key in rng.choices(range(count), k=8)) + "\n")


def make(folder, megabytes):
    """The folder with all files, made if they are not there."""
    if not os.path.exists(folder):
        unfinished = folder + ".new"
        os.makedirs(unfinished, exist_ok=True)
        rng = random.Random(7)
        write_requests(unfinished, rng, megabytes * 1000000 // JSON_BYTES)
        write_text(os.path.join(unfinished, "words.txt"), 10000, megabytes)
        write_keys(os.path.join(unfinished, "keys.txt"), rng, megabytes)
        os.rename(unfinished, folder)
    return folder


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]))
