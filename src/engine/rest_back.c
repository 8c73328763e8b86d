#include "engine/rest_back.h"

#include "base/assert.h"
#include "base/bits.h"
#include "ds/bytes_map.h"
#include "engine/acks.h"
#include "engine/drop.h"
#include "engine/run.h"
#include "engine/turn.h"
#include "tuple/hash.h"

#include <stdio.h>

static int damaged(gale_error *error, const char *what) {
    return gale_error_set(error, GALE_DAMAGED, "what was left of the work: a record (%s) does not hold", what);
}

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "no memory for what was left of the work");
}

int gx_rest_back_begin(gx_rest_back *back) {
    back->roots = gx_bytes_map_new(&back->shared->heap, sizeof(uint64_t), back->shared->seed);
    return back->roots ? GALE_OK : GALE_NO_MEMORY;
}

void gx_rest_back_end(gx_rest_back *back) {
    gx_bytes_map_free(back->roots);
    back->roots = NULL;
}

/* --- Records --- */

/* Are the values of these types? i: number, b: bool, y: bytes. There may be more. */
static bool are(const gale_value *v, size_t count, const char *types) {
    for (size_t i = 0; types[i]; i++) {
        uint8_t type = types[i] == 'i' ? GALE_TYPE_I64 : types[i] == 'b' ? GALE_TYPE_BOOL : GALE_TYPE_BYTES;
        if (i >= count || v[i].type != type) return false;
    }
    return true;
}

static uint64_t number(const gale_value *v) {
    return (uint64_t)v->as.i64;
}

/* --- Who is meant --- */

/* The component of then that a record names, or NULL. */
static const gx_rest_component *component_of(const gx_rest_back *back, const gale_value *v) {
    uint64_t at = number(v);
    return at < back->component_count && number(v + 1) < back->components[at].tasks ? &back->components[at] : NULL;
}

/* What a stream of a component that is there still is now. False: it has none of that name and those fields. */
static bool stream_now(const gx_rest_component *of, const gale_value *v, uint16_t *ret_stream) {
    *ret_stream = of->streams ? of->streams[number(v)] : (uint16_t)number(v);
    return *ret_stream != GX_REST_NO_STREAM;
}

static bool has_stream(const gx_rest_component *of, const gale_value *v) {
    return number(v) < of->stream_count;
}

/* Whether the input that a tuple was on its way by has changed, or NULL. */
static const gx_rest_input *changed_input(const gx_rest_back *back, const gx_rest_component *to,
                                          const gx_rest_component *from, const gale_value *stream) {
    for (uint32_t i = 0; i < to->input_count; i++)
        if (&back->components[to->inputs[i].from] == from && to->inputs[i].stream == number(stream))
            return &to->inputs[i];
    return NULL;
}

static gx_task *task_at(const gx_rest_back *back, const gx_rest_component *component, uint32_t index) {
    const gx_plan_component *now = &back->shared->plan->components[component->now];
    return back->shared->tasks[now->first_task + index % now->task_count];
}

static bool has_as_many(const gx_rest_back *back, const gx_rest_component *component) {
    return back->shared->plan->components[component->now].task_count == component->tasks;
}

static int refuse_tasks(const gx_rest_back *back, const gx_rest_component *component, const char *what,
                        gale_error *error) {
    return gale_error_set(error, GALE_STATE,
                          "'%s' had %u tasks and has %u now: %s cannot go to another number of tasks; start it with %u",
                          component->name, component->tasks, back->shared->plan->components[component->now].task_count,
                          what, component->tasks);
}

/* What it holds stays with its task, and what it saved does not. */
static int refuse_held(const gx_rest_component *component, gale_error *error) {
    return gale_error_set(error, GALE_STATE,
                          "'%s' holds tuples, and its inputs have another grouping than they had: what is held cannot "
                          "follow it; take the grouping back",
                          component->name);
}

/* Does its component say how to go on, and has it what it needs for that? */
static bool goes_on(const gx_rest_component *component, const gx_task *task) {
    const gale_durable_ops *durable = gx_task_durable(task);
    return durable && durable->restore && !component->anew;
}

/* --- Roots --- */

static gale_str key_of(const uint64_t *root) {
    return (gale_str){ (const char *)root, sizeof *root };
}

