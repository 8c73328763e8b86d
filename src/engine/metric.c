#include "engine/metric.h"

static const double millionths = 1e6;

const char *gale_metric_kind_name(int32_t kind) {
    static const char *const names[] = { "counter", "gauge", "histogram" };
    static_assert(sizeof names / sizeof *names == GALE_METRIC_KIND_COUNT, "every kind has a name");
    return kind >= 0 && kind < GALE_METRIC_KIND_COUNT ? names[kind] : "unknown";
}

gx_metric *gx_metric_new(gx_heap *heap, const gx_metric_name *name) {
    gx_metric *metric = gx_alloc(heap, GX_TAG_FIGURE, sizeof *metric);
    if (!metric) return NULL;
    metric->name = name;
    if (name->kind != GALE_METRIC_HISTOGRAM) return metric;
    metric->histogram = gx_alloc(heap, GX_TAG_FIGURE, sizeof *metric->histogram);
    if (metric->histogram) return metric;
    gx_metric_free(metric, heap);
    return NULL;
}

void gx_metric_free(gx_metric *metric, gx_heap *heap) {
    gx_free(heap, GX_TAG_FIGURE, metric->histogram, sizeof *metric->histogram);
    gx_free(heap, GX_TAG_FIGURE, metric, sizeof *metric);
}

void gx_metrics_append(gx_metric_list *list, gx_metric *metric) {
    _Atomic(gx_metric *) *at = &list->first;
    for (gx_metric *each; (each = gx_load_relaxed(at)) != NULL;) at = &each->next;
    gx_store_release(at, metric); /* R1: what it was made with is seen by who finds it */
    list->count++;
}

const gx_metric *gx_metrics_first(const gx_metric_list *list) {
    return gx_load_acquire(&((gx_metric_list *)list)->first); /* A1 */
}

const gx_metric *gx_metric_next(const gx_metric *metric) {
    return gx_load_acquire(&((gx_metric *)metric)->next); /* A1 */
}

const gx_metric *gx_metrics_find(const gx_metric_list *list, const char *name) {
    const gx_metric *metric = gx_metrics_first(list);
    while (metric && strcmp(metric->name->name, name) != 0) metric = gx_metric_next(metric);
    return metric;
}

void gx_metrics_free(gx_metric_list *list, gx_heap *heap) {
    for (gx_metric *metric = gx_load_relaxed(&list->first), *next; metric; metric = next) {
        next = gx_load_relaxed(&metric->next);
        gx_metric_free(metric, heap);
    }
}

void gx_metric_names_free(gx_metric_names *names, gx_heap *heap) {
    for (gx_metric_name *name = names->first, *next; name; name = next) {
        next = name->next;
        gx_free(heap, GX_TAG_FIGURE, name, sizeof *name);
    }
}

int64_t gx_metric_millionths(double value) {
    static const int64_t most = (INT64_C(1) << 62) - 1;
    double scaled = value * millionths + 0.5;
    return scaled < (double)most ? (int64_t)scaled : most;
}

void gx_metric_read(const gx_metric *metric, gx_metric_reading *into) {
    gx_metric *m = (gx_metric *)metric;
    double max = gx_metric_double(gx_load_relaxed(&m->max));
    uint64_t before = into->histogram.count;
    if (m->histogram) gx_histogram_read(m->histogram, &into->histogram);
    into->value += gx_metric_double(gx_load_relaxed(&m->value));
    into->max = max > into->max ? max : into->max;
    into->count += m->histogram ? into->histogram.count - before : gx_load_relaxed(&m->count);
    into->tasks++;
}

static double quantile(const gx_metric_reading *reading, double share) {
    double value = (double)gx_histogram_quantile(&reading->histogram, share) / millionths;
    return value < reading->max ? value : reading->max;
}

gale_metric_stats gx_metric_sum_up(const gx_metric_reading *reading, const gx_metric_name *name) {
    return (gale_metric_stats){ .size = sizeof(gale_metric_stats),
                                .name = name->name,
                                .help = name->help,
                                .kind = name->kind,
                                .tasks = reading->tasks,
                                .value = reading->value,
                                .count = reading->count,
                                .max = reading->max,
                                .p50 = quantile(reading, 0.50),
                                .p90 = quantile(reading, 0.90),
                                .p99 = quantile(reading, 0.99) };
}
