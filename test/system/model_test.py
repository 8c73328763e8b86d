#!/usr/bin/env python3
"""Rolling top words on the engine equals the second model, over random inputs.

usage: model_test.py PROGRAM MODEL [RUNS [SEED]]
"""

import importlib.util
import json
import random
import subprocess
import sys
import types


def load(path):
    spec = importlib.util.spec_from_file_location("model", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def script(rng, emit):
    """Words, and all ticks in the order of their times: (milliseconds, kind, word)."""
    words = ["w%d" % i for i in range(rng.choice([1, 3, 8, 30]))] + ["é", "日本"]
    end = rng.choice([5000, 20000, 40000])
    ticks = [(n * period, kind, None) for kind, period in (("counter", emit * 1000), ("intermediate", 2003), ("total", 1999))
             for n in range(1, end // period + 1)]
    taken = {when for when, _, _ in ticks}
    times = [rng.randrange(end) for _ in range(rng.choice([0, 5, 60, 200]))]
    return sorted(ticks + [(when, "word", rng.choice(words)) for when in times if when not in taken],
                  key=lambda event: event[0])


def engine_input(events):
    lines, now = [], 0
    for when, kind, word in events:
        if when > now:
            lines.append("advance %d" % (when - now))
            now = when
        if kind == "word":
            lines.append("word " + word)
    return "\n".join(lines) + "\n"


def model_input(events, routes):
    lines = ["route %s %d" % (word, to) for word, (_, to) in routes.items()]
    for when, kind, word in events:
        lines.append("time %d" % when)
        lines.append("word@%d %s" % (routes[word][0], word) if kind == "word" else "tick " + kind)
    return "\n".join(lines) + "\n"


def compare(program, model, seed):
    rng = random.Random(seed)
    counters, intermediates, top = rng.choice([1, 4]), rng.choice([1, 4]), rng.choice([1, 2, 5, 10])
    emit = rng.choice([1, 3])
    window = emit * rng.choice([2, 3, 5]) + rng.choice([0, emit - 1])
    events = script(rng, emit)
    arguments = [str(n) for n in (counters, intermediates, top, window, emit)]
    out = subprocess.run([program] + arguments, input=engine_input(events), capture_output=True, text=True, check=True)
    lines = out.stdout.splitlines()
    routes = {}
    for line in lines:
        if line.startswith("route "):
            _, word, counter, intermediate = line.split()
            routes[word] = (int(counter), int(intermediate))
    got = [line for line in lines if not line.startswith("route ")]
    want = []
    options = types.SimpleNamespace(window=window, emit=emit, top=top, counters=counters, intermediates=intermediates,
                                    trace=False)
    second = model.Model(options, lambda value: want.append(json.dumps(value, ensure_ascii=False, separators=(",", ":"))))
    for line in model_input(events, routes).splitlines():
        second.event(line)
    if got != want:
        at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
        return "seed %d (%s): ranking %d\n  engine %s\n  model  %s" % (
            seed, " ".join(arguments), at, got[at:at + 1], want[at:at + 1])
    return len(got)


def main():
    program, model = sys.argv[1:3]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    second = load(model)
    results = [compare(program, second, seed) for seed in range(first, first + runs)]
    wrong = [result for result in results if isinstance(result, str)]
    for text in wrong[:5]:
        print(text)
    print("%d runs, %d rankings compared, %d runs differ" % (
        runs, sum(result for result in results if not isinstance(result, str)), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
