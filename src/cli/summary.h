/* What a run did, gathered from its runtime and printed as a table or as one JSON object.
 *
 * Threads: one at a time; gathering while the run goes on is allowed.
 * Owner:   component names belong to the runtime.
 */
#ifndef GX_CLI_SUMMARY_H
#define GX_CLI_SUMMARY_H

#include "base/buf.h"

#include <gale/runtime.h>

/* The sum over a component's tasks. */
typedef struct gx_summary_row {
    const char *component;
    bool spout;
    uint32_t tasks;
    uint64_t executed, emitted, transferred, acked, failed, timed_out, errors;
    uint64_t execute_samples, execute_nanoseconds;
} gx_summary_row;

typedef struct gx_summary {
    gale_run_stats run;
    const char *topology;
    gx_summary_row *rows;
    size_t row_count;
} gx_summary;

/* False when memory is out. */
bool gx_summary_gather(const gale_topology *topology, const gale_runtime *runtime, gx_summary *ret_summary);
void gx_summary_fini(gx_summary *summary);

void gx_summary_text(const gx_summary *summary, gx_buf *out);
void gx_summary_json(const gx_summary *summary, int exit_code, gx_buf *out);

/* Did something fail for good? Spouts report the tuples that they give up. Where nothing is tracked, a failed tuple has
 * nobody who would send it again. */
bool gx_summary_lost(const gx_summary *summary);

/* One line: seconds, trees, trees a second since `before` (a reading `nanoseconds` ago), open, failed. */
void gx_summary_line(const gale_run_stats *now, const gale_run_stats *before, gx_buf *out);

#endif
