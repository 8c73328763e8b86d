#include "engine/emit.h"

#include "base/assert.h"
#include "engine/answer.h"
#include "engine/drop.h"
#include "engine/hooks.h"

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
    int64_t span = ex->shared->plan->deadline, earliest = 0;
    if (from->begun) return span < INT64_MAX - ex->now ? ex->now + span : INT64_MAX;
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

static void *claim_waiting(gx_executor *ex, const parcel *p, gx_task *target) {
    const gx_plan_drop *drop = gx_drop_find(target, p->task->component, p->stream);
    return gx_drop_push(ex, target, drop, p->length);
}

static void *claim(gx_executor *ex, const parcel *p, gx_task *target) {
    uint32_t length = p->length;
    if (target->executor == ex) {
        if (GX_UNLIKELY(target->lanes != NULL)) return claim_waiting(ex, p, target);
        return gx_fifo_push(&ex->local, &ex->chunks, length);
    }
    gx_outlet *outlet = &ex->outlets[target->executor->index];
    void *at = gx_outlet_claim(outlet, &ex->chunks, length);
    if (GX_UNLIKELY(outlet->outbox.count)) ex->gates_stale = true;
    return at;
}

static void write_body(parcel *p, gale_head *head, unsigned char *at) {
    GX_CHECK(p->body_block || p->body_size <= GX_BODY_INLINE);
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
static void write_record(gx_executor *ex, parcel *p, gx_origin *from, uint16_t target, void *at, gx_block *root_block) {
    gale_head *head = at;
    *head = (gale_head){
        p->length, target, p->task->id, (uint16_t)p->stream, (uint8_t)from->root_count, 0, (uint32_t)p->body_size
    };
    if (GX_UNLIKELY(from->deadline)) {
        head->flags = GX_RECORD_DEADLINE;
        memcpy(head + 1, &from->deadline, sizeof from->deadline);
    }
    unsigned char *roots = gx_record_after_head(head);
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

static void arrive(gx_executor *ex, const parcel *p, gx_task *target, gale_head *head) {
    GX_CHECK(head->target == target->id);
    if (target->executor != ex) return;
    const gx_plan_drop *drop = NULL;
    if (GX_UNLIKELY(target->lanes != NULL)) {
        gx_waiting_pushed(target, head);
        drop = gx_drop_find(target, p->task->component, p->stream);
    }
    if (GX_UNLIKELY(drop != NULL))
        gx_drop_queued(target, drop, gx_record_weight(head));
    else
        gx_executor_queued(ex, target, gx_record_weight(head));
}

/* Blocks for the roots of every delivery, when there are too many to lie in the records. They are chained by `next`
 * until they are used. */
static bool take_root_blocks(gx_executor *ex, const gx_origin *from, uint32_t count, gx_block **ret_blocks) {
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

static bool take_body_block(gx_executor *ex, parcel *p, gx_block *retained, uint32_t count) {
    if (GX_LIKELY(p->body_size <= GX_BODY_INLINE)) return true;
    if (retained) {
        gx_block_ref(p->body_block = retained, count);
        return true;
    }
    p->body_block = gx_block_take(&ex->blocks, p->body_size);
    if (!p->body_block) return false;
    gx_body_encode(p->values, p->value_count, p->body_block->bytes);
    if (count > 1) gx_block_ref(p->body_block, count - 1);
    return true;
}

/* Room for all deliveries, so that none can fail once the first is written: each record may need a new chunk at the
 * end of its queue, and there are as many queues as executors, and some tasks with queues of their own. */
static bool ensure_room(gx_executor *ex, const parcel *p, uint32_t count) {
    if (GX_LIKELY(count == 1)) return ex->chunks.free_count > 0 || gx_chunks_ensure(&ex->chunks, 1);
    size_t chunks = (size_t)count * p->length / (GX_CHUNK_ROOM - GX_FIFO_ENTRY_MAX) + 1;
    size_t queues = ex->shared->executor_count;
    if (queues > count || ex->shared->plan->drop_slots) queues = count;
    return gx_chunks_ensure(&ex->chunks, chunks + queues);
}

static int deliver(gx_executor *ex, parcel *p, gx_origin *from, const uint16_t *targets, uint32_t count) {
    GX_CHECK(count > 0 && from->root_count <= UINT32_MAX);
    p->length = gx_record_length(from->root_count, p->body_size, from->deadline != 0);
    gx_block *root_blocks;
    if (!ensure_room(ex, p, count) || !take_root_blocks(ex, from, count, &root_blocks)) return GALE_NO_MEMORY;
    if (!take_body_block(ex, p, from->body, count)) {
        for (gx_block *next; root_blocks; root_blocks = next) {
            next = root_blocks->next;
            gx_block_release(root_blocks, &ex->blocks);
        }
        return GALE_NO_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) {
        gx_task *target = ex->shared->tasks[targets[i]];
        void *at = claim(ex, p, target);
        GX_ASSERT(at != NULL);
        gx_block *roots = root_blocks;
        if (GX_UNLIKELY(roots != NULL)) root_blocks = roots->next;
        write_record(ex, p, from, targets[i], at, roots);
        arrive(ex, p, target, at);
    }
    return (int)count;
}

/* --- Drop policies and the hard limit --- */

/* What is for a task whose queue is at the limit is not queued: the trees that it would belong to fail. */
static void shed(gx_executor *ex, gx_origin *from, gx_task *target) {
    GX_CHECK(target->executor == ex);
    uint64_t trees = 0;
    for (size_t i = 0; i < from->anchor_count; i++) {
        gx_answer_fail(ex, target, from->anchors[i].roots, GALE_REASON_OVERFLOW, gx_answer_at_limit);
        trees += from->anchors[i].roots.count;
    }
    if (from->begun && ex->shared->plan->acking) {
        from->overflowed = target->id;
        trees++;
    }
    gx_count(trees ? &target->counters.overflowed : &target->counters.shed, 1);
}

/* Takes out the targets on this executor that are at the limit, and those that would rather lose the tuple. Returns how
 * many are left, and counts the latter. */
static int shed_targets(gx_task *task, uint32_t stream, gx_origin *from, int count, int *ret_dropped) {
    gx_executor *ex = task->executor;
    uint16_t *targets = ex->scratch.targets;
    int kept = 0;
    for (int i = 0; i < count; i++) {
        gx_task *target = ex->shared->tasks[targets[i]];
        const gx_plan_drop *drop = NULL;
        if (GX_UNLIKELY(target->lanes != NULL)) drop = gx_drop_find(target, task->component, stream);
        if (GX_UNLIKELY(drop && gx_drop_arriving(ex, target, drop)))
            ++*ret_dropped;
        else if (GX_UNLIKELY(!drop && target->executor == ex && target->queued > ex->shared->queue_limit))
            shed(ex, from, target);
        else
            targets[kept++] = targets[i];
    }
    return kept;
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

static void tell_watchers(gx_task *task, const gx_emission *e, int targets) {
    if (task->hook_count) gx_hooks_call_emit(task, e->stream, e->values, e->count, (uint32_t)targets);
    const gx_events *events = gx_load_acquire(&task->executor->shared->events[task->component]); /* A1 */
    if (events) gx_hooks_log_event(task, events, e->stream, e->values, e->count, e->message_id);
}

int gx_emit(gx_task *task, const gx_emission *e, gx_origin *from) {
    gx_executor *ex = task->executor;
    if (GX_UNLIKELY(e->stream >= task->stream_count + from->letter)) return GALE_NOT_FOUND;
    gx_stream_routes *routes = &task->streams[e->stream];
    if (GX_UNLIKELY(e->count != routes->field_count)) return GALE_FIELDS;
    int64_t size = gx_body_measure(e->values, e->count);
    if (GX_UNLIKELY(size < 0)) return (int)size;
    int targets = choose_targets(task, e);
    if (GX_UNLIKELY(targets < 0)) return targets;
    int dropped = 0;
    targets = shed_targets(task, e->stream, from, targets, &dropped);
    parcel p = {
        .task = task, .stream = e->stream, .values = e->values, .value_count = e->count, .body_size = (size_t)size
    };
    if (GX_UNLIKELY(from->body != NULL)) p.body_inline = from->body->bytes;
    int rc = targets && ex->shared->plan->acking ? count_roots(ex, from) : GALE_OK;
    if (rc == GALE_OK && targets) rc = deliver(ex, &p, from, ex->scratch.targets, (uint32_t)targets);
    if (rc < 0) return rc;
    targets += dropped; /* they went there, whether the drop was here or at the other end of a ring */
    gx_count(&routes->counters.other, 1);
    gx_count(&routes->counters.other_transferred, (uint64_t)targets);
    if (GX_UNLIKELY(task->hook_count || gx_load_relaxed(&ex->shared->watched))) tell_watchers(task, e, targets);
    return targets;
}

/* --- Trees --- */

void gx_emit_begun(gx_task *task, const gx_origin *from) {
    GX_CHECK(from->begun != 0);
    gx_executor *ex = task->executor;
    if (GX_UNLIKELY(from->overflowed))
        gx_ledger_fail(&ex->ledger, from->begun, GALE_REASON_OVERFLOW, from->overflowed, gx_answer_at_limit);
    else
        gx_answer_begin(ex, from->begun, from->begun_xor); /* no edges, or acking off: acked, later */
}

static int retain(gx_task *task, const gx_emission *e, gx_origin *from) {
    GX_CHECK(from->begun != 0);
    gx_executor *ex = task->executor;
    gx_retained what = { .first = ex->now, .attempts = 1, .stream = (uint16_t)e->stream, .letter = from->letter };
    what.direct = (uint16_t)e->direct;
    return gx_retention_keep(&ex->retention, from->begun, what, e->values, e->count, &from->body);
}

int gx_emit_tree(gx_task *task, const gx_emission *e, gx_origin *from) {
    gx_executor *ex = task->executor;
    if (GX_UNLIKELY(task->slow)) gx_executor_tell_time(ex); /* its tree would be born old */
    int rc = gx_ledger_open(&ex->ledger, task->id, *e->message_id, ex->now, &from->begun);
    if (rc < 0) return rc;
    if (GX_UNLIKELY(ex->retention.segments != NULL) && task->plan->retains) rc = retain(task, e, from);
    if (rc >= 0) rc = gx_emit(task, e, from);
    if (rc < 0) {
        gx_retention_drop(&ex->retention, gx_ledger_slot(from->begun));
        gx_ledger_cancel(&ex->ledger, from->begun);
        return rc;
    }
    gx_emit_begun(task, from);
    return rc;
}
