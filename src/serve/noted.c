#include "serve/noted.h"

#include "base/number.h"
#include "serve/member.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Names ------------------------------------------------------------------------------------------------------------ */

/* Series of one name stand together, in the order of their labels' values. */
static int by_series(const void *a, const void *b) {
    const gale_metric_stats *one = a, *other = b;
    int order = strcmp(one->name, other->name);
    for (uint32_t i = 0; !order && i < one->label_count && i < other->label_count; i++)
        order = strcmp(one->labels[i].value, other->labels[i].value);
    return order;
}

static bool room_for_one(gx_noted *noted, size_t *capacity) {
    if (noted->count < *capacity) return true;
    size_t more = *capacity ? 2 * *capacity : 16;
    gale_metric_stats *list = realloc(noted->list, more * sizeof *list);
    if (!list) return false;
    noted->list = list;
    *capacity = more;
    return true;
}

static void keep_each_once(gx_noted *noted) {
    uint32_t kept = 0;
    if (noted->count) qsort(noted->list, noted->count, sizeof *noted->list, by_series);
    for (uint32_t i = 0; i < noted->count; i++)
        if (!kept || by_series(&noted->list[kept - 1], &noted->list[i]) != 0) noted->list[kept++] = noted->list[i];
    noted->count = kept;
}

bool gx_noted_read(const gale_runtime *runtime, gx_noted *ret_noted) {
    gx_noted noted = { 0 };
    size_t capacity = 0;
    for (uint32_t task = 1; task <= gale_runtime_task_count(runtime); task++)
        for (uint32_t i = 0;; i++) {
            gale_metric_stats stats = { .size = sizeof stats };
            if (!gale_runtime_metric_stats(runtime, task, i, &stats)) break;
            if (!room_for_one(&noted, &capacity)) return gx_noted_free(&noted), false;
            noted.list[noted.count++] = stats;
        }
    keep_each_once(&noted);
    *ret_noted = noted;
    return true;
}

void gx_noted_free(gx_noted *noted) {
    free(noted->list);
}

/* --- As JSON ---------------------------------------------------------------------------------------------------------- */

static void histogram_members(gx_json *json, const gale_metric_stats *stats) {
    gx_member_count(json, "count", stats->count);
    gx_member_number(json, "mean", stats->value / (double)stats->count);
    gx_member_number(json, "p50", stats->p50);
    gx_member_number(json, "p90", stats->p90);
    gx_member_number(json, "p99", stats->p99);
    gx_member_number(json, "max", stats->max);
}

/* Of a histogram null when nothing was noted. */
static void value_member(gx_json *json, const gale_metric_stats *stats) {
    gx_json_key(json, gx_str("value"));
    if (stats->kind != GALE_METRIC_HISTOGRAM) {
        gx_json_f64(json, stats->value);
    } else if (!stats->count) {
        gx_json_null(json);
    } else {
        gx_json_open(json, '{');
        histogram_members(json, stats);
        gx_json_close(json, '}');
    }
}

static int read_series(const gale_runtime *runtime, const char *component, const gale_metric_stats *series,
                       const double *bounds, uint32_t bound_count, uint64_t *ret_counts, gale_metric_stats *ret_stats) {
    return gale_runtime_metric_series(runtime, component, series->name, series->labels, series->label_count, bounds,
                                      bound_count, ret_counts, ret_stats);
}

static void labels_member(gx_json *json, const gale_metric_stats *stats) {
    gx_json_key(json, gx_str("labels"));
    gx_json_open(json, '{');
    for (uint32_t i = 0; i < stats->label_count; i++)
        gx_member_text(json, stats->labels[i].name, stats->labels[i].value);
    gx_json_close(json, '}');
}

