/* A metric of a task (gale/metric.h), as it is kept and read.
 * Threads: the task's own adds to its list and notes values; any thread reads both. A name is frozen once it is in the list of names.
 * Owner: the task owns its metrics, the runtime the names; both last until the runtime is freed. */
#ifndef GX_ENGINE_METRIC_H
#define GX_ENGINE_METRIC_H

#include "base/alloc.h"
#include "ds/histogram.h"

#include <gale/metric.h>
#include <gale/runtime.h>

/* What a name means in the whole topology, and who said so first. */
typedef struct gx_metric_name {
    struct gx_metric_name *next;
    const char *component; /* lives as long as the plan */
    uint32_t task;
    int32_t kind;
    uint32_t label_count; /* of each series; in the order of their names */
    char labels[GALE_METRIC_LABELS_MAX][GALE_METRIC_NAME_MAX + 1];
    char name[GALE_METRIC_NAME_MAX + 1];
    char help[GALE_METRIC_HELP_MAX + 1];
} gx_metric_name;

/* Of a runtime; under the monitor's lock. */
typedef struct gx_metric_names {
    gx_metric_name *first;
    uint32_t count;
} gx_metric_names;

typedef struct gx_metric {
    gale_metric metric; /* first: what the component has */
    struct gx_task *task;
    const gx_metric_name *name;
    _Atomic(struct gx_metric *) next;
    gx_histogram *histogram;                          /* of millionths; NULL: it is none */
    gx_atomic64 value;                                /* a double: the sum, a gauge's last */
    gx_atomic64 max;                                  /* a double, of a histogram */
    gx_atomic64 count;                                /* of values; a histogram's are in its steps */
    struct gx_metric *behind;                         /* in its list's table; the task's own */
    uint64_t hash;                                    /* of its name and its labels' values */
    size_t size;                                      /* of this */
    gale_metric_label labels[GALE_METRIC_LABELS_MAX]; /* as many as its name has */
    size_t values_size;
    char values[]; /* of the labels, each ended by a NUL */
} gx_metric;

/* The labels of a series that is looked for: values in the order of the names. */
typedef struct gx_metric_labels {
    uint32_t count;
    const char *names[GALE_METRIC_LABELS_MAX];
    uint64_t hash; /* with the metric's name */
    size_t size;
    char values[GALE_METRIC_LABELS_MAX * (GALE_METRIC_LABEL_MAX + 1)];
} gx_metric_labels;

enum { GX_METRIC_BUCKETS = 256 };

/* A task's. */
typedef struct gx_metric_list {
    _Atomic(gx_metric *) first;
    gx_metric *last;     /* this and what follows: the task's own */
    gx_metric **buckets; /* of series with labels; NULL: there are none */
    uint32_t names;
    uint32_t series; /* with labels */
    bool full;       /* it has asked for one name too many, which was reported */
    bool is_over;    /* it has asked for one series too many, which was reported */
} gx_metric_list;

GX_INLINE uint64_t gx_metric_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

GX_INLINE double gx_metric_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* One of this name and with these labels that is not in its task's list yet. NULL: no memory. */
gx_metric *gx_metric_new(gx_heap *heap, const gx_metric_name *name, const gx_metric_labels *labels);
void gx_metric_free(gx_metric *metric, gx_heap *heap);

/* From now on everybody sees it. False: no memory, and nothing is done. */
bool gx_metrics_append(gx_metric_list *list, gx_heap *heap, gx_metric *metric);

/* The series of the name with these labels, for the task alone. NULL: there is none. */
gx_metric *gx_metrics_find_series(const gx_metric_list *list, const char *name, const gx_metric_labels *labels);

/* Its first, and the one behind one: for any thread. NULL: there are no more. */
const gx_metric *gx_metrics_first(const gx_metric_list *list);
const gx_metric *gx_metric_next(const gx_metric *metric);

/* The first of the name: for any thread. */
const gx_metric *gx_metrics_find(const gx_metric_list *list, const char *name);

/* Has it these labels, in any order? */
bool gx_metric_has(const gx_metric *metric, const gale_metric_label *labels, uint32_t count);
void gx_metrics_free(gx_metric_list *list, gx_heap *heap);
void gx_metric_names_free(gx_metric_names *names, gx_heap *heap);

/* The millionths of a value that is at least 0; the highest there are for what is above. */
int64_t gx_metric_millionths(double value);

/* A reading, or the sum of several of one name. Plain numbers; all zeroes to begin with. */
typedef struct gx_metric_reading {
    double value, max;
    uint64_t count;
    uint32_t tasks;
    gx_histogram_reading histogram;
} gx_metric_reading;

void gx_metric_read(const gx_metric *metric, gx_metric_reading *into); /* adds to `into` */

/* The figures of a reading of metrics of this name; `series`: the labels are those of this one, NULL: of several. */
gale_metric_stats gx_metric_sum_up(const gx_metric_reading *reading, const gx_metric_name *name,
                                   const gx_metric *series);

#endif
