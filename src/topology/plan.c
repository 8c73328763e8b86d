#include "topology/plan.h"

#include "base/assert.h"
#include "base/pieces.h"
#include "base/str.h"
#include "topology/config.h"

#include <stdlib.h>
#include <string.h>

typedef struct plan_memory {
    gx_plan plan;
    gx_pieces pieces;
} plan_memory;

static void *take(gx_plan *plan, size_t count, size_t size) {
    return gx_pieces_take(&((plan_memory *)plan)->pieces, count, size);
}

void gx_plan_free(gx_plan *plan) {
    if (!plan) return;
    plan_memory *memory = (plan_memory *)plan;
    for (uint32_t i = 0; plan->components && i < plan->component_count; i++)
        gale_config_free(plan->components[i].config);
    gx_pieces_free(&memory->pieces);
    gx_free(plan->heap, GX_TAG_PLAN, memory, sizeof *memory);
}

static int by_name(const void *a, const void *b) {
    return strcmp((*(const gx_component *const *)a)->name, (*(const gx_component *const *)b)->name);
}

/* --- Components and tasks --- */

static int plan_schema(gx_plan *plan, gx_plan_component *c) {
    gx_schema_stream *streams = take(plan, c->stream_count, sizeof *streams);
    c->streams = take(plan, c->stream_count, sizeof *c->streams);
    if (!streams || !c->streams) return GALE_NO_MEMORY;
    for (uint32_t i = 0; i < c->stream_count; i++) {
        const gx_output *output = &c->built->outputs[i];
        streams[i] = (gx_schema_stream){ output->name, (const char *const *)output->fields, output->field_count };
        c->streams[i].field_count = output->field_count;
    }
    c->schema = (gx_schema_component){ c->built->name, streams, c->stream_count };
    return GALE_OK;
}

static int64_t seconds(const gale_config *config, const char *key) {
    double value = gale_config_f64(config, key, 0);
    return value > 0 ? (int64_t)(value * 1e9) : 0;
}

static bool is_system(const gx_component *built) {
    return strncmp(built->name, "__", 2) == 0;
}

static int plan_component(gx_plan *plan, gx_plan_component *c, const gx_component *built) {
    bool ticks = !built->is_spout && !is_system(built);
    c->built = built;
    c->stream_count = built->output_count + (built->is_spout ? 1u : 0u);
    c->task_count = (uint16_t)(is_system(built) ? built->parallelism : gx_component_tasks(plan->topology, built));
    c->config = gx_config_overlay(plan->topology->config, built->config);
    if (!c->config) return GALE_NO_MEMORY;
    c->tick_period = ticks ? seconds(c->config, "topology.tick.tuple.freq.secs") : 0;
    int64_t pending = gale_config_i64(c->config, "topology.max.spout.pending", 0);
    c->max_pending = pending > 0 ? (uint64_t)pending : UINT64_MAX;
    c->debug = gale_config_bool(c->config, "topology.debug", false);
    c->attempts = built->is_spout ? (uint32_t)gale_config_i64(c->config, "topology.replay.attempts", 1) : 1;
    return plan_schema(plan, c);
}

/* The component that acker tasks are of. It has no streams: what they hear travels in ack rings. */
static const gx_component *make_acker(gx_plan *plan) {
    static char name[] = "__acker";
    gx_component *acker = take(plan, 1, sizeof *acker);
    if (acker) *acker = (gx_component){ .name = name, .parallelism = plan->acker_count };
    return acker;
}

/* All components, in byte order of their names. NULL when memory is out. */
static const gx_component **sort_components(gx_plan *plan) {
    const gale_topology *topology = plan->topology;
    const gx_component *acker = plan->acker_count ? make_acker(plan) : NULL;
    plan->component_count = topology->component_count + (plan->acker_count != 0);
    const gx_component **sorted = take(plan, plan->component_count, sizeof *sorted);
    if (!sorted || (plan->acker_count && !acker)) return NULL;
    for (uint32_t i = 0; i < topology->component_count; i++) sorted[i] = topology->components[i];
    if (acker) sorted[topology->component_count] = acker;
    qsort(sorted, plan->component_count, sizeof *sorted, by_name);
    return sorted;
}

