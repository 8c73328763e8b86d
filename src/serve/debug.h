/* Storm's "debug": a sample of the tuples that components emit goes to the log, from now on until it is told otherwise.
 *
 * Threads: any. What is logged is logged by the executors that emit it: who asks for 100 percent of much has a busy log.
 */
#ifndef GX_SERVE_DEBUG_H
#define GX_SERVE_DEBUG_H

#include "serve/served.h"

/* `part` NULL: all components but the engine's own. 0 percent ends it. Errors of gale_runtime_log_events. */
GALE_MUST_USE int gx_debug_set(gx_served *served, const gx_part *part, double percent);

/* Percent that is on of the component; 0: none. */
double gx_debug_of(const gx_served *served, const gx_part *part);

#endif
