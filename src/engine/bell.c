#include "engine/bell.h"

bool gx_bell_init(gx_bell *bell) {
    gx_store_relaxed(&bell->state, GX_BELL_AWAKE);
    return gx_wake_init(&bell->wake);
}

void gx_bell_fini(gx_bell *bell) {
    gx_wake_fini(&bell->wake);
}

void gx_bell_ring(gx_bell *bell) {
    if (gx_exchange_release(&bell->state, GX_BELL_RUNG) == GX_BELL_PARKED) gx_wake_ring(&bell->wake); /* R1 */
}

bool gx_bell_may_park(gx_bell *bell) {
    if (gx_exchange_relaxed(&bell->state, GX_BELL_PARKED) != GX_BELL_RUNG) return true;
    gx_exchange_acquire(&bell->state, GX_BELL_AWAKE); /* A1 */
    return false;
}

void gx_bell_wake(gx_bell *bell) {
    gx_exchange_acquire(&bell->state, GX_BELL_AWAKE); /* A2 */
}
