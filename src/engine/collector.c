#include "engine/collector.h"

#include "base/hash.h"
#include "engine/hooks.h"
#include "engine/remote.h"

#include <stdlib.h>

/* Where a new tuple's roots come from: nowhere, a tree that a spout begins, or anchors. */
typedef struct origin {
    const gx_anchor *anchors;
    size_t anchor_count;
    uint64_t begun;      /* the root of a spout's new tree, or 0 */
    uint64_t begun_xor;  /* its edges */
    uint64_t root_count; /* of the new tuple */
    size_t member_count; /* several anchors: see unite */
    uint32_t overflowed; /* a spout's new tree: a task whose queue was at the limit, or 0 */
} origin;

static gx_task *task_of(gale_collector *out) {
    return (gx_task *)out;
}

static int misuse(gx_task *task, int code) {
    gx_count(&task->counters.misused, 1);
    return code;
}

/* Collector calls belong to the task's thread. */
static bool wrong_thread(const gx_task *task) {
#if defined(GALE_CHECKS) && GALE_CHECKS >= 1
    return task->executor->thread != gx_thread_self();
#else
    (void)task;
    return false;
#endif
}

/* --- Handles --- */

static int find_anchor(gx_task *task, gale_handle handle, gx_anchor *ret) {
    gx_cursor *cursor = &task->executor->cursor;
    if (gx_handle_task(handle) != task->id) return GALE_INVALID;
    bool current = gx_handle_index(handle) == GX_HELD_CURRENT;
    if (current && (cursor->task != task || cursor->tuple.handle != handle)) return GALE_SETTLED;
    if (current && cursor->state == GX_CURSOR_OPEN) {
        *ret = (gx_anchor){ &cursor->ack, &cursor->failed, cursor->roots };
        return GALE_OK;
    }
    if (current && cursor->state != GX_CURSOR_HELD) return GALE_SETTLED;
    gx_held_slot *slot = current ? &task->held.slots[cursor->held_index] : gx_held_find(&task->held, handle);
    if (!slot || !slot->copy) return GALE_SETTLED;
    *ret = (gx_anchor){ &slot->ack, &slot->failed, gx_record_roots(gx_held_tuple(slot)->head) };
    return GALE_OK;
}

/* --- Roots of a new tuple --- */

static int by_root(const void *a, const void *b) {
    const gx_member *x = a, *y = b;
    return x->root < y->root ? -1 : x->root > y->root;
}

/* The union of several anchors' roots: members sorted by root, each knowing its anchor and its place in the union. */
static int unite(gx_executor *ex, origin *from) {
    gx_scratch *s = &ex->scratch;
    size_t total = 0, count = 0;
    for (size_t a = 0; a < from->anchor_count; a++) total += from->anchors[a].roots.count;
    if (!gx_grow(ex->heap, GX_TAG_OTHER, &s->members, &s->member_capacity, total, sizeof *s->members) ||
        !gx_grow(ex->heap, GX_TAG_OTHER, &s->edges, &s->edge_capacity, from->anchor_count, sizeof *s->edges))
        return GALE_NO_MEMORY;
    for (size_t a = 0; a < from->anchor_count; a++)
        for (uint64_t i = 0; i < from->anchors[a].roots.count; i++)
            s->members[count++] = (gx_member){ from->anchors[a].roots.pairs[i].root, (uint32_t)a, 0 };
    if (total) qsort(s->members, total, sizeof *s->members, by_root);
    uint32_t at = 0;
    for (size_t i = 0; i < total; i++) {
        if (i && s->members[i].root != s->members[i - 1].root) at++;
        s->members[i].at = at;
    }
    from->member_count = total;
    from->root_count = total ? at + 1 : 0;
    return GALE_OK;
}

static int count_roots(gx_executor *ex, origin *from) {
    if (from->begun)
        from->root_count = 1;
    else if (from->anchor_count == 1)
        from->root_count = from->anchors[0].roots.count;
    else if (from->anchor_count > 1)
        return unite(ex, from);
    return GALE_OK;
}

static void draw_united(gx_executor *ex, const origin *from, gx_root *roots) {
    gx_scratch *s = &ex->scratch;
    for (size_t a = 0; a < from->anchor_count; a++) {
        s->edges[a] = gx_random_id(&ex->random);
        *from->anchors[a].ack ^= s->edges[a];
    }
    memset(roots, 0, from->root_count * sizeof *roots);
    for (size_t i = 0; i < from->member_count; i++) {
        roots[s->members[i].at].root = s->members[i].root;
        roots[s->members[i].at].edge ^= s->edges[s->members[i].anchor];
    }
}

