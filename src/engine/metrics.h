/* What a collector has of metrics (gale/metric.h): a task makes them by name, and a name is of one kind in the whole topology.
 * Threads: the task's. */
#ifndef GX_ENGINE_METRICS_H
#define GX_ENGINE_METRICS_H

#include "engine/executor.h"

int gx_metrics_new(gale_collector *out, const gale_metric_options *options, gale_metric **ret_metric);

#endif
