/* Groupings: which tasks get a tuple.
 *
 * What:    for each task and each of its streams, the consumers with their grouping and its state, one a task, stream
 *          and consumer.
 *          shuffle           Storm's with load awareness off (org.apache.storm.grouping.ShuffleGrouping): a shuffled
 *                            list of the targets, walked round robin, moved on before use. Load-aware, the walk goes
 *                            over the targets on the emitting task's executor that are not congested, unless its work
 *                            is heavy and some waits (engine/flow.h); else over all that are not congested; when
 *                            there are none, over all.
 *          local-or-shuffle  the same over the targets on the emitting task's executor, if it has any.
 *          fields            our stable 64-bit hash (tuple/hash.h), multiply-shift to the number of tasks, skipped for
 *                            one task.
 *          partial key       of the key's two candidates (tuple/hash.h) the one that this route has used less, the
 *                            first when they are even.
 *          none              drawn from the emitting task's own generator for each tuple.
 *          global, all       the lowest task id; every task.
 *          direct            no task of a regular emit; gx_router_direct checks the one that an emit names.
 *          custom            what the function chooses, checked.
 * Threads: the emitting task's; made and ended while it does not run.
 */
#ifndef GX_ENGINE_ROUTER_H
#define GX_ENGINE_ROUTER_H

#include "base/alloc.h"
#include "base/random.h"
#include "engine/flow.h"
#include "topology/plan.h"
#include "trees/counters.h"
#include "tuple/hash.h"

/* A list of tasks that take turns. */
typedef struct gx_turns {
    uint16_t *tasks;
    uint32_t count;
    uint32_t last; /* moved on before use */
} gx_turns;

typedef struct gx_chooser gx_chooser;

typedef struct gx_route {
    const gx_plan_edge *edge;
    bool many;               /* the grouping may name no task or several: gx_route_many */
    gx_turns all;            /* shuffle, local-or-shuffle */
    gx_turns near;           /* load-aware shuffle: those on the emitting task's executor, the first ones of `all` */
    const gx_flow *flow;     /* load-aware: who is congested; else NULL */
    const gx_effort *effort; /* load-aware: the emitting task's executor's */
    gx_random *random;       /* the emitting task's */
    uint64_t *used;          /* partial key: tuples, by target */
    gx_chooser *chooser;     /* custom */
} gx_route;

typedef struct gx_stream_routes {
    gx_route *routes;
    uint32_t count;
    uint32_t field_count;
    uint32_t fanout; /* the most targets that one tuple of a regular emit can have */
    bool direct;     /* a consumer is direct: a regular emit is a mistake */
    bool reads;      /* a grouping looks at values */
    bool plain;      /* there are consumers, and none has a direct or custom grouping: see engine/short.h */
    bool laned;      /* plain, and some consumer has inputs that drop */
    uint16_t lane;   /* of the only task that takes it */
    uint64_t head;   /* its number, where it stands in a row's head */
    struct gx_open
        *sole; /* plain, and one task takes it: its place, where, laned, rows of another lane may lie; else one
                              where nothing fits */
    struct gx_open *brief; /* the same, not laned, where tuples have one value */
    bool choice;           /* there, a grouping of one consumer chooses one of several tasks */
    bool by_field;         /* and does so by fields grouping */
    bool bare;             /* no deadline, nothing is kept, and nobody wants to see what is emitted */
    gx_stream_counters counters;
} gx_stream_routes;

/* `random` must outlive the routes. GALE_NO_MEMORY: what was made is still to be ended with gx_router_fini. */
int gx_router_init(gx_stream_routes *stream, const gx_plan_stream *plan, gx_heap *heap, gx_random *random);
void gx_router_fini(gx_stream_routes *stream, gx_heap *heap);

/* Once, after gx_router_init and before the first tuple: who emits, and so which targets are near; and which of its
 * streams this is. Without it shuffle is exactly even and nothing is near. `flow` must outlive the routes. */
void gx_router_place(gx_stream_routes *stream, const gx_plan *plan, const gx_flow *flow, uint16_t task,
                     uint16_t number);

/* The only task that takes tuples of a plain stream; 0: there are several. */
uint16_t gx_router_sole(const gx_stream_routes *stream);

/* May a direct emit name `task`? GALE_OK when it belongs to a consumer that subscribed with direct grouping; else
 * GALE_NOT_FOUND. */
