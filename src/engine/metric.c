#include "engine/metric.h"

static const double millionths = 1e6;

const char *gale_metric_kind_name(int32_t kind) {
    static const char *const names[] = { "counter", "gauge", "histogram" };
    static_assert(sizeof names / sizeof *names == GALE_METRIC_KIND_COUNT, "every kind has a name");
    return kind >= 0 && kind < GALE_METRIC_KIND_COUNT ? names[kind] : "unknown";
}

static void set_labels(gx_metric *metric, const gx_metric_labels *labels) {
    const char *value = metric->values;
    memcpy(metric->values, labels->values, labels->size);
    metric->values_size = labels->size;
    metric->hash = labels->hash;
    for (uint32_t i = 0; i < labels->count; i++, value += strlen(value) + 1)
        metric->labels[i] = (gale_metric_label){ metric->name->labels[i], value };
}

gx_metric *gx_metric_new(gx_heap *heap, const gx_metric_name *name, const gx_metric_labels *labels) {
    size_t size = sizeof(gx_metric) + labels->size;
    gx_metric *metric = gx_alloc(heap, GX_TAG_FIGURE, size);
    if (!metric) return NULL;
    metric->size = size;
    metric->name = name;
    set_labels(metric, labels);
    if (name->kind != GALE_METRIC_HISTOGRAM) return metric;
    metric->histogram = gx_alloc(heap, GX_TAG_FIGURE, sizeof *metric->histogram);
    if (metric->histogram) return metric;
    gx_metric_free(metric, heap);
    return NULL;
}

void gx_metric_free(gx_metric *metric, gx_heap *heap) {
    gx_free(heap, GX_TAG_FIGURE, metric->histogram, sizeof *metric->histogram);
    gx_free(heap, GX_TAG_FIGURE, metric, metric->size);
}

enum { BUCKETS_SIZE = GX_METRIC_BUCKETS * sizeof(gx_metric *) };

static gx_metric **bucket_of(const gx_metric_list *list, uint64_t hash) {
    return &list->buckets[hash % GX_METRIC_BUCKETS];
}

bool gx_metrics_append(gx_metric_list *list, gx_heap *heap, gx_metric *metric) {
    if (metric->name->label_count) {
        if (!list->buckets) list->buckets = gx_alloc(heap, GX_TAG_FIGURE, BUCKETS_SIZE);
        if (!list->buckets) return false;
        gx_metric **bucket = bucket_of(list, metric->hash);
        metric->behind = *bucket;
        *bucket = metric;
        list->series++;
    }
    if (!gx_metrics_find(list, metric->name->name)) list->names++;
    gx_store_release(list->last ? &list->last->next : &list->first,
                     metric); /* R1: it is seen with what it was made of */
    list->last = metric;
    return true;
}

gx_metric *gx_metrics_find_series(const gx_metric_list *list, const char *name, const gx_metric_labels *labels) {
    gx_metric *metric = list->buckets ? *bucket_of(list, labels->hash) : NULL;
    for (; metric; metric = metric->behind) {
        if (metric->hash == labels->hash && metric->values_size == labels->size &&
            memcmp(metric->values, labels->values, labels->size) == 0 && strcmp(metric->name->name, name) == 0)
            return metric;
    }
    return NULL;
}

bool gx_metric_has(const gx_metric *metric, const gale_metric_label *labels, uint32_t count) {
    if (count != metric->name->label_count) return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t own = 0;
        while (own < count && strcmp(metric->labels[own].name, labels[i].name) != 0) own++;
        if (own == count || strcmp(metric->labels[own].value, labels[i].value) != 0) return false;
    }
    return true;
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
    gx_free(heap, GX_TAG_FIGURE, list->buckets, BUCKETS_SIZE);
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

gale_metric_stats gx_metric_sum_up(const gx_metric_reading *reading, const gx_metric_name *name,
                                   const gx_metric *series) {
    bool has_labels = series && name->label_count;
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
                                .p99 = quantile(reading, 0.99),
                                .labels = has_labels ? series->labels : NULL,
                                .label_count = has_labels ? name->label_count : 0 };
}
