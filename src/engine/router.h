/* Groupings: which tasks get a tuple.
 *
 * What:    for each task and each of its streams, the consumers with their grouping and its state. Shuffle is Storm's
 *          with load awareness off (org.apache.storm.grouping.ShuffleGrouping): a shuffled list of the targets, walked
 *          round robin, the counter moved on before use; one state a task, stream and consumer. Fields is our stable
 *          64-bit hash (tuple/hash.h), multiply-shift to the number of tasks, skipped for one task. Global is the
 *          lowest task id; all is every task.
 * Threads: the emitting task's.
 */
#ifndef GX_ENGINE_ROUTER_H
#define GX_ENGINE_ROUTER_H

#include "base/alloc.h"
#include "base/random.h"
#include "engine/counters.h"
#include "topology/plan.h"
#include "tuple/hash.h"

typedef struct gx_route {
    const gx_plan_edge *edge;
    uint16_t *order; /* shuffle: the targets, shuffled */
    uint32_t next;   /* shuffle */
} gx_route;

typedef struct gx_stream_routes {
    gx_route *routes;
    uint32_t count;
    uint32_t field_count;
    uint32_t fanout; /* the most targets that one tuple can have */
    gx_stream_counters counters;
} gx_stream_routes;

/* GALE_NO_MEMORY. */
int gx_router_init(gx_stream_routes *stream, const gx_plan_stream *plan, gx_heap *heap, gx_random *random);
void gx_router_fini(gx_stream_routes *stream, gx_heap *heap);

/* The target of a grouping that has one. */
GX_INLINE uint16_t gx_route_one(gx_route *route, const gale_value *values) {
    const gx_plan_edge *edge = route->edge;
    if (edge->task_count == 1 || edge->grouping == GALE_GROUPING_GLOBAL) return edge->first_task;
    if (edge->grouping == GALE_GROUPING_FIELDS) {
        uint64_t hash = gx_values_hash(values, edge->fields, edge->field_count);
        return (uint16_t)(edge->first_task + gx_hash_below(hash, edge->task_count));
    }
    if (++route->next >= edge->task_count) route->next = 0;
    return route->order[route->next];
}

/* Writes the targets to `targets`, which has room for `fanout`; returns how many. */
GX_INLINE uint32_t gx_router_targets(gx_stream_routes *stream, const gale_value *values, uint16_t *targets) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < stream->count; i++) {
        const gx_plan_edge *edge = stream->routes[i].edge;
        if (edge->grouping != GALE_GROUPING_ALL)
            targets[count++] = gx_route_one(&stream->routes[i], values);
        else
            for (uint32_t t = 0; t < edge->task_count; t++) targets[count++] = (uint16_t)(edge->first_task + t);
    }
    return count;
}

#endif
