#include "sim/emit.h"

#include "tuple/body.h"

#include <string.h>

static bool is_folded(const gx_sim_task *task, const gx_sim_outgoing *o) {
    return o->count == 1 && gx_sim_folds(task->component, o->stream);
}

/* The values with the number of the emission, to where there is room. */
static int number_to(const gx_sim_task *task, const gx_sim_outgoing *o, uint32_t emission, gale_value *to,
                     gx_buf *text) {
    if (o->count) memcpy(to, o->values, o->count * sizeof *o->values);
    if (is_folded(task, o)) return gx_sim_number_fold(to, emission, text);
    to[o->count] = gale_i64(emission);
    return GALE_OK;
}

/* Those that go out. */
static int number(gx_sim_task *task, const gx_sim_outgoing *o, uint32_t emission) {
    if (!gx_grow(&task->sim->heap, GX_TAG_OTHER, &task->values, &task->value_capacity, o->count + 1,
                 sizeof *task->values))
        return GALE_NO_MEMORY;
    task->value_count = o->count + !is_folded(task, o);
    return number_to(task, o, emission, task->values, &task->text);
}

static int send(gx_sim_task *task, const gx_sim_outgoing *o, uint64_t tree) {
    gale_collector *out = task->engine;
    const gale_collector_ops *ops = gx_sim_engine_ops(task);
    const gale_value *values = task->values;
    size_t count = task->value_count;
    if (o->tracked && o->is_direct) return ops->emit_direct_tracked(out, o->direct, o->stream, values, count, tree);
    if (o->tracked) return ops->emit_tracked(out, o->stream, values, count, tree);
    if (o->anchored && o->is_direct)
        return ops->emit_direct_anchored(out, o->direct, o->stream, values, count, o->handles, o->handle_count);
    if (o->anchored) return ops->emit_anchored(out, o->stream, values, count, o->handles, o->handle_count);
    if (o->is_direct) return ops->emit_direct(out, o->direct, o->stream, values, count);
    return ops->emit(out, o->stream, values, count);
}

/* The anchors' deliveries; false when one of them has been answered, or is none of the task's. */
static int find_anchors(gx_sim_task *task, const gx_sim_outgoing *o, size_t *ret_count) {
    size_t wanted = o->anchored ? o->handle_count : 1;
    *ret_count = 0;
    if (o->tracked || (!o->anchored && task->state == GX_SIM_NONE)) return GALE_OK;
    if (!gx_grow(&task->sim->heap, GX_TAG_OTHER, &task->anchors, &task->anchor_capacity, wanted, sizeof *task->anchors))
        return GALE_NO_MEMORY;
    for (size_t i = 0; i < wanted; i++) {
        task->anchors[i] = gx_sim_find_delivery(task, o->anchored ? o->handles[i] : task->handle);
        if (!task->anchors[i]) return GALE_SETTLED;
    }
    *ret_count = wanted;
    return GALE_OK;
}

/* What an executor drops by a policy it counts itself. */
static uint64_t policy_drops(const gx_task *task) {
    const gx_shared *shared = task->executor->shared;
    uint64_t sum = 0;
    for (uint32_t d = 0; d < task->plan->drop_count; d++)
        for (uint32_t e = 0; e < shared->executor_count; e++)
            sum += gx_load_relaxed(
                &shared->executors[e]->dropped[task->plan->drops[d].first_slot + task->context.task_index]);
    return sum;
}

static uint64_t limit_drops(const gx_task *task) {
    return gx_load_relaxed(&task->counters.shed) + gx_load_relaxed(&task->counters.overflowed) +
           gx_load_relaxed(&task->counters.expired);
}

uint64_t gx_sim_drops(const gx_task *task) {
    return limit_drops(task) + policy_drops(task);
}

/* Of that, what the emitting executor drops as it emits: not the oldest rows of its own tasks, which were emitted
 * before. */
