/* A hook on every task, in some runs: what bolts' hooks are told is what the engine counts, each tuple that was executed,
 * acked or failed, and each emit that the simulator saw succeed.
 * Threads: one. Owner: the sums are the wrapped task's. */
#ifndef GX_SIM_LISTENER_H
#define GX_SIM_LISTENER_H

#include "sim/task.h"

#include <gale/hook.h>

gale_hook gx_sim_listener_hook(gx_sim_component *component);

/* The run is over. */
void gx_sim_listener_end(gx_sim *sim);

#endif
