/* The spouts of random topologies. They emit from `next`, and some also where few spouts do: when they are opened,
 * activated and deactivated, when they hear an answer, and when they are closed, where it must be refused.
 * Threads: a component's own. Owner: the topology frees `user`. */
#ifndef GX_SIM_SOURCE_H
#define GX_SIM_SOURCE_H

#include <gale/component.h>

/* Emits roots of up to `energy`. `direct`: bit a stream that direct groupings take. `user` NULL: memory is out. Outputs
 * are the caller's to set. */
gale_spout gx_sim_source(uint32_t energy, uint32_t direct);

/* Its `next`, for other spouts with a gx_sim_instance. */
int gx_sim_source_next(void *self, gale_collector *out, gale_wait *wait);

/* The same, and emits from its other callbacks. */
gale_spout gx_sim_eager_source(uint32_t energy, uint32_t direct);

#endif
