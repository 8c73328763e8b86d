#include "engine/collector.h"

#include "engine/answer.h"
#include "engine/emit.h"
#include "engine/flush.h"
#include "engine/hooks.h"
#include "engine/plain.h"
#include "engine/remote.h"
#include "engine/spread.h"

/* Far more than a task can hold: a number that was never meant. */
enum { ANCHORS_MAX = 1 << 27 };

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
        *ret = (gx_anchor){ &cursor->ack, &cursor->failed, cursor->roots, cursor->deadline };
        return GALE_OK;
    }
    if (current && cursor->state != GX_CURSOR_HELD) return GALE_SETTLED;
    gx_held_slot *slot = current ? &task->held.slots[cursor->held_index] : gx_held_find(&task->held, handle);
    if (!slot || !slot->copy) return GALE_SETTLED;
    const gale_head *head = gx_held_tuple(slot)->head;
    *ret = (gx_anchor){ &slot->ack, &slot->failed, gx_record_roots(head), gx_record_deadline(head) };
    return GALE_OK;
}

/* --- Emitting --- */

/* What a component emits by grouping where somebody wants to be named says more of the topology than of the tuple. */
static int refused(gx_task *task, const gx_emission *e, int rc) {
    if (rc == GALE_STATE && !e->direct && e->stream < task->stream_count)
        gx_task_report(task, "a consumer of this stream has direct grouping, but the tuple was not emitted directly");
    return misuse(task, rc);
}

/* A failed emit marks its anchors: their ack will count as a fail. */
static int anchored(gx_task *task, const gx_emission *e, const gx_anchor *anchors, size_t anchor_count) {
    gx_origin from = { .anchors = anchors, .anchor_count = anchor_count };
    int rc = gx_emit(task, e, &from);
    if (GX_LIKELY(rc >= 0)) return rc;
    for (size_t i = 0; i < anchor_count; i++) *anchors[i].failed = true;
    return refused(task, e, rc);
}

/* Anchored to the tuple in execution, if there is one. */
static int emit_current(gx_task *task, const gx_emission *e) {
    if (wrong_thread(task)) return GALE_THREAD;
    gx_cursor *cursor = &task->executor->cursor;
    if (cursor->task != task || cursor->state == GX_CURSOR_NONE) return anchored(task, e, NULL, 0);
    gx_anchor anchor = { &cursor->ack, &cursor->failed, cursor->roots, cursor->deadline };
    if (GX_UNLIKELY(cursor->state != GX_CURSOR_OPEN)) {
        int rc = find_anchor(task, cursor->tuple.handle, &anchor);
        if (rc < 0) return misuse(task, rc);
    }
    return anchored(task, e, &anchor, 1);
}

/* Without memory for the list of anchors: marks them one by one. */
static int mark_handles(gx_task *task, const gale_handle *handles, size_t handle_count) {
    gx_anchor anchor;
    for (size_t i = 0; i < handle_count; i++)
        if (find_anchor(task, handles[i], &anchor) == GALE_OK) *anchor.failed = true;
    return misuse(task, GALE_NO_MEMORY);
}

static int emit_handles(gale_collector *out, const gx_emission *e, const gale_handle *handles, size_t handle_count) {
    gx_task *task = task_of(out);
    if (wrong_thread(task)) return GALE_THREAD;
    if (GX_UNLIKELY(!handles && handle_count)) return misuse(task, GALE_INVALID);
    if (GX_UNLIKELY(handle_count > ANCHORS_MAX)) return misuse(task, GALE_TOO_LARGE);
    gx_executor *ex = task->executor;
    gx_scratch *s = &ex->scratch;
    if (!gx_grow(ex->heap, GX_TAG_OTHER, &s->anchors, &s->anchor_capacity, handle_count, sizeof *s->anchors))
        return mark_handles(task, handles, handle_count);
    for (size_t i = 0; i < handle_count; i++) {
        int rc = find_anchor(task, handles[i], &s->anchors[i]);
        if (rc < 0) return misuse(task, rc);
    }
    return anchored(task, e, s->anchors, handle_count);
}

static int emit_tree(gx_task *task, const gx_emission *e) {
    if (wrong_thread(task)) return GALE_THREAD;
    if (!task->is_spout) return misuse(task, GALE_STATE);
    gx_origin from = { 0 };
    int rc = gx_emit_tree(task, e, &from);
    if (rc < 0) return from.begun ? refused(task, e, rc) : rc;
    task->spout.pending++;
    return rc;
}

/* --- The plain path --- */

