/* What tasks save: sequences of records, each the body of a tuple (tuple/body.h), and pledges. The other side of
 * gale/state.h, for whoever runs components: the engine, the simulator, a test harness.
 *
 *     records: u64 size of the body, the body; and so on, all at multiples of 8
 *
 * Threads: one at a time. Owner: the savers' and savers' lists are their maker's. */
#ifndef GX_TOPOLOGY_SAVER_H
#define GX_TOPOLOGY_SAVER_H

#include "base/buf.h"
#include "base/str.h"

#include <gale/state.h>

/* What was promised, in the order of promising. */
typedef struct gx_pledge {
    const gale_pledge_ops *ops;
    void *self;
    const char *component; /* whose; lives as long as the plan */
    bool kept;
} gx_pledge;

typedef struct gx_pledges {
    gx_heap *heap;
    gx_pledge *list;
    size_t count, capacity;
} gx_pledges;

/* Each in turn, the commits but for those that may come late; the first error ends it. */
int gx_pledges_prepare(const gx_pledges *pledges, gale_error *error);
int gx_pledges_commit(gx_pledges *pledges, gale_error *error);

/* May it come late, and is not kept yet? */
bool gx_pledge_is_owed(const gx_pledge *pledge);

/* Commits those that are owed, of one component; the first that is not committed ends it. GALE_OK: all are kept; GALE_AGAIN, with words; an error. */
int gx_pledges_keep(gx_pledges *pledges, gale_error *error);

/* Drops all, or those that are kept, and forgets them; the memory stays. */
void gx_pledges_drop_kept(gx_pledges *pledges);
void gx_pledges_drop(gx_pledges *pledges);

/* The same, and frees it. */
void gx_pledges_fini(gx_pledges *pledges);

struct gale_saver {
    gx_buf *records; /* where they go; 8-aligned */
    gx_pledges *pledges;
    const char *component;
    uint64_t checkpoint;
    int failed; /* the first error; 0: none */
};

/* Of one task, as the plan has it now, and what it saved. */
struct gale_saved {
    gale_str records; /* what is left; checked with gx_saved_is_whole */
    gx_heap *heap;
    gale_value *values; /* of the last record */
    size_t capacity;
    uint64_t checkpoint;
    uint32_t part, parts; /* of the component's tasks then */
    uint32_t task_index, task_count;
    bool complete;  /* the run had finished */
    bool regrouped; /* keys lead to other tasks than before */
    bool by_key;    /* tuples come to the task by fields grouping, on every input */
};

/* Appends one record to `records`. As gale_save. */
int gx_record_add(gx_buf *records, const gale_value *values, size_t count);

/* Is it a sequence of whole records? For bytes that come from elsewhere; `bytes` at a multiple of 8. */
bool gx_records_are_whole(gale_str bytes);

/* Takes the first of whole records off. False: there is none. */
bool gx_records_next(gale_str *records, const gale_body **ret_body);

void gx_saved_fini(gale_saved *saved);

/* The task, of so many, that fields grouping brings these values to. */
uint32_t gx_saved_owner(const gale_value *key, size_t count, uint32_t tasks);

#endif
