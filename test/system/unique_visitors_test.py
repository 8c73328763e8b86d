#!/usr/bin/env python3
"""Unique visitors equal a plain script's exact counts, on one, two and four tasks, from YAML and from C: on a log made
here, whose visitors, duplicates and late lines are known, and on the one that gale makes up.

usage: unique_visitors_test.py GALE EXAMPLE SOURCE LINES
"""

import datetime
import json
import random
import subprocess
import sys
import tempfile

LATENESS = 120
LENGTHS = (60, 300)
START = 1_767_225_600
AGENTS = ["curl/8.8.0", "Mozilla/5.0 (X11; Linux x86_64)", 'a \\"quoted\\" agent', "-", "\u0436\u0443\u043a"]


BAD = ("", "nonsense", '10.0.0.1 - - [32/Jan/2026:00:00:00 +0000] "-" 200 -')


class Log:
    """Lines that are written to a file, and what is known of them without parsing one."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines, self.late, self.bad = [], [], 0
        self.visitors = {}  # (end, length) -> the set of them
        self.newest = None

    def write(self, time, visitor):
        offset = self.rng.choice((0, 60, -330, 765)) * 60
        zone = "%s%02d%02d" % ("-" if offset < 0 else "+", abs(offset) // 3600, abs(offset) // 60 % 60)
        when = datetime.datetime.fromtimestamp(time + offset, datetime.timezone.utc)
        self.lines.append('10.0.%d.%d - %s [%s %s] "GET /%d HTTP/1.1" 200 %s "-" "%s"' % (
            visitor // 5 // 250, visitor // 5 % 250, self.rng.choice(("-", "mia", "mia may")),
            when.strftime("%d/%b/%Y:%H:%M:%S"), zone, self.rng.randrange(10), self.rng.choice(("-", "512")),
            AGENTS[visitor % 5]))
        self.newest = time if self.newest is None else max(time, self.newest)
        behind = self.newest - time
        if behind > LATENESS:
            self.late.append(behind)
            return
        for length in LENGTHS:
            end = time // length * length + length
            self.visitors.setdefault((end, length), set()).add(visitor)

    def fill(self, lines):
        for number in range(lines):
            time = START + number // 20
            kind = self.rng.random()
            if kind < 0.01:
                time -= LATENESS + self.rng.choice((0, 1, 2, 500))  # on the very border, and beyond
            elif kind < 0.05:
                time -= self.rng.randrange(LATENESS)
            elif kind < 0.06:
                self.lines.append(self.rng.choice(BAD))
                self.bad += 1
            self.write(time, int(600 * self.rng.random() ** 2))
            if self.rng.random() < 0.02:
                self.lines.append(self.lines[-1])
                if self.late and self.newest - time > LATENESS:
                    self.late.append(self.late[-1])

    def known(self):
        windows = [[length, end - length, len(who)] for (end, length), who in sorted(self.visitors.items())]
        return {"windows": windows, "late": self.late, "bad": self.bad}


def script(source, path):
    with open(path, "rb") as file:
        made = subprocess.run([sys.executable, source + "/test/model/unique_visitors.py", "--lateness", str(LATENESS)],
                              stdin=file, capture_output=True, check=True)
    return json.loads(made.stdout)


def topology(source, tasks, log=None, folder=None):
    """The example's file, with another number of tasks and, if asked, another input."""
    with open(source + "/examples/unique-visitors/topology.yaml", encoding="utf-8") as file:
        text = file.read()
    text = replaced(text, "parallelism: 4", "parallelism: %d" % tasks)
    if log:
        begin, end = text.index('    className: "gale.spout.AccessLog"'), text.index("bolts:")
        spout = '    className: "gale.spout.File"\n    properties:\n      - {name: "path", value: "%s"}\n\n' % log
        text = text[:begin] + spout + text[end:]
    path = "%s/topology.yaml" % folder
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def replaced(text, old, new):
    if text.count(old) != 1:
        sys.exit("'%s' is there %d times" % (old, text.count(old)))
    return text.replace(old, new)


