#include "engine/router.h"

static int shuffle_targets(gx_route *route, gx_heap *heap, gx_random *random) {
    uint32_t count = route->edge->task_count;
    route->order = gx_alloc_array(heap, GX_TAG_PLAN, count, sizeof *route->order);
    if (!route->order) return GALE_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++) { /* Fisher-Yates, inside out */
        uint32_t k = gx_random_below(random, i + 1);
        route->order[i] = route->order[k];
        route->order[k] = (uint16_t)(route->edge->first_task + i);
    }
    return GALE_OK;
}

int gx_router_init(gx_stream_routes *stream, const gx_plan_stream *plan, gx_heap *heap, gx_random *random) {
    stream->field_count = plan->field_count;
    stream->routes = gx_alloc_array(heap, GX_TAG_PLAN, plan->edge_count, sizeof *stream->routes);
    if (!stream->routes) return GALE_NO_MEMORY;
    stream->count = plan->edge_count;
    for (uint32_t i = 0; i < plan->edge_count; i++) {
        gx_route *route = &stream->routes[i];
        route->edge = &plan->edges[i];
        stream->fanout += route->edge->grouping == GALE_GROUPING_ALL ? route->edge->task_count : 1;
        if (route->edge->grouping != GALE_GROUPING_SHUFFLE) continue;
        int rc = shuffle_targets(route, heap, random);
        if (rc < 0) return rc;
    }
    return GALE_OK;
}

void gx_router_fini(gx_stream_routes *stream, gx_heap *heap) {
    for (uint32_t i = 0; stream->routes && i < stream->count; i++) {
        gx_route *route = &stream->routes[i];
        if (route->order) gx_free(heap, GX_TAG_PLAN, route->order, route->edge->task_count * sizeof *route->order);
    }
    size_t size = stream->count * sizeof *stream->routes;
    gx_free(heap, GX_TAG_PLAN, stream->routes, size ? size : 1);
    stream->routes = NULL;
}