static uint64_t drops_of_new(const gx_task *task, const gx_executor *ex) {
    uint64_t sum = 0;
    for (uint32_t d = 0; d < task->plan->drop_count; d++) {
        const gx_plan_drop *drop = &task->plan->drops[d];
        if (task->executor == ex && drop->policy == GALE_DROP_OLDEST) continue;
        sum += gx_load_relaxed(&ex->dropped[drop->first_slot + task->context.task_index]);
    }
    return sum;
}

/* Notes what the queue of task `t` has dropped so far; adds what it dropped since to `sum`. */
static void watch_drops_of(gx_sim *sim, const gx_executor *ex, uint32_t t, gx_sim_dropped *sum) {
    const gx_task *target = sim->runtime->shared.tasks[t];
    gx_sim_dropped now = { limit_drops(target), drops_of_new(target, ex) }, before = sim->before[t];
    sim->before[t] = now;
    if (!sum) return;
    sim->oracle.counts[t].dropped += now.by_limit - before.by_limit + now.by_policy - before.by_policy;
    sum->by_limit += now.by_limit - before.by_limit;
    sum->by_policy += now.by_policy - before.by_policy;
}

/* Of all targets of the stream; `sum` NULL: before the emit. */
static void watch_drops(gx_sim_task *task, uint32_t stream, gx_sim_dropped *sum) {
    gx_sim *sim = task->sim;
    const gx_plan_component *c = gx_sim_engine_task(task)->plan;
    if (!sim->limited || stream >= c->stream_count) return;
    for (uint32_t e = 0; e < c->streams[stream].edge_count; e++) {
        const gx_plan_edge *edge = &c->streams[stream].edges[e];
        for (uint32_t t = 0; t < edge->task_count; t++)
            watch_drops_of(sim, gx_sim_engine_task(task)->executor, edge->first_task + t, sum);
    }
}

static void check_refusal(gx_sim_task *task, int rc) {
    bool scarce = rc == GALE_NO_MEMORY && task->sim->oracle.scarce;
    bool full = rc == GALE_AGAIN && task->component->built->is_spout;
    bool misuse = rc == GALE_FIELDS || rc == GALE_NOT_FOUND || rc == GALE_STATE || rc == GALE_INVALID ||
                  rc == GALE_TOO_LARGE;
    bool over = rc == GALE_STOPPED && gx_sim_is_over(task);
    if (!scarce && !misuse && !full && !over)
        gx_oracle_violated(&task->sim->oracle, "an emit of '%s' (task %u) was refused: %s", task->context->component,
                           task->context->task, gale_error_text(rc));
}

/* To no stream of its own, of another number of values, or of what is no value. */
static bool is_wrong(const gx_sim_task *task, const gx_sim_outgoing *o) {
    const gx_component *built = task->component->built;
    if (o->stream >= built->output_count || o->count != built->outputs[o->stream].field_count) return true;
    return gx_body_measure(o->values, o->count) < 0;
}

static int finish(gx_sim_task *task, const gx_sim_outgoing *o, int rc, uint32_t emission, uint32_t tree, size_t anchors,
                  const gale_value *values) {
    gx_sim *sim = task->sim;
    gx_sim_dropped dropped = { 0, 0 };
    watch_drops(task, o->stream, &dropped);
    if (rc < 0) {
        gx_oracle_cancel(&sim->oracle, emission, tree);
        for (size_t i = 0; i < anchors; i++) task->anchors[i]->failed = true;
        check_refusal(task, rc);
        return rc;
    }
    if (is_wrong(task, o))
        gx_oracle_violated(&sim->oracle, "'%s' (task %u) could emit what is no tuple of it", task->context->component,
                           task->id);
    if (gx_sim_is_over(task))
        gx_oracle_violated(&sim->oracle, "'%s' (task %u) could emit when its executor closes, where nobody answers",
                           task->context->component, task->id);
    const gx_sim_watcher *watcher = sim->watcher;
    if (watcher && watcher->emitted)
        watcher->emitted(watcher->user, task->component->built, o->stream, o->values, o->count);
    task->emitted++;
    task->roots += o->tracked;
    sim->emitted += o->tracked;
    uint32_t kept = (uint32_t)rc - (uint32_t)dropped.by_policy; /* those count as sent */
    sim->oracle.counts[task->context->task].sent += dropped.by_policy;
    int noted = gx_oracle_emitted(&sim->oracle, emission, values, gx_sim_engine_task(task)->executor->scratch.targets,
                                  kept, o->direct, (int)dropped.by_limit);
    if (noted < 0) gx_oracle_violated(&sim->oracle, "the simulator has no memory");
    return rc;
}

