"""The jobs: gale's file, the input, the limit, and how peers do the same."""

import os

import measured
from measured import ROOT

FOLDER = os.path.join(measured.PROGRAMS, "jobs")
HERE = os.path.join(ROOT, "bench/jobs")
GALE = os.path.join(ROOT, "build/gale")
WORDS = "{for(i=1;i<=NF;i++)c[$i]++}END{for(w in c)print w\"\\t\"c[w]}"
STATUS = "END{for(s in c)print s\"\\t\"c[s]}"
KV = "{for(i=1;i<=NF;i++){n=index($i,\"=\");k=substr($i,1,n-1);if(k==\"status\")s=substr($i,n+1)}c[s]++}" + STATUS
JQ = "{ts,host,path,status,bytes,latency_ms}"


class Job:
    """A job: its input, gale's file, the limit, and peers that write to their standard output."""

    def __init__(self, name, given, limit, python=(), timely=False, benthos=False, **pipes):
        self.name, self.given, self.limit, self.python, self.pipes = name, given, limit, python, pipes
        self.timely, self.benthos = timely, benthos

    @property
    def topology(self):
        shipped = self.name in ("words", "keys")
        return os.path.join(ROOT, "examples/word-count/topology.yaml") if shipped else os.path.join(HERE, self.name + ".yaml")


COUNT, JOBS_C = os.path.join(measured.PROGRAMS, "gale_bench_count"), os.path.join(measured.PROGRAMS, "gale_bench_jobs")
SIMDJSON = os.path.join(FOLDER, "simdjson")
TIMELY = os.path.join(FOLDER, "timely/release/jobs-timely")
BENTHOS = os.path.join(FOLDER, "benthos")
JOBS = [
    Job("words", "words.txt", [COUNT], ("python",), timely=True, mawk=["mawk", WORDS]),
    Job("keys", "keys.txt", [COUNT], ("python",), timely=True, mawk=["mawk", WORDS]),
    Job("json", "requests.json", [SIMDJSON], ("python", "orjson", "duckdb", "polars"), timely=True),
    Job("json-lines", "requests.json", None, ("python", "orjson"), benthos=True, jq=["jq", "-c", JQ]),
    Job("csv", "requests.csv", [JOBS_C, "csv"], ("python", "duckdb", "polars"), mawk=["mawk", "-F,", "NR>1{c[$5]++}" + STATUS]),
    Job("kv", "requests.kv", [JOBS_C, "kv"], (), mawk=["mawk", KV]),
    Job("regex", "access.log", None, ("python",)),
    Job("log", "access.log", [JOBS_C, "log"], (), mawk=["mawk", "{c[$9]++}" + STATUS]),
]
