#include "engine/executor.h"

#include "base/assert.h"

enum {
    ACK_RING = 64 << 10,
    ACKS_HIGH = 4096, /* items in an outbox behind such a ring */
    ACKS_LOW = 1024,
};

static int make_tables(gx_executor *ex) {
    const gx_plan *plan = ex->shared->plan;
    uint32_t n = plan->executor_count;
    ex->outlets = gx_alloc_array(ex->heap, GX_TAG_PLAN, n, sizeof *ex->outlets);
    ex->ack_outlets = gx_alloc_array(ex->heap, GX_TAG_PLAN, n, sizeof *ex->ack_outlets);
    ex->inlets = gx_alloc_array(ex->heap, GX_TAG_PLAN, n, sizeof *ex->inlets);
    ex->gated = gx_alloc_array(ex->heap, GX_TAG_PLAN, plan->component_count, sizeof *ex->gated);
    ex->tasks = gx_alloc_array(ex->heap, GX_TAG_PLAN, plan->task_count, sizeof *ex->tasks);
    ex->spouts = gx_alloc_array(ex->heap, GX_TAG_PLAN, plan->task_count, sizeof *ex->spouts);
    gx_scratch *s = &ex->scratch;
    if (!gx_grow(ex->heap, GX_TAG_OTHER, &s->targets, &s->target_capacity, 1, sizeof *s->targets))
        return GALE_NO_MEMORY;
    ex->failures = gx_alloc_array(ex->heap, GX_TAG_PLAN, (plan->component_count + 1u) * GX_REASONS,
                                  sizeof *ex->failures);
    ex->dropped = gx_alloc_array(ex->heap, GX_TAG_PLAN, plan->drop_slots, sizeof *ex->dropped);
    if (!gx_ready_init(&ex->ready, ex->heap, n)) return GALE_NO_MEMORY;
    return ex->dropped && ex->outlets && ex->ack_outlets && ex->inlets && ex->gated && ex->tasks && ex->spouts &&
                   ex->failures
               ? GALE_OK
               : GALE_NO_MEMORY;
}

static int make_tasks(gx_executor *ex, const gale_collector_ops *ops) {
    const gx_plan *plan = ex->shared->plan;
    for (uint32_t id = 1; id <= plan->task_count; id++) {
        if (plan->tasks[id].executor != ex->index) continue;
        gx_task *task = gx_task_new(ex->shared, ex, (uint16_t)id, ops);
        if (!task) return GALE_NO_MEMORY;
        ex->shared->tasks[id] = task;
        ex->tasks[ex->task_count++] = task;
        if (task->is_spout) ex->spouts[ex->spout_count++] = task;
        ex->has_ackers |= task->is_acker;
        ex->has_flushes |= gx_task_flushes(task);
    }
    return GALE_OK;
}

