/* How a tree ends that is not acked: the columns that every view of a run has, in one table.
 *
 * What:    each reason of a failure (gale_reason) belongs to one column, so that no view can leave a tree out.
 * Threads: any. Owner: static storage.
 */
#ifndef GX_SERVE_OUTCOMES_H
#define GX_SERVE_OUTCOMES_H

#include <gale/runtime.h>

enum { GX_OUTCOMES = 4 };

typedef struct gx_outcome {
    const char *key;   /* of JSON and metrics: "timed_out" */
    const char *title; /* in a sentence: "timed out" */
    const char *head;  /* of a table: "TIMED OUT" */
} gx_outcome;

/* failed, timed_out, rejected, stopped. */
extern const gx_outcome gx_outcomes[GX_OUTCOMES];

/* The place in gx_outcomes of a reason (gale_reason, or GALE_REASON_USER and above). */
size_t gx_outcome_of(int32_t reason);

/* How many ended with each: of a run's trees; of a task's inputs or trees. */
void gx_outcomes_of_run(const gale_run_stats *run, uint64_t ret_counts[GX_OUTCOMES]);
void gx_outcomes_of_task(const gale_task_stats *task, uint64_t ret_counts[GX_OUTCOMES]);

uint64_t gx_outcomes_sum(const uint64_t counts[GX_OUTCOMES]);

#endif