void gx_noted_json(gx_json *json, const gx_noted *noted, const gale_runtime *runtime, const char *component) {
    gx_json_open(json, '[');
    for (uint32_t i = 0; i < noted->count; i++) {
        gale_metric_stats stats = { .size = sizeof stats };
        if (read_series(runtime, component, &noted->list[i], NULL, 0, NULL, &stats) < 0) continue;
        gx_json_open(json, '{');
        gx_member_text(json, "name", stats.name);
        gx_member_text(json, "kind", gale_metric_kind_name(stats.kind));
        labels_member(json, &stats);
        gx_member_text(json, "help", stats.help);
        gx_member_count(json, "tasks", stats.tasks);
        value_member(json, &stats);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

/* --- For Prometheus --------------------------------------------------------------------------------------------------- */

enum { OWN = 2 /* labels of gale's own: the component, the task or a bound */ };

/* The labels of a sample: the component, those of the series, then perhaps one more. */
typedef struct label_set {
    gx_label labels[GALE_METRIC_LABELS_MAX + OWN + 1];
} label_set;

static label_set labels_of(const gx_part *part, const gale_metric_stats *series, const char *more, const char *value) {
    label_set set = { .labels = { { "component", part->name } } };
    uint32_t count = 1;
    for (uint32_t i = 0; i < series->label_count; i++)
        set.labels[count++] = (gx_label){ series->labels[i].name, series->labels[i].value };
    if (more) set.labels[count] = (gx_label){ more, value };
    return set;
}

static void write_counter(gx_exposition *to, const gale_runtime *runtime, const gx_part *part,
                          const gale_metric_stats *series) {
    gale_metric_stats stats = { .size = sizeof stats };
    const label_set set = labels_of(part, series, NULL, NULL);
    if (read_series(runtime, part->name, series, NULL, 0, NULL, &stats) == GALE_OK)
        gx_exposition_number(to, "", set.labels, stats.value);
}

/* All series of the name. The tasks' figures stand apart: more can be made of them than their sum. */
static void write_gauges(gx_exposition *to, const gale_runtime *runtime, const gx_part *part, const char *name) {
    for (uint32_t task = part->first_task; task < part->first_task + part->task_count; task++) {
        char number[16];
        gale_metric_stats stats = { .size = sizeof stats };
        snprintf(number, sizeof number, "%u", (unsigned)task);
        for (uint32_t i = 0; gale_runtime_metric_stats(runtime, task, i, &stats); i++) {
            const label_set set = labels_of(part, &stats, "task", number);
            if (strcmp(stats.name, name) == 0) gx_exposition_number(to, "", set.labels, stats.value);
        }
    }
}

/* 1, 2.5 and 5 of each power of ten from a millionth to a milliard: it may be seconds, or bytes. One reading has all counts of one moment. */
static void write_histogram(gx_exposition *to, const gale_runtime *runtime, const gx_part *part,
                            const gale_metric_stats *series) {
    static const double bounds[] = { 1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.005,
                                     0.01, 0.025,  0.05, 0.1,  0.25,   0.5,  1,    2.5,    5,    10,    25,     50,
                                     100,  250,    500,  1e3,  2.5e3,  5e3,  1e4,  2.5e4,  5e4,  1e5,   2.5e5,  5e5,
                                     1e6,  2.5e6,  5e6,  1e7,  2.5e7,  5e7,  1e8,  2.5e8,  5e8,  1e9 };
    enum { BOUNDS = sizeof bounds / sizeof *bounds };
    uint64_t counts[BOUNDS];
    char bound[32] = "";
    gale_metric_stats stats = { .size = sizeof stats };
    const label_set bounded = labels_of(part, series, "le", bound), own = labels_of(part, series, NULL, NULL);
    if (read_series(runtime, part->name, series, bounds, BOUNDS, counts, &stats) < 0) return;
    for (uint32_t b = 0; b < BOUNDS; b++) {
        gx_number_write(bound, bounds[b]);
        gx_exposition_count(to, "_bucket", bounded.labels, counts[b]);
    }
    snprintf(bound, sizeof bound, "+Inf");
    gx_exposition_count(to, "_bucket", bounded.labels, stats.count);
    gx_exposition_number(to, "_sum", own.labels, stats.value);
    gx_exposition_count(to, "_count", own.labels, stats.count);
}

/* `name` must be there as long as its samples are written. */
static void write_family(gx_exposition *to, char *name, size_t size, const gale_metric_stats *one) {
    static const gx_family_kind kinds[] = { [GALE_METRIC_COUNTER] = GX_FAMILY_COUNTER,
                                            [GALE_METRIC_GAUGE] = GX_FAMILY_GAUGE,
                                            [GALE_METRIC_HISTOGRAM] = GX_FAMILY_HISTOGRAM };
    snprintf(name, size, "gale_metric_%s", one->name);
    const gx_family family = { name, kinds[one->kind], "", *one->help ? one->help : "A component's own." };
    gx_exposition_family(to, &family);
}

void gx_noted_expose(gx_exposition *to, const gx_noted *noted, const gale_runtime *runtime, const gx_parts *parts) {
    char family[sizeof "gale_metric_" + GALE_METRIC_NAME_MAX];
    for (uint32_t i = 0; i < noted->count; i++) {
        const gale_metric_stats *one = &noted->list[i];
        bool is_first = !i || strcmp(noted->list[i - 1].name, one->name) != 0;
        if (is_first) write_family(to, family, sizeof family, one);
        for (uint32_t p = 0; p < parts->count; p++) {
            const gx_part *part = &parts->parts[p];
            if (one->kind == GALE_METRIC_HISTOGRAM) write_histogram(to, runtime, part, one);
            if (one->kind == GALE_METRIC_COUNTER) write_counter(to, runtime, part, one);
            if (one->kind == GALE_METRIC_GAUGE && is_first) write_gauges(to, runtime, part, one->name);
        }
    }
}
