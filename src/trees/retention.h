/* Retention: the spout tuples that may be emitted again, and those of them that wait for it.
 *
 * What:    beside each open tree whose spout has replay or dead letters configured lies its tuple: a block with the
 *          body, and what else an emit needs. The table runs parallel to the ledger's slots, and is not there at all
 *          where nothing is retained.
 *          A tree that failed and may be tried again waits. Waits double from `initial` to `most`, so there are few
 *          different ones: a first-in-first-out list for each is in the order of its ends, without a heap. One list
 *          more is for trees whose generation wrapped, which wait as long as their slot must rest.
 * Threads: its executor's. Owner: the executor; blocks come from, and go back to, its own pool.
 * Limits:  those of the ledger. */
#ifndef GX_TREES_RETENTION_H
#define GX_TREES_RETENTION_H

#include "ds/block.h"
#include "topology/plan.h"
#include "trees/ledger.h"
#include "tuple/flat.h"

/* Places come in segments that never move. */
enum {
    GX_RETENTION_SEGMENT_BITS = 12,
    GX_RETENTION_SEGMENT = 1 << GX_RETENTION_SEGMENT_BITS,
    GX_RETENTION_SEGMENTS = 1 << (GX_LEDGER_SLOT_BITS - GX_RETENTION_SEGMENT_BITS),
};

/* 1 ns doubles 62 times before it passes what an int64_t holds. */
enum { GX_RETENTION_LEVELS = 64, GX_RETENTION_RESTING = GX_RETENTION_LEVELS, GX_RETENTION_LISTS };

typedef struct gx_retained {
    gx_block *body;    /* NULL: nothing is retained */
    int64_t first;     /* ns of the first emit */
    uint32_t attempts; /* so far */
    uint16_t stream;
    uint16_t direct; /* the task that the spout named, or 0 */
    bool letter;     /* a dead letter of the engine's own */
} gx_retained;

static_assert(sizeof(gx_retained) == 32, "a retained tuple takes 32 bytes beside its body");

typedef struct gx_retention {
    gx_ledger *ledger;
    gx_blocks *blocks;
    gx_retained **segments; /* [GX_RETENTION_SEGMENTS]; NULL: nothing is retained */
    int64_t initial, most;  /* ns */
    uint32_t last_level;    /* the first that waits for `most` */
    gx_tree_list waiting[GX_RETENTION_LISTS];
} gx_retention;

/* Nothing is allocated where the plan retains nothing. GALE_NO_MEMORY: still to be ended. */
int gx_retention_init(gx_retention *retention, gx_ledger *ledger, gx_blocks *blocks, const gx_plan *plan);
void gx_retention_fini(gx_retention *retention);

/* What is kept for the tree in a slot, or NULL. */
GX_INLINE gx_retained *gx_retention_at(const gx_retention *retention, uint64_t slot) {
    gx_retained *segment = retention->segments ? retention->segments[slot >> GX_RETENTION_SEGMENT_BITS] : NULL;
    gx_retained *kept = segment ? &segment[slot & (GX_RETENTION_SEGMENT - 1)] : NULL;
    return kept && kept->body ? kept : NULL;
}

/* Keeps a tuple for the tree `root`; `what` says all but its body. GALE_NO_MEMORY, GALE_TOO_LARGE, GALE_INVALID. */
int gx_retention_keep(gx_retention *retention, uint64_t root, gx_retained what, const gale_value *values, size_t count);

/* The same of a body that is encoded. GALE_NO_MEMORY. */
int gx_retention_keep_body(gx_retention *retention, uint64_t root, gx_retained what, const gale_body *body,
                           size_t size);

/* The place of the tree `root`, whose `body` is a block with so much room; the rest, and what is in it, is to be filled in.
 * NULL when memory is out. */
gx_retained *gx_retention_place(gx_retention *retention, uint64_t root, size_t size);

/* The same for a brief body (tuple/flat.h). */
GX_INLINE gx_retained *gx_retention_place_brief(gx_retention *retention, uint64_t root) {
    static_assert((int)GX_FLAT_BRIEF <= (int)GX_BLOCK_SMALL, "it goes into the smallest block");
    uint64_t slot = gx_ledger_slot(root);
    gx_retained *segment = retention->segments[slot >> GX_RETENTION_SEGMENT_BITS];
    if (GX_UNLIKELY(!segment)) return gx_retention_place(retention, root, GX_FLAT_BRIEF);
    gx_retained *kept = &segment[slot & (GX_RETENTION_SEGMENT - 1)];
    GX_ASSERT(!kept->body);
    kept->body = gx_block_take_small(retention->blocks);
    if (GX_UNLIKELY(!kept->body)) return NULL;
    retention->ledger->counters.retained_bytes += GX_BLOCK_SMALL;
    return kept;
}

/* Forgets what gx_retention_at found. The same by its slot, if there is something: */
GX_INLINE void gx_retention_forget(gx_retention *retention, gx_retained *kept) {
    GX_CHECK(retention->ledger->counters.retained_bytes >= gx_block_size(kept->body));
    retention->ledger->counters.retained_bytes -= gx_block_size(kept->body);
    gx_block_release(kept->body, retention->blocks);
    kept->body = NULL;
}

void gx_retention_drop(gx_retention *retention, uint64_t slot);

/* The failed or late tree of `answer`, which is kept, waits for its next attempt. */
void gx_retention_wait(gx_retention *retention, const gx_answer *answer, int64_t now);

/* A tree whose wait is over; false when there is none. */
bool gx_retention_next(gx_retention *retention, int64_t now, uint64_t *ret_slot);

/* When the first wait is over; INT64_MAX: there is none. */
int64_t gx_retention_due(const gx_retention *retention);

/* How long a tree waits after so many attempts. */
int64_t gx_retention_backoff(const gx_retention *retention, uint32_t attempts);

/* How many trees are in the lists of those that wait. What does not hold between two steps, in words, or NULL. */
uint64_t gx_retention_waiting(const gx_retention *retention);
const char *gx_retention_flaw(const gx_retention *retention);

#endif
