#include "trees/forgotten.h"

#include <gale/error.h>

enum { BUCKETS = 3 };

/* A tree is asked about within 1.25 timeouts of its emit: two periods of a timeout are enough. */
static void rotate(gx_forgotten *forgotten, int64_t now, int64_t timeout) {
    if (!timeout || now < forgotten->due) return;
    if (forgotten->due) gx_rotating_map_rotate(forgotten->map, NULL, NULL);
    forgotten->due = now + timeout;
}

void gx_forgotten_note(gx_forgotten *forgotten, gx_heap *heap, uint16_t task, gx_roots roots, int64_t now,
                       int64_t timeout) {
    if (!forgotten->map && gx_rotating_map_new(heap, BUCKETS, sizeof(uint64_t), 1, &forgotten->map) < 0) return;
    rotate(forgotten, now, timeout);
    for (uint64_t i = 0; i < roots.count && gx_rotating_map_size(forgotten->map) < GX_FORGOTTEN_MAX; i++) {
        uint64_t *by = gx_rotating_map_put(forgotten->map, roots.pairs[i].root, NULL);
        if (by) *by = task;
    }
}

uint16_t gx_forgotten_by(const gx_forgotten *forgotten, uint64_t root) {
    const uint64_t *by = forgotten->map ? gx_rotating_map_get(forgotten->map, root) : NULL;
    return by ? (uint16_t)*by : 0;
}

void gx_forgotten_fini(gx_forgotten *forgotten) {
    gx_rotating_map_free(forgotten->map);
    forgotten->map = NULL;
}
