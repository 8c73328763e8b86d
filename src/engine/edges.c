#include "engine/edges.h"

bool gx_edges_init(gx_edges *edges, gx_heap *heap, const gx_plan *plan, const gx_plan_component *of) {
    uint32_t count = of->built->input_count;
    edges->list = gx_alloc_array(heap, GX_TAG_FIGURE, count + 1u, sizeof *edges->list);
    if (!edges->list) return false;
    edges->plan = plan;
    edges->of = of;
    edges->count = count;
    edges->last = &edges->list[count];
    for (uint32_t i = 0; i < count; i++) edges->list[of->origins[i].input].mixed = of->origins[i].mixed;
    return true;
}

void gx_edges_fini(gx_edges *edges, gx_heap *heap) {
    if (edges->list) gx_free(heap, GX_TAG_FIGURE, edges->list, (edges->count + 1u) * sizeof *edges->list);
    edges->list = NULL;
}

static uint32_t name_of(uint16_t component, uint16_t stream) {
    return (uint32_t)component << 16 | stream;
}

gx_edge *gx_edges_look(gx_edges *edges, uint16_t source, uint16_t stream) {
    gx_edge *none = &edges->list[edges->count];
    if (!source || source > edges->plan->task_count) return none;
    uint32_t name = name_of(edges->plan->tasks[source].component, stream), first = 0, end = edges->count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        const gx_plan_origin *origin = &edges->of->origins[middle];
        if (name_of(origin->source, origin->stream) < name)
            first = middle + 1;
        else
            end = middle;
    }
    const gx_plan_origin *found = first < edges->count ? &edges->of->origins[first] : NULL;
    if (!found || name_of(found->source, found->stream) != name) return none;
    edges->last_name = name_of(source, stream);
    return edges->last = &edges->list[found->input];
}

uint64_t gx_edges_executed(const gx_edges *edges) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= edges->count; i++) sum += gx_load_relaxed(&edges->list[i].executed);
    return sum;
}

uint64_t gx_edges_acked(const gx_edges *edges) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= edges->count; i++) sum += gx_load_relaxed(&edges->list[i].acked);
    return sum;
}
