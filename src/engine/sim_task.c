#include "engine/sim_task.h"

#include <stdio.h>
#include <string.h>

enum {
    SLOW_MEAN = 200 * 1000,
    LETTER_ID = 2, /* the field of a dead letter that names its tree */
};

static gx_task *engine_task(const gx_sim_task *task) {
    return (gx_task *)task->engine;
}

/* --- Making --- */

gx_sim_task *gx_sim_task_new(const gx_sim_component *component, const gale_context *context, gale_collector *out) {
    gx_sim *sim = component->sim;
    if (!gx_grow(&sim->heap, GX_TAG_OTHER, &sim->tasks, &sim->task_capacity, context->task + 1u, sizeof *sim->tasks))
        return NULL;
    gx_sim_task *task = gx_alloc(&sim->heap, GX_TAG_OTHER, sizeof *task);
    if (!task) return NULL;
    task->out.ops = gx_sim_collector_ops();
    task->engine = out;
    task->sim = sim;
    task->component = component;
    task->context = context;
    task->self = component->built->user;
    task->fate = GX_FAULT_COUNT;
    task->due = INT64_MAX;
    sim->tasks[context->task] = task;
    return task;
}

void gx_sim_task_free(gx_sim_task *task) {
    gx_heap *heap = &task->sim->heap;
    for (uint32_t i = 0; i < task->kept_count; i++) {
        gx_free(heap, GX_TAG_OTHER, task->kept[i]->tuple.body, task->kept[i]->tuple.capacity);
        gx_free(heap, GX_TAG_OTHER, task->kept[i], sizeof *task->kept[i]);
    }
    gx_free(heap, GX_TAG_OTHER, task->kept, task->kept_capacity * sizeof *task->kept);
    gx_free(heap, GX_TAG_OTHER, task->owed, task->owed_capacity * sizeof *task->owed);
    gx_free(heap, GX_TAG_OTHER, task->input.body, task->input.capacity);
    gx_free(heap, GX_TAG_OTHER, task->values, task->value_capacity * sizeof *task->values);
    gx_free(heap, GX_TAG_OTHER, task->anchors, task->anchor_capacity * sizeof *task->anchors);
    task->sim->tasks[task->context->task] = NULL;
    gx_free(heap, GX_TAG_OTHER, task, sizeof *task);
}

/* --- Faults --- */

void gx_sim_struck(gx_sim_task *task, int fault) {
    const gx_component *built = task->component->built;
    const char *class = built->is_spout ? built->spout.name : built->bolt.name;
    gx_coverage_count(&task->sim->coverage, task->sim->by_class && class ? class : built->name, fault);
}

bool gx_sim_strikes(gx_sim_task *task, int fault) {
    if (!gx_fault_strikes(&task->sim->random, task->sim->faults.odds[fault])) return false;
    gx_sim_struck(task, fault);
    return true;
}

static void enter(gx_sim_task *task) {
    if (task->sim->in_call++)
        gx_truth_violated(&task->sim->truth, "'%s' (task %u) was called inside another call", task->context->component,
                          task->context->task);
}

static void leave(gx_sim_task *task) {
    task->sim->in_call--;
}

static void maybe_slow(gx_sim_task *task) {
    if (gx_sim_strikes(task, GX_FAULT_SLOW)) gx_sim_pass_time(task->sim, SLOW_MEAN);
}

/* Hold, fail, forget, twice or reset: the first that strikes, to be met when the tuple is answered. */
static int draw_fate(gx_sim_task *task) {
    static const int fates[] = { GX_FAULT_HOLD, GX_FAULT_FAIL, GX_FAULT_FORGET, GX_FAULT_TWICE, GX_FAULT_RESET };
    for (size_t i = 0; i < sizeof fates / sizeof *fates; i++)
        if (gx_fault_strikes(&task->sim->random, task->sim->faults.odds[fates[i]])) return fates[i];
    return GX_FAULT_COUNT;
}

/* --- Bolts --- */

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const gx_sim_component *component = user;
    gx_sim_task *task = gx_sim_task_new(component, context, out);
    if (!task) return GALE_NO_MEMORY;
    const gale_bolt_ops *ops = &component->built->bolt;
    int rc = GALE_OK;
    enter(task);
    if (ops->prepare && !component->captured)
        rc = ops->prepare(component->built->user, context, &task->out, &task->self);
    leave(task);
    if (rc < 0)
        gx_sim_task_free(task);
    else
        *ret_self = task;
    return rc;
}

