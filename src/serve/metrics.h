/* GET /metrics: all figures, for Prometheus and whoever reads what it reads.
 *
 * What:    one table names every metric, says what it is, and where its figure is found; docs/metrics.md is made of it. Names that were
 *          once there stay.
 * Threads: any.
 */
#ifndef GX_SERVE_METRICS_H
#define GX_SERVE_METRICS_H

#include "serve/exposition.h"
#include "serve/served.h"

gx_call_fn gx_metrics_serve;

/* The table as Markdown, a row a metric. */
void gx_metrics_markdown(gx_buf *out);

#endif
