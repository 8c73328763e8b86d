/* Components of random topologies that virtual threads work for (sim/crowd.h).
 * Threads: a component's own. Owner: the topology frees `user`; the crowd must outlive it. */
#ifndef GX_SIM_HANDING_H
#define GX_SIM_HANDING_H

#include "sim/crowd.h"

/* A spout whose tuples come mostly from its thread. `user` NULL: memory is out. Outputs are the caller's to set. */
gale_spout gx_sim_fed_source(gx_sim_crowd *crowd, uint32_t energy, uint32_t direct);

/* A bolt that holds what it gets, for its thread to answer. */
gale_bolt gx_sim_hander(gx_sim_crowd *crowd, uint32_t fan, uint32_t direct);

#endif
