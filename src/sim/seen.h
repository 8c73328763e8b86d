/* What components under test have emitted and reported, in the order in which it happened.
 * Threads: one. Owner: values and texts are copies. Limits: GX_SEEN_MAX tuples; what comes then is not kept (`full`). */
#ifndef GX_SIM_SEEN_H
#define GX_SIM_SEEN_H

#include "base/alloc.h"
#include "sim/watcher.h"

enum { GX_SEEN_MAX = 1000000 };

typedef struct gx_seen_tuple {
    const gx_component *component;
    uint32_t stream;
    bool looked_at;
    uint32_t count;
    gale_value_owned *list;
    gale_value *values; /* of the list */
} gx_seen_tuple;

typedef struct gx_seen_text {
    char *component;
    char *text;
} gx_seen_text;

typedef struct gx_seen {
    gx_heap *heap;
    gx_seen_tuple *tuples;
    size_t tuple_count, tuple_capacity;
    gx_seen_text *reports, *logged;
    size_t report_count, report_capacity, logged_count, logged_capacity;
    bool full; /* or memory is out */
} gx_seen;

/* Looks on for the simulator. */
gx_sim_watcher gx_seen_watcher(gx_seen *seen);

/* A line of the log. */
void gx_seen_log(gx_seen *seen, const char *component, const char *text);

void gx_seen_fini(gx_seen *seen);

#endif