/* Draws the edges of one delivery and writes its roots. */
static void draw_roots(gx_executor *ex, origin *from, gx_root *roots) {
    if (from->anchor_count > 1) {
        draw_united(ex, from, roots);
        return;
    }
    uint64_t edge = gx_random_id(&ex->random);
    if (from->begun) {
        from->begun_xor ^= edge;
        roots[0] = (gx_root){ from->begun, edge };
        return;
    }
    const gx_anchor *anchor = &from->anchors[0];
    *anchor->ack ^= edge;
    for (uint64_t i = 0; i < from->root_count; i++) roots[i] = (gx_root){ anchor->roots.pairs[i].root, edge };
}

/* --- Deliveries --- */

/* A tuple on its way: everything that its deliveries share. */
typedef struct parcel {
    gx_task *task;
    uint32_t stream;
    const gale_value *values;
    size_t value_count;
    size_t body_size;
    uint32_t length;         /* of a record */
    gx_block *body_block;    /* a large body, encoded; else NULL */
    const void *body_inline; /* a small body, once it is encoded */
} parcel;

static void *claim(gx_executor *ex, const gx_task *target, uint32_t length) {
    if (target->executor == ex) return gx_fifo_push(&ex->local, &ex->chunks, length);
    gx_outlet *outlet = &ex->outlets[target->executor->index];
    void *at = gx_outlet_claim(outlet, &ex->chunks, length);
    if (GX_UNLIKELY(outlet->outbox.count)) ex->gates_stale = true;
    return at;
}

static void write_body(parcel *p, gale_head *head, unsigned char *at) {
    if (p->body_block) {
        head->flags |= GX_RECORD_BODY_IN_BLOCK;
        memcpy(at, &p->body_block, sizeof p->body_block);
    } else if (p->body_inline) {
        memcpy(at, p->body_inline, p->body_size);
    } else {
        gx_body_encode(p->values, p->value_count, at);
        p->body_inline = at;
    }
}

/* Writes one record to `at`. `root_block`: where more roots than fit go. */
static void write_record(gx_executor *ex, parcel *p, origin *from, uint16_t target, void *at, gx_block *root_block) {
    gale_head *head = at;
    *head = (gale_head){
        p->length, target, p->task->id, (uint16_t)p->stream, (uint8_t)from->root_count, 0, (uint32_t)p->body_size
    };
    unsigned char *roots = (unsigned char *)(head + 1);
    if (GX_UNLIKELY(root_block != NULL)) {
        gx_root_block *many = (gx_root_block *)root_block->bytes;
        head->roots = GX_ROOTS_IN_BLOCK;
        many->count = from->root_count;
        draw_roots(ex, from, many->pairs);
        memcpy(roots, &root_block, sizeof root_block);
    } else if (from->root_count) {
        draw_roots(ex, from, (gx_root *)roots);
    }
    write_body(p, head, gx_record_tail(head));
}

static void arrive(gx_executor *ex, gx_task *target, const gale_head *head) {
    if (target->executor == ex) gx_executor_queued(ex, target, gx_record_weight(head));
}

/* Blocks for the roots of every delivery, when there are too many to lie in the records. They are chained by `next`
 * until they are used. */
static bool take_root_blocks(gx_executor *ex, const origin *from, uint32_t count, gx_block **ret_blocks) {
    *ret_blocks = NULL;
    if (GX_LIKELY(from->root_count <= GX_ROOTS_INLINE)) return true;
    for (uint32_t i = 0; i < count; i++) {
        gx_block *block = gx_block_take(&ex->blocks, sizeof(gx_root_block) + from->root_count * sizeof(gx_root));
        if (!block) {
            while (*ret_blocks) {
                gx_block *next = (*ret_blocks)->next;
                gx_block_release(*ret_blocks, &ex->blocks);
                *ret_blocks = next;
            }
            return false;
        }
        block->next = *ret_blocks;
        *ret_blocks = block;
    }
    return true;
}

