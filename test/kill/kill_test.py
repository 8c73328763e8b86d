#!/usr/bin/env python3
"""A durable run is killed again and again, at random moments and inside its own commits, and started again: what its sink
has in the end is exactly what a run that was never killed leaves.

usage: kill_test.py SHIM GALE JOB [--words N] [--kills K] [--seed S] [--interval MS] [--only NAME]
"""

import argparse
import collections
import gzip
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

TOPOLOGY = """
name: "killed"
config:
  topology.state.checkpoint.interval.ms: {interval}
  topology.message.timeout.secs: 3600 # a slow machine fails nothing
  topology.max.spout.pending: 2000
{config}
spouts:
  - id: "lines"
    className: "gale.spout.File"
    constructorArgs: ["{input}"]
bolts:
  - id: "split"
    className: "gale.bolt.Split"
    parallelism: {tasks}
  - id: "count"
    className: "gale.bolt.Count"
    properties:
      - {{name: "emit", value: "{emit}"}}
    parallelism: {tasks}
  - id: "sink"
    className: "gale.bolt.FileSink"
    constructorArgs: ["{output}"]
streams:
  - {{from: "lines", to: "split", grouping: {{type: SHUFFLE}}}}
  - {{from: "split", to: "count", grouping: {{type: FIELDS, args: ["word"]}}}}
  - {{from: "count", to: "sink", grouping: {{type: GLOBAL}}}}
"""


