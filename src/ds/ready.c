#include "ds/ready.h"

bool gx_ready_init(gx_ready *ready, gx_heap *heap, uint32_t count) {
    *ready = (gx_ready){ .count = count };
    if (count <= GX_READY_FEW) return true;
    uint32_t words = (count + 63) / 64;
    ready->news = gx_alloc_apart(heap, GX_TAG_PLAN, words * sizeof *ready->news);
    ready->todo = gx_alloc_array(heap, GX_TAG_PLAN, words, sizeof *ready->todo);
    if (ready->news && ready->todo) {
        ready->words = words;
        return true;
    }
    if (ready->news) gx_free_apart(heap, GX_TAG_PLAN, ready->news, words * sizeof *ready->news);
    if (ready->todo) gx_free(heap, GX_TAG_PLAN, ready->todo, words * sizeof *ready->todo);
    *ready = (gx_ready){ 0 };
    return false;
}

void gx_ready_fini(gx_ready *ready, gx_heap *heap) {
    if (!ready->words) return;
    gx_free_apart(heap, GX_TAG_PLAN, ready->news, ready->words * sizeof *ready->news);
    gx_free(heap, GX_TAG_PLAN, ready->todo, ready->words * sizeof *ready->todo);
    *ready = (gx_ready){ 0 };
}

void gx_ready_take(gx_ready *ready, bool all) {
    if (!ready->words) return;
    all |= ++ready->rounds >= GX_READY_ROUND;
    if (all) ready->rounds = 0;
    for (uint32_t i = 0; i < ready->words; i++) {
        if (gx_load_relaxed(&ready->news[i])) ready->todo[i] |= gx_exchange_acquire(&ready->news[i], 0); /* A1 */
        if (all) ready->todo[i] = UINT64_MAX;
    }
}
