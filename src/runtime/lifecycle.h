/* How an executor's tasks end (how they begin: runtime/opening.h): finished when all before them has drained, closed or
 * cleaned up at the end, whatever state they are in. All on the executor's thread. */
#ifndef GX_RUNTIME_LIFECYCLE_H
#define GX_RUNTIME_LIFECYCLE_H

#include "engine/executor.h"

/* Calls finish of the bolts whose component has rank `rank`. */
void gx_lifecycle_finish(gx_executor *ex, uint32_t rank);

/* The next call of each that returned GALE_MORE, where nothing that it feeds is congested. Once a step. Returns how many. */
size_t gx_lifecycle_finish_more(gx_executor *ex);

/* The same of one that was opened when it was its turn already. */
void gx_lifecycle_finish_late(gx_executor *ex, gx_task *task);

/* Fails what is open with `stopped`, tells the spouts, and ends every task that was opened. */
void gx_lifecycle_close(gx_executor *ex);

#endif
