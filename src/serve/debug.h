/* Storm's "debug": a sample of the tuples that components emit goes to the log, from now on until it is told otherwise.
 *
 * What:    a component that is on has a tap and its ring (serve/tap_ring), beside all other taps. A thread empties the rings every
 *          GX_DEBUG_PERIOD, makes JSON of what comes, and logs it at level info: executors copy, and no slow log holds them up. What a
 *          ring has no room for is not logged, and the log says how many those were.
 * Threads: gx_debug_set and gx_debug_of any; the thread begins with the first that is on. gx_debug_free while nobody else calls.
 * Owner:   the server, for one runtime. Errors: GALE_NO_MEMORY, of memory and threads.
 */
#ifndef GX_SERVE_DEBUG_H
#define GX_SERVE_DEBUG_H

#include "serve/parts.h"

#include <gale/clock.h>
#include <gale/log.h>

#define GX_DEBUG_PERIOD (20 * GALE_MILLISECOND)

typedef struct gx_debug gx_debug;

/* All are borrowed until gx_debug_free. NULL when memory is out. */
gx_debug *gx_debug_new(gale_runtime *runtime, const gx_parts *parts, const gale_logger *logger);

/* What was put is logged first. NULL is allowed. */
void gx_debug_free(gx_debug *debug);

/* `part` NULL: all components but the engine's own. 0 percent ends it. */
GALE_MUST_USE int gx_debug_set(gx_debug *debug, const gx_part *part, double percent);

/* Percent that is on of the component; 0: none. */
double gx_debug_of(const gx_debug *debug, const gx_part *part);

#endif
