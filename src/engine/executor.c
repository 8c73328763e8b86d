#include "engine/executor.h"

#include "base/assert.h"
#include "base/seqlock.h"

enum {
    ACK_RING = 64 << 10,
    ACKS_HIGH = 4096, /* items in an outbox behind such a ring */
    ACKS_LOW = 1024,
};

/* The most fields that a stream has. */
static uint32_t most_fields(const gx_plan *plan) {
    uint32_t most = 1;
    for (uint32_t i = 0; i < plan->component_count; i++)
        for (uint32_t k = 0; k < plan->components[i].stream_count; k++)
            if (plan->components[i].streams[k].field_count > most) most = plan->components[i].streams[k].field_count;
    return most;
}

static int make_tables(gx_executor *ex) {
    const gx_plan *plan = ex->shared->plan;
    uint32_t n = plan->executor_count;
    ex->outlets = gx_alloc_array(ex->heap, GX_TAG_PLAN, n, sizeof *ex->outlets);
    ex->ack_outlets = gx_alloc_array(ex->heap, GX_TAG_PLAN, n, sizeof *ex->ack_outlets);
    ex->inlets = gx_alloc_array(ex->heap, GX_TAG_PLAN, n, sizeof *ex->inlets);
    ex->gated = gx_alloc_array(ex->heap, GX_TAG_PLAN, plan->component_count, sizeof *ex->gated);
    ex->tasks = gx_alloc_array(ex->heap, GX_TAG_PLAN, plan->task_count, sizeof *ex->tasks);
    ex->spouts = gx_alloc_array(ex->heap, GX_TAG_PLAN, plan->task_count, sizeof *ex->spouts);
    ex->open = gx_alloc_array(ex->heap, GX_TAG_PLAN, plan->task_count + 1u, sizeof *ex->open);
    ex->opened_for = gx_alloc_array(ex->heap, GX_TAG_PLAN, plan->task_count, sizeof *ex->opened_for);
    ex->homeward = gx_alloc_array(ex->heap, GX_TAG_PLAN, n, sizeof *ex->homeward);
    gx_scratch *s = &ex->scratch;
    if (!gx_grow(ex->heap, GX_TAG_OTHER, &s->targets, &s->target_capacity, 1, sizeof *s->targets) ||
        !gx_grow(ex->heap, GX_TAG_OTHER, &s->values, &s->value_capacity, most_fields(plan), sizeof *s->values))
        return GALE_NO_MEMORY;
    ex->failures = gx_alloc_array(ex->heap, GX_TAG_PLAN, (plan->component_count + 1u) * GX_REASONS,
                                  sizeof *ex->failures);
    ex->latencies = gx_alloc_array(ex->heap, GX_TAG_PLAN, plan->component_count, sizeof *ex->latencies);
    ex->dropped = gx_alloc_array(ex->heap, GX_TAG_PLAN, plan->drop_slots, sizeof *ex->dropped);
    if (!gx_ready_init(&ex->ready, ex->heap, n)) return GALE_NO_MEMORY;
    return ex->latencies && ex->dropped && ex->outlets && ex->ack_outlets && ex->inlets && ex->gated && ex->tasks &&
                   ex->spouts && ex->failures && ex->open && ex->opened_for && ex->homeward
               ? GALE_OK
               : GALE_NO_MEMORY;
}

