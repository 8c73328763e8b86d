/* Emission in parts: a call that returned GALE_MORE (gale/component.h) is made again when its task may run.
 *
 * What:    a tuple whose call returned GALE_MORE stays the first that waits for its task: its batch is read up to it, and
 *          goes to the parked list or its lane. What the call emitted, anchored to it, is added to its own edges, so that
 *          the row in the queue is whole: its ack, its failure, a checkpoint of it, or its drop need to know nothing of
 *          parts.
 *          A task has one such call a step, so that what it emitted is worked off between two of them and no other task
 *          starves.
 * Threads: the executor's. */
#ifndef GX_ENGINE_PARTS_H
#define GX_ENGINE_PARTS_H

#include "engine/executor.h"

/* A call of the task has returned GALE_MORE. Is it to be made again? GALE_OK, or GALE_COMPONENT with a report: it was
 * made too often without a row. */
int gx_parts_again(gx_task *task);

/* A call that may be one of several begins, or a run of them. */
GX_INLINE void gx_parts_begin(gx_executor *ex, gx_task *task) {
    ex->part_rows = 0;
    task->more = false;
}

/* The tuple in execution, whose call returned `*rc`. True: it comes again, and is none any more; else `*rc` is what it is
 * to be settled with. */
bool gx_parts_keep(gx_executor *ex, gx_task *task, int *rc);

/* GALE_MORE where no tuple is in execution, or it was answered: counts as misuse, with a report. Returns GALE_OK. */
int gx_parts_refuse(gx_task *task);

/* For the collector: gale_part_is_full. */
bool gx_parts_full(gale_collector *out);

#endif
