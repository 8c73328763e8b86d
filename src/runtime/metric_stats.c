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
    const gale_metric_stats stats = gx_metric_sum_up(&reading, metric->name, metric);
    give(&stats, ret_stats);
    return true;
}

/* Which metrics are read together. */
typedef struct wanted {
    int component; /* below 0: any */
    const char *name;
    bool all; /* series, else that with the labels */
    const gale_metric_label *labels;
    uint32_t label_count;
} wanted;

/* Adds the task's. One that was read; NULL: the task has none. */
static const gx_metric *read_task(const gx_task *task, const wanted *w, gx_metric_reading *into) {
    const gx_metric *known = NULL, *metric = gx_metrics_find(&task->metrics, w->name);
    uint32_t tasks = into->tasks;
    for (; metric; metric = gx_metric_next(metric)) {
        bool is = strcmp(metric->name->name, w->name) == 0 &&
                  (w->all || gx_metric_has(metric, w->labels, w->label_count));
        if (!is) continue;
        known = metric;
        gx_metric_read(metric, into);
    }
    into->tasks = tasks + (known != NULL);
    return known;
}

static const gx_metric *read_all(const gx_shared *shared, const wanted *w, gx_metric_reading *into) {
    const gx_metric *known = NULL;
    for (uint32_t t = 1; t <= shared->plan->task_count; t++) {
        const gx_task *task = shared->tasks[t];
        if (w->component >= 0 && task->component != w->component) continue;
        const gx_metric *found = read_task(task, w, into);
        if (found) known = found;
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

static int read_metric(const gale_runtime *runtime, const char *component, wanted *w, const double *bounds,
                       uint32_t bound_count, uint64_t *ret_counts, gale_metric_stats *ret_stats) {
    if (!gx_runtime_is(runtime) || !w->name) return GALE_INVALID;
    if (bound_count && (!bounds || !ret_counts || !ascend(bounds, bound_count))) return GALE_INVALID;
    const gx_shared *shared = &runtime->shared;
    w->component = component ? gx_runtime_component(shared->plan, component) : -1;
    if (component && w->component < 0) return GALE_NOT_FOUND;
    gx_metric_reading reading;
    memset(&reading, 0, sizeof reading);
    const gx_metric *known = read_all(shared, w, &reading);
    if (!known) return GALE_NOT_FOUND;
    count_below(&reading, bounds, bound_count, ret_counts);
    const gale_metric_stats stats = gx_metric_sum_up(&reading, known->name, w->all ? NULL : known);
    if (ret_stats) give(&stats, ret_stats);
    return GALE_OK;
}

int gale_runtime_metric(const gale_runtime *runtime, const char *component, const char *name, const double *bounds,
                        uint32_t bound_count, uint64_t *ret_counts, gale_metric_stats *ret_stats) {
    wanted w = { .name = name, .all = true };
    return read_metric(runtime, component, &w, bounds, bound_count, ret_counts, ret_stats);
}

int gale_runtime_metric_series(const gale_runtime *runtime, const char *component, const char *name,
                               const gale_metric_label *labels, uint32_t label_count, const double *bounds,
                               uint32_t bound_count, uint64_t *ret_counts, gale_metric_stats *ret_stats) {
    wanted w = { .name = name, .labels = labels, .label_count = label_count };
    if (label_count > GALE_METRIC_LABELS_MAX || (label_count && !labels)) return GALE_INVALID;
    for (uint32_t i = 0; i < label_count; i++)
        if (!labels[i].name || !labels[i].value) return GALE_INVALID;
    return read_metric(runtime, component, &w, bounds, bound_count, ret_counts, ret_stats);
}
