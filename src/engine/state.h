/* The keyed states of a task (topology/keyed.h): made while it is opened, freed with it.
 * Threads: the task's. Owner: the task; what lies in them is the component's memory, and counts as such. */
#ifndef GX_ENGINE_STATE_H
#define GX_ENGINE_STATE_H

#include "engine/executor.h"

/* A collector's `state`; the task reports why not. */
int gx_state_open(gale_collector *out, const gale_state_options *options, gale_state **ret_state);

/* What has changed in all of them since the last cut. GALE_NO_MEMORY. For durable runs. */
int gx_state_cut(gx_task *task, uint64_t checkpoint, gx_changes *to);

/* What was cut up to this checkpoint lasts. */
void gx_state_committed(gx_task *task, uint64_t checkpoint);

/* A collector's `wish_checkpoint`: the control (runtime/checkpoint.h) looks at once. */
void gx_state_wish(gale_collector *out);

#endif