static uint64_t root_now(const gx_rest_back *back, uint64_t root) {
    const uint64_t *now = gx_bytes_map_get(back->roots, key_of(&root));
    return now ? *now : 0;
}

static gx_executor *keeper_of(const gx_rest_back *back, uint64_t root) {
    return back->shared->executors[(root >> GX_LEDGER_SHIFT) - 1];
}

/* The roots of a tuple as they are now, in memory of its own; those that no tree has are left out. */
static int take_roots(const gx_rest_back *back, const gale_value *v, gx_roots *ret_roots, size_t *ret_size) {
    size_t count = v->size / sizeof(gx_root);
    if (v->size % sizeof(gx_root)) return GALE_DAMAGED;
    *ret_size = count * sizeof(gx_root);
    *ret_roots = (gx_roots){ NULL, 0 };
    if (!count) return GALE_OK;
    gx_root *pairs = gx_alloc(&back->shared->heap, GX_TAG_OTHER, *ret_size);
    if (!pairs) return GALE_NO_MEMORY;
    memcpy(pairs, v->as.bytes, *ret_size);
    ret_roots->pairs = pairs;
    for (size_t i = 0; i < count; i++) {
        uint64_t now = root_now(back, pairs[i].root);
        if (now) pairs[ret_roots->count++] = (gx_root){ now, pairs[i].edge };
    }
    return GALE_OK;
}

/* --- Trees --- */

/* A tuple that could not be emitted again as it was is not kept: when its tree fails, that is final. */
static int keep(gx_executor *ex, gx_rest_back *back, uint64_t root, const gale_value *v, size_t count) {
    if (!are(v, count, "iiiiiiibiiiiiby") || !ex->retention.segments) return ex->retention.segments ? GALE_DAMAGED : 0;
    gx_retained what = { .first = v[9].as.i64, .attempts = (uint32_t)number(&v[8]), .letter = v[13].as.boolean };
    const gx_rest_component *from = component_of(back, &v[1]);
    if (!has_stream(from, &v[10])) return GALE_DAMAGED;
    if (!stream_now(from, &v[10], &what.stream)) return GALE_OK;
    if (v[11].as.i64 >= 0) {
        const gx_rest_component *direct = component_of(back, &v[11]);
        if (!direct) return GALE_DAMAGED;
        if (direct->now < 0) return GALE_OK;
        what.direct = task_at(back, direct, (uint32_t)number(&v[12]))->id;
    }
    gx_buf body = GX_BUF_INIT(ex->heap);
    gx_buf_add(&body, v[14].as.bytes, v[14].size);
    int rc = body.failed ? GALE_NO_MEMORY : gx_body_fits(body.data, body.size) ? GALE_OK : GALE_DAMAGED;
    const gale_body *kept = (const gale_body *)body.data;
    if (rc == GALE_OK) rc = gx_retention_keep_body(&ex->retention, root, what, kept, body.size);
    gx_buf_fini(&body);
    return rc;
}

/* The sum of a tree: with its ledger, or at an acker task. */
static int give_sum(gx_rest_back *back, uint64_t root, uint64_t sum) {
    const gx_plan *plan = back->shared->plan;
    if (plan->acker_count)
        return gx_acker_restore(&back->shared->tasks[gx_plan_acker(plan, root)]->acker, root, sum, true, false);
    gx_tree *tree = gx_ledger_at(&keeper_of(back, root)->ledger, gx_ledger_slot(root));
    tree->xor_ ^= sum;
    return GALE_OK;
}

static int open_tree(gx_rest_back *back, gx_task *task, const gale_value *v, size_t count) {
    gx_executor *ex = task->executor;
    uint64_t old = number(&v[3]), root;
    bool kept = v[7].as.boolean;
    int rc = gx_ledger_open(&ex->ledger, task->id, number(&v[5]), v[6].as.i64, &root);
    if (rc == GALE_OK && kept) rc = keep(ex, back, root, v, count);
    bool letter = rc == GALE_OK && kept && gx_retention_at(&ex->retention, gx_ledger_slot(root)) &&
                  gx_retention_at(&ex->retention, gx_ledger_slot(root))->letter;
    if (rc != GALE_OK) return rc;
    if (!letter) task->spout.pending++;
    if (old == 0) { /* it waited to be emitted again: it fails again, as often tried as it was */
        gx_ledger_at(&ex->ledger, gx_ledger_slot(root))->xor_ = 1;
        gx_ledger_fail(&ex->ledger, root, GALE_REASON_FAILED, 0, "it waited to be emitted again at the checkpoint");
        return GALE_OK;
    }
    uint64_t *now = gx_bytes_map_put(back->roots, key_of(&old), NULL);
    if (!now) return GALE_NO_MEMORY;
    *now = root;
    return number(&v[4]) ? give_sum(back, root, number(&v[4])) : GALE_OK;
}

