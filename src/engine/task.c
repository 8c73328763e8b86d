#include "engine/task.h"

#include "base/assert.h"
#include "base/log.h"
#include "base/utf8.h"

static uint64_t context_random(const gale_context *context) {
    return gx_random_next(&((gx_task *)context->engine)->random);
}

static void fill_context(gx_task *task, gx_shared *shared) {
    const gx_plan_component *c = task->plan;
    task->context = (gale_context){
        .size = sizeof task->context,
        .topology = shared->plan->topology->name,
        .component = c->built->name,
        .task = task->id,
        .task_index = task->id - c->first_task,
        .task_count = c->task_count,
        .config = c->config,
        .allocator = &shared->heap.allocator,
        .logger = &shared->logger,
        .clock = shared->clock,
        .random = context_random,
        .inputs = &c->input_table,
        .engine = task,
        .rate = gale_config_f64(c->config, "gale.rate", 0),
    };
}

static int make_streams(gx_task *task, gx_shared *shared) {
    gx_heap *heap = &shared->heap;
    const gx_plan_component *c = task->plan;
    task->streams = gx_alloc_array(heap, GX_TAG_PLAN, c->stream_count, sizeof *task->streams);
    if (!task->streams) return GALE_NO_MEMORY;
    task->stream_count = c->stream_count - (c->built->is_spout ? 1u : 0u);
    for (uint32_t i = 0; i < c->stream_count; i++) {
        int rc = gx_router_init(&task->streams[i], &c->streams[i], heap, &task->random);
        if (rc < 0) return rc;
        gx_router_place(&task->streams[i], shared->plan, &shared->flow, task->id, (uint16_t)i);
    }
    return GALE_OK;
}

static bool concerns(const gx_hook *hook, const gx_task *task) {
    return !hook->component || strcmp(hook->component, task->context.component) == 0;
}

/* The topology's, and the engine's own. */
static size_t hooks_room(const gale_topology *topology) {
    return topology->hook_count + 1u;
}

static int find_hooks(gx_task *task, const gx_shared *shared, gx_heap *heap) {
    const gale_topology *topology = shared->plan->topology;
    if ((topology->hook_count == 0 && !task->plan->debug) || task->is_acker) return GALE_OK;
    task->hooks = gx_alloc_array(heap, GX_TAG_PLAN, hooks_room(topology), sizeof *task->hooks);
    if (!task->hooks) return GALE_NO_MEMORY;
    if (task->plan->debug) task->hooks[task->hook_count++] = shared->debug;
    for (uint32_t i = 0; i < topology->hook_count; i++)
        if (concerns(&topology->hooks[i], task)) task->hooks[task->hook_count++] = &topology->hooks[i].hook;
    return GALE_OK;
}

static size_t lanes_size(const gx_plan_component *c) {
    return sizeof(gx_lanes) + c->drop_count * sizeof(gx_dropping);
}

static int make_lanes(gx_task *task, gx_heap *heap) {
    if (!task->plan->drop_count) return GALE_OK;
    task->lanes = gx_alloc(heap, GX_TAG_PLAN, lanes_size(task->plan));
    if (!task->lanes) return GALE_NO_MEMORY;
    task->lanes->count = (uint16_t)task->plan->drop_count;
    task->lanes->next = 1;
    return GALE_OK;
}

gx_task *gx_task_new(gx_shared *shared, struct gx_executor *executor, uint16_t id, const gale_collector_ops *ops) {
    GX_CHECK(id >= 1 && id <= shared->plan->task_count);
    gx_task *task = gx_alloc_apart(&shared->heap, GX_TAG_PLAN, sizeof *task);
    if (!task) return NULL;
    const gx_plan_task *planned = &shared->plan->tasks[id];
    task->out.ops = ops;
    task->executor = executor;
    task->id = id;
    task->component = planned->component;
    task->plan = &shared->plan->components[planned->component];
    task->is_spout = task->plan->built->is_spout;
    task->is_acker = gx_plan_is_acker(shared->plan, id);
    task->execute = task->plan->built->bolt.execute;
    task->execute_batch = task->plan->built->bolt.execute_batch;
    task->simple = !task->is_spout && task->plan->built->bolt.kind == GALE_BOLT_SIMPLE;
    task->sample_in = 1;
    task->blocks = gale_config_bool(task->plan->config, "gale.blocking", false);
    task->slow = task->is_spout; /* not known yet: see spout.c */
    task->spout.max_pending = task->plan->max_pending;
    task->tick.period = task->plan->tick_period;
    task->random = gx_random_new(shared->seed, 0x10000u + id);
    fill_context(task, shared);
    int rc = make_streams(task, shared);
    if (rc == GALE_OK) rc = make_lanes(task, &shared->heap);
    if (rc == GALE_OK && !gx_edges_init(&task->edges, &shared->heap, shared->plan, task->plan)) rc = GALE_NO_MEMORY;
    if (rc == GALE_OK) rc = find_hooks(task, shared, &shared->heap);
    task->gathers = task->simple && gx_task_flushes(task);
    task->acks_itself = task->simple && !task->gathers;
    if (rc == GALE_OK && task->is_acker)
        rc = gx_acker_init(&task->acker, &shared->heap, shared->plan->timeout, gx_random_next(&task->random));
    task->acker.progress = shared->plan->progress;
    if (rc == GALE_OK) return task;
    gx_task_free(task, shared);
    return NULL;
}

