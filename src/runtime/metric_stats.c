/* Reading components' own metrics: a task's, or summed by whoever asks. */
#include "engine/metric.h"
#include "runtime/runtime.h"

#include <string.h>

static void give(const gale_metric_stats *stats, gale_metric_stats *ret_stats) {
    size_t size = ret_stats->size && ret_stats->size < sizeof *stats ? ret_stats->size : sizeof *stats;
    memcpy(ret_stats, stats, size);
    ret_stats->size = size;
}

bool gale_runtime_metric_stats(const gale_runtime *runtime, uint32_t task, uint32_t index,
                               gale_metric_stats *ret_stats) {
    if (task < 1 || task > gale_runtime_task_count(runtime) || !ret_stats) return false;
    const gx_metric *metric = gx_metrics_first(&runtime->shared.tasks[task]->metrics);
    for (; metric && index; index--) metric = gx_metric_next(metric);
    if (!metric) return false;
    gx_metric_reading reading;
    memset(&reading, 0, sizeof reading);
    gx_metric_read(metric, &reading);
    const gale_metric_stats stats = gx_metric_sum_up(&reading, metric->name);
    give(&stats, ret_stats);
    return true;
}

/* Adds all tasks' of the component, or of all. What the name means; NULL: no task has it. */
static const gx_metric_name *read_all(const gx_shared *shared, int component, const char *name,
                                      gx_metric_reading *into) {
    const gx_metric_name *known = NULL;
    for (uint32_t t = 1; t <= shared->plan->task_count; t++) {
        const gx_task *task = shared->tasks[t];
        if (component >= 0 && task->component != component) continue;
        const gx_metric *metric = gx_metrics_find(&task->metrics, name);
        if (!metric) continue;
        known = metric->name;
        gx_metric_read(metric, into);
    }
    return known;
}

static void count_below(const gx_metric_reading *reading, const double *bounds, uint32_t count, uint64_t *ret_counts) {
    for (uint32_t i = 0; i < count; i++) {
        int64_t bound = bounds[i] >= 0 ? gx_metric_millionths(bounds[i]) : -1;
        gx_histogram_below(&reading->histogram, &bound, 1, &ret_counts[i]);
    }
}

static bool ascend(const double *bounds, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        if (!(bounds[i] >= bounds[i - 1])) return false;
    return !count || bounds[0] == bounds[0];
}

int gale_runtime_metric(const gale_runtime *runtime, const char *component, const char *name, const double *bounds,
                        uint32_t bound_count, uint64_t *ret_counts, gale_metric_stats *ret_stats) {
    if (!gx_runtime_is(runtime) || !name) return GALE_INVALID;
    if (bound_count && (!bounds || !ret_counts || !ascend(bounds, bound_count))) return GALE_INVALID;
    const gx_shared *shared = &runtime->shared;
    int index = component ? gx_runtime_component(shared->plan, component) : -1;
    if (component && index < 0) return GALE_NOT_FOUND;
    gx_metric_reading reading;
    memset(&reading, 0, sizeof reading);
    const gx_metric_name *known = read_all(shared, index, name, &reading);
    if (!known) return GALE_NOT_FOUND;
    count_below(&reading, bounds, bound_count, ret_counts);
    const gale_metric_stats stats = gx_metric_sum_up(&reading, known);
    if (ret_stats) give(&stats, ret_stats);
    return GALE_OK;
}
