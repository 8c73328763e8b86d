/* Turns: the batches that a task fills while its functions run.
 *
 * What:    every entry into a component, every command of a remote and every replay is a turn of its task. While it lasts,
 *          what the task emits goes into one open batch a target; a batch is closed when it is full and when the turn
 *          ends, and only then does it wait where all can see it, in the order of the closing, which for one target is
 *          the order of the rows. So no row joins a batch that is published or in execution.
 *          Opening is the slow step in which all that holds for a batch's rows is looked at: the limit of its target's
 *          queue, drop policies, memory. Its whole room counts from then on. A row costs one comparison.
 *
 *              none --open--> open --full, end of the turn--> in a queue, an outlet or a lane
 *                              +-----no row was written-----> back in the pool
 *
 * Threads: the executor's own. Where two tasks of an executor take turns inside one call (one emits with the other's
 *          collector), each change of the emitter is the end of a turn. */
#ifndef GX_ENGINE_TURN_H
#define GX_ENGINE_TURN_H

#include "engine/executor.h"

/* What an opening says, beside GALE_OK and GALE_NO_MEMORY. */
enum {
    GX_TURN_FULL = 1,    /* the target's queue is at the hard limit */
    GX_TURN_DROPPED = 2, /* the input would rather lose the row */
};

/* So much is enough in the local queue: it keeps the executor busy, and stays in its cache. Who fills it is interrupted. */
enum { GX_TURN_ENOUGH = 96 << 10 }; /* bytes */

/* Such a part of a ring, once it is filled, is shown at once: the other executor may begin, while the step goes on here. */
enum { GX_TURN_SHOWN = 8 };

/* The turn is `task`'s. */
GX_INLINE void gx_turn_take(gx_executor *ex, const gx_task *task);

/* Is there room in the open batch for a row of `length` bytes, that comes by `lane`? */
GX_INLINE bool gx_turn_has_room(const gx_open *open, uint16_t lane, uint32_t length) {
    const gx_batch *batch = open->batch;
    if (!batch || batch->lane != lane) return false;
    uint32_t at = (uint32_t)(open->at - batch->bytes);
    return at < batch->room && length <= gx_batch_space(batch) - at;
}

/* A new batch for `target`, whose first row has `length` bytes and comes by `drop` (NULL: an input that does not drop);
 * the one before is closed. The turn is the emitter's. */
int gx_turn_open(gx_executor *ex, gx_task *target, const gx_plan_drop *drop, uint32_t length);

/* The same, unless there is room already. */
GX_INLINE int gx_turn_make_room(gx_executor *ex, gx_task *target, const gx_plan_drop *drop, uint32_t length) {
    if (gx_turn_has_room(&ex->open[target->id], drop ? drop->lane : 0, length)) return GALE_OK;
    return gx_turn_open(ex, target, drop, length);
}

/* What was written at `at` is a row of this length, which names blocks of so many bytes. When those are many, or the
 * target's queue is at the limit by them, the batch is closed: the next row is looked at. */
void gx_turn_written(gx_executor *ex, gx_task *target, uint32_t length, uint64_t block_bytes);

void gx_turn_close_all(gx_executor *ex);

/* Closes what is open. The turn goes on. */
GX_INLINE void gx_turn_close(gx_executor *ex) {
    if (ex->opened_count) gx_turn_close_all(ex);
}

/* The same, and others see all that was done. */
void gx_turn_publish(gx_executor *ex);

/* May the task whose turn it is begin trees without a look? */
GX_INLINE void gx_turn_let_begin(gx_executor *ex) {
    bool may = ex->turn && ex->turn->quick && ex->acking && ex->ledger.free_count;
    ex->begins = may ? ex->turn : NULL;
}

/* Whether the spout task's calls are slow: then the time is told at each emit, as its trees would be born old. */
GX_INLINE void gx_turn_set_slow(gx_task *task, bool slow) {
    task->slow = slow;
    task->quick = !slow && !task->executor->shared->plan->acker_count;
}

GX_INLINE void gx_turn_take(gx_executor *ex, const gx_task *task) {
    if (GX_LIKELY(ex->turn == task)) return;
    gx_turn_close(ex);
    ex->turn = task;
    gx_turn_let_begin(ex);
}

/* The end of a turn: no task's functions run any more. */
GX_INLINE void gx_turn_end(gx_executor *ex) {
    gx_turn_take(ex, NULL);
    gx_executor_call(ex, NULL);
}

/* The begin of one. */
GX_INLINE void gx_turn_begin(gx_executor *ex, const gx_task *task) {
    gx_turn_take(ex, task);
    gx_executor_call(ex, task);
}

#endif