/* The tree of a spout that cannot go on is left out: its source gives the message again, or nobody does. */
static int take_tree(gx_rest_back *back, const gale_value *v, size_t count, gale_error *error) {
    const gx_rest_component *from = are(v, count, "iiiiiiib") ? component_of(back, &v[1]) : NULL;
    if (!from) return damaged(error, "tree");
    if (from->now < 0) return GALE_OK;
    gx_task *task = task_at(back, from, (uint32_t)number(&v[2]));
    if (!task->is_spout || !goes_on(from, task) || !back->shared->plan->acking) return GALE_OK;
    if (!has_as_many(back, from) && !(gx_task_durable(task)->flags & GALE_DURABLE_SHARED))
        return refuse_tasks(back, from, "its open tuples", error);
    int rc = open_tree(back, task, v, count);
    if (rc == GALE_NO_MEMORY || rc == GALE_AGAIN) return no_memory(error);
    return rc < 0 ? damaged(error, "tree") : GALE_OK;
}

static int take_acker_record(gx_rest_back *back, const gale_value *v, size_t count, gale_error *error) {
    if (!are(v, count, "iiibb")) return damaged(error, "acker");
    uint64_t root = root_now(back, number(&v[1]));
    if (!root || v[4].as.boolean) return GALE_OK;
    return give_sum(back, root, number(&v[2])) < 0 ? no_memory(error) : GALE_OK;
}

/* --- What cannot arrive --- */

/* Its trees fail, so that they begin again, or are given up aloud. `task` 0: nowhere that there is now. */
static void begin_again(gx_rest_back *back, uint32_t task, gx_roots roots, const char *text) {
    for (uint64_t i = 0; i < roots.count; i++) {
        gx_ledger *ledger = &keeper_of(back, roots.pairs[i].root)->ledger;
        if (!gx_ledger_peek(ledger, roots.pairs[i].root)) continue;
        gx_ledger_fail(ledger, roots.pairs[i].root, GALE_REASON_FAILED, (uint16_t)task, text);
        back->again++;
    }
}

/* A tuple that was for `to`, and has nowhere to go: what nobody would have taken anything of is done. */
static int drop(gx_rest_back *back, const gx_rest_component *to, const gale_value *roots, uint64_t ack) {
    char text[GALE_FAILURE_TEXT];
    gx_roots of;
    size_t size;
    int rc = take_roots(back, roots, &of, &size);
    if (rc < 0) return rc;
    snprintf(text, sizeof text, "it was on its way to '%s', which has changed since the checkpoint", to->name);
    back->dropped++;
    if (to->now < 0 && !to->feeds) {
        if (of.count) gx_acks_ack(back->shared->executors[0], of, ack);
    } else {
        begin_again(back, 0, of, text);
    }
    gx_free(&back->shared->heap, GX_TAG_OTHER, of.pairs, size);
    return GALE_OK;
}

/* --- Rows --- */

/* A tuple as it was saved. */
typedef struct saved_tuple {
    gx_roots roots;
    size_t root_size; /* bytes of the memory that they lie in */
    int64_t deadline;
    const gale_value *body;
    uint16_t stream;
} saved_tuple;

static gx_block *block_of(gx_blocks *blocks, const void *bytes, size_t size) {
    gx_block *block = gx_block_take(blocks, size);
    if (block) memcpy(block->bytes, bytes, size);
    return block;
}

static bool put_roots(gx_executor *ex, gale_head *head, gx_roots roots) {
    if (roots.count <= GX_ROOTS_INLINE) {
        head->roots = (uint8_t)roots.count;
        if (roots.count) memcpy(head + 1, roots.pairs, roots.count * sizeof *roots.pairs);
        return true;
    }
    gx_block *block = gx_block_take(&ex->blocks, sizeof(gx_root_block) + roots.count * sizeof(gx_root));
    if (!block) return false;
    gx_root_block *many = (gx_root_block *)block->bytes;
    many->count = roots.count;
    memcpy(many->pairs, roots.pairs, roots.count * sizeof *roots.pairs);
    head->roots = GX_ROOTS_IN_BLOCK;
    memcpy(head + 1, &block, sizeof block);
    return true;
}

