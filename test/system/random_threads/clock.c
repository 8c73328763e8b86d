#include "system/random_threads/clock.h"

#include <string.h>

static uint64_t runs;

/* Of the run that this thread has read a clock of. */
static _Thread_local uint64_t my_run;
static _Thread_local unsigned my_place;

static int64_t machine_now(void) {
    gale_clock clock = gale_clock_monotonic();
    return clock.now(clock.user);
}

static atomic_llong *mine(rt_clock *clock) {
    if (my_run != clock->number) {
        my_run = clock->number;
        my_place = atomic_fetch_add(&clock->count, 1) % RT_CLOCK_THREADS;
    }
    return &clock->last[my_place];
}

static int64_t now(void *user) {
    int64_t told = machine_now();
    atomic_store_explicit(mine(user), told, memory_order_relaxed);
    return told;
}

gale_clock rt_clock_begin(rt_clock *clock) {
    memset(clock, 0, sizeof *clock);
    clock->number = ++runs;
    return (gale_clock){ sizeof(gale_clock), now, clock };
}

const atomic_llong *rt_clock_mine(rt_clock *clock) {
    return mine(clock);
}
