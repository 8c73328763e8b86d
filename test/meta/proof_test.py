#!/usr/bin/env python3
"""test/proof/orders.toml says what the C files say: every atomic access of the files that it names, its order and its
label, and what must come after what; and the models have all of it. The models themselves are run by script/prove.

usage: proof_test.py ROOT
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "proof"))
sys.dont_write_bytecode = True

import orders as proof  # noqa: E402

# What somebody might do to the C files, and a word of the complaint.
CHANGES = [
    ("src/ds/ring.h", "gx_store_release(&p->ring->producer.tail", "gx_store_relaxed(&p->ring->producer.tail", "not in"),
    ("src/ds/ring.h", "head); /* A2 */", "head);", "has the label None"),
    ("src/ds/ring.h", "/* R2 */", "/* R1 */", "has the label R1"),
    ("src/engine/flow.c", "gx_load_relaxed", "gx_load_acquire", "there is no"),
    ("src/engine/bell.c", "#include", "int x(gx_bell *b) {\n    return gx_load_seq(&b->state);\n}\n#include", "not in"),
    ("src/engine/bell.c", "#include", "static int x(void) {\n    atomic_thread_fence(1);\n}\n#include", "not in"),
    ("src/base/seqlock.h", "gx_load_acquire(&published[i])", "ledger->published[i]", "there is no"),
    ("src/trees/ledger.c", "#include", "int x; /* R1 */\n#include", "labels for"),
    ("src/engine/flow.h", "    gx_store_relaxed(&flow->congested[task], congested);\n", "", "no `flow->congested`"),
    ("src/engine/bell.c", "PARKED) !=", "AWAKE) !=", "where test/proof/orders.toml"),
    ("src/engine/executor.c", "void gx_executor_congest(", "void gx_executor_congested(", "no function"),
]


def check_self(table, root):
    for path, old, new, expected in CHANGES:
        text = (root / path).read_text(encoding="utf-8")
        assert old in text, (path, old)
        said = list(proof.check(table, root, {path: text.replace(old, new, 1)}))
        assert any(expected in message for message in said), (path, new, said)


def main(root):
    root = pathlib.Path(root)
    table = proof.read(root / "test" / "proof" / "orders.toml")
    messages = list(proof.check(table, root))
    if not messages:
        check_self(table, root)
    print("\n".join(messages) or f"{len(table['access'])} accesses are what the models say")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