/* Runs the component on the tuple, unless it stands for a sink or its fate is to fail first. */
static int run(gx_sim_task *task, const gale_tuple *tuple) {
    if (task->fate == GX_FAULT_RESET) {
        gx_sim_struck(task, GX_FAULT_RESET);
        gale_reset_timeout(&task->out, task->handle);
    }
    if (task->component->captured) {
        task->sim->captured++;
        if (task->component->built->bolt.kind == GALE_BOLT_MANUAL) gale_ack(&task->out, task->handle);
        return GALE_OK;
    }
    return task->component->built->bolt.execute(task->self, tuple, &task->out);
}

static bool gathers(const gx_sim_task *task) {
    return task->component->built->bolt.flush && !task->component->captured;
}

/* The engine answers it with the next flush. */
static void owe(gx_sim_task *task) {
    if (!gx_grow(&task->sim->heap, GX_TAG_OTHER, &task->owed, &task->owed_capacity, task->owed_count + 1,
                 sizeof *task->owed)) {
        gx_truth_violated(&task->sim->truth, "the simulator has no memory");
        return;
    }
    task->owed[task->owed_count++] = task->delivery;
    gx_truth_kept(&task->sim->truth, &task->delivery, true);
}

/* What the engine makes of the tuple once the call returns `rc`. */
static void settle(gx_sim_task *task, int rc) {
    gx_truth *truth = &task->sim->truth;
    uint16_t id = (uint16_t)task->context->task;
    if (task->state != GX_SIM_OPEN) return;
    if (rc < 0)
        gx_truth_failed(truth, id, &task->delivery, GALE_REASON_FAILED);
    else if (task->component->built->bolt.kind == GALE_BOLT_SIMPLE && gathers(task) && !task->delivery.failed)
        owe(task);
    else if (task->component->built->bolt.kind == GALE_BOLT_SIMPLE)
        gx_truth_acked(truth, id, &task->delivery);
    else
        gx_truth_forgotten(truth, id, &task->delivery);
}

static void settle_owed(gx_sim_task *task, int rc) {
    gx_truth *truth = &task->sim->truth;
    bool stopping = gx_phase(engine_task(task)->executor->shared) >= GALE_PHASE_CLOSING;
    for (size_t i = 0; i < task->owed_count; i++) {
        const gx_sim_delivery *delivery = &task->owed[i];
        gx_truth_kept(truth, delivery, false);
        if (rc >= 0)
            gx_truth_acked(truth, (uint16_t)task->context->task, delivery);
        else if (!stopping)
            gx_truth_failed(truth, (uint16_t)task->context->task, delivery, GALE_REASON_FAILED);
    }
    task->owed_count = 0;
}

static int execute_tuple(gx_sim_task *task, const gale_tuple *tuple) {
    bool simple = task->component->built->bolt.kind == GALE_BOLT_SIMPLE;
    task->handle = tuple->handle;
    task->state = GX_SIM_OPEN;
    task->current = NULL;
    task->fate = draw_fate(task);
    int rc = gx_sim_strip(task, tuple, &task->input);
    if (rc < 0) gx_truth_violated(&task->sim->truth, "the simulator has no memory");
    if (rc == GALE_OK && task->fate == GX_FAULT_FAIL && gx_random_below(&task->sim->random, 2)) {
        gx_sim_struck(task, GX_FAULT_FAIL);
        gale_report(&task->out, "drawn to fail before its work");
        rc = GALE_COMPONENT;
    }
    if (rc == GALE_OK) rc = run(task, &task->input.tuple);
    if (rc >= 0 && simple && task->state == GX_SIM_OPEN) gx_sim_meet_fate(task);
    settle(task, rc);
    task->state = GX_SIM_NONE;
    task->current = NULL;
    return rc;
}

static uint64_t number_of(const gx_sim_task *task, const gale_tuple *tuple) {
    if (gx_sim_is_letter(gale_tuple_stream(tuple)))
        return gx_truth_letter_number(&task->sim->truth, (uint64_t)gale_tuple_value(tuple, LETTER_ID).as.i64);
    return (uint64_t)gale_tuple_value(tuple, gale_tuple_size(tuple) - 1).as.i64;
}

