#include "sim/spout.h"

#include <stdio.h>

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const gx_sim_component *component = user;
    gx_sim_task *task = gx_sim_task_new(component, context, out);
    if (!task) return GALE_NO_MEMORY;
    const gale_spout_ops *ops = &component->built->spout;
    int rc = gx_sim_opens(task);
    gx_sim_enter(task);
    if (rc == GALE_OK && ops->open && !component->generated)
        rc = ops->open(component->built->user, context, &task->out, &task->self);
    gx_sim_leave(task);
    if (rc < 0)
        gx_sim_task_free(task);
    else
        *ret_self = task;
    return rc;
}

static void spout_call(gx_sim_task *task, gx_sim_call call, void (*function)(void *self)) {
    gx_sim_enter_for(task, call);
    if (function && !task->component->generated) function(task->self);
    gx_sim_leave(task);
}

static void spout_activate(void *self) {
    gx_sim_task *task = self;
    spout_call(task, GX_SIM_CALL_ACTIVATE, task->component->built->spout.activate);
}

static void spout_deactivate(void *self) {
    gx_sim_task *task = self;
    spout_call(task, GX_SIM_CALL_DEACTIVATE, task->component->built->spout.deactivate);
}

static void spout_close(void *self) {
    gx_sim_task *task = self;
    spout_call(task, GX_SIM_CALL_CLOSE, task->component->built->spout.close);
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
    gx_sim_enter_for(task, GX_SIM_CALL_NEXT);
    gx_sim_disturb(task);
    int rc = next(task, wait);
    gx_sim_leave(task);
    return rc;
}

/* What is told to have failed is not open any more. */
static void check_closed(gx_sim_task *task, uint64_t tree) {
    gx_executor *ex = gx_sim_engine_task(task)->executor;
    for (uint32_t slot = 0; slot < ex->ledger.slots; slot++) {
        const gx_tree *entry = gx_ledger_at(&ex->ledger, slot);
        uint16_t spout = gx_ledger_mark(&ex->ledger, slot)->task;
        if (!gx_tree_is_open(entry) || entry->message_id != tree || spout != task->context->task) continue;
        const gx_retained *kept = gx_retention_at(&ex->retention, slot);
        if (kept && kept->letter) continue;
        gx_oracle_violated(&task->sim->oracle, "tree %llu of task %u has failed, but is open again in its ledger",
                           (unsigned long long)tree, task->context->task);
    }
}

/* An entry that is answered wrongly may be among the answers twice, where its link was overwritten: the engine must not
 * follow it, the run ends here. */
static const gx_sim_tree *hear(gx_sim_task *task, uint64_t tree, const gale_failure *failure) {
    if (failure) check_closed(task, tree);
    const gx_sim_tree *heard = gx_oracle_answered(&task->sim->oracle, (uint16_t)task->context->task, tree, failure,
                                                  gale_context_now(task->context));
    gx_ledger *ledger = &gx_sim_engine_task(task)->executor->ledger;
    if (!gx_oracle_holds(&task->sim->oracle)) ledger->ended_head = ledger->ended_tail;
    return heard;
}

/* Of a tree, or of a remote's command that began none. */
static bool hear_failure(gx_sim_task *task, uint64_t number, const gale_failure *failure, uint64_t *ret_message_id) {
    if (number & GX_BOOK_ID) {
        *ret_message_id = gx_book_told(&task->sim->book, (uint16_t)task->id, number, failure);
        return gx_oracle_holds(&task->sim->oracle);
    }
    gx_task *engine = gx_sim_engine_task(task);
    task->sim->oracle.ending |= gx_phase(engine->executor->shared) >= GALE_PHASE_CLOSING;
    const gx_sim_tree *tree = hear(task, number, failure);
    if (tree) *ret_message_id = tree->message_id;
    if (tree && failure->final && engine->executor->shared->plan->dead_letters_file.size)
        gx_sim_letters_told(&task->sim->letters, task->context->component, number);
    return tree != NULL;
}

static void spout_ack(void *self, uint64_t number) {
    gx_sim_task *task = self;
    const gale_spout_ops *ops = &task->component->built->spout;
    gx_sim_enter_for(task, GX_SIM_CALL_ANSWER);
    const gx_sim_tree *tree = hear(task, number, NULL);
    if (tree && ops->ack && !task->component->generated) ops->ack(task->self, tree->message_id);
    gx_sim_leave(task);
}

/* Heard one by one, and told at once. */
static void spout_ack_batch(void *self, const uint64_t *numbers, size_t count) {
    gx_sim_task *task = self;
    gx_sim_enter_for(task, GX_SIM_CALL_ANSWER);
    gx_oracle *oracle = &task->sim->oracle;
    if (!count) gx_oracle_violated(oracle, "task %u was told of no acks at once", task->id);
    if (!gx_grow(&task->sim->heap, GX_TAG_OTHER, &task->told, &task->told_capacity, count, sizeof *task->told))
        gx_oracle_violated(oracle, "the simulator has no memory");
    size_t heard = 0;
    for (size_t i = 0; i < count && gx_oracle_holds(oracle); i++) {
        const gx_sim_tree *tree = hear(task, numbers[i], NULL);
        if (tree) task->told[heard++] = tree->message_id;
    }
    if (heard) task->component->built->spout.ack_batch(task->self, task->told, heard);
    gx_sim_leave(task);
}