/* Writes the row, which has so many bytes. False: no memory, and nothing is to be given back. */
static bool put_row(gx_executor *ex, unsigned char *at, uint32_t length, const saved_tuple *tuple) {
    gale_head *head = (gale_head *)at;
    *head = (gale_head){ length, tuple->stream, 0, tuple->deadline ? GX_ROW_DEADLINE : 0 };
    if (!put_roots(ex, head, tuple->roots)) return false;
    if (tuple->deadline) memcpy(gx_row_behind_roots(head), &tuple->deadline, 8);
    unsigned char *tail = gx_row_tail(head);
    if (tuple->body->size <= GX_BODY_INLINE) {
        memcpy(tail, tuple->body->as.bytes, tuple->body->size);
        return true;
    }
    gx_block *block = block_of(&ex->blocks, tuple->body->as.bytes, tuple->body->size);
    if (!block) {
        gx_row_release(head, &ex->blocks);
        return false;
    }
    head->flags |= GX_ROW_BODY_IN_BLOCK;
    memcpy(tail, &block, sizeof block);
    gx_store64(tail + 8, tuple->body->size);
    return true;
}

static uint32_t length_of(const saved_tuple *tuple) {
    return gx_row_length(tuple->roots.count, tuple->body->size, tuple->deadline != 0);
}

/* v: deadline, roots, body. */
static int take_tuple(const gx_rest_back *back, uint16_t stream, const gale_value *v, saved_tuple *ret) {
    *ret = (saved_tuple){ .deadline = v[0].as.i64, .body = &v[2], .stream = stream };
    return take_roots(back, &v[1], &ret->roots, &ret->root_size);
}

static void drop_tuple(const gx_rest_back *back, saved_tuple *tuple) {
    gx_free(&back->shared->heap, GX_TAG_OTHER, tuple->roots.pairs, tuple->root_size);
}

static int queue_row(gx_task *source, gx_task *target, const saved_tuple *tuple) {
    gx_executor *ex = target->executor;
    const gx_plan_drop *drop = target->plan->drop_count ? gx_drop_find(target, source->id, tuple->stream) : NULL;
    uint32_t length = length_of(tuple);
    gx_turn_take(ex, source);
    uint64_t limit = ex->shared->queue_limit;
    ex->shared->queue_limit = UINT64_MAX; /* what was taken stays taken */
    int rc = gx_turn_make_room(ex, target, drop, length);
    ex->shared->queue_limit = limit;
    if (rc == GX_TURN_DROPPED) { /* the queue is full as it is packed now */
        gx_drop_count(ex, target, drop, 1);
        if (tuple->roots.count) gx_acks_ack(ex, tuple->roots, 0);
        return GALE_OK;
    }
    if (rc != GALE_OK) return GALE_NO_MEMORY;
    unsigned char *at = ex->open[target->id].at;
    if (!put_row(ex, at, length, tuple)) return GALE_NO_MEMORY;
    if (!gx_body_fits(gx_row_body((gale_head *)at), tuple->body->size)) {
        gx_row_release((gale_head *)at, &ex->blocks);
        return GALE_DAMAGED;
    }
    gx_turn_written(ex, target, length, gx_row_block_bytes((gale_head *)at));
    return GALE_OK;
}

static const gx_plan_edge *edge_of(const gx_plan *plan, uint16_t source, uint16_t stream, uint16_t target) {
    const gx_plan_component *from = &plan->components[source];
    if (stream >= from->stream_count) return NULL;
    for (uint32_t i = 0; i < from->streams[stream].edge_count; i++)
        if (from->streams[stream].edges[i].component == target) return &from->streams[stream].edges[i];
    return NULL;
}

/* Where fields grouping brings the tuple now. */
static uint32_t index_by_fields(const gx_plan_edge *edge, const gale_value *bytes, gale_value *values) {
    const gale_body *body = (const gale_body *)bytes->as.bytes;
    uint64_t hash = 0;
    for (uint32_t i = 0; i < edge->field_count; i++) {
        values[0] = gale_body_value(body, edge->fields[i]);
        uint64_t one = gx_values_hash_all(values, 1);
        hash = i ? gx_hash_mix(hash, one) : one;
    }
    return gx_hash_below(hash, edge->task_count);
}