static int plan_components(gx_plan *plan) {
    const gx_component **sorted = sort_components(plan);
    gx_plan_component *components = sorted ? take(plan, plan->component_count, sizeof *components) : NULL;
    if (!components) return GALE_NO_MEMORY;
    plan->components = components;
    for (uint32_t i = 0; i < plan->component_count; i++) {
        int rc = plan_component(plan, &components[i], sorted[i]);
        if (rc < 0) return rc;
        components[i].first_task = (uint16_t)(plan->task_count + 1);
        if (is_system(sorted[i])) plan->first_acker = components[i].first_task;
        plan->task_count += components[i].task_count;
    }
    GX_ASSERT(plan->task_count <= GALE_TASKS_MAX);
    return GALE_OK;
}

/* A task that blocks gets an executor of its own, behind the others. */
static int place_apart(gx_plan *plan, const gx_plan_component *c, uint16_t *ret_executor, gale_error *error) {
    if (plan->executor_count == GALE_EXECUTORS_MAX)
        return gale_error_set(error, GALE_CONFIG,
                              "component '%s' blocks (gale.blocking): its tasks need executors of their own, and %d is "
                              "the most that there can be",
                              c->built->name, GALE_EXECUTORS_MAX);
    plan->blocking_count++;
    *ret_executor = (uint16_t)plan->executor_count++;
    return GALE_OK;
}

/* `shared` executors are for tasks that do not block. The first tasks of a pipeline stand together, on another executor
 * than those of the next pipeline: two spouts that meet in one bolt have a core each. */
static int place(gx_plan *plan, const gx_plan_component *c, uint32_t index, uint32_t shared, uint16_t *ret_executor,
                 gale_error *error) {
    if (!plan->inline_blocking && !is_system(c->built) && gale_config_bool(c->config, "gale.blocking", false))
        return place_apart(plan, c, ret_executor, error);
    int64_t wanted = gale_config_i64(c->config, "gale.executor", -1);
    if (wanted >= (int64_t)shared)
        return gale_error_set(
            error, GALE_CONFIG, "component '%s': gale.executor is %lld, but there %s %u executor%s (0 to %u)",
            c->built->name, (long long)wanted, shared == 1 ? "is" : "are", shared, gx_plural(shared), shared - 1);
    uint64_t own = ((uint64_t)index * shared / c->task_count + c->pipeline) % shared;
    *ret_executor = (uint16_t)(wanted >= 0 ? (uint64_t)wanted : own);
    return GALE_OK;
}

static gx_plan_component *find(gx_plan *plan, const char *name) {
    for (uint32_t i = 0; i < plan->component_count; i++)
        if (strcmp(plan->components[i].built->name, name) == 0) return &plan->components[i];
    GX_ASSERT(!"a checked topology names only components that exist");
    return NULL;
}

/* A bolt is of the first pipeline that one of its inputs is of. Was it of a later one? */
static bool lower_pipeline(gx_plan *plan, gx_plan_component *c) {
    uint32_t before = c->pipeline;
    for (uint32_t k = 0; k < c->built->input_count; k++) {
        uint32_t from = find(plan, c->built->inputs[k].source)->pipeline;
        if (from < c->pipeline) c->pipeline = from;
    }
    return c->pipeline < before;
}

/* Numbers the pipelines: each spout begins one, and what several reach is of the first. Acker tasks are of none. */
static void plan_pipelines(gx_plan *plan) {
    uint32_t spouts = 0;
    bool changed = true;
    for (uint32_t i = 0; i < plan->component_count; i++) {
        gx_plan_component *c = &plan->components[i];
        c->pipeline = c->built->is_spout ? spouts++ : is_system(c->built) ? 0 : UINT32_MAX;
    }
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < plan->component_count; i++)
            changed = lower_pipeline(plan, &plan->components[i]) || changed;
    }
}

static int plan_tasks(gx_plan *plan, gale_error *error) {
    uint32_t shared = plan->executor_count;
    plan->tasks = take(plan, plan->task_count + 1, sizeof *plan->tasks);
    const gx_schema_component **names = take(plan, plan->task_count + 1, sizeof *names);
    if (!plan->tasks || !names) return GALE_NO_MEMORY;
    names[0] = gx_schema_system();
    for (uint32_t i = 0; i < plan->component_count; i++) {
        gx_plan_component *c = &plan->components[i];
        for (uint32_t k = 0; k < c->task_count; k++) {
            gx_plan_task *task = &plan->tasks[c->first_task + k];
            task->component = (uint16_t)i;
            task->index = (uint16_t)k;
            names[c->first_task + k] = &c->schema;
            int rc = place(plan, c, k, shared, &task->executor, error);
            if (rc < 0) return rc;
        }
    }
    plan->schema = (gale_schema){ names, plan->task_count };
    return GALE_OK;
}

