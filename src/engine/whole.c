#include "engine/whole.h"

/* --- Queues --- */

/* What waits for a task, as the records in the queues have it. */
typedef struct load {
    uint64_t queued; /* bytes that count in its queue */
    uint64_t by_drop;
    uint32_t ticks;
} load;

static load load_of(const gx_executor *ex, const gx_task *task, const gx_fifo *fifo) {
    load sum = { 0, 0, 0 };
    gx_fifo_cursor cursor = gx_fifo_walk(fifo);
    const gale_head *head;
    while ((head = gx_fifo_next(&cursor)) != NULL) {
        if (head->target != task->id) continue;
        bool drops = task->lanes && gx_drop_of(ex, task, head);
        *(drops ? &sum.by_drop : &sum.queued) += gx_record_weight(head);
        sum.ticks += head->source == 0;
    }
    return sum;
}

static void add(load *sum, load more) {
    sum->queued += more.queued;
    sum->by_drop += more.by_drop;
    sum->ticks += more.ticks;
}

static const char *lanes_flaw(const gx_executor *ex, const gx_task *task, load *sum) {
    uint64_t waiting = 0;
    const char *flaw = NULL;
    for (uint32_t i = 0; !flaw && task->lanes && i < task->lanes->count; i++) {
        const gx_fifo *fifo = &task->lanes->list[i].fifo;
        flaw = gx_fifo_flaw(fifo);
        if (flaw) break;
        waiting += fifo->count;
        add(sum, load_of(ex, task, fifo));
    }
    if (!flaw && task->lanes && waiting != task->lanes->waiting)
        flaw = "lanes hold more or fewer records than they say";
    return flaw;
}

static const char *queue_flaw(const gx_executor *ex, const gx_task *task) {
    load sum = load_of(ex, task, &ex->local);
    const char *flaw = gx_fifo_flaw(&task->parked);
    if (flaw) return flaw;
    add(&sum, load_of(ex, task, &task->parked));
    flaw = lanes_flaw(ex, task, &sum);
    if (flaw) return flaw;
    if (sum.queued != task->queued) return "a task's queue is not as heavy as it says";
    if (task->lanes && sum.by_drop != task->lanes->weight) return "a task's lanes are not as heavy as they say";
    if (sum.ticks != task->tick.waiting) return "a tick waits that is not said to, or the other way round";
    if (gx_load_relaxed(&ex->shared->flow.congested[task->id]) != task->congested)
        return "a task is congested for itself, and not for others";
    return task->congested && task->queued < ex->shared->flow.low ? "a task is congested below the low mark" : NULL;
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

/* --- Chunks --- */

static uint64_t chunks_in_use(const gx_executor *ex) {
    uint64_t count = gx_fifo_chunks(&ex->local);
    for (uint32_t i = 0; i < ex->shared->executor_count; i++)
        count += gx_fifo_chunks(&ex->outlets[i].outbox) + gx_fifo_chunks(&ex->ack_outlets[i].outbox);
    for (uint32_t i = 0; i < ex->task_count; i++) {
        const gx_task *task = ex->tasks[i];
        count += gx_fifo_chunks(&task->parked);
        for (uint32_t k = 0; task->lanes && k < task->lanes->count; k++)
            count += gx_fifo_chunks(&task->lanes->list[k].fifo);
    }
    return count;
}

static const char *chunks_flaw(const gx_executor *ex) {
    const char *flaw = gx_fifo_flaw(&ex->local);
    for (uint32_t i = 0; !flaw && i < ex->shared->executor_count; i++) {
        flaw = gx_fifo_flaw(&ex->outlets[i].outbox);
        if (!flaw) flaw = gx_fifo_flaw(&ex->ack_outlets[i].outbox);
    }
    if (!flaw) flaw = gx_chunks_flaw(&ex->chunks);
    if (!flaw && chunks_in_use(ex) != gx_load_relaxed(&((gx_executor *)ex)->chunks.used))
        flaw = "a chunk is in no queue, or in two";
    return flaw;
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
    const char *flaw = chunks_flaw(ex);
    if (!flaw) flaw = tasks_flaw(ex);
    if (!flaw && ex->forgotten.map) flaw = gx_rotating_map_flaw(ex->forgotten.map);
    return flaw ? flaw : trees_flaw(ex);
}