def write_text(path, words, chance):
    """Lines of ten words, of which few are frequent; returns how often each came."""
    counts = collections.Counter()
    with open(path, "w", encoding="utf-8") as out:
        for _ in range(words // 10):
            line = [f"w{min(int(chance.paretovariate(0.7)), 200_000)}" for _ in range(10)]
            counts.update(line)
            out.write(" ".join(line) + "\n")
    return counts


class Killed:
    """One durable job, run until it ends by itself; `codes`: what that may say."""

    def __init__(self, arguments, command, chance, codes=(0,)):
        self.arguments, self.command, self.chance, self.codes = arguments, command, chance, codes
        self.runs = self.kills = self.inside = 0

    def start(self, at):
        environment = dict(os.environ)
        if at:
            environment.update(LD_PRELOAD=self.arguments.shim, GALE_KILL_AT=str(at))
        return subprocess.Popen(self.command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def once(self):
        """True when the run came to its end."""
        kill = self.kills < self.arguments.kills
        inside = kill and self.chance.random() < 0.5
        at = int(1.5 ** self.chance.uniform(0, 16)) if inside else 0
        process = self.start(at)
        self.runs += 1
        try:
            # Not killed inside by then: from outside.
            text, _ = process.communicate(timeout=self.chance.uniform(0.005, self.arguments.life) if kill else 600)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            text, _ = process.communicate()
        if process.returncode == -signal.SIGKILL:
            self.kills += 1
            self.inside += bool(inside)
            return False
        if process.returncode not in self.codes:
            raise SystemExit(f"run {self.runs} ended with {process.returncode}:\n{text.decode(errors='replace')}")
        return True

    def to_the_end(self, name, about):
        began = time.monotonic()
        while not self.once():
            if self.runs > 100 * (self.arguments.kills + 1):
                raise SystemExit("it does not come to an end")
        print(f"{name}: {about}, {self.kills} kills, {self.inside} of them in a run that was to die at a write or a sync, "
              f"{time.monotonic() - began:.0f} s", flush=True)
        return self


def run_command(arguments, folder):
    return [arguments.gale, "run", str(folder / "job.yaml"), "--state", str(folder / "state")]


def job(arguments, folder, name, words, chance, emit="finish", tasks=2, config=""):
    folder = folder / name
    folder.mkdir()
    counts = write_text(folder / "text", words, chance)
    (folder / "job.yaml").write_text(TOPOLOGY.format(interval=arguments.interval, input=folder / "text", emit=emit,
                                                     output=folder / "counts", tasks=tasks, config=config))
    killed = Killed(arguments, run_command(arguments, folder), chance)
    killed.to_the_end(name, f"{sum(counts.values()):,} words, {len(counts):,} of them different")
    return counts, (folder / "counts").read_text().splitlines(), killed


def totals(arguments, folder, chance):
    """The last line of each word says how often it came; each word has one line."""
    counts, lines, killed = job(arguments, folder, "totals", arguments.words, chance)
    expected = sorted(f"{word}\t{count}" for word, count in counts.items())
    if sorted(lines) != expected:
        wrong = set(lines) ^ set(expected)
        raise SystemExit(f"totals: {len(lines)} lines where {len(expected)} belong; of those that differ: {sorted(wrong)[:8]}")
    return killed


def running(arguments, folder, chance):
    """Each count is a line: of each word 1, 2, 3 and so on, none twice and none missing, in order."""
    counts, lines, killed = job(arguments, folder, "running", arguments.words, chance, emit="each", tasks=3)
    seen = collections.Counter()
    for number, line in enumerate(lines, 1):
        word, count = line.split("\t")
        seen[word] += 1
        if int(count) != seen[word]:
            last = {w: int(c) for w, c in (one.split("\t") for one in lines)}
            raise SystemExit(f"running: line {number}: {word} has {count} where {seen[word]} belongs; {len(lines)} lines of "
                             f"{sum(counts.values())}; in the end {word} has {last[word]}, {counts[word]} belong; "
                             f"{sum(last.values())} in all")
    if seen != counts:
        raise SystemExit("running: words are missing at the end")
    return killed


# --- Rolling top words, on the words' own time ---

WINDOW, SLIDE, LATENESS, TOP = 12, 4, 5, 5  # as in job.h


def write_times(path, lines, chance):
    """Lines of a time and words: most a little out of order, some late. Returns the last ranking of each window."""
    windows, newest = collections.defaultdict(collections.Counter), 0
    with open(path, "w", encoding="utf-8") as out:
        for number in range(lines):
            behind = chance.choice([0, 0, 0, 1, 2, 4, 5, 6, 30])
            at = 1_700_000_000 + number // 25 - behind
            words = [f"w{min(int(chance.paretovariate(0.6)), 2000)}" for _ in range(5)]
            out.write(f"{at} {' '.join(words)}\n")
            newest = max(newest, at)
            if at >= newest - LATENESS:
                last = at // SLIDE * SLIDE
                for start in range(last - WINDOW + SLIDE, last + SLIDE, SLIDE):
                    windows[start].update(words)
    return {start: sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:TOP] for start, counts in windows.items()}


def last_rankings(path):
    rankings = {}
    for line in path.read_text().splitlines():
        start, rank, word, count = line.split("\t")
        if rank == "1":
            rankings[int(start)] = []
        if len(rankings[int(start)]) != int(rank) - 1:
            raise SystemExit(f"top: '{line}' does not follow")
        rankings[int(start)].append((word, int(count)))
    return rankings


def top(arguments, folder, chance):
    """The last ranking of each window is that of a run that was never killed, which plain counting gives."""
    folder = folder / "top"
    folder.mkdir()
    lines = arguments.words // 75
    expected = write_times(folder / "text", lines, chance)
    killed = Killed(arguments, [arguments.job, "top", str(folder), str(arguments.interval)], chance)
    killed.to_the_end("top", f"{lines:,} lines, {len(expected):,} windows")
    found = last_rankings(folder / "rankings")
    for start in sorted(expected.keys() | found.keys()):
        if found.get(start) != expected.get(start):
            raise SystemExit(f"top: window {start}: {found.get(start)}, not {expected.get(start)}")
    return killed


# --- Failures, timeouts and dead letters before what counts ---


def write_moody(path, lines, chance):
    """Returns how often each word is to be counted, what is copied, and what becomes a dead letter."""
    counts, numbers, letters = collections.Counter(), [], []
    with open(path, "w", encoding="utf-8") as out:
        for number in range(lines):
            words = [f"w{min(int(chance.paretovariate(0.7)), 5000)}" for _ in range(5)]
            out.write(f"{number} {' '.join(words)}\n")
            if number % 50 == 7 or number % 211 == 9:
                letters.append(number)
            else:
                numbers.append(number)
                counts.update(words)
    return counts, numbers, letters


def check_moody(folder, expected):
    counts, numbers, letters = expected
    same("moody: copied", (folder / "copied").read_text().splitlines(), map(str, numbers))
    same("moody: counted", (folder / "counts").read_text().splitlines(), (f"{w}\t{c}" for w, c in counts.items()))
    same("moody: dead letters", (str(json.loads(line)["tuple"][0]).split()[0]
                                 for line in (folder / "letters").read_text().splitlines()), map(str, letters))


def moody(arguments, folder, chance):
    """Whatever failed and was tried again: each line is copied and counted once, or is one dead letter."""
    folder = folder / "moody"
    folder.mkdir()
    lines = arguments.words // 30
    expected = write_moody(folder / "text", lines, chance)
    killed = Killed(arguments, [arguments.job, "moody", str(folder), str(arguments.interval)], chance)
    killed.to_the_end("moody", f"{lines:,} lines, {len(expected[2]):,} of them dead letters")
    check_moody(folder, expected)
    return killed


def same(what, found, expected):
    found, expected = collections.Counter(found), collections.Counter(expected)
    if found != expected:
        raise SystemExit(f"{what}: too much {list((found - expected).items())[:5]}, missing {list((expected - found).items())[:5]}")


# --- Unique visitors, with the parts that come with gale ---

VISITORS = """
name: "visitors"
config:
  topology.state.checkpoint.interval.ms: {interval}
  topology.message.timeout.secs: 3600 # a slow machine fails nothing
  topology.max.spout.pending: 500
spouts:
  - id: "lines"
    className: "gale.spout.AccessLog"
    properties: [{{name: "lines", value: {lines}}}, {{name: "seed", value: 1}}]
bolts:
  - {{id: "parse", className: "gale.bolt.AccessLog"}}
  - id: "clock"
    className: "gale.bolt.EventTime"
    properties: [{{name: "output", value: "time, host, agent"}}, {{name: "latenessSeconds", value: 120}}]
  - id: "unique"
    className: "gale.bolt.Unique"
    parallelism: 3
    properties: [{{name: "key", value: "host, agent"}}, {{name: "windows", value: "60, 300"}}]
  - {{id: "total", className: "gale.bolt.UniqueTotal"}}
  - id: "sink"
    className: "gale.bolt.FileSink"
    properties: [{{name: "path", value: "{output}"}}, {{name: "append", value: true}}]
streams:
  - {{from: "lines", to: "parse", grouping: {{type: SHUFFLE}}}}
  - {{from: "parse", to: "clock", grouping: {{type: GLOBAL}}}}
  - {{from: "clock", to: "unique", grouping: {{type: FIELDS, args: ["host", "agent"]}}}}
  - {{from: "clock", to: "unique", grouping: {{type: ALL, streamId: "watermark"}}}}
  - {{from: "unique", to: "total", grouping: {{type: GLOBAL}}}}
  - {{from: "unique", to: "total", grouping: {{type: GLOBAL, streamId: "watermark"}}}}
  - {{from: "total", to: "sink", grouping: {{type: GLOBAL}}}}
  - {{from: "clock", to: "sink", grouping: {{type: GLOBAL, streamId: "late"}}}}
"""


def visitors(arguments, folder, chance):
    """What the sink has is what a run leaves that is not killed."""
    lines, results = arguments.words // 20, []
    for name, kills in (("plain", 0), ("killed", arguments.kills)):
        place = folder / f"visitors-{name}"
        place.mkdir()
        (place / "job.yaml").write_text(VISITORS.format(interval=arguments.interval, lines=lines, output=place / "out"))
        killed = Killed(argparse.Namespace(**{**vars(arguments), "kills": kills}), run_command(arguments, place), chance)
        killed.to_the_end(f"visitors ({name})", f"{lines:,} lines")
        results.append((place / "out").read_text().splitlines())
    same("visitors", results[1], results[0])
    return killed


# --- Files that are rotated ---

TURNED = """
name: "turned"
config: {{topology.state.checkpoint.interval.ms: {interval}, topology.message.timeout.secs: 3600, topology.max.spout.pending: 500}}
spouts:
  - {{id: "lines", className: "gale.spout.File", constructorArgs: ["{input}"]}}
bolts:
  - id: "sink"
    className: "gale.bolt.FileSink"
    properties: {{path: "{output}", rotateBytes: {bytes}, keep: {keep}, gzip: {packed}}}
streams:
  - {{from: "lines", to: "sink", grouping: {{type: SHUFFLE}}}}
"""


def cut_where_full(lines, size):
    """The files that lines make of which each has at most `size` bytes."""
    files = [b""]
    for line in lines:
        if files[-1] and len(files[-1]) + len(line) > size:
            files.append(b"")
        files[-1] += line
    return files


def unpacked(path):
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def turned(arguments, folder, chance, packed=False):
    """Each file has the bytes that it has in a run that was not killed, and there is no other."""
    name, ending = ("packed", ".gz") if packed else ("turned", "")
    folder, size, keep = folder / name, 100_000, 10
    (folder / "out").mkdir(parents=True)
    write_text(folder / "text", arguments.words * 2, chance)
    files = cut_where_full((folder / "text").read_bytes().splitlines(keepends=True), size)
    names = [f"log.{number:06}{ending}" for number in range(1, len(files))] + ["log" + ending]
    expected = dict(list(zip(names, files))[-keep - 1:])
    (folder / "job.yaml").write_text(TURNED.format(interval=arguments.interval, input=folder / "text", bytes=size, keep=keep,
                                                   output=folder / "out" / "log", packed=str(packed).lower()))
    killed = Killed(arguments, run_command(arguments, folder), chance)
    killed.to_the_end(name, f"{len(files):,} files of {size:,} bytes")
    found = {path.name: unpacked(path) for path in (folder / "out").iterdir()}
    wrong = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
    if wrong:
        raise SystemExit(f"{name}: {wrong[:8]} are not as they must be; {len(found)} files where {len(expected)} belong")
    return killed


def packed(arguments, folder, chance):
    """The same of what they unpack to."""
    return turned(arguments, folder, chance, packed=True)


# --- Paths that vary ---

TEMPLATED = """
name: "templated"
config: {{topology.state.checkpoint.interval.ms: {interval}, topology.max.spout.pending: 500}}
spouts:
  - {{id: "lines", className: "gale.spout.File", constructorArgs: ["{input}"]}}
bolts:
  - {{id: "cut", className: "gale.bolt.Regex", properties: {{field: "line", pattern: "^(?<host>\\\\S+) (?<text>.*)$"}}}}
  - id: "sink"
    className: "gale.bolt.FileSink"
    properties: {{path: "{output}", fields: "{fields}", {more}}}
streams:
  - {{from: "lines", to: "cut", grouping: {{type: GLOBAL}}}}
  - {{from: "cut", to: "sink", grouping: {{type: GLOBAL}}}}
"""

HOSTS = ("a", "b/c", "d", "e", "f")


def write_hosts(path, lines, chance):
    """Lines of a host and a number; hosts come and go. Returns the numbers of each as lines."""
    texts = collections.defaultdict(list)
    with open(path, "w", encoding="utf-8") as out:
        for number in range(lines):
            host = HOSTS[(number // 1000 + chance.choice((0, 0, 0, 0, 0, 1, 2))) % len(HOSTS)]
            host = f"{host}{number // (lines // 4 + 1)}"
            out.write(f"{host} {number}\n")
            texts[host].append(f"{number}\n".encode())
    return texts


def files_of(folder):
    return {str(path.relative_to(folder)): unpacked(path)
            for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".gale-")}


def templated(arguments, folder, chance, packed=False):
    """A file for each host, of which two are open, rotated: each has the bytes of a run that was not killed, and there is no
    other."""
    name, ending = ("templated_packed", ".gz") if packed else ("templated", "")
    size, keep = 600, 3
    folder = folder / name
    (folder / "out").mkdir(parents=True)
    expected = {}
    for host, texts in write_hosts(folder / "text", arguments.words // 30, chance).items():
        files = cut_where_full(texts, size)
        place = host.replace("/", "%2F") + "/log"
        names = [f"{place}.{number:06}{ending}" for number in range(1, len(files))] + [place + ending]
        expected.update(list(zip(names, files))[-keep - 1:])
    more = f"maxOpen: 2, rotateBytes: {size}, keep: {keep}, gzip: {str(packed).lower()}"
    (folder / "job.yaml").write_text(TEMPLATED.format(interval=arguments.interval, input=folder / "text", fields="text",
                                                      output=folder / "out" / "{host}" / "log", more=more))
    killed = Killed(arguments, run_command(arguments, folder), chance)
    killed.to_the_end(name, f"{len(expected):,} files")
    found = files_of(folder / "out")
    wrong = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
    if wrong:
        raise SystemExit(f"{name}: {wrong[:8]} are not as they must be; {len(found)} files where {len(expected)} belong")
    return killed


def templated_packed(arguments, folder, chance):
    """The same of what they unpack to."""
    return templated(arguments, folder, chance, packed=True)


def dated(arguments, folder, chance):
    """A path by the clock is not made again by a run that goes on: each line is in one of the files, once."""
    folder = folder / "dated"
    folder.mkdir()
    texts = write_hosts(folder / "text", arguments.words // 1000, chance)
    (folder / "job.yaml").write_text(TEMPLATED.format(
        interval=arguments.interval, input=folder / "text", fields="host, text", more="maxOpen: 2",
        output=folder / "out" / "{now:%H%M%S-%L}" / "{host}.tsv"))
    killed = Killed(arguments, run_command(arguments, folder), chance)
    killed.to_the_end("dated", f"{sum(map(len, texts.values())):,} lines")
    found = b"".join(files_of(folder / "out").values()).splitlines(keepends=True)
    same("dated", found, (host.encode() + b"\t" + text for host, list_ in texts.items() for text in list_))
    return killed


TESTS = {test.__name__: test for test in (totals, running, top, moody, visitors, turned, packed, templated,
                                      templated_packed, dated)}


def killed_enough(test, arguments, folder, chance):
    """A machine on which the job has ended before it was killed often enough does it again, with shorter lives."""
    for attempt in range(10):
        place = folder / f"{test.__name__}-{attempt}"
        place.mkdir()
        arguments.life = 0.09 / 2 ** attempt + 0.005
        if test(arguments, place, chance).kills >= min(arguments.kills, 3):
            return
    raise SystemExit(f"{test.__name__}: its kills are too few to show anything: it needs more words")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shim")
    parser.add_argument("gale")
    parser.add_argument("job")
    parser.add_argument("--words", type=int, default=1_500_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--interval", type=int, default=10)
    parser.add_argument("--only", choices=TESTS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        chance = random.Random(arguments.seed)
        for test in [TESTS[arguments.only]] if arguments.only else TESTS.values():
            killed_enough(test, arguments, pathlib.Path(folder), chance)
    return 0


if __name__ == "__main__":
    sys.exit(main())
