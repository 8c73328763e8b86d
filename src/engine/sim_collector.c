#include "engine/sim_task.h"

#include "topology/builder.h"
#include "tuple/body.h"

#include <string.h>

enum { LETTER_TUPLE = 3 }; /* the field of a dead letter that is the spout's tuple */

/* --- Tuples and handles --- */

bool gx_sim_is_letter(const char *stream) {
    return strcmp(stream, GX_DEAD_LETTER_STREAM) == 0;
}

int gx_sim_strip(gx_sim_task *task, const gale_tuple *tuple, gx_sim_tuple *view) {
    gx_heap *heap = &task->sim->heap;
    bool letter = gx_sim_is_letter(gale_tuple_stream(tuple));
    size_t count = gale_tuple_size(tuple) - !letter;
    size_t items = letter ? gale_tuple_value(tuple, LETTER_TUPLE).size - 1 : 0;
    if (!gx_grow(heap, GX_TAG_OTHER, &task->values, &task->value_capacity, count + items + 1, sizeof *task->values))
        return GALE_NO_MEMORY;
    for (size_t i = 0; i < count; i++) task->values[i] = gale_tuple_value(tuple, i);
    if (letter) {
        for (size_t i = 0; i < items; i++) task->values[count + i] = gale_list_at(&task->values[LETTER_TUPLE], i);
        task->values[LETTER_TUPLE] = gale_list(&task->values[count], items);
    }
    int64_t size = gx_body_measure(task->values, count);
    if (size < 0) return (int)size;
    if (!gx_grow(heap, GX_TAG_OTHER, &view->body, &view->capacity, (size_t)size, 1)) return GALE_NO_MEMORY;
    gx_body_encode(task->values, count, view->body);
    view->tuple = *tuple;
    view->tuple.body = (const gale_body *)view->body;
    return GALE_OK;
}

gx_sim_kept *gx_sim_find_kept(gx_sim_task *task, gale_handle handle) {
    if (task->state == GX_SIM_KEPT && handle == task->handle) return task->current;
    for (uint32_t i = 0; i < task->kept_count; i++)
        if (task->kept[i]->handle == handle) return task->kept[i];
    return NULL;
}

static bool is_open(const gx_sim_task *task, gale_handle handle) {
    return task->state == GX_SIM_OPEN && task->handle == handle;
}

/* The delivery that the handle names, if it can still be an anchor. */
static gx_sim_delivery *find_delivery(gx_sim_task *task, gale_handle handle) {
    if (is_open(task, handle)) return &task->delivery;
    gx_sim_kept *kept = gx_sim_find_kept(task, handle);
    return kept ? &kept->delivery : NULL;
}

static gx_task *engine_task(gx_sim_task *task) {
    return (gx_task *)task->engine;
}

/* --- Emitting --- */

typedef struct outgoing {
    uint32_t direct; /* the task that is named; 0: by grouping */
    bool is_direct;
    uint32_t stream;
    const gale_value *values;
    size_t count;
    bool tracked;
    uint64_t message_id;
    bool anchored; /* to the handles, else to what is in execution */
    const gale_handle *handles;
    size_t handle_count;
} outgoing;

static int send(gx_sim_task *task, const outgoing *o, uint64_t tree) {
    gale_collector *out = task->engine;
    const gale_collector_ops *ops = out->ops;
    const gale_value *values = task->values;
    size_t count = o->count + 1;
    if (o->tracked && o->is_direct) return ops->emit_direct_tracked(out, o->direct, o->stream, values, count, tree);
    if (o->tracked) return ops->emit_tracked(out, o->stream, values, count, tree);
    if (o->anchored && o->is_direct)
        return ops->emit_direct_anchored(out, o->direct, o->stream, values, count, o->handles, o->handle_count);
    if (o->anchored) return ops->emit_anchored(out, o->stream, values, count, o->handles, o->handle_count);
    if (o->is_direct) return ops->emit_direct(out, o->direct, o->stream, values, count);
    return ops->emit(out, o->stream, values, count);
}

