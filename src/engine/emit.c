#include "engine/emit.h"

#include "base/assert.h"
#include "engine/acks.h"
#include "engine/drop.h"

#include <stdlib.h>

/* --- Roots of a new tuple --- */

static int by_root(const void *a, const void *b) {
    const gx_member *x = a, *y = b;
    return x->root < y->root ? -1 : x->root > y->root;
}

/* The union of several anchors' roots: members sorted by root, each knowing its anchor and its place in the union. */
static int unite(gx_executor *ex, gx_origin *from) {
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

/* A new tree's deadline, or the earliest of the anchors'. */
static int64_t deadline_of(const gx_executor *ex, const gx_origin *from) {
    int64_t earliest = 0;
    if (from->begun) return gx_emit_deadline(ex);
    for (size_t i = 0; i < from->anchor_count; i++) {
        int64_t one = from->anchors[i].deadline;
        if (one && (!earliest || one < earliest)) earliest = one;
    }
    return earliest;
}

static int count_roots(gx_executor *ex, gx_origin *from) {
    if (GX_UNLIKELY(ex->shared->plan->deadline)) from->deadline = deadline_of(ex, from);
    if (from->begun)
        from->root_count = 1;
    else if (from->anchor_count == 1)
        from->root_count = from->anchors[0].roots.count;
    else if (from->anchor_count > 1)
        return unite(ex, from);
    return GALE_OK;
}

static void draw_united(gx_executor *ex, const gx_origin *from, gx_root *roots) {
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
static void draw_roots(gx_executor *ex, gx_origin *from, gx_root *roots) {
    if (from->anchor_count > 1) {
        draw_united(ex, from, roots);
        return;
    }
    uint64_t edge = gx_draw_edge(ex);
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
typedef struct delivery {
    const gx_emission *emission;
    gx_origin *from;
    size_t body_size;
    uint32_t length;         /* of a row */
    gx_block *body_block;    /* a large body, encoded; else NULL */
    const void *body_inline; /* a small body, once it is encoded */
    gx_block *root_blocks;   /* chained by `next`: where more roots than fit in a row go, one a target */
} delivery;

static void write_roots(gx_executor *ex, delivery *d, gale_head *head) {
    gx_block *block = d->root_blocks;
    if (GX_LIKELY(!block)) {
        head->roots = (uint8_t)d->from->root_count;
        if (head->roots) draw_roots(ex, d->from, (gx_root *)(head + 1));
        return;
    }
    d->root_blocks = block->next;
    gx_root_block *many = (gx_root_block *)block->bytes;
    head->roots = GX_ROOTS_IN_BLOCK;
    many->count = d->from->root_count;
    draw_roots(ex, d->from, many->pairs);
    memcpy(head + 1, &block, sizeof block);
}

static void write_values(const gx_emission *e, void *at) {
    if (e->body)
        memcpy(at, e->body, e->body_size);
    else
        gx_body_encode(e->values, e->count, at);
}

static void write_body(delivery *d, gale_head *head) {
    GX_CHECK(d->body_block || d->body_size <= GX_BODY_INLINE);
    unsigned char *at = gx_row_tail(head);
    if (d->body_block) {
        head->flags |= GX_ROW_BODY_IN_BLOCK;
        memcpy(at, &d->body_block, sizeof d->body_block);
        gx_store64(at + 8, d->body_size);
    } else if (d->body_inline) {
        memcpy(at, d->body_inline, d->body_size);
    } else {
        write_values(d->emission, at);
        d->body_inline = at;
    }
}

/* Where there is room for it. */
static void write_row(gx_executor *ex, delivery *d, gx_task *target) {
    gale_head *head = (gale_head *)ex->open[target->id].at;
    *head = (gale_head){ d->length, (uint16_t)d->emission->stream, 0, d->from->deadline ? GX_ROW_DEADLINE : 0 };
    write_roots(ex, d, head);
    if (GX_UNLIKELY(d->from->deadline)) memcpy(gx_row_behind_roots(head), &d->from->deadline, 8);
    write_body(d, head);
    gx_turn_written(ex, target, d->length, d->body_block ? d->body_size : 0);
}

static void give_up(gx_executor *ex, delivery *d) {
    while (d->root_blocks) {
        gx_block *next = d->root_blocks->next;
        gx_block_release(d->root_blocks, &ex->blocks);
        d->root_blocks = next;
    }
}

/* Blocks for the roots of every delivery, when there are too many to lie in the rows. */
static bool take_root_blocks(gx_executor *ex, delivery *d, uint32_t count) {
    if (GX_LIKELY(d->from->root_count <= GX_ROOTS_INLINE)) return true;
    for (uint32_t i = 0; i < count; i++) {
        gx_block *block = gx_block_take(&ex->blocks, sizeof(gx_root_block) + d->from->root_count * sizeof(gx_root));
        if (!block) return false;
        block->next = d->root_blocks;
        d->root_blocks = block;
    }
    return true;
}

static bool take_body_block(gx_executor *ex, delivery *d, uint32_t count) {
    const gx_emission *e = d->emission;
    if (GX_LIKELY(d->body_size <= GX_BODY_INLINE)) return true;
    if (e->block) {
        gx_block_ref(d->body_block = e->block, count);
        return true;
    }
    d->body_block = gx_block_take(&ex->blocks, d->body_size);
    if (!d->body_block) return false;
    write_values(e, d->body_block->bytes);
    if (count > 1) gx_block_ref(d->body_block, count - 1);
    return true;
}

/* There is room at every target, so that none can fail once the first is written. */
static int deliver(gx_executor *ex, delivery *d, const uint16_t *targets, uint32_t count) {
    GX_CHECK(count > 0 && d->from->root_count <= UINT32_MAX);
    if (!take_root_blocks(ex, d, count) || !take_body_block(ex, d, count)) {
        give_up(ex, d);
        return GALE_NO_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) write_row(ex, d, ex->shared->tasks[targets[i]]);
    return (int)count;
}

/* --- Room --- */

/* What is for a task whose queue is at the limit is not queued: the trees that it would belong to fail. */
static void shed(gx_executor *ex, gx_origin *from, gx_task *target) {
    GX_CHECK(target->executor == ex);
    uint64_t trees = 0;
    for (size_t i = 0; i < from->anchor_count; i++) {
        gx_acks_fail(ex, target, from->anchors[i].roots, GALE_REASON_OVERFLOW, ex->shared->limit_text);
        trees += from->anchors[i].roots.count;
    }
    if (from->begun && ex->shared->plan->acking) {
        from->overflowed = target->id;
        trees++;
    }
    gx_acks_count_overflow(target, trees > 0);
}

/* By which input the target takes it; NULL: by one that does not drop. */
static const gx_plan_drop *drop_of(const gx_task *task, uint32_t stream, const gx_task *target) {
    return GX_UNLIKELY(target->plan->drop_count) ? gx_drop_find(target, task->component, stream) : NULL;
}

/* Makes room for a row of this length at all targets, and puts those first that have it: the others are on this executor and
 * at the limit, or would rather lose the tuple. Returns how many are first, or GALE_NO_MEMORY. */
static int make_all_room(gx_task *task, uint32_t stream, uint32_t length, int count) {
    gx_executor *ex = task->executor;
    uint16_t *targets = ex->scratch.targets;
    int kept = 0;
    for (int i = 0; i < count; i++) {
        uint16_t id = targets[i];
        gx_task *target = ex->shared->tasks[id];
        int rc = gx_turn_make_room(ex, target, drop_of(task, stream, target), length);
        if (GX_UNLIKELY(rc < 0)) return rc;
        if (GX_UNLIKELY(rc != GALE_OK)) continue;
        targets[i] = targets[kept];
        targets[kept++] = id;
    }
    return kept;
}

/* The targets that had no room, once nothing can fail any more. Returns how many would rather lose it: it went there,
 * whether the drop was here or at the other end of a ring. */
static int leave_out(gx_task *task, uint32_t stream, gx_origin *from, int kept, int count) {
    gx_executor *ex = task->executor;
    int dropped = 0;
    for (int i = kept; i < count; i++) {
        gx_task *target = ex->shared->tasks[ex->scratch.targets[i]];
        const gx_plan_drop *drop = drop_of(task, stream, target);
        dropped += drop != NULL;
        if (drop)
            gx_drop_count(ex, target, drop, 1);
        else
            shed(ex, from, target);
    }
    return dropped;
}

/* --- Emitting --- */

/* The tasks that it goes to, in the scratch. Returns how many. */
static int choose_targets(gx_task *task, const gx_emission *e) {
    gx_executor *ex = task->executor;
    gx_stream_routes *routes = &task->streams[e->stream];
    gx_scratch *s = &ex->scratch;
    size_t most = routes->fanout ? routes->fanout : 1;
    if (GX_UNLIKELY(most > s->target_capacity) &&
        !gx_grow(ex->heap, GX_TAG_OTHER, &s->targets, &s->target_capacity, most, sizeof *s->targets))
        return GALE_NO_MEMORY;
    if (e->chosen) return (int)e->chosen;
    if (GX_LIKELY(!e->direct)) {
        if (GX_UNLIKELY(routes->direct)) return GALE_STATE;
        return (int)gx_router_targets(routes, e->values, s->targets);
    }
    int rc = gx_router_direct(routes, e->direct);
    if (rc < 0) return rc;
    s->targets[0] = (uint16_t)e->direct;
    return 1;
}

/* Is there such a stream, with so many fields? */
GX_INLINE int check_shape(const gx_task *task, const gx_emission *e, const gx_origin *from) {
    if (GX_UNLIKELY(e->stream >= task->stream_count + from->letter)) return GALE_NOT_FOUND;
    return GX_LIKELY(e->count == task->streams[e->stream].field_count) ? GALE_OK : GALE_FIELDS;
}

static int64_t measure(const gx_emission *e) {
    return e->body ? (int64_t)e->body_size : gx_body_measure(e->values, e->count);
}

const gale_value *gx_emit_values_of(gx_executor *ex, const gale_body *body, size_t count) {
    GX_CHECK(count <= ex->scratch.value_capacity);
    for (size_t i = 0; i < count; i++) ex->scratch.values[i] = gale_body_value(body, i);
    return ex->scratch.values;
}

static int emit(gx_task *task, const gx_emission *e, gx_origin *from) {
    gx_executor *ex = task->executor;
    gx_stream_routes *routes = &task->streams[e->stream];
    int64_t size = measure(e);
    if (GX_UNLIKELY(size < 0)) return (int)size;
    gx_turn_take(ex, task);
    int targets = choose_targets(task, e);
    if (GX_UNLIKELY(targets < 0)) return targets;
    int rc = targets && ex->shared->plan->acking ? count_roots(ex, from) : GALE_OK;
    if (rc < 0) return rc;
    delivery d = { .emission = e, .from = from, .body_size = (size_t)size };
    d.length = gx_row_length(from->root_count, d.body_size, from->deadline != 0);
    int kept = make_all_room(task, e->stream, d.length, targets);
    if (GX_LIKELY(kept > 0)) kept = deliver(ex, &d, ex->scratch.targets, (uint32_t)kept);
    if (GX_UNLIKELY(kept < 0)) return kept;
    targets = kept + leave_out(task, e->stream, from, kept, targets);
    gx_count(&routes->counters.other, 1);
    gx_count(&routes->counters.other_transferred, (uint64_t)targets);
    if (GX_UNLIKELY(gx_emit_is_watched(task)))
        gx_emit_show(task, e->stream, e->values, e->count, e->message_id, (uint32_t)targets);
    return targets;
}

/* Inside another task's call the turn is this one's for the emit alone: what is emitted next is looked at again. */
int gx_emit(gx_task *task, const gx_emission *e, gx_origin *from) {
    gx_executor *ex = task->executor;
    int rc = check_shape(task, e, from);
    if (GX_UNLIKELY(rc < 0)) return rc;
    gx_emission read;
    if (GX_UNLIKELY(e->body && (task->streams[e->stream].reads || gx_emit_is_watched(task)))) {
        read = *e;
        read.values = gx_emit_values_of(ex, e->body, e->count);
        e = &read;
    }
    rc = emit(task, e, from);
    if (GX_UNLIKELY(gx_cursor_is_anothers(&ex->cursor, task))) gx_turn_take(ex, NULL);
    return rc;
}

/* --- Trees --- */

void gx_emit_begun(gx_task *task, const gx_origin *from) {
    GX_CHECK(from->begun != 0);
    gx_executor *ex = task->executor;
    if (GX_UNLIKELY(from->overflowed))
        gx_ledger_fail(&ex->ledger, from->begun, GALE_REASON_OVERFLOW, from->overflowed, ex->shared->limit_text);
    else
        gx_acks_begin(ex, from->begun, from->begun_xor); /* no edges, or acking off: acked, later */
}

/* Keeps it for the tree with this root; what is kept is what is emitted. Values that the stream does not have are not looked at:
 * the caller has not said that they are there. */
static int retain(gx_task *task, gx_emission *e, const gx_origin *from) {
    GX_CHECK(from->begun != 0);
    gx_retention *retention = &task->executor->retention;
    gx_retained what = { .first = task->executor->now,
                         .attempts = 1,
                         .stream = (uint16_t)e->stream,
                         .direct = (uint16_t)e->direct,
                         .letter = from->letter };
    int rc = check_shape(task, e, from);
    int64_t size = rc < 0 ? rc : measure(e);
    if (size < 0) return (int)size;
    rc = e->body ? gx_retention_keep_body(retention, from->begun, what, e->body, e->body_size)
                 : gx_retention_keep(retention, from->begun, what, e->values, e->count);
    if (rc < 0) return rc;
    e->block = gx_retention_at(retention, gx_ledger_slot(from->begun))->body;
    e->body = (const gale_body *)e->block->bytes;
    e->body_size = (size_t)size;
    return GALE_OK;
}

bool gx_emit_retain_brief(gx_task *task, uint32_t stream, const gale_value *value) {
    gx_executor *ex = task->executor;
    uint64_t root = gx_ledger_next_root(&ex->ledger);
    gx_retained *kept = gx_retention_place_brief(&ex->retention, root);
    if (GX_UNLIKELY(!kept)) return false;
    *kept = (gx_retained){ kept->body, ex->now, 1, (uint16_t)stream, 0, false };
    gx_flat_write_brief(value, kept->body->bytes);
    return true;
}

int gx_emit_retain(gx_task *task, uint32_t stream, const gale_value *values, size_t count, uint64_t root) {
    const gx_retained what = { .first = task->executor->now, .attempts = 1, .stream = (uint16_t)stream };
    return gx_retention_keep(&task->executor->retention, root, what, values, count);
}

int gx_emit_tree(gx_task *task, const gx_emission *e, gx_origin *from) {
    gx_executor *ex = task->executor;
    if (GX_UNLIKELY(task->slow)) gx_executor_tell_time(ex); /* its tree would be born old */
    int rc = gx_ledger_open(&ex->ledger, task->id, *e->message_id, ex->now, &from->begun);
    gx_turn_let_begin(ex);
    if (rc < 0) return rc;
    gx_emission kept;
    if (GX_UNLIKELY(ex->retention.segments != NULL) && task->plan->retains) {
        kept = *e;
        rc = retain(task, &kept, from);
        e = &kept;
    }
    if (rc >= 0) rc = gx_emit(task, e, from);
    if (rc < 0) {
        gx_retention_drop(&ex->retention, gx_ledger_slot(from->begun));
        gx_ledger_cancel(&ex->ledger, from->begun);
        return rc;
    }
    gx_emit_begun(task, from);
    return rc;
}
