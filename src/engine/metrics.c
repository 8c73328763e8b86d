#include "engine/metrics.h"

#include "base/hash.h"
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

/* Copies what fits, which is UTF-8 afterwards: a reader of metrics refuses all of them for one byte. Returns its size. */
static size_t copy_text(char *to, size_t room, const char *text) {
    gx_utf8_copy(to, room, text);
    size_t size = strlen(to), valid = gx_utf8_prefix(to, size);
    while (valid < size) {
        to[valid++] = '?';
        valid += gx_utf8_prefix(to + valid, size - valid);
    }
    return size;
}

/* --- Labels ------------------------------------------------------------------------------------------------------- */

/* Labels that every figure has, or that readers give a meaning of their own. */
static bool is_reserved(const char *name) {
    static const char *const reserved[] = { "component", "task", "le", "quantile" };
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strcmp(name, reserved[i]) == 0) return true;
    return strncmp(name, "__", 2) == 0;
}

static void add_value(gx_metric_labels *labels, const char *value) {
    char *to = labels->values + labels->size;
    labels->size += copy_text(to, GALE_METRIC_LABEL_MAX + 1, value) + 1;
}

/* Puts a label into the order of the names. What is wrong with it; NULL: nothing. */
static const char *sort_in(const gale_metric_label **sorted, uint32_t count, const gale_metric_label *label) {
    uint32_t at = count;
    if (!label->name || !has_shape(label->name)) return "its name is not a letter or _, then letters, digits and _";
    if (is_reserved(label->name)) return "its name is reserved";
    if (!label->value) return "it has no value";
    for (; at && strcmp(sorted[at - 1]->name, label->name) >= 0; at--) {
        if (strcmp(sorted[at - 1]->name, label->name) == 0) return "it is given twice";
        sorted[at] = sorted[at - 1];
    }
    sorted[at] = label;
    return NULL;
}

static void end_labels(gx_metric_labels *labels, const char *metric) {
    labels->hash = gx_hash_bytes(labels->values, labels->size, gx_hash_bytes(metric, strlen(metric), 0));
}

static int read_labels(gx_task *task, const gale_metric_options *options, gx_metric_labels *ret_labels) {
    const gale_metric_label *sorted[GALE_METRIC_LABELS_MAX];
    char text[GALE_FAILURE_TEXT + 1];
    ret_labels->count = options->label_count;
    ret_labels->size = 0;
    if (options->label_count > GALE_METRIC_LABELS_MAX || (options->label_count && !options->labels)) {
        snprintf(text, sizeof text, "metric '%s': has %u labels, at most %d", options->name,
                 (unsigned)options->label_count, GALE_METRIC_LABELS_MAX);
        return refuse(task, GALE_INVALID, text);
    }
    for (uint32_t i = 0; i < options->label_count; i++) {
        const char *name = options->labels[i].name, *wrong = sort_in(sorted, i, &options->labels[i]);
        if (!wrong) continue;
        snprintf(text, sizeof text, "metric '%s': label '%.80s': %s", options->name, name ? name : "", wrong);
        return refuse(task, GALE_INVALID, text);
    }
    for (uint32_t i = 0; i < options->label_count; i++) {
        ret_labels->names[i] = sorted[i]->name;
        add_value(ret_labels, sorted[i]->value);
    }
    end_labels(ret_labels, options->name);
    return GALE_OK;
}

/* The series that stands for all for which there is no room. */
static void make_other(gx_metric_labels *labels, const char *metric) {
    labels->size = 0;
    for (uint32_t i = 0; i < labels->count; i++) add_value(labels, "other");
    end_labels(labels, metric);
}

static bool has_labels(const gx_metric_name *name, const gx_metric_labels *labels) {
    bool same = name->label_count == labels->count;
    for (uint32_t i = 0; same && i < labels->count; i++) same = strcmp(name->labels[i], labels->names[i]) == 0;
    return same;
}

static int refuse_labels(gx_task *task, const gx_metric_name *name) {
    char text[GALE_FAILURE_TEXT + 1];
    int size = snprintf(text, sizeof text, "metric '%s' has %s in '%.40s' (task %u)", name->name,
                        name->label_count ? "the labels" : "no labels", name->component, (unsigned)name->task);
    for (uint32_t i = 0; i < name->label_count && size > 0 && (size_t)size < sizeof text; i++)
        size += snprintf(text + size, sizeof text - (size_t)size, "%s %s", i ? "," : "", name->labels[i]);
    if (size > 0 && (size_t)size < sizeof text)
        snprintf(text + size, sizeof text - (size_t)size, ", and cannot have others");
    return refuse(task, GALE_INVALID, text);
}

/* --- Several tasks ------------------------------------------------------------------------------------------------ */

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
static gx_metric_name *add_name(gx_shared *shared, const gx_task *task, const gale_metric_options *options,
                                const gx_metric_labels *labels) {
    gx_metric_name *name = gx_alloc(&shared->heap, GX_TAG_FIGURE, sizeof *name);
    if (!name) return NULL;
    name->component = task->context.component;
    name->task = task->id;
    name->kind = options->kind;
    name->label_count = labels->count;
    for (uint32_t i = 0; i < labels->count; i++)
        snprintf(name->labels[i], sizeof name->labels[i], "%s", labels->names[i]);
    snprintf(name->name, sizeof name->name, "%s", options->name);
    (void)copy_text(name->help, sizeof name->help, options->help ? options->help : "");
    name->next = shared->metric_names.first;
    shared->metric_names.first = name;
    shared->metric_names.count++;
    return name;
}

