/* Running batches: the local queue, the inlets and the parked lists of an executor.
 *
 * What:    the rows of a batch are run in a tight loop, their counters added once, until it is read or what happens on
 *          this executor interrupts it: then it stays where it was, read so far. A batch whose task may not run
 *          (engine/flow.h) is moved to the task's parked list; later ones go behind it.
 * Threads: the executor's. Each call is bounded by a number of rows, and by the time that slow tasks take. */
#ifndef GX_ENGINE_RUN_H
#define GX_ENGINE_RUN_H

#include "engine/executor.h"

enum {
    GX_RUN_BUDGET = 4096,            /* rows a queue and step, and the rest of a batch */
    GX_RUN_SLOW_BUDGET = 500 * 1000, /* ns in slow calls a stage of the step, after which others have their turn */
};

/* Each returns how many rows it ran and batches it moved. */
size_t gx_run_local(gx_executor *ex);
size_t gx_run_inlets(gx_executor *ex);
size_t gx_run_parked(gx_executor *ex);

/* Moves the whole local queue to the parked lists: what comes by rings goes behind it. */
void gx_run_park_all(gx_executor *ex);

#endif
