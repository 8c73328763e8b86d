/* gale/metric.h: a component's own figures.
 *
 * What:    a counter that only grows, a gauge that says how much there is now, a histogram of sizes or times. A task
 *          makes them by name and notes values; readers of the run see them beside gale's own: gale_runtime_metric,
 *          /metrics, the page. A name is a metric of the whole topology, with one figure a task: the same name again is
 *          the same metric. With labels it has one figure for each set of their values, a series.
 * Threads: the task's own. Anybody may read meanwhile (gale_runtime_metric_stats).
 * Owner:   the runtime: nothing is freed by the component, and what was noted can be read until the runtime is freed.
 * Errors:  gale_metric_new reports them (gale_report). A component may ignore them and go on with NULL for its metric:
 *          noting to that does nothing.
 * Misuse:  the inline functions assert only: `out`. (What else they are given is checked.)
 * Limits:  GALE_METRICS_MAX names in a task, GALE_METRIC_NAMES_MAX in a topology. A task has at most
 *          `gale.metric.series` series with labels (GALE_METRIC_SERIES unless it is set). Each further one is noted to
 *          a series whose values are all "other". Not kept by checkpoints: each run begins at 0, as readers of counters
 *          expect. A counter's and a histogram's sum are doubles: whole numbers are exact up to 2^53. A histogram keeps
 *          values in steps of 1/32 of theirs, and of a millionth at least; above 4.6e12 all are one.
 */
#ifndef GALE_METRIC_H
#define GALE_METRIC_H

#include <gale/component.h>

GALE_BEGIN

enum { GALE_METRICS_MAX = 64, GALE_METRIC_NAMES_MAX = 1024, GALE_METRIC_NAME_MAX = 63, GALE_METRIC_HELP_MAX = 200 };
enum {
    GALE_METRIC_LABELS_MAX = 8,
    GALE_METRIC_LABEL_MAX = 120,
    GALE_METRIC_SERIES = 200,
    GALE_METRIC_SERIES_MAX = 2000
};

typedef enum gale_metric_kind {
    GALE_METRIC_COUNTER,   /* a noted value is added */
    GALE_METRIC_GAUGE,     /* a noted value is what there is from now on */
    GALE_METRIC_HISTOGRAM, /* a noted value is one of many: how many there were of which size, and their sum */
    GALE_METRIC_KIND_COUNT
} gale_metric_kind;

/* "counter" for GALE_METRIC_COUNTER; "unknown" for a number that is no kind. Static storage. */
GALE_API const char *gale_metric_kind_name(int32_t kind);

typedef struct gale_metric gale_metric;

/* Filled by whoever runs components. Call the functions below instead. */
typedef struct gale_metric_ops {
    size_t size;
    int (*note)(gale_metric *metric, double value);
} gale_metric_ops;

struct gale_metric {
    const gale_metric_ops *ops;
};

/* A part of a metric's figure, as Prometheus has them: url="/a". */
typedef struct gale_metric_label {
    const char *name;  /* as a metric's, but not component, task, le, quantile, nor what begins with __ */
    const char *value; /* UTF-8, cut at GALE_METRIC_LABEL_MAX bytes; bytes that are not UTF-8 become '?' */
} gale_metric_label;

typedef struct gale_metric_options {
    size_t size;
    /* A letter or _, then letters, digits and _. Not ending in _total, which readers see behind a counter's name
     * anyway; a gauge's not in _bucket, _count or _sum either, which histograms have there. */
    const char *name;
    int32_t kind;     /* gale_metric_kind */
    const char *help; /* a sentence for who reads it; default: none. The first that is given for a name is kept, cut at
                         GALE_METRIC_HELP_MAX bytes */
    /* Copied; in any order. All series of a name have the same names of labels. Default: none. */
    const gale_metric_label *labels;
    uint32_t label_count; /* at most GALE_METRIC_LABELS_MAX */
} gale_metric_options;

#define GALE_METRIC_OPTIONS_INIT                                                                                       \
    { sizeof(gale_metric_options), NULL, GALE_METRIC_COUNTER, NULL, NULL, 0 }

/* Makes one, or finds the one that the task has by this name and these labels, then without memory: in `open`,
 * `prepare` or later. GALE_INVALID: the name, the kind, the labels, or another kind or other names of labels than the
 * name has in this topology; GALE_TOO_LARGE: there are GALE_METRICS_MAX, or GALE_METRIC_NAMES_MAX; GALE_NO_MEMORY;
 * GALE_STOPPED at the end; GALE_UNSUPPORTED where nobody reads them (an older gale, a test's collector). */
GALE_INLINE int gale_metric_new(gale_collector *out, const gale_metric_options *options, gale_metric **ret_metric) {
    GALE_ASSERT(out);
    bool has = out->ops->size >= offsetof(gale_collector_ops, metric_new) + sizeof out->ops->metric_new;
    return has && out->ops->metric_new ? out->ops->metric_new(out, options, ret_metric) : GALE_UNSUPPORTED;
}

/* Notes a value; a handful of instructions for a counter or a gauge. GALE_INVALID, and nothing is noted: no metric
 * (NULL); not a finite number; below 0, but for a gauge; a counter's sum, or a histogram's, that would be infinite. */
GALE_INLINE int gale_metric_note(gale_metric *metric, double value) {
    return metric ? metric->ops->note(metric, value) : GALE_INVALID;
}

GALE_END

#endif