static bool take_body_block(gx_executor *ex, parcel *p, uint32_t count) {
    if (GX_LIKELY(p->body_size <= GX_BODY_INLINE)) return true;
    p->body_block = gx_block_take(&ex->blocks, p->body_size);
    if (!p->body_block) return false;
    gx_body_encode(p->values, p->value_count, p->body_block->bytes);
    if (count > 1) gx_block_ref(p->body_block, count - 1);
    return true;
}

/* Room for all deliveries, so that none can fail once the first is written: each record may need a new chunk at the
 * end of its queue, and there are as many queues as executors. */
static bool ensure_room(gx_executor *ex, const parcel *p, uint32_t count) {
    if (GX_LIKELY(count == 1)) return ex->chunks.free_count > 0 || gx_chunks_ensure(&ex->chunks, 1);
    size_t chunks = (size_t)count * p->length / (GX_CHUNK_ROOM - GX_FIFO_ENTRY_MAX) + 1;
    size_t queues = count < ex->shared->executor_count ? count : ex->shared->executor_count;
    return gx_chunks_ensure(&ex->chunks, chunks + queues);
}

static int deliver(gx_executor *ex, parcel *p, origin *from, const uint16_t *targets, uint32_t count) {
    p->length = gx_record_length(from->root_count, p->body_size);
    gx_block *root_blocks;
    if (!ensure_room(ex, p, count) || !take_root_blocks(ex, from, count, &root_blocks)) return GALE_NO_MEMORY;
    if (!take_body_block(ex, p, count)) {
        for (gx_block *next; root_blocks; root_blocks = next) {
            next = root_blocks->next;
            gx_block_release(root_blocks, &ex->blocks);
        }
        return GALE_NO_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) {
        gx_task *target = ex->shared->tasks[targets[i]];
        void *at = claim(ex, target, p->length);
        GX_ASSERT(at != NULL);
        gx_block *roots = root_blocks;
        if (GX_UNLIKELY(roots != NULL)) root_blocks = roots->next;
        write_record(ex, p, from, targets[i], at, roots);
        arrive(ex, target, at);
    }
    return (int)count;
}

/* --- The hard limit --- */

static const char at_limit[] = "the queue of the task was at its limit";

static void fail_roots(gx_executor *ex, const gx_task *task, gx_roots roots, int32_t reason, const char *text) {
    uint64_t mine = (uint64_t)ex->index + 1;
    for (uint64_t i = 0; i < roots.count; i++) {
        uint64_t root = roots.pairs[i].root;
        if (root >> GX_LEDGER_SHIFT == mine)
            gx_ledger_fail(&ex->ledger, root, reason, task->id, text);
        else
            gx_settle_fail(&ex->settle, root, reason, task->id, text);
    }
}

/* What is for a task whose queue is at the limit is not queued: the trees that it would belong to fail. */
static void shed(gx_executor *ex, origin *from, gx_task *target) {
    uint64_t roots = 0;
    for (size_t i = 0; i < from->anchor_count; i++) {
        fail_roots(ex, target, from->anchors[i].roots, GALE_REASON_OVERFLOW, at_limit);
        roots += from->anchors[i].roots.count;
    }
    if (from->begun) from->overflowed = target->id;
    gx_count(roots || from->begun ? &target->counters.overflowed : &target->counters.shed, 1);
}

/* Takes out the targets on this executor that are at the limit. Returns how many are left. */
static int shed_targets(gx_executor *ex, origin *from, uint16_t *targets, int count) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        gx_task *target = ex->shared->tasks[targets[i]];
        if (GX_UNLIKELY(target->executor == ex && target->queued > ex->shared->queue_limit))
            shed(ex, from, target);
        else
            targets[kept++] = targets[i];
    }
    return kept;
}

void gx_collector_overflow(gx_executor *ex, gx_task *task, const gale_head *head) {
    gx_roots roots = gx_record_roots(head);
    fail_roots(ex, task, roots, GALE_REASON_OVERFLOW, at_limit);
    gx_count(roots.count ? &task->counters.overflowed : &task->counters.shed, 1);
    gx_record_release(head, &ex->blocks);
}

/* --- Emitting --- */

/* What a component emits: to the tasks that groupings choose, or to `direct`, if it is not 0. */
typedef struct emission {
    uint32_t direct;
    uint32_t stream;
    const gale_value *values;
    size_t count;
    const uint64_t *message_id; /* a spout's tracked tuple; else NULL */
} emission;

