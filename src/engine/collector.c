#include "engine/collector.h"

#include "base/log.h"
#include "base/utf8.h"
#include "engine/acks.h"
#include "engine/emit.h"
#include "engine/flush.h"
#include "engine/health.h"
#include "engine/hooks.h"
#include "engine/lost.h"
#include "engine/metrics.h"
#include "engine/parts.h"
#include "engine/remote.h"
#include "engine/short.h"
#include "engine/state.h"
#include "engine/watches.h"
#include "tuple/json.h"

/* Far more than a task can hold: a number that was never meant. */
enum { ANCHORS_MAX = 1 << 27 };

static gx_task *task_of(gale_collector *out) {
    return (gx_task *)out;
}

static int misuse(gx_task *task, int code) {
    gx_count(&task->counters.misused, 1);
    return code;
}

/* --- Handles --- */

/* The tuple in execution. */
static gx_anchor current_anchor(gx_executor *ex) {
    gx_cursor *cursor = &ex->cursor;
    const gale_head *head = cursor->tuple.head;
    return (gx_anchor){ &cursor->ack,          &cursor->failed, gx_row_roots(head),
                        gx_row_deadline(head), cursor->edge,    &ex->sample };
}

/* What was held when a run ended keeps its handle, though the task may have another number in this one. */
GX_NOINLINE static bool is_of_before(gx_task *task, gale_handle handle) {
    const gx_held_slot *slot = gx_held_find(&task->held, handle);
    return slot && gx_held_tuple(slot)->handle == handle;
}

GX_INLINE bool is_own(gx_task *task, gale_handle handle) {
    return GX_LIKELY(gx_handle_task(handle) == task->id) || is_of_before(task, handle);
}

