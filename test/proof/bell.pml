/* The doorbell with all that it covers. Ringers show news of each kind and ring; the owner steps and, when a step did
 * nothing, may park. What must hold: when all are asleep or gone, the owner has seen everything.
 *
 *     tail      data in a ring that the owner reads
 *     head      room in a ring that the owner writes
 *     inactive  what gx_step looks at and gx_step_has_news does not (finish_rank and the phase are such, too)
 *     waiting   of the inbox, written under its mutex, which is a lock word here
 *
 * The words themselves are relaxed here, though tail and head are not in C: the doorbell alone carries the wake-up. */
#define OWNER 0
#define DATA 1
#define APPLICATION 2
#define ROOM 3
#define THREADS 4
#define BELL 0
#define TAIL 1
#define HEAD 2
#define INACTIVE 3
#define WAITING 4
#define LOCK 5
#define LOCATIONS 6
#define CELLS 1
#define HISTORY 4
#include "weak.pml"
#include "doorbell.pml"

#define TAILS 1 /* 2 holds, too, with 3.5 million states */

byte tail_seen, head_seen, inactive_seen, commands;

inline lock(t, old) {
    atomic {
        memory[LOCK].at[0].value == 0;
        exchange(t, LOCK, 1, ACQUIRE, old, true)
    }
    old = 0
}

inline unlock(t, old) {
    exchange(t, LOCK, 0, RELEASE, old, true);
    old = 0
}

/* gx_step_has_news */
inline look(news) {
    load(OWNER, TAIL, RELAXED, word);
    news = word != tail_seen;
    load(OWNER, HEAD, RELAXED, word);
    news = news || word != head_seen;
    load(OWNER, WAITING, inbox_waiting, word);
    news = news || word != 0;
    word = 0
}

active proctype owner() {
    byte word, old;
    bool done, news;
    do
    ::  load(OWNER, TAIL, RELAXED, word);
        done = word != tail_seen;
        tail_seen = word;
        load(OWNER, HEAD, RELAXED, word);
        head_seen = word; /* what gx_outlet_flush moves is not counted as work */
        load(OWNER, INACTIVE, RELAXED, word);
        inactive_seen = word; /* gx_spout_activation is not counted as work */
        load(OWNER, WAITING, inbox_waiting, word);
        if
        :: word -> /* swap() in src/engine/inbox.c */
            lock(OWNER, old);
            read_cell(OWNER, 0, commands);
            store(OWNER, WAITING, 0, inbox_taken);
            unlock(OWNER, old);
            done = true
        :: else
        fi;
        word = 0;
        if
        :: done -> done = false
        :: else ->
            if
            :: true /* spins */
            :: park(old, news)
            fi
        fi
    od
}

active proctype data() {
    byte old;
    byte i;
    for (i : 1 .. TAILS) {
#ifdef RINGS_FIRST
        ring_bell(DATA, old);
        store(DATA, TAIL, i, RELAXED)
#else
        store(DATA, TAIL, i, RELAXED);
        ring_bell(DATA, old)
#endif
    }
}

active proctype room() {
    byte old;
    store(ROOM, HEAD, 1, RELAXED);
    ring_bell(ROOM, old)
}

active proctype application() {
    byte old;
    store(APPLICATION, INACTIVE, 1, RELAXED); /* gale_runtime_activate, gx_executors_wake */
    ring_bell(APPLICATION, old);
    lock(APPLICATION, old); /* gx_inbox_put */
    write_cell(APPLICATION, 0, 1);
    store(APPLICATION, WAITING, 1, inbox_put);
    ring_bell(APPLICATION, old);
    unlock(APPLICATION, old)
}

active proctype judge() {
    timeout -> lost = tail_seen != TAILS || head_seen != 1 || inactive_seen != 1 || commands != 1;
    assert(!lost)
}
