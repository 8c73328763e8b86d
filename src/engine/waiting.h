/* What waits for a task in its own lists: the parked list and, for each input that drops its oldest, a lane.
 *
 * What:    a lane holds the records of one input, so that its oldest is found at once. Records are numbered as they
 *          come, and the lowest number is the next to run: order is that of one list. Where there are lanes, a record
 *          ends with its number (8 bytes of its length); a task without inputs that drop has the parked list alone, and
 *          no numbers.
 *          What comes for a task with such inputs waits in these lists only, never in the local FIFO, whose bytes hold
 *          back spouts.
 * Threads: the executor's own. Owner: entries lie in chunks of the executor's pool and do not move.
 */
#ifndef GX_ENGINE_WAITING_H
#define GX_ENGINE_WAITING_H

#include "engine/executor.h"

GX_INLINE bool gx_waiting_any(const gx_task *task) {
    return task->parked.count || (task->lanes && task->lanes->waiting);
}

/* A place for a record of this length behind all others, in `lane` (0: the parked list); NULL when memory is out. The
 * caller fills it at once and then calls gx_waiting_pushed. */
void *gx_waiting_push(gx_executor *ex, gx_task *task, uint32_t lane, uint32_t length);
void gx_waiting_pushed(gx_task *task, gale_head *head);

/* The next to run, of a task with lanes. */
const gale_head *gx_waiting_among_lanes(const gx_task *task, uint32_t *ret_lane);

/* The next to run, and the lane that it is in; NULL when there is none. */
GX_INLINE const gale_head *gx_waiting_front(const gx_task *task, uint32_t *ret_lane) {
    if (GX_UNLIKELY(task->lanes != NULL)) return gx_waiting_among_lanes(task, ret_lane);
    *ret_lane = 0;
    return gx_fifo_front(&task->parked);
}

/* Takes the first record of a lane away, whose length is given. */
void gx_waiting_pop(gx_executor *ex, gx_task *task, uint32_t lane, uint32_t length);

#endif