/* What the name means, which it may be told now. GALE_TOO_LARGE, GALE_NO_MEMORY. */
static int name_of(gx_task *task, const gale_metric_options *options, const gx_metric_labels *labels,
                   const gx_metric_name **ret_name) {
    gx_shared *shared = task->executor->shared;
    int rc = GALE_OK;
    gx_monitor_lock(&shared->monitor);
    gx_metric_name *name = find_name(&shared->metric_names, options->name);
    if (!name && shared->metric_names.count >= GALE_METRIC_NAMES_MAX)
        rc = GALE_TOO_LARGE;
    else if (!name && !(name = add_name(shared, task, options, labels)))
        rc = GALE_NO_MEMORY;
    gx_monitor_unlock(&shared->monitor);
    *ret_name = name;
    return rc;
}

/* --- Making ------------------------------------------------------------------------------------------------------- */

/* The name as the topology has it, which must be of this kind and have these labels. */
static int agree(gx_task *task, const gale_metric_options *options, const gx_metric_labels *labels,
                 const gx_metric_name **ret_name) {
    char limit[80];
    snprintf(limit, sizeof limit, "a task has at most %d", GALE_METRICS_MAX);
    const gx_metric *known = gx_metrics_find(&task->metrics, options->name);
    if (!known && task->metrics.names >= GALE_METRICS_MAX) return refuse_more(task, options->name, limit);
    int rc = known ? GALE_OK : name_of(task, options, labels, ret_name);
    snprintf(limit, sizeof limit, "a topology has at most %d names", GALE_METRIC_NAMES_MAX);
    if (rc == GALE_TOO_LARGE) return refuse_more(task, options->name, limit);
    if (rc < 0) return rc;
    if (known) *ret_name = known->name;
    if ((*ret_name)->kind != options->kind) return refuse_kind(task, *ret_name, options->kind);
    return has_labels(*ret_name, labels) ? GALE_OK : refuse_labels(task, *ret_name);
}

/* Reported once a task: data have values without end. */
static void report_over(gx_task *task, const char *name, int64_t most) {
    char text[GALE_FAILURE_TEXT + 1];
    if (task->metrics.is_over) return;
    task->metrics.is_over = true;
    snprintf(text, sizeof text,
             "metric '%s': the task has %lld series with labels (gale.metric.series); values of further labels are "
             "counted as \"other\"",
             name, (long long)most);
    gx_task_report(task, text);
}

static bool is_over(gx_task *task) {
    int64_t most = gale_config_i64(task->plan->config, "gale.metric.series", GALE_METRIC_SERIES);
    return task->metrics.series >= (uint64_t)most;
}

static int make(gx_task *task, const gx_metric_name *name, const gx_metric_labels *labels, gx_metric **ret_metric) {
    gx_heap *heap = &task->executor->shared->heap;
    gx_metric *metric = gx_metric_new(heap, name, labels);
    if (!metric) return GALE_NO_MEMORY;
    metric->metric.ops = &ops_of[name->kind];
    metric->task = task;
    if (gx_metrics_append(&task->metrics, heap, metric)) return *ret_metric = metric, GALE_OK;
    gx_metric_free(metric, heap);
    return GALE_NO_MEMORY;
}

/* One that the task does not have yet, or that which it is counted as. */
static int make_or_other(gx_task *task, const gale_metric_options *options, gx_metric_labels *labels,
                         gx_metric **ret_metric) {
    const gx_metric_name *name = NULL;
    int rc = agree(task, options, labels, &name);
    if (rc < 0) return rc;
    if (labels->count && is_over(task)) {
        report_over(task, options->name, task->metrics.series);
        make_other(labels, options->name);
        *ret_metric = gx_metrics_find_series(&task->metrics, options->name, labels);
        if (*ret_metric) return GALE_OK;
    }
    return make(task, name, labels, ret_metric);
}

static gx_metric *find(const gx_task *task, const gale_metric_options *options, const gx_metric_labels *labels) {
    gx_metric *metric = labels->count ? gx_metrics_find_series(&task->metrics, options->name, labels)
                                      : (gx_metric *)gx_metrics_find(&task->metrics, options->name);
    bool is = metric && metric->name->kind == options->kind && has_labels(metric->name, labels);
    return is ? metric : NULL;
}

int gx_metrics_new(gale_collector *out, const gale_metric_options *options, gale_metric **ret_metric) {
    gx_task *task = (gx_task *)out;
    gale_error error = GALE_ERROR_INIT;
    gale_metric_options taken;
    gx_metric_labels labels;
    if (gx_executor_is_elsewhere(task)) return GALE_THREAD;
    if (!options || !ret_metric) return refuse(task, GALE_INVALID, "a metric needs options and a place");
    int rc = gx_options_take(&taken, sizeof taken, options, "metric: options", &error);
    if (rc < 0) return refuse(task, rc, error.text);
    rc = check(task, &taken);
    if (rc >= 0) rc = read_labels(task, &taken, &labels);
    if (rc < 0) return rc;
    gx_metric *metric = find(task, &taken, &labels);
    if (!metric) rc = make_or_other(task, &taken, &labels, &metric);
    if (rc < 0) return rc;
    *ret_metric = &metric->metric;
    return GALE_OK;
}
