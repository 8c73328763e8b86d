/* Says what a drain waits for, when it makes no progress.
 *
 * What:    progress is a tuple that is executed or answered, or another rank that finishes; ticks are none. When there
 *          was none for 0.6 s, a line in the log names what holds the drain up: the call that an executor is
 *          in, tuples that a bolt holds, a queue whose task may not run, trees that nothing is left of. Again after
 *          one second more, two, four, ..., half a minute.
 *          A run until drained drains from when its spouts are done.
 * Threads: any: executor 0's, which steers the run, and those that wait for its end, so that it is said too when
 *          executor 0 itself is in a call. One at a time looks; the rest pass by. */
#ifndef GX_RUNTIME_DRAIN_WATCH_H
#define GX_RUNTIME_DRAIN_WATCH_H

#include "engine/executor.h"

enum { GX_DRAIN_WATCH_LOOK = 100 * 1000 * 1000 }; /* ns between two looks */

/* Is there a drain to look at? */
bool gx_drain_is_watched(gx_shared *shared);

void gx_drain_watch(gx_shared *shared, int64_t now);

#endif
