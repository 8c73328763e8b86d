/* The collector that tasks have at the end: when an executor closes, nobody executes or answers any more, so what a
 * component emits or answers then, in `deactivate`, `close`, `cleanup`, or when it hears of what was stopped, is refused
 * with GALE_STOPPED. A second table instead of a check in each emit.
 * Threads: the task's. */
#ifndef GX_RUNTIME_ENDED_COLLECTOR_H
#define GX_RUNTIME_ENDED_COLLECTOR_H

#include "engine/task.h"

/* From now on the task's collector is this one. */
void gx_ended_collector_give(gx_task *task);

#endif
