/* Ticks: rows from the system, that come to a task once a period. One at most waits for a task; it obeys gates as others do,
 * and the next one is made when it was executed: what was missed is skipped.
 * Threads: the executor's. */
#ifndef GX_ENGINE_TICK_H
#define GX_ENGINE_TICK_H

#include "engine/waiting.h"

/* Queues the ticks that are due. Returns how many. */
size_t gx_tick_run(gx_executor *ex);

/* Queues one, whatever the clock says. False: memory is out. None may wait. */
bool gx_tick_queue(gx_executor *ex, gx_task *task);

/* The one that waited was executed, or is not wanted: the next comes a period after it was due. */
void gx_tick_restart(gx_executor *ex, gx_task *task);

#endif
