/* The sequence lock of gx_ledger_publish and gx_ledger_read in src/trees/ledger.c: two words, published twice. What
 * must hold: a reading is of one moment, and not older than what the reader saw before. */
#define OWNER 0
#define READER 1
#define THREADS 2
#define VERSION 0
#define WORD 1 /* and 2 */
#define LOCATIONS 3
#define CELLS 1
#define TIMES 2
#define HISTORY (2 * TIMES + 1)
#include "weak.pml"

active proctype owner() {
    byte i;
    for (i : 1 .. TIMES) {
#ifndef NEVER_ODD
        store(OWNER, VERSION, 2 * i - 1, ledger_odd);
#endif
        store(OWNER, WORD, i, ledger_R1);
        store(OWNER, WORD + 1, i, ledger_R1);
        store(OWNER, VERSION, 2 * i, ledger_R2)
    }
}

active proctype reader() {
    byte before, after, first, second, last, i;
    for (i : 1 .. 2) {
        do
        ::  load(READER, VERSION, ledger_A2, before);
            load(READER, WORD, ledger_A1, first);
            load(READER, WORD + 1, ledger_A1, second);
            load(READER, VERSION, ledger_again, after);
            if
            :: before == after && before % 2 == 0 -> break
            :: else
            fi
        od;
        wrong = first != second || first < last || 2 * first != before;
        assert(!wrong);
        last = first
    }
}
