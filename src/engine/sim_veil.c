#include "engine/sim_veil.h"

#include <string.h>

int gx_veils_begin(gx_veils *veils, gx_heap *heap, uint32_t executors) {
    size_t count = (size_t)executors * executors;
    if (!gx_grow(heap, GX_TAG_OTHER, &veils->list, &veils->capacity, count, sizeof *veils->list)) return GALE_NO_MEMORY;
    memset(veils->list, 0, count * sizeof *veils->list);
    veils->executors = executors;
    veils->down = 0;
    return GALE_OK;
}

void gx_veils_fini(gx_veils *veils, gx_heap *heap) {
    gx_free(heap, GX_TAG_OTHER, veils->list, veils->capacity * sizeof *veils->list);
    *veils = (gx_veils){ 0 };
}

static gx_veil *veil_at(const gx_veils *veils, const gx_executor *from, uint32_t to) {
    return &veils->list[(size_t)from->index * veils->executors + to];
}

/* What the writer has published, as it knows itself. */
static uint64_t position(const gx_outlet *outlet) {
    return outlet->ring.ring ? outlet->ring.published : 0;
}

static void set_seen(gx_outlet *outlet, uint64_t position) {
    if (outlet->ring.ring) gx_store_release(&outlet->ring.ring->producer.tail, position);
}

bool gx_veils_is_new(const gx_veils *veils, gx_executor *from, uint32_t to) {
    const gx_veil *veil = veil_at(veils, from, to);
    return !veil->down &&
           (position(&from->outlets[to]) != veil->data || position(&from->ack_outlets[to]) != veil->acks);
}

/* What a veil lets through. */
static void apply(const gx_veil *veil, gx_executor *from, uint32_t to) {
    set_seen(&from->outlets[to], veil->data);
    set_seen(&from->ack_outlets[to], veil->acks);
}

void gx_veils_hide(gx_veils *veils, gx_executor *from, uint32_t to, uint64_t until) {
    gx_veil *veil = veil_at(veils, from, to);
    veil->down = true;
    veil->until = until;
    veils->down++;
    apply(veil, from, to);
}

void gx_veils_keep(const gx_veils *veils, gx_executor *from, uint32_t to) {
    const gx_veil *veil = veil_at(veils, from, to);
    if (veil->down) apply(veil, from, to);
}

void gx_veils_show(gx_veils *veils, gx_executor *from, uint32_t to) {
    gx_veil *veil = veil_at(veils, from, to);
    veils->down -= veil->down;
    *veil = (gx_veil){ position(&from->outlets[to]), position(&from->ack_outlets[to]), 0, false };
    apply(veil, from, to);
}

bool gx_veils_lift(gx_veils *veils, gx_shared *shared, uint64_t step) {
    uint32_t before = veils->down, count = veils->executors * veils->executors;
    for (uint32_t i = 0; veils->down && i < count; i++)
        if (veils->list[i].down && veils->list[i].until <= step)
            gx_veils_show(veils, shared->executors[i / veils->executors], i % veils->executors);
    return veils->down != before;
}