/* The anchors' deliveries; false when one of them has been answered, or is none of the task's. */
static int find_anchors(gx_sim_task *task, const outgoing *o, size_t *ret_count) {
    size_t wanted = o->anchored ? o->handle_count : 1;
    *ret_count = 0;
    if (o->tracked || (!o->anchored && task->state == GX_SIM_NONE)) return GALE_OK;
    if (!gx_grow(&task->sim->heap, GX_TAG_OTHER, &task->anchors, &task->anchor_capacity, wanted, sizeof *task->anchors))
        return GALE_NO_MEMORY;
    for (size_t i = 0; i < wanted; i++) {
        task->anchors[i] = find_delivery(task, o->anchored ? o->handles[i] : task->handle);
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

/* Of that, what the emitting executor drops as it emits: not the oldest records of its own tasks, which were emitted
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
    sim->truth.counts[t].dropped += now.by_limit - before.by_limit + now.by_policy - before.by_policy;
    sum->by_limit += now.by_limit - before.by_limit;
    sum->by_policy += now.by_policy - before.by_policy;
}

/* Of all targets of the stream; `sum` NULL: before the emit. */
static void watch_drops(gx_sim_task *task, uint32_t stream, gx_sim_dropped *sum) {
    gx_sim *sim = task->sim;
    const gx_plan_component *c = engine_task(task)->plan;
    if (!sim->limited || stream >= c->stream_count) return;
    for (uint32_t e = 0; e < c->streams[stream].edge_count; e++) {
        const gx_plan_edge *edge = &c->streams[stream].edges[e];
        for (uint32_t t = 0; t < edge->task_count; t++)
            watch_drops_of(sim, engine_task(task)->executor, edge->first_task + t, sum);
    }
}

static void check_refusal(gx_sim_task *task, int rc) {
    bool scarce = rc == GALE_NO_MEMORY && task->sim->truth.scarce;
    bool misuse = rc == GALE_FIELDS || rc == GALE_NOT_FOUND || rc == GALE_STATE || rc == GALE_INVALID ||
                  rc == GALE_TOO_LARGE;
    if (!scarce && !misuse && !task->component->built->is_spout)
        gx_truth_violated(&task->sim->truth, "an emit of '%s' (task %u) was refused: %s", task->context->component,
                          task->context->task, gale_error_text(rc));
}

static int finish(gx_sim_task *task, const outgoing *o, int rc, uint32_t emission, uint32_t tree, size_t anchors) {
    gx_sim *sim = task->sim;
    gx_sim_dropped dropped = { 0, 0 };
    watch_drops(task, o->stream, &dropped);
    if (rc < 0) {
        gx_truth_cancel(&sim->truth, emission, tree);
        for (size_t i = 0; i < anchors; i++) task->anchors[i]->failed = true;
        check_refusal(task, rc);
        return rc;
    }
    task->emitted++;
    task->roots += o->tracked;
    sim->emitted += o->tracked;
    uint32_t kept = (uint32_t)rc - (uint32_t)dropped.by_policy; /* those count as sent */
    sim->truth.counts[task->context->task].sent += dropped.by_policy;
    int noted = gx_truth_emitted(&sim->truth, emission, o->values, engine_task(task)->executor->scratch.targets, kept,
                                 o->direct, (int)dropped.by_limit);
    if (noted < 0) gx_truth_violated(&sim->truth, "the simulator has no memory");
    return rc;
}

/* An emit that cannot be: the engine must say so. */
static int send_settled(gx_sim_task *task, const outgoing *o) {
    task->values[o->count] = gale_i64(-1);
    int rc = send(task, o, 0);
    if (rc >= 0)
        gx_truth_violated(&task->sim->truth, "'%s' (task %u) could emit anchored to an answered tuple",
                          task->context->component, task->context->task);
    return rc;
}

/* When a tree of the task begins: a spout that is known to be slow tells the time at each emit, others once a step. */
static int64_t birth(const gx_sim_task *task) {
    const gx_task *spout = (const gx_task *)task->engine;
    return spout->slow ? gale_context_now(task->context) : spout->executor->now;
}

static int emit(gx_sim_task *task, const outgoing *o) {
    gx_truth *truth = &task->sim->truth;
    uint16_t id = (uint16_t)task->context->task;
    uint32_t tree = UINT32_MAX, emission;
    size_t anchors;
    if (!gx_grow(&task->sim->heap, GX_TAG_OTHER, &task->values, &task->value_capacity, o->count + 1,
                 sizeof *task->values))
        return GALE_NO_MEMORY;
    if (o->count) memcpy(task->values, o->values, o->count * sizeof *o->values);
    int rc = find_anchors(task, o, &anchors);
    if (rc == GALE_SETTLED) return send_settled(task, o);
    if (rc == GALE_OK && o->tracked) rc = gx_truth_open(truth, id, o->message_id, birth(task), &tree);
    if (rc == GALE_OK) rc = gx_truth_announce(truth, id, (uint16_t)o->stream, tree, task->anchors, anchors, &emission);
    if (rc < 0) return rc;
    task->values[o->count] = gale_i64(emission);
    watch_drops(task, o->stream, NULL);
    task->sending = true;
    rc = send(task, o, tree);
    task->sending = false;
    return finish(task, o, rc, emission, tree, anchors);
}

static int do_emit(gale_collector *out, uint32_t stream, const gale_value *values, size_t count) {
    return emit((gx_sim_task *)out, &(outgoing){ .stream = stream, .values = values, .count = count });
}

static int do_emit_anchored(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                            const gale_handle *anchors, size_t anchor_count) {
    return emit((gx_sim_task *)out, &(outgoing){ .stream = stream,
                                                 .values = values,
                                                 .count = count,
                                                 .anchored = true,
                                                 .handles = anchors,
                                                 .handle_count = anchor_count });
}

static int do_emit_tracked(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                           uint64_t message_id) {
    return emit(
        (gx_sim_task *)out,
        &(outgoing){ .stream = stream, .values = values, .count = count, .tracked = true, .message_id = message_id });
}

static int do_emit_direct(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values, size_t count) {
    return emit((gx_sim_task *)out,
                &(outgoing){ .direct = to, .is_direct = true, .stream = stream, .values = values, .count = count });
}

static int do_emit_direct_anchored(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values,
                                   size_t count, const gale_handle *anchors, size_t anchor_count) {
    return emit((gx_sim_task *)out, &(outgoing){ .direct = to,
                                                 .is_direct = true,
                                                 .stream = stream,
                                                 .values = values,
                                                 .count = count,
                                                 .anchored = true,
                                                 .handles = anchors,
                                                 .handle_count = anchor_count });
}

static int do_emit_direct_tracked(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values,
                                  size_t count, uint64_t message_id) {
    return emit((gx_sim_task *)out, &(outgoing){ .direct = to,
                                                 .is_direct = true,
                                                 .stream = stream,
                                                 .values = values,
                                                 .count = count,
                                                 .tracked = true,
                                                 .message_id = message_id });
}

/* --- Answers --- */

static void forget_kept(gx_sim_task *task, gx_sim_kept *kept) {
    for (uint32_t i = 0; i < task->kept_count; i++)
        if (task->kept[i] == kept) task->kept[i--] = task->kept[--task->kept_count];
    if (task->current == kept) {
        task->current = NULL;
        task->state = GX_SIM_ANSWERED;
    }
    gx_free(&task->sim->heap, GX_TAG_OTHER, kept->tuple.body, kept->tuple.capacity);
    gx_free(&task->sim->heap, GX_TAG_OTHER, kept, sizeof *kept);
}

int gx_sim_answer(gx_sim_task *task, gx_sim_kept *kept, bool ack, int32_t reason, const char *text) {
    gx_truth *truth = &task->sim->truth;
    gale_collector *out = task->engine;
    uint16_t id = (uint16_t)task->context->task;
    gale_handle handle = kept ? kept->handle : task->handle;
    int rc = ack ? out->ops->ack(out, handle) : out->ops->fail(out, handle, reason, text);
    if (rc < 0) {
        gx_truth_violated(truth, "an answer of '%s' (task %u) was refused: %s", task->context->component, id,
                          gale_error_text(rc));
        return rc;
    }
    const gx_sim_delivery *delivery = kept ? &kept->delivery : &task->delivery;
    if (kept) gx_truth_kept(truth, delivery, false);
    if (ack)
        gx_truth_acked(truth, id, delivery);
    else
        gx_truth_failed(truth, id, delivery, reason);
    if (kept)
        forget_kept(task, kept);
    else
        task->state = GX_SIM_ANSWERED;
    return GALE_OK;
}

static int keep(gx_sim_task *task, int64_t due, gale_handle *ret_held) {
    gx_heap *heap = &task->sim->heap;
    gx_sim_kept *kept = gx_alloc(heap, GX_TAG_OTHER, sizeof *kept);
    if (!kept ||
        !gx_grow(heap, GX_TAG_OTHER, &task->kept, &task->kept_capacity, task->kept_count + 1u, sizeof *task->kept)) {
        gx_free(heap, GX_TAG_OTHER, kept, sizeof *kept);
        return GALE_NO_MEMORY;
    }
    int rc = task->engine->ops->hold(task->engine, task->handle, &kept->handle);
    if (rc < 0) {
        gx_free(heap, GX_TAG_OTHER, kept, sizeof *kept);
        return rc;
    }
    kept->delivery = task->delivery;
    kept->due = due;
    if (due < task->due) task->due = due;
    task->kept[task->kept_count++] = kept;
    task->current = kept;
    task->state = GX_SIM_KEPT;
    gx_truth_kept(&task->sim->truth, &kept->delivery, true);
    if (ret_held) *ret_held = kept->handle;
    return GALE_OK;
}

/* Uses an answered tuple in every way: each must be refused, and nothing happen. */
static void use_answered(gx_sim_task *task) {
    gale_collector *out = task->engine;
    if (out->ops->ack(out, task->handle) != GALE_SETTLED ||
        out->ops->fail(out, task->handle, GALE_REASON_FAILED, "twice") != GALE_SETTLED)
        gx_truth_violated(&task->sim->truth, "task %u could answer a tuple twice", task->context->task);
    if (task->component->built->output_count) do_emit_anchored(&task->out, 0, NULL, 0, &task->handle, 1);
}

/* Soon, or when the tree has timed out. */
static int64_t draw_due(gx_sim_task *task, bool late) {
    gx_random *random = &task->sim->random;
    int64_t now = gale_context_now(task->context), timeout = engine_task(task)->executor->shared->plan->timeout;
    int64_t scale = timeout ? timeout : GALE_SECOND;
    if (late || gx_random_below(random, 8) == 0) return now + scale + scale * gx_random_below(random, 1000) / 1000;
    return now + scale * gx_random_below(random, 1000) / 2000;
}

/* A number that is no reason must be refused, and only mark the tuple. */
static int fail_wrongly(gx_sim_task *task, gale_handle handle, int32_t reason) {
    gx_sim_delivery *delivery = find_delivery(task, handle);
    int rc = task->engine->ops->fail(task->engine, handle, reason, "for no reason");
    if (rc != (delivery ? GALE_INVALID : GALE_SETTLED))
        gx_truth_violated(&task->sim->truth, "task %u could fail a tuple for reason %d", task->context->task, reason);
    if (delivery) delivery->failed = true;
    return rc;
}

bool gx_sim_meet_fate(gx_sim_task *task) {
    int fate = task->fate;
    bool engine_answers = task->component->built->bolt.kind == GALE_BOLT_SIMPLE;
    task->fate = GX_FAULT_COUNT;
    if (fate == GX_FAULT_COUNT || fate == GX_FAULT_RESET) return false;
    if (fate == GX_FAULT_FORGET && !engine_answers) {
        gx_sim_struck(task, fate);
        return true;
    }
    if (fate == GX_FAULT_HOLD || fate == GX_FAULT_FORGET) {
        if (keep(task, draw_due(task, fate == GX_FAULT_FORGET), NULL) < 0) return false;
        gx_sim_struck(task, fate);
        if (gx_sim_strip(task, task->engine->ops->held(task->engine, task->current->handle), &task->current->tuple) < 0)
            gx_truth_violated(&task->sim->truth, "the simulator has no memory");
        task->current->fails = gx_random_below(&task->sim->random, 4) == 0;
        return true;
    }
    gx_sim_struck(task, fate);
    int32_t reason = gx_random_below(&task->sim->random, 4) ? GALE_REASON_USER : GALE_REASON_REJECTED;
    if (fate == GX_FAULT_FAIL) fail_wrongly(task, task->handle, reason == GALE_REASON_USER ? INT32_MIN : -1);
    gx_sim_answer(task, NULL, fate == GX_FAULT_TWICE, reason, "drawn to fail");
    if (fate == GX_FAULT_TWICE) use_answered(task);
    return true;
}

static int do_ack(gale_collector *out, gale_handle handle) {
    gx_sim_task *task = (gx_sim_task *)out;
    if (is_open(task, handle)) return gx_sim_meet_fate(task) ? GALE_OK : gx_sim_answer(task, NULL, true, 0, NULL);
    gx_sim_kept *kept = gx_sim_find_kept(task, handle);
    return kept ? gx_sim_answer(task, kept, true, 0, NULL) : task->engine->ops->ack(task->engine, handle);
}

static int do_fail(gale_collector *out, gale_handle handle, int32_t reason, const char *text) {
    gx_sim_task *task = (gx_sim_task *)out;
    if (!gx_reason_is_valid(reason)) return fail_wrongly(task, handle, reason);
    if (is_open(task, handle)) return gx_sim_answer(task, NULL, false, reason, text);
    gx_sim_kept *kept = gx_sim_find_kept(task, handle);
    return kept ? gx_sim_answer(task, kept, false, reason, text)
                : task->engine->ops->fail(task->engine, handle, reason, text);
}

static int do_hold(gale_collector *out, gale_handle handle, gale_handle *ret_held) {
    gx_sim_task *task = (gx_sim_task *)out;
    if (!is_open(task, handle)) return task->engine->ops->hold(task->engine, handle, ret_held);
    int rc = keep(task, INT64_MAX, ret_held);
    if (rc < 0) return rc;
    return gx_sim_strip(task, task->engine->ops->held(task->engine, *ret_held), &task->current->tuple);
}

static const gale_tuple *do_held(gale_collector *out, gale_handle handle) {
    gx_sim_task *task = (gx_sim_task *)out;
    gx_sim_kept *kept = gx_sim_find_kept(task, handle);
    const gale_tuple *held = task->engine->ops->held(task->engine, handle);
    if ((held != NULL) != (kept && kept->handle == handle))
        gx_truth_violated(&task->sim->truth, "task %u %s a tuple that it %s", task->context->task,
                          held ? "holds" : "does not hold", held ? "does not hold" : "holds");
    return held && kept ? &kept->tuple.tuple : NULL;
}

static int do_reset_timeout(gale_collector *out, gale_handle handle) {
    gx_sim_task *task = (gx_sim_task *)out;
    gx_sim_delivery *delivery = find_delivery(task, handle);
    int rc = task->engine->ops->reset_timeout(task->engine, handle);
    if ((delivery != NULL) != (rc == GALE_OK)) /* what it does races with the timeout itself, so nothing is expected */
        gx_truth_violated(&task->sim->truth, "a reset by task %u: %s", task->context->task, gale_error_text(rc));
    return rc;
}

/* --- The rest is passed on --- */

static void do_report(gale_collector *out, const char *text) {
    gx_sim_task *task = (gx_sim_task *)out;
    task->engine->ops->report(task->engine, text);
}

static uint64_t do_pending(gale_collector *out) {
    gx_sim_task *task = (gx_sim_task *)out;
    return task->engine->ops->pending(task->engine);
}

static void do_stop(gale_collector *out, int code, const char *text) {
    gx_sim_task *task = (gx_sim_task *)out;
    task->engine->ops->stop(task->engine, code, text);
}

static void do_resume(gale_collector *out) {
    gx_sim_task *task = (gx_sim_task *)out;
    task->engine->ops->resume(task->engine);
}

static bool do_resumed(gale_collector *out) {
    gx_sim_task *task = (gx_sim_task *)out;
    return task->engine->ops->resumed(task->engine);
}

/* Another thread's calls could not be repeated. */
static int do_remote(gale_collector *out, gale_remote **ret_remote) {
    (void)out, (void)ret_remote;
    return GALE_UNSUPPORTED;
}

const gale_collector_ops *gx_sim_collector_ops(void) {
    static const gale_collector_ops ops = {
        .size = sizeof ops,
        .emit = do_emit,
        .emit_anchored = do_emit_anchored,
        .emit_tracked = do_emit_tracked,
        .ack = do_ack,
        .fail = do_fail,
        .hold = do_hold,
        .held = do_held,
        .report = do_report,
        .pending = do_pending,
        .stop = do_stop,
        .remote = do_remote,
        .emit_direct = do_emit_direct,
        .emit_direct_anchored = do_emit_direct_anchored,
        .emit_direct_tracked = do_emit_direct_tracked,
        .reset_timeout = do_reset_timeout,
        .resume = do_resume,
        .resumed = do_resumed,
    };
    return &ops;
}
