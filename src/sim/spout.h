/* A spout of the wrapped topology: calls the component's functions, or makes tuples in its place; checks when they come;
 * and notes each answer, and what the engine emits on its behalf: tuples again, and dead letters.
 * Threads: one. */
#ifndef GX_SIM_SPOUT_H
#define GX_SIM_SPOUT_H

#include "sim/task.h"

gale_spout gx_sim_spout(gx_sim_component *component);

/* Sees what the engine emits on its behalf. */
gale_hook gx_sim_spout_hook(gx_sim_component *component);

#endif