/* A target that was chosen goes to the scratch, where an emission has its targets. Returns how many there are. */
static uint32_t keep_choice(const gx_task *task, const gx_task *chosen) {
    if (chosen) task->executor->scratch.targets[0] = chosen->id;
    return chosen != NULL;
}

GX_NOINLINE static int emit_otherwise(gx_task *task, uint32_t stream, const gale_value *values, size_t count,
                                      gx_task *chosen) {
    const gx_emission e = { 0, stream, values, count, NULL, keep_choice(task, chosen) };
    return emit_current(task, &e);
}

/* How many roots a tuple would have that is emitted now: those of the one in execution, if it is this task's. More than
 * one, also for a tuple that was answered: not plain. */
GX_INLINE uint64_t plain_roots(const gx_task *task, const gx_cursor *cursor) {
    if (cursor->task != task || cursor->state == GX_CURSOR_NONE) return 0;
    return GX_LIKELY(cursor->state == GX_CURSOR_OPEN) ? cursor->roots.count : 2;
}

/* Without a root: acking is off, or a spout does not want to hear of it. */
GX_NOINLINE static int emit_rootless(gx_task *task, gx_plain p, uint32_t stream, const gale_value *values,
                                     size_t count) {
    gx_executor *ex = task->executor;
    if (plain_roots(task, &ex->cursor) || !gx_plain_write(&p, values, count, 0))
        return emit_otherwise(task, stream, values, count, p.target);
    gx_plain_send(ex, p, 0, 0, 0);
    return 1;
}

GX_INLINE int emit_to(gx_task *task, gx_plain p, uint32_t stream, const gale_value *values, size_t count) {
    gx_executor *ex = task->executor;
    gx_cursor *cursor = &ex->cursor;
    if (GX_UNLIKELY(plain_roots(task, cursor) != 1)) return emit_rootless(task, p, stream, values, count);
    if (GX_UNLIKELY(!gx_plain_write(&p, values, count, 1)))
        return emit_otherwise(task, stream, values, count, p.target);
    uint64_t edge = gx_draw_edge(ex);
    cursor->ack ^= edge;
    gx_plain_send(ex, p, 1, cursor->roots.pairs[0].root, edge);
    return 1;
}

/* To several tasks. */
static int emit_spread(gx_task *task, gx_stream_routes *routes, uint32_t stream, const gale_value *values,
                       size_t count) {
    gx_executor *ex = task->executor;
    gx_cursor *cursor = &ex->cursor;
    gx_spread s = { 0 };
    uint64_t roots = plain_roots(task, cursor);
    if (GX_UNLIKELY(roots > 1 || !gx_spread_prepare(ex, routes, values, count, (uint32_t)roots, &s))) {
        const gx_emission e = { 0, stream, values, count, NULL, s.count };
        return emit_current(task, &e);
    }
    cursor->ack ^= gx_spread_send(ex, &s, roots ? cursor->roots.pairs[0].root : 0);
    return (int)s.count;
}

GX_NOINLINE static int emit_routed(gx_task *task, gx_stream_routes *routes, uint32_t stream, const gale_value *values,
                                   size_t count) {
    if (routes->spread) return emit_spread(task, routes, stream, values, count);
    gx_plain p = gx_plain_choose(task->executor, routes, values);
    return GX_LIKELY(p.head != NULL) ? emit_to(task, p, stream, values, count)
                                     : emit_otherwise(task, stream, values, count, p.target);
}

static int do_emit(gale_collector *out, uint32_t stream, const gale_value *values, size_t count) {
    gx_task *task = task_of(out);
    gx_stream_routes *routes = wrong_thread(task) ? NULL : gx_plain_routes(task, stream, count);
    if (GX_UNLIKELY(!routes)) return emit_otherwise(task, stream, values, count, NULL);
    gx_plain p = { .routes = routes };
    if (count != 1 || !routes->sole || GX_UNLIKELY(!gx_plain_reserve_sole(task->executor, &p)))
        return emit_routed(task, routes, stream, values, count);
    return emit_to(task, p, stream, values, 1);
}

static int do_emit_anchored(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                            const gale_handle *anchors, size_t anchor_count) {
    const gx_emission e = { 0, stream, values, count, NULL, 0 };
    return emit_handles(out, &e, anchors, anchor_count);
}

GX_NOINLINE static int emit_tree_otherwise(gx_task *task, uint32_t stream, const gale_value *values, size_t count,
                                           uint64_t message_id, gx_task *chosen) {
    const gx_emission e = { 0, stream, values, count, &message_id, keep_choice(task, chosen) };
    return emit_tree(task, &e);
}

