#include "engine/router.h"

/* A custom grouping's instance. */
struct gx_chooser {
    gale_targets targets;
    const gx_subscription *grouping;
    void *self;
    bool prepared;
    uint32_t choice; /* the number of the choice, for `chosen_in` */
    uint32_t *indices;
    uint32_t *chosen_in; /* by target: the last choice that named it */
};

/* --- Making ------------------------------------------------------------------------------------------------------- */

static int make_turns(gx_route *route, gx_heap *heap) {
    uint32_t count = route->edge->task_count;
    uint16_t *tasks = gx_alloc_array(heap, GX_TAG_PLAN, count, sizeof *tasks);
    if (!tasks) return GALE_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++) { /* Fisher-Yates, inside out */
        uint32_t k = gx_random_below(route->random, i + 1);
        tasks[i] = tasks[k];
        tasks[k] = (uint16_t)(route->edge->first_task + i);
    }
    route->all = (gx_turns){ tasks, count, 0 };
    return GALE_OK;
}

static int make_used(gx_route *route, gx_heap *heap) {
    route->used = gx_alloc_array(heap, GX_TAG_PLAN, route->edge->task_count, sizeof *route->used);
    return route->used ? GALE_OK : GALE_NO_MEMORY;
}

static uint64_t targets_random(const gale_targets *targets) {
    return gx_random_next(targets->engine);
}

static size_t chooser_size(const gx_plan_edge *edge) {
    return sizeof(gx_chooser) + 2 * sizeof(uint32_t) * edge->task_count;
}

static int make_chooser(gx_route *route, gx_heap *heap) {
    const gx_plan_edge *edge = route->edge;
    gx_chooser *chooser = gx_alloc(heap, GX_TAG_PLAN, chooser_size(edge));
    if (!chooser) return GALE_NO_MEMORY;
    chooser->indices = (uint32_t *)(chooser + 1);
    chooser->chosen_in = chooser->indices + edge->task_count;
    chooser->grouping = edge->subscription;
    chooser->targets = (gale_targets){
        .size = sizeof chooser->targets,
        .source = edge->subscription->source,
        .stream = edge->subscription->stream,
        .consumer = edge->consumer,
        .first_task = edge->first_task,
        .task_count = edge->task_count,
        .random = targets_random,
        .engine = route->random,
    };
    route->chooser = chooser;
    return GALE_OK;
}

static int make_route(gx_route *route, gx_heap *heap) {
    switch (route->edge->grouping) {
    case GALE_GROUPING_SHUFFLE:
    case GALE_GROUPING_LOCAL_OR_SHUFFLE: return make_turns(route, heap);
    case GALE_GROUPING_PARTIAL_KEY: return make_used(route, heap);
    case GALE_GROUPING_ALL:
    case GALE_GROUPING_DIRECT: route->many = true; return GALE_OK;
    case GALE_GROUPING_CUSTOM: route->many = true; return make_chooser(route, heap);
    default: return GALE_OK;
    }
}

static uint32_t most_targets(const gx_plan_edge *edge) {
    switch (edge->grouping) {
    case GALE_GROUPING_ALL:
    case GALE_GROUPING_CUSTOM: return edge->task_count;
    case GALE_GROUPING_DIRECT: return 0;
    default: return 1;
    }
}

int gx_router_init(gx_stream_routes *stream, const gx_plan_stream *plan, gx_heap *heap, gx_random *random) {
    stream->field_count = plan->field_count;
    stream->routes = gx_alloc_array(heap, GX_TAG_PLAN, plan->edge_count, sizeof *stream->routes);
    if (!stream->routes) return GALE_NO_MEMORY;
    stream->count = plan->edge_count;
    for (uint32_t i = 0; i < plan->edge_count; i++) {
        gx_route *route = &stream->routes[i];
        route->edge = &plan->edges[i];
        route->random = random;
        stream->fanout += most_targets(route->edge);
        stream->direct |= route->edge->grouping == GALE_GROUPING_DIRECT;
        stream->reads |= route->edge->grouping == GALE_GROUPING_CUSTOM ||
                         (gx_route_is_keyed(route) && route->edge->task_count > 1);
    }
    for (uint32_t i = 0; i < plan->edge_count; i++) {
        int rc = make_route(&stream->routes[i], heap);
        if (rc < 0) return rc;
    }
    return GALE_OK;
}

static void free_route(gx_route *route, gx_heap *heap) {
    const gx_plan_edge *edge = route->edge;
    gx_chooser *chooser = route->chooser;
    if (chooser && chooser->prepared && chooser->grouping->custom.release)
        chooser->grouping->custom.release(chooser->self);
    if (chooser) gx_free(heap, GX_TAG_PLAN, chooser, chooser_size(edge));
    if (route->used) gx_free(heap, GX_TAG_PLAN, route->used, edge->task_count * sizeof *route->used);
    if (route->all.tasks) gx_free(heap, GX_TAG_PLAN, route->all.tasks, edge->task_count * sizeof *route->all.tasks);
}

void gx_router_fini(gx_stream_routes *stream, gx_heap *heap) {
    for (uint32_t i = 0; stream->routes && i < stream->count; i++) free_route(&stream->routes[i], heap);
    size_t size = stream->count * sizeof *stream->routes;
    gx_free(heap, GX_TAG_PLAN, stream->routes, size ? size : 1);
    stream->routes = NULL;
}

