#include "engine/drop.h"

#include "base/assert.h"
#include "engine/acks.h"

const gx_plan_drop *gx_drop_find(const gx_task *task, uint32_t source, uint32_t stream) {
    for (uint32_t i = 0; i < task->plan->drop_count; i++) {
        const gx_plan_drop *drop = &task->plan->drops[i];
        if (drop->source == source && drop->stream == stream) return drop;
    }
    return NULL;
}

void gx_drop_count(gx_executor *ex, const gx_task *task, const gx_plan_drop *drop, uint64_t rows) {
    gx_count(&ex->dropped[drop->first_slot + task->context.task_index], rows);
}

static gx_dropping *waiting_of(gx_task *task, const gx_plan_drop *drop) {
    GX_CHECK(drop->lane >= 1 && drop->lane <= task->lanes->count);
    return &task->lanes->list[drop->lane - 1];
}

static int32_t policy_of(const gx_task *task, const gx_plan_drop *drop) {
    return task->lanes->drop ? task->lanes->drop : drop->policy;
}

/* The hard limit may have been set below the mark. */
static bool is_full(const gx_executor *ex, const gx_dropping *waiting) {
    const gx_shared *shared = ex->shared;
    return waiting->weight > (shared->flow.high < shared->queue_limit ? shared->flow.high : shared->queue_limit);
}

static void settle_row(gx_executor *ex, const gale_head *head) {
    gx_acks_ack(ex, gx_row_roots(head), 0);
    gx_row_release(head, &ex->blocks);
}

void gx_drop_settle(gx_executor *ex, const gx_task *task, gx_batch *batch) {
    gx_drop_count(ex, task, gx_drop_at(task, batch->lane), gx_batch_rows(batch));
    for (const gale_head *head = gx_batch_front(batch); head; head = gx_batch_next(batch, head)) settle_row(ex, head);
    gx_executor_send_home(ex, batch);
}

static void take_away(gx_task *task, gx_dropping *waiting, uint64_t weight) {
    GX_CHECK(waiting->weight >= weight && task->lanes->weight >= weight);
    waiting->weight -= weight;
    task->lanes->weight -= weight;
}

/* The oldest row, or, when it is the last one of its batch, that. */
static void drop_first(gx_executor *ex, gx_task *task, gx_dropping *waiting) {
    gx_batch *batch = gx_waiting_pop(ex, task, &waiting->list);
    const gale_head *head = gx_batch_front(batch);
    uint64_t bytes = gx_row_block_bytes(head), weight = gx_batch_weight(batch);
    batch->read += head->length;
    settle_row(ex, head);
    if (batch->read < batch->used) {
        batch->blocks -= bytes;
        take_away(task, waiting, bytes);
        gx_waiting_put_back(ex, task, &waiting->list, batch);
    } else {
        take_away(task, waiting, weight);
        gx_executor_send_home(ex, batch);
    }
}

/* Drops the oldest of a lane while it is full. */
static void trim(gx_executor *ex, gx_task *task, const gx_plan_drop *drop) {
    GX_CHECK(task->executor == ex);
    gx_dropping *waiting = waiting_of(task, drop);
    if (policy_of(task, drop) != GALE_DROP_OLDEST || task->lanes->busy == drop->lane) return;
    while (is_full(ex, waiting) && waiting->list.count) {
        gx_drop_count(ex, task, drop, 1);
        drop_first(ex, task, waiting);
    }
}

bool gx_drop_refuses(gx_executor *ex, gx_task *task, const gx_plan_drop *drop) {
    if (task->executor != ex) return !gx_outlet_is_clear(&ex->outlets[task->executor->index]);
    trim(ex, task, drop);
    return policy_of(task, drop) == GALE_DROP_NEWEST && is_full(ex, waiting_of(task, drop));
}

void gx_drop_queued(gx_task *task, const gx_plan_drop *drop, uint64_t weight) {
    GX_CHECK(task->lanes != NULL);
    waiting_of(task, drop)->weight += weight;
    task->lanes->weight += weight;
    gx_count_max(&task->counters.queued_max, task->queued + task->lanes->weight);
}

void gx_drop_dequeued(gx_executor *ex, gx_task *task, const gx_plan_drop *drop, uint64_t weight) {
    take_away(task, waiting_of(task, drop), weight);
    trim(ex, task, drop);
}
