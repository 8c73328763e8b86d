#include "engine/run.h"

#include "base/assert.h"
#include "base/mutant.h"
#include "engine/answer.h"
#include "engine/collector.h"
#include "engine/drop.h"
#include "engine/hooks.h"

#include <stdio.h>

static void restart_tick(gx_executor *ex, gx_task *task) {
    GX_CHECK(task->tick.period > 0);
    gx_tick_life *tick = &task->tick;
    tick->waiting = false;
    tick->due += tick->period; /* keeps its cadence; what was missed is skipped */
    if (tick->due <= ex->now) tick->due = ex->now + tick->period;
    if (tick->due < ex->tick_due) ex->tick_due = tick->due;
}

/* What every tuple in execution begins with; what those of a run have in common is set by begin_run. */
GX_INLINE void set_cursor(gx_executor *ex, gx_task *task, const gale_head *head, uint64_t root) {
    gx_cursor *cursor = &ex->cursor;
    cursor->tuple.head = head;
    cursor->tuple.handle = gx_handle_next(cursor->tuple.handle);
    cursor->ack = 0;
    cursor->state = GX_CURSOR_OPEN;
    cursor->failed = false;
    task->reported = false;
    gx_store_relaxed(&ex->in_call_root, root);
}

static int call(gx_executor *ex, gx_task *task) {
    return task->execute(task->self, &ex->cursor.tuple, &task->out);
}

/* A call whose time is taken. Before a slow one, what is finished is shown to others. */
GX_NOINLINE static int timed_call(gx_executor *ex, gx_task *task) {
    if (task->slow) gx_executor_publish(ex);
    int64_t before = gx_executor_tell_time(ex);
    gx_executor_call(ex, task); /* since now */
    gx_store_relaxed(&ex->in_call_root, ex->cursor.roots.count ? ex->cursor.roots.pairs[0].root : 0);
    int rc = call(ex, task);
    int64_t spent = gx_executor_tell_time(ex) - before;
    gx_task_sampled(task, spent);
    if (task->slow) ex->slow_ns += (uint64_t)spent;
    return rc;
}

/* What has waited too long is not executed: its trees fail here. */
GX_NOINLINE static void expire(gx_executor *ex, gx_task *task, const gale_head *head) {
    char text[GALE_FAILURE_TEXT];
    double over = (double)(ex->now - gx_record_deadline(head)) / 1e9;
    snprintf(text, sizeof text, "waited in queues until %.3f s after its deadline (topology.message.deadline.secs)",
             over);
    gx_answer_fail(ex, task, gx_record_roots(head), GALE_REASON_DEADLINE, text);
    gx_count(&task->counters.expired, 1);
    gx_record_release(head, &ex->blocks);
}

/* A run of records for one task: how many there were, and of those the exceptions. */
typedef struct tally {
    size_t run;
    size_t not_counted; /* ticks, and what was too late */
    size_t not_acked;   /* by the engine, in the plain way */
} tally;

static int call_or_time(gx_executor *ex, gx_task *task) {
    return GX_UNLIKELY(--task->sample_in == 0) ? timed_call(ex, task) : call(ex, task);
}

static void settle(gx_executor *ex, gx_task *task, int rc) {
    GX_CHECK(ex->cursor.task == task);
    if (gx_hooks_any(task)) gx_hooks_call_execute(task, &ex->cursor.tuple, rc);
    gx_collector_settle_current(ex, rc);
}

/* Any record. Returns its weight. */
GX_NOINLINE static uint64_t execute_any(gx_executor *ex, gx_task *task, const gale_head *head, tally *t) {
    gx_cursor *cursor = &ex->cursor;
    uint64_t weight = gx_record_weight(head);
    t->not_acked++;
    if (GX_UNLIKELY(head->flags & GX_RECORD_DEADLINE) && gx_record_deadline(head) < ex->now) {
        expire(ex, task, head);
        t->not_counted++;
        return weight;
    }
    bool tick = head->source == 0;
    if (tick && gx_task_is_over(task)) { /* it finished after the tick was made */
        restart_tick(ex, task);
        t->not_counted++;
        return weight;
    }
    cursor->roots = gx_record_roots(head);
    cursor->tuple.body = gx_record_body(head);
    cursor->deadline = gx_record_deadline(head);
    set_cursor(ex, task, head, cursor->roots.count ? cursor->roots.pairs[0].root : 0);
    int rc = call_or_time(ex, task);
    if (tick) {
        cursor->state = cursor->state == GX_CURSOR_OPEN ? GX_CURSOR_ANSWERED : cursor->state;
        restart_tick(ex, task);
        gx_count(&task->counters.ticks, 1);
    }
    settle(ex, task, rc);
    cursor->deadline = 0;
    t->not_counted += tick;
    gx_record_release(head, &ex->blocks);
    return weight;
}