/* An emit that cannot be: the engine must say so. */
static int send_settled(gx_sim_task *task, const gx_sim_outgoing *o) {
    if (number(task, o, UINT32_MAX) < 0) return GALE_NO_MEMORY;
    int rc = send(task, o, 0);
    if (rc >= 0)
        gx_oracle_violated(&task->sim->oracle, "'%s' (task %u) could emit anchored to an answered tuple",
                           task->context->component, task->context->task);
    return rc;
}

/* When a tree of the task begins: a spout that is known to be slow tells the time at each emit, others once a step. */
static int64_t birth(const gx_sim_task *task) {
    const gx_task *spout = (const gx_task *)task->engine;
    return spout->slow ? gale_context_now(task->context) : spout->executor->now;
}

/* Where an emit leaves its targets it leaves none when there is one ever. */
static void expect_sole(const gx_sim_task *task, uint32_t stream) {
    const gx_task *engine = gx_sim_engine_task(task);
    uint16_t sole = stream < engine->stream_count ? gx_router_sole(&engine->streams[stream]) : 0;
    if (sole) engine->executor->scratch.targets[0] = sole;
}

int gx_sim_send(gx_sim_task *task, const gx_sim_outgoing *o) {
    gx_oracle *oracle = &task->sim->oracle;
    uint16_t id = (uint16_t)task->context->task;
    uint32_t tree = UINT32_MAX, emission;
    size_t anchors;
    int rc = find_anchors(task, o, &anchors);
    if (rc == GALE_SETTLED) return send_settled(task, o);
    if (rc == GALE_OK && o->tracked) rc = gx_oracle_open(oracle, id, o->message_id, birth(task), &tree);
    if (rc == GALE_OK)
        rc = gx_oracle_announce(oracle, id, (uint16_t)o->stream, tree, task->anchors, anchors, &emission);
    if (rc < 0) return rc;
    if (number(task, o, emission) < 0) gx_oracle_violated(oracle, "the simulator has no memory");
    watch_drops(task, o->stream, NULL);
    expect_sole(task, o->stream);
    task->sending = true;
    rc = send(task, o, tree);
    task->sending = false;
    return finish(task, o, rc, emission, tree, anchors, task->values);
}

/* --- Many at once --- */

/* One of them, which is announced. */
typedef struct announced {
    gx_sim_outgoing o;
    uint32_t emission, tree;
    gx_buf text;
} announced;

/* So many that the engine's own loop is run; more go in a later call of its. */
enum { AT_ONCE = 8, WIDTH = 8 };

typedef struct many {
    announced row[AT_ONCE];
    gale_value values[AT_ONCE * WIDTH];
    uint64_t trees[AT_ONCE];
    size_t rows, width, anchors;
} many;

/* What is dropped on its way is found out emit by emit, and so is where it goes if more than a key chooses. */
static bool is_certain(const gx_sim_task *task, const gx_sim_outgoing *o, size_t rows) {
    const gx_task *engine = gx_sim_engine_task(task);
    return rows <= AT_ONCE && o->count < WIDTH && !task->sim->limited && o->stream < engine->stream_count &&
           (gx_router_sole(&engine->streams[o->stream]) || engine->streams[o->stream].by_field);
}

/* Where it went. */
static void expect_target(const gx_sim_task *task, uint32_t stream, const gale_value *values) {
    const gx_task *engine = gx_sim_engine_task(task);
    gx_stream_routes *routes = &engine->streams[stream];
    if (routes->by_field)
        engine->executor->scratch.targets[0] = gx_route_one(&routes->routes[0], values);
    else
        expect_sole(task, stream);
}