/* A component's, with its first task here. An acker task has none. */
static bool make_latencies(gx_executor *ex, gx_task *task) {
    gx_latencies *latencies = task->latencies = &ex->latencies[task->component];
    bool made = latencies->of[GALE_LATENCY_COMPLETE] || latencies->of[GALE_LATENCY_EXECUTE];
    return made || task->is_acker || gx_latencies_init(latencies, ex->heap, task->is_spout);
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
        if (!make_latencies(ex, task)) return GALE_NO_MEMORY;
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
    gx_shares_init(&ex->shares);
    gx_batches_init(&ex->batches, ex->heap, shared->knobs.batch_room);
    gx_blocks_init(&ex->blocks, ex->heap);
    gx_watches_init(&ex->watches, ex->heap);
    ex->cut.changes = (gx_changes)GX_CHANGES_INIT(ex->heap);
    ex->cut.records = (gx_buf)GX_BUF_INIT(ex->heap);
    ex->cut.pledges = (gx_pledges){ .heap = ex->heap };
    ex->bell.wake.fd = -1;
    shared->flow.efforts[index].waiting = &ex->local_bytes;
    int rc = make_tables(ex);
    if (rc == GALE_OK && !gx_bell_init(&ex->bell)) rc = GALE_IO;
    ex->inbox = gx_inbox_new(&ex->bell);
    if (rc == GALE_OK && !ex->inbox) rc = GALE_NO_MEMORY;
    if (rc == GALE_OK) rc = make_tasks(ex, ops);
    ex->has_ledger = ex->spout_count > 0;
    if (rc == GALE_OK && ex->has_ledger)
        gx_ledger_init(&ex->ledger, ex->heap, index + 1u, shared->plan->timeout,
                       gx_random_new(shared->seed, 0x8000u + index));
    if (rc == GALE_OK && ex->has_ledger) rc = gx_retention_init(&ex->retention, &ex->ledger, &ex->blocks, shared->plan);
    ex->ledger.progress = shared->plan->progress;
    ex->ledger.elsewhere = shared->plan->acker_count > 0;
    ex->ledger.ceiling = shared->plan->ceiling;
    ex->settle = (gx_settle){ .outlets = ex->ack_outlets, .heap = ex->heap, .blocks = &ex->blocks };
    if (shared->plan->acker_count) ex->settle.plan = shared->plan;
    ex->cursor.tuple.schema = &shared->plan->schema;
    ex->acking = shared->plan->acking;
    ex->deadline = shared->plan->deadline;
    ex->queue_high = shared->flow.high;
    ex->keeper = shared->plan->acker_count ? UINT32_MAX : index + 1u;
    ex->acker_due = ex->has_ackers ? 0 : INT64_MAX;
    bool warns = ex->has_ledger && shared->plan->acking && shared->plan->timeout && !shared->plan->progress;
    ex->timeout_warning_due = warns ? 0 : INT64_MAX;
    ex->gates_stale = true;
    *ret_executor = ex;
    return rc;
}

static int join_data(gx_heap *heap, gx_batch_producer *producer, gx_batch_consumer *consumer, uint64_t capacity) {
    gx_batch_ring *ring = gx_batch_ring_new(heap, capacity);
    if (!ring) return GALE_NO_MEMORY;
    *producer = (gx_batch_producer){ .ring = ring };
    *consumer = (gx_batch_consumer){ .ring = ring };
    return GALE_OK;
}

static int join_acks(gx_heap *heap, gx_ring_producer *producer, gx_ring_consumer *consumer, uint64_t capacity) {
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
        rc = join_data(from->heap, &from->outlets[to->index].ring, &to->inlets[from->index].data, capacity);
    if (rc == GALE_OK && (to->has_ledger || to->has_ackers) && from->shared->plan->acking)
        rc = join_acks(from->heap, &from->ack_outlets[to->index].ring, &to->inlets[from->index].acks,
                       from->shared->knobs.ack_capacity ? from->shared->knobs.ack_capacity : ACK_RING);
    return rc;
}

void gx_executor_send_home(gx_executor *ex, gx_batch *batch) {
    gx_batches *home = gx_batch_home(batch);
    if (GX_LIKELY(home == &ex->batches)) {
        gx_batch_give(home, batch);
        if (GX_MUTANT(batch_freed_twice)) gx_batch_give(home, batch);
        return;
    }
    if (!home) return; /* a copy in a ring */
    gx_homeward *way = &ex->homeward[ex->shared->tasks[batch->source]->executor->index];
    batch->next = NULL;
    if (way->first)
        way->last->next = batch;
    else
        way->first = batch;
    way->last = batch;
}

