/* The keyed states of one task (gale/state.h): what is in memory, what is read from the store when it is not, and what
 * changed since the last checkpoint.
 *
 * What:    without a store everything is in memory. With one, a key that is not in memory is looked up there; what the
 *          store has may leave memory when the states take more than their share, what changed since may not. A cut
 *          writes what changed since the last one, and costs as much.
 *          What is over its time to live is as though it were not; it goes for good a few at a time, when cells are
 *          made, at a cut, and when a checkpoint lasts.
 * Threads: the task's; the store is read on it, too. Owner: who made it. */
#ifndef GX_TOPOLOGY_KEYED_H
#define GX_TOPOLOGY_KEYED_H

#include "base/clock.h"
#include "topology/keyed_store.h"

#include <gale/state.h>

/* What there is to know of the task. Strings and the store live as long as the states. */
typedef struct gx_keyed_about {
    gx_heap *heap;
    gale_clock clock;
    uint64_t seed;           /* of the maps */
    const gale_store *store; /* NULL: the run is not durable */
    uint64_t memory;         /* bytes, above which what the store has leaves memory; 0: never */
    const char *component;
    const char *kept; /* the name that stands for it in keys of the store; NULL: its own */
    uint32_t task_index, task_count;
    bool by_key;                                         /* fields grouping on every input */
    void (*failed)(void *user, const gale_error *error); /* the store could not be read: the run is to stop */
    void *user;
} gx_keyed_about;

typedef struct gx_keyed_state gx_keyed_state;

typedef struct gx_keyed {
    gx_keyed_about about;
    gx_keyed_state *first;
    gx_keyed_state *hand; /* whose cells are looked at next */
    uint64_t used;        /* bytes of all cells */
    uint64_t committed;   /* the last checkpoint that lasts */
    uint32_t walks;       /* under way: nothing leaves memory */
    bool expires;         /* some state has a time to live */
} gx_keyed;

void gx_keyed_init(gx_keyed *keyed, const gx_keyed_about *about);
void gx_keyed_fini(gx_keyed *keyed);

/* As gale_state_open, with a report. */
int gx_keyed_open(gx_keyed *keyed, const gale_state_options *options, gale_state **ret_state, gale_error *error);

/* What changed since the last cut, in the order of the states. GALE_NO_MEMORY: the checkpoint, and the run with it, fails.
 * Only with a store. */
int gx_keyed_cut(gx_keyed *keyed, uint64_t checkpoint, gx_changes *to);

/* What was cut up to this checkpoint is in the store. */
void gx_keyed_committed(gx_keyed *keyed, uint64_t checkpoint);

/* What does not hold, in words, or NULL. */
const char *gx_keyed_flaw(const gx_keyed *keyed);

#endif
