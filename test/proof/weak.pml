/* C11 atomics as a machine: acquire, release and relaxed accesses, and data races.
 *
 * What:    the operational reading of C11's release-acquire fragment (views over messages). A location is the list of
 *          its writes in modification order. A thread has a view: for each location the newest write that it must
 *          know. A load may read any write that is not older than that: this is what stale reads are. A releasing
 *          write carries its thread's view, an acquiring read joins it to its own; nothing else makes views grow. A
 *          read-modify-write reads the newest write, and passes on what that one carried: a release sequence.
 *          Plain memory is a cell. An access to a cell whose earlier writes (for a write: and reads) are not in the
 *          thread's view is a data race.
 * Limits:  no fences and no consume, which gale does not use. Sequentially consistent accesses count as acq_rel, which
 *          is weaker: what holds here holds for them. A write goes to the end of its location's list; that loses
 *          nothing, because each location here has either one writer at a time, in an order that all agree about, or
 *          read-modify-writes only. Loads come in program order: that a load might be made later than a store behind
 *          it matters for plain reads alone, and these are judged by views and not by values.
 *
 * Before this file a model defines LOCATIONS, CELLS, THREADS and HISTORY, the writes that a location can hold.
 */
#define RELAXED 0
#define ACQUIRE 1
#define RELEASE 2
#define ACQ_REL 3

/* A view: by location the index of the newest write known; by cell the number of writes known; by cell and thread the
 * number of reads known. */
#define WRITES_OF(cell) (LOCATIONS + (cell))
#define READS_OF(cell, reader) (LOCATIONS + CELLS + (cell) * THREADS + (reader))
#define SEEN (LOCATIONS + CELLS + CELLS * THREADS)

typedef message {
    byte value;
    byte seen[SEEN]
}

typedef location {
    byte newest; /* 0: only the first value */
    message at[HISTORY]
}

typedef view {
    byte seen[SEEN]
}

location memory[LOCATIONS];
view thread[THREADS];
view present;      /* all writes and reads of cells so far */
byte cells[CELLS]; /* their values */
byte pick;         /* between the steps of one load */
hidden byte k;
hidden byte n;

/* What a run can show to be wrong. */
bool race;  /* plain memory in use by two */
bool wrong; /* a value that was never meant to be seen */
bool lost;  /* all are asleep, and something is not done */
bool small; /* the model is too small for itself: HISTORY */

inline learn(t, carried) {
    for (k : 0 .. SEEN - 1) {
        if
        :: carried.seen[k] > thread[t].seen[k] -> thread[t].seen[k] = carried.seen[k]
        :: else
        fi
    }
}

inline load(t, l, order, result) {
    atomic {
        pick = thread[t].seen[l];
        do
        :: pick < memory[l].newest -> pick++
        :: break
        od;
        skip;
        d_step {
            thread[t].seen[l] = pick;
            result = memory[l].at[pick].value;
            if
            :: (order) & ACQUIRE -> learn(t, memory[l].at[pick])
            :: else
            fi;
            pick = 0
        }
    }
}

/* To be used inside d_step. `carry`: what the write takes over from the one before it, being a read-modify-write. */
inline append(t, l, content, order, carry) {
    n = memory[l].newest + 1;
    small = n >= HISTORY;
    assert(!small);
    thread[t].seen[l] = n;
    for (k : 0 .. SEEN - 1) {
        memory[l].at[n].seen[k] = ((carry) -> memory[l].at[n - 1].seen[k] : 0);
        if
        :: ((order) & RELEASE) && thread[t].seen[k] > memory[l].at[n].seen[k] ->
            memory[l].at[n].seen[k] = thread[t].seen[k]
        :: else
        fi
    }
    memory[l].at[n].seen[l] = n;
    memory[l].at[n].value = content;
    memory[l].newest = n
}

inline store(t, l, content, order) {
    d_step { append(t, l, content, order, false) }
}

inline acquire_newest(t, l, order) {
    if
    :: (order) & ACQUIRE -> learn(t, memory[l].at[memory[l].newest])
    :: else
    fi
}

/* `old` is the value before. */
inline add(t, l, delta, order, old) {
    d_step {
        acquire_newest(t, l, order);
        old = memory[l].at[memory[l].newest].value;
        append(t, l, old + (delta), order, true)
    }
}

inline swap(t, l, content, order, old) {
    d_step {
        acquire_newest(t, l, order);
        old = memory[l].at[memory[l].newest].value;
        append(t, l, content, order, true)
    }
}

/* A weak compare-and-swap that is relaxed when it fails: then `expected` is any value that a load may see. */
inline compare_and_swap(t, l, expected, content, order, done) {
    atomic {
        if
        :: memory[l].at[memory[l].newest].value == expected ->
            d_step {
                acquire_newest(t, l, order);
                append(t, l, content, order, true);
                done = true
            }
        :: load(t, l, RELAXED, expected)
        fi
    }
}

/* An exchange on a location that is never loaded otherwise: only its newest write is of interest, so that any number of
 * them takes no room. `whole` false is the mutant that stores, and does not pass on what the write before carried. */
inline exchange(t, l, content, order, old, whole) {
    d_step {
        old = memory[l].at[0].value;
        if
        :: ((order) & ACQUIRE) && (whole) -> learn(t, memory[l].at[0])
        :: else
        fi;
        for (k : 0 .. SEEN - 1) {
            if
            :: !(whole) -> memory[l].at[0].seen[k] = 0
            :: else
            fi;
            if
            :: ((order) & RELEASE) && thread[t].seen[k] > memory[l].at[0].seen[k] ->
                memory[l].at[0].seen[k] = thread[t].seen[k]
            :: else
            fi
        }
        memory[l].at[0].value = content
    }
}

inline read_cell(t, c, result) {
    d_step {
        race = thread[t].seen[WRITES_OF(c)] != present.seen[WRITES_OF(c)];
        assert(!race);
        present.seen[READS_OF(c, t)]++;
        thread[t].seen[READS_OF(c, t)] = present.seen[READS_OF(c, t)];
        result = cells[c]
    }
}

inline write_cell(t, c, content) {
    d_step {
        race = thread[t].seen[WRITES_OF(c)] != present.seen[WRITES_OF(c)];
        for (k : 0 .. THREADS - 1) {
            race = race || thread[t].seen[READS_OF(c, k)] != present.seen[READS_OF(c, k)]
        }
        assert(!race);
        present.seen[WRITES_OF(c)]++;
        thread[t].seen[WRITES_OF(c)] = present.seen[WRITES_OF(c)];
        cells[c] = content
    }
}
