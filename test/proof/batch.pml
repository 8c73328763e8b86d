/* The way home of batches that another thread has read (src/ds/batch.c). They go home in chains: FIRST returns 1 and 2 at
 * once, SECOND returns 3, the owner uses 1 again at once and FIRST returns it alone. So a push may meet a stack that was
 * emptied and filled again with the same batch on top, and a chain is pushed beneath another one. What must hold: no
 * batch is used again while somebody reads it, and each comes home. The way there is the ring's matter (batch_ring.pml):
 * here it is a mailbox. */
#define OWNER 0
#define FIRST 1
#define SECOND 2
#define THREADS 3
#define RETURNED 0
#define MAIL 1
#define LOCATIONS 2
#define BYTES 0 /* by batch: 0, 1, 2 */
#define NEXT 3  /* by batch: 3, 4, 5 */
#define CELLS 6
#define HISTORY 8
#include "weak.pml"

byte homes;

/* It was filled before; who has it reads it, and goes on to the end of it. */
inline read_batch(t, batch, old) {
    read_cell(t, BYTES + batch - 1, old);
    wrong = old != 7;
    assert(!wrong);
    old = 0;
    write_cell(t, BYTES + batch - 1, 8) /* its read offset */
}

/* gx_batches_return */
inline return_chain(t, begin, end, old, top, done) {
    load(t, RETURNED, batch_top, top);
    write_cell(t, NEXT + end - 1, top);
    do
    :: done -> break
    :: else ->
        old = top;
        compare_and_swap(t, RETURNED, top, begin, batch_R1, done);
        if
        :: !done && top != old -> write_cell(t, NEXT + end - 1, top) /* the same again is no news */
        :: else
        fi
    od;
    old = 0;
    top = 0;
    done = false
}

/* What came back is filled again at once. */
inline reuse(batch) {
    write_cell(OWNER, NEXT + batch - 1, 0); /* keep() */
    write_cell(OWNER, BYTES + batch - 1, 7);
    homes++;
    if
    :: batch == 1 && homes_of_1 == 0 ->
        homes_of_1 = 1;
        store(OWNER, MAIL, 1, RELEASE)
    :: else
    fi
}

proctype owner() {
    byte batch, next, homes_of_1;
    do
    :: homes == 4 -> break
    :: else ->
        atomic { /* collect_returned(); to find nothing changes nothing, and is left out */
            memory[RETURNED].at[memory[RETURNED].newest].value != 0;
            swap(OWNER, RETURNED, 0, batch_A1, batch)
        }
        do
        :: batch == 0 -> break
        :: else ->
            read_cell(OWNER, NEXT + batch - 1, next);
            reuse(batch);
            batch = next
        od;
        next = 0
    od
}

proctype first() {
    byte old, top;
    bool done;
    read_batch(FIRST, 1, old);
    read_batch(FIRST, 2, old);
    write_cell(FIRST, NEXT, 2); /* gx_executor_send_home */
    return_chain(FIRST, 1, 2, old, top, done);
    do
    :: old == 0 -> load(FIRST, MAIL, ACQUIRE, old)
    :: else -> break
    od;
    old = 0;
    read_batch(FIRST, 1, old);
    return_chain(FIRST, 1, 1, old, top, done)
}

proctype second() {
    byte old, top;
    bool done;
    read_batch(SECOND, 3, old);
    return_chain(SECOND, 3, 3, old, top, done)
}

/* An owner who waits for what does not come is no valid end: pan says so. */
init {
    atomic {
        cells[BYTES] = 7;
        cells[BYTES + 1] = 7;
        cells[BYTES + 2] = 7;
        run owner();
        run first();
        run second()
    }
}
