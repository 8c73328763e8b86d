/* How long an executor spins before it parks.
 *
 * What:    so many empty steps, between GX_IDLE_MIN and the runtime's option `spins`, and, unless that is given, no longer than
 *          GX_IDLE_SPIN, or twice what the last waking took. Twice as many from then on when
 *          work comes while it spins, or when it parks and is rung sooner than twice the time that waking it takes: to
 *          spin would have been better. Half as many when it slept for longer, or when there was no core to wake on.
 *          So a busy flow and a single tuple that goes to and fro are met awake, and a slow flow costs next to
 *          nothing.
 * Threads: the executor's. */
#ifndef GX_RUNTIME_IDLE_H
#define GX_RUNTIME_IDLE_H

#include "base/os/wake.h"

enum {
    GX_IDLE_MIN = 16,
    GX_IDLE_STEPS = 2000,
    GX_IDLE_WAKING = 100 * 1000, /* ns; waking that takes longer waited for a core, which others want */
    GX_IDLE_SPIN = 50 * 1000,    /* ns */
};

typedef struct gx_idle {
    uint32_t steps;
    uint32_t most;
    int64_t longest; /* ns that it spins */
    int64_t began;   /* to be idle */
} gx_idle;

/* `spins` as the option has it; 0: GX_IDLE_STEPS. */
GX_INLINE gx_idle gx_idle_new(uint32_t spins) {
    uint32_t most = spins ? spins : GX_IDLE_STEPS;
    return (gx_idle){ most, most, spins ? INT64_MAX : GX_IDLE_SPIN, 0 };
}

GX_INLINE void gx_idle_grow(gx_idle *idle) {
    if (idle->steps < idle->most) idle->steps *= 2;
}

/* The empty step `times`, from 1, ended at `now`. Is it to park? */
GX_INLINE bool gx_idle_parks(gx_idle *idle, uint32_t times, int64_t now) {
    if (times == 1) idle->began = now;
    return times >= idle->steps || now - idle->began >= idle->longest;
}

/* Work came after so many empty steps. */
GX_INLINE void gx_idle_worked(gx_idle *idle, uint32_t empty) {
    if (empty > 0 && empty < idle->steps) gx_idle_grow(idle);
}

/* It slept. */
GX_INLINE void gx_idle_slept(gx_idle *idle, gx_nap nap) {
    int64_t waking = nap.waking < GX_IDLE_WAKING ? nap.waking : 0;
    if (idle->longest != INT64_MAX) idle->longest = 2 * waking > GX_IDLE_SPIN ? 2 * waking : GX_IDLE_SPIN;
    if (nap.waited < 2 * waking)
        gx_idle_grow(idle);
    else if (idle->steps / 2 >= GX_IDLE_MIN)
        idle->steps /= 2;
}

#endif
