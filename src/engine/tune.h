/* What may be set of a component while it runs: how many trees a spout may have open, how fast it goes, which tuples its inputs drop.
 *
 * What:    the application writes what it wants, by component, and rings; an executor that finds a new version at the beginning of a step takes
 *          over what concerns its tasks. Nothing of it is saved: a run begins with what its topology says.
 * Threads: gx_tune_take the executor's own; what is wanted is under the monitor's lock. */
#ifndef GX_ENGINE_TUNE_H
#define GX_ENGINE_TUNE_H

#include "engine/executor.h"

/* Of every component, what its topology says; `shared->tuned` is there. */
void gx_tune_begin(gx_shared *shared);

/* What is wanted of a component. Any thread. */
gx_tuned gx_tune_read(gx_shared *shared, uint32_t component);

void gx_tune_take(gx_executor *ex, uint32_t version);

/* One comparison a step. */
GX_INLINE void gx_tune_look(gx_executor *ex) {
    uint32_t version = gx_load_relaxed(&ex->shared->tune_version);
    if (GX_UNLIKELY(version != ex->tune_seen)) gx_tune_take(ex, version);
}

#endif
