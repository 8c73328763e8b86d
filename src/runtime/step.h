/* The step: the heart of an executor. It reads acks, clock, inputs and timers, runs what may run, lets spouts emit
 * while there is room, shows others what it wrote, and says how much it did. Threads, idling and the simulator live
 * outside. */
#ifndef GX_RUNTIME_STEP_H
#define GX_RUNTIME_STEP_H

#include "engine/executor.h"

/* One step. Returns how much was done; 0: nothing to do until the doorbell rings, the time gx_step_due says, or a
 * descriptor is readable. */
size_t gx_step(gx_executor *ex);

/* When there is something to do by the clock alone. */
int64_t gx_step_due(const gx_executor *ex);

/* Is there news in a ring right now? For an executor that is about to park. */
bool gx_step_has_news(gx_executor *ex);

#endif
