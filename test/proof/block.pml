/* The way home of blocks that are released on another thread (src/ds/block.c). Block 1 has two holders, goes home, is
 * used again by the first of them and goes home once more; block 2 has one holder. So a push may meet a stack that was
 * emptied and filled again with the same block on top. What must hold: no block is used again while a holder reads it,
 * and each comes home. The handing over itself is the ring's matter: here it is a mailbox. */
#define OWNER 0
#define FIRST 1
#define SECOND 2
#define THREADS 3
#define RETURNED 0
#define REFS 1 /* and 2 */
#define MAIL 3
#define LOCATIONS 4
#define BYTES 0 /* by block: 0, 1 */
#define NEXT 2  /* by block: 2, 3 */
#define CELLS 4
#define HISTORY 7
#include "weak.pml"

byte homes;

/* gx_block_release on another thread than the owner's. */
inline release_block(t, block, old, top, done) {
    read_cell(t, BYTES + block - 1, old);
    wrong = old == 0;
    assert(!wrong);
    add(t, REFS + block - 1, -1, block_refs, old);
    if
    :: old == 1 ->
        load(t, RETURNED, block_top, top);
        write_cell(t, NEXT + block - 1, top);
        do
        :: done -> break
        :: else ->
            old = top;
            compare_and_swap(t, RETURNED, top, block, block_R1, done);
            if
            :: !done && top != old -> write_cell(t, NEXT + block - 1, top) /* the same again is no news */
            :: else
            fi
        od
    :: else
    fi;
    old = 0;
    top = 0;
    done = false
}

/* gx_block_take: what came back first is written again at once. */
inline reuse(block) {
    write_cell(OWNER, NEXT + block - 1, 0); /* keep() */
    write_cell(OWNER, BYTES + block - 1, 7);
    homes++;
    if
    :: block == 1 && homes_of_1 == 0 ->
        homes_of_1 = 1;
        store(OWNER, REFS, 1, block_taken);
        store(OWNER, MAIL, 1, RELEASE)
    :: else
    fi
}

proctype owner() {
    byte block, next, homes_of_1;
    do
    :: homes == 3 -> break
    :: else ->
        atomic { /* collect_returned(); to find nothing changes nothing, and is left out */
            memory[RETURNED].at[memory[RETURNED].newest].value != 0;
            swap(OWNER, RETURNED, 0, block_A1, block)
        }
        do
        :: block == 0 -> break
        :: else ->
            read_cell(OWNER, NEXT + block - 1, next);
            reuse(block);
            block = next
        od;
        next = 0
    od
}

proctype first() {
    byte old, top;
    bool done;
    release_block(FIRST, 1, old, top, done);
    do
    :: old == 0 -> load(FIRST, MAIL, ACQUIRE, old)
    :: else -> break
    od;
    release_block(FIRST, 1, old, top, done)
}

proctype second() {
    byte old, top;
    bool done;
    release_block(SECOND, 1, old, top, done);
    release_block(SECOND, 2, old, top, done)
}

/* An owner who waits for what does not come is no valid end: pan says so. */
init {
    atomic {
        cells[BYTES] = 7;
        cells[BYTES + 1] = 7;
        memory[REFS].at[0].value = 2;
        memory[REFS + 1].at[0].value = 1;
        run owner();
        run first();
        run second()
    }
}
