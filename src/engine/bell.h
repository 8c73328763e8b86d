/* An executor's doorbell: how others tell it that there is something to look at.
 *
 *         others ring            owner
 *     awake ------> rung -------------------------> awake   (finds it rung when it wants to park: looks again)
 *     awake --------------- wants to park ------> parked
 *     parked -----> rung + a write to the eventfd -> awake
 *
 * One exchange a batch covers data, room freed, congestion cleared and commands. All exchanges are of one word, hence in
 * one order: a ring before the owner parks makes it step once more, and one behind that finds it parked.
 * Threads: gx_bell_ring any; the rest the owner's.
 *
 * Orderings: R1/A1, R1/A2 gx_bell_ring releases what its caller wrote before; the owner acquires it when it is awake
 *            again, so that its next step sees it. Exchanges only, never a store: an exchange passes on what the one
 *            before it carried, and so no ring is lost under another. test/proof shows that no more is needed.
 */
#ifndef GX_ENGINE_BELL_H
#define GX_ENGINE_BELL_H

#include "base/atomic.h"
#include "base/os/wake.h"

typedef enum gx_bell_state { GX_BELL_AWAKE, GX_BELL_RUNG, GX_BELL_PARKED } gx_bell_state;

typedef struct gx_bell {
    alignas(GX_APART) gx_atomic32 state;
    gx_wake wake;
} gx_bell;

bool gx_bell_init(gx_bell *bell);
void gx_bell_fini(gx_bell *bell);

void gx_bell_ring(gx_bell *bell);

/* The owner wants to park. False when it was rung meanwhile (and is awake). Else the owner looks for news once more
 * and then either parks (gx_wake_park) or not, and calls gx_bell_wake. */
bool gx_bell_may_park(gx_bell *bell);
void gx_bell_wake(gx_bell *bell);

#endif
