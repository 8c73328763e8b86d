/* How a task is, in words: what its component says (gale_health), or the engine while the component says "not now"
 * (runtime/opening.h). A change is logged once, not each time that it is said.
 * Threads: the task's own sets it; others read under the monitor's lock. */
#ifndef GX_ENGINE_HEALTH_H
#define GX_ENGINE_HEALTH_H

#include "engine/executor.h"

/* A collector's `health`. `text` NULL: it is well again. */
void gx_health_tell(gale_collector *out, const char *text);

/* The engine's own words of a task that cannot be opened now; NULL takes them back, and not what its component said. */
void gx_health_unopened(gx_task *task, const char *text);

/* Those that are not well: fills the first `room`, returns how many there are. Any thread. */
uint32_t gx_health_read(gx_shared *shared, gale_unwell *ret_unwell, uint32_t room);

#endif
