/* The lives of an executor's tasks: opened or prepared at the start, finished when all before them has drained, closed
 * or cleaned up at the end, whatever state they are in. All on the executor's thread. */
#ifndef GX_RUNTIME_LIFECYCLE_H
#define GX_RUNTIME_LIFECYCLE_H

#include "engine/executor.h"

/* Prepares the bolts and opens the spouts. The first error goes to the runtime, which then closes. */
void gx_lifecycle_open(gx_executor *ex);

/* Calls finish of the bolts whose component has rank `rank`. */
void gx_lifecycle_finish(gx_executor *ex, uint32_t rank);

/* Fails what is open with `stopped`, tells the spouts, and ends every task that was opened. */
void gx_lifecycle_close(gx_executor *ex);

#endif