void gx_task_drop_states(gx_task *task, gx_shared *shared) {
    if (task->states) gx_keyed_fini(&task->states->keyed);
    gx_free(&shared->heap, GX_TAG_PLAN, task->states, sizeof *task->states);
    task->states = NULL;
}

void gx_task_free(gx_task *task, gx_shared *shared) {
    if (!task) return;
    if (task->is_acker) gx_acker_fini(&task->acker);
    gx_task_drop_states(task, shared);
    gx_metrics_free(&task->metrics, &shared->heap);
    gx_chunks_fini(&task->chunks, &shared->heap);
    gx_edges_fini(&task->edges, &shared->heap);
    uint32_t streams = task->plan->stream_count;
    for (uint32_t i = 0; task->streams && i < streams; i++) gx_router_fini(&task->streams[i], &shared->heap);
    size_t size = streams * sizeof *task->streams;
    gx_free(&shared->heap, GX_TAG_PLAN, task->streams, size ? size : 1);
    gx_free(&shared->heap, GX_TAG_OTHER, task->owed.roots, task->owed.root_capacity * sizeof *task->owed.roots);
    gx_free(&shared->heap, GX_TAG_OTHER, task->owed.handles, task->owed.handle_capacity * sizeof *task->owed.handles);
    if (task->lanes) gx_free(&shared->heap, GX_TAG_PLAN, task->lanes, lanes_size(task->plan));
    if (task->hooks)
        gx_free(&shared->heap, GX_TAG_PLAN, task->hooks, hooks_room(shared->plan->topology) * sizeof *task->hooks);
    gx_free_apart(&shared->heap, GX_TAG_PLAN, task, sizeof *task);
}

void gx_task_report(gx_task *task, const char *text) {
    gx_task_report_with(task, text, NULL);
}

void gx_task_report_with(gx_task *task, const char *text, const char *logged) {
    gx_utf8_copy(task->report, sizeof task->report, text);
    task->reported = true;
    if (!task->open) return; /* what keeps a task from opening is the start's own error, or its health */
    gx_count(&task->counters.errors, 1);
    if (gx_log_wanted(task->context.logger, GALE_LOG_WARN))
        gale_log(task->context.logger, GALE_LOG_WARN, task->context.component, "%s", logged ? logged : task->report);
}

void gx_task_error(const gx_task *task, int rc, const char *what, gale_error *ret_error) {
    gale_error_set(ret_error, rc, "%s", task->reported ? task->report : gale_error_text(rc));
    gale_error_add(ret_error, "%s '%s' (task %u) could not %s", task->is_spout ? "spout" : "bolt",
                   task->context.component, task->id, what);
}

uint64_t gx_task_sampled(gx_task *task, gx_edge *edge, int64_t nanoseconds, size_t rows) {
    GX_CHECK(nanoseconds >= 0);
    uint64_t weight = task->unsampled + rows;
    task->cost = task->cost ? (task->cost * 7 + nanoseconds) / 8 : nanoseconds;
    task->slow = task->cost > GX_TASK_SLOW_NS;
    task->sample_in = task->slow ? 1 : GX_TASK_SAMPLE_EVERY;
    task->unsampled = 0;
    gx_count(&task->counters.samples, 1);
    gx_count(&task->counters.nanoseconds, (uint64_t)nanoseconds);
    gx_count_max(&task->counters.nanoseconds_max, (uint64_t)nanoseconds);
    gx_histogram_add_many(task->latencies->of[GALE_LATENCY_EXECUTE], nanoseconds, weight);
    gx_count(&edge->execute_count, weight);
    gx_count(&edge->execute_ns, (uint64_t)nanoseconds * weight);
    return weight;
}

void gx_task_processed(gx_task *task, const gx_sample *sample, int64_t nanoseconds) {
    gx_histogram_add_many(task->latencies->of[GALE_LATENCY_PROCESS], nanoseconds, sample->weight);
    gx_count(&sample->edge->process_count, sample->weight);
    gx_count(&sample->edge->process_ns, (uint64_t)nanoseconds * sample->weight);
}
