"""Which of all sites are mutated: 200 of thousands, by a seed and by what they say, from all files and all kinds."""

import hashlib
import os
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import places
from sites import KINDS, find

# The floors that run a topology, and the structures that it and the maps are made of.
STRUCTURES = ("age_segment", "age_table", "batch", "batch_ring", "block", "bytes_map", "map_key", "match16", "own_heap",
              "ready", "ring", "rotating_map", "time_cache_map")
FLAGS = ("-std=c17", "-D_GNU_SOURCE", "-Iinclude", "-Isrc")


def files(root):
    engine = [path for floor in ("trees", "engine", "runtime") for path in sorted((root / "src" / floor).glob("*.[ch]"))]
    structures = [path for path in sorted((root / "src/ds").glob("*.[ch]")) if path.stem in STRUCTURES]
    return [str(path.relative_to(root)) for path in engine + structures]


def flags(root):
    return [flag.replace("-I", f"-I{root}/") for flag in FLAGS]


def find_all(root):
    """{file: sites that the list can name}; clang takes some minutes."""
    paths = files(root)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(paths, pool.map(partial(find, root, flags=flags(root)), paths)))
    out = {}
    for path, sites in found.items():
        text = (root / path).read_text()
        out[path] = [twin for twin in (places.named(text, site) for site in sites) if twin]
    return out


def chance(seed, identity):
    return hashlib.sha256(f"{seed} {identity}".encode()).digest()


def in_turn(sites, seed):
    """The sites of a file, best chance first, the kinds by turns: a file has more constants than comparisons."""
    by_kind = defaultdict(list)
    seen = set()
    for site in sorted(sites, key=lambda site: chance(seed, site.identity)):
        place = (site.begin, site.end, site.kind)
        if place not in seen:  # of a constant, one more or one less
            by_kind[site.kind].append(site)
        seen.add(place)
    first = int.from_bytes(chance(seed, sites[0].file)[:4], "big") if sites else 0
    kinds = [KINDS[(first + i) % len(KINDS)] for i in range(len(KINDS))]
    while any(by_kind.values()):
        for kind in kinds:
            if by_kind[kind]:
                yield by_kind[kind].pop(0)


def quotas(counts, wanted):
    """How many of each file: by its number of sites, at least one."""
    total = sum(counts.values())
    shares = {path: max(1, wanted * count / total) for path, count in counts.items() if count}
    out = {path: int(share) for path, share in shares.items()}
    by_rest = sorted(shares, key=lambda path: (out[path] - shares[path], path))
    for path in by_rest[:max(0, wanted - sum(out.values()))]:
        out[path] += 1
    return out


def choose(sites, wanted, seed, kept=()):
    """The chosen sites, by file and place; first those whose lines are `kept`, then by chance."""
    quota = quotas({path: len(found) for path, found in sites.items()}, wanted)
    old = {path: [site for site in found if places.line(site) in kept] for path, found in sites.items()}
    room = wanted - sum(map(len, old.values()))
    out = []
    for path, found in sites.items():
        missing = max(0, min(room, quota.get(path, 0) - len(old[path])))
        fresh = [site for site in found if site not in old[path]]
        chosen = old[path] + [site for _, site in zip(range(missing), in_turn(fresh, seed))]
        room -= len(chosen) - len(old[path])
        out += sorted(chosen, key=lambda site: (site.begin, -site.end, site.kind))
    return out
