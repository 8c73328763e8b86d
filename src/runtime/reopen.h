/* Components that write to files of their own, and dead letters, open them again: gale_runtime_reopen.
 * Threads: an executor's, between the calls of its tasks. */
#ifndef GX_RUNTIME_REOPEN_H
#define GX_RUNTIME_REOPEN_H

#include "engine/executor.h"

/* Tells the tasks that are open. Returns 1. */
size_t gx_reopen_tell(gx_executor *ex, uint32_t asked);

/* The same if it was asked for since. */
GX_INLINE size_t gx_reopen_run(gx_executor *ex) {
    uint32_t asked = gx_load_relaxed(&ex->shared->reopen);
    return GX_LIKELY(asked == ex->reopened) ? 0 : gx_reopen_tell(ex, asked);
}

#endif
