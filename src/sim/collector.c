#include "sim/emit.h"
#include "sim/remote.h"
#include "sim/watch.h"

#include "topology/builder.h"
#include "tuple/body.h"

#include <string.h>

/* --- Tuples and handles --- */

bool gx_sim_is_letter(const char *stream) {
    return strcmp(stream, GX_DEAD_LETTER_STREAM) == 0;
}

int gx_sim_strip(gx_sim_task *task, const gale_tuple *tuple, gx_sim_tuple *view) {
    gx_heap *heap = &task->sim->heap;
    bool letter = gx_sim_is_letter(gale_tuple_stream(tuple));
    bool folded = letter ? gx_sim_letter_folds(task->sim, tuple) : gx_sim_tuple_folds(task->sim, tuple);
    size_t count = gale_tuple_size(tuple) - !(letter || folded);
    size_t items = letter ? gale_tuple_value(tuple, GX_SIM_LETTER_TUPLE).size - !folded : 0;
    if (!gx_grow(heap, GX_TAG_OTHER, &task->values, &task->value_capacity, count + items + 1, sizeof *task->values))
        return GALE_NO_MEMORY;
    for (size_t i = 0; i < count; i++) task->values[i] = gale_tuple_value(tuple, i);
    if (folded && !letter) task->values[0] = gx_sim_number_unfold(task->values[0]);
    if (letter) {
        for (size_t i = 0; i < items; i++)
            task->values[count + i] = gale_list_at(&task->values[GX_SIM_LETTER_TUPLE], i);
        if (folded) task->values[count] = gx_sim_number_unfold(task->values[count]);
        task->values[GX_SIM_LETTER_TUPLE] = gale_list(&task->values[count], items);
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

gx_sim_delivery *gx_sim_find_delivery(gx_sim_task *task, gale_handle handle) {
    if (is_open(task, handle)) return &task->delivery;
    gx_sim_kept *kept = gx_sim_find_kept(task, handle);
    return kept ? &kept->delivery : NULL;
}

/* --- Emitting --- */

static int do_emit(gale_collector *out, uint32_t stream, const gale_value *values, size_t count) {
    return gx_sim_send((gx_sim_task *)out, &(gx_sim_outgoing){ .stream = stream, .values = values, .count = count });
}

static int do_emit_anchored(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                            const gale_handle *anchors, size_t anchor_count) {
    return gx_sim_send((gx_sim_task *)out, &(gx_sim_outgoing){ .stream = stream,
                                                               .values = values,
                                                               .count = count,
                                                               .anchored = true,
                                                               .handles = anchors,
                                                               .handle_count = anchor_count });
}

static int do_emit_tracked(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                           uint64_t message_id) {
    return gx_sim_send(
        (gx_sim_task *)out,
        &(gx_sim_outgoing){
            .stream = stream, .values = values, .count = count, .tracked = true, .message_id = message_id });
}

static int do_emit_direct(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values, size_t count) {
    return gx_sim_send(
        (gx_sim_task *)out,
        &(gx_sim_outgoing){ .direct = to, .is_direct = true, .stream = stream, .values = values, .count = count });
}

static int do_emit_direct_anchored(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values,
                                   size_t count, const gale_handle *anchors, size_t anchor_count) {
    return gx_sim_send((gx_sim_task *)out, &(gx_sim_outgoing){ .direct = to,
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
    return gx_sim_send((gx_sim_task *)out, &(gx_sim_outgoing){ .direct = to,
                                                               .is_direct = true,
                                                               .stream = stream,
                                                               .values = values,
                                                               .count = count,
                                                               .tracked = true,
                                                               .message_id = message_id });
}

static int do_emit_many(gale_collector *out, uint32_t stream, const gale_value *values, size_t count, size_t rows,
                        size_t *emitted) {
    const gx_sim_outgoing first = { .stream = stream, .values = values, .count = count };
    return gx_sim_send_many((gx_sim_task *)out, &first, rows, NULL, emitted);
}

static int do_emit_many_tracked(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                                size_t rows, const uint64_t *message_ids, size_t *emitted) {
    const gx_sim_outgoing first = { .stream = stream, .values = values, .count = count };
    return gx_sim_send_many((gx_sim_task *)out, &first, rows, message_ids, emitted);
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
    gx_oracle *oracle = &task->sim->oracle;
    gale_collector *out = task->engine;
    uint16_t id = (uint16_t)task->context->task;
    gale_handle handle = kept ? kept->handle : task->handle;
    int rc = ack ? gx_sim_engine_ops(task)->ack(out, handle) : gx_sim_engine_ops(task)->fail(out, handle, reason, text);
    if (rc == GALE_STOPPED && gx_sim_is_over(task)) return rc;
    if (rc < 0) {
        gx_oracle_violated(oracle, "an answer of '%s' (task %u) was refused: %s", task->context->component, id,
                           gale_error_text(rc));
        return rc;
    }
    const gx_sim_delivery *delivery = kept ? &kept->delivery : &task->delivery;
    if (kept) gx_oracle_kept(oracle, delivery, false);
    if (ack)
        gx_oracle_acked(oracle, id, delivery);
    else
        gx_oracle_failed(oracle, id, delivery, reason);
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
    int rc = gx_sim_engine_ops(task)->hold(task->engine, task->handle, &kept->handle);
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
    gx_oracle_kept(&task->sim->oracle, &kept->delivery, true);
    if (ret_held) *ret_held = kept->handle;
    return GALE_OK;
}

/* Uses an answered tuple in every way: each must be refused, and nothing happen. */
static void use_answered(gx_sim_task *task) {
    gale_collector *out = task->engine;
    if (gx_sim_engine_ops(task)->ack(out, task->handle) != GALE_SETTLED ||
        gx_sim_engine_ops(task)->fail(out, task->handle, GALE_REASON_FAILED, "twice") != GALE_SETTLED)
        gx_oracle_violated(&task->sim->oracle, "task %u could answer a tuple twice", task->context->task);
    gale_handle held;
    if (gx_sim_engine_ops(task)->hold(out, task->handle, &held) != GALE_SETTLED)
        gx_oracle_violated(&task->sim->oracle, "task %u could hold an answered tuple", task->context->task);
    for (uint32_t stream = 0; stream <= task->component->built->output_count; stream++)
        do_emit(&task->out, stream, NULL, 0);
    do_emit_anchored(&task->out, 0, NULL, 0, &task->handle, 1);
}

/* Soon, or when the tree has timed out. */
static int64_t draw_due(gx_sim_task *task, bool late) {
    gx_random *random = &task->sim->random;
    int64_t now = gale_context_now(task->context), timeout = gx_sim_engine_task(task)->executor->shared->plan->timeout;
    int64_t scale = timeout ? timeout : GALE_SECOND;
    if (late || gx_random_below(random, 8) == 0) return now + scale + scale * gx_random_below(random, 1000) / 1000;
    return now + scale * gx_random_below(random, 1000) / 2000;
}

/* A number that is no reason must be refused, and only mark the tuple. */
static int fail_wrongly(gx_sim_task *task, gale_handle handle, int32_t reason) {
    gx_sim_delivery *delivery = gx_sim_find_delivery(task, handle);
    int rc = gx_sim_engine_ops(task)->fail(task->engine, handle, reason, "for no reason");
    if (rc != (delivery ? GALE_INVALID : GALE_SETTLED))
        gx_oracle_violated(&task->sim->oracle, "task %u could fail a tuple for reason %d", task->context->task, reason);
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
        if (gx_sim_strip(task, gx_sim_engine_ops(task)->held(task->engine, task->current->handle),
                         &task->current->tuple) < 0)
            gx_oracle_violated(&task->sim->oracle, "the simulator has no memory");
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

/* What is neither open nor held can be answered when it is a tick, which no tree has: it is counted, and that is all. */
static int answer_tick(gx_sim_task *task, gale_handle handle, bool ack, int32_t reason, const char *text) {
    const gale_collector_ops *ops = gx_sim_engine_ops(task);
    gx_sim_counts *counts = &task->sim->oracle.counts[task->id];
    int rc = ack ? ops->ack(task->engine, handle) : ops->fail(task->engine, handle, reason, text);
    if (rc < 0) return rc;
    counts->acked += ack;
    counts->rejected += !ack && reason == GALE_REASON_REJECTED;
    counts->failed += !ack && reason != GALE_REASON_REJECTED;
    return rc;
}

static int do_ack(gale_collector *out, gale_handle handle) {
    gx_sim_task *task = (gx_sim_task *)out;
    if (is_open(task, handle)) return gx_sim_meet_fate(task) ? GALE_OK : gx_sim_answer(task, NULL, true, 0, NULL);
    gx_sim_kept *kept = gx_sim_find_kept(task, handle);
    return kept ? gx_sim_answer(task, kept, true, 0, NULL) : answer_tick(task, handle, true, 0, NULL);
}

static int do_fail(gale_collector *out, gale_handle handle, int32_t reason, const char *text) {
    gx_sim_task *task = (gx_sim_task *)out;
    if (!gx_reason_is_valid(reason)) return fail_wrongly(task, handle, reason);
    if (is_open(task, handle)) return gx_sim_answer(task, NULL, false, reason, text);
    gx_sim_kept *kept = gx_sim_find_kept(task, handle);
    return kept ? gx_sim_answer(task, kept, false, reason, text) : answer_tick(task, handle, false, reason, text);
}

static int do_hold(gale_collector *out, gale_handle handle, gale_handle *ret_held) {
    gx_sim_task *task = (gx_sim_task *)out;
    if (!is_open(task, handle)) return gx_sim_engine_ops(task)->hold(task->engine, handle, ret_held);
    int rc = keep(task, INT64_MAX, ret_held);
    if (rc < 0) return rc;
    return gx_sim_strip(task, gx_sim_engine_ops(task)->held(task->engine, *ret_held), &task->current->tuple);
}

static const gale_tuple *do_held(gale_collector *out, gale_handle handle) {
    gx_sim_task *task = (gx_sim_task *)out;
    gx_sim_kept *kept = gx_sim_find_kept(task, handle);
    const gale_tuple *held = gx_sim_engine_ops(task)->held(task->engine, handle);
    if ((held != NULL) != (kept && kept->handle == handle))
        gx_oracle_violated(&task->sim->oracle, "task %u %s a tuple that it %s", task->context->task,
                           held ? "holds" : "does not hold", held ? "does not hold" : "holds");
    return held && kept ? &kept->tuple.tuple : NULL;
}

static int do_reset_timeout(gale_collector *out, gale_handle handle) {
    gx_sim_task *task = (gx_sim_task *)out;
    gx_sim_delivery *delivery = gx_sim_find_delivery(task, handle);
    int rc = gx_sim_engine_ops(task)->reset_timeout(task->engine, handle);
    if ((delivery != NULL) != (rc == GALE_OK)) /* what it does races with the timeout itself, so nothing is expected */
        gx_oracle_violated(&task->sim->oracle, "a reset by task %u: %s", task->context->task, gale_error_text(rc));
    return rc;
}

/* --- The rest is passed on --- */

static void do_report(gale_collector *out, const char *text) {
    gx_sim_task *task = (gx_sim_task *)out;
    const gx_sim_watcher *watcher = task->sim->watcher;
    if (watcher && watcher->reported) watcher->reported(watcher->user, task->component->built, text ? text : "");
    gx_sim_engine_ops(task)->report(task->engine, text);
}

/* Asked in `next`, where nothing is about to be told. */
static uint64_t do_pending(gale_collector *out) {
    gx_sim_task *task = (gx_sim_task *)out;
    const gx_oracle *oracle = &task->sim->oracle;
    uint64_t says = gx_sim_engine_ops(task)->pending(task->engine), is = 0;
    for (uint32_t i = 0; i < oracle->open_count; i++) is += oracle->trees[oracle->open_trees[i]].task == task->id;
    if (says != is && !oracle->letters)
        gx_oracle_violated(&task->sim->oracle, "task %u has %llu trees open, but was told that it has %llu", task->id,
                           (unsigned long long)is, (unsigned long long)says);
    return says;
}

static void do_stop(gale_collector *out, int code, const char *text) {
    gx_sim_task *task = (gx_sim_task *)out;
    gx_sim_engine_ops(task)->stop(task->engine, code, text);
}

static void do_resume(gale_collector *out) {
    gx_sim_task *task = (gx_sim_task *)out;
    gx_sim_engine_ops(task)->resume(task->engine);
    task->sim->resumed = true;
}

static void do_remember(gale_collector *out) {
    gx_sim_task *task = (gx_sim_task *)out;
    gx_sim_engine_ops(task)->remember(task->engine);
}

static bool do_resumed(gale_collector *out) {
    gx_sim_task *task = (gx_sim_task *)out;
    bool says = gx_sim_engine_ops(task)->resumed(task->engine);
    bool may = gx_load_acquire(&task->sim->runtime->shared.unopened_spouts) > 0;
    if (says != (task->sim->resumed || may))
        gx_oracle_violated(&task->sim->oracle, "task %u was told that the run goes on from another: %s", task->id,
                           says ? "yes" : "no");
    return says;
}

/* The calls of a thread that is not the crowd's could not be repeated. */
static int do_remote(gale_collector *out, gale_remote **ret_remote) {
    gx_sim_task *task = (gx_sim_task *)out;
    return task->sim->crowded ? gx_sim_remote_open(task, ret_remote) : GALE_UNSUPPORTED;
}

/* The engine keeps it: it knows nothing of numbers. */
static int do_state(gale_collector *out, const gale_state_options *options, gale_state **ret_state) {
    gx_sim_task *task = (gx_sim_task *)out;
    return gx_sim_engine_ops(task)->state(task->engine, options, ret_state);
}

static void do_health(gale_collector *out, const char *text) {
    gx_sim_task *task = (gx_sim_task *)out;
    gx_sim_engine_ops(task)->health(task->engine, text);
}

static int do_congest(gale_collector *out, bool congested) {
    gx_sim_task *task = (gx_sim_task *)out;
    return gx_sim_engine_ops(task)->congest(task->engine, congested);
}

/* The engine's: what the component notes changes nothing else. */
static int do_metric_new(gale_collector *out, const gale_metric_options *options, gale_metric **ret_metric) {
    gx_sim_task *task = (gx_sim_task *)out;
    return gx_sim_engine_ops(task)->metric_new(task->engine, options, ret_metric);
}

/* Sometimes sooner than the engine says so. */
static bool do_part_is_full(gale_collector *out) {
    gx_sim_task *task = (gx_sim_task *)out;
    bool full = gx_sim_engine_ops(task)->part_is_full(task->engine);
    return full || gx_random_below(&task->sim->random, GX_SIM_PART_ODDS) == 0;
}

static uint64_t do_room(gale_collector *out) {
    gx_sim_task *task = (gx_sim_task *)out;
    return gx_sim_engine_ops(task)->room(task->engine);
}

static const gale_body *do_ahead(gale_collector *out, uint32_t distance) {
    gx_sim_task *task = (gx_sim_task *)out;
    return gx_sim_engine_ops(task)->ahead(task->engine, distance);
}

static void do_wish_checkpoint(gale_collector *out) {
    gx_sim_task *task = (gx_sim_task *)out;
    gx_sim_engine_ops(task)->wish_checkpoint(task->engine);
}

typedef struct lost_asked {
    gx_sim_task *task;
    gale_is_lost_fn *is_lost;
    void *user;
} lost_asked;

/* The engine's message ids are the simulator's numbers; a remote's command is not asked of. */
static bool is_tree_lost(void *user, uint64_t number) {
    lost_asked *asked = user;
    gx_oracle *oracle = &asked->task->sim->oracle;
    if (number & GX_BOOK_ID || number >= oracle->tree_count) return false;
    const gx_sim_tree *tree = &oracle->trees[number];
    bool lost = !asked->is_lost || asked->is_lost(asked->user, tree->message_id);
    if (lost) gx_oracle_lost(oracle, number);
    return lost;
}

static int64_t do_source_lost(gale_collector *out, gale_is_lost_fn *is_lost, void *user) {
    lost_asked asked = { (gx_sim_task *)out, is_lost, user };
    return gx_sim_engine_ops(asked.task)->source_lost(asked.task->engine, is_tree_lost, &asked);
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
        .remember = do_remember,
        .resumed = do_resumed,
        .emit_many = do_emit_many,
        .emit_many_tracked = do_emit_many_tracked,
        .state = do_state,
        .watch_new = gx_sim_watch_new,
        .watch_set = gx_sim_watch_set,
        .watch_free = gx_sim_watch_free,
        .health = do_health,
        .congest = do_congest,
        .metric_new = do_metric_new,
        .wish_checkpoint = do_wish_checkpoint,
        .part_is_full = do_part_is_full,
        .room = do_room,
        .ahead = do_ahead,
        .source_lost = do_source_lost,
    };
    return &ops;
}