static int execute(gx_sim_task *task, const gale_tuple *tuple) {
    uint32_t source = gale_tuple_task(tuple);
    if (source == 0) {
        int (*function)(void *, const gale_tuple *, gale_collector *) = task->component->built->bolt.execute;
        return task->component->captured ? GALE_OK : function(task->self, tuple, &task->out);
    }
    gx_roots roots = gx_record_roots(tuple->head);
    if (!gx_truth_received(&task->sim->truth, (uint16_t)source, (uint16_t)task->context->task, tuple->head->stream,
                           number_of(task, tuple), roots.count ? roots.pairs[0].root : 0, &task->delivery))
        return GALE_INVALID;
    return execute_tuple(task, tuple);
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    gx_sim_task *task = self;
    (void)out;
    enter(task);
    maybe_slow(task);
    int rc = execute(task, tuple);
    leave(task);
    return rc;
}

static int bolt_finish(void *self, gale_collector *out) {
    gx_sim_task *task = self;
    const gale_bolt_ops *ops = &task->component->built->bolt;
    (void)out;
    enter(task);
    int rc = ops->finish && !task->component->captured ? ops->finish(task->self, &task->out) : GALE_OK;
    leave(task);
    return rc;
}

static int bolt_flush(void *self, gale_collector *out) {
    gx_sim_task *task = self;
    const gale_bolt_ops *ops = &task->component->built->bolt;
    (void)out;
    enter(task);
    int rc = gx_sim_strikes(task, GX_FAULT_FAIL) ? GALE_COMPONENT : ops->flush(task->self, &task->out);
    leave(task);
    settle_owed(task, rc);
    return rc;
}

static void bolt_cleanup(void *self) {
    gx_sim_task *task = self;
    const gale_bolt_ops *ops = &task->component->built->bolt;
    enter(task);
    if (ops->cleanup && !task->component->captured) ops->cleanup(task->self);
    leave(task);
    gx_sim_task_free(task);
}

/* By whether the component answers itself, and whether it gathers: what has no flush is given none. */
#define OPS(kind, flush)                                                                                               \
    { sizeof(gale_bolt_ops), "sim", kind, bolt_prepare, bolt_execute, bolt_finish, bolt_cleanup, flush }
static const gale_bolt_ops bolts[2][2] = {
    { OPS(GALE_BOLT_SIMPLE, NULL), OPS(GALE_BOLT_SIMPLE, bolt_flush) },
    { OPS(GALE_BOLT_MANUAL, NULL), OPS(GALE_BOLT_MANUAL, bolt_flush) },
};

gale_bolt gx_sim_bolt(gx_sim_component *component) {
    const gale_bolt_ops *built = &component->built->bolt;
    const gale_bolt_ops *ops = &bolts[built->kind != GALE_BOLT_SIMPLE][built->flush && !component->captured];
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = ops, .user = component };
}

/* --- Spouts --- */

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const gx_sim_component *component = user;
    gx_sim_task *task = gx_sim_task_new(component, context, out);
    if (!task) return GALE_NO_MEMORY;
    const gale_spout_ops *ops = &component->built->spout;
    int rc = GALE_OK;
    enter(task);
    if (ops->open && !component->generated) rc = ops->open(component->built->user, context, &task->out, &task->self);
    leave(task);
    if (rc < 0)
        gx_sim_task_free(task);
    else
        *ret_self = task;
    return rc;
}

static void spout_call(gx_sim_task *task, void (*function)(void *self)) {
    enter(task);
    if (function && !task->component->generated) function(task->self);
    leave(task);
}

static void spout_activate(void *self) {
    gx_sim_task *task = self;
    spout_call(task, task->component->built->spout.activate);
}

static void spout_deactivate(void *self) {
    gx_sim_task *task = self;
    spout_call(task, task->component->built->spout.deactivate);
}

static void spout_close(void *self) {
    gx_sim_task *task = self;
    spout_call(task, task->component->built->spout.close);
    gx_sim_task_free(task);
}

/* Words for a field that nobody knows more of than its name. */
static gale_value make_text(gx_random *random, char *text, size_t room) {
    static const char *const words[] = { "the", "cow",  "jumped", "over", "moon",  "an",    "apple", "a",
                                         "day", "four", "score",  "and",  "seven", "years", "ago",   "snow" };
    uint32_t count = 1 + gx_random_below(random, 6);
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", i ? " " : "",
                                 words[gx_random_below(random, sizeof words / sizeof *words)]);
    return gale_string(text, used);
}