static void spout_fail(void *self, uint64_t number, const gale_failure *failure) {
    gx_sim_task *task = self;
    const gale_spout_ops *ops = &task->component->built->spout;
    gx_sim_enter_for(task, GX_SIM_CALL_ANSWER);
    uint64_t message_id;
    if (hear_failure(task, number, failure, &message_id) && ops->fail && !task->component->generated)
        ops->fail(task->self, message_id, failure);
    gx_sim_leave(task);
}

/* By whether the component is told of acks one by one, or at once. */
#define OPS(ack_, ack_batch_)                                                                                          \
    {                                                                                                                  \
        .size = sizeof(gale_spout_ops), .name = "sim", .open = spout_open, .activate = spout_activate,                 \
        .next = spout_next, .ack = (ack_), .fail = spout_fail, .deactivate = spout_deactivate, .close = spout_close,   \
        .ack_batch = (ack_batch_)                                                                                      \
    }

gale_spout gx_sim_spout(gx_sim_component *component) {
    static const gale_spout_ops tables[2] = { OPS(spout_ack, NULL), OPS(NULL, spout_ack_batch) };
    bool at_once = component->built->spout.ack_batch && !component->generated;
    return (gale_spout){ .size = sizeof(gale_spout), .ops = &tables[at_once], .user = component };
}

/* --- What the engine emits on a spout's behalf --- */

/* The open tree with this message id: its slot, or UINT32_MAX. */
static uint32_t find_slot(const gx_executor *ex, uint16_t task, uint64_t message_id, bool letter) {
    for (uint32_t slot = 0; slot < ex->ledger.slots; slot++) {
        const gx_tree *tree = gx_ledger_at(&ex->ledger, slot);
        if (gx_ledger_state(&ex->ledger, slot) != GX_TREE_OPEN || tree->message_id != message_id) continue;
        if (gx_ledger_mark(&ex->ledger, slot)->task != task) continue;
        const gx_retained *kept = gx_retention_at(&ex->retention, slot);
        if (kept && kept->letter == letter) return slot;
    }
    return UINT32_MAX;
}

/* The tree whose tuple has this number, or which this dead letter is about. */
static uint64_t tree_of(const gx_oracle *oracle, uint64_t number) {
    if (number >= oracle->emission_count || oracle->emissions[number].tree_count != 1) return UINT64_MAX;
    return oracle->trees[oracle->tree_list[oracle->emissions[number].first_tree]].first;
}

/* An attempt of a tuple or a dead letter. Whether it found queues at their limit cannot be told from here. */
static void note_engines(gx_sim_task *task, uint32_t slot, uint32_t stream, const gale_value *values, uint64_t number,
                         bool letter, uint32_t deliveries) {
    gx_oracle *oracle = &task->sim->oracle;
    const gx_executor *ex = gx_sim_engine_task(task)->executor;
    const gx_retained *kept = gx_retention_at(&ex->retention, slot);
    uint64_t root = gx_ledger_root(&ex->ledger, slot);
    uint32_t emission;
    bool noted = letter && kept->attempts == 1
                     ? gx_oracle_buried(oracle, (uint16_t)task->context->task, (uint16_t)stream,
                                        (uint64_t)values[GX_SIM_LETTER_ID].as.i64, root, ex->now, &emission)
                     : gx_oracle_repeated(oracle, number, kept->attempts, root, ex->now, &emission);
    if (noted && gx_oracle_emitted(oracle, emission, values, ex->scratch.targets, deliveries, kept->direct,
                                   task->sim->limited ? -1 : 0) < 0)
        gx_oracle_violated(oracle, "the simulator has no memory");
}

/* The component's own emit is noted when it returns; only its root is to be seen from here. */
static void see_emit(void *user, const gale_context *context, uint32_t stream, const gale_value *values, size_t count,
                     uint32_t deliveries) {
    const gx_sim_component *component = user;
    gx_sim_task *task = component->sim->tasks[context->task];
    gx_oracle *oracle = &component->sim->oracle;
    const gx_executor *ex = gx_sim_engine_task(task)->executor;
    bool letter = stream == component->built->output_count;
    uint64_t number = letter ? gx_oracle_letter_number(oracle, (uint64_t)values[GX_SIM_LETTER_ID].as.i64)
                             : gx_sim_number_read(gx_sim_folds(component, stream), &values[count - 1]);
    uint64_t tree = letter ? (uint64_t)values[GX_SIM_LETTER_ID].as.i64 : tree_of(oracle, number);
    uint32_t slot = find_slot(ex, (uint16_t)context->task, tree, letter);
    if (slot == UINT32_MAX) {
        if (!task->sending)
            gx_oracle_violated(oracle, "the engine emitted for task %u, of no open tree", context->task);
    } else if (task->sending) {
        oracle->emissions[number].root = gx_ledger_root(&ex->ledger, slot);
    } else {
        note_engines(task, slot, stream, values, number, letter, deliveries);
    }
}

gale_hook gx_sim_spout_hook(gx_sim_component *component) {
    return (gale_hook){ .size = sizeof(gale_hook), .user = component, .emit = see_emit };
}
