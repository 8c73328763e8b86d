#include "sim/orders.h"

/* Soon or late, at every scale; now and then before the first step. */
static uint64_t draw_steps(gx_random *random) {
    uint32_t scale = 1u << gx_random_below(random, 13);
    return scale / 2 + gx_random_below(random, scale);
}

static void add(gx_orders *orders, gx_order what, uint64_t steps, uint64_t roots) {
    orders->list[orders->count++] = (gx_sim_order){ what, steps, roots };
}

static gx_order draw_end(gx_random *random) {
    return gx_random_below(random, 2) ? GX_ORDER_DRAIN : GX_ORDER_STOP;
}

/* Mostly in turn, sometimes what was ordered before. */
static void add_toggles(gx_orders *orders, gx_random *random, uint64_t *steps) {
    gx_order what = orders->begins_inactive ? GX_ORDER_ACTIVATE : GX_ORDER_DEACTIVATE;
    for (uint32_t more = 1 + gx_random_below(random, 6); more > 0; more--) {
        add(orders, what, *steps += draw_steps(random), 0);
        if (gx_random_below(random, 4)) what = what == GX_ORDER_ACTIVATE ? GX_ORDER_DEACTIVATE : GX_ORDER_ACTIVATE;
    }
}

/* One end, after all tuples or at any moment; and sometimes another, while that one is on its way. */
static void add_ends(gx_orders *orders, gx_random *random, uint64_t *steps, uint64_t roots) {
    uint32_t drawn = gx_random_below(random, 40);
    if (drawn >= 8) return;
    bool late = drawn < 4;
    if (!late) *steps += draw_steps(random);
    add(orders, draw_end(random), late ? 0 : *steps, late ? roots : 0);
    if (gx_random_below(random, 2)) add(orders, draw_end(random), *steps += draw_steps(random), late ? roots : 0);
}

gx_orders gx_orders_draw(gx_random *random, uint64_t roots) {
    gx_orders orders = { .count = 0 };
    uint64_t steps = 0;
    orders.begins_inactive = orders.inactive = gx_random_below(random, 16) == 0;
    if (orders.begins_inactive || gx_random_below(random, 4) == 0) add_toggles(&orders, random, &steps);
    add_ends(&orders, random, &steps, roots);
    return orders;
}

static void give(gx_orders *orders, gale_runtime *runtime, gx_order what) {
    switch (what) {
    case GX_ORDER_DEACTIVATE: gale_runtime_deactivate(runtime); break;
    case GX_ORDER_ACTIVATE: gale_runtime_activate(runtime); break;
    case GX_ORDER_DRAIN: gale_runtime_drain(runtime); break;
    case GX_ORDER_STOP: gale_runtime_stop(runtime); break;
    }
    if (what <= GX_ORDER_ACTIVATE) orders->inactive = what == GX_ORDER_DEACTIVATE;
    orders->ended |= what >= GX_ORDER_DRAIN;
}

bool gx_orders_give(gx_orders *orders, gale_runtime *runtime, uint64_t steps, uint64_t roots) {
    uint32_t before = orders->given;
    while (orders->given < orders->count) {
        const gx_sim_order *next = &orders->list[orders->given];
        if (steps < next->steps || roots < next->roots) break;
        give(orders, runtime, next->what);
        orders->given++;
    }
    return orders->given != before;
}

bool gx_orders_hurry(gx_orders *orders, gale_runtime *runtime) {
    if (orders->given < orders->count)
        give(orders, runtime, orders->list[orders->given++].what);
    else if (orders->inactive)
        give(orders, runtime, GX_ORDER_ACTIVATE);
    else
        return false;
    return true;
}
