/* The keepers of a run (runtime/keeper.h), one for each component that has pledged something that may be late.
 *
 *     room --the store has the checkpoint--> give --> each keeper: kept, or owed ...
 *
 * What:    a component's is made when it first pledges so, in the order of that, and stays to the end of the run. Room for what is given is made
 *          before the checkpoint lasts: then giving cannot fail.
 *          In a run with threads each has its own, from the first time that it is given something: of two systems none waits for the other.
 * Threads: _room, _give, _try and gx_keepers_tell_left are the committer's, who alone makes keepers; _join and _fini come after it. The questions
 *          are asked with the lock of the monitor held, which is the checkpoint's. */
#ifndef GX_RUNTIME_KEEPERS_H
#define GX_RUNTIME_KEEPERS_H

#include "runtime/keeper.h"

typedef struct gx_keepers {
    gx_shared *shared;
    gx_monitor *monitor;
    uint64_t number;  /* the newest checkpoint that they were given */
    bool threaded;    /* each has a thread */
    gx_keeper *first; /* under the lock, and so is `next` of each; the committer reads them without */
} gx_keepers;

/* `number` is the checkpoint that the run goes on from. */
void gx_keepers_init(gx_keepers *keepers, gx_shared *shared, gx_monitor *monitor, uint64_t number);
void gx_keepers_fini(gx_keepers *keepers);

/* Makes keepers, and room in them, for what executors' pledges owe. GALE_NO_MEMORY, with words. */
int gx_keepers_room(gx_keepers *keepers, gale_error *error);

/* Takes what is owed of the executors' pledges, behind gx_keepers_room: their checkpoint lasts. An error when a thread cannot be started. */
int gx_keepers_give(gx_keepers *keepers, uint64_t number, gale_error *error);

/* Each that is due, where they have no threads. The first error, with which the run stops. */
int gx_keepers_try(gx_keepers *keepers, gale_error *error);

/* Warns of what is left to the next run. */
void gx_keepers_tell_left(gx_keepers *keepers);

/* Has each kept all up to checkpoint `number`? Or has each been asked for it at least, or said "not now"; or, with `behind`, owed something from
 * before? Has one failed? */
bool gx_keepers_kept(const gx_keepers *keepers, uint64_t number);
bool gx_keepers_asked(const gx_keepers *keepers, uint64_t number, bool behind);
bool gx_keepers_failed(const gx_keepers *keepers);

/* For how long something is not kept, ns; 0: all is. And when the first of those that owe is to be asked again; INT64_MAX: none owes. */
int64_t gx_keepers_owed(const gx_keepers *keepers);
int64_t gx_keepers_due(const gx_keepers *keepers);

/* Ends the threads; waits at most `nanoseconds` for all of them. NULL; or the component of one that is still in its commit. */
const char *gx_keepers_join(gx_keepers *keepers, int64_t nanoseconds);

#endif