/* --- Placing ------------------------------------------------------------------------------------------------------ */

/* Brings the tasks on `executor` to the front, without changing their order otherwise: round robin over them alone and
 * over all share one list. */
static uint32_t near_first(gx_turns *turns, const gx_plan *plan, uint16_t executor) {
    uint32_t near = 0;
    for (uint32_t i = 0; i < turns->count; i++) {
        uint16_t task = turns->tasks[i];
        if (plan->tasks[task].executor != executor) continue;
        memmove(&turns->tasks[near + 1], &turns->tasks[near], (i - near) * sizeof task);
        turns->tasks[near++] = task;
    }
    return near;
}

static void place_route(gx_route *route, const gx_plan *plan, const gx_flow *flow, uint16_t executor) {
    bool local_only = route->edge->grouping == GALE_GROUPING_LOCAL_OR_SHUFFLE;
    if (!route->all.tasks || (!local_only && !plan->load_aware)) return;
    uint32_t near = near_first(&route->all, plan, executor);
    if (local_only && near) route->all.count = near;
    if (!plan->load_aware) return;
    route->near = (gx_turns){ route->all.tasks, near, 0 };
    route->flow = flow;
    route->effort = &flow->efforts[executor];
}

static bool is_plain(const gx_stream_routes *stream) {
    for (uint32_t i = 0; i < stream->count; i++) {
        const gx_plan_edge *edge = stream->routes[i].edge;
        if (edge->grouping == GALE_GROUPING_CUSTOM || edge->grouping == GALE_GROUPING_DIRECT) return false;
    }
    return stream->count > 0;
}

uint16_t gx_router_sole(const gx_stream_routes *stream) {
    const gx_plan_edge *edge = stream->plain && stream->count == 1 ? stream->routes[0].edge : NULL;
    return edge && edge->task_count == 1 ? edge->first_task : 0;
}

void gx_router_place(gx_stream_routes *stream, const gx_plan *plan, const gx_flow *flow, uint16_t task,
                     uint16_t number) {
    stream->head = (uint64_t)number << 32;
    stream->plain = is_plain(stream);
    for (uint32_t i = 0; i < stream->count; i++) {
        gx_route *route = &stream->routes[i];
        stream->laned |= plan->components[route->edge->component].drop_count > 0;
        place_route(route, plan, flow, plan->tasks[task].executor);
        if (route->chooser) route->chooser->targets.source_task = task;
    }
}

/* --- Choosing ----------------------------------------------------------------------------------------------------- */

int gx_router_direct(gx_stream_routes *stream, uint32_t task) {
    for (uint32_t i = 0; i < stream->count; i++) {
        const gx_plan_edge *edge = stream->routes[i].edge;
        if (edge->grouping == GALE_GROUPING_DIRECT && gx_is_within(task, edge->first_task, edge->task_count))
            return GALE_OK;
    }
    return GALE_NOT_FOUND;
}

/* On the emitting task's thread, as all calls to the instance but `release` are. */
static int prepare(gx_chooser *chooser) {
    const gx_subscription *grouping = chooser->grouping;
    void *self = grouping->user;
    int rc = grouping->custom.prepare ? grouping->custom.prepare(grouping->user, &chooser->targets, &self) : GALE_OK;
    if (rc < 0) return rc;
    chooser->self = self;
    chooser->prepared = true;
    return GALE_OK;
}

/* Task ids for the indices that were chosen. A number for each choice spares clearing `chosen_in`, but for when the
 * numbers begin again. */
static int take_choice(gx_chooser *chooser, uint32_t count, uint16_t *targets) {
    uint32_t tasks = chooser->targets.task_count;
    if (++chooser->choice == 0) {
        memset(chooser->chosen_in, 0, tasks * sizeof *chooser->chosen_in);
        chooser->choice = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = chooser->indices[i];
        if (index >= tasks || chooser->chosen_in[index] == chooser->choice) return GALE_INVALID;
        chooser->chosen_in[index] = chooser->choice;
        targets[i] = (uint16_t)(chooser->targets.first_task + index);
    }
    return (int)count;
}

static int choose(gx_chooser *chooser, const gale_value *values, uint32_t value_count, uint16_t *targets) {
    int rc = chooser->prepared ? GALE_OK : prepare(chooser);
    if (rc < 0) return rc;
    int count = chooser->grouping->custom.choose(chooser->self, &chooser->targets, values, value_count,
                                                 chooser->indices);
    if (count < 0) return count;
    return (uint32_t)count <= chooser->targets.task_count ? take_choice(chooser, (uint32_t)count, targets)
                                                          : GALE_INVALID;
}

int gx_route_many(gx_route *route, const gale_value *values, uint32_t value_count, uint16_t *targets) {
    const gx_plan_edge *edge = route->edge;
    if (edge->grouping == GALE_GROUPING_CUSTOM) return choose(route->chooser, values, value_count, targets);
    if (edge->grouping == GALE_GROUPING_DIRECT) return 0;
    for (uint32_t t = 0; t < edge->task_count; t++) targets[t] = (uint16_t)(edge->first_task + t);
    return edge->task_count;
}
