#include "engine/acks_inlet.h"

#include "engine/acks.h"

enum { MANY = 64 }; /* items, which take time */

/* Most are sums for trees that are kept here. */
GX_INLINE void receive(gx_executor *ex, gx_inlet *inlet, const uint64_t *item) {
    if (GX_LIKELY(item[0] >> GX_LEDGER_SHIFT == ex->keeper && !inlet->half[0]))
        gx_ledger_ack(&ex->ledger, item[0], item[1]);
    else
        gx_acks_receive(ex, inlet, item);
}

static size_t take_items(gx_executor *ex, gx_inlet *inlet) {
    const uint64_t *item;
    size_t items = 0;
    while (items < GX_ACKS_INLET_MOST && (item = gx_ring_next(&inlet->acks)) != NULL) {
        receive(ex, inlet, item);
        items++;
    }
    inlet->received += items;
    return items;
}

size_t gx_acks_inlet_run(gx_executor *ex) {
    size_t done = 0;
    uint32_t n = ex->shared->executor_count;
    for (uint32_t i = gx_ready_next(&ex->ready, 0); i < n; i = gx_ready_next(&ex->ready, i + 1)) {
        gx_inlet *inlet = &ex->inlets[i];
        if (!inlet->acks.ring || !gx_ring_refresh(&inlet->acks)) continue;
        done += take_items(ex, inlet);
        inlet->freed |= gx_ring_release(&inlet->acks);
    }
    ex->aged |= done > MANY;
    return done;
}

size_t gx_acks_inlet_rotate(gx_executor *ex) {
    if (GX_LIKELY(ex->now < ex->acker_due)) return 0;
    size_t rotated = 0;
    ex->acker_due = INT64_MAX;
    for (uint32_t i = 0; i < ex->task_count; i++) {
        if (!ex->tasks[i]->is_acker) continue;
        gx_acker *acker = &ex->tasks[i]->acker;
        rotated += gx_acker_tick(acker, ex->now);
        if (acker->due < ex->acker_due) ex->acker_due = acker->due;
    }
    return rotated;
}
