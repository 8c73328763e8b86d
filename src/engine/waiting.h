/* What waits for a task in its own lists: the parked list and, for each input that drops, a lane.
 *
 * What:    a lane holds the batches of one input, so that its oldest row is found at once. Where there are lanes, batches
 *          are numbered as they come, and the lowest number is the next to run: order is that of one list. A task has one
 *          open batch of each emitter, whatever the input, so that batches come in the order of their rows.
 *          What comes for a task with such inputs waits in these lists only, never in the local queue, whose bytes hold
 *          back spouts.
 * Threads: the executor's own. */
#ifndef GX_ENGINE_WAITING_H
#define GX_ENGINE_WAITING_H

#include "engine/executor.h"

GX_INLINE bool gx_waiting_any(const gx_task *task) {
    return task->parked.count || (task->lanes && task->lanes->waiting);
}

/* Behind all others: in the lane of its input, if that drops, or the parked list. */
void gx_waiting_push(gx_executor *ex, gx_task *task, gx_batch *batch);

/* Before all others: a batch whose first row comes again. */
void gx_waiting_push_first(gx_executor *ex, gx_task *task, gx_batch *batch);

/* The list that the next batch to run is in; NULL when there is none. */
gx_batch_list *gx_waiting_first(gx_task *task);

/* Takes the first batch of such a list away. */
gx_batch *gx_waiting_pop(gx_executor *ex, gx_task *task, gx_batch_list *list);

/* Puts it back, read further. */
void gx_waiting_put_back(gx_executor *ex, gx_task *task, gx_batch_list *list, gx_batch *batch);

#endif
