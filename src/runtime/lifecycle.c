#include "runtime/lifecycle.h"

#include "base/assert.h"
#include "engine/hooks.h"
#include "engine/parts.h"
#include "engine/remote_run.h"
#include "engine/spout.h"
#include "engine/taps.h"
#include "engine/turn.h"
#include "engine/watches.h"
#include "runtime/ended_collector.h"

/* What gale_runtime_wait returns, unless something was before it. */
static void note_fatal(gx_task *task, int rc, const char *what) {
    gx_shared *shared = task->executor->shared;
    gx_monitor_lock(&shared->monitor);
    if (shared->fatal.code == 0) gx_task_error(task, rc, what, &shared->fatal);
    gx_monitor_unlock(&shared->monitor);
}

static void finish_task(gx_executor *ex, gx_task *task) {
    const gale_bolt_ops *ops = &task->plan->built->bolt;
    if (task->is_spout || !task->open || !ops->finish) return;
    task->reported = false;
    gx_turn_begin(ex, task);
    ex->part_rows = 0;
    ex->run_end = (const unsigned char *)ex; /* any place */
    int rc = ops->finish(task->self, &task->out);
    gx_turn_end(ex);
    ex->work++;
    if (GX_UNLIKELY(rc == GALE_MORE)) {
        rc = gx_parts_again(task);
        task->unfinished = rc >= 0;
        ex->unfinished += task->unfinished;
    }
    if (rc >= 0 || gx_phase(ex->shared) >= GALE_PHASE_CLOSING) return; /* the end says it once */
    if (!task->reported) gx_task_report(task, gale_error_text(rc));
    note_fatal(task, rc, "finish: what it had not emitted yet is lost"); /* the others finish all the same */
}

void gx_lifecycle_finish(gx_executor *ex, uint32_t rank) {
    GX_CHECK(rank <= ex->shared->plan->component_count);
    for (uint32_t i = 0; i < ex->task_count; i++) {
        gx_task *task = ex->tasks[i];
        if (task->plan->rank != rank) continue;
        task->finished = true;
        finish_task(ex, task);
    }
}

/* One that waits for a checkpoint is not waited for: none comes while bolts finish. */
static void free_waiting(gx_executor *ex, gx_task *task) {
    if (task->full && task->wishes) gx_executor_fill(ex, task, true);
}

size_t gx_lifecycle_finish_more(gx_executor *ex) {
    size_t called = 0;
    for (uint32_t i = 0; i < ex->task_count; i++) {
        gx_task *task = ex->tasks[i];
        free_waiting(ex, task);
        if (!task->unfinished) continue;
        gx_executor_check_gates(ex);
        if (ex->gated[task->component]) continue;
        task->unfinished = false;
        ex->unfinished--;
        finish_task(ex, task);
        called++;
    }
    return called;
}

void gx_lifecycle_finish_late(gx_executor *ex, gx_task *task) {
    if (task->finished) finish_task(ex, task);
}

static void close_task(gx_executor *ex, gx_task *task) {
    GX_CHECK(task->open && task->executor == ex);
    const gx_component *built = task->plan->built;
    void (*function)(void *self) = built->is_spout ? built->spout.close : built->bolt.cleanup;
    gx_watches_forget(task);
    gx_turn_begin(ex, task);
    if (gx_hooks_any(task)) gx_hooks_call_cleanup(task);
    if (task->is_spout && task->spout.active && built->spout.deactivate) built->spout.deactivate(task->self);
    task->spout.active = false;
    if (function) function(task->self);
    task->open = false;
    gx_turn_end(ex);
}

void gx_lifecycle_close(gx_executor *ex) {
    GX_CHECK(!ex->closed);
    for (uint32_t i = 0; i < ex->task_count; i++) gx_ended_collector_give(ex->tasks[i]);
    gx_remote_close(ex);
    if (ex->has_ledger) {
        gx_ledger_stop(&ex->ledger);
        gx_spout_answers(ex);
        gx_ledger_publish(&ex->ledger);
    }
    for (uint32_t i = 0; i < ex->task_count; i++)
        if (ex->tasks[i]->open) close_task(ex, ex->tasks[i]);
    gx_taps_leave(ex);
    ex->closed = true;
}