static void send_homeward(gx_executor *ex) {
    for (uint32_t i = 0; i < ex->shared->executor_count; i++) {
        gx_homeward *way = &ex->homeward[i];
        if (way->first) gx_batches_return(&ex->shared->executors[i]->batches, way->first, way->last);
        way->first = NULL;
    }
}

/* --- The end --- */

static void empty_batch(gx_executor *ex, gx_batch *batch) {
    for (const gale_head *head = gx_batch_front(batch); head; head = gx_batch_next(batch, head))
        gx_row_release(head, &ex->blocks);
    gx_executor_send_home(ex, batch);
}

static void empty_list(gx_executor *ex, gx_batch_list *list) {
    while (list->count) empty_batch(ex, gx_batch_list_pop(list));
}

static void empty_task(gx_executor *ex, gx_task *task) {
    empty_list(ex, &task->parked);
    for (uint32_t i = 0; task->lanes && i < task->lanes->count; i++) empty_list(ex, &task->lanes->list[i].list);
    gx_held_fini(&task->held, ex->heap, &ex->blocks);
}

static void empty_inlet(gx_executor *ex, gx_inlet *inlet) {
    gx_batch *batch;
    if (!inlet->data.ring) return;
    gx_batch_ring_refresh(&inlet->data);
    while ((batch = gx_batch_ring_peek(&inlet->data)) != NULL) {
        gx_batch_ring_advance(&inlet->data);
        empty_batch(ex, batch);
    }
}

void gx_executor_empty(gx_executor *ex) {
    GX_CHECK(gx_phase(ex->shared) == GALE_PHASE_NEW || gx_phase(ex->shared) == GALE_PHASE_CLOSED || !ex->opened);
    GX_CHECK(!ex->opened_count);
    if (!ex->inlets) return;
    for (uint32_t i = 0; i < ex->shared->executor_count; i++) {
        empty_inlet(ex, &ex->inlets[i]);
        if (ex->outlets) empty_list(ex, &ex->outlets[i].outbox);
    }
    empty_list(ex, &ex->local);
    ex->local_touched = 0;
    gx_retention_fini(&ex->retention);
    for (uint32_t i = 0; i < ex->task_count; i++) empty_task(ex, ex->tasks[i]);
    if (ex->homeward) send_homeward(ex);
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
        gx_batch_ring_free(ex->heap, ex->inlets[i].data.ring);
        gx_ring_free(ex->heap, ex->inlets[i].acks.ring);
    }
    for (uint32_t i = 0; ex->ack_outlets && i < n; i++) gx_ack_outlet_fini(&ex->ack_outlets[i], ex->heap);
    for (uint32_t i = 0; i < ex->task_count; i++) gx_task_free(ex->tasks[i], shared);
    gx_ledger_fini(&ex->ledger);
    gx_forgotten_fini(&ex->forgotten);
    gx_ready_fini(&ex->ready, ex->heap);
    free_scratch(&ex->scratch, ex->heap);
    gx_batches_fini(&ex->batches);
    gx_blocks_fini(&ex->blocks);
    gx_changes_fini(&ex->cut.changes);
    gx_pledges_fini(&ex->cut.pledges);
    gx_buf_fini(&ex->cut.records);
    gx_chunks_fini(&ex->cut.rest_chunks, ex->heap);
    if (ex->inbox) gx_inbox_close(ex->inbox);
    gx_inbox_release(ex->inbox);
    gx_watches_fini(&ex->watches);
    gx_bell_fini(&ex->bell);
    free_array(ex->heap, ex->open, shared->plan->task_count + 1u, sizeof *ex->open);
    free_array(ex->heap, ex->opened_for, shared->plan->task_count, sizeof *ex->opened_for);
    free_array(ex->heap, ex->homeward, n, sizeof *ex->homeward);
    free_array(ex->heap, ex->outlets, n, sizeof *ex->outlets);
    free_array(ex->heap, ex->ack_outlets, n, sizeof *ex->ack_outlets);
    free_array(ex->heap, ex->inlets, n, sizeof *ex->inlets);
    free_array(ex->heap, ex->gated, shared->plan->component_count, sizeof *ex->gated);
    free_array(ex->heap, ex->tasks, shared->plan->task_count, sizeof *ex->tasks);
    free_array(ex->heap, ex->spouts, shared->plan->task_count, sizeof *ex->spouts);
    free_array(ex->heap, ex->failures, (shared->plan->component_count + 1u) * GX_REASONS, sizeof *ex->failures);
    for (uint32_t i = 0; ex->latencies && i < shared->plan->component_count; i++)
        gx_latencies_fini(&ex->latencies[i], ex->heap);
    free_array(ex->heap, ex->latencies, shared->plan->component_count, sizeof *ex->latencies);
    free_array(ex->heap, ex->dropped, shared->plan->drop_slots, sizeof *ex->dropped);
    gx_free_apart(ex->heap, GX_TAG_PLAN, ex, sizeof *ex);
}

