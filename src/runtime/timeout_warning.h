/* Warnings that trees will time out because more of them are pending than can be answered in time.
 *
 * What:    by Little's law, what is pending takes pending / (answers a second) to be answered. When that was above
 *          topology.message.timeout.secs for half of a timeout, one warning is logged for the spout's component, and
 *          not again for a minute. The rate is that of the last timeout's time, or of what there has been of it.
 *          Without any answer in that time nothing is known, and nothing is said before trees time out.
 *          In progress mode (topology.message.timeout.mode) a long queue need not be a late answer: nothing is said.
 *          At the start: what the configuration alone shows cannot work.
 * Threads: the executor's own. Executors share the minute.
 */
#ifndef GX_RUNTIME_TIMEOUT_WARNING_H
#define GX_RUNTIME_TIMEOUT_WARNING_H

#include "engine/executor.h"

/* Looks at the spouts of the executor, eight times in a timeout. */
void gx_timeout_warning_look(gx_executor *ex);

GX_INLINE void gx_timeout_warning_run(gx_executor *ex) {
    if (GX_UNLIKELY(ex->now >= ex->timeout_warning_due)) gx_timeout_warning_look(ex);
}

/* What can be said before anything runs. */
void gx_timeout_warning_start(const gx_shared *shared);

#endif