/* The task that the row goes to now, when its component has another number of them. NULL: it cannot be said. */
static gx_task *task_by_grouping(const gx_rest_back *back, const gx_plan_edge *edge, const gx_rest_component *to,
                                 uint32_t index, const gale_value *bytes) {
    gale_value one;
    if (!edge || edge->grouping == GALE_GROUPING_ALL || edge->grouping == GALE_GROUPING_DIRECT ||
        edge->grouping == GALE_GROUPING_CUSTOM)
        return NULL;
    if (edge->grouping == GALE_GROUPING_FIELDS) index = index_by_fields(edge, bytes, &one);
    if (edge->grouping == GALE_GROUPING_GLOBAL) index = 0;
    return task_at(back, to, index);
}

/* Where a row goes now; `*ret_target` NULL: nowhere. */
static int target_of(const gx_rest_back *back, const gx_rest_component *from, const gx_rest_component *to,
                     uint16_t stream, const gale_value *v, gx_task **ret_target, gale_error *error) {
    const gx_rest_input *changed = changed_input(back, to, from, &v[3]);
    uint32_t index = (uint32_t)number(&v[5]);
    *ret_target = task_at(back, to, index);
    if (!changed && has_as_many(back, to)) return GALE_OK;
    if (!gx_body_fits(v[8].as.bytes, v[8].size)) return damaged(error, "row");
    const gx_plan_edge *edge = edge_of(back->shared->plan, (uint16_t)from->now, stream, (uint16_t)to->now);
    *ret_target = changed && changed->again ? NULL : task_by_grouping(back, edge, to, index, &v[8]);
    if (*ret_target || changed) return GALE_OK;
    return refuse_tasks(back, to, "a tuple that waits for one of them", error);
}

static int bring_row(gx_rest_back *back, const gx_rest_component *from, const gx_rest_component *to,
                     const gale_value *v, gale_error *error) {
    gx_task *target = NULL;
    uint16_t stream;
    bool can = from->now >= 0 && to->now >= 0 && stream_now(from, &v[3], &stream);
    int rc = can ? target_of(back, from, to, stream, v, &target, error) : GALE_OK;
    if (rc < 0) return rc;
    if (!target) return drop(back, to, &v[7], 0);
    saved_tuple tuple;
    rc = take_tuple(back, stream, &v[6], &tuple);
    if (rc == GALE_OK) rc = queue_row(task_at(back, from, (uint32_t)number(&v[2])), target, &tuple);
    drop_tuple(back, &tuple);
    return rc;
}

static int take_row(gx_rest_back *back, const gale_value *v, size_t count, gale_error *error) {
    bool right = are(v, count, "iiiiiiiyy");
    const gx_rest_component *from = right ? component_of(back, &v[1]) : NULL;
    const gx_rest_component *to = right ? component_of(back, &v[4]) : NULL;
    if (!from || !to || !has_stream(from, &v[3])) return damaged(error, "row");
    int rc = bring_row(back, from, to, v, error);
    return rc == GALE_DAMAGED ? damaged(error, "row") : rc == GALE_NO_MEMORY ? no_memory(error) : rc;
}

/* --- What is held --- */

static int take_slots(gx_rest_back *back, const gale_value *v, size_t count, gale_error *error) {
    const gx_rest_component *of = are(v, count, "iiiy") ? component_of(back, &v[1]) : NULL;
    if (!of || v[3].size % sizeof(uint32_t)) return damaged(error, "slots");
    if (of->now < 0 || !has_as_many(back, of)) return GALE_OK;
    gx_task *task = task_at(back, of, (uint32_t)number(&v[2]));
    int rc = gx_held_restore_slots(&task->held, task->executor->heap, v[3].as.bytes, v[3].size / sizeof(uint32_t));
    return rc == GALE_DAMAGED ? damaged(error, "slots") : rc < 0 ? no_memory(error) : GALE_OK;
}