/* The tasks that it goes to, in the scratch. Returns how many. */
static int choose_targets(gx_task *task, const emission *e) {
    gx_executor *ex = task->executor;
    gx_stream_routes *routes = &task->streams[e->stream];
    gx_scratch *s = &ex->scratch;
    size_t most = routes->fanout ? routes->fanout : 1;
    if (GX_UNLIKELY(most > s->target_capacity) &&
        !gx_grow(ex->heap, GX_TAG_OTHER, &s->targets, &s->target_capacity, most, sizeof *s->targets))
        return GALE_NO_MEMORY;
    if (GX_LIKELY(!e->direct)) {
        if (GX_UNLIKELY(routes->direct)) return GALE_STATE;
        return (int)gx_router_targets(routes, e->values, s->targets);
    }
    int rc = gx_router_direct(routes, e->direct);
    if (rc < 0) return rc;
    s->targets[0] = (uint16_t)e->direct;
    return 1;
}

static void tell_watchers(gx_task *task, const emission *e, int targets) {
    if (task->hook_count) gx_hooks_call_emit(task, e->stream, e->values, e->count, (uint32_t)targets);
    const gx_events *events = gx_load_acquire(&task->executor->shared->events[task->component]); /* A1 */
    if (events) gx_hooks_log_event(task, events, e->stream, e->values, e->count, e->message_id);
}

static int emit(gx_task *task, const emission *e, origin *from) {
    gx_executor *ex = task->executor;
    if (GX_UNLIKELY(e->stream >= task->stream_count)) return GALE_NOT_FOUND;
    gx_stream_routes *routes = &task->streams[e->stream];
    if (GX_UNLIKELY(e->count != routes->field_count)) return GALE_FIELDS;
    int64_t size = gx_body_measure(e->values, e->count);
    if (GX_UNLIKELY(size < 0)) return (int)size;
    int targets = choose_targets(task, e);
    if (GX_UNLIKELY(targets < 0)) return targets;
    targets = shed_targets(ex, from, ex->scratch.targets, targets);
    parcel p = {
        .task = task, .stream = e->stream, .values = e->values, .value_count = e->count, .body_size = (size_t)size
    };
    int rc = targets && ex->shared->plan->acking ? count_roots(ex, from) : GALE_OK;
    if (rc == GALE_OK && targets) rc = deliver(ex, &p, from, ex->scratch.targets, (uint32_t)targets);
    if (rc < 0) return rc;
    gx_count(&routes->counters.emitted, 1);
    gx_count(&routes->counters.transferred, (uint64_t)targets);
    if (GX_UNLIKELY(task->hook_count || gx_load_relaxed(&ex->shared->watched))) tell_watchers(task, e, targets);
    return targets;
}

/* A failed emit marks its anchors: their ack will count as a fail. */
static int anchored(gx_task *task, const emission *e, const gx_anchor *anchors, size_t anchor_count) {
    origin from = { .anchors = anchors, .anchor_count = anchor_count };
    int rc = emit(task, e, &from);
    if (GX_LIKELY(rc >= 0)) return rc;
    for (size_t i = 0; i < anchor_count; i++) *anchors[i].failed = true;
    return misuse(task, rc);
}

/* Anchored to the tuple in execution, if there is one. */
static int emit_current(gale_collector *out, const emission *e) {
    gx_task *task = task_of(out);
    if (wrong_thread(task)) return GALE_THREAD;
    gx_cursor *cursor = &task->executor->cursor;
    if (cursor->task != task || cursor->state == GX_CURSOR_NONE) return anchored(task, e, NULL, 0);
    gx_anchor anchor = { &cursor->ack, &cursor->failed, cursor->roots };
    if (GX_UNLIKELY(cursor->state != GX_CURSOR_OPEN)) {
        int rc = find_anchor(task, cursor->tuple.handle, &anchor);
        if (rc < 0) return misuse(task, rc);
    }
    return anchored(task, e, &anchor, 1);
}

static int emit_handles(gale_collector *out, const emission *e, const gale_handle *handles, size_t handle_count) {
    gx_task *task = task_of(out);
    if (wrong_thread(task)) return GALE_THREAD;
    gx_executor *ex = task->executor;
    gx_scratch *s = &ex->scratch;
    if (!gx_grow(ex->heap, GX_TAG_OTHER, &s->anchors, &s->anchor_capacity, handle_count, sizeof *s->anchors))
        return misuse(task, GALE_NO_MEMORY);
    for (size_t i = 0; i < handle_count; i++) {
        int rc = find_anchor(task, handles[i], &s->anchors[i]);
        if (rc < 0) return misuse(task, rc);
    }
    return anchored(task, e, s->anchors, handle_count);
}

