#include "runtime/whole.h"

#include "engine/drop.h"

/* --- Queues --- */

/* What waits for a task, as the batches in the queues have it. */
typedef struct load {
    uint64_t queued; /* weight that counts in its queue */
    uint64_t by_drop;
    uint32_t ticks;
} load;

static uint64_t blocks_of(const gx_batch *batch) {
    uint64_t bytes = 0;
    for (const gale_head *head = gx_batch_front(batch); head; head = gx_batch_next(batch, head))
        bytes += gx_row_block_bytes(head);
    return bytes;
}

static void add_batch(load *sum, const gx_batch *batch) {
    if (batch->source) *(batch->lane ? &sum->by_drop : &sum->queued) += gx_batch_weight(batch);
    sum->ticks += batch->source == 0;
}

/* Of the batches for one task; what does not hold, or NULL. */
static const char *add_list(load *sum, const gx_batch_list *list, const gx_task *task) {
    const char *flaw = gx_batch_list_flaw(list);
    const gx_batch *batch = list->head;
    for (uint64_t i = 0; !flaw && i < list->count; i++, batch = batch->next) {
        if (batch->target != task->id) continue;
        if (blocks_of(batch) != batch->blocks) flaw = "a batch's rows do not name the blocks that it counts";
        add_batch(sum, batch);
    }
    return flaw;
}

static const char *lanes_flaw(const gx_task *task, load *sum) {
    uint64_t waiting = 0;
    const char *flaw = NULL;
    for (uint32_t i = 0; !flaw && task->lanes && i < task->lanes->count; i++) {
        const gx_batch_list *list = &task->lanes->list[i].list;
        waiting += list->count;
        flaw = add_list(sum, list, task);
    }
    if (!flaw && task->lanes && waiting != task->lanes->waiting)
        flaw = "lanes hold more or fewer batches than they say";
    return flaw;
}

static const char *queue_flaw(const gx_executor *ex, const gx_task *task) {
    load sum = { 0, 0, 0 };
    const char *flaw = add_list(&sum, &ex->local, task);
    if (!flaw) flaw = add_list(&sum, &task->parked, task);
    if (!flaw) flaw = lanes_flaw(task, &sum);
    if (flaw) return flaw;
    if (sum.queued != task->queued) return "a task's queue is not as heavy as it says";
    if (task->lanes && sum.by_drop != task->lanes->weight) return "a task's lanes are not as heavy as they say";
    if (sum.ticks != task->tick.waiting) return "a tick waits that is not said to, or the other way round";
    if (gx_load_relaxed(&ex->shared->flow.congested[task->id]) != task->congested)
        return "a task is congested for itself, and not for others";
    if (task->full && !task->congested) return "a task is full, and not congested";
    bool low = task->queued < ex->shared->flow.low && !task->full;
    return task->congested && low ? "a task is congested below the low mark" : NULL;
}

/* --- Tasks --- */

static const char *tasks_flaw(const gx_executor *ex) {
    uint32_t waiting = 0;
    const char *flaw = NULL;
    for (uint32_t i = 0; !flaw && i < ex->task_count; i++) {
        const gx_task *task = ex->tasks[i];
        waiting += gx_waiting_any(task);
        flaw = queue_flaw(ex, task);
        if (!flaw) flaw = gx_held_flaw(&task->held);
        if (!flaw && task->acker.map) flaw = gx_rotating_map_flaw(task->acker.map);
        if (!flaw && task->held.count != gx_load_relaxed(&((gx_task *)task)->counters.held))
            flaw = "the figure of held tuples is not theirs";
    }
    if (!flaw && waiting != ex->parked_tasks) flaw = "tasks for which something waits are not as many as is said";
    return flaw;
}

/* --- Batches --- */

static uint64_t touched(const gx_batch_list *list) {
    uint64_t bytes = 0;
    const gx_batch *batch = list->head;
    for (uint64_t i = 0; i < list->count; i++, batch = batch->next) bytes += gx_batch_touched(batch);
    return bytes;
}

static const char *batches_flaw(const gx_executor *ex) {
    const char *flaw = gx_batches_flaw(&ex->batches);
    if (!flaw && ex->local.weight != ex->local_bytes) flaw = "the local queue is not as heavy as it says";
    if (!flaw && touched(&ex->local) != ex->local_touched) flaw = "the local queue has not as many rows as it says";
    for (uint32_t i = 0; !flaw && i < ex->shared->executor_count; i++) {
        flaw = gx_batch_list_flaw(&ex->outlets[i].outbox);
        if (!flaw && ex->homeward[i].first) flaw = "batches are to go home, and no step is made";
    }
    if (!flaw && (ex->turn || ex->opened_count)) flaw = "a turn goes on, and no step is made";
    for (uint32_t i = 0; !flaw && i <= ex->shared->plan->task_count; i++)
        if (ex->open[i].batch || ex->open[i].at != ex->open[i].end) flaw = "a batch is open, and no step is made";
    return flaw;
}

