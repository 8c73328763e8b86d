/* A bolt of the wrapped topology: calls the component's functions, as the engine calls its own, under faults; checks
 * when they come; and notes what becomes of each tuple.
 * Threads: one. */
#ifndef GX_SIM_BOLT_H
#define GX_SIM_BOLT_H

#include "sim/task.h"

gale_bolt gx_sim_bolt(gx_sim_component *component);

#endif