int gx_executor_new(gx_shared *shared, uint16_t index, const gale_collector_ops *ops, gx_executor **ret_executor) {
    gx_executor *ex = gx_alloc_apart(&shared->heap, GX_TAG_PLAN, sizeof *ex);
    if (!ex) return GALE_NO_MEMORY;
    ex->shared = shared;
    ex->heap = &shared->heap;
    ex->index = index;
    ex->random = gx_random_new(shared->seed, index);
    ex->tick_due = INT64_MAX;
    gx_chunks_init(&ex->chunks, ex->heap);
    gx_blocks_init(&ex->blocks, ex->heap);
    ex->bell.wake.fd = -1;
    shared->flow.efforts[index].waiting = &ex->local.bytes;
    int rc = make_tables(ex);
    if (rc == GALE_OK && !gx_bell_init(&ex->bell)) rc = GALE_IO;
    ex->inbox = gx_inbox_new(&ex->bell);
    if (rc == GALE_OK && !ex->inbox) rc = GALE_NO_MEMORY;
    if (rc == GALE_OK) rc = make_tasks(ex, ops);
    ex->has_ledger = ex->spout_count > 0;
    if (rc == GALE_OK && ex->has_ledger)
        rc = gx_ledger_init(&ex->ledger, ex->heap, index + 1u, shared->plan->timeout,
                            gx_random_new(shared->seed, 0x8000u + index));
    if (rc == GALE_OK && ex->has_ledger) rc = gx_retention_init(&ex->retention, &ex->ledger, &ex->blocks, shared->plan);
    ex->ledger.progress = shared->plan->progress;
    ex->ledger.ceiling = shared->plan->ceiling;
    ex->settle = (gx_settle){ .outlets = ex->ack_outlets, .chunks = &ex->chunks, .blocks = &ex->blocks };
    if (shared->plan->acker_count) ex->settle.plan = shared->plan;
    ex->cursor.tuple.schema = &shared->plan->schema;
    ex->acking = shared->plan->acking;
    ex->queue_high = shared->flow.high;
    ex->queue_plain = shared->flow.high < shared->queue_limit ? shared->flow.high : shared->queue_limit;
    ex->plain = !shared->plan->deadline && !ex->retention.segments;
    ex->keeper = shared->plan->acker_count ? UINT32_MAX : index + 1u;
    ex->acker_due = ex->has_ackers ? 0 : INT64_MAX;
    bool warns = ex->has_ledger && shared->plan->acking && shared->plan->timeout && !shared->plan->progress;
    ex->timeout_warning_due = warns ? 0 : INT64_MAX;
    ex->gates_stale = true;
    *ret_executor = ex;
    return rc;
}

static int join(gx_heap *heap, gx_ring_producer *producer, gx_ring_consumer *consumer, uint64_t capacity) {
    gx_ring *ring = gx_ring_new(heap, capacity);
    if (!ring) return GALE_NO_MEMORY;
    *producer = gx_ring_produce(ring);
    *consumer = gx_ring_consume(ring);
    return GALE_OK;
}

int gx_executor_connect(gx_executor *from, gx_executor *to, uint64_t capacity) {
    GX_CHECK(from->shared == to->shared);
    GX_CHECK(!from->outlets[to->index].ring.ring);
    int rc = GALE_OK;
    if (gx_plan_feeds(from->shared->plan, from->index, to->index))
        rc = join(from->heap, &from->outlets[to->index].ring, &to->inlets[from->index].data, capacity);
    if (rc == GALE_OK && (to->has_ledger || to->has_ackers) && from->shared->plan->acking)
        rc = join(from->heap, &from->ack_outlets[to->index].ring, &to->inlets[from->index].acks,
                  from->shared->knobs.ack_capacity ? from->shared->knobs.ack_capacity : ACK_RING);
    return rc;
}

static void empty_fifo(gx_fifo *fifo, gx_executor *ex) {
    const gale_head *head;
    while ((head = gx_fifo_front(fifo)) != NULL) {
        gx_record_release(head, &ex->blocks);
        gx_fifo_pop(fifo, &ex->chunks, head->length);
    }
    gx_fifo_clear(fifo, &ex->chunks);
}

static void empty_task(gx_executor *ex, gx_task *task) {
    empty_fifo(&task->parked, ex);
    for (uint32_t i = 0; task->lanes && i < task->lanes->count; i++) empty_fifo(&task->lanes->list[i].fifo, ex);
    gx_held_fini(&task->held, ex->heap, &ex->blocks);
}

static void empty_inlet(gx_inlet *inlet, gx_executor *ex) {
    if (inlet->data.ring) {
        gx_ring_refresh(&inlet->data);
        const gale_head *head;
        while ((head = gx_ring_peek(&inlet->data)) != NULL) {
            gx_record_release(head, &ex->blocks);
            gx_ring_advance(&inlet->data, head->length);
        }
    }
}