def from_yaml(gale, path, executors):
    made = subprocess.run([gale, "run", path, "--until-drained", "-j", str(executors)], capture_output=True, check=True)
    found = {"windows": [], "late": [], "bad": 0}
    for line in made.stdout.decode().splitlines():
        if not line.startswith("{"):
            continue
        row = json.loads(line)
        if "window" in row:
            found["windows"].append([row["window"], row["start"], row["count"]])
        elif "behind" in row:
            found["late"].append(row["behind"])
            assert row["late"] == len(found["late"]), row
        else:
            assert set(row) == {"line", "problem"}, row
            found["bad"] += 1
    return found


def from_c(example, log, tasks):
    made = subprocess.run([example, log, str(tasks)], capture_output=True, check=True)
    found = {"windows": []}
    for line in made.stdout.decode().splitlines():
        first, *rest = line.split("\t")
        if first in ("late", "bad"):
            found[first] = int(rest[0])
        else:
            start = datetime.datetime.strptime(first, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)
            found["windows"].append([int(rest[0].split()[0]), int(start.timestamp()), int(rest[1])])
    return found


def expect(found, wanted, what):
    for part in wanted:
        if found[part] == wanted[part]:
            continue
        if isinstance(wanted[part], list):
            differ = [pair for pair in zip(found[part], wanted[part]) if pair[0] != pair[1]]
            print(len(found[part]), "found,", len(wanted[part]), "wanted; (found, wanted):", differ[:5])
        else:
            print("found", found[part], "wanted", wanted[part])
        sys.exit("%s: %s differ" % (what, part))


def check_known(gale, example, source, folder, lines):
    log = Log(seed=lines)
    log.fill(lines)
    path = folder + "/access.log"
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(log.lines) + "\n")
    wanted = log.known()
    expect(script(source, path), wanted, "the script")
    short = dict(wanted, late=len(wanted["late"]))
    for tasks in (1, 2, 4):
        for executors in (1, 2):
            what = "%d tasks on %d executors" % (tasks, executors)
            expect(from_yaml(gale, topology(source, tasks, path, folder), executors), wanted, "from YAML, " + what)
        expect(from_c(example, path, tasks), short, "from C, %d tasks" % tasks)
    print("known log: %d lines, %d windows, %d late, %d bad: equal" % (
        len(log.lines), len(wanted["windows"]), len(wanted["late"]), wanted["bad"]))


def check_made_up(gale, source, folder):
    path = folder + "/made.log"
    write = """
name: write
spouts:
  - {id: lines, className: gale.spout.AccessLog, properties: [{name: lines, value: 20000}, {name: seed, value: 1}]}
bolts:
  - {id: sink, className: gale.bolt.FileSink, properties: {path: "%s", format: text}}
streams:
  - {from: lines, to: sink, grouping: {type: GLOBAL}}
""" % path
    with open(folder + "/write.yaml", "w", encoding="utf-8") as file:
        file.write(write)
    subprocess.run([gale, "run", folder + "/write.yaml", "--until-drained"], capture_output=True, check=True)
    wanted = script(source, path)
    if min(len(wanted["windows"]), len(wanted["late"]), wanted["bad"]) < 5:
        sys.exit("the made-up log lacks something: %s" % wanted)
    for tasks in (1, 2, 4):
        found = from_yaml(gale, topology(source, tasks, None, folder), 2)
        expect(found, wanted, "made up, %d tasks" % tasks)
    print("made-up log: %d windows, %d late, %d bad: equal" % (
        len(wanted["windows"]), len(wanted["late"]), wanted["bad"]))


def check_refusals(example, log):
    cases = {
        ("no.log",): "cannot open 'no.log': No such file or directory\nspout 'lines' (task 4) could not be opened\n",
    }
    for tasks in ("x", "0", "-1", "4x", "1001", ""):
        cases[log, tasks] = "TASKS must be a whole number from 1 to 1000, not '%s'\n" % tasks
    for arguments, message in cases.items():
        made = subprocess.run([example, *arguments], capture_output=True, check=False)
        if (made.returncode, made.stdout, made.stderr.decode()) != (1, b"", message):
            sys.exit("%s: %s" % (arguments, made))


def main():
    gale, example, source, lines = sys.argv[1:5]
    with tempfile.TemporaryDirectory() as folder:
        check_known(gale, example, source, folder, int(lines))
        check_refusals(example, folder + "/access.log")
        check_made_up(gale, source, folder)


if __name__ == "__main__":
    main()
