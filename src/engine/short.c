#include "engine/short.h"

#include "engine/drop.h"

/* A grouping by keys has one that is the whole tuple, when that has one value. */
static bool is_by_one(const gx_route *route) {
    return !gx_route_is_keyed(route) || route->edge->field_count == 1;
}

void gx_short_choose(gx_task *task, bool tapped) {
    gx_executor *ex = task->executor;
    task->tapped = tapped;
    for (uint32_t i = 0; i < task->stream_count; i++) {
        gx_stream_routes *routes = &task->streams[i];
        uint16_t sole = gx_router_sole(routes);
        routes->bare = !tapped && !task->hook_count && !ex->shared->plan->deadline && !task->plan->retains;
        const gx_plan_drop *drop = sole ? gx_drop_find(ex->shared->tasks[sole], task->component, i) : NULL;
        routes->lane = drop ? drop->lane : 0;
        routes->sole = sole ? &ex->open[sole] : &ex->never;
        bool brief = !routes->laned && routes->field_count == 1;
        routes->brief = brief ? routes->sole : &ex->never;
        routes->choice = brief && !sole && routes->plain && !gx_route_is_spread(routes) &&
                         is_by_one(&routes->routes[0]);
        routes->by_field = routes->choice && routes->routes[0].edge->grouping == GALE_GROUPING_FIELDS;
    }
}

/* May the grouping look at its fields? What is no value must be refused first, and lists are not flat. */
GX_INLINE bool may_look(const gx_plan_edge *edge, const gale_value *values) {
    for (uint32_t i = 0; i < edge->field_count; i++)
        if (!gx_flat_is_valid(&values[edge->fields[i]])) return false;
    return true;
}

/* To one of several inputs, of which some drop. */
static gx_open *open_laned(gx_task *task, const gx_stream_routes *routes, gx_task *target) {
    gx_executor *ex = task->executor;
    const gx_plan_drop *drop = gx_drop_find(target, task->component, (uint32_t)(routes - task->streams));
    return gx_turn_make_room(ex, target, drop, GX_ROW_SHORT) == GALE_OK ? &ex->open[target->id] : NULL;
}

/* The open batch for `target`, with room for a short row; NULL: there is none, and emit.h says why. */
GX_INLINE gx_open *open_for(gx_task *task, const gx_stream_routes *routes, uint16_t target) {
    gx_executor *ex = task->executor;
    gx_open *open = &ex->open[target];
    if (GX_UNLIKELY(routes->laned)) return open_laned(task, routes, ex->shared->tasks[target]);
    if (GX_LIKELY(open->at < open->end)) return open;
    return gx_turn_open(ex, ex->shared->tasks[target], NULL, GX_ROW_SHORT) == GALE_OK ? open : NULL;
}

GX_INLINE size_t space_in(const gx_open *open) {
    return (size_t)(open->limit - open->at);
}

/* Writes a row where there is space for one. False: its body does not fit or is not flat, and nothing was done. */
GX_INLINE bool write_row(gx_executor *ex, gx_open *open, size_t space, const gx_short *s, const gale_value *values,
                         size_t count, uint64_t *ret_edge) {
    size_t before = gx_short_before(s), size = gx_flat_write(values, count, open->at + before, space - before);
    if (GX_UNLIKELY(!size)) return false;
    *ret_edge = gx_short_commit(ex, open, s, before + size);
    return true;
}

/* The row that lies at `row`, for one more task: the same but for its edge, by 16 bytes at a time; there is so much room
 * behind a body (gx_flat_write). Returns the edge, 0: it has no root. */
GX_INLINE uint64_t copy_row(gx_executor *ex, gx_open *open, const unsigned char *row, size_t length, bool rooted) {
    unsigned char *at = open->at;
    open->at = at + length;
    for (size_t i = 0; i < length; i += 16) memcpy(at + i, row + i, 16);
    return rooted ? ((gx_root *)(at + sizeof(gale_head)))->edge = gx_draw_edge(ex) : 0;
}

/* Opens what is to be. Returns how long a row has room in each; 0: one cannot be opened. */
static size_t open_all(gx_task *task, const gx_stream_routes *routes, const uint16_t *targets, uint32_t count) {
    size_t least = SIZE_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const gx_open *open = open_for(task, routes, targets[i]);
        if (GX_UNLIKELY(!open)) return 0;
        if (space_in(open) < least) least = space_in(open);
    }
    return least;
}

static bool may_look_all(const gx_stream_routes *routes, const gale_value *values) {
    for (uint32_t i = 0; i < routes->count; i++)
        if (!may_look(routes->routes[i].edge, values)) return false;
    return true;
}

static uint32_t send_to_several(gx_task *task, gx_stream_routes *routes, const gx_short *s, const gale_value *values,
                                size_t count, uint64_t *ret_edges, uint32_t *ret_chosen) {
    gx_executor *ex = task->executor;
    uint16_t *targets = ex->scratch.targets;
    if (routes->fanout > ex->scratch.target_capacity || !may_look_all(routes, values)) return 0;
    uint32_t n = *ret_chosen = (uint32_t)gx_router_targets(routes, values, targets);
    size_t space = open_all(task, routes, targets, n);
    if (GX_UNLIKELY(!space)) return 0;
    gx_open *first = &ex->open[targets[0]];
    const unsigned char *row = first->at;
    if (GX_UNLIKELY(!write_row(ex, first, space, s, values, count, ret_edges))) return 0;
    size_t length = (size_t)(first->at - row);
    uint64_t edges = *ret_edges;
    for (uint32_t i = 1; i < n; i++) edges ^= copy_row(ex, &ex->open[targets[i]], row, length, s->roots);
    *ret_edges = edges;
    gx_count(&routes->counters.other, 1);
    gx_count(&routes->counters.other_transferred, n);
    return n;
}

static uint32_t send_to_one(gx_task *task, gx_stream_routes *routes, gx_open *open, const gx_short *s,
                            const gale_value *values, size_t count, uint64_t *ret_edges) {
    if (GX_UNLIKELY(!open || !write_row(task->executor, open, space_in(open), s, values, count, ret_edges))) return 0;
    gx_count(&routes->counters.single, 1);
    return 1;
}

uint32_t gx_short_send(gx_task *task, const gx_short *s, const gale_value *values, size_t count, uint64_t *ret_edges,
                       uint32_t *ret_chosen) {
    gx_executor *ex = task->executor;
    gx_stream_routes *routes = s->routes;
    GX_CHECK(routes->plain && count == routes->field_count);
    gx_turn_take(ex, task);
    if (!routes->laned && routes->sole->at < routes->sole->end)
        return send_to_one(task, routes, routes->sole, s, values, count, ret_edges);
    if (gx_route_is_spread(routes)) return send_to_several(task, routes, s, values, count, ret_edges, ret_chosen);
    if (!may_look(routes->routes[0].edge, values)) return 0;
    ex->scratch.targets[0] = gx_route_one(&routes->routes[0], values);
    *ret_chosen = 1;
    return send_to_one(task, routes, open_for(task, routes, ex->scratch.targets[0]), s, values, count, ret_edges);
}
