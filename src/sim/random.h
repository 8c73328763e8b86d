/* Random topologies for the simulator: up to six layers of bolts behind one to three spouts, fan-out to five, several
 * streams, every grouping, cycles, ticks, and bolts of every model.
 *
 * What:    a tuple carries a key, an energy and a number of hops. A bolt spends its input's energy on what it emits, so
 *          that a tree is about as large as its root's energy says, whatever the topology, and cycles end.
 *          Bolts: `pass` (simple), `work` (manual, answers at once), `join` (holds two or three and emits anchored to
 *          all), `loose` (manual; some of what it emits is not anchored, some of what it gets is failed or forgotten).
 * Threads: any; a topology is its caller's. */
#ifndef GX_SIM_RANDOM_H
#define GX_SIM_RANDOM_H

#include "sim/crowd.h"

#include <gale/topology.h>

/* `crowd`: whose threads work for some components, and which must outlive it. GALE_NO_MEMORY. */
int gx_sim_random_topology(gx_random *random, const gx_sim_rarities *rarities, gx_sim_crowd *crowd,
                           gale_topology **ret_topology, gale_error *error);

#endif
