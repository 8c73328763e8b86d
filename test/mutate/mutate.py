"""Mutations: small bugs, compiled in all at once and switched on one by one, each of which some test must notice.

    script/mutate                       those of list.tsv: builds, judges, writes test/mutate/results.md
    script/mutate --again               judges only what no test has noticed yet, and writes the results again
    script/mutate --only trees/ledger  those whose place matches (an expression); writes nothing
    script/mutate --only 17,23          those numbers; writes nothing
    script/mutate --seed 2 --count 50   50 others, that clang finds; writes nothing
    script/mutate --renew               writes list.tsv: keeps what is still there, and fills up; judges nothing
"""

import argparse
import json
import re
import subprocess
import sys
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import choose
import judge
import places
import plant
import report

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build-mutate"
HERE = ROOT / "test/mutate"
LIST = HERE / "list.tsv"
COUNT, SEED = 200, 1
PLAIN, SANITIZED = "mutate", "mutate-asan"  # the presets; sanitizers see more, and take longer
NEEDED = r"^(test_(?:ds|trees|engine|runtime|kit|connect|front)_\w+|test_system_(?:simulate|random_threads)): "


def say(text):
    print(f"mutate: {text}", file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(prog="script/mutate", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    for flag in ("again", "renew"):
        parser.add_argument(f"--{flag}", action="store_true")
    return parser.parse_args()


def renew():
    """The list once more: what is still there stays, and others take the place of what is gone."""
    kept = [site for _, site in places.here(ROOT, places.read(LIST))] if LIST.exists() else []
    sites = choose.choose(choose.find_all(ROOT), COUNT, SEED, [places.line(site) for site in kept])
    LIST.write_text("".join(places.line(site) + "\n" for site in sites))
    say(f"{len(kept)} places stay, {len(sites) - len(kept)} are new")


def build(preset):
    """The programs that tests need. Returns where they are."""
    directory = ROOT / f"build-{preset}"
    subprocess.run(["cmake", "--preset", preset], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    known = subprocess.check_output(["ninja", "-C", directory, "-t", "targets", "all"], text=True)
    subprocess.run([ROOT / "script/build", preset, *re.findall(NEEDED, known, re.M)], check=True, cwd=ROOT)
    return directory


def judge_all(selected, jobs, verdicts):
    """With the sanitizers only what survives without them."""
    judge_with(PLAIN, selected, jobs, verdicts)
    judge_with(SANITIZED, verdicts.open(selected), jobs, verdicts)


def judge_with(preset, selected, jobs, verdicts):
    if not selected:
        return
    suite = judge.Suite(build(preset), preset == SANITIZED)
    say(f"{preset}: {len(suite.tests)} tests without a mutation")
    lock, count = threading.Lock(), 0

    def one(pair):
        nonlocal count
        number, site = pair
        verdict = suite.judge(number, site)
        with lock:
            count += 1
            say(f"{count}/{len(selected)} [{number}] {verdict} {site.identity[:110]}")
            verdicts.note(site, verdict)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(suite.measure, suite.tests))
        list(pool.map(one, selected))


class Verdicts:
    """What was found out, by place; kept in the build directory, so that a run can go on."""

    def __init__(self, path):
        self.path = path
        self.by_place = {}
        self.equivalent = {row["site"]: row["reason"]
                           for row in tomllib.loads((HERE / "equivalent.toml").read_text()).get("equivalent", [])}

    def load(self):
        if self.path.exists():
            kept = json.loads(self.path.read_text())
            self.by_place = {place: judge.Verdict(**found) for place, found in kept.items()}

    def note(self, site, verdict):
        self.by_place[site.identity] = verdict
        self.path.write_text(json.dumps({place: vars(found) for place, found in self.by_place.items()}, indent=1))

    def of(self, site):
        verdict = self.by_place.get(site.identity, judge.Verdict())
        return judge.Verdict(verdict.caught_by, verdict.how, verdict.came_by, self.equivalent.get(site.identity, ""))

    def open(self, numbered):
        return [(number, site) for number, site in numbered if self.of(site).is_open()]


def selected(options):
    """([(number, site)], how many were wanted)."""
    if options.seed is None:
        sites = places.read(LIST)
    else:
        sites = choose.choose(choose.find_all(ROOT), options.count, options.seed)
    return places.here(ROOT, sites), len(sites)


def matches(only, number, site):
    return str(number) in only.split(",") if re.fullmatch(r"[\d,]+", only) else re.search(only, site.identity)


def main():
    options = arguments()
    began = time.monotonic()
    if options.renew:
        renew()
        return 0
    numbered, wanted = selected(options)
    plant.write_tree(ROOT, BUILD / "src", numbered)
    matching = [pair for pair in numbered if matches(options.only, *pair)]
    verdicts = Verdicts(BUILD / ("verdicts.json" if options.seed is None else "verdicts_of_others.json"))
    if options.again or options.only:
        verdicts.load()
    judge_all(verdicts.open(matching) if options.again else matching, options.jobs, verdicts)
    rows = [(number, site, verdicts.of(site)) for number, site in matching]
    for number, _, verdict in rows:
        if verdict.caught_by and verdict.reason:
            say(f"[{number}] is in equivalent.toml, and {verdict.caught_by} noticed it")
    if options.seed is None and not options.only:
        (HERE / "results.md").write_text(report.page(rows, wanted))
    say(f"{report.summary(rows)} ({time.monotonic() - began:.0f} s)")
    return 0 if report.enough(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