static int find_anchor(gx_task *task, gale_handle handle, gx_anchor *ret) {
    gx_cursor *cursor = &task->executor->cursor;
    if (!is_own(task, handle)) return GALE_INVALID;
    bool current = gx_handle_index(handle) == GX_HELD_CURRENT;
    if (current && (cursor->task != task || cursor->tuple.handle != handle)) return GALE_SETTLED;
    if (current && cursor->state == GX_CURSOR_OPEN) {
        *ret = current_anchor(task->executor);
        return GALE_OK;
    }
    if (current && cursor->state != GX_CURSOR_HELD) return GALE_SETTLED;
    gx_held_slot *slot = current ? &task->held.slots[cursor->held_index] : gx_held_find(&task->held, handle);
    if (!slot || !slot->copy) return GALE_SETTLED;
    const gale_head *head = gx_held_tuple(slot)->head;
    *ret = (gx_anchor){
        &slot->ack,   &slot->failed, gx_row_roots(head), gx_row_deadline(head), gx_task_edge(task, gx_held_tuple(slot)),
        &slot->sample
    };
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
    if (gx_executor_is_elsewhere(task)) return GALE_THREAD;
    gx_cursor *cursor = &task->executor->cursor;
    if (cursor->task != task || cursor->state == GX_CURSOR_NONE) return anchored(task, e, NULL, 0);
    gx_anchor anchor = current_anchor(task->executor);
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

int gx_collector_emit_anchored(gx_task *task, const gx_emission *e, const gale_handle *handles, size_t handle_count) {
    if (gx_executor_is_elsewhere(task)) return GALE_THREAD;
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

int gx_collector_emit_tree(gx_task *task, const gx_emission *e) {
    if (gx_executor_is_elsewhere(task)) return GALE_THREAD;
    if (!task->is_spout) return misuse(task, GALE_STATE);
    gx_origin from = { 0 };
    int rc = gx_emit_tree(task, e, &from);
    if (rc < 0) return from.begun ? refused(task, e, rc) : rc;
    task->spout.pending++;
    return rc;
}

/* --- The short way --- */

/* By engine/emit.h, with the targets that were chosen. */
GX_NOINLINE static int emit_any(gx_task *task, uint32_t stream, const gale_value *values, size_t count,
                                uint32_t chosen) {
    const gx_emission e = { .stream = stream, .values = values, .count = count, .chosen = chosen };
    return emit_current(task, &e);
}

/* A child of the tuple in execution. False: it is one of several roots, or the tuple was answered. */
static bool make_child(const gx_task *task, gx_stream_routes *routes, gx_short *ret_short) {
    const gx_executor *ex = task->executor;
    const gx_cursor *cursor = &ex->cursor;
    bool dated = ex->deadline && cursor->stem == GX_STEM_ONE;
    *ret_short = (gx_short){ .routes = routes,
                             .root = gx_load_relaxed(&((gx_cursor *)cursor)->root),
                             .roots = cursor->stem,
                             .deadline = dated ? gx_row_deadline(cursor->tuple.head) : 0 };
    return cursor->stem != GX_STEM_OTHER;
}

/* A brief tuple for the only task that takes it, in a batch that is open? */
GX_INLINE bool is_brief(const gx_task *task, const gx_stream_routes *routes, const gale_value *values, size_t count) {
    const gx_open *open = routes->sole;
    return task->executor->turn == task && open->at < open->end && count == 1 && gx_flat_is_brief(values) &&
           (!routes->laned || open->batch->lane == routes->lane);
}

/* A child of the tuple in execution, which has one root, and a deadline or none. */
GX_INLINE int emit_child(gx_task *task, gx_stream_routes *routes, gx_open *open, const gale_value *value,
                         int64_t deadline, bool dated) {
    gx_executor *ex = task->executor;
    uint64_t root = gx_load_relaxed(&ex->cursor.root);
    ex->cursor.ack ^= gx_short_write_brief(ex, open, routes->head, value, root, deadline, dated);
    gx_count(&routes->counters.single, 1);
    return 1;
}

GX_NOINLINE static int emit_bare(gx_task *task, gx_stream_routes *routes, gx_open *open, const gale_value *value) {
    return emit_child(task, routes, open, value, 0, false);
}

GX_NOINLINE static int emit_dated(gx_task *task, gx_stream_routes *routes, gx_open *open, const gale_value *value,
                                  int64_t deadline) {
    return emit_child(task, routes, open, value, deadline, true);
}

/* The same, with whatever is the matter: a deadline, or somebody who wants to see it. */
GX_NOINLINE static int emit_special(gx_task *task, gx_stream_routes *routes, gx_open *open, const gale_value *value) {
    int64_t deadline = gx_row_deadline(task->executor->cursor.tuple.head);
    if (deadline)
        emit_dated(task, routes, open, value, deadline);
    else
        emit_bare(task, routes, open, value);
    if (GX_UNLIKELY(gx_emit_is_watched(task)))
        gx_emit_show(task, (uint32_t)(routes - task->streams), value, 1, NULL, 1);
    return 1;
}

/* It is not bare, not brief, nothing is open for it, or it is to be chosen who takes it. */
GX_NOINLINE static int emit_routed(gx_task *task, uint32_t stream, const gale_value *values, size_t count) {
    gx_stream_routes *routes = stream < task->stream_count ? &task->streams[stream] : NULL;
    uint32_t chosen = 0, targets = 0;
    uint64_t edges = 0;
    gx_short s;
    if (gx_executor_is_elsewhere(task)) return GALE_THREAD;
    if (GX_UNLIKELY(!routes || !routes->plain || count != routes->field_count ||
                    gx_cursor_is_anothers(&task->executor->cursor, task)))
        return emit_any(task, stream, values, count, 0);
    if (task->executor->cursor.stem == GX_STEM_ONE && is_brief(task, routes, values, count))
        return emit_special(task, routes, routes->sole, values);
    if (GX_LIKELY(make_child(task, routes, &s))) targets = gx_short_send(task, &s, values, count, &edges, &chosen);
    if (GX_UNLIKELY(!targets)) return emit_any(task, stream, values, count, chosen);
    task->executor->cursor.ack ^= edges;
    if (GX_UNLIKELY(gx_emit_is_watched(task))) gx_emit_show(task, stream, values, count, NULL, targets);
    return (int)targets;
}

/* The same without a root, and so without a deadline. */
GX_NOINLINE static int emit_rootless(gx_task *task, gx_stream_routes *routes, gx_open *open, const gale_value *value) {
    const gx_short s = { .routes = routes };
    gx_short_end(open, &s, sizeof(gale_head) + gx_flat_write_brief(value, open->at + sizeof(gale_head)));
    gx_count(&routes->counters.single, 1);
    if (GX_UNLIKELY(!routes->bare) && gx_emit_is_watched(task))
        gx_emit_show(task, (uint32_t)(routes - task->streams), value, 1, NULL, 1);
    return 1;
}

/* A brief tuple, where a row has room. */
GX_INLINE int emit_brief(gx_task *task, gx_stream_routes *routes, gx_open *open, const gale_value *value) {
    if (GX_UNLIKELY(task->executor->cursor.stem == GX_STEM_NONE)) return emit_rootless(task, routes, open, value);
    return GX_LIKELY(routes->bare) ? emit_bare(task, routes, open, value) : emit_special(task, routes, open, value);
}

/* Opens a batch for the target that was chosen. False: there is none, and engine/emit.h says why. */
GX_NOINLINE static bool open_chosen(gx_task *task) {
    gx_executor *ex = task->executor;
    return gx_turn_open(ex, ex->shared->tasks[ex->scratch.targets[0]], NULL, GX_ROW_SHORT) == GALE_OK;
}

GX_INLINE gx_open *open_for(gx_executor *ex, uint32_t target) {
    ex->scratch.targets[0] = (uint16_t)target;
    return &ex->open[(uint16_t)target];
}

/* Where a brief tuple goes that one of several tasks takes. */
GX_NOINLINE static gx_open *choose(const gx_task *task, gx_stream_routes *routes, const gale_value *value) {
    gx_route *route = &routes->routes[0];
    bool keyed = gx_route_is_keyed(route);
    return open_for(task->executor, keyed ? gx_route_by_key(route, gx_hash_brief(value)) : gx_route_keyless(route));
}

/* The same by fields grouping. */
GX_INLINE gx_open *choose_by_field(const gx_task *task, const gx_stream_routes *routes, const gale_value *value) {
    const gx_plan_edge *edge = routes->routes[0].edge;
    return open_for(task->executor, edge->first_task + gx_hash_below(gx_hash_brief(value), edge->task_count));
}

GX_NOINLINE static int emit_first(gx_task *task, gx_stream_routes *routes, gx_open *open, const gale_value *value) {
    if (GX_LIKELY(open_chosen(task))) return emit_brief(task, routes, open, value);
    return emit_any(task, (uint32_t)(routes - task->streams), value, 1, 1);
}

GX_NOINLINE static int emit_chosen(gx_task *task, gx_stream_routes *routes, const gale_value *value) {
    gx_open *open = choose(task, routes, value);
    return GX_LIKELY(open->at < open->end) ? emit_brief(task, routes, open, value)
                                           : emit_first(task, routes, open, value);
}

/* Where there is a choice. */
GX_NOINLINE static int emit_choosing(gx_task *task, uint32_t stream, const gale_value *values, size_t count) {
    gx_stream_routes *routes = &task->streams[stream];
    if (count != 1 || !gx_flat_is_brief(values) || task->executor->cursor.stem == GX_STEM_OTHER)
        return emit_routed(task, stream, values, count);
    if (!routes->by_field) return emit_chosen(task, routes, values);
    gx_open *open = choose_by_field(task, routes, values);
    return GX_LIKELY(open->at < open->end) ? emit_brief(task, routes, open, values)
                                           : emit_first(task, routes, open, values);
}

/* What is brief is worth functions that call none and save no register: one that looks, and one that does; between them
 * one that chooses, where there is a choice. */
static int do_emit(gale_collector *out, uint32_t stream, const gale_value *values, size_t count) {
    gx_task *task = task_of(out);
    const gx_cursor *cursor = &task->executor->cursor;
    if (GX_UNLIKELY(stream >= task->stream_count || task->executor->turn != task || gx_executor_is_elsewhere(task)))
        return emit_routed(task, stream, values, count);
    gx_stream_routes *routes = &task->streams[stream];
    gx_open *open = routes->brief;
    if (open->at >= open->end && routes->choice) return emit_choosing(task, stream, values, count);
    if (open->at >= open->end || count != 1 || !gx_flat_is_brief(values) || cursor->stem == GX_STEM_OTHER)
        return emit_routed(task, stream, values, count);
    return emit_brief(task, routes, open, values);
}

static int do_emit_anchored(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                            const gale_handle *anchors, size_t anchor_count) {
    const gx_emission e = { .stream = stream, .values = values, .count = count };
    return gx_collector_emit_anchored(task_of(out), &e, anchors, anchor_count);
}

GX_NOINLINE static int emit_tree_any(gx_task *task, uint32_t stream, const gale_value *values, size_t count,
                                     uint64_t message_id, uint32_t chosen) {
    const gx_emission e = {
        .stream = stream, .values = values, .count = count, .message_id = &message_id, .chosen = chosen
    };
    return gx_collector_emit_tree(task, &e);
}

/* Its tree is kept here, and there is a slot for it. What emits it inside another task's call is looked at. */
static bool may_begin(const gx_task *task) {
    const gx_executor *ex = task->executor;
    return task->is_spout && !ex->shared->plan->acker_count && ex->ledger.free_count &&
           !gx_cursor_is_anothers(&ex->cursor, task);
}

/* The tree whose root is in a row already, with the sum of its edges. */
GX_INLINE void open_tree(gx_task *task, uint64_t root, uint64_t message_id, uint64_t edges) {
    gx_executor *ex = task->executor;
    gx_ledger_take(&ex->ledger, root, task->id, message_id, ex->now, edges);
    if (GX_UNLIKELY(!ex->ledger.free_count)) ex->begins = NULL;
    task->spout.pending++;
}

/* The same; acking off, it is complete from the first. */
static void begin_tree(gx_task *task, uint64_t root, uint64_t message_id, uint64_t edges) {
    open_tree(task, root, message_id, edges);
    if (GX_UNLIKELY(!edges)) gx_ledger_begin(&task->executor->ledger, root, 0);
}

/* A brief tuple that begins a tree. */
GX_INLINE int emit_root(gx_task *task, gx_stream_routes *routes, gx_open *open, const gale_value *value,
                        uint64_t message_id, int64_t deadline, bool dated) {
    gx_executor *ex = task->executor;
    uint64_t root = gx_ledger_next_root(&ex->ledger);
    uint64_t edge = gx_short_write_brief(ex, open, routes->head, value, root, deadline, dated);
    open_tree(task, root, message_id, edge);
    gx_count(&routes->counters.single, 1);
    return 1;
}

GX_NOINLINE static int emit_tree_bare(gx_task *task, gx_stream_routes *routes, gx_open *open, const gale_value *value,
                                      uint64_t message_id) {
    return emit_root(task, routes, open, value, message_id, 0, false);
}

GX_NOINLINE static int emit_tree_dated(gx_task *task, gx_stream_routes *routes, gx_open *open, const gale_value *value,
                                       uint64_t message_id, int64_t deadline) {
    return emit_root(task, routes, open, value, message_id, deadline, true);
}

/* The same, with whatever is the matter: a deadline, a tuple that is kept, or somebody who wants to see it. */
GX_NOINLINE static int emit_tree_special(gx_task *task, gx_stream_routes *routes, gx_open *open,
                                         const gale_value *value, uint64_t message_id) {
    gx_executor *ex = task->executor;
    uint32_t stream = (uint32_t)(routes - task->streams);
    int64_t deadline = gx_emit_deadline(ex);
    if (task->plan->retains && !gx_emit_retain_brief(task, stream, value)) {
        ex->scratch.targets[0] = open->batch->target; /* it was chosen */
        return emit_tree_any(task, stream, value, 1, message_id, 1);
    }
    if (deadline)
        emit_tree_dated(task, routes, open, value, message_id, deadline);
    else
        emit_tree_bare(task, routes, open, value, message_id);
    if (GX_UNLIKELY(gx_emit_is_watched(task))) gx_emit_show(task, stream, value, 1, &message_id, 1);
    return 1;
}

GX_NOINLINE static int emit_tree_routed(gx_task *task, uint32_t stream, const gale_value *values, size_t count,
                                        uint64_t message_id) {
    gx_executor *ex = task->executor;
    gx_stream_routes *routes = stream < task->stream_count ? &task->streams[stream] : NULL;
    uint32_t chosen = 0;
    uint64_t edges = 0;
    if (gx_executor_is_elsewhere(task)) return GALE_THREAD;
    if (GX_UNLIKELY(!routes || !routes->plain || count != routes->field_count || !may_begin(task)))
        return emit_tree_any(task, stream, values, count, message_id, 0);
    if (GX_UNLIKELY(task->slow)) gx_executor_tell_time(ex); /* its tree would be born old */
    if (ex->acking && is_brief(task, routes, values, count))
        return emit_tree_special(task, routes, routes->sole, values, message_id);
    const gx_short s = { routes, gx_ledger_next_root(&ex->ledger), ex->acking, gx_emit_deadline(ex) };
    if (GX_UNLIKELY(task->plan->retains) && gx_emit_retain(task, stream, values, count, s.root) < 0)
        return emit_tree_any(task, stream, values, count, message_id, 0);
    uint32_t targets = gx_short_send(task, &s, values, count, &edges, &chosen);
    if (GX_UNLIKELY(!targets)) {
        gx_retention_drop(&ex->retention, gx_ledger_slot(s.root));
        return emit_tree_any(task, stream, values, count, message_id, chosen);
    }
    begin_tree(task, s.root, message_id, edges);
    if (GX_UNLIKELY(gx_emit_is_watched(task))) gx_emit_show(task, stream, values, count, &message_id, targets);
    return (int)targets;
}

GX_INLINE int emit_tree_brief(gx_task *task, gx_stream_routes *routes, gx_open *open, const gale_value *value,
                              uint64_t message_id) {
    return GX_LIKELY(routes->bare) ? emit_tree_bare(task, routes, open, value, message_id)
                                   : emit_tree_special(task, routes, open, value, message_id);
}

GX_NOINLINE static int emit_tree_first(gx_task *task, gx_stream_routes *routes, gx_open *open, const gale_value *value,
                                       uint64_t message_id) {
    if (GX_LIKELY(open_chosen(task))) return emit_tree_brief(task, routes, open, value, message_id);
    return emit_tree_any(task, (uint32_t)(routes - task->streams), value, 1, message_id, 1);
}

GX_NOINLINE static int emit_tree_choosing(gx_task *task, uint32_t stream, const gale_value *values, size_t count,
                                          uint64_t message_id) {
    gx_stream_routes *routes = &task->streams[stream];
    if (count != 1 || !gx_flat_is_brief(values)) return emit_tree_routed(task, stream, values, count, message_id);
    gx_open *open = routes->by_field ? choose_by_field(task, routes, values) : choose(task, routes, values);
    return GX_LIKELY(open->at < open->end) ? emit_tree_brief(task, routes, open, values, message_id)
                                           : emit_tree_first(task, routes, open, values, message_id);
}

static int do_emit_tracked(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                           uint64_t message_id) {
    gx_task *task = task_of(out);
    gx_executor *ex = task->executor;
    if (GX_UNLIKELY(ex->begins != task || stream >= task->stream_count || gx_executor_is_elsewhere(task)))
        return emit_tree_routed(task, stream, values, count, message_id);
    gx_stream_routes *routes = &task->streams[stream];
    gx_open *open = routes->brief;
    if (open->at >= open->end && routes->choice) return emit_tree_choosing(task, stream, values, count, message_id);
    if (open->at >= open->end || count != 1 || !gx_flat_is_brief(values))
        return emit_tree_routed(task, stream, values, count, message_id);
    return emit_tree_brief(task, routes, open, values, message_id);
}

/* --- Many at once --- */

/* Brief tuples one after the other into open batches, where they have room, with what they share looked at once.
 * `message_ids` NULL: children of the tuple in execution, which has one root. `by_field`: that chooses who takes each, not
 * the stream, which has a sole one. Returns how many went so. */
GX_INLINE size_t emit_run(gx_task *task, gx_stream_routes *routes, const gale_value *values,
                          const uint64_t *message_ids, size_t rows, bool by_field) {
    enum { BEFORE = sizeof(gale_head) + sizeof(gx_root) };
    gx_executor *ex = task->executor;
    gx_random random = ex->random;
    gx_open *open = routes->brief;
    uint64_t head = routes->head | UINT64_C(1) << 48, root = gx_load_relaxed(&ex->cursor.root), edges = 0;
    size_t done = 0;
    for (; done < rows && gx_flat_is_brief(&values[done]); done++) {
        if (by_field) open = choose_by_field(task, routes, &values[done]);
        unsigned char *at = open->at;
        if (at >= open->end) break;
        size_t length = BEFORE + gx_flat_write_brief(&values[done], at + BEFORE);
        uint64_t edge = gx_draw_edge_of(&random);
        if (message_ids) root = gx_ledger_next_root(&ex->ledger);
        if (message_ids) gx_ledger_take(&ex->ledger, root, task->id, message_ids[done], ex->now, edge);
        gx_store64(at, length | head);
        *(gx_root *)(at + sizeof(gale_head)) = (gx_root){ root, edge };
        edges ^= edge;
        open->at = at + length;
    }
    ex->random = random;
    if (!message_ids) ex->cursor.ack ^= edges;
    gx_count(&routes->counters.single, done);
    return done;
}

/* Are its tuples bare, for one task that is known or chosen by their only value? */
static bool is_for_runs(const gx_task *task, uint32_t stream, size_t count) {
    if (stream >= task->stream_count || count != 1 || gx_executor_is_elsewhere(task)) return false;
    const gx_stream_routes *routes = &task->streams[stream];
    return routes->bare && (routes->by_field || routes->brief != &task->executor->never);
}

GX_NOINLINE static size_t emit_children(gx_task *task, uint32_t stream, const gale_value *values, size_t rows) {
    const gx_executor *ex = task->executor;
    gx_stream_routes *routes = &task->streams[stream];
    if (ex->turn != task || ex->cursor.stem != GX_STEM_ONE) return 0;
    return routes->by_field ? emit_run(task, routes, values, NULL, rows, true)
                            : emit_run(task, routes, values, NULL, rows, false);
}

/* As many as the ledger has room for. */
GX_NOINLINE static size_t emit_trees(gx_task *task, uint32_t stream, const gale_value *values,
                                     const uint64_t *message_ids, size_t rows) {
    gx_executor *ex = task->executor;
    gx_stream_routes *routes = &task->streams[stream];
    size_t most = rows < ex->ledger.free_count ? rows : ex->ledger.free_count;
    if (ex->begins != task || routes->by_field) return 0;
    size_t done = emit_run(task, routes, values, message_ids, most, false);
    if (GX_UNLIKELY(!ex->ledger.free_count)) ex->begins = NULL;
    task->spout.pending += done;
    return done;
}

/* What no run takes, such as the first of a batch, is emitted by itself. */
static int do_emit_many(gale_collector *out, uint32_t stream, const gale_value *values, size_t count, size_t rows,
                        size_t *emitted) {
    gx_task *task = task_of(out);
    bool runs = is_for_runs(task, stream, count);
    size_t done = 0;
    int rc = GALE_OK;
    while (done < rows && rc >= 0) {
        if (runs) done += emit_children(task, stream, values + done, rows - done);
        if (done < rows) rc = do_emit(out, stream, count ? values + done * count : values, count);
        if (done < rows && rc >= 0) done++;
    }
    *emitted = done;
    return rc < 0 ? rc : GALE_OK;
}

/* The trees of one call begin together, also those of a spout that is known to be slow, for which the time is told at each
 * emit: it is told once. */
static void begin_together(gx_task *task, bool together) {
    gx_executor *ex = task->executor;
    if (together) gx_executor_tell_time(ex);
    gx_turn_set_slow(task, !together);
    gx_turn_let_begin(ex);
}

/* Trees of one call of `next` count as that many, but for the one that the call itself counts as. */
static void take_room(gx_task *task, size_t trees) {
    gx_spout_life *life = &task->spout;
    size_t more = trees > 1 ? trees - 1 : 0;
    if (life->room) life->room = more < life->room ? life->room - more : 1;
}

static uint64_t do_room(gale_collector *out) {
    const gx_spout_life *life = &task_of(out)->spout;
    uint64_t open = life->pending < life->max_pending ? life->max_pending - life->pending : 0;
    return open < life->room ? open : life->room;
}

static int do_emit_many_tracked(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                                size_t rows, const uint64_t *message_ids, size_t *emitted) {
    gx_task *task = task_of(out);
    bool runs = is_for_runs(task, stream, count),
         slow = task->is_spout && task->slow && !gx_executor_is_elsewhere(task);
    size_t done = 0;
    int rc = GALE_OK;
    if (slow) begin_together(task, true);
    while (done < rows && rc >= 0) {
        if (runs) done += emit_trees(task, stream, values + done, message_ids + done, rows - done);
        if (done < rows)
            rc = do_emit_tracked(out, stream, count ? values + done * count : values, count, message_ids[done]);
        if (done < rows && rc >= 0) done++;
    }
    if (slow) begin_together(task, false);
    take_room(task, done);
    *emitted = done;
    return rc < 0 ? rc : GALE_OK;
}

/* --- To a task that is named --- */

/* Task 0 is nobody, and means "by grouping" in an emission. */
static uint32_t direct_to(uint32_t task) {
    return task ? task : UINT32_MAX;
}

static int do_emit_direct(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values, size_t count) {
    const gx_emission e = { .direct = direct_to(to), .stream = stream, .values = values, .count = count };
    return emit_current(task_of(out), &e);
}

static int do_emit_direct_anchored(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values,
                                   size_t count, const gale_handle *anchors, size_t anchor_count) {
    const gx_emission e = { .direct = direct_to(to), .stream = stream, .values = values, .count = count };
    return gx_collector_emit_anchored(task_of(out), &e, anchors, anchor_count);
}

static int do_emit_direct_tracked(gale_collector *out, uint32_t to, uint32_t stream, const gale_value *values,
                                  size_t count, uint64_t message_id) {
    const gx_emission e = {
        .direct = direct_to(to), .stream = stream, .values = values, .count = count, .message_id = &message_id
    };
    return gx_collector_emit_tree(task_of(out), &e);
}

/* --- Answers --- */

static const gale_tuple *answered_tuple(gx_task *task, gale_handle handle) {
    const gx_cursor *cursor = &task->executor->cursor;
    if (gx_handle_index(handle) != GX_HELD_CURRENT) return gx_held_tuple(gx_held_find(&task->held, handle));
    return cursor->state == GX_CURSOR_OPEN ? &cursor->tuple : gx_held_tuple(&task->held.slots[cursor->held_index]);
}

/* No spout hears of it, and it has no dead letter: of one that was rejected only the log has the values. */
static void report_untracked(gx_task *task, gale_handle handle, int32_t reason, const char *text) {
    enum { SHOWN = 300 };
    if (reason != GALE_REASON_REJECTED || !gx_log_wanted(task->context.logger, GALE_LOG_WARN)) {
        gx_task_report(task, text);
        return;
    }
    gx_buf values = GX_BUF_INIT(task->executor->heap), line = GX_BUF_INIT(task->executor->heap);
    gx_json json = gx_json_to(&values);
    gx_json_tuple_values(&json, answered_tuple(task, handle));
    bool whole = values.size <= SHOWN;
    int shown = (int)(whole ? values.size : gx_utf8_prefix(values.data, SHOWN));
    gx_buf_format(&line, "rejected: %s; the tuple is untracked and has no dead letter: %.*s%s", text ? text : "", shown,
                  values.data ? values.data : "", whole ? "" : "...");
    gx_task_report_with(task, text, gx_buf_text(&line));
    gx_buf_fini(&line);
    gx_buf_fini(&values);
}

static void fail_anchor(gx_task *task, gale_handle handle, const gx_anchor *anchor, int32_t reason, const char *text) {
    gx_acks_fail(task->executor, task, anchor->roots, reason, text);
    bool rejected = reason == GALE_REASON_REJECTED, late = reason == GALE_REASON_TIMEOUT;
    gx_task_counters *c = &task->counters;
    gx_count(rejected ? &c->rejected : late ? &c->timed_out : &c->failed, 1);
    gx_count(rejected ? &anchor->edge->rejected : &anchor->edge->failed, 1);
    if (!anchor->roots.count) report_untracked(task, handle, reason, text);
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
    gx_acks_ack(task->executor, anchor->roots, *anchor->ack);
    gx_count(&anchor->edge->acked, 1);
    if (gx_hooks_any(task)) gx_hooks_call_ack(task, handle);
}

/* By the component, in the call or later. */
static void note_processed(gx_task *task, const gx_sample *sample) {
    if (GX_LIKELY(!sample->weight)) return;
    gx_task_processed(task, sample, gx_executor_tell_time(task->executor) - sample->began);
}

static int answer(gx_task *task, gale_handle handle, bool ack, int32_t reason, const char *text) {
    gx_executor *ex = task->executor;
    gx_cursor *cursor = &ex->cursor;
    gx_anchor anchor;
    if (gx_executor_is_elsewhere(task)) return GALE_THREAD;
    int rc = find_anchor(task, handle, &anchor);
    if (rc < 0) return misuse(task, rc);
    if (!ack && !gx_reason_is_valid(reason)) {
        *anchor.failed = true;
        return misuse(task, GALE_INVALID);
    }
    if (ack && !*anchor.failed) note_processed(task, anchor.sample);
    if (ack)
        ack_anchor(task, handle, &anchor);
    else
        fail_anchor(task, handle, &anchor, reason, text);
    bool current = gx_handle_index(handle) == GX_HELD_CURRENT;
    if (current && cursor->state == GX_CURSOR_OPEN) {
        gx_cursor_leave(cursor, GX_CURSOR_ANSWERED);
        return GALE_OK;
    }
    gx_held_remove(&task->held, &ex->blocks, current ? cursor->held_index : gx_handle_index(handle));
    gx_store_relaxed(&task->counters.held, task->held.count);
    if (cursor->task == task && cursor->state == GX_CURSOR_HELD && !task->held.slots[cursor->held_index].copy)
        gx_cursor_leave(cursor, GX_CURSOR_ANSWERED);
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
    if (gx_executor_is_elsewhere(task)) return GALE_THREAD;
    int rc = find_anchor(task, handle, &anchor);
    if (rc < 0) return misuse(task, rc);
    gx_acks_reset(task->executor, anchor.roots);
    return GALE_OK;
}

static int do_hold(gale_collector *out, gale_handle handle, gale_handle *ret_held) {
    gx_task *task = task_of(out);
    if (gx_executor_is_elsewhere(task)) return GALE_THREAD;
    if (!ret_held) return misuse(task, GALE_INVALID);
    gx_executor *ex = task->executor;
    gx_cursor *cursor = &ex->cursor;
    if (cursor->task != task || cursor->tuple.handle != handle || cursor->state != GX_CURSOR_OPEN)
        return misuse(task, GALE_SETTLED);
    uint32_t index;
    int rc = gx_held_add(&task->held, ex->heap, &ex->blocks, task->id, &cursor->tuple, cursor->ack, &index);
    if (rc < 0) return rc;
    task->held.slots[index].failed = cursor->failed;
    task->held.slots[index].sample = ex->sample;
    gx_cursor_leave(cursor, GX_CURSOR_HELD);
    cursor->held_index = index;
    gx_store_relaxed(&task->counters.held, task->held.count);
    *ret_held = gx_held_tuple(&task->held.slots[index])->handle;
    return GALE_OK;
}

static const gale_tuple *do_held(gale_collector *out, gale_handle handle) {
    gx_task *task = task_of(out);
    if (gx_executor_is_elsewhere(task) || !is_own(task, handle)) return NULL;
    const gx_held_slot *slot = gx_held_find(&task->held, handle);
    return slot ? gx_held_tuple(slot) : NULL;
}

static int do_congest(gale_collector *out, bool congested) {
    gx_task *task = task_of(out);
    if (gx_executor_is_elsewhere(task)) return GALE_THREAD;
    if (task->is_spout) return misuse(task, GALE_STATE);
    gx_executor_fill(task->executor, task, congested);
    return GALE_OK;
}

static void do_report(gale_collector *out, const char *text) {
    gx_task_report(task_of(out), text);
}

static int64_t do_source_lost(gale_collector *out, gale_is_lost_fn *is_lost, void *user) {
    gx_task *task = task_of(out);
    if (gx_executor_is_elsewhere(task)) return GALE_THREAD;
    if (!task->is_spout) return misuse(task, GALE_STATE);
    return gx_lost_trees(task, is_lost, user);
}

static uint64_t do_pending(gale_collector *out) {
    return task_of(out)->spout.pending;
}

static void do_stop(gale_collector *out, int code, const char *text) {
    const gx_task *task = task_of(out);
    gale_error error = GALE_ERROR_INIT;
    gale_error_set(&error, code < 0 ? code : GALE_COMPONENT, "%s", text ? text : "");
    gale_error_add(&error, "task %u of '%s' stopped the run", task->id, task->context.component);
    gx_executors_fail(task->executor->shared, &error);
}

static void do_resume(gale_collector *out) {
    gx_store_relaxed(&task_of(out)->executor->shared->resumed, 1);
}

static void do_remember(gale_collector *out) {
    task_of(out)->remembers = true;
}

/* Everybody sees what was said before all was open. What is not open yet may say so still: nothing is begun anew that it goes on
 * with. */
static bool do_resumed(gale_collector *out) {
    gx_shared *shared = task_of(out)->executor->shared;
    return gx_load_acquire(&shared->unopened_spouts) || gx_load_relaxed(&shared->resumed);
}

/* In the batch that is run, from the same stream. What lies in a block would have to be fetched itself. */
static const gale_body *do_ahead(gale_collector *out, uint32_t distance) {
    const gx_task *task = task_of(out);
    const gx_executor *ex = task->executor;
    const unsigned char *at = (const unsigned char *)ex->cursor.tuple.head;
    if (ex->cursor.task != task || ex->cursor.state != GX_CURSOR_OPEN) return NULL;
    for (; distance; distance--) {
        at += ((const gale_head *)at)->length;
        if (at >= ex->run_end) return NULL;
    }
    const gale_head *head = (const gale_head *)at;
    return head->flags & GX_ROW_BODY_IN_BLOCK ? NULL : gx_row_body(head);
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
        .remember = do_remember,
        .emit_many = do_emit_many,
        .emit_many_tracked = do_emit_many_tracked,
        .state = gx_state_open,
        .watch_new = gx_watches_new,
        .watch_set = gx_watches_set,
        .watch_free = gx_watches_free,
        .health = gx_health_tell,
        .congest = do_congest,
        .metric_new = gx_metrics_new,
        .wish_checkpoint = gx_state_wish,
        .source_lost = do_source_lost,
        .part_is_full = gx_parts_full,
        .room = do_room,
        .ahead = do_ahead,
    };
    return &ops;
}

/* Answered with the next flush; at once when there is no memory to remember it until then. */
static void owe(gx_task *task, const gx_anchor *anchor) {
    gx_cursor *cursor = &task->executor->cursor;
    gale_handle handle = cursor->tuple.handle;
    if (gx_flush_owe(task, handle, anchor->roots, *anchor->ack) == GALE_OK) {
        anchor->edge->owed++;
        return;
    }
    gx_cursor_leave(cursor, GX_CURSOR_NONE); /* what the flush emits is not anchored to it */
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
        const gx_anchor anchor = current_anchor(ex);
        if (GX_UNLIKELY(rc < 0)) {
            const char *text = task->reported ? task->report : gale_error_text(rc);
            fail_anchor(task, cursor->tuple.handle, &anchor, GALE_REASON_FAILED, text);
        } else if (task->gathers && !cursor->failed) {
            owe(task, &anchor);
        } else if (task->simple) {
            ack_anchor(task, cursor->tuple.handle, &anchor);
        } else if (anchor.roots.count) {
            gx_count(&task->counters.forgotten, 1);
            gx_forgotten_note(&ex->forgotten, ex->heap, task->id, anchor.roots, ex->now, ex->shared->plan->timeout);
        }
    }
    if (GX_UNLIKELY(rc < 0) && !task->reported) gx_task_report(task, gale_error_text(rc));
    gx_cursor_leave(cursor, GX_CURSOR_NONE);
}
