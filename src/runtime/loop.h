/* A runtime in a loop that is another's: one descriptor to wait for, and steps for as long as there is time.
 *
 * What:    the descriptor is a set of what wakes the executors: their doorbells, and the sets of their watches. Between two
 *          turns every executor is parked, so that whoever has news for it rings.
 *
 *              gale_runtime_step_for: bells awake -> steps -> nothing to do: parked, unless one was rung meanwhile
 *
 * Threads: the one that steps. Owner: the runtime. */
#ifndef GX_RUNTIME_LOOP_H
#define GX_RUNTIME_LOOP_H

#include "engine/executor.h"

typedef struct gx_loop {
    int fd; /* -1: nobody has asked for it */
    bool parked;
} gx_loop;

#define GX_LOOP_INIT                                                                                                   \
    { .fd = -1 }

void gx_loop_fini(gx_loop *loop);

/* Its descriptor, or GALE_IO. */
int gx_loop_open(gx_loop *loop, gx_shared *shared);

/* Before steps; and behind the last one, which did nothing: how long may be waited, 0 when there is something after all. */
void gx_loop_wake(gx_loop *loop, gx_shared *shared);
int64_t gx_loop_park(gx_loop *loop, gx_shared *shared, int64_t due);

#endif
