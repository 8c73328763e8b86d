/* A topology in the simulator's wrapping: its components run as they are, and everything that they and the engine say to
 * each other is overheard, checked against engine/sim_truth, and disturbed by faults.
 *
 * What:    gx_sim_wrap builds a second topology of the same components. Each stream has one more field, the number of
 *          the emission, which components never see: what they are given is the tuple without it. Spouts may be replaced
 *          by seeded generators of their declared fields, and sinks (bolts without outputs) by ones that take
 *          everything. A collector of ours stands between component and engine.
 * Threads: one; components are called in gx_step, and by gx_sim_release.
 * Owner:   the wrapped topology borrows from the one that it was made of, which must outlive it.
 */
#ifndef GX_ENGINE_SIM_WRAP_H
#define GX_ENGINE_SIM_WRAP_H

#include "engine/runtime.h"
#include "engine/sim_faults.h"
#include "engine/sim_truth.h"

/* Everything of a simulator, and of the run that it is in. */
typedef struct gx_sim {
    gx_heap heap; /* the simulator's own */
    gx_truth truth;
    gx_coverage coverage;
    bool generate; /* spouts are replaced by generators */
    bool capture;  /* sinks are replaced */
    bool by_class; /* places of faults are classes of components, not their names */

    gale_topology *wrapped;
    struct gx_sim_component *components;
    size_t component_capacity;

    gx_random random; /* of the run: faults, delays, order */
    gx_faults faults;
    gale_manual_clock *clock;
    gx_sim_memory memory;
    gale_runtime *runtime;
    struct gx_sim_task **tasks; /* [0 .. tasks] */
    size_t task_capacity;
    uint64_t *before; /* by task: what its queue had dropped before an emit */
    size_t before_capacity;
    uint64_t roots;   /* that each spout task may emit */
    uint64_t emitted; /* tracked, by all of them */
    uint64_t captured;
    bool limited; /* queues have a limit that they may reach */
    int in_call;  /* functions of components that run now: 0 or 1 */
} gx_sim;

/* Makes `sim->wrapped` of a checked topology. */
int gx_sim_wrap(gx_sim *sim, const gale_topology *topology, gale_error *error);
void gx_sim_unwrap(gx_sim *sim);

/* Gives the answers that are due to tuples which faults have held, on the tasks of one executor: as it would from a
 * component's call, and between steps. */
size_t gx_sim_release(gx_sim *sim, gx_executor *ex);

/* When the next of those is due; INT64_MAX: never. */
int64_t gx_sim_release_due(const gx_sim *sim);

/* Moves the clock by a drawn time, mostly below `mean`, sometimes much more. */
void gx_sim_pass_time(gx_sim *sim, int64_t mean);

#endif
