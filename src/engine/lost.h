/* The source of a spout's trees is lost (gale_source_lost). Their entries are in the ledger of its executor, where a look at
 * all slots finds them; an acker task that has a record of one is told as of any failure, and what it says back is stale.
 * Threads: the executor's own. */
#ifndef GX_ENGINE_LOST_H
#define GX_ENGINE_LOST_H

#include "engine/executor.h"

/* Those of a spout's open trees for which `is_lost` (NULL: all) says so. Returns how many. */
int64_t gx_lost_trees(gx_task *task, gale_is_lost_fn *is_lost, void *user);

#endif