void gx_executor_empty(gx_executor *ex) {
    GX_CHECK(gx_phase(ex->shared) == GALE_PHASE_NEW || gx_phase(ex->shared) == GALE_PHASE_CLOSED || !ex->opened);
    if (!ex->inlets) return;
    for (uint32_t i = 0; i < ex->shared->executor_count; i++) {
        empty_inlet(&ex->inlets[i], ex);
        if (ex->outlets) empty_fifo(&ex->outlets[i].outbox, ex);
        if (ex->ack_outlets) gx_fifo_clear(&ex->ack_outlets[i].outbox, &ex->chunks);
    }
    empty_fifo(&ex->local, ex);
    gx_retention_fini(&ex->retention);
    for (uint32_t i = 0; i < ex->task_count; i++) empty_task(ex, ex->tasks[i]);
}

static void free_array(gx_heap *heap, void *array, size_t count, size_t size) {
    size_t total = count * size;
    gx_free(heap, GX_TAG_PLAN, array, total ? total : 1);
}

static void free_scratch(gx_scratch *s, gx_heap *heap) {
    gx_free(heap, GX_TAG_OTHER, s->targets, s->target_capacity * sizeof *s->targets);
    gx_free(heap, GX_TAG_OTHER, s->members, s->member_capacity * sizeof *s->members);
    gx_free(heap, GX_TAG_OTHER, s->edges, s->edge_capacity * sizeof *s->edges);
    gx_free(heap, GX_TAG_OTHER, s->values, s->value_capacity * sizeof *s->values);
    gx_free(heap, GX_TAG_OTHER, s->anchors, s->anchor_capacity * sizeof *s->anchors);
}

void gx_executor_free(gx_executor *ex) {
    if (!ex) return;
    gx_shared *shared = ex->shared;
    uint32_t n = shared->plan->executor_count;
    for (uint32_t i = 0; ex->inlets && i < n; i++) {
        gx_ring_free(ex->heap, ex->inlets[i].data.ring);
        gx_ring_free(ex->heap, ex->inlets[i].acks.ring);
    }
    for (uint32_t i = 0; i < ex->task_count; i++) gx_task_free(ex->tasks[i], shared);
    gx_ledger_fini(&ex->ledger);
    gx_forgotten_fini(&ex->forgotten);
    gx_ready_fini(&ex->ready, ex->heap);
    free_scratch(&ex->scratch, ex->heap);
    gx_chunks_fini(&ex->chunks);
    gx_blocks_fini(&ex->blocks);
    if (ex->inbox) gx_inbox_close(ex->inbox);
    gx_inbox_release(ex->inbox);
    gx_bell_fini(&ex->bell);
    free_array(ex->heap, ex->outlets, n, sizeof *ex->outlets);
    free_array(ex->heap, ex->ack_outlets, n, sizeof *ex->ack_outlets);
    free_array(ex->heap, ex->inlets, n, sizeof *ex->inlets);
    free_array(ex->heap, ex->gated, shared->plan->component_count, sizeof *ex->gated);
    free_array(ex->heap, ex->tasks, shared->plan->task_count, sizeof *ex->tasks);
    free_array(ex->heap, ex->spouts, shared->plan->task_count, sizeof *ex->spouts);
    free_array(ex->heap, ex->failures, (shared->plan->component_count + 1u) * GX_REASONS, sizeof *ex->failures);
    free_array(ex->heap, ex->dropped, shared->plan->drop_slots, sizeof *ex->dropped);
    gx_free_apart(ex->heap, GX_TAG_PLAN, ex, sizeof *ex);
}

/* Tasks of a component may not run here while one that they feed is congested, while what they send to another executor
 * has not found room, while too many acks have not, or when the end has come. */
static bool outbox_in_the_way(const gx_executor *ex, const gx_plan_component *c) {
    const gx_plan *plan = ex->shared->plan;
    for (uint32_t s = 0; s < c->stream_count; s++)
        for (uint32_t e = 0; e < c->streams[s].edge_count; e++) {
            const gx_plan_component *to = &plan->components[c->streams[s].edges[e].component];
            if (c->streams[s].edges[e].drop) continue;
            for (uint32_t i = 0; i < plan->executor_count; i++)
                if (ex->outlets[i].outbox.count && to->executors[i]) return true;
        }
    return false;
}

