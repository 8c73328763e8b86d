/* The bolts of random topologies, of different models (sim/random.h).
 * Threads: a component's own. Owner: the topology frees `user`. */
#ifndef GX_SIM_COMPONENT_MODELS_H
#define GX_SIM_COMPONENT_MODELS_H

#include "sim/faults.h"

#include <gale/component.h>

typedef enum gx_sim_model {
    GX_SIM_PASS,         /* simple */
    GX_SIM_PASS_PARTS,   /* the same in parts */
    GX_SIM_WORK,         /* manual, answers at once */
    GX_SIM_WORK_BLINDLY, /* the same, and does not look whether its emits failed */
    GX_SIM_JOIN,         /* holds some, emits anchored to all, answers all */
    GX_SIM_GATHER,       /* simple, answered by its flush, which fails sometimes */
    GX_SIM_LOOSE,        /* emits some unanchored, fails some, forgets some */
    GX_SIM_KEEP,         /* holds some, and answers at ticks and in finish only */
    GX_SIM_LAST,         /* simple; emits in finish, and in cleanup, where it must be refused */
    GX_SIM_BURY,         /* takes dead letters, and makes a little of each */
    GX_SIM_MODEL_COUNT
} gx_sim_model;

/* Emits up to `fan` tuples for each of its own. `direct`: bit a stream that direct groupings take. `rarities`: of its run,
 * NULL: none. `user` NULL: memory is out. Outputs are the caller's to set. */
gale_bolt gx_sim_worker(gx_sim_model model, uint32_t fan, uint32_t direct, const gx_sim_rarities *rarities);

#endif