static int hold(gx_task *task, gx_task *source, const gale_value *v, const saved_tuple *tuple) {
    gx_executor *ex = task->executor;
    uint32_t length = length_of(tuple);
    size_t room = gx_align_up(length, 16);
    unsigned char *row = gx_alloc(ex->heap, GX_TAG_OTHER, room);
    if (!row) return GALE_NO_MEMORY;
    int rc = put_row(ex, row, length, tuple) ? GALE_OK : GALE_NO_MEMORY;
    gale_head *head = (gale_head *)row;
    gale_tuple view = { gx_row_body(head), head, &ex->shared->plan->schema, 0, source->id, head->stream };
    if (rc == GALE_OK) {
        rc = gx_body_fits(view.body, tuple->body->size) ? GALE_OK : GALE_DAMAGED;
        if (rc == GALE_OK)
            rc = gx_held_restore(&task->held, &ex->blocks, number(&v[3]), &view, number(&v[4]), v[5].as.boolean);
        gx_row_release(head, &ex->blocks);
    }
    gx_free(ex->heap, GX_TAG_OTHER, row, room);
    return rc;
}

/* It stays with its task, if that can say that it held it. */
static int bring_held(gx_rest_back *back, const gx_rest_component *of, const gx_rest_component *from,
                      const gale_value *v, gale_error *error) {
    gx_task *task = of->now < 0 ? NULL : task_at(back, of, (uint32_t)number(&v[2]));
    bool stays = task && goes_on(of, task);
    uint16_t stream;
    if (stays && !has_as_many(back, of)) return refuse_tasks(back, of, "a tuple that one of them holds", error);
    if (stays && of->regrouped && gx_task_durable(task)->flags & GALE_DURABLE_PARTS) return refuse_held(of, error);
    if (!task || from->now < 0 || !stream_now(from, &v[8], &stream)) return drop(back, of, &v[10], number(&v[4]));
    saved_tuple tuple;
    int rc = take_tuple(back, stream, &v[9], &tuple);
    if (rc == GALE_OK && !stays) {
        char text[GALE_FAILURE_TEXT];
        snprintf(text, sizeof text, "'%s' held it when the run ended, and does not save what it holds",
                 task->context.component);
        begin_again(back, task->id, tuple.roots, text);
    } else if (rc == GALE_OK) {
        rc = hold(task, task_at(back, from, (uint32_t)number(&v[7])), v, &tuple);
    }
    drop_tuple(back, &tuple);
    return rc;
}

static int take_held(gx_rest_back *back, const gale_value *v, size_t count, gale_error *error) {
    bool right = are(v, count, "iiiiibiiiiyy");
    const gx_rest_component *of = right ? component_of(back, &v[1]) : NULL;
    const gx_rest_component *from = right ? component_of(back, &v[6]) : NULL;
    if (!of || !from || !has_stream(from, &v[8])) return damaged(error, "held");
    int rc = bring_held(back, of, from, v, error);
    return rc == GALE_DAMAGED ? damaged(error, "held") : rc == GALE_NO_MEMORY ? no_memory(error) : rc;
}

/* --- Commands, and tasks --- */

static int put_command(gx_task *task, uint32_t stream, const gale_value *v) {
    gx_executor *ex = task->executor;
    size_t anchors = v[8].size / sizeof(gale_handle);
    gx_command head = { .task = task->id,
                        .kind = (uint8_t)number(&v[4]),
                        .stream = stream,
                        .reason = (int32_t)v[6].as.i64,
                        .id = number(&v[7]),
                        .anchor_count = (uint32_t)anchors };
    gx_buf copy = GX_BUF_INIT(ex->heap);
    gx_buf_add(&copy, v[8].as.bytes, v[8].size);
    size_t body_at = copy.size;
    gx_buf_add(&copy, v[9].as.bytes, v[9].size);
    gx_buf_add_byte(&copy, '\0');
    const gale_body *body = (const gale_body *)(copy.data + body_at);
    bool fails = v[10].as.boolean, has_body = !fails && v[9].size;
    int rc = copy.failed ? GALE_NO_MEMORY : has_body && !gx_body_fits(body, v[9].size) ? GALE_DAMAGED : GALE_OK;
    gx_command_content what = { .anchors = (const gale_handle *)copy.data };
    if (has_body) what.body = body;
    if (has_body) what.body_size = v[9].size;
    if (fails) what.text = (const char *)body;
    if (rc == GALE_OK)
        rc = gx_inbox_put(ex->inbox, number(&v[1]) ? GX_INBOX_BOLTS : GX_INBOX_SPOUTS, head, &what,
                          &task->counters.held);
    gx_buf_fini(&copy);
    return rc;
}