void gx_executor_refresh_gates(gx_executor *ex) {
    const gx_plan *plan = ex->shared->plan;
    ex->epoch = gx_flow_epoch(&ex->shared->flow);
    ex->gates_stale = false;
    bool nothing_runs = gx_phase(ex->shared) >= GALE_PHASE_CLOSING || ex->acks_behind;
    uint16_t last = UINT16_MAX;
    for (uint32_t i = 0; i < ex->task_count; i++) { /* tasks of a component stand together */
        uint16_t c = ex->tasks[i]->component;
        if (c == last) continue;
        last = c;
        ex->gated[c] = nothing_runs || gx_flow_gated(&ex->shared->flow, &plan->tasks[ex->tasks[i]->id]) ||
                       outbox_in_the_way(ex, &plan->components[c]);
    }
}

void gx_executor_congest(gx_executor *ex, gx_task *task, bool congested) {
    GX_CHECK(task->executor == ex);
    GX_CHECK(task->congested != congested);
    task->congested = congested;
    gx_flow_mark(&ex->shared->flow, task->id, congested);
    if (congested) return;
    for (uint32_t i = 0; i < ex->shared->executor_count; i++)
        if (i != ex->index) gx_bell_ring(&ex->shared->executors[i]->bell);
}

void gx_executor_above(gx_executor *ex, gx_task *task) {
    GX_CHECK(task->executor == ex);
    gx_count_max(&task->counters.queued_max, task->queued);
    gx_store_relaxed(&task->queued_seen, task->queued + (task->lanes ? task->lanes->weight : 0));
    if (!task->congested) gx_executor_congest(ex, task, true);
}

/* An executor that makes acks faster than another takes them waits: else they pile up, and nothing tells the spouts. It
 * waits for nobody's tasks: acks are taken in every step, whatever may run. `most`: items in one outbox. */
static void hold_acks(gx_executor *ex, uint64_t most) {
    bool behind = most > (ex->acks_behind ? ACKS_LOW : ACKS_HIGH);
    if (behind == ex->acks_behind) return;
    ex->acks_behind = behind;
    ex->gates_stale = true;
}

void gx_executor_publish(gx_executor *ex) {
    uint64_t most_acks = 0;
    if (!gx_settle_is_empty(&ex->settle)) gx_settle_flush(&ex->settle);
    for (uint32_t i = 0; i < ex->shared->executor_count; i++) {
        gx_outlet *data = &ex->outlets[i], *acks = &ex->ack_outlets[i];
        bool rang = false;
        if (data->ring.ring) {
            if (data->outbox.count && gx_outlet_flush(data, &ex->chunks) && !data->outbox.count) ex->gates_stale = true;
            rang = gx_ring_publish(&data->ring);
        }
        if (acks->ring.ring) {
            if (acks->outbox.count) gx_outlet_flush_items(acks, &ex->chunks);
            rang |= gx_ring_publish(&acks->ring);
            if (acks->outbox.count > most_acks) most_acks = acks->outbox.count;
        }
        if (!rang) continue;
        gx_ready_set(&ex->shared->executors[i]->ready, ex->index);
        gx_bell_ring(&ex->shared->executors[i]->bell);
    }
    hold_acks(ex, most_acks);
}

void gx_executors_wake(gx_shared *shared) {
    for (uint32_t i = 0; i < shared->executor_count; i++) gx_bell_ring(&shared->executors[i]->bell);
}

bool gx_executors_move(gx_shared *shared, gale_phase from, gale_phase to) {
    GX_CHECK(from < to);
    uint32_t expected = (uint32_t)from;
    if (!gx_cas_seq(&shared->phase, &expected, (uint32_t)to)) return false;
    gx_add_release(&shared->flow.epoch, 1); /* gates depend on the phase */
    gx_executors_wake(shared);
    return true;
}

void gx_executors_close(gx_shared *shared) {
    int32_t phase;
    while ((phase = gx_phase(shared)) < GALE_PHASE_CLOSING)
        if (gx_executors_move(shared, (gale_phase)phase, GALE_PHASE_CLOSING)) return;
}
