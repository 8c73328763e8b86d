/* Answering tuples: their acks and failures go to the keepers of their trees, here or on other executors. A keeper is
 * the ledger that the spout's entry is in or, where there are acker tasks, one of those, which tells that ledger.
 * Threads: the executor's own. */
#ifndef GX_ENGINE_ACKS_H
#define GX_ENGINE_ACKS_H

#include "engine/executor.h"

/* The spout's unit of a new tree: the edges that its emit created. */
void gx_acks_begin(gx_executor *ex, uint64_t root, uint64_t edges);

/* One tree is told these edges. */
void gx_acks_ack_elsewhere(gx_executor *ex, uint64_t root, uint64_t edges);

GX_INLINE void gx_acks_ack_one(gx_executor *ex, uint64_t root, uint64_t edges) {
    if (GX_LIKELY(root >> GX_LEDGER_SHIFT == ex->keeper))
        gx_ledger_ack(&ex->ledger, root, edges);
    else
        gx_acks_ack_elsewhere(ex, root, edges);
}

/* A tuple with these roots is acked; its children's edges sum to `ack`. */
void gx_acks_ack_many(gx_executor *ex, gx_roots roots, uint64_t ack);

GX_INLINE void gx_acks_ack(gx_executor *ex, gx_roots roots, uint64_t ack) {
    if (GX_LIKELY(roots.count == 1))
        gx_acks_ack_one(ex, roots.pairs[0].root, roots.pairs[0].edge ^ ack);
    else
        gx_acks_ack_many(ex, roots, ack);
}

/* It failed, on `task`. The first answer to each tree wins. */
void gx_acks_fail(gx_executor *ex, const gx_task *task, gx_roots roots, int32_t reason, const char *text);

/* The timeouts of its trees begin anew. */
void gx_acks_reset(gx_executor *ex, gx_roots roots);

/* An item from another executor. */
void gx_acks_receive(gx_executor *ex, gx_inlet *inlet, const uint64_t item[2]);

/* A tuple with these roots found the queue of `task` at its limit, or no memory there: its trees fail with this reason, or
 * it is shed. */
void gx_acks_overflow(gx_executor *ex, gx_task *task, gx_roots roots, gale_reason reason);

/* Counts a tuple that the task's queue did not take: it failed, or it is lost, of which the first is told. */
void gx_acks_count_overflow(gx_task *task, bool tracked);

#endif