/* --- Edges --- */

/* The indices of the fields that a grouping names. A partial key that names none goes by the first value. */
static int plan_fields(gx_plan *plan, const gx_subscription *sub, const gx_output *output, gx_plan_edge *edge) {
    bool first = sub->grouping == GALE_GROUPING_PARTIAL_KEY && sub->field_count == 0;
    uint16_t *fields = take(plan, first ? 1 : sub->field_count, sizeof *fields);
    if (!fields) return GALE_NO_MEMORY;
    fields[0] = 0;
    for (uint32_t i = 0; i < sub->field_count; i++) fields[i] = (uint16_t)gx_output_field(output, sub->fields[i]);
    edge->fields = fields;
    edge->field_count = first ? 1 : sub->field_count;
    return GALE_OK;
}

static int plan_edge(gx_plan *plan, uint32_t consumer, const gx_subscription *sub, uint32_t stream,
                     gx_plan_edge *edge) {
    const gx_plan_component *to = &plan->components[consumer];
    *edge = (gx_plan_edge){ .component = (uint16_t)consumer,
                            .first_task = to->first_task,
                            .task_count = to->task_count,
                            .grouping = (uint8_t)sub->grouping,
                            .drop = (uint8_t)sub->drop,
                            .subscription = sub,
                            .consumer = to->built->name };
    return plan_fields(plan, sub, &find(plan, sub->source)->built->outputs[stream], edge);
}

static bool consumes(const gx_subscription *sub, const gx_plan_component *from, uint32_t stream) {
    return strcmp(sub->source, from->built->name) == 0 && gx_component_stream(from->built, sub->stream) == (int)stream;
}

static int plan_stream(gx_plan *plan, gx_plan_component *from, uint32_t stream) {
    uint32_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        gx_plan_edge *edges = pass ? take(plan, count, sizeof *edges) : NULL;
        if (pass && !edges) return GALE_NO_MEMORY;
        count = 0;
        for (uint32_t k = 0; k < plan->component_count; k++) {
            const gx_component *built = plan->components[k].built;
            for (uint32_t i = 0; i < built->input_count; i++) {
                if (!consumes(&built->inputs[i], from, stream)) continue;
                int rc = edges ? plan_edge(plan, k, &built->inputs[i], stream, &edges[count]) : GALE_OK;
                if (rc < 0) return rc;
                count++;
            }
        }
        from->streams[stream].edges = edges;
        from->streams[stream].edge_count = count;
    }
    return GALE_OK;
}

static void plan_drop(gx_plan *plan, gx_plan_component *c, uint32_t input, const gx_plan_component *source,
                      uint32_t stream) {
    int32_t policy = c->built->inputs[input].drop;
    if (policy == GALE_DROP_NOTHING) return;
    gx_plan_drop *drop = &c->drops[c->drop_count++];
    *drop = (gx_plan_drop){ .source = (uint16_t)(source - plan->components),
                            .stream = (uint16_t)stream,
                            .policy = (uint8_t)policy,
                            .lane = (uint16_t)c->drop_count,
                            .input = input,
                            .first_slot = plan->drop_slots };
    plan->drop_slots += c->task_count;
}

static int by_source(const void *a, const void *b) {
    const gx_plan_origin *x = a, *y = b;
    return x->source != y->source ? (x->source < y->source ? -1 : 1)
                                  : (x->stream > y->stream) - (x->stream < y->stream);
}

/* They are all there; now in order. */
static void sort_origins(gx_plan_component *c) {
    uint32_t count = c->built->input_count;
    if (count) qsort(c->origins, count, sizeof *c->origins, by_source);
    for (uint32_t i = 0; i < count; i++)
        c->origins[i].mixed = (i > 0 && c->origins[i - 1].source == c->origins[i].source) ||
                              (i + 1 < count && c->origins[i + 1].source == c->origins[i].source);
}

