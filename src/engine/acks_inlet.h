/* Acks and failures that come from other executors, and what keeps acker tasks' maps young.
 * Threads: the executor's. */
#ifndef GX_ENGINE_ACKS_INLET_H
#define GX_ENGINE_ACKS_INLET_H

#include "engine/executor.h"

enum { GX_ACKS_INLET_MOST = 512 }; /* items an inlet and step: their trees are still in the cache when told */

/* Takes what is there. Returns how many items. */
size_t gx_acks_inlet_run(gx_executor *ex);

/* Rotates the maps of acker tasks, when it is time. Returns how many. */
size_t gx_acks_inlet_rotate(gx_executor *ex);

#endif
