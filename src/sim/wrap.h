/* A topology in the simulator's wrapping: its components run as they are, and everything that they and the engine say
 * to each other is overheard, checked against sim/oracle, and disturbed by faults.
 *
 * What:    gx_sim_wrap builds a second topology of the same components. Each stream has one more field, the number of
 *          the emission, which components never see: what they are given is the tuple without it. Spouts may be
 *          replaced by seeded generators of their declared fields, and sinks (bolts without outputs) by ones that take
 *          everything. A collector of ours stands between component and engine.
 * Threads: one; components are called in gx_step, and by gx_sim_release.
 * Owner:   the wrapped topology borrows from the one that it was made of, which must outlive it.
 */
#ifndef GX_SIM_WRAP_H
#define GX_SIM_WRAP_H

#include "sim/sim.h"

/* Makes `sim->wrapped` of a checked topology. */
int gx_sim_wrap(gx_sim *sim, const gale_topology *topology, gale_error *error);
void gx_sim_unwrap(gx_sim *sim);

#endif
