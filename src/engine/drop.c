#include "engine/drop.h"

#include "base/assert.h"
#include "engine/answer.h"

const gx_plan_drop *gx_drop_find(const gx_task *task, uint32_t source, uint32_t stream) {
    for (uint32_t i = 0; i < task->plan->drop_count; i++) {
        const gx_plan_drop *drop = &task->plan->drops[i];
        if (drop->source == source && drop->stream == stream) return drop;
    }
    return NULL;
}

const gx_plan_drop *gx_drop_of(const gx_executor *ex, const gx_task *task, const gale_head *head) {
    if (head->source == 0) return NULL; /* a tick */
    return gx_drop_find(task, ex->shared->plan->tasks[head->source].component, head->stream);
}

static void count(gx_executor *ex, const gx_task *task, const gx_plan_drop *drop) {
    gx_count(&ex->dropped[drop->first_slot + task->context.task_index], 1);
}

static gx_dropping *waiting_of(gx_task *task, const gx_plan_drop *drop) {
    GX_CHECK(drop->lane >= 1 && drop->lane <= task->lanes->count);
    return &task->lanes->list[drop->lane - 1];
}

/* The hard limit may have been set below the mark. */
static bool is_full(const gx_executor *ex, const gx_dropping *waiting) {
    const gx_shared *shared = ex->shared;
    return waiting->weight > (shared->flow.high < shared->queue_limit ? shared->flow.high : shared->queue_limit);
}

void gx_drop_settle(gx_executor *ex, const gale_head *head) {
    gx_answer_ack(ex, gx_record_roots(head), 0);
    gx_record_release(head, &ex->blocks);
}

static void take_away(gx_task *task, gx_dropping *waiting, uint64_t weight) {
    GX_CHECK(waiting->weight >= weight && task->lanes->weight >= weight);
    waiting->weight -= weight;
    task->lanes->weight -= weight;
}

/* Drops the oldest of a lane while it is full. */
static void trim(gx_executor *ex, gx_task *task, const gx_plan_drop *drop) {
    GX_CHECK(task->executor == ex);
    gx_dropping *waiting = waiting_of(task, drop);
    const gale_head *oldest;
    if (drop->policy != GALE_DROP_OLDEST || task->lanes->busy == drop->lane) return;
    while (is_full(ex, waiting) && (oldest = gx_fifo_front(&waiting->fifo)) != NULL) {
        count(ex, task, drop);
        take_away(task, waiting, gx_record_weight(oldest));
        gx_drop_settle(ex, oldest);
        gx_waiting_pop(ex, task, drop->lane, oldest->length);
    }
}

bool gx_drop_arriving(gx_executor *ex, gx_task *task, const gx_plan_drop *drop) {
    bool full;
    if (task->executor != ex) {
        full = !gx_outlet_is_clear(&ex->outlets[task->executor->index]);
    } else {
        trim(ex, task, drop);
        full = drop->policy == GALE_DROP_NEWEST && is_full(ex, waiting_of(task, drop));
    }
    if (full) count(ex, task, drop);
    return full;
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
