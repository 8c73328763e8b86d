#include "engine/latencies.h"

static bool has(int kind, bool spout) {
    return (kind == GALE_LATENCY_COMPLETE) == spout;
}

bool gx_latencies_init(gx_latencies *latencies, gx_heap *heap, bool spout) {
    bool made = true;
    for (int kind = 0; kind < GALE_LATENCY_COUNT; kind++) {
        if (!has(kind, spout)) continue;
        latencies->of[kind] = gx_alloc(heap, GX_TAG_FIGURE, sizeof *latencies->of[kind]);
        made = made && latencies->of[kind];
    }
    return made;
}

void gx_latencies_fini(gx_latencies *latencies, gx_heap *heap) {
    for (int kind = 0; kind < GALE_LATENCY_COUNT; kind++)
        gx_free(heap, GX_TAG_FIGURE, latencies->of[kind], sizeof *latencies->of[kind]);
}
