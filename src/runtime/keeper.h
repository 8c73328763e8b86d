/* What one component has promised with checkpoints that last, and may be late with (GALE_PLEDGE_LATE), and how it is kept.
 *
 *     kept --give--> owed --all are committed--> kept
 *                     |---- some say "not now" --> away --the pause is over--> owed
 *                     '---- an error --> failed: the run stops
 *
 * What:    the pledges of the newest checkpoint that lasts stand for those of all before it: what these have not kept is pledged again in each. So
 *          there are never more than two lists of them, one that is worked on and one that waits for its turn, however long a system is away.
 *          They are in the order of executors, then of pledging; behind one that is not committed the others wait.
 *          Pauses grow from GX_KEEPER_PAUSE to GX_KEEPER_PAUSE_MAX. They are of the run's clock.
 *          Each component has a keeper of its own (runtime/keepers.h): a system that is away, or hangs, is waited for by nobody else.
 * Threads: a thread of its own calls gx_keeper_try, or, without one, the committer; what is given is the committer's. What `state` is, is under the
 *          lock of the monitor, which is the checkpoint's and is notified of each change. */
#ifndef GX_RUNTIME_KEEPER_H
#define GX_RUNTIME_KEEPER_H

#include "base/os/thread.h"
#include "engine/executor.h"

/* ns, between two attempts. */
#define GX_KEEPER_PAUSE (100 * GALE_MILLISECOND)
#define GX_KEEPER_PAUSE_MAX (10 * GALE_SECOND)

typedef struct gx_keeper_state {
    uint64_t
        given; /* the number of the newest checkpoint whose promises it has; of those of no other one they are kept, unless `kept` is the same */
    uint64_t tried; /* the newest of which all were asked to commit */
    uint64_t kept;  /* the newest of which all have */
    bool was_owing; /* not all of the one before was kept when it was given the newest */
    bool away;      /* somebody said "not now" last, and this is why; or, when it has failed, that */
    int failed;
    gale_error why;
} gx_keeper_state;

typedef struct gx_keeper {
    struct gx_keeper *next;
    gx_shared *shared;
    gx_monitor *monitor;
    const char *component; /* lives as long as the plan */
    gx_thread thread;
    gx_pledges coming; /* the committer's: those of the checkpoint that is made to last */
    size_t expected;   /* so many come, for which there is room */
    gx_pledges given;  /* under the lock */
    gx_pledges held;   /* whoever tries */
    uint64_t held_number;
    /* Under the lock. */
    gx_keeper_state state;
    bool is_given, quits;
    int64_t pause, due;
    int64_t owed_since; /* not all was kept from then on */
    bool said;          /* that somebody was away, and not yet that it is over */
} gx_keeper;

/* One that has kept all up to checkpoint `number`. NULL: no memory. */
gx_keeper *gx_keeper_new(gx_shared *shared, gx_monitor *monitor, const char *component, uint64_t number);

/* Drops all. Its thread does not run. */
void gx_keeper_free(gx_keeper *keeper);

/* Takes what is coming: its checkpoint lasts. With the lock held; what it no longer needs is then in `coming`, to be dropped without. */
void gx_keeper_give(gx_keeper *keeper, uint64_t number);

/* Commits what is owed, if it is time. GALE_OK; an error, with which the run stops. */
int gx_keeper_try(gx_keeper *keeper, gale_error *error);

/* Is something not kept that was given? With the lock held. */
GX_INLINE bool gx_keeper_owes(const gx_keeper *keeper) {
    return keeper->state.kept < keeper->state.given;
}

/* A thread that tries, until gx_keeper_join, which waits at most `nanoseconds`. Before that, it is told to end. */
bool gx_keeper_start(gx_keeper *keeper);
void gx_keeper_quit(gx_keeper *keeper);
bool gx_keeper_join(gx_keeper *keeper, int64_t nanoseconds);

#endif
