#include "engine/run.h"

#include "base/mutant.h"
#include "engine/answer.h"
#include "engine/collector.h"
#include "engine/drop.h"
#include "engine/hooks.h"

#include <stdio.h>

static void restart_tick(gx_executor *ex, gx_task *task) {
    gx_tick_life *tick = &task->tick;
    tick->waiting = false;
    tick->due += tick->period; /* keeps its cadence; what was missed is skipped */
    if (tick->due <= ex->now) tick->due = ex->now + tick->period;
    if (tick->due < ex->tick_due) ex->tick_due = tick->due;
    gx_count(&task->counters.ticks, 1);
}

static void set_cursor(gx_executor *ex, gx_task *task, const gale_head *head) {
    gx_cursor *cursor = &ex->cursor;
    cursor->generation++;
    cursor->task = task;
    cursor->tuple.head = head;
    cursor->tuple.body = gx_record_body(head);
    cursor->tuple.handle = gx_handle(task->id, GX_HELD_CURRENT, cursor->generation);
    cursor->ack = 0;
    cursor->roots = gx_record_roots(head);
    gx_store_relaxed(&ex->in_call_root, cursor->roots.count ? cursor->roots.pairs[0].root : 0);
    cursor->deadline = gx_record_deadline(head);
    cursor->state = GX_CURSOR_OPEN;
    cursor->failed = false;
}

static int call(gx_executor *ex, gx_task *task) {
    return task->execute(task->self, &ex->cursor.tuple, &task->out);
}

/* A call whose time is taken. Before a slow one, what is finished is shown to others. */
static int timed_call(gx_executor *ex, gx_task *task) {
    if (task->slow) gx_executor_publish(ex);
    int64_t before = gx_executor_tell_time(ex);
    gx_executor_call(ex, task); /* since now */
    int rc = call(ex, task);
    int64_t spent = gx_executor_tell_time(ex) - before;
    gx_task_sampled(task, spent);
    if (task->slow) ex->slow_ns += (uint64_t)spent;
    return rc;
}

/* What has waited too long is not executed: its trees fail here. */
static void expire(gx_executor *ex, gx_task *task, const gale_head *head) {
    char text[GALE_FAILURE_TEXT];
    double over = (double)(ex->now - gx_record_deadline(head)) / 1e9;
    snprintf(text, sizeof text, "waited in queues until %.3f s after its deadline (topology.message.deadline.secs)",
             over);
    gx_answer_fail(ex, task, gx_record_roots(head), GALE_REASON_DEADLINE, text);
    gx_count(&task->counters.expired, 1);
    gx_record_release(head, &ex->blocks);
}

/* The end of a call. What a simple bolt's call most often comes to is done here. */
static void settle(gx_executor *ex, gx_task *task, int rc) {
    gx_cursor *cursor = &ex->cursor;
    bool plain = task->simple && !task->hook_count && cursor->state == GX_CURSOR_OPEN && !cursor->failed;
    if (GX_UNLIKELY(rc < 0 || !plain)) {
        gx_collector_settle_current(ex, rc);
        return;
    }
    gx_answer_ack(ex, cursor->roots, cursor->ack);
    gx_count(&task->counters.acked, 1);
    cursor->state = GX_CURSOR_NONE;
    cursor->task = NULL;
}

/* Returns 1 for what counts as executed: ticks do not, nor what was too late. Its caller has marked whose functions run
 * (gx_executor_call). */
static size_t execute(gx_executor *ex, gx_task *task, const gale_head *head) {
    if (GX_UNLIKELY(head->flags & GX_RECORD_DEADLINE) && gx_record_deadline(head) < ex->now) {
        expire(ex, task, head);
        return 0;
    }
    bool tick = head->source == 0;
    task->reported = false;
    set_cursor(ex, task, head);
    int rc = GX_UNLIKELY(task->slow || --task->sample_in == 0) ? timed_call(ex, task) : call(ex, task);
    if (GX_UNLIKELY(tick)) {
        ex->cursor.state = ex->cursor.state == GX_CURSOR_OPEN ? GX_CURSOR_ANSWERED : ex->cursor.state;
        restart_tick(ex, task);
    }
    if (gx_hooks_any(task)) gx_hooks_call_execute(task, &ex->cursor.tuple, rc);
    settle(ex, task, rc);
    gx_record_release(head, &ex->blocks);
    return !tick;
}

static bool may_run(gx_executor *ex, const gx_task *task) {
    gx_executor_check_gates(ex);
    return !ex->gated[task->component];
}

/* Parked lists, inlets and the local FIFO have a budget of slow time each: one cannot starve another. */
static void begin_stage(gx_executor *ex) {
    ex->slow_ns = 0;
}

static bool out_of_time(const gx_executor *ex) {
    return ex->slow_ns > GX_RUN_SLOW_BUDGET;
}

