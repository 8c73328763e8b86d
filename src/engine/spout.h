/* Spouts: asking them for more, and telling them how their tuples fared.
 *
 * What:    a spout task is asked while it is active, not waiting, not held by flow control and below its
 *          topology.max.spout.pending; a burst ends when the local queue holds enough to keep the executor busy and
 *          little enough to stay in its cache. Answers are given between runs, never inside a bolt's call or an emit.
 * Threads: the executor's. */
#ifndef GX_ENGINE_SPOUT_H
#define GX_ENGINE_SPOUT_H

#include "engine/executor.h"

enum { GX_SPOUT_BURST = 256 }; /* trees a task and step, or calls of next that emit none, or untracked tuples */

/* Activates or deactivates what the phase asks for. Returns how many spouts: each may have emitted. */
size_t gx_spout_activation(gx_executor *ex);

/* One that was opened while others are active already. */
void gx_spout_late(gx_executor *ex, gx_task *task);

/* Returns how many tuples were emitted. */
size_t gx_spout_run(gx_executor *ex);

/* Tells spouts about answered trees. Returns how many. */
size_t gx_spout_answers(gx_executor *ex);

/* When a spout wants to be asked again: INT64_MAX for never by the clock; `now` for at once. */
int64_t gx_spout_due(const gx_executor *ex);

/* Has every spout here said that it is done or, unless the topology is `running`, been deactivated? */
bool gx_spout_all_quiet(const gx_executor *ex, bool running);

/* Is one of them kept from emitting, by flow control or by its pending trees? */
bool gx_spout_is_held(const gx_executor *ex);

#endif
