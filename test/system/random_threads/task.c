/* What spouts and bolts have in common. */
#include "system/random_threads/run.h"

#include <gale/clock.h>
#include <stdlib.h>

/* The task whose function runs on this thread. */
static _Thread_local const rt_task *inside;
static _Thread_local const char *inside_what;

void rt_enter(rt_task *task, const char *what) {
    if (inside)
        rt_violated("'%s' of task %u was called inside '%s' of task %u", what, task->id, inside_what, inside->id);
    if (!pthread_equal(task->thread, pthread_self()))
        rt_violated("'%s' of task %u was called on another thread than before", what, task->id);
    inside = task;
    inside_what = what;
}

void rt_leave(rt_task *task) {
    (void)task;
    inside = NULL;
}

static void open_remote(rt_task *task) {
    rt_run *run = task->run;
    rt_remote *made = calloc(1, sizeof *made);
    if (!made || gale_remote_open(task->out, &made->face) < 0) {
        free(made);
        return;
    }
    made->part = task->number;
    made->task = task->id;
    made->told = task->told;
    task->remote = made;
    pthread_mutex_lock(&run->lock);
    run->remotes[run->remote_count++] = made;
    pthread_mutex_unlock(&run->lock);
}

/* The error from open or prepare that is drawn: of task 0 of one component, before it has handed out anything. */
static bool is_refused(const rt_part_run *part, const gale_context *context) {
    const rt_plan *plan = &part->run->plan;
    return plan->open_error && plan->trouble_part == part->number && context->task_index == 0;
}

static void check_context(const rt_part_run *part, const gale_context *context) {
    if (context->task == 0 || context->task >= RT_TASKS_MAX || context->task_count != part->part->tasks ||
        context->task_index >= context->task_count)
        rt_violated("task %u of '%s' is number %u of %u", context->task, part->part->name, context->task_index,
                    context->task_count);
}

int rt_task_new(rt_part_run *part, const gale_context *context, gale_collector *out, rt_task **ret_task) {
    check_context(part, context);
    rt_run *run = part->run;
    if (is_refused(part, context)) {
        atomic_store(&run->open_error, 1);
        rt_truth_stops(&run->truth);
        gale_report(out, "drawn not to open");
        return GALE_IO;
    }
    rt_task *task = calloc(1, sizeof *task);
    if (!task) return GALE_NO_MEMORY;
    task->run = run;
    task->part = part->part;
    task->number = part->number;
    task->context = context;
    task->out = out;
    task->thread = pthread_self();
    task->told = rt_clock_mine(&run->told);
    task->id = context->task;
    task->index = context->task_index;
    task->counts = &run->counts[task->id];
    task->counts->opened++;
    run->part_of[task->id] = part->number + 1;
    atomic_store(&part->first_task, context->task - context->task_index);
    if (part->part->remotes) open_remote(task);
    *ret_task = task;
    return GALE_OK;
}

void rt_task_free(rt_task *task) {
    task->counts->closed++;
    free(task);
}

uint32_t rt_task_below(rt_task *task, uint32_t n) {
    return (uint32_t)((gale_context_random(task->context) >> 32) * n >> 32);
}

static void spin(const rt_run *run, int64_t nanoseconds) {
    int64_t until = rt_now(run) + nanoseconds;
    while (rt_now(run) < until) {
    }
}

void rt_task_call(rt_task *task) {
    rt_run *run = task->run;
    const rt_plan *plan = &run->plan;
    uint32_t calls = atomic_fetch_add_explicit(&run->parts[task->number].calls, 1, memory_order_relaxed);
    if (task->part->slow && rt_task_below(task, 8) == 0) spin(run, task->part->slow);
    if (plan->end != RT_END_SELF || plan->trouble_part != task->number || calls != plan->trouble_after) return;
    rt_truth_stops(&run->truth);
    atomic_store(&run->stopped_by, 1);
    gale_stop(task->out, GALE_CLOSED_PIPE, "drawn to stop the run");
}

bool rt_task_errs(rt_task *task) {
    return task->part->error_one && rt_task_below(task, task->part->error_one) == 0;
}
