#include "engine/tick.h"

#include "base/assert.h"

void gx_tick_restart(gx_executor *ex, gx_task *task) {
    GX_CHECK(task->tick.period > 0);
    gx_tick_life *tick = &task->tick;
    tick->waiting = false;
    tick->due += tick->period; /* keeps its cadence; what was missed is skipped */
    if (tick->due <= ex->now) tick->due = ex->now + tick->period;
    if (tick->due < ex->tick_due) ex->tick_due = tick->due;
}

/* A row from the system: no roots, one value, the period in seconds; a whole number when it is one. It does not count in
 * the task's queue: at most one waits, and who feeds the task has no part in it. Else ticks that are always due could keep
 * a queue above its mark, and its feeders from running, for good. */
bool gx_tick_queue(gx_executor *ex, gx_task *task) {
    GX_CHECK(!task->tick.waiting);
    double seconds = (double)task->tick.period / 1e9;
    gale_value value = task->tick.period % GALE_SECOND == 0 ? gale_i64(task->tick.period / GALE_SECOND)
                                                            : gale_f64(seconds);
    uint32_t size = (uint32_t)gx_body_measure(&value, 1);
    gale_head head = { gx_row_length(0, size, false), GX_STREAM_TICK, 0, 0 };
    gx_batch *batch = gx_batch_take(&ex->batches, false, head.length);
    if (!batch) return false;
    batch->source = 0;
    batch->target = task->id;
    batch->used = head.length;
    memcpy(batch->bytes, &head, sizeof head);
    gx_body_encode(&value, 1, gx_row_tail((const gale_head *)batch->bytes));
    if (task->lanes) {
        gx_waiting_push(ex, task, batch);
    } else {
        ex->local_bytes += gx_batch_weight(batch);
        gx_executor_queue(ex, batch);
    }
    task->tick.waiting = true;
    return true;
}

size_t gx_tick_run(gx_executor *ex) {
    if (ex->now < ex->tick_due) return 0;
    size_t queued = 0;
    ex->tick_due = INT64_MAX;
    for (uint32_t i = 0; i < ex->task_count; i++) {
        gx_task *task = ex->tasks[i];
        if (!task->tick.period || task->tick.waiting || !task->open) continue;
        if (ex->now >= task->tick.due && gx_task_is_over(task))
            gx_tick_restart(ex, task);
        else if (ex->now >= task->tick.due && gx_tick_queue(ex, task))
            queued++;
        else if (task->tick.due < ex->tick_due)
            ex->tick_due = task->tick.due;
    }
    return queued;
}