/* A record with one root or none, all of it in its own bytes, for a task whose calls the engine acks. */
GX_INLINE void execute_plain(gx_executor *ex, gx_task *task, const gale_head *head, uint32_t roots, tally *t) {
    gx_cursor *cursor = &ex->cursor;
    gx_root *pair = (gx_root *)(uintptr_t)(head + 1);
    cursor->roots = (gx_roots){ pair, roots };
    cursor->tuple.body = (const gale_body *)(pair + roots);
    set_cursor(ex, task, head, roots ? pair->root : 0);
    int rc = call_or_time(ex, task);
    if (GX_LIKELY(rc >= 0 && gx_cursor_is_open(cursor))) {
        if (roots) gx_answer_ack_one(ex, pair->root, pair->edge ^ cursor->ack);
    } else {
        t->not_acked++;
        settle(ex, task, rc);
    }
}

/* Apart, so that what has roots has the registers. */
GX_NOINLINE static void execute_rootless(gx_executor *ex, gx_task *task, const gale_head *head, tally *t) {
    execute_plain(ex, task, head, 0, t);
}

/* Its caller has marked whose functions run (begin_run), and ends the run with end_run. Returns what it weighed. */
GX_INLINE uint64_t execute(gx_executor *ex, gx_task *task, const gale_head *head, tally *t) {
    uint32_t length = head->length;
    t->run++;
    if (GX_LIKELY(gx_record_is(head, 1, 0) && task->acks_itself))
        execute_plain(ex, task, head, 1, t);
    else if (gx_record_is(head, 0, 0) && task->acks_itself && head->source) /* not a tick */
        execute_rootless(ex, task, head, t);
    else
        return execute_any(ex, task, head, t);
    return length;
}

static bool may_run(gx_executor *ex, const gx_task *task) {
    gx_executor_check_gates(ex);
    return !ex->gated[task->component];
}

/* A task that might, a record ago. */
GX_INLINE bool still_runs(gx_executor *ex, const gx_task *task) {
    return GX_LIKELY(!gx_executor_gates_changed(ex)) || may_run(ex, task);
}

/* Parked lists, inlets and the local FIFO have a budget of slow time each: one cannot starve another. */
static void begin_stage(gx_executor *ex) {
    ex->slow_ns = 0;
}

/* After the last run of a stage no function runs. */
static void end_stage(gx_executor *ex) {
    gx_executor_call(ex, NULL);
}

static bool out_of_time(const gx_executor *ex) {
    return ex->slow_ns > GX_RUN_SLOW_BUDGET;
}

static void begin_run(gx_executor *ex, gx_task *task) {
    GX_CHECK(task->executor == ex && task->open);
    gx_cursor *cursor = &ex->cursor;
    cursor->task = task;
    cursor->deadline = 0;
    cursor->tuple.handle = gx_handle(task->id, GX_HELD_CURRENT, gx_handle_generation(cursor->tuple.handle));
    gx_executor_call(ex, task);
}

static void end_run(gx_executor *ex, gx_task *task, const tally *t) {
    GX_CHECK(t->not_counted <= t->run && t->not_acked <= t->run);
    ex->cursor.state = GX_CURSOR_NONE;
    ex->cursor.task = NULL;
    if (t->run > t->not_counted) gx_count(&task->counters.executed, t->run - t->not_counted);
    if (t->run > t->not_acked) gx_count(&task->counters.acked, t->run - t->not_acked);
    gx_store_relaxed(&task->queued_seen, task->queued + (task->lanes ? task->lanes->weight : 0));
}

/* Moves a record behind the others that wait for its task. `counted` says that its weight is in the task's queue
 * already. When there is no memory it stays where it is (false), and is tried again. */
static bool park(gx_executor *ex, gx_task *task, const gale_head *head, bool is_counted) {
    GX_CHECK(head->target == task->id && task->executor == ex);
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

/* A run of records for one task, from the front. What they weighed is taken off at its end. */
static size_t run_local_task(gx_executor *ex, gx_task *task, const gale_head *head, size_t budget) {
    tally t = { 0 };
    uint64_t weight = 0, bytes = 0;
    begin_run(ex, task);
    do {
        uint32_t length = head->length;
        bytes += length;
        weight += execute(ex, task, head, &t);
        head = gx_fifo_step(&ex->local, &ex->chunks, length);
    } while (head && head->target == task->id && t.run < budget && !out_of_time(ex) && still_runs(ex, task));
    gx_fifo_popped(&ex->local, bytes, t.run);
    gx_executor_dequeued(ex, task, weight);
    end_run(ex, task, &t);
    return t.run;
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
            head = gx_fifo_pop(&ex->local, &ex->chunks, head->length);
            done++;
        }
    }
    end_stage(ex);
    return done;
}

