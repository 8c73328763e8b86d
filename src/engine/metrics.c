#include "engine/metrics.h"

#include "base/options.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>

/* --- Noting ------------------------------------------------------------------------------------------------------- */

static int refuse_value(gx_metric *m) {
    gx_count(&m->task->counters.misused, 1);
    return GALE_INVALID;
}

/* Adds it to the sum, unless it cannot be added. */
static bool add(gx_metric *m, double value) {
    double sum = gx_metric_double(gx_load_relaxed(&m->value)) + value;
    if (!(value >= 0) || !isfinite(sum)) return false;
    gx_store_relaxed(&m->value, gx_metric_bits(sum));
    return true;
}

static int note_count(gale_metric *metric, double value) {
    gx_metric *m = (gx_metric *)metric;
    if (gx_executor_is_elsewhere(m->task)) return GALE_THREAD;
    if (!add(m, value)) return refuse_value(m);
    gx_count(&m->count, 1);
    return GALE_OK;
}

static int note_gauge(gale_metric *metric, double value) {
    gx_metric *m = (gx_metric *)metric;
    if (gx_executor_is_elsewhere(m->task)) return GALE_THREAD;
    if (!isfinite(value)) return refuse_value(m);
    gx_store_relaxed(&m->value, gx_metric_bits(value));
    gx_count(&m->count, 1);
    return GALE_OK;
}

static int note_observed(gale_metric *metric, double value) {
    gx_metric *m = (gx_metric *)metric;
    if (gx_executor_is_elsewhere(m->task)) return GALE_THREAD;
    if (!add(m, value)) return refuse_value(m);
    if (value > gx_metric_double(gx_load_relaxed(&m->max))) gx_store_relaxed(&m->max, gx_metric_bits(value));
    gx_histogram_add(m->histogram, gx_metric_millionths(value));
    return GALE_OK;
}

static const gale_metric_ops ops_of[GALE_METRIC_KIND_COUNT] = {
    [GALE_METRIC_COUNTER] = { sizeof(gale_metric_ops), note_count },
    [GALE_METRIC_GAUGE] = { sizeof(gale_metric_ops), note_gauge },
    [GALE_METRIC_HISTOGRAM] = { sizeof(gale_metric_ops), note_observed },
};

/* --- Names -------------------------------------------------------------------------------------------------------- */

static bool has_shape(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t length = strnlen(name, GALE_METRIC_NAME_MAX + 1u);
    return length > 0 && length <= GALE_METRIC_NAME_MAX && strspn(name, letters) > 0 && strspn(name, others) == length;
}

/* An ending that readers of metrics would take for another metric's: "_total". NULL: it has none. */
static const char *taken_ending(const char *name, int32_t kind) {
    static const char *const endings[] = { "_total", "_bucket", "_count", "_sum" };
    size_t wrong = kind == GALE_METRIC_GAUGE ? 4 : 1, length = strlen(name);
    for (size_t i = 0; i < wrong; i++) {
        size_t ending = strlen(endings[i]);
        if (length >= ending && strcmp(name + length - ending, endings[i]) == 0) return endings[i];
    }
    return NULL;
}

static int refuse(gx_task *task, int rc, const char *text) {
    gx_count(&task->counters.misused, 1);
    gx_task_report(task, text);
    return rc;
}

static int check(gx_task *task, const gale_metric_options *options) {
    char text[GALE_FAILURE_TEXT + 1];
    if (!options->name || !has_shape(options->name)) {
        snprintf(text, sizeof text, "metric '%.80s': a name is a letter or _, then letters, digits and _, at most %d",
                 options->name ? options->name : "", GALE_METRIC_NAME_MAX);
        return refuse(task, GALE_INVALID, text);
    }
    if (options->kind < 0 || options->kind >= GALE_METRIC_KIND_COUNT) {
        snprintf(text, sizeof text, "metric '%s': there is no kind %d", options->name, (int)options->kind);
        return refuse(task, GALE_INVALID, text);
    }
    const char *ending = taken_ending(options->name, options->kind);
    if (!ending) return GALE_OK;
    snprintf(text, sizeof text, "metric '%s': a %s's name does not end in %s", options->name,
             gale_metric_kind_name(options->kind), ending);
    return refuse(task, GALE_INVALID, text);
}

