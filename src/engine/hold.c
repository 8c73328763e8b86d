#include "engine/hold.h"

#include "base/assert.h"

/* The place of `task`, a free one, or that of the task that held least. */
static uint32_t place_of(const gx_hold *hold, uint16_t task) {
    uint32_t least = 0;
    for (uint32_t i = 0; i < GX_HOLDERS; i++) {
        uint32_t other = gx_load_relaxed(&hold->holders[i].task);
        if (other == task || !other) return i;
        if (gx_load_relaxed(&hold->holders[i].time) < gx_load_relaxed(&hold->holders[least].time)) least = i;
    }
    return least;
}

static void end(gx_hold *hold, int64_t now) {
    GX_CHECK(gx_load_relaxed(&hold->since) != 0);
    uint64_t since = gx_load_relaxed(&hold->since);
    uint64_t spent = (uint64_t)now + 1 - since;
    gx_store_relaxed(&hold->since, 0);
    gx_count(hold->reason == GX_HOLD_FLOW ? &hold->flow : &hold->pending, spent);
    if (hold->reason != GX_HOLD_FLOW || !hold->by) return;
    uint32_t at = place_of(hold, hold->by);
    gx_store_relaxed(&hold->holders[at].task, hold->by);
    gx_count(&hold->holders[at].time, spent);
}

void gx_hold_set(gx_hold *hold, gx_hold_reason reason, uint16_t by, int64_t now) {
    GX_CHECK(reason == GX_HOLD_FLOW || by == 0);
    if (reason == hold->reason && by == hold->by) return;
    if (hold->reason) end(hold, now);
    hold->reason = (uint8_t)reason;
    hold->by = by;
    if (!reason) return;
    gx_store_relaxed(&hold->what, (uint32_t)reason << 16 | by);
    gx_store_relaxed(&hold->since, (uint64_t)now + 1);
}

static void read_longest(const gx_hold *hold, uint16_t now_by, uint64_t now_time, gx_hold_reading *reading) {
    bool found = false;
    for (uint32_t i = 0; i < GX_HOLDERS; i++) {
        uint16_t task = (uint16_t)gx_load_relaxed(&hold->holders[i].task);
        uint64_t time = gx_load_relaxed(&hold->holders[i].time);
        if (task && task == now_by) found = true, time += now_time;
        if (task && time > reading->by_time) reading->by = task, reading->by_time = time;
    }
    if (!found && now_by && now_time > reading->by_time) reading->by = now_by, reading->by_time = now_time;
}

void gx_hold_read(const gx_hold *hold, int64_t now, gx_hold_reading *ret_reading) {
    gx_hold_reading reading = { .flow = gx_load_relaxed(&hold->flow), .pending = gx_load_relaxed(&hold->pending) };
    uint64_t since = gx_load_relaxed(&hold->since);
    uint32_t what = gx_load_relaxed(&hold->what);
    uint64_t so_far = since && (uint64_t)now + 1 > since ? (uint64_t)now + 1 - since : 0;
    bool flow = what >> 16 == GX_HOLD_FLOW;
    *(flow ? &reading.flow : &reading.pending) += so_far;
    read_longest(hold, flow ? (uint16_t)what : 0, so_far, &reading);
    *ret_reading = reading;
}
