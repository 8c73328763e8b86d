/* Durable runs that die: random topologies with state, held tuples, cycles, remotes, ticks, acker tasks, replay and dead
 * letters (sim/life.h), whose process dies at a drawn place (sim/death.h), and which then goes on from its store (sim/vault.h),
 * maybe on another number of executors or with another number of tasks, again and again until one life comes to the end.
 *
 * What:    gx_lives_run draws all of it from the seed. It holds when each message was answered and has had its effects
 *          exactly once, in states and at sinks, as in a run without a death (sim/deeds.h); at least once, where a component
 *          does not take part; and when nothing else was seen that must not be.
 * Threads: one. */
#ifndef GX_SIM_LIVES_H
#define GX_SIM_LIVES_H

#include "sim/death.h"

#include <gale/log.h>

typedef struct gx_lives_result {
    bool holds;
    bool exact;     /* all its components take part */
    char text[400]; /* what was wrong, or "" */
    uint32_t tasks, lives, deaths, refused;
    uint64_t messages, executed, checkpoints, put_off, steps;
    uint64_t trace; /* a hash of all of it */
} gx_lives_result;

/* `places` (may be NULL) is added to: where lives died. `logger` may be NULL. GALE_NO_MEMORY. */
int gx_lives_run(uint64_t seed, const gale_logger *logger, gx_death *places, gx_lives_result *ret_result,
                 gale_error *error);

#endif
