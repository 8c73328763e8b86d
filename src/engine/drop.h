/* Drop policies: what becomes of records whose subscription would rather lose some than hold its source
 * (gale_drop_oldest, gale_drop_newest).
 *
 * What:    an edge with a policy gates nobody (topology/plan.h), and what waits from it does not count in the task's
 *          queue: it has the high mark for itself, so that it does not hold those who feed the task by other edges. A
 *          record that comes while more than that waits is dropped (newest), or the oldest ones that wait are (oldest),
 *          one list operation each. What is dropped is acked for its trees: its edge is consumed, without children.
 *          A ring that is full because its reader is in a long call is a full queue as well: what would go behind it is
 *          dropped by the writer, whatever the policy, since nobody may take from a ring what it already holds.
 * Bound:   the high mark, and one record, for each edge. A record in execution is never dropped.
 * Threads: the executor's own. Each executor counts what it drops itself; readers sum.
 */
#ifndef GX_ENGINE_DROP_H
#define GX_ENGINE_DROP_H

#include "engine/waiting.h"

/* The input of `task`, one that drops, by which `stream` of component `source` comes; NULL when that does not drop. */
const gx_plan_drop *gx_drop_find(const gx_task *task, uint32_t source, uint32_t stream);

/* The same for a record. */
const gx_plan_drop *gx_drop_of(const gx_executor *ex, const gx_task *task, const gale_head *head);

/* A record is about to come to `task`, here or on another executor, by `drop`. True: it is to be dropped, and has been
 * counted. Else there is room for it, or there would be but for the record in execution. */
bool gx_drop_arriving(gx_executor *ex, gx_task *task, const gx_plan_drop *drop);

/* Settles a record that gx_drop_arriving refused after it had been emitted. */
void gx_drop_settle(gx_executor *ex, const gale_head *head);

/* A place for a record behind all others of `task`, which is this executor's; `drop` may be NULL. NULL when memory is
 * out. */
GX_INLINE void *gx_drop_push(gx_executor *ex, gx_task *task, const gx_plan_drop *drop, uint32_t length) {
    return gx_waiting_push(ex, task, drop && drop->policy == GALE_DROP_OLDEST ? drop->lane : 0, length);
}

/* `weight` more bytes wait that came by `drop`, or fewer. After the latter the oldest make room, if they could not
 * before. */
void gx_drop_queued(gx_task *task, const gx_plan_drop *drop, uint64_t weight);
void gx_drop_dequeued(gx_executor *ex, gx_task *task, const gx_plan_drop *drop, uint64_t weight);

#endif