/* One tuple to each of the declared streams in turn. */
static int generate(gx_sim_task *task) {
    enum { FIELDS = 16, ROOM = 64 };
    char texts[FIELDS][ROOM];
    gale_value values[FIELDS];
    const gx_component *built = task->component->built;
    if (!built->output_count) return GALE_NEXT_DONE;
    const gx_output *output = &built->outputs[task->emitted % built->output_count];
    if (output->field_count > FIELDS) return GALE_TOO_LARGE;
    for (uint32_t i = 0; i < output->field_count; i++)
        values[i] = make_text(&task->sim->random, texts[i], sizeof texts[i]);
    int rc = gale_emit_tracked(&task->out, (uint32_t)(task->emitted % built->output_count), values, output->field_count,
                               task->emitted);
    return rc < 0 ? rc : GALE_NEXT_EMITTED;
}

static int next(gx_sim_task *task, gale_wait *wait) {
    uint64_t most = task->sim->roots;
    if (task->roots >= most || task->emitted >= 4 * most) return GALE_NEXT_DONE;
    if (gx_sim_strikes(task, GX_FAULT_FAIL)) return GALE_IO;
    if (!task->component->generated) return task->component->built->spout.next(task->self, &task->out, wait);
    return gx_random_below(&task->sim->random, 16) ? generate(task) : GALE_NEXT_NOTHING;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    gx_sim_task *task = self;
    (void)out;
    enter(task);
    maybe_slow(task);
    int rc = next(task, wait);
    leave(task);
    return rc;
}

/* What is told to have failed is not open any more. An entry that is open again would be answered a second time, and
 * its link in the queue of answers is overwritten: the engine must not follow it, the run ends here. */
static void check_closed(gx_sim_task *task, uint64_t tree) {
    gx_executor *ex = engine_task(task)->executor;
    gx_ledger *ledger = &ex->ledger;
    for (uint32_t slot = 0; slot < ledger->slots; slot++) {
        const gx_tree *entry = gx_ledger_at(ledger, slot);
        if (!gx_tree_is_open(entry) || entry->message_id != tree || entry->task != task->context->task) continue;
        const gx_retained *kept = gx_retention_at(&ex->retention, slot);
        if (kept && kept->letter) continue;
        gx_truth_violated(&task->sim->truth, "tree %llu of task %u has failed, but is open again in its ledger",
                          (unsigned long long)tree, task->context->task);
        ledger->answers = (gx_tree_list){ 0, 0 };
    }
}

static const gx_sim_tree *hear(gx_sim_task *task, uint64_t tree, const gale_failure *failure) {
    if (failure) check_closed(task, tree);
    return gx_truth_answered(&task->sim->truth, (uint16_t)task->context->task, tree, failure,
                             gale_context_now(task->context));
}

static void spout_ack(void *self, uint64_t number) {
    gx_sim_task *task = self;
    const gale_spout_ops *ops = &task->component->built->spout;
    enter(task);
    const gx_sim_tree *tree = hear(task, number, NULL);
    if (tree && ops->ack && !task->component->generated) ops->ack(task->self, tree->message_id);
    leave(task);
}

static void spout_fail(void *self, uint64_t number, const gale_failure *failure) {
    gx_sim_task *task = self;
    const gale_spout_ops *ops = &task->component->built->spout;
    enter(task);
    const gx_sim_tree *tree = hear(task, number, failure);
    if (tree && ops->fail && !task->component->generated) ops->fail(task->self, tree->message_id, failure);
    leave(task);
}

gale_spout gx_sim_spout(gx_sim_component *component) {
    static const gale_spout_ops ops = { sizeof ops, "sim",      spout_open,       spout_activate, spout_next,
                                        spout_ack,  spout_fail, spout_deactivate, spout_close };
    return (gale_spout){ .size = sizeof(gale_spout), .ops = &ops, .user = component };
}

/* --- What the engine emits on a spout's behalf --- */

/* The open tree with this message id: its slot, or UINT32_MAX. */
static uint32_t find_slot(const gx_executor *ex, uint16_t task, uint64_t message_id, bool letter) {
    for (uint32_t slot = 0; slot < ex->ledger.slots; slot++) {
        const gx_tree *tree = gx_ledger_at(&ex->ledger, slot);
        if (tree->state != GX_TREE_OPEN || tree->message_id != message_id || tree->task != task) continue;
        const gx_retained *kept = gx_retention_at(&ex->retention, slot);
        if (kept && kept->letter == letter) return slot;
    }
    return UINT32_MAX;
}