static int plan_inputs(gx_plan *plan, gx_plan_component *c) {
    const gx_schema_component *system = gx_schema_system();
    uint32_t count = c->built->input_count, ticks = c->built->ticks != NULL;
    c->inputs = take(plan, count + ticks, sizeof *c->inputs);
    c->drops = take(plan, count, sizeof *c->drops);
    c->origins = take(plan, count, sizeof *c->origins);
    if (!c->inputs || !c->drops || !c->origins) return GALE_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        gx_plan_component *source = find(plan, c->built->inputs[i].source);
        int stream = gx_component_stream(source->built, c->built->inputs[i].stream);
        c->inputs[i] = (gx_input){ source->built->name, &source->schema.streams[stream] };
        c->origins[i] = (gx_plan_origin){ (uint16_t)(source - plan->components), (uint16_t)stream, i, false };
        plan_drop(plan, c, i, source, (uint32_t)stream);
    }
    sort_origins(c);
    if (ticks) c->inputs[count] = (gx_input){ system->name, &system->streams[GX_STREAM_TICK] };
    c->input_table = (struct gale_inputs){ c->inputs, count + ticks };
    return GALE_OK;
}

static int plan_edges(gx_plan *plan) {
    for (uint32_t i = 0; i < plan->component_count; i++) {
        gx_plan_component *c = &plan->components[i];
        int rc = plan_inputs(plan, c);
        for (uint32_t s = 0; rc == GALE_OK && s < c->stream_count; s++) rc = plan_stream(plan, c, s);
        if (rc < 0) return rc;
    }
    return GALE_OK;
}

/* --- Order: depth first, names in order, spouts first. An edge to a component whose visit has begun and not ended
 * closes a cycle. Reversing the order in which visits end gives the topological order of the rest. --- */

enum { UNSEEN, OPEN, ENDED };

typedef struct frame {
    uint32_t component, stream, edge;
} frame;

typedef struct walk {
    gx_plan *plan;
    uint8_t *state;
    frame *stack;
    uint32_t depth;
    uint32_t next_rank;
} walk;

static void enter(walk *w, uint32_t component) {
    w->state[component] = OPEN;
    w->stack[w->depth++] = (frame){ component, 0, 0 };
}

/* One move of the walk: along the next edge, to the next stream, or back. */
static void move(walk *w) {
    frame *top = &w->stack[w->depth - 1];
    gx_plan_component *c = &w->plan->components[top->component];
    if (top->stream == c->stream_count) {
        w->state[top->component] = ENDED;
        c->rank = w->next_rank--;
        w->depth--;
    } else if (top->edge == c->streams[top->stream].edge_count) {
        top->stream++;
        top->edge = 0;
    } else {
        gx_plan_edge *edge = (gx_plan_edge *)&c->streams[top->stream].edges[top->edge++];
        if (w->state[edge->component] == OPEN)
            edge->back = true;
        else if (w->state[edge->component] == UNSEEN)
            enter(w, edge->component);
    }
}

static int plan_order(gx_plan *plan) {
    walk w = { plan, take(plan, plan->component_count, 1), take(plan, plan->component_count, sizeof(frame)), 0,
               plan->component_count - 1 };
    if (!w.state || !w.stack) return GALE_NO_MEMORY;
    for (int spouts = 1; spouts >= 0; spouts--) {
        for (uint32_t i = 0; i < plan->component_count; i++) {
            if (w.state[i] != UNSEEN || plan->components[i].built->is_spout != (spouts == 1)) continue;
            enter(&w, i);
            while (w.depth) move(&w);
        }
    }
    return GALE_OK;
}

/* --- Gates: a task may run while none of the tasks that it feeds is congested, back edges and edges that drop left out;
 * a spout is also kept by every target of a back edge that it can reach, so that a cycle does not fill without bound.
 * --- */

static void mark_edges(const gx_plan *plan, uint32_t component, bool back, bool *marked) {
    const gx_plan_component *c = &plan->components[component];
    for (uint32_t s = 0; s < c->stream_count; s++)
        for (uint32_t e = 0; e < c->streams[s].edge_count; e++) {
            const gx_plan_edge *edge = &c->streams[s].edges[e];
            if (edge->back == back && !edge->drop) marked[edge->component] = true;
        }
}

