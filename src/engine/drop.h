/* Drop policies: what becomes of rows whose subscription would rather lose some than hold its source (gale_drop_oldest,
 * gale_drop_newest).
 *
 * What:    an edge with a policy gates nobody (topology/plan.h), its rows have batches of their own, and what waits from it
 *          does not count in the task's queue: it has the high mark for itself, so that it does not hold those who feed
 *          the task by other edges. When a batch is to be opened while more than that waits, its row is dropped
 *          (newest), or the oldest ones that wait are (oldest). What is dropped is acked for its trees: its edge is
 *          consumed, without children.
 *          A ring that is full because its reader is in a long call is a full queue as well: what would go behind it is
 *          dropped by the writer, whatever the policy, since nobody may take from a ring what it already holds.
 * Bound:   the high mark, and one batch, for each edge. A row in execution is never dropped, nor one of its batch.
 * Threads: the executor's own. Each executor counts what it drops itself; readers sum.
 */
#ifndef GX_ENGINE_DROP_H
#define GX_ENGINE_DROP_H

#include "engine/waiting.h"

/* The input of `task`, one that drops, by which `stream` of component `source` comes; NULL when that does not drop. */
const gx_plan_drop *gx_drop_find(const gx_task *task, uint32_t source, uint32_t stream);

/* The input of a batch's lane, which is not 0. */
GX_INLINE const gx_plan_drop *gx_drop_at(const gx_task *task, uint16_t lane) {
    GX_CHECK(lane >= 1 && lane <= task->plan->drop_count);
    return &task->plan->drops[lane - 1];
}

/* Something is about to come to `task`, here or on another executor, by `drop`. True: it is to be dropped. Else there is
 * room for it, or there would be but for what is in execution. */
bool gx_drop_refuses(gx_executor *ex, gx_task *task, const gx_plan_drop *drop);

/* So many rows were dropped. */
void gx_drop_count(gx_executor *ex, const gx_task *task, const gx_plan_drop *drop, uint64_t rows);

/* Drops what is left of a batch that was refused after it had been emitted, and sends it home. */
void gx_drop_settle(gx_executor *ex, const gx_task *task, gx_batch *batch);

/* `weight` more bytes wait that came by `drop`, or fewer. After the latter the oldest make room, if they could not
 * before. */
void gx_drop_queued(gx_task *task, const gx_plan_drop *drop, uint64_t weight);
void gx_drop_dequeued(gx_executor *ex, gx_task *task, const gx_plan_drop *drop, uint64_t weight);

#endif
