/* A bolt of the wrapped topology: calls the component's functions, as the engine calls its own, under faults; checks
 * when they come; and notes what becomes of each tuple.
 * Threads: one. */
#ifndef GX_SIM_BOLT_H
#define GX_SIM_BOLT_H

#include "sim/task.h"

gale_bolt gx_sim_bolt(gx_sim_component *component);

/* A hook hears that the engine has executed a tuple: it was the component's, or none that it has taken. */
void gx_sim_bolt_executed(gx_sim_task *task, const gale_tuple *tuple, int returned);

#endif