static uint64_t bytes_in_list(const gx_batch_list *list, const gx_batches *home) {
    uint64_t bytes = 0;
    const gx_batch *batch = list->head;
    for (uint64_t i = 0; i < list->count; i++, batch = batch->next)
        if (gx_batch_home(batch) == home) bytes += (uint64_t)batch->parts * GX_BATCH_SMALL;
    return bytes;
}

/* Of what the producer has put into the ring, seen or not. */
static uint64_t bytes_in_ring(const gx_batch_consumer *consumer, const gx_batch_producer *producer,
                              const gx_batches *home) {
    uint64_t bytes = 0;
    gx_batch_consumer reader = *consumer;
    const gx_batch *batch;
    if (!reader.ring) return 0;
    reader.tail_cached = producer->tail;
    for (; (batch = gx_batch_ring_peek(&reader)) != NULL; gx_batch_ring_advance(&reader))
        if (gx_batch_home(batch) == home) bytes += (uint64_t)batch->parts * GX_BATCH_SMALL;
    return bytes;
}

static uint64_t bytes_at(const gx_executor *ex, const gx_batches *home) {
    const gx_shared *shared = ex->shared;
    uint64_t bytes = bytes_in_list(&ex->local, home);
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        bytes += bytes_in_list(&ex->outlets[i].outbox, home);
        bytes += bytes_in_ring(&ex->inlets[i].data, &shared->executors[i]->outlets[ex->index].ring, home);
    }
    for (uint32_t i = 0; i < ex->task_count; i++) {
        const gx_task *task = ex->tasks[i];
        bytes += bytes_in_list(&task->parked, home);
        for (uint32_t k = 0; task->lanes && k < task->lanes->count; k++)
            bytes += bytes_in_list(&task->lanes->list[k].list, home);
    }
    return bytes;
}

const char *gx_whole_batches_flaw(const gx_shared *shared) {
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        const gx_batches *home = &shared->executors[i]->batches;
        uint64_t bytes = gx_batches_returning(home);
        for (uint32_t k = 0; k < shared->executor_count; k++) bytes += bytes_at(shared->executors[k], home);
        if (bytes != gx_load_relaxed(&((gx_batches *)home)->used)) return "a batch is in no place, or in two";
    }
    return NULL;
}

/* --- Trees --- */

/* What the entries of the ledger say. */
typedef struct census {
    uint64_t untold; /* of them spouts have not heard, dead letters apart */
    uint64_t waiting;
    bool zero; /* an open one has a sum of zero: where spouts' ledgers track their trees it is complete */
} census;

static census count_trees(const gx_executor *ex) {
    census sum = { 0, 0, false };
    for (uint32_t slot = 0; slot < ex->ledger.slots; slot++) {
        const gx_tree *tree = gx_ledger_at(&ex->ledger, slot);
        gx_tree_state state = gx_ledger_state(&ex->ledger, slot);
        if (state == GX_TREE_FREE || state == GX_TREE_RESTING) continue;
        const gx_retained *kept = gx_retention_at(&ex->retention, slot);
        sum.untold += !kept || !kept->letter;
        sum.waiting += state == GX_TREE_WAITING;
        sum.zero |= gx_tree_is_open(tree) && tree->xor_ == 0;
    }
    return sum;
}

static uint64_t count_listed(const gx_executor *ex) {
    uint64_t listed = gx_retention_waiting(&ex->retention);
    for (uint32_t i = 0; i < ex->spout_count; i++)
        for (uint64_t at = ex->spouts[i]->spout.replays.head; at; at = gx_ledger_at(&ex->ledger, at - 1)->next)
            listed++;
    return listed;
}

/* At the end the lists are void. */
static const char *trees_flaw(const gx_executor *ex) {
    uint64_t pending = 0;
    if (!ex->has_ledger || gx_phase(ex->shared) >= GALE_PHASE_CLOSING) return NULL;
    const char *flaw = gx_ledger_flaw(&ex->ledger);
    if (!flaw) flaw = gx_retention_flaw(&ex->retention);
    if (flaw) return flaw;
    census trees = count_trees(ex);
    for (uint32_t i = 0; i < ex->spout_count; i++) pending += ex->spouts[i]->spout.pending;
    if (trees.untold != pending) return "spouts have not as many trees pending as they say";
    if (trees.waiting != count_listed(ex)) return "a tree waits to be emitted again and is in no list, or in two";
    return trees.zero && !ex->shared->plan->acker_count ? "a tree is complete, and open" : NULL;
}

const char *gx_whole_flaw(const gx_executor *ex) {
    if (ex->cursor.state != GX_CURSOR_NONE || ex->cursor.task) return "a tuple is in execution, and no step is made";
    if (gx_load_relaxed(&((gx_executor *)ex)->in_call_seen)) return "a call goes on, and no step is made";
    if (!gx_settle_is_empty(&ex->settle)) return "acks were combined, and not sent";
    const char *flaw = batches_flaw(ex);
    if (!flaw) flaw = tasks_flaw(ex);
    if (!flaw && ex->forgotten.map) flaw = gx_rotating_map_flaw(ex->forgotten.map);
    return flaw ? flaw : trees_flaw(ex);
}
