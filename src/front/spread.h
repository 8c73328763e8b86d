/* Several tasks upstream: does anything that leads to a bolt, perhaps through others, run in parallel?
 *
 * Threads: one at a time. Owner: all borrowed for the call. */
#ifndef GX_FRONT_SPREAD_H
#define GX_FRONT_SPREAD_H

#include "front/loading.h"

/* A component with several tasks from which tuples come to the bolt; NULL: there is none. GALE_NO_MEMORY, with a report. */
int gx_spread_before(const gx_loading *l, const gx_component *bolt, const gx_component **ret_before);

#endif