int gx_router_direct(gx_stream_routes *stream, uint32_t task);

/* Several consumers, or one all of whose tasks take each tuple. */
GX_INLINE bool gx_route_is_spread(const gx_stream_routes *stream) {
    return stream->count != 1 || stream->routes[0].many;
}

/* The targets of a grouping that may have none or several: how many, or the negative error of a custom one. */
int gx_route_many(gx_route *route, const gale_value *values, uint32_t value_count, uint16_t *targets);

GX_INLINE uint16_t gx_turns_next(gx_turns *turns) {
    if (++turns->last >= turns->count) turns->last = 0;
    return turns->tasks[turns->last];
}

/* The next one that is not congested, or 0. */
GX_INLINE uint16_t gx_turns_free(gx_turns *turns, const gx_flow *flow) {
    for (uint32_t i = 0; i < turns->count; i++) {
        uint16_t task = gx_turns_next(turns);
        if (GX_LIKELY(!gx_load_relaxed(&flow->congested[task]))) return task;
    }
    return 0;
}

/* One tuple alone stays, however long it takes: nobody waits for it to be shared. */
GX_INLINE bool gx_effort_spreads(const gx_effort *effort) {
    return effort->heavy && *effort->waiting > 0;
}

GX_INLINE uint16_t gx_route_shuffle(gx_route *route) {
    uint16_t task = 0;
    if (route->flow && !gx_effort_spreads(route->effort)) task = gx_turns_free(&route->near, route->flow);
    if (route->flow && !task) task = gx_turns_free(&route->all, route->flow);
    return task ? task : gx_turns_next(&route->all);
}

GX_INLINE uint16_t gx_route_partial_key(gx_route *route, uint64_t hash) {
    uint32_t first, second;
    gx_hash_pair(hash, route->edge->task_count, &first, &second);
    uint32_t chosen = route->used[second] < route->used[first] ? second : first;
    route->used[chosen]++;
    return (uint16_t)(route->edge->first_task + chosen);
}

/* Does a hash of some fields choose? */
GX_INLINE bool gx_route_is_keyed(const gx_route *route) {
    return route->edge->grouping == GALE_GROUPING_FIELDS || route->edge->grouping == GALE_GROUPING_PARTIAL_KEY;
}

/* The target of a keyed grouping. */
GX_INLINE uint16_t gx_route_by_key(gx_route *route, uint64_t hash) {
    const gx_plan_edge *edge = route->edge;
    if (edge->grouping == GALE_GROUPING_PARTIAL_KEY) return gx_route_partial_key(route, hash);
    return (uint16_t)(edge->first_task + gx_hash_below(hash, edge->task_count));
}

/* The target of a grouping that has exactly one, and is not keyed. */
GX_INLINE uint16_t gx_route_keyless(gx_route *route) {
    const gx_plan_edge *edge = route->edge;
    switch (edge->grouping) {
    case GALE_GROUPING_GLOBAL: return edge->first_task;
    case GALE_GROUPING_NONE: return (uint16_t)(edge->first_task + gx_random_below(route->random, edge->task_count));
    default: return gx_route_shuffle(route);
    }
}

/* The target of a grouping that has exactly one. */
GX_INLINE uint16_t gx_route_one(gx_route *route, const gale_value *values) {
    const gx_plan_edge *edge = route->edge;
    if (edge->task_count == 1) return edge->first_task;
    if (!gx_route_is_keyed(route)) return gx_route_keyless(route);
    return gx_route_by_key(route, gx_values_hash(values, edge->fields, edge->field_count));
}

/* Writes the targets of a regular emit to `targets`, which has room for `fanout`; returns how many, or the negative
 * error of a custom grouping: then the tuple goes nowhere. `values` are as many as the stream's fields. */
GX_INLINE int gx_router_targets(gx_stream_routes *stream, const gale_value *values, uint16_t *targets) {
    int count = 0;
    for (uint32_t i = 0; i < stream->count; i++) {
        gx_route *route = &stream->routes[i];
        if (GX_LIKELY(!route->many)) {
            targets[count++] = gx_route_one(route, values);
            continue;
        }
        int more = gx_route_many(route, values, stream->field_count, targets + count);
        if (more < 0) return more;
        count += more;
    }
    return count;
}

#endif
