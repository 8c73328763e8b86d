#include "engine/rest.h"

#include "base/assert.h"
#include "engine/waiting.h"

/* What is written, and the first error. */
typedef struct writer {
    gx_executor *ex;
    gx_buf *records;
    int rc;
} writer;

static void add(writer *to, const gale_value *values, size_t count) {
    if (to->rc == GALE_OK) to->rc = gx_record_add(to->records, values, count);
}

static gale_value number(uint64_t n) {
    return gale_i64((int64_t)n);
}

static gale_value place_of(const gx_task *task, gale_value *ret_index) {
    *ret_index = number(task->context.task_index);
    return number(task->component);
}

static gale_value roots_of(gx_roots roots) {
    return gale_bytes(roots.pairs, roots.count * sizeof *roots.pairs);
}

static gale_value body_of(const gale_body *body) {
    return gale_bytes(body, gx_body_size(body));
}

/* --- Tuples --- */

static void save_row(writer *to, const gx_batch *batch, const gale_head *head) {
    gx_task *const *tasks = to->ex->shared->tasks;
    gale_value v[GX_REST_ROW_VALUES] = { number(GX_REST_ROW) };
    v[1] = place_of(tasks[batch->source], &v[2]);
    v[3] = number(head->stream);
    v[4] = place_of(tasks[batch->target], &v[5]);
    v[6] = gale_i64(gx_row_deadline(head));
    v[7] = roots_of(gx_row_roots(head));
    v[8] = body_of(gx_row_body(head));
    add(to, v, GX_REST_ROW_VALUES);
}

/* Ticks come again by the clock, but for one whose emission has begun: what is behind it comes behind the rest of that. */
static void save_tick(writer *to, const gx_batch *batch) {
    gx_task *task = to->ex->shared->tasks[batch->target];
    const gx_batch_list *first = task->more ? gx_waiting_first(task) : NULL;
    if (!first || first->head != batch) return;
    gale_value v[GX_REST_TICK_VALUES] = { number(GX_REST_TICK) };
    v[1] = place_of(task, &v[2]);
    add(to, v, GX_REST_TICK_VALUES);
}

static void save_batch(writer *to, const gx_batch *batch) {
    if (batch->source == 0) {
        save_tick(to, batch);
        return;
    }
    for (const gale_head *head = gx_batch_front(batch); head; head = gx_batch_next(batch, head))
        save_row(to, batch, head);
}

static void save_list(writer *to, const gx_batch_list *list) {
    for (const gx_batch *batch = list->head; batch; batch = batch->next) save_batch(to, batch);
}

/* The one with the lowest number of those that are next in their lists. */
static const gx_batch **lowest(const gx_batch **parked, gx_lanes *lanes) {
    const gx_batch **first = *parked ? parked : NULL;
    for (uint32_t i = 0; i < lanes->count; i++) {
        const gx_batch **at = &lanes->list[i].saved;
        if (*at && (!first || (*at)->number < (*first)->number)) first = at;
    }
    return first;
}

static void save_lanes(writer *to, gx_task *task) {
    const gx_batch *parked = task->parked.head, **next;
    for (uint32_t i = 0; i < task->lanes->count; i++) task->lanes->list[i].saved = task->lanes->list[i].list.head;
    while ((next = lowest(&parked, task->lanes)) != NULL) {
        save_batch(to, *next);
        *next = (*next)->next;
    }
}

static void save_waiting(writer *to, gx_task *task) {
    if (task->lanes)
        save_lanes(to, task);
    else
        save_list(to, &task->parked);
}

static void save_held(writer *to, gx_task *task, uint32_t index) {
    const gx_held_slot *slot = &task->held.slots[index];
    const gale_tuple *tuple = gx_held_tuple(slot);
    gale_value v[GX_REST_HELD_VALUES] = { number(GX_REST_HELD) };
    v[1] = place_of(task, &v[2]);
    v[3] = number(tuple->handle);
    v[4] = number(slot->ack);
    v[5] = gale_bool(slot->failed);
    v[6] = place_of(to->ex->shared->tasks[tuple->source], &v[7]);
    v[8] = number(tuple->head->stream);
    v[9] = gale_i64(gx_row_deadline(tuple->head));
    v[10] = roots_of(gx_row_roots(tuple->head));
    v[11] = body_of(tuple->body);
    add(to, v, GX_REST_HELD_VALUES);
}

static void save_slots(writer *to, gx_task *task) {
    gx_buf generations = GX_BUF_INIT(to->ex->heap);
    for (uint32_t i = 0; i < task->held.made; i++)
        gx_buf_add(&generations, &task->held.slots[i].generation, sizeof(uint32_t));
    gale_value v[GX_REST_SLOTS_VALUES] = { number(GX_REST_SLOTS) };
    v[1] = place_of(task, &v[2]);
    v[3] = gale_bytes(generations.data, generations.size);
    if (generations.failed)
        to->rc = GALE_NO_MEMORY;
    else
        add(to, v, GX_REST_SLOTS_VALUES);
    gx_buf_fini(&generations);
}