static void counted(gx_task *task, size_t executed) {
    if (executed) gx_count(&task->counters.executed, executed);
    gx_store_relaxed(&task->queued_seen, task->queued + (task->lanes ? task->lanes->weight : 0));
}

/* Moves a record behind the others that wait for its task. `counted` says that its weight is in the task's queue
 * already. When there is no memory it stays where it is (false), and is tried again. */
static bool park(gx_executor *ex, gx_task *task, const gale_head *head, bool is_counted) {
    const gx_plan_drop *drop = GX_UNLIKELY(task->lanes != NULL) ? gx_drop_of(ex, task, head) : NULL;
    if (GX_UNLIKELY(drop && gx_drop_arriving(ex, task, drop))) {
        gx_drop_settle(ex, head);
        return true;
    }
    if (GX_UNLIKELY(!drop && !is_counted && task->queued > ex->shared->queue_limit)) {
        if (!GX_MUTANT(overflow_lost)) gx_answer_overflow(ex, task, gx_record_roots(head));
        gx_record_release(head, &ex->blocks);
        return true;
    }
    void *at = gx_drop_push(ex, task, drop, head->length);
    if (!at) return false;
    memcpy(at, head, head->length);
    gx_waiting_pushed(task, at);
    uint64_t weight = gx_record_weight(at), counted_already = is_counted ? gx_record_weight(head) : 0;
    if (GX_UNLIKELY(drop != NULL))
        gx_drop_queued(task, drop, weight);
    else if (weight != counted_already)
        gx_executor_queued(ex, task, weight - counted_already);
    return true;
}

/* --- The local FIFO --- */

static const gale_head *pop_local(gx_executor *ex, const gale_head *head) {
    gx_fifo_pop(&ex->local, &ex->chunks, head->length);
    return gx_fifo_front(&ex->local);
}

/* A run of records for one task, from the front. */
static size_t run_local_task(gx_executor *ex, gx_task *task, const gale_head *head, size_t budget) {
    size_t run = 0, executed = 0;
    gx_executor_call(ex, task);
    do {
        uint64_t weight = gx_record_weight(head);
        executed += execute(ex, task, head);
        gx_executor_dequeued(ex, task, weight);
        head = pop_local(ex, head);
        run++;
    } while (head && head->target == task->id && run < budget && !out_of_time(ex) && may_run(ex, task));
    gx_executor_call(ex, NULL);
    counted(task, executed);
    return run;
}

size_t gx_run_local(gx_executor *ex) {
    size_t done = 0;
    begin_stage(ex);
    const gale_head *head = gx_fifo_front(&ex->local);
    while (head && done < GX_RUN_BUDGET && !out_of_time(ex)) {
        gx_task *task = ex->shared->tasks[head->target];
        if (GX_LIKELY(!gx_waiting_any(task) && may_run(ex, task))) {
            done += run_local_task(ex, task, head, GX_RUN_BUDGET - done);
            head = gx_fifo_front(&ex->local);
        } else {
            if (!park(ex, task, head, true)) break;
            head = pop_local(ex, head);
            done++;
        }
    }
    return done;
}

/* --- Parked lists --- */

/* The first of a list. What its call emits must not push it out of the list that it lies in. */
static size_t run_waiting(gx_executor *ex, gx_task *task, uint32_t lane, const gale_head *head) {
    uint64_t weight = gx_record_weight(head);
    const gx_plan_drop *drop = GX_UNLIKELY(task->lanes != NULL) ? gx_drop_of(ex, task, head) : NULL;
    if (GX_UNLIKELY(lane)) task->lanes->busy = (uint16_t)lane;
    size_t executed = execute(ex, task, head);
    if (GX_UNLIKELY(lane)) task->lanes->busy = 0;
    gx_waiting_pop(ex, task, lane, head->length);
    if (GX_UNLIKELY(drop != NULL))
        gx_drop_dequeued(ex, task, drop, weight);
    else
        gx_executor_dequeued(ex, task, weight);
    return executed;
}

static size_t run_parked_task(gx_executor *ex, gx_task *task) {
    size_t run = 0, executed = 0;
    const gale_head *head;
    uint32_t lane;
    gx_executor_call(ex, task);
    while (run < GX_RUN_BUDGET && !out_of_time(ex) && may_run(ex, task) &&
           (head = gx_waiting_front(task, &lane)) != NULL) {
        executed += run_waiting(ex, task, lane, head);
        run++;
    }
    gx_executor_call(ex, NULL);
    counted(task, executed);
    return run;
}

/* A different task begins each time, so that a slow one does not use up the time of all. */
size_t gx_run_parked(gx_executor *ex) {
    size_t done = 0;
    begin_stage(ex);
    uint32_t first = ex->next_parked++;
    for (uint32_t i = 0; ex->parked_tasks && i < ex->task_count; i++) {
        gx_task *task = ex->tasks[(first + i) % ex->task_count];
        if (gx_waiting_any(task)) done += run_parked_task(ex, task);
    }
    return done;
}