/* Tasks of a component may not run here while one that they feed is congested, while what they send to another executor
 * has not found room, while too many acks have not, while a checkpoint is cut, or when the end has come. */
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

/* May tasks of its component here not run, as far as others are concerned? */
static bool is_gated(const gx_executor *ex, const gx_task *task, gx_cut_stage stage) {
    const gx_plan *plan = ex->shared->plan;
    return (stage == GX_CUT_HOLD && task->is_spout) || gx_flow_gated(&ex->shared->flow, &plan->tasks[task->id]) ||
           outbox_in_the_way(ex, &plan->components[task->component]);
}

void gx_executor_refresh_gates(gx_executor *ex) {
    ex->epoch = gx_flow_epoch(&ex->shared->flow);
    ex->gates_stale = false;
    ex->cut.seen = gx_cut_word(ex->shared);
    gx_cut_stage stage = gx_cut_stage_of(ex->cut.seen);
    bool nothing_runs = gx_phase(ex->shared) >= GALE_PHASE_CLOSING || ex->acks_behind || stage >= GX_CUT_STOP;
    uint16_t last = UINT16_MAX;
    for (uint32_t i = 0; i < ex->task_count; i++) { /* tasks of a component stand together */
        uint16_t c = ex->tasks[i]->component;
        if (c != last) ex->gated[c] = nothing_runs || is_gated(ex, ex->tasks[i], stage);
        if (GX_UNLIKELY(ex->unopened)) ex->gated[c] |= !ex->tasks[i]->open && !ex->tasks[i]->is_spout;
        last = c;
    }
}

void gx_executor_congest(gx_executor *ex, gx_task *task, bool congested) {
    GX_CHECK(task->executor == ex);
    GX_CHECK(task->congested != congested);
    task->congested = congested;
    gx_flow_mark(&ex->shared->flow, task->id, congested);
    ex->run_end = NULL;
    if (congested) return;
    for (uint32_t i = 0; i < ex->shared->executor_count; i++)
        if (i != ex->index) gx_bell_ring(&ex->shared->executors[i]->bell);
}

/* No checkpoint comes while bolts finish (runtime/checkpoint.h): what waits for one must not hold them back. */
static bool waits_in_vain(const gx_executor *ex, const gx_task *task) {
    return task->wishes && gx_phase(ex->shared) == GALE_PHASE_FINISHING;
}

void gx_executor_fill(gx_executor *ex, gx_task *task, bool full) {
    full = full && !waits_in_vain(ex, task);
    task->full = full;
    bool congested = full || (task->congested && task->queued >= ex->shared->flow.low);
    if (congested != task->congested) gx_executor_congest(ex, task, congested);
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
    gx_executor_stale(ex);
}

/* Does what it last showed to the control say so? */
GX_INLINE bool shows_quiet(gx_executor *ex) {
    return gx_load_relaxed(&ex->shown[offsetof(gx_shown, quiet) / 8]) != 0 ||
           gx_load_relaxed(&ex->shown[offsetof(gx_shown, cut) / 8]) != 0;
}

