/* How long an executor spins before it parks.
 *
 * What:    so many empty steps, between GX_IDLE_MIN and the runtime's option `spins`. Twice as many from then on when
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
    GX_IDLE_WAKING = 100 * 1000, /* ns; waking that takes longer waited for a core, which others want */
};

typedef struct gx_idle {
    uint32_t steps;
    uint32_t most;
} gx_idle;

GX_INLINE gx_idle gx_idle_new(uint32_t most) {
    return (gx_idle){ most, most };
}

GX_INLINE void gx_idle_grow(gx_idle *idle) {
    if (idle->steps < idle->most) idle->steps *= 2;
}

/* Work came after so many empty steps. */
GX_INLINE void gx_idle_worked(gx_idle *idle, uint32_t empty) {
    if (empty > 0 && empty < idle->steps) gx_idle_grow(idle);
}

/* It slept. */
GX_INLINE void gx_idle_slept(gx_idle *idle, gx_nap nap) {
    int64_t waking = nap.waking < GX_IDLE_WAKING ? nap.waking : 0;
    if (nap.waited < 2 * waking)
        gx_idle_grow(idle);
    else if (idle->steps / 2 >= GX_IDLE_MIN)
        idle->steps /= 2;
}

#endif
