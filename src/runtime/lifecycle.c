#include "runtime/lifecycle.h"

#include "base/assert.h"
#include "engine/dead_letter.h"
#include "engine/hooks.h"
#include "engine/remote.h"
#include "engine/short.h"
#include "engine/spout.h"
#include "engine/watches.h"
#include "runtime/ended_collector.h"
#include "runtime/restore.h"

/* What gale_runtime_wait returns, unless something was before it. */
static void note_fatal(gx_task *task, int rc, const char *what) {
    gx_shared *shared = task->executor->shared;
    gx_monitor_lock(&shared->monitor);
    if (shared->fatal.code == 0) {
        gale_error_set(&shared->fatal, rc, "%s", task->reported ? task->report : gale_error_text(rc));
        gale_error_add(&shared->fatal, "%s '%s' (task %u) could not %s", task->is_spout ? "spout" : "bolt",
                       task->context.component, task->id, what);
    }
    gx_monitor_unlock(&shared->monitor);
}

static void report_fatal(gx_executor *ex, gx_task *task, int rc) {
    note_fatal(task, rc, task->is_spout ? "be opened" : "be prepared");
    gx_executors_close(ex->shared);
}

/* In a run that goes on from a checkpoint. */
static int restore_task(gx_task *task) {
    const gx_restore *restore = task->executor->shared->cut.restore;
    gale_error error = GALE_ERROR_INIT;
    if (!restore) return GALE_OK;
    int rc = gx_restore_task(restore, task, &error);
    if (rc < 0) gx_task_report(task, error.text);
    return rc;
}

/* One that was opened and cannot go on: it ends as others do, but no hook has heard of it. */
static void end_task(gx_task *task) {
    const gx_component *built = task->plan->built;
    void (*function)(void *self) = built->is_spout ? built->spout.close : built->bolt.cleanup;
    if (function) function(task->self);
}

static int open_task(gx_task *task) {
    const gx_component *built = task->plan->built;
    int (*function)(void *, const gale_context *, gale_collector *, void **) = built->is_spout ? built->spout.open
                                                                                               : built->bolt.prepare;
    task->self = built->user;
    return function ? function(built->user, &task->context, &task->out, &task->self) : GALE_OK;
}

void gx_lifecycle_open(gx_executor *ex) {
    GX_CHECK(!ex->opened);
    ex->opened = true;
    if (gx_dead_letters_open(ex->shared) < 0) return;
    for (uint32_t i = 0; i < ex->task_count; i++) gx_short_choose(ex->tasks[i], ex->watched);
    for (uint32_t i = 0; i < ex->task_count; i++) {
        gx_task *task = ex->tasks[i];
        gx_turn_begin(ex, task);
        task->reported = false;
        int rc = open_task(task);
        bool opened = rc >= 0;
        if (opened) rc = restore_task(task);
        if (rc < 0) gx_watches_forget(task);
        if (opened && rc < 0) end_task(task);
        gx_turn_end(ex);
        if (rc < 0) {
            report_fatal(ex, task, rc);
            return;
        }
        task->open = true;
        if (gx_hooks_any(task)) gx_hooks_call_prepare(task);
        gx_executor_tell_time(ex);
        if (!task->tick.due) task->tick.due = ex->now + task->tick.period;
        if (task->tick.period && task->tick.due < ex->tick_due) ex->tick_due = task->tick.due;
    }
    gx_add_release(&ex->shared->opened, 1);
}

void gx_lifecycle_finish(gx_executor *ex, uint32_t rank) {
    GX_CHECK(rank <= ex->shared->plan->component_count);
    for (uint32_t i = 0; i < ex->task_count; i++) {
        gx_task *task = ex->tasks[i];
        const gale_bolt_ops *ops = &task->plan->built->bolt;
        if (task->plan->rank != rank) continue;
        task->finished = true;
        if (task->is_spout || !task->open || !ops->finish) continue;
        task->reported = false;
        gx_turn_begin(ex, task);
        int rc = ops->finish(task->self, &task->out);
        gx_turn_end(ex);
        ex->work++;
        if (rc >= 0 || gx_phase(ex->shared) >= GALE_PHASE_CLOSING) continue; /* the end says it once */
        if (!task->reported) gx_task_report(task, gale_error_text(rc));
        note_fatal(task, rc, "finish: what it had not emitted yet is lost"); /* the others finish all the same */
    }
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
    ex->closed = true;
}