/* What it emits to now, if it emits. False: that stream is there no more. */
static bool command_stream(const gx_rest_component *of, const gale_value *v, uint32_t *ret_stream) {
    uint16_t now;
    *ret_stream = (uint32_t)number(&v[5]);
    bool answers = number(&v[4]) == GX_COMMAND_ACK || number(&v[4]) == GX_COMMAND_FAIL;
    if (answers || !of->streams || !has_stream(of, &v[5])) return true;
    bool there = stream_now(of, &v[5], &now);
    *ret_stream = now;
    return there;
}

/* A spout that is fed by remotes hears of its tuples from whoever feeds it now. */
static int take_command(gx_rest_back *back, const gale_value *v, size_t count, gale_error *error) {
    bool right = are(v, count, "iiiiiiiiyyb") && v[8].size % sizeof(gale_handle) == 0 &&
                 number(&v[4]) < GX_COMMAND_KINDS;
    const gx_rest_component *of = right ? component_of(back, &v[2]) : NULL;
    if (!of) return damaged(error, "command");
    uint32_t stream;
    if (of->now < 0 || !has_as_many(back, of) || !command_stream(of, v, &stream)) {
        back->dropped++;
        return GALE_OK;
    }
    int rc = put_command(task_at(back, of, (uint32_t)number(&v[3])), stream, v);
    return rc == GALE_DAMAGED ? damaged(error, "command") : rc < 0 ? no_memory(error) : GALE_OK;
}

static int take_task(gx_rest_back *back, const gale_value *v, size_t count, gale_error *error) {
    const gx_rest_component *of = are(v, count, "iiiiii") ? component_of(back, &v[1]) : NULL;
    if (!of) return damaged(error, "task");
    if (of->now < 0 || !has_as_many(back, of)) return GALE_OK;
    gx_task *task = task_at(back, of, (uint32_t)number(&v[2]));
    task->random = (gx_random){ number(&v[3]), number(&v[4]) | 1 };
    if (task->tick.period && v[5].as.i64 > 0) task->tick.due = v[5].as.i64;
    return GALE_OK;
}

/* --- All --- */

static int take(gx_rest_back *back, const gale_value *v, size_t count, bool trees, gale_error *error) {
    if (!are(v, count, "i")) return damaged(error, "without a kind");
    gx_rest_kind kind = (gx_rest_kind)v[0].as.i64;
    if (trees != (kind == GX_REST_TREE)) return GALE_OK;
    switch (kind) {
    case GX_REST_TREE: return take_tree(back, v, count, error);
    case GX_REST_ROW: return take_row(back, v, count, error);
    case GX_REST_HELD: return take_held(back, v, count, error);
    case GX_REST_SLOTS: return take_slots(back, v, count, error);
    case GX_REST_COMMAND: return take_command(back, v, count, error);
    case GX_REST_ACKER: return take_acker_record(back, v, count, error);
    case GX_REST_TASK: return take_task(back, v, count, error);
    default: return damaged(error, "of no known kind");
    }
}

int gx_rest_back_take(gx_rest_back *back, gale_str records, bool trees, gale_error *error) {
    gale_saved all = { .records = records, .heap = &back->shared->heap };
    const gale_value *values;
    size_t count;
    int rc;
    while ((rc = gale_saved_next(&all, &values, &count)) > 0)
        if ((rc = take(back, values, count, trees, error)) < 0) break;
    gx_saved_fini(&all);
    return rc == GALE_NO_MEMORY ? no_memory(error) : rc < 0 ? rc : GALE_OK;
}

void gx_rest_back_finish(gx_rest_back *back) {
    gx_shared *shared = back->shared;
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        gx_executor *ex = shared->executors[i];
        gx_turn_end(ex);
        gx_run_park_all(ex); /* some came from tasks elsewhere: what those emit now goes behind them */
    }
    for (uint32_t id = 1; id <= shared->plan->task_count; id++) {
        gx_task *task = shared->tasks[id];
        gx_held_restored(&task->held);
        gx_store_relaxed(&task->counters.held, task->held.count);
    }
}