/* The tree whose tuple has this number, or which this dead letter is about. */
static uint64_t tree_of(const gx_truth *truth, uint64_t number) {
    if (number >= truth->emission_count || truth->emissions[number].tree_count != 1) return UINT64_MAX;
    return truth->trees[truth->tree_list[truth->emissions[number].first_tree]].first;
}

/* An attempt of a tuple or a dead letter. Whether it found queues at their limit cannot be told from here. */
static void note_engines(gx_sim_task *task, uint32_t slot, uint32_t stream, const gale_value *values, uint64_t number,
                         bool letter, uint32_t deliveries) {
    gx_truth *truth = &task->sim->truth;
    const gx_executor *ex = engine_task(task)->executor;
    const gx_retained *kept = gx_retention_at(&ex->retention, slot);
    uint64_t root = gx_ledger_root(&ex->ledger, gx_ledger_at(&ex->ledger, slot), slot);
    uint32_t emission;
    bool noted = letter && kept->attempts == 1
                     ? gx_truth_buried(truth, (uint16_t)task->context->task, (uint16_t)stream,
                                       (uint64_t)values[LETTER_ID].as.i64, root, ex->now, &emission)
                     : gx_truth_repeated(truth, number, kept->attempts, root, ex->now, &emission);
    if (noted && gx_truth_emitted(truth, emission, values, ex->scratch.targets, deliveries, kept->direct,
                                  task->sim->limited ? -1 : 0) < 0)
        gx_truth_violated(truth, "the simulator has no memory");
}

/* The component's own emit is noted when it returns; only its root is to be seen from here. */
static void see_emit(void *user, const gale_context *context, uint32_t stream, const gale_value *values, size_t count,
                     uint32_t deliveries) {
    const gx_sim_component *component = user;
    gx_sim_task *task = component->sim->tasks[context->task];
    gx_truth *truth = &component->sim->truth;
    const gx_executor *ex = engine_task(task)->executor;
    bool letter = stream == component->built->output_count;
    uint64_t number = letter ? gx_truth_letter_number(truth, (uint64_t)values[LETTER_ID].as.i64)
                             : (uint64_t)values[count - 1].as.i64;
    uint64_t tree = letter ? (uint64_t)values[LETTER_ID].as.i64 : tree_of(truth, number);
    uint32_t slot = find_slot(ex, (uint16_t)context->task, tree, letter);
    if (slot == UINT32_MAX) {
        if (!task->sending) gx_truth_violated(truth, "the engine emitted for task %u, of no open tree", context->task);
    } else if (task->sending) {
        truth->emissions[number].root = gx_ledger_root(&ex->ledger, gx_ledger_at(&ex->ledger, slot), slot);
    } else {
        note_engines(task, slot, stream, values, number, letter, deliveries);
    }
}

gale_hook gx_sim_spout_hook(gx_sim_component *component) {
    return (gale_hook){ .size = sizeof(gale_hook), .user = component, .emit = see_emit };
}

/* --- What faults keep --- */

static size_t release(gx_sim_task *task, int64_t now) {
    size_t released = 0;
    task->due = INT64_MAX;
    for (uint32_t i = task->kept_count; i-- > 0;) {
        gx_sim_kept *kept = task->kept[i];
        if (kept->due > now) {
            if (kept->due < task->due) task->due = kept->due;
            continue;
        }
        gx_sim_answer(task, kept, !kept->fails, GALE_REASON_USER, "drawn to fail later");
        released++;
    }
    return released;
}

size_t gx_sim_release(gx_sim *sim, gx_executor *ex) {
    int64_t now = ex->shared->clock.now(ex->shared->clock.user);
    size_t released = 0;
    for (uint32_t i = 0; i < ex->task_count; i++) {
        gx_sim_task *task = ex->tasks[i]->id < sim->task_capacity ? sim->tasks[ex->tasks[i]->id] : NULL;
        if (task && task->due <= now) released += release(task, now);
    }
    return released;
}

int64_t gx_sim_release_due(const gx_sim *sim) {
    int64_t due = INT64_MAX;
    for (size_t i = 0; i < sim->task_capacity; i++)
        if (sim->tasks[i] && sim->tasks[i]->due < due) due = sim->tasks[i]->due;
    return due;
}

void gx_sim_pass_time(gx_sim *sim, int64_t mean) {
    int64_t scale = gx_random_below(&sim->random, 16) ? mean : 20 * mean;
    gale_manual_clock_advance(sim->clock, (int64_t)(gx_random_next(&sim->random) % (uint64_t)(2 * scale)));
}