static int announce(gx_sim_task *task, many *m, const gx_sim_outgoing *o, const uint64_t *message_id) {
    gx_oracle *oracle = &task->sim->oracle;
    uint16_t id = (uint16_t)task->context->task;
    announced *row = &m->row[m->rows];
    *row = (announced){ .o = *o, .tree = UINT32_MAX, .text = GX_BUF_INIT(&task->sim->heap) };
    row->o.tracked = message_id != NULL;
    int rc = message_id ? gx_oracle_open(oracle, id, *message_id, birth(task), &row->tree) : GALE_OK;
    if (rc == GALE_OK)
        rc = gx_oracle_announce(oracle, id, (uint16_t)o->stream, row->tree, task->anchors, m->anchors, &row->emission);
    if (rc == GALE_OK) rc = number_to(task, o, row->emission, &m->values[m->rows * m->width], &row->text);
    m->trees[m->rows++] = row->tree;
    return rc;
}

/* Those behind the one that was refused never were. */
static int finish_many(gx_sim_task *task, many *m, int rc, size_t done) {
    while (m->rows > done) {
        announced *row = &m->row[--m->rows];
        if (rc < 0 && m->rows == done)
            (void)finish(task, &row->o, rc, row->emission, row->tree, m->anchors, NULL);
        else
            gx_oracle_cancel(&task->sim->oracle, row->emission, row->tree);
        gx_buf_fini(&row->text);
    }
    for (size_t i = 0; i < m->rows; i++) {
        announced *row = &m->row[i];
        expect_target(task, row->o.stream, &m->values[i * m->width]);
        (void)finish(task, &row->o, 1, row->emission, row->tree, m->anchors, &m->values[i * m->width]);
        gx_buf_fini(&row->text);
    }
    return rc;
}

static int send_at_once(gx_sim_task *task, const gx_sim_outgoing *first, size_t rows, const uint64_t *message_ids,
                        size_t *emitted) {
    many m = { .width = first->count + !is_folded(task, first) };
    gx_sim_outgoing o = *first;
    o.tracked = message_ids != NULL;
    int rc = find_anchors(task, &o, &m.anchors);
    for (size_t i = 0; i < rows && rc == GALE_OK; i++, o.values += o.count)
        rc = announce(task, &m, &o, message_ids ? &message_ids[i] : NULL);
    if (rc != GALE_OK) gx_oracle_violated(&task->sim->oracle, "many at once: %s", gale_error_text(rc));
    const gale_collector_ops *ops = gx_sim_engine_ops(task);
    task->sending = true;
    rc = message_ids ? ops->emit_many_tracked(task->engine, o.stream, m.values, m.width, rows, m.trees, emitted)
                     : ops->emit_many(task->engine, o.stream, m.values, m.width, rows, emitted);
    task->sending = false;
    if (rc >= 0 && *emitted != rows)
        gx_oracle_violated(&task->sim->oracle, "%zu of %zu were emitted, and nothing was refused", *emitted, rows);
    return finish_many(task, &m, rc, *emitted);
}

int gx_sim_send_many(gx_sim_task *task, const gx_sim_outgoing *first, size_t rows, const uint64_t *message_ids,
                     size_t *emitted) {
    gx_sim_outgoing o = *first;
    int rc = GALE_OK;
    bool settled = !message_ids && task->state != GX_SIM_NONE && !gx_sim_find_delivery(task, task->handle);
    if (!settled && is_certain(task, first, rows) && gx_sim_engine_ops(task)->emit_many)
        return send_at_once(task, first, rows, message_ids, emitted);
    o.tracked = message_ids != NULL;
    for (*emitted = 0; *emitted < rows; ++*emitted, o.values += o.count) {
        if (message_ids) o.message_id = message_ids[*emitted];
        rc = gx_sim_send(task, &o);
        if (rc < 0) return rc;
    }
    return GALE_OK;
}
