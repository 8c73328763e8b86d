#include "engine/throttle.h"

#include "base/assert.h"

/* The place of `task`, a free one, or that of the task that held least. */
static uint32_t place_of(const gx_throttle *throttle, uint16_t task) {
    uint32_t least = 0;
    for (uint32_t i = 0; i < GX_HOLDERS; i++) {
        uint32_t other = gx_load_relaxed(&throttle->holders[i].task);
        if (other == task || !other) return i;
        if (gx_load_relaxed(&throttle->holders[i].time) < gx_load_relaxed(&throttle->holders[least].time)) least = i;
    }
    return least;
}

static void end(gx_throttle *throttle, int64_t now) {
    GX_CHECK(gx_load_relaxed(&throttle->since) != 0);
    uint64_t since = gx_load_relaxed(&throttle->since);
    uint64_t spent = (uint64_t)now + 1 - since;
    gx_store_relaxed(&throttle->since, 0);
    gx_count(throttle->reason == GX_THROTTLE_FLOW ? &throttle->flow : &throttle->pending, spent);
    if (throttle->reason != GX_THROTTLE_FLOW || !throttle->by) return;
    uint32_t at = place_of(throttle, throttle->by);
    gx_store_relaxed(&throttle->holders[at].task, throttle->by);
    gx_count(&throttle->holders[at].time, spent);
}

void gx_throttle_set(gx_throttle *throttle, gx_throttle_reason reason, uint16_t by, int64_t now) {
    GX_CHECK(reason == GX_THROTTLE_FLOW || by == 0);
    if (reason == throttle->reason && by == throttle->by) return;
    if (throttle->reason) end(throttle, now);
    throttle->reason = (uint8_t)reason;
    throttle->by = by;
    if (!reason) return;
    gx_store_relaxed(&throttle->what, (uint32_t)reason << 16 | by);
    gx_store_relaxed(&throttle->since, (uint64_t)now + 1);
}

static void read_longest(const gx_throttle *throttle, uint16_t now_by, uint64_t now_time,
                         gx_throttle_reading *reading) {
    bool found = false;
    for (uint32_t i = 0; i < GX_HOLDERS; i++) {
        uint16_t task = (uint16_t)gx_load_relaxed(&throttle->holders[i].task);
        uint64_t time = gx_load_relaxed(&throttle->holders[i].time);
        if (task && task == now_by) found = true, time += now_time;
        if (task && time > reading->by_time) reading->by = task, reading->by_time = time;
    }
    if (!found && now_by && now_time > reading->by_time) reading->by = now_by, reading->by_time = now_time;
}

void gx_throttle_read(const gx_throttle *throttle, int64_t now, gx_throttle_reading *ret_reading) {
    gx_throttle_reading reading = { .flow = gx_load_relaxed(&throttle->flow),
                                    .pending = gx_load_relaxed(&throttle->pending) };
    uint64_t since = gx_load_relaxed(&throttle->since);
    uint32_t what = gx_load_relaxed(&throttle->what);
    uint64_t so_far = since && (uint64_t)now + 1 > since ? (uint64_t)now + 1 - since : 0;
    bool flow = what >> 16 == GX_THROTTLE_FLOW;
    *(flow ? &reading.flow : &reading.pending) += so_far;
    read_longest(throttle, flow ? (uint16_t)what : 0, so_far, &reading);
    if (since && since == gx_load_relaxed(&throttle->since)) {
        reading.now = (gx_throttle_reason)(what >> 16);
        reading.now_by = (uint16_t)what;
        reading.since = (int64_t)(since - 1);
    }
    *ret_reading = reading;
}