/* What is held by a system's tick is none's. */
static void save_all_held(writer *to, gx_task *task) {
    if (!task->held.made) return;
    save_slots(to, task);
    for (uint32_t i = 0; i < task->held.made; i++) {
        const gx_held_slot *slot = &task->held.slots[i];
        if (!slot->copy) continue;
        if (gx_held_tuple(slot)->source && !GX_MUTANT(held_not_saved)) save_held(to, task, i);
    }
}

/* --- Trees --- */

static void save_tree(writer *to, uint32_t slot) {
    const gx_ledger *ledger = &to->ex->ledger;
    gx_task *const *tasks = to->ex->shared->tasks;
    const gx_tree *tree = gx_ledger_at(ledger, slot);
    const gx_tree_mark *mark = gx_ledger_mark(ledger, slot);
    const gx_retained *kept = gx_retention_at(&to->ex->retention, slot);
    bool open = gx_tree_is_open(tree);
    gale_value v[GX_REST_TREE_KEPT_VALUES] = { number(GX_REST_TREE) };
    v[1] = place_of(tasks[mark->task], &v[2]);
    v[3] = number(open ? tree->root : 0); /* 0: it waits to be emitted again */
    v[4] = number(open ? tree->xor_ : 0);
    v[5] = number(tree->message_id);
    v[6] = gale_i64(open && mark->touched ? to->ex->now : tree->start);
    v[7] = gale_bool(kept != NULL);
    if (kept) {
        v[8] = number(kept->attempts);
        v[9] = gale_i64(kept->first);
        v[10] = number(kept->stream);
        v[11] = kept->direct ? place_of(tasks[kept->direct], &v[12]) : gale_i64(-1);
        if (!kept->direct) v[12] = number(0);
        v[13] = gale_bool(kept->letter);
        v[14] = body_of((const gale_body *)kept->body->bytes);
    }
    add(to, v, kept ? GX_REST_TREE_KEPT_VALUES : GX_REST_TREE_VALUES);
}

static void save_trees(writer *to) {
    const gx_ledger *ledger = &to->ex->ledger;
    GX_CHECK(!gx_ledger_has_answers(ledger));
    for (uint32_t slot = 0; slot < ledger->slots && to->rc == GALE_OK; slot++) {
        gx_tree_state state = gx_ledger_state(ledger, slot);
        if (state == GX_TREE_OPEN || state == GX_TREE_EXPIRING || state == GX_TREE_WAITING) save_tree(to, slot);
    }
}

static void save_acker_record(void *user, uint64_t root, uint64_t edges, bool begun, bool failed) {
    gale_value v[GX_REST_ACKER_VALUES] = { number(GX_REST_ACKER), number(root), number(edges), gale_bool(begun),
                                           gale_bool(failed) };
    add(user, v, GX_REST_ACKER_VALUES);
}

/* --- Commands --- */

static void save_command(void *user, gx_inbox_name queue, const gx_command *command) {
    writer *to = user;
    gale_value v[GX_REST_COMMAND_VALUES] = { number(GX_REST_COMMAND), number(queue) };
    v[2] = place_of(to->ex->shared->tasks[command->task], &v[3]);
    v[4] = number(command->kind);
    v[5] = number(command->stream);
    v[6] = gale_i64(command->reason);
    v[7] = number(command->id);
    v[8] = gale_bytes(gx_command_anchors(command), command->anchor_count * sizeof(gale_handle));
    v[9] = gale_bytes(gx_command_body(command), command->body_size);
    v[10] = gale_bool(command->kind == GX_COMMAND_FAIL);
    add(to, v, GX_REST_COMMAND_VALUES);
}

/* --- All --- */

static void save_task(writer *to, gx_task *task) {
    gale_value v[GX_REST_TASK_VALUES] = { number(GX_REST_TASK) };
    if (task->is_acker) {
        gx_acker_each(&task->acker, save_acker_record, to);
        return;
    }
    v[1] = place_of(task, &v[2]);
    v[3] = number(task->random.state);
    v[4] = number(task->random.gamma);
    v[5] = gale_i64(task->tick.period ? task->tick.due : 0);
    add(to, v, GX_REST_TASK_VALUES);
    save_waiting(to, task);
    save_all_held(to, task);
}

int gx_rest_save(gx_executor *ex, gx_buf *records) {
    writer to = { ex, records, GALE_OK };
    if (ex->has_ledger) save_trees(&to);
    for (uint32_t i = 0; i < ex->task_count; i++) save_task(&to, ex->tasks[i]);
    save_list(&to, &ex->local);
    gx_inbox_each(ex->inbox, save_command, &to);
    return to.rc;
}
