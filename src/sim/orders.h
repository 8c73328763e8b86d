/* What the application orders of a simulated runtime, and when: to deactivate and activate, to drain, to stop; in any
 * phase, also before all is open, and more than once.
 * Threads: one. Owner: a value. */
#ifndef GX_SIM_ORDERS_H
#define GX_SIM_ORDERS_H

#include "base/random.h"

#include <gale/runtime.h>

enum { GX_ORDERS_MAX = 10 };

typedef enum gx_order { GX_ORDER_DEACTIVATE, GX_ORDER_ACTIVATE, GX_ORDER_DRAIN, GX_ORDER_STOP } gx_order;

/* Given once there were so many steps and tracked tuples. */
typedef struct gx_sim_order {
    gx_order what;
    uint64_t steps, roots;
} gx_sim_order;

typedef struct gx_orders {
    gx_sim_order list[GX_ORDERS_MAX]; /* given in this order */
    uint32_t count, given;
    bool begins_inactive;
    bool inactive; /* by the last order */
    bool ended;    /* a drain or a stop was ordered */
} gx_orders;

/* In most runs none. `roots`: what the run's spouts are to emit. */
gx_orders gx_orders_draw(gx_random *random, uint64_t roots);

/* Gives those whose moment has come. True when there was one. */
bool gx_orders_give(gx_orders *orders, gale_runtime *runtime, uint64_t steps, uint64_t roots);

/* Gives the next one before its moment; after the last, what is inactive is activated. False when nothing is left. */
bool gx_orders_hurry(gx_orders *orders, gale_runtime *runtime);

#endif