static int emit_tree(gale_collector *out, const emission *e) {
    gx_task *task = task_of(out);
    if (wrong_thread(task)) return GALE_THREAD;
    if (!task->is_spout) return misuse(task, GALE_STATE);
    gx_executor *ex = task->executor;
    origin from = { 0 };
    int rc = gx_ledger_open(&ex->ledger, task->id, *e->message_id, ex->now, &from.begun);
    if (rc < 0) return rc;
    rc = emit(task, e, &from);
    if (rc < 0) {
        gx_ledger_cancel(&ex->ledger, from.begun);
        return misuse(task, rc);
    }
    task->spout.pending++;
    if (GX_UNLIKELY(from.overflowed && ex->shared->plan->acking))
        gx_ledger_fail(&ex->ledger, from.begun, GALE_REASON_OVERFLOW, from.overflowed, at_limit);
    else
        gx_ledger_begin(&ex->ledger, from.begun, from.begun_xor); /* no edges, or acking off: acked, later */
    return rc;
}

static int do_emit(gale_collector *out, uint32_t stream, const gale_value *values, size_t count) {
    const emission e = { 0, stream, values, count, NULL };
    return emit_current(out, &e);
}

static int do_emit_anchored(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                            const gale_handle *anchors, size_t anchor_count) {
    const emission e = { 0, stream, values, count, NULL };
    return emit_handles(out, &e, anchors, anchor_count);
}

static int do_emit_tracked(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                           uint64_t message_id) {
    const emission e = { 0, stream, values, count, &message_id };
    return emit_tree(out, &e);
}

/* Task 0 is nobody, and means "by grouping" in an emission. */
static uint32_t direct_to(uint32_t task) {
    return task ? task : UINT32_MAX;
}

static int do_emit_direct(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values, size_t count) {
    const emission e = { direct_to(to), stream, values, count, NULL };
    return emit_current(out, &e);
}

static int do_emit_direct_anchored(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values,
                                   size_t count, const gale_handle *anchors, size_t anchor_count) {
    const emission e = { direct_to(to), stream, values, count, NULL };
    return emit_handles(out, &e, anchors, anchor_count);
}

static int do_emit_direct_tracked(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values,
                                  size_t count, uint64_t message_id) {
    const emission e = { direct_to(to), stream, values, count, &message_id };
    return emit_tree(out, &e);
}

/* --- Answers --- */

static void ack_roots(gx_executor *ex, gx_roots roots, uint64_t ack) {
    uint64_t mine = (uint64_t)ex->index + 1;
    for (uint64_t i = 0; i < roots.count; i++) {
        uint64_t root = roots.pairs[i].root, edges = roots.pairs[i].edge ^ ack;
        if (root >> GX_LEDGER_SHIFT == mine)
            gx_ledger_ack(&ex->ledger, root, edges);
        else
            gx_settle_ack(&ex->settle, root, edges);
    }
}

static void fail_anchor(gx_task *task, gale_handle handle, const gx_anchor *anchor, int32_t reason, const char *text) {
    fail_roots(task->executor, task, anchor->roots, reason, text);
    gx_count(&task->counters.failed, 1);
    if (!gx_hooks_any(task)) return;
    gale_failure failure = { sizeof failure, reason, task->id, task->context.component, text ? text : "" };
    gx_hooks_call_fail(task, handle, &failure);
}

static void ack_anchor(gx_task *task, gale_handle handle, const gx_anchor *anchor) {
    if (GX_UNLIKELY(*anchor->failed)) {
        fail_anchor(task, handle, anchor, GALE_REASON_FAILED, "an emit that was anchored to it failed");
        return;
    }
    ack_roots(task->executor, anchor->roots, *anchor->ack);
    gx_count(&task->counters.acked, 1);
    if (gx_hooks_any(task)) gx_hooks_call_ack(task, handle);
}