/* --- Inlets --- */

static size_t run_ring_task(gx_executor *ex, gx_inlet *inlet, gx_task *task, const gale_head *head, size_t budget) {
    size_t run = 0, executed = 0;
    gx_executor_call(ex, task);
    do {
        uint32_t length = head->length;
        executed += execute(ex, task, head);
        gx_ring_advance(&inlet->data, length);
        head = gx_ring_peek(&inlet->data);
        run++;
    } while (head && head->target == task->id && run < budget && !out_of_time(ex) && may_run(ex, task));
    gx_executor_call(ex, NULL);
    counted(task, executed);
    return run;
}

/* A ring is always read to what was seen of it, so that it never waits at a record whose task may not run. When slow
 * tasks have used up the step's time, the rest is parked: a ring is not a place to wait in for those behind. */
static size_t run_ring(gx_executor *ex, gx_inlet *inlet) {
    size_t done = 0;
    const gale_head *head;
    while (done < GX_RUN_BUDGET && (head = gx_ring_peek(&inlet->data)) != NULL) {
        gx_task *task = ex->shared->tasks[head->target];
        if (GX_LIKELY(!gx_waiting_any(task) && !out_of_time(ex) && may_run(ex, task))) {
            done += run_ring_task(ex, inlet, task, head, GX_RUN_BUDGET - done);
        } else {
            if (!park(ex, task, head, false)) break;
            gx_ring_advance(&inlet->data, head->length);
            done++;
        }
    }
    inlet->received += done;
    return done;
}

size_t gx_run_inlets(gx_executor *ex) {
    size_t done = 0;
    begin_stage(ex);
    for (uint32_t i = 0; i < ex->shared->executor_count; i++) {
        gx_inlet *inlet = &ex->inlets[i];
        if (!inlet->data.ring || !gx_ring_refresh(&inlet->data)) continue;
        done += run_ring(ex, inlet);
        if (gx_ring_release(&inlet->data)) gx_bell_ring(&ex->shared->executors[i]->bell);
    }
    return done;
}

size_t gx_run_acks(gx_executor *ex) {
    size_t done = 0;
    for (uint32_t i = 0; i < ex->shared->executor_count; i++) {
        gx_inlet *inlet = &ex->inlets[i];
        if (!inlet->acks.ring || !gx_ring_refresh(&inlet->acks)) continue;
        const uint64_t *item;
        size_t items = 0;
        while ((item = gx_ring_next_item(&inlet->acks)) != NULL) {
            gx_answer_receive(ex, inlet, item);
            items++;
        }
        inlet->received += items;
        done += items;
        if (gx_ring_release(&inlet->acks)) gx_bell_ring(&ex->shared->executors[i]->bell);
    }
    return done;
}

/* --- Rotations --- */

size_t gx_run_rotations(gx_executor *ex) {
    if (GX_LIKELY(ex->now < ex->acker_due)) return 0;
    size_t rotated = 0;
    ex->acker_due = INT64_MAX;
    for (uint32_t i = 0; i < ex->task_count; i++) {
        if (!ex->tasks[i]->is_acker) continue;
        gx_acker *acker = &ex->tasks[i]->acker;
        rotated += gx_acker_tick(acker, ex->now);
        if (acker->due < ex->acker_due) ex->acker_due = acker->due;
    }
    return rotated;
}

/* --- Ticks --- */

/* A record from the system: no roots, one value, the period in seconds; a whole number when it is one. */
static bool queue_tick(gx_executor *ex, gx_task *task) {
    double seconds = (double)task->tick.period / 1e9;
    gale_value value = task->tick.period % GALE_SECOND == 0 ? gale_i64(task->tick.period / GALE_SECOND)
                                                            : gale_f64(seconds);
    uint32_t size = (uint32_t)gx_body_measure(&value, 1);
    gale_head head = { gx_record_length(0, size, false), task->id, 0, GX_STREAM_TICK, 0, 0, size };
    void *at = gx_fifo_push(&ex->local, &ex->chunks, head.length);
    if (!at) return false;
    memcpy(at, &head, sizeof head);
    gx_body_encode(&value, 1, gx_record_tail(at));
    gx_executor_queued(ex, task, head.length);
    task->tick.waiting = true;
    return true;
}

size_t gx_run_ticks(gx_executor *ex) {
    if (ex->now < ex->tick_due) return 0;
    size_t queued = 0;
    ex->tick_due = INT64_MAX;
    for (uint32_t i = 0; i < ex->task_count; i++) {
        gx_task *task = ex->tasks[i];
        if (!task->tick.period || task->tick.waiting) continue;
        if (ex->now >= task->tick.due && queue_tick(ex, task))
            queued++;
        else if (task->tick.due < ex->tick_due)
            ex->tick_due = task->tick.due;
    }
    return queued;
}
