#include "engine/tune.h"

void gx_tune_begin(gx_shared *shared) {
    for (uint32_t i = 0; i < shared->plan->component_count; i++) {
        const gx_plan_component *c = &shared->plan->components[i];
        shared->tuned[i] = (gx_tuned){ .max_pending = c->max_pending,
                                       .rate = gale_config_f64(c->config, "gale.rate", 0),
                                       .drop = GALE_DROP_NOTHING };
    }
}

gx_tuned gx_tune_read(gx_shared *shared, uint32_t component) {
    gx_monitor_lock(&shared->monitor);
    gx_tuned tuned = shared->tuned[component];
    gx_monitor_unlock(&shared->monitor);
    return tuned;
}

/* A spout that waits until its next tuple is due is asked again: that was by another rate. */
static void tune(gx_task *task, const gx_tuned *tuned) {
    if (task->context.rate != tuned->rate) task->spout.not_before = 0;
    task->context.rate = tuned->rate;
    task->spout.max_pending = tuned->max_pending;
    if (task->lanes) task->lanes->drop = tuned->drop;
}

void gx_tune_take(gx_executor *ex, uint32_t version) {
    gx_shared *shared = ex->shared;
    gx_monitor_lock(&shared->monitor);
    for (uint32_t i = 0; i < ex->task_count; i++)
        if (!ex->tasks[i]->is_acker) tune(ex->tasks[i], &shared->tuned[ex->tasks[i]->component]);
    gx_monitor_unlock(&shared->monitor);
    ex->tune_seen = version;
}
