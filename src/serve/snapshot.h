/* One reading of all figures of a running topology, by the runtime's public functions.
 *
 * What:    counts as they are since the start; what happened in a while is the difference of two. Reading takes relaxed loads and
 *          delays no executor.
 * Threads: any may read the runtime, also while others do; a snapshot is one thread's until it is shared to be read.
 * Owner:   whoever took it; names are the topology's. Memory is malloc's, none of the engine's.
 */
#ifndef GX_SERVE_SNAPSHOT_H
#define GX_SERVE_SNAPSHOT_H

#include "ds/histogram.h"
#include "serve/parts.h"

/* A component's stream, its tasks together. */
typedef struct gx_snapshot_stream {
    uint64_t emitted, transferred;
} gx_snapshot_stream;

/* How long something takes: the samples' number and sum since the start, and quantiles of all of them. Nanoseconds. */
typedef struct gx_snapshot_latency {
    uint64_t count;
    double sum;
    int64_t p50, p90, p99, max; /* -1: not known */
} gx_snapshot_latency;

/* What a bolt did with one of its inputs, its tasks together; times are of samples. */
typedef struct gx_snapshot_edge {
    uint64_t executed, acked, failed, rejected, expired, dropped;
    uint64_t execute_count, execute_nanoseconds, process_count, process_nanoseconds;
    int32_t policy; /* what is dropped when it is full, now: a gale_drop */
} gx_snapshot_edge;

typedef enum gx_snapshot_kind { GX_COMPLETE, GX_EXECUTE, GX_PROCESS, GX_SNAPSHOT_KINDS } gx_snapshot_kind;

typedef struct gx_snapshot {
    int64_t wall; /* ns since 1970 */
    int64_t time; /* ns, monotonic */
    gale_run_stats run;
    bool durable;
    gale_checkpoint_stats checkpoint;
    gale_task_stats *tasks;         /* of task 1 first */
    gx_snapshot_stream *streams;    /* by gx_part's first_stream */
    gx_snapshot_edge *edges;        /* by edge */
    gx_snapshot_latency complete;   /* of all trees */
    gx_snapshot_latency *latencies; /* by component and kind */
    uint64_t *failures;             /* by component and reason; of an application's own behind the last */
    gale_executor_stats *executors; /* NULL: not known */
    uint32_t executor_count;
    int64_t runtime_time; /* by the clock of what says `since` */
    gale_unwell *unwell;
    uint32_t unwell_count; /* at most GX_SNAPSHOT_UNWELL are kept */
} gx_snapshot;

enum { GX_SNAPSHOT_UNWELL = 100, GX_SNAPSHOT_REASONS = GALE_REASON_COUNT + 1 };

/* NULL: memory is out. */
gx_snapshot *gx_snapshot_take(const gx_parts *parts, gale_runtime *runtime);
void gx_snapshot_free(gx_snapshot *snapshot);

/* What one at `time`, between those of `a` and `b`, would have had: counts of tasks and streams in proportion, all else as in `b`.
 * NULL: memory is out. */
gx_snapshot *gx_snapshot_between(const gx_parts *parts, const gx_snapshot *a, const gx_snapshot *b, int64_t time);

/* The figures of the component's tasks together: counts are sums, `held_by` and what names a task are of the task that was held
 * longest, largest values are the largest of a task. */
gale_task_stats gx_snapshot_sum(const gx_snapshot *snapshot, const gx_part *part);

const gx_snapshot_latency *gx_snapshot_latency_of(const gx_snapshot *snapshot, const gx_parts *parts,
                                                  const gx_part *part, gx_snapshot_kind kind);

/* One of before the start: all counts are 0. */
gx_snapshot *gx_snapshot_zero(const gx_parts *parts, int64_t time);

/* How many trees were acked within each step of the engine's histogram (ds/histogram.h) since the start: sums, from the shortest on. */
void gx_snapshot_complete(const gale_runtime *runtime, uint64_t ret_sums[GX_HISTOGRAM_BUCKETS]);

/* How long the executor's call has lasted, ns; 0: it is in none. */
int64_t gx_snapshot_in_call(const gx_snapshot *snapshot, uint32_t executor);

/* How many trees failed at the component for a reason (0 to GX_SNAPSHOT_REASONS - 1). */
uint64_t gx_snapshot_failures(const gx_snapshot *snapshot, const gx_parts *parts, const gx_part *part, int32_t reason);

/* "timeout"; "user" for the last. */
const char *gx_snapshot_reason(int32_t reason);

#endif
