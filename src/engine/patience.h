/* How long an executor spins before it parks.
 *
 * What:    so many empty steps, between GX_PATIENCE_MIN and the runtime's option `spins`. Twice as many from then on when
 *          work comes while it spins, or when it parks and is rung sooner than twice the time that waking it takes: to
 *          spin would have been better. Half as many when it slept for longer, or when there was no core to wake on.
 *          So a busy flow and a single tuple that goes to and fro are met awake, and a slow flow costs next to
 *          nothing.
 * Threads: the executor's. */
#ifndef GX_ENGINE_PATIENCE_H
#define GX_ENGINE_PATIENCE_H

#include "base/os/wake.h"

enum {
    GX_PATIENCE_MIN = 16,
    GX_PATIENCE_WAKING = 100 * 1000, /* ns; waking that takes longer waited for a core, which others want */
};

typedef struct gx_patience {
    uint32_t steps;
    uint32_t most;
} gx_patience;

GX_INLINE gx_patience gx_patience_new(uint32_t most) {
    return (gx_patience){ most, most };
}

GX_INLINE void gx_patience_grow(gx_patience *patience) {
    if (patience->steps < patience->most) patience->steps *= 2;
}

/* Work came after so many empty steps. */
GX_INLINE void gx_patience_worked(gx_patience *patience, uint32_t empty) {
    if (empty > 0 && empty < patience->steps) gx_patience_grow(patience);
}

/* It slept. */
GX_INLINE void gx_patience_slept(gx_patience *patience, gx_nap nap) {
    int64_t waking = nap.waking < GX_PATIENCE_WAKING ? nap.waking : 0;
    if (nap.waited < 2 * waking)
        gx_patience_grow(patience);
    else if (patience->steps / 2 >= GX_PATIENCE_MIN)
        patience->steps /= 2;
}

#endif
