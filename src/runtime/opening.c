#include "runtime/opening.h"

#include "base/assert.h"
#include "base/backoff.h"
#include "base/log.h"
#include "engine/dead_letter.h"
#include "engine/health.h"
#include "engine/hooks.h"
#include "engine/short.h"
#include "engine/spout.h"
#include "engine/watches.h"
#include "runtime/lifecycle.h"
#include "runtime/restore.h"

/* What was saved does not fit the component: the way to go on with the rest, unless it names its own. The sums of the
 * store hold, so a component that calls it damaged most likely has other properties now. */
static void add_way_out(const gx_task *task, int rc, gale_error *error) {
    bool fits_not = rc == GALE_INVALID || rc == GALE_STATE || rc == GALE_DAMAGED;
    bool complete = task->executor->shared->cut.restore->head.image.complete;
    if (!fits_not || complete || strstr(task->report, "gale state reset")) return;
    gale_error_add(error, "%sto begin '%s' anew and keep the rest: gale state reset DIR --component %s",
                   rc == GALE_DAMAGED ? "where its properties were changed, change them back; " : "",
                   task->context.component, task->context.component);
}

static void fail(gx_task *task, int rc, bool refuses) {
    gale_error error = GALE_ERROR_INIT;
    gx_task_error(task, rc, task->is_spout ? "be opened" : "be prepared", &error);
    if (refuses) add_way_out(task, rc, &error);
    gx_executors_fail(task->executor->shared, &error);
}

/* In a run that goes on from a checkpoint. */
static int restore_task(gx_task *task) {
    const gx_restore *restore = task->executor->shared->cut.restore;
    gale_error error = GALE_ERROR_INIT;
    if (!restore) return GALE_OK;
    int rc = gx_restore_task(restore, task, &error);
    if (rc < 0) gx_task_report(task, error.text);
    return rc == GALE_AGAIN ? GALE_COMPONENT : rc; /* what was saved is given once */
}

/* One that was opened and cannot go on: it ends as others do, but no hook has heard of it. */
static void end_task(gx_task *task) {
    const gx_component *built = task->plan->built;
    void (*function)(void *self) = built->is_spout ? built->spout.close : built->bolt.cleanup;
    if (function) function(task->self);
}

static int call_open(gx_task *task) {
    const gx_component *built = task->plan->built;
    int (*function)(void *, const gale_context *, gale_collector *, void **) = built->is_spout ? built->spout.open
                                                                                               : built->bolt.prepare;
    task->self = built->user;
    return function ? function(built->user, &task->context, &task->out, &task->self) : GALE_OK;
}

/* What it made before it failed goes. `*ret_refuses`: it was opened, and what was saved does not fit it. */
static int open_task(gx_executor *ex, gx_task *task, bool *ret_refuses) {
    gx_turn_begin(ex, task);
    task->reported = false;
    int rc = call_open(task);
    bool opened = rc >= 0;
    if (opened) rc = restore_task(task);
    if (rc < 0) gx_watches_forget(task);
    *ret_refuses = opened && rc < 0;
    if (*ret_refuses) end_task(task);
    if (rc < 0) gx_task_drop_states(task, ex->shared);
    gx_turn_end(ex);
    return rc;
}

static void set_open(gx_executor *ex, gx_task *task) {
    task->open = true;
    gx_health_unopened(task, NULL);
    if (gx_hooks_any(task)) gx_hooks_call_prepare(task);
    gx_executor_tell_time(ex);
    if (!task->tick.due) task->tick.due = ex->now + task->tick.period;
    if (task->tick.period && task->tick.due < ex->tick_due) ex->tick_due = task->tick.due;
    gx_executor_stale(ex);
}

static void wait(gx_executor *ex, gx_task *task) {
    gx_opening *opening = &task->opening;
    int64_t pause = gx_backoff_pause(opening->tries, gx_random_next(&task->random));
    if (!opening->tries && ex->shared->cut.store)
        gale_log(task->context.logger, GALE_LOG_INFO, task->context.component,
                 "the run begins when all are open: a checkpoint is of all of it");
    opening->tries++;
    gx_executor_stale(ex);
    opening->due = gx_executor_tell_time(ex) + pause;
    gx_health_unopened(task, task->reported ? task->report : "it cannot be opened now");
}

/* False when the run is to end. */
static bool try_task(gx_executor *ex, gx_task *task) {
    bool refuses;
    int rc = open_task(ex, task, &refuses);
    bool later = rc == GALE_AGAIN && !gale_config_bool(task->plan->config, "gale.required", false);
    if (rc >= 0)
        set_open(ex, task);
    else if (later)
        wait(ex, task);
    else
        fail(task, rc, refuses);
    return rc >= 0 || later;
}

/* The control, and who waits for the start, look again. */
static void tell(gx_shared *shared) {
    gx_monitor_lock(&shared->monitor);
    gx_monitor_notify(&shared->monitor);
    gx_monitor_unlock(&shared->monitor);
    gx_bell_ring(&shared->executors[0]->bell);
}

static void count_unopened(gx_executor *ex, const gx_task *task) {
    ex->unopened++;
    gx_add_release(&ex->shared->unopened, 1);
    if (task->is_spout) gx_add_release(&ex->shared->unopened_spouts, 1);
}

/* What it said of the run (gale_resume) is known before it is not waited for any more. */
static void count_open(gx_executor *ex, const gx_task *task) {
    ex->unopened--;
    if (task->is_spout) gx_sub_acq_rel(&ex->shared->unopened_spouts, 1);
    gx_sub_acq_rel(&ex->shared->unopened, 1);
}

void gx_opening_begin(gx_executor *ex) {
    GX_CHECK(!ex->opened);
    ex->opened = true;
    if (gx_dead_letters_open(ex->shared) < 0) return;
    for (uint32_t i = 0; i < ex->task_count; i++) gx_short_choose(ex->tasks[i], ex->tasks[i]->tapped);
    for (uint32_t i = 0; i < ex->task_count; i++)
        if (!try_task(ex, ex->tasks[i])) return;
    for (uint32_t i = 0; i < ex->task_count; i++)
        if (!ex->tasks[i]->open) count_unopened(ex, ex->tasks[i]);
    gx_add_release(&ex->shared->tried, 1); /* after those */
    tell(ex->shared);
}

/* A spout that was not open when the drain began has nothing to drain. */
static bool is_wanted(const gx_executor *ex, const gx_task *task) {
    return !task->open && (!task->is_spout || gx_phase(ex->shared) < GALE_PHASE_DRAINING);
}

/* The others are under way. */
static void join_late(gx_executor *ex, gx_task *task) {
    if (task->is_spout) gx_spout_late(ex, task);
    gx_lifecycle_finish_late(ex, task);
    tell(ex->shared);
}

size_t gx_opening_again(gx_executor *ex) {
    size_t asked = 0;
    for (uint32_t i = 0; i < ex->task_count; i++) {
        gx_task *task = ex->tasks[i];
        if (!is_wanted(ex, task) || task->opening.due > ex->now) continue;
        asked++;
        if (!try_task(ex, task)) break;
        if (!task->open) continue;
        count_open(ex, task);
        join_late(ex, task);
    }
    return asked;
}

int64_t gx_opening_due(const gx_executor *ex) {
    int64_t due = INT64_MAX;
    for (uint32_t i = 0; ex->unopened && i < ex->task_count; i++)
        if (is_wanted(ex, ex->tasks[i]) && ex->tasks[i]->opening.due < due) due = ex->tasks[i]->opening.due;
    return due;
}
