#!/usr/bin/env python3
"""Who is ahead: gale, every tuple acked, or timely dataflow in batches of a million, nothing acked? Both and gale's
limit take turns in one run.

usage: ahead.py [full|quick]          (script/bench builds first, and calls this)"""

import os
import sys

import measured
import run
from measured import say

FLOWS = ["const-null", "const-id-null"]
THREADS = [1, 2]
SAME = 1.05  # times: what differs by less is the same
GALE, TIMELY, LIMIT = "gale, acked", "timely, a million a batch", "the limit, acked"


def subjects(flow, threads, plan, timely):
    """gale's options, the limit's and timely's. timely without acks puts a million records under one timestamp."""
    common = {"flow": flow, "executors": threads, "seconds": plan.seconds, "warm": plan.warm, "trials": 100}
    gale, limit = measured.ours()["gale"], measured.ours()["limit"]
    return [measured.Program(GALE, gale, {**common, "acks": "on", "place": "engine"}),
            measured.Program(TIMELY, timely, {**common, "acks": "off", "seconds": plan.peer_seconds, "warm": 1}),
            measured.Program(LIMIT, limit, {**common, "acks": "on"})]


def measure(flow, threads, plan, timely, line):
    """({name: figures}, the mode); one that failed is not in it."""
    programs = subjects(flow, threads, plan, timely)
    try:
        for p in programs:
            p.trial()  # is not counted
        trials, kept = run.take_turns(programs, run.cell(flow, executors=threads), plan, line)
    finally:
        for p in programs:
            p.end()
    return {name: measured.summary(found, kept) for name, found in trials.items()
            if any(kept in (None, t["line"]) for t in found)}, kept


def verdict(figures):
    """Who is ahead, in words."""
    if not all(figures.get(name, {}).get("ns") for name in (GALE, TIMELY)):
        return "nobody can say: one of them was not measured"
    gale, timely = figures[GALE]["ns"], figures[TIMELY]["ns"]
    if max(gale, timely) / min(gale, timely) < SAME:
        return "they are the same"
    if gale < timely:
        return f"gale is ahead: {timely / gale:.1f} times as fast"
    return f"timely is ahead: {gale / timely:.1f} times as fast"


def tell(flow, threads, figures, kept):
    where = f"{threads} thread{'s' * (threads > 1)}" + (f" [{kept}]" if kept else "")
    print(f"  {flow + ', ' + where:32}" + "".join(f"{name} {run.number(figures.get(name, {}).get('ns'), 5)} ns   "
                                                  for name in (GALE, TIMELY, LIMIT)) + verdict(figures), flush=True)


def main(words):
    plan = run.plan_of(words)
    if not plan:
        return __doc__
    found = measured.peers(("timely",)).get("timely")
    if not found:
        return "without timely there is nobody to be ahead of"
    load, line, cells = os.getloadavg()[0], measured.Line(), []
    print("\nns a tree: gale follows and acks every tuple; timely acks nothing, and knows a million records as a whole")
    for flow in FLOWS:
        for threads in THREADS:
            if plan.late(flow):
                continue
            try:
                figures, kept = measure(flow, threads, plan, found[0], line)
            except RuntimeError as error:
                say(f"skipped: {flow}, {threads}: {error}")
                continue
            tell(flow, threads, figures, kept)
            cells.append({"flow": flow, "threads": threads, "line": kept or "any", "programs": figures,
                          "verdict": verdict(figures)})
    line.end()
    run.write(os.path.join(plan.folder, "ahead.json"),
              {"commit": measured.commit(), "machine": measured.machine(), "trials": plan.trials, "cells": cells})
    print(measured.conditions(load))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
