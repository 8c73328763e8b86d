#include "sim/delay.h"

#include <string.h>

int gx_delays_begin(gx_delays *delays, gx_heap *heap, uint32_t executors) {
    size_t count = (size_t)executors * executors;
    if (!gx_grow(heap, GX_TAG_OTHER, &delays->list, &delays->capacity, count, sizeof *delays->list))
        return GALE_NO_MEMORY;
    memset(delays->list, 0, count * sizeof *delays->list);
    delays->executors = executors;
    delays->down = 0;
    return GALE_OK;
}

void gx_delays_fini(gx_delays *delays, gx_heap *heap) {
    gx_free(heap, GX_TAG_OTHER, delays->list, delays->capacity * sizeof *delays->list);
    *delays = (gx_delays){ 0 };
}

static gx_delay *veil_at(const gx_delays *delays, const gx_executor *from, uint32_t to) {
    return &delays->list[(size_t)from->index * delays->executors + to];
}

/* What the writer has published, as it knows itself. */
static uint64_t data_of(const gx_executor *from, uint32_t to) {
    return from->outlets[to].ring.ring ? from->outlets[to].ring.published : 0;
}

static uint64_t acks_of(const gx_executor *from, uint32_t to) {
    return from->ack_outlets[to].ring.ring ? from->ack_outlets[to].ring.published : 0;
}

bool gx_delays_is_new(const gx_delays *delays, gx_executor *from, uint32_t to) {
    const gx_delay *delay = veil_at(delays, from, to);
    return !delay->down && (data_of(from, to) != delay->data || acks_of(from, to) != delay->acks);
}

/* What a delay lets through. */
static void apply(const gx_delay *delay, gx_executor *from, uint32_t to) {
    gx_batch_ring *data = from->outlets[to].ring.ring;
    gx_ring *acks = from->ack_outlets[to].ring.ring;
    if (data) gx_store_release(&data->producer.tail, delay->data);
    if (acks) gx_store_release(&acks->producer.tail, delay->acks);
}

void gx_delays_hide(gx_delays *delays, gx_executor *from, uint32_t to, uint64_t until) {
    gx_delay *delay = veil_at(delays, from, to);
    delay->down = true;
    delay->until = until;
    delays->down++;
    apply(delay, from, to);
}

void gx_delays_keep(const gx_delays *delays, gx_executor *from, uint32_t to) {
    const gx_delay *delay = veil_at(delays, from, to);
    if (delay->down) apply(delay, from, to);
}

void gx_delays_show(gx_delays *delays, gx_executor *from, uint32_t to) {
    gx_delay *delay = veil_at(delays, from, to);
    delays->down -= delay->down;
    *delay = (gx_delay){ data_of(from, to), acks_of(from, to), 0, false };
    apply(delay, from, to);
}

bool gx_delays_lift(gx_delays *delays, gx_shared *shared, uint64_t step) {
    uint32_t before = delays->down, count = delays->executors * delays->executors;
    for (uint32_t i = 0; delays->down && i < count; i++)
        if (delays->list[i].down && delays->list[i].until <= step)
            gx_delays_show(delays, shared->executors[i / delays->executors], i % delays->executors);
    return delays->down != before;
}