/* Tells the control that the executor is not quiet any more, before others can receive anything: it must not
 * read that it was received, and of its sender that all is quiet. */
static void show_busy(gx_executor *ex) {
    uint64_t words[sizeof(gx_shown) / 8];
    gx_shown shown;
    for (size_t i = 0; i < sizeof words / 8; i++) words[i] = gx_load_relaxed(&ex->shown[i]);
    memcpy(&shown, words, sizeof shown);
    shown.quiet = shown.cut = 0;
    memcpy(words, &shown, sizeof words);
    gx_seqlock_publish(&ex->shown_version, ex->shown, words, sizeof words / 8);
}

void gx_executor_not_quiet(gx_executor *ex) {
    if (shows_quiet(ex)) show_busy(ex);
}

static bool has_news_for(const gx_executor *ex, uint32_t i) {
    const gx_outlet *data = &ex->outlets[i];
    const gx_ack_outlet *acks = &ex->ack_outlets[i];
    return data->outbox.count || gx_ack_outlet_waiting(acks) || data->ring.published != data->ring.tail ||
           acks->ring.published != acks->ring.tail;
}

void gx_executor_show_to(gx_executor *ex, uint32_t to) {
    gx_executor *other = ex->shared->executors[to];
    if (GX_UNLIKELY(shows_quiet(ex))) show_busy(ex);
    if (!gx_batch_ring_publish(&ex->outlets[to].ring)) return;
    gx_ready_set(&other->ready, ex->index);
    gx_bell_ring(&other->bell);
}

/* Shows the executor of this index what goes there. Returns whether there was something. */
static bool publish_to(gx_executor *ex, uint32_t i) {
    gx_outlet *data = &ex->outlets[i];
    gx_ack_outlet *acks = &ex->ack_outlets[i];
    bool news = false;
    if (GX_UNLIKELY(shows_quiet(ex)) && has_news_for(ex, i)) show_busy(ex);
    if (data->ring.ring) {
        if (data->outbox.count && gx_outlet_flush(data, &ex->batches) && !data->outbox.count) gx_executor_stale(ex);
        news = gx_batch_ring_publish(&data->ring);
    }
    if (acks->ring.ring) {
        if (gx_ack_outlet_waiting(acks)) gx_ack_outlet_flush(acks);
        news |= gx_ring_publish(&acks->ring);
    }
    return news;
}

/* One ring of the bell covers what is new and the room that was given back. */
void gx_executor_publish(gx_executor *ex) {
    uint64_t most_acks = 0;
    if (!gx_settle_is_empty(&ex->settle)) gx_settle_flush(&ex->settle);
    for (uint32_t i = 0; i < ex->shared->executor_count; i++) {
        gx_executor *other = ex->shared->executors[i];
        bool news = publish_to(ex, i);
        if (news) gx_ready_set(&other->ready, ex->index);
        if (news || ex->inlets[i].freed) gx_bell_ring(&other->bell);
        ex->inlets[i].freed = false;
        uint64_t waiting = gx_ack_outlet_waiting(&ex->ack_outlets[i]);
        if (waiting > most_acks) most_acks = waiting;
    }
    send_homeward(ex);
    hold_acks(ex, most_acks);
}

void gx_executor_count_failure(gx_executor *ex, const gale_failure *failure) {
    uint32_t reason = (uint32_t)failure->reason, others = GX_REASONS - 1;
    uint32_t place = failure->task ? ex->shared->tasks[failure->task]->component : ex->shared->plan->component_count;
    gx_count(&ex->failures[place * GX_REASONS + (reason < others ? reason : others)], 1);
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

void gx_executors_fail(gx_shared *shared, const gale_error *error) {
    gx_monitor_lock(&shared->monitor);
    if (shared->fatal.code == 0) shared->fatal = *error;
    gx_monitor_unlock(&shared->monitor);
    gx_executors_close(shared);
}