/* Everything that tuples from component `from` can come to, itself included. `work` has room for every component. */
static void mark_reachable(const gx_plan *plan, uint32_t from, bool *reached, uint16_t *work) {
    uint32_t waiting = 1;
    work[0] = (uint16_t)from;
    reached[from] = true;
    while (waiting) {
        const gx_plan_component *c = &plan->components[work[--waiting]];
        for (uint32_t s = 0; s < c->stream_count; s++)
            for (uint32_t e = 0; e < c->streams[s].edge_count; e++) {
                uint16_t next = c->streams[s].edges[e].component;
                if (reached[next]) continue;
                reached[next] = true;
                work[waiting++] = next;
            }
    }
}

static void mark_gates(const gx_plan *plan, uint32_t component, bool *marked, bool *reached, uint16_t *work) {
    memset(marked, 0, plan->component_count);
    mark_edges(plan, component, false, marked);
    if (!plan->components[component].built->is_spout) return;
    memset(reached, 0, plan->component_count);
    mark_reachable(plan, component, reached, work);
    for (uint32_t i = 0; i < plan->component_count; i++)
        if (reached[i]) mark_edges(plan, i, true, marked);
}

static int plan_gates(gx_plan *plan) {
    bool *marked = take(plan, plan->component_count, sizeof *marked);
    bool *reached = take(plan, plan->component_count, sizeof *reached);
    uint16_t *work = take(plan, plan->component_count, sizeof *work);
    if (!marked || !reached || !work) return GALE_NO_MEMORY;
    for (uint32_t i = 0; i < plan->component_count; i++) {
        mark_gates(plan, i, marked, reached, work);
        uint32_t count = 0;
        for (uint32_t k = 0; k < plan->component_count; k++) count += marked[k] ? plan->components[k].task_count : 0;
        uint16_t *gates = take(plan, count, sizeof *gates);
        if (!gates) return GALE_NO_MEMORY;
        count = 0;
        for (uint32_t k = 0; k < plan->component_count; k++)
            for (uint32_t t = 0; marked[k] && t < plan->components[k].task_count; t++)
                gates[count++] = (uint16_t)(plan->components[k].first_task + t);
        for (uint32_t t = 0; t < plan->components[i].task_count; t++) {
            plan->tasks[plan->components[i].first_task + t].gates = gates;
            plan->tasks[plan->components[i].first_task + t].gate_count = count;
        }
    }
    return GALE_OK;
}

/* --- Executors --- */

static void mark_feeds(gx_plan *plan, const gx_plan_component *from, const gx_plan_component *to) {
    for (uint32_t a = 0; a < plan->executor_count; a++)
        for (uint32_t b = 0; from->executors[a] && b < plan->executor_count; b++)
            if (to->executors[b]) plan->feeds[(size_t)a * plan->executor_count + b] = true;
}

static int plan_feeds(gx_plan *plan) {
    plan->feeds = take(plan, (size_t)plan->executor_count * plan->executor_count, sizeof *plan->feeds);
    if (!plan->feeds) return GALE_NO_MEMORY;
    for (uint32_t i = 0; i < plan->component_count; i++) {
        gx_plan_component *c = &plan->components[i];
        c->executors = take(plan, plan->executor_count, sizeof *c->executors);
        if (!c->executors) return GALE_NO_MEMORY;
        for (uint32_t t = 0; t < c->task_count; t++) c->executors[plan->tasks[c->first_task + t].executor] = true;
    }
    for (uint32_t i = 0; i < plan->component_count; i++) {
        const gx_plan_component *c = &plan->components[i];
        for (uint32_t s = 0; s < c->stream_count; s++)
            for (uint32_t e = 0; e < c->streams[s].edge_count; e++)
                mark_feeds(plan, c, &plan->components[c->streams[s].edges[e].component]);
    }
    return GALE_OK;
}

enum { CEILING_TIMEOUTS = 10 };

static void plan_timeout(gx_plan *plan) {
    const gale_config *config = plan->topology->config;
    plan->timeout = seconds(config, "topology.message.timeout.secs");
    plan->progress = gx_str_is(gale_config_text(config, "topology.message.timeout.mode", gx_str("")), "progress");
    plan->ceiling = seconds(config, "topology.message.timeout.ceiling.secs");
    plan->ceiling_given = plan->ceiling != 0;
    if (plan->ceiling_given) return;
    plan->ceiling = plan->timeout > INT64_MAX / CEILING_TIMEOUTS ? INT64_MAX : plan->timeout * CEILING_TIMEOUTS;
}

/* --- Replay and dead letters --- */

