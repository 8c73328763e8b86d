/* Tasks are opened or prepared, and asked again when they say "not now".
 *
 *     closed --open or prepare--> open                         what its component returned: at least 0
 *       |  ^
 *       |  '--- a pause, longer each time --- waits <-.        GALE_AGAIN, unless `gale.required`
 *       |---------------------------------------------'
 *       '--> the run ends                                      any other error
 *
 *          Tasks of the same component on the same executor do not run while one of them waits: what comes for it is parked,
 *          and above the mark flow control holds who feeds it. A durable run begins when all are open: no checkpoint is of
 *          a part.
 * Threads: the executor's. Bound: pauses are those of base/backoff.h. */
#ifndef GX_RUNTIME_OPENING_H
#define GX_RUNTIME_OPENING_H

#include "engine/executor.h"

/* Each task for the first time. The first error goes to the runtime, which then closes. */
void gx_opening_begin(gx_executor *ex);

/* Those whose pause is over. Returns how many were asked. */
size_t gx_opening_again(gx_executor *ex);

/* When the next one is; INT64_MAX: never. */
int64_t gx_opening_due(const gx_executor *ex);

#endif