/* --- Parked lists --- */

/* The first of a list. What its call emits must not push it out of the list that it lies in. */
static void run_waiting(gx_executor *ex, gx_task *task, uint32_t lane, const gale_head *head, tally *t) {
    GX_CHECK(!lane || task->lanes->busy == 0);
    const gx_plan_drop *drop = GX_UNLIKELY(task->lanes != NULL) ? gx_drop_of(ex, task, head) : NULL;
    if (GX_UNLIKELY(lane)) task->lanes->busy = (uint16_t)lane;
    uint64_t weight = execute(ex, task, head, t);
    if (GX_UNLIKELY(lane)) task->lanes->busy = 0;
    gx_waiting_pop(ex, task, lane, head->length);
    if (GX_UNLIKELY(drop != NULL))
        gx_drop_dequeued(ex, task, drop, weight);
    else
        gx_executor_dequeued(ex, task, weight);
}

static size_t run_parked_task(gx_executor *ex, gx_task *task) {
    tally t = { 0 };
    const gale_head *head;
    uint32_t lane;
    begin_run(ex, task);
    while (t.run < GX_RUN_BUDGET && !out_of_time(ex) && may_run(ex, task) &&
           (head = gx_waiting_front(task, &lane)) != NULL)
        run_waiting(ex, task, lane, head, &t);
    end_run(ex, task, &t);
    return t.run;
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
    end_stage(ex);
    return done;
}

/* --- Inlets --- */

static size_t run_ring_task(gx_executor *ex, gx_inlet *inlet, gx_task *task, const gale_head *head, size_t budget) {
    tally t = { 0 };
    begin_run(ex, task);
    do {
        uint32_t length = head->length;
        execute(ex, task, head, &t);
        gx_ring_advance(&inlet->data, length);
        head = gx_ring_peek(&inlet->data);
    } while (head && head->target == task->id && t.run < budget && !out_of_time(ex) && still_runs(ex, task));
    end_run(ex, task, &t);
    return t.run;
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

/* To the end of what was seen; what came since has set the bit again. */
static bool is_read(const gx_inlet *inlet) {
    return inlet->data.head == inlet->data.tail_cached && inlet->acks.head == inlet->acks.tail_cached;
}

size_t gx_run_inlets(gx_executor *ex) {
    size_t done = 0;
    uint32_t n = ex->shared->executor_count;
    begin_stage(ex);
    for (uint32_t i = gx_ready_next(&ex->ready, 0); i < n; i = gx_ready_next(&ex->ready, i + 1)) {
        gx_inlet *inlet = &ex->inlets[i];
        if (inlet->data.ring && gx_ring_refresh(&inlet->data)) {
            done += run_ring(ex, inlet);
            if (gx_ring_release(&inlet->data)) gx_bell_ring(&ex->shared->executors[i]->bell);
        }
        if (is_read(inlet)) gx_ready_done(&ex->ready, i);
    }
    end_stage(ex);
    return done;
}

/* Most are sums for trees that are kept here. */
GX_INLINE void receive(gx_executor *ex, gx_inlet *inlet, const uint64_t *item) {
    if (GX_LIKELY(item[0] >> GX_LEDGER_SHIFT == ex->keeper && !inlet->half[0]))
        gx_ledger_ack(&ex->ledger, item[0], item[1]);
    else
        gx_answer_receive(ex, inlet, item);
}

static size_t run_inlet_acks(gx_executor *ex, gx_inlet *inlet) {
    const uint64_t *item;
    size_t items = 0;
    while (items < GX_RUN_ACKS && (item = gx_ring_next_item(&inlet->acks)) != NULL) {
        receive(ex, inlet, item);
        items++;
    }
    inlet->received += items;
    return items;
}

size_t gx_run_acks(gx_executor *ex) {
    size_t done = 0;
    uint32_t n = ex->shared->executor_count;
    for (uint32_t i = gx_ready_next(&ex->ready, 0); i < n; i = gx_ready_next(&ex->ready, i + 1)) {
        gx_inlet *inlet = &ex->inlets[i];
        if (!inlet->acks.ring || !gx_ring_refresh(&inlet->acks)) continue;
        done += run_inlet_acks(ex, inlet);
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
    GX_CHECK(!task->tick.waiting);
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
        if (ex->now >= task->tick.due && gx_task_is_over(task))
            restart_tick(ex, task);
        else if (ex->now >= task->tick.due && queue_tick(ex, task))
            queued++;
        else if (task->tick.due < ex->tick_due)
            ex->tick_due = task->tick.due;
    }
    return queued;
}