static int answer(gx_task *task, gale_handle handle, bool ack, int32_t reason, const char *text) {
    gx_executor *ex = task->executor;
    gx_cursor *cursor = &ex->cursor;
    gx_anchor anchor;
    if (wrong_thread(task)) return GALE_THREAD;
    int rc = find_anchor(task, handle, &anchor);
    if (rc < 0) return misuse(task, rc);
    if (ack)
        ack_anchor(task, handle, &anchor);
    else
        fail_anchor(task, handle, &anchor, reason, text);
    bool current = gx_handle_index(handle) == GX_HELD_CURRENT;
    if (current && cursor->state == GX_CURSOR_OPEN) {
        cursor->state = GX_CURSOR_ANSWERED;
        return GALE_OK;
    }
    gx_held_remove(&task->held, &ex->blocks, current ? cursor->held_index : gx_handle_index(handle));
    gx_store_relaxed(&task->counters.held, task->held.count);
    if (cursor->task == task && cursor->state == GX_CURSOR_HELD && !task->held.slots[cursor->held_index].copy)
        cursor->state = GX_CURSOR_ANSWERED;
    return GALE_OK;
}

static int do_ack(gale_collector *out, gale_handle handle) {
    return answer(task_of(out), handle, true, 0, NULL);
}

static int do_fail(gale_collector *out, gale_handle handle, int32_t reason, const char *text) {
    return answer(task_of(out), handle, false, reason, text);
}

static int do_hold(gale_collector *out, gale_handle handle, gale_handle *ret_held) {
    gx_task *task = task_of(out);
    if (wrong_thread(task)) return GALE_THREAD;
    gx_executor *ex = task->executor;
    gx_cursor *cursor = &ex->cursor;
    if (cursor->task != task || cursor->tuple.handle != handle || cursor->state != GX_CURSOR_OPEN)
        return misuse(task, GALE_SETTLED);
    uint32_t index;
    int rc = gx_held_add(&task->held, ex->heap, &ex->blocks, task->id, &cursor->tuple, cursor->ack, &index);
    if (rc < 0) return rc;
    task->held.slots[index].failed = cursor->failed;
    cursor->state = GX_CURSOR_HELD;
    cursor->held_index = index;
    gx_store_relaxed(&task->counters.held, task->held.count);
    *ret_held = gx_held_tuple(&task->held.slots[index])->handle;
    return GALE_OK;
}

static const gale_tuple *do_held(gale_collector *out, gale_handle handle) {
    gx_task *task = task_of(out);
    if (wrong_thread(task) || gx_handle_task(handle) != task->id) return NULL;
    const gx_held_slot *slot = gx_held_find(&task->held, handle);
    return slot ? gx_held_tuple(slot) : NULL;
}

static void do_report(gale_collector *out, const char *text) {
    gx_task_report(task_of(out), text);
}

static uint64_t do_pending(gale_collector *out) {
    return task_of(out)->spout.pending;
}

static void do_stop(gale_collector *out, int code, const char *text) {
    gx_task *task = task_of(out);
    gx_shared *shared = task->executor->shared;
    gx_monitor_lock(&shared->monitor);
    if (shared->fatal.code == 0) {
        gale_error_set(&shared->fatal, code < 0 ? code : GALE_COMPONENT, "%s", text ? text : "");
        gale_error_add(&shared->fatal, "task %u of '%s' stopped the run", task->id, task->context.component);
    }
    gx_monitor_unlock(&shared->monitor);
    gx_executors_close(shared);
}

const gale_collector_ops *gx_collector_ops(void) {
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
        .remote = gx_remote_open,
        .emit_direct = do_emit_direct,
        .emit_direct_anchored = do_emit_direct_anchored,
        .emit_direct_tracked = do_emit_direct_tracked,
    };
    return &ops;
}

void gx_collector_settle_current(gx_executor *ex, int rc) {
    gx_cursor *cursor = &ex->cursor;
    gx_task *task = cursor->task;
    if (cursor->state == GX_CURSOR_OPEN) {
        const gx_anchor anchor = { &cursor->ack, &cursor->failed, cursor->roots };
        if (GX_UNLIKELY(rc < 0)) {
            const char *text = task->reported ? task->report : gale_error_text(rc);
            fail_anchor(task, cursor->tuple.handle, &anchor, GALE_REASON_FAILED, text);
        } else if (task->simple) {
            ack_anchor(task, cursor->tuple.handle, &anchor);
        } else if (cursor->roots.count) {
            gx_count(&task->counters.forgotten, 1);
        }
    }
    if (GX_UNLIKELY(rc < 0) && !task->reported) gx_task_report(task, gale_error_text(rc));
    cursor->state = GX_CURSOR_NONE;
    cursor->task = NULL;
}
