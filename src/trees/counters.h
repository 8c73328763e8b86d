/* Figures of a task. One writer, the task's executor: plain adds, which any thread may read at any time. */
#ifndef GX_TREES_COUNTERS_H
#define GX_TREES_COUNTERS_H

#include "base/atomic.h"

typedef struct gx_task_counters {
    gx_atomic64 executed; /* of an acker task; of others by its edges */
    gx_atomic64 acked;    /* of a spout; the same */
    gx_atomic64 failed;
    gx_atomic64 timed_out;
    gx_atomic64 rejected;
    gx_atomic64 forgotten;
    gx_atomic64 misused;
    gx_atomic64 errors;
    gx_atomic64 ticks;
    gx_atomic64 held;
    gx_atomic64 shed;
    gx_atomic64 overflowed;
    gx_atomic64 expired;
    gx_atomic64 queued_max;
    gx_atomic64 samples;
    gx_atomic64 nanoseconds;
    gx_atomic64 nanoseconds_max;
    gx_atomic64 stopped; /* of a spout */
} gx_task_counters;

/* Tuples with one target each are counted apart: one add. */
typedef struct gx_stream_counters {
    gx_atomic64 single;
    gx_atomic64 other;
    gx_atomic64 other_transferred;
} gx_stream_counters;

GX_INLINE uint64_t gx_stream_emitted(const gx_stream_counters *c) {
    return gx_load_relaxed(&c->single) + gx_load_relaxed(&c->other);
}

GX_INLINE uint64_t gx_stream_transferred(const gx_stream_counters *c) {
    return gx_load_relaxed(&c->single) + gx_load_relaxed(&c->other_transferred);
}

/* The trees of one ledger. Published together once a step, so that at every reading
 *     trees == acked + failed + timed_out + rejected + stopped + open. */
typedef struct gx_tree_counters {
    uint64_t trees;
    uint64_t acked;
    uint64_t failed;
    uint64_t timed_out;
    uint64_t stopped;
    uint64_t open;
    uint64_t stale;
    uint64_t rejected;
    uint64_t replayed; /* emits after the first of a tree, that succeeded */
    uint64_t given_up; /* trees that failed or were rejected, and are not emitted again */
    uint64_t dead_letters;
    uint64_t dead_letters_lost; /* of those, what the subscriber did not take */
    uint64_t retained_bytes;    /* blocks that hold tuples which may be emitted again */
} gx_tree_counters;

#endif