/* A dead letter goes to the last stream of its spout, and to the file. */
static bool retains(const gx_plan *plan, const gx_plan_component *c) {
    if (!c->built->is_spout || !plan->acking) return false;
    return c->attempts > 1 || plan->dead_letters_file.size || c->streams[c->stream_count - 1].edge_count;
}

/* Without acks nothing ever fails, and a key that waits for it would be a false promise. */
static int refuse_without_acks(const gx_plan *plan, gale_error *error) {
    const char *key = plan->dead_letters_file.size ? "topology.dead_letters.file" : NULL;
    for (uint32_t i = 0; i < plan->component_count && !key; i++)
        if (plan->components[i].attempts > 1) key = "topology.replay.attempts";
    if (plan->acking || !key) return GALE_OK;
    return gale_error_set(error, GALE_CONFIG, "%s needs acks, and topology.acker.executors is 0", key);
}

static int plan_replay(gx_plan *plan, gale_error *error) {
    const gale_config *config = plan->topology->config;
    plan->replay_initial = seconds(config, "topology.replay.backoff.initial.secs");
    plan->replay_most = seconds(config, "topology.replay.backoff.max.secs");
    plan->dead_letters_file = gale_config_text(config, "topology.dead_letters.file", gx_str(NULL));
    for (uint32_t i = 0; i < plan->component_count; i++)
        plan->retains |= plan->components[i].retains = retains(plan, &plan->components[i]);
    if (plan->replay_most < plan->replay_initial)
        return gale_error_set(error, GALE_CONFIG,
                              "topology.replay.backoff.max.secs (%g) is less than topology.replay.backoff.initial.secs "
                              "(%g)",
                              (double)plan->replay_most / 1e9, (double)plan->replay_initial / 1e9);
    return refuse_without_acks(plan, error);
}

int gx_plan_new(gx_heap *heap, const gale_topology *topology, uint32_t executors, bool inline_blocking,
                gx_plan **ret_plan, gale_error *error) {
    plan_memory *memory = gx_alloc(heap, GX_TAG_PLAN, sizeof *memory);
    if (!memory) return gale_error_set(error, GALE_NO_MEMORY, "no memory for the plan of '%s'", topology->name);
    gx_plan *plan = &memory->plan;
    memory->pieces = gx_pieces_of(heap, GX_TAG_PLAN);
    plan->heap = heap;
    plan->topology = topology;
    plan->executor_count = executors;
    plan->inline_blocking = inline_blocking;
    int64_t ackers = gale_config_i64(topology->config, "topology.acker.executors", -1);
    plan->acking = ackers != 0;
    plan->acker_count = ackers > 0 ? (uint16_t)ackers : 0;
    plan->load_aware = !gale_config_bool(topology->config, "topology.disable.loadaware.messaging", false);
    if (gale_config_bool(topology->config, "topology.enable.message.timeouts", true)) plan_timeout(plan);
    plan->deadline = seconds(topology->config, "topology.message.deadline.secs");
    int rc = plan_components(plan);
    if (rc == GALE_OK) plan_pipelines(plan);
    if (rc == GALE_OK) rc = plan_tasks(plan, error);
    if (rc == GALE_OK) rc = plan_edges(plan);
    if (rc == GALE_OK) rc = plan_replay(plan, error);
    if (rc == GALE_OK) rc = plan_order(plan);
    if (rc == GALE_OK) rc = plan_gates(plan);
    if (rc == GALE_OK) rc = plan_feeds(plan);
    if (rc < 0) {
        if (rc == GALE_NO_MEMORY) gale_error_set(error, rc, "no memory for the plan of '%s'", topology->name);
        gx_plan_free(plan);
        return rc;
    }
    *ret_plan = plan;
    return GALE_OK;
}

bool gx_plan_is_by_key(const gx_plan *plan, uint16_t component) {
    bool any = false;
    for (uint32_t c = 0; c < plan->component_count; c++)
        for (uint32_t s = 0; s < plan->components[c].stream_count; s++)
            for (uint32_t e = 0; e < plan->components[c].streams[s].edge_count; e++) {
                const gx_plan_edge *edge = &plan->components[c].streams[s].edges[e];
                if (edge->component != component || edge->grouping == GALE_GROUPING_ALL) continue;
                if (edge->grouping != GALE_GROUPING_FIELDS) return false;
                any = true;
            }
    return any;
}