static int refuse_kind(gx_task *task, const gx_metric_name *name, int32_t kind) {
    char text[256];
    snprintf(text, sizeof text, "metric '%s' is a %s of '%.40s' (task %u), and cannot be a %s of '%.40s' (task %u)",
             name->name, gale_metric_kind_name(name->kind), name->component, (unsigned)name->task,
             gale_metric_kind_name(kind), task->context.component, (unsigned)task->id);
    return refuse(task, GALE_INVALID, text);
}

/* Said once a task: what asks for too many asks with each tuple. */
static int refuse_more(gx_task *task, const char *name, const char *limit) {
    char text[GALE_FAILURE_TEXT + 1];
    if (task->metrics.full) return GALE_TOO_LARGE;
    task->metrics.full = true;
    snprintf(text, sizeof text, "metric '%s' is one too many: %s", name, limit);
    return refuse(task, GALE_TOO_LARGE, text);
}

static gx_metric_name *find_name(const gx_metric_names *names, const char *name) {
    gx_metric_name *each = names->first;
    while (each && strcmp(each->name, name) != 0) each = each->next;
    return each;
}

/* Under the monitor's lock. NULL: no memory. */
static gx_metric_name *add_name(gx_shared *shared, const gx_task *task, const gale_metric_options *options) {
    gx_metric_name *name = gx_alloc(&shared->heap, GX_TAG_FIGURE, sizeof *name);
    if (!name) return NULL;
    name->component = task->context.component;
    name->task = task->id;
    name->kind = options->kind;
    snprintf(name->name, sizeof name->name, "%s", options->name);
    gx_utf8_copy(name->help, sizeof name->help, options->help ? options->help : "");
    name->next = shared->metric_names.first;
    shared->metric_names.first = name;
    shared->metric_names.count++;
    return name;
}

/* What the name means, which it may be told now. GALE_TOO_LARGE, GALE_NO_MEMORY. */
static int name_of(gx_task *task, const gale_metric_options *options, const gx_metric_name **ret_name) {
    gx_shared *shared = task->executor->shared;
    int rc = GALE_OK;
    gx_monitor_lock(&shared->monitor);
    gx_metric_name *name = find_name(&shared->metric_names, options->name);
    if (!name && shared->metric_names.count >= GALE_METRIC_NAMES_MAX)
        rc = GALE_TOO_LARGE;
    else if (!name && !(name = add_name(shared, task, options)))
        rc = GALE_NO_MEMORY;
    gx_monitor_unlock(&shared->monitor);
    *ret_name = name;
    return rc;
}

/* --- Making ------------------------------------------------------------------------------------------------------- */

static int make(gx_task *task, const gale_metric_options *options, gale_metric **ret_metric) {
    char limit[80];
    const gx_metric_name *name;
    snprintf(limit, sizeof limit, "a task has at most %d", GALE_METRICS_MAX);
    if (task->metrics.count >= GALE_METRICS_MAX) return refuse_more(task, options->name, limit);
    int rc = name_of(task, options, &name);
    snprintf(limit, sizeof limit, "a topology has at most %d names", GALE_METRIC_NAMES_MAX);
    if (rc == GALE_TOO_LARGE) return refuse_more(task, options->name, limit);
    if (rc < 0) return rc;
    if (name->kind != options->kind) return refuse_kind(task, name, options->kind);
    gx_metric *metric = gx_metric_new(&task->executor->shared->heap, name);
    if (!metric) return GALE_NO_MEMORY;
    metric->metric.ops = &ops_of[name->kind];
    metric->task = task;
    gx_metrics_append(&task->metrics, metric);
    *ret_metric = &metric->metric;
    return GALE_OK;
}

int gx_metrics_new(gale_collector *out, const gale_metric_options *options, gale_metric **ret_metric) {
    gx_task *task = (gx_task *)out;
    gale_error error = GALE_ERROR_INIT;
    gale_metric_options taken;
    if (gx_executor_is_elsewhere(task)) return GALE_THREAD;
    if (!options || !ret_metric) return refuse(task, GALE_INVALID, "a metric needs options and a place");
    int rc = gx_options_take(&taken, sizeof taken, options, "metric: options", &error);
    if (rc < 0) return refuse(task, rc, error.text);
    rc = check(task, &taken);
    if (rc < 0) return rc;
    const gx_metric *metric = gx_metrics_find(&task->metrics, taken.name);
    if (!metric) return make(task, &taken, ret_metric);
    if (metric->name->kind != taken.kind) return refuse_kind(task, metric->name, taken.kind);
    *ret_metric = (gale_metric *)&metric->metric;
    return GALE_OK;
}
