/* A spout that emits what it is fed, and keeps how each tuple was answered.
 *
 * What:    tuples are numbered over all fed components of a test; the number is the message id. A component has a queue of the
 *          numbers that it has not emitted yet.
 * Threads: one. Owner: the test's; values and texts are copies. */
#ifndef GX_SIM_FED_H
#define GX_SIM_FED_H

#include "base/alloc.h"
#include "topology/builder.h"

typedef struct gx_fed_tuple {
    const struct gx_fed *to;  /* the component that is fed */
    uint32_t stream;          /* of its outputs */
    gale_value_owned *values; /* a list */
    int32_t state;            /* gale_test_state */
    int32_t reason;
    uint32_t attempts;
    bool final;
    bool noticed;    /* whoever tests has looked at its failure */
    char *component; /* where it failed, or NULL */
    char *text;      /* or NULL */
} gx_fed_tuple;

typedef struct gx_feed {
    gx_heap *heap;
    gx_fed_tuple *list;
    size_t count, capacity;
    bool ended; /* nothing more comes */
} gx_feed;

/* A component that is fed. */
typedef struct gx_fed {
    gx_feed *feed;
    const gx_component *built; /* in whose place it stands */
    uint64_t *queue;
    size_t head, count, capacity;
} gx_fed;

/* The next tuple of `fed`. GALE_NO_MEMORY. */
int gx_fed_add(gx_fed *fed, uint32_t stream, const gale_value *values, size_t count);

void gx_feed_fini(gx_feed *feed);
void gx_fed_fini(gx_fed *fed);

/* The spout; outputs and settings are the caller's to set. */
gale_spout gx_fed_spout(gx_fed *fed);

#endif
