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
    gx_histogram *histogram; /* of millionths; NULL: it is none */
    gx_atomic64 value;       /* a double: the sum, a gauge's last */
    gx_atomic64 max;         /* a double, of a histogram */
    gx_atomic64 count;       /* of values; a histogram's are in its steps */
} gx_metric;

/* A task's. */
typedef struct gx_metric_list {
    _Atomic(gx_metric *) first;
    uint32_t count; /* the task's own */
    bool full;      /* it has asked for one too many, and was told so */
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

/* One of this name that is not in its task's list yet. NULL: no memory. */
gx_metric *gx_metric_new(gx_heap *heap, const gx_metric_name *name);
void gx_metric_free(gx_metric *metric, gx_heap *heap);

/* From now on everybody sees it. */
void gx_metrics_append(gx_metric_list *list, gx_metric *metric);

/* Its first, and the one behind one: for any thread. NULL: there are no more. */
const gx_metric *gx_metrics_first(const gx_metric_list *list);
const gx_metric *gx_metric_next(const gx_metric *metric);

const gx_metric *gx_metrics_find(const gx_metric_list *list, const char *name);
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

/* What a reading of metrics of this name tells. */
gale_metric_stats gx_metric_sum_up(const gx_metric_reading *reading, const gx_metric_name *name);

#endif