/* Acking is off: the tuple has no root, and its tree is complete from the first. */
static int begin_complete(gx_task *task, gx_plain p, uint64_t message_id) {
    gx_executor *ex = task->executor;
    gx_plain_send(ex, p, 0, 0, 0);
    task->spout.pending++;
    gx_answer_begin(ex, gx_ledger_take(&ex->ledger, task->id, message_id, ex->now, 0), 0);
    return 1;
}

/* Where trees are kept here, the emit's own edge is in the entry from the first. */
GX_INLINE int begin_tree(gx_task *task, gx_plain p, uint64_t message_id, bool here) {
    gx_executor *ex = task->executor;
    uint64_t edge = gx_draw_edge(ex);
    uint64_t root = gx_ledger_take(&ex->ledger, task->id, message_id, ex->now, here ? edge : 0);
    gx_plain_send(ex, p, 1, root, edge);
    task->spout.pending++;
    if (!here) gx_answer_begin(ex, root, edge);
    return 1;
}

static int emit_tree_spread(gx_task *task, gx_stream_routes *routes, uint32_t stream, const gale_value *values,
                            size_t count, uint64_t message_id) {
    gx_executor *ex = task->executor;
    gx_spread s = { 0 };
    if (GX_UNLIKELY(!ex->ledger.free_count || !gx_spread_prepare(ex, routes, values, count, ex->acking, &s))) {
        const gx_emission e = { 0, stream, values, count, &message_id, s.count };
        return emit_tree(task, &e);
    }
    uint64_t root = gx_ledger_take(&ex->ledger, task->id, message_id, ex->now, 0);
    task->spout.pending++;
    gx_answer_begin(ex, root, gx_spread_send(ex, &s, root));
    return (int)s.count;
}

/* To a task that is to be chosen. */
GX_NOINLINE static int emit_tree_routed(gx_task *task, gx_stream_routes *routes, uint32_t stream,
                                        const gale_value *values, size_t count, uint64_t message_id) {
    gx_executor *ex = task->executor;
    if (routes->spread) return emit_tree_spread(task, routes, stream, values, count, message_id);
    gx_plain p = gx_plain_choose(ex, routes, values);
    if (GX_UNLIKELY(!p.head || !ex->ledger.free_count || !gx_plain_write(&p, values, count, ex->acking)))
        return emit_tree_otherwise(task, stream, values, count, message_id, p.target);
    if (!ex->acking) return begin_complete(task, p, message_id);
    return begin_tree(task, p, message_id, ex->keeper == ex->index + 1u);
}

/* What is not quick (engine/task.h) may be plain. */
GX_NOINLINE static int emit_tree_slowly(gx_task *task, uint32_t stream, const gale_value *values, size_t count,
                                        uint64_t message_id) {
    bool plain = !wrong_thread(task) && task->is_spout && task->executor->plain && !task->slow;
    gx_stream_routes *routes = plain ? gx_plain_routes(task, stream, count) : NULL;
    return routes ? emit_tree_routed(task, routes, stream, values, count, message_id)
                  : emit_tree_otherwise(task, stream, values, count, message_id, NULL);
}

static int do_emit_tracked(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                           uint64_t message_id) {
    gx_task *task = task_of(out);
    gx_executor *ex = task->executor;
    bool quick = !wrong_thread(task) && task->quick && ex->ledger.free_count;
    gx_plain p = { .routes = quick ? gx_plain_routes(task, stream, count) : NULL };
    if (GX_UNLIKELY(!p.routes)) return emit_tree_slowly(task, stream, values, count, message_id);
    if (count != 1 || !p.routes->sole || GX_UNLIKELY(!gx_plain_reserve_sole(ex, &p)))
        return emit_tree_routed(task, p.routes, stream, values, count, message_id);
    if (GX_UNLIKELY(!gx_plain_write(&p, values, 1, 1)))
        return emit_tree_otherwise(task, stream, values, 1, message_id, p.target);
    return begin_tree(task, p, message_id, true);
}

/* Task 0 is nobody, and means "by grouping" in an emission. */
static uint32_t direct_to(uint32_t task) {
    return task ? task : UINT32_MAX;
}

static int do_emit_direct(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values, size_t count) {
    const gx_emission e = { direct_to(to), stream, values, count, NULL, 0 };
    return emit_current(task_of(out), &e);
}

static int do_emit_direct_anchored(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values,
                                   size_t count, const gale_handle *anchors, size_t anchor_count) {
    const gx_emission e = { direct_to(to), stream, values, count, NULL, 0 };
    return emit_handles(out, &e, anchors, anchor_count);
}

static int do_emit_direct_tracked(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values,
                                  size_t count, uint64_t message_id) {
    const gx_emission e = { direct_to(to), stream, values, count, &message_id, 0 };
    return emit_tree(task_of(out), &e);
}

/* --- Answers --- */

static void fail_anchor(gx_task *task, gale_handle handle, const gx_anchor *anchor, int32_t reason, const char *text) {
    gx_answer_fail(task->executor, task, anchor->roots, reason, text);
    gx_count(reason == GALE_REASON_REJECTED ? &task->counters.rejected : &task->counters.failed, 1);
    if (!gx_hooks_any(task)) return;
    gale_failure failure = { .size = sizeof failure,
                             .reason = reason,
                             .task = task->id,
                             .component = task->context.component,
                             .text = text ? text : "" };
    gx_hooks_call_fail(task, handle, &failure);
}

static void ack_anchor(gx_task *task, gale_handle handle, const gx_anchor *anchor) {
    if (GX_UNLIKELY(*anchor->failed)) {
        fail_anchor(task, handle, anchor, GALE_REASON_FAILED, "an emit that was anchored to it failed");
        return;
    }
    gx_answer_ack(task->executor, anchor->roots, *anchor->ack);
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
    if (!ack && !gx_reason_is_valid(reason)) {
        *anchor.failed = true;
        return misuse(task, GALE_INVALID);
    }
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

static int do_reset_timeout(gale_collector *out, gale_handle handle) {
    gx_task *task = task_of(out);
    gx_anchor anchor;
    if (wrong_thread(task)) return GALE_THREAD;
    int rc = find_anchor(task, handle, &anchor);
    if (rc < 0) return misuse(task, rc);
    gx_answer_reset(task->executor, anchor.roots);
    return GALE_OK;
}

static int do_hold(gale_collector *out, gale_handle handle, gale_handle *ret_held) {
    gx_task *task = task_of(out);
    if (wrong_thread(task)) return GALE_THREAD;
    if (!ret_held) return misuse(task, GALE_INVALID);
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

static void do_resume(gale_collector *out) {
    gx_store_relaxed(&task_of(out)->executor->shared->resumed, 1);
}

/* Everybody sees what was said before all was open. */
static bool do_resumed(gale_collector *out) {
    return gx_load_relaxed(&task_of(out)->executor->shared->resumed) != 0;
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
        .reset_timeout = do_reset_timeout,
        .resume = do_resume,
        .resumed = do_resumed,
    };
    return &ops;
}

/* Answered with the next flush; at once when there is no memory to remember it until then. */
static void owe(gx_task *task, const gx_anchor *anchor) {
    gx_cursor *cursor = &task->executor->cursor;
    gale_handle handle = cursor->tuple.handle;
    if (gx_flush_owe(task, handle, anchor->roots, *anchor->ack) == GALE_OK) return;
    cursor->state = GX_CURSOR_NONE; /* what the flush emits is not anchored to it */
    int rc = gx_flush_now(task);
    if (rc >= 0)
        ack_anchor(task, handle, anchor);
    else if (rc != GALE_STOPPED)
        fail_anchor(task, handle, anchor, GALE_REASON_FAILED, task->report);
}

void gx_collector_settle_current(gx_executor *ex, int rc) {
    gx_cursor *cursor = &ex->cursor;
    gx_task *task = cursor->task;
    if (cursor->state == GX_CURSOR_OPEN) {
        const gx_anchor anchor = { &cursor->ack, &cursor->failed, cursor->roots, 0 };
        if (GX_UNLIKELY(rc < 0)) {
            const char *text = task->reported ? task->report : gale_error_text(rc);
            fail_anchor(task, cursor->tuple.handle, &anchor, GALE_REASON_FAILED, text);
        } else if (task->gathers && !cursor->failed) {
            owe(task, &anchor);
        } else if (task->simple) {
            ack_anchor(task, cursor->tuple.handle, &anchor);
        } else if (cursor->roots.count) {
            gx_count(&task->counters.forgotten, 1);
            gx_forgotten_note(&ex->forgotten, ex->heap, task->id, cursor->roots, ex->now, ex->shared->plan->timeout);
        }
    }
    if (GX_UNLIKELY(rc < 0) && !task->reported) gx_task_report(task, gale_error_text(rc));
    cursor->state = GX_CURSOR_NONE;
}
