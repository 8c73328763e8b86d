#include "serve/snapshot.h"

#include "base/os/time.h"
#include "base/secret.h"

#include <stdlib.h>
#include <string.h>

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void read_streams(const gx_parts *parts, const gale_runtime *runtime, gx_snapshot *snapshot) {
    for (uint32_t i = 0; i < parts->count; i++) {
        const gx_part *part = &parts->parts[i];
        for (uint32_t n = 0; n < part->task_count * part->stream_count; n++) {
            gx_snapshot_stream *sum = &snapshot->streams[part->first_stream + n % part->stream_count];
            uint64_t emitted = 0, transferred = 0;
            gale_runtime_stream_stats(runtime, part->first_task + n / part->stream_count, n % part->stream_count, NULL,
                                      &emitted, &transferred);
            sum->emitted += emitted;
            sum->transferred += transferred;
        }
    }
}

static void add_edge(gx_snapshot_edge *sum, const gale_edge_stats *task) {
    sum->executed += task->executed;
    sum->acked += task->acked;
    sum->failed += task->failed;
    sum->rejected += task->rejected;
    sum->expired += task->expired;
    sum->dropped += task->dropped;
    sum->execute_count += task->execute_count;
    sum->execute_nanoseconds += task->execute_nanoseconds;
    sum->process_count += task->process_count;
    sum->process_nanoseconds += task->process_nanoseconds;
    sum->policy = task->policy;
}

static void read_edges(const gx_parts *parts, const gale_runtime *runtime, gx_snapshot *snapshot) {
    for (uint32_t e = 0; e < parts->edge_count; e++) {
        const gx_part *to = parts->edges[e].to;
        for (uint32_t i = 0; i < to->task_count; i++) {
            gale_edge_stats task = { .size = sizeof task };
            if (gale_runtime_edge_stats(runtime, to->first_task + i, parts->edges[e].input, &task))
                add_edge(&snapshot->edges[e], &task);
        }
    }
}

static bool read_executors(const gale_runtime *runtime, gx_snapshot *snapshot) {
    uint32_t count = gale_runtime_executor_count(runtime);
    snapshot->executors = calloc((size_t)count + 1, sizeof *snapshot->executors);
    if (!snapshot->executors) return false;
    for (uint32_t e = 0; e < count; e++) {
        snapshot->executors[e].size = sizeof snapshot->executors[e];
        gale_runtime_executor_stats(runtime, e, &snapshot->executors[e]);
    }
    snapshot->executor_count = count;
    snapshot->runtime_time = gale_runtime_now(runtime);
    return true;
}

/* `component` NULL: of all. */
static gx_snapshot_latency read_latency(const gale_runtime *runtime, const char *component, int32_t kind) {
    gale_latency read = { .size = sizeof read };
    if (gale_runtime_latency(runtime, component, kind, NULL, 0, NULL, &read) < 0) read = (gale_latency){ .count = 0 };
    return (gx_snapshot_latency){ read.count, read.sum, read.p50, read.p90, read.p99, read.max };
}

static void read_latencies(const gx_parts *parts, const gale_runtime *runtime, gx_snapshot *snapshot) {
    static const int32_t kinds[] = { GALE_LATENCY_COMPLETE, GALE_LATENCY_EXECUTE, GALE_LATENCY_PROCESS };
    snapshot->complete = read_latency(runtime, NULL, GALE_LATENCY_COMPLETE);
    for (uint32_t i = 0; i < parts->count * GX_SNAPSHOT_KINDS; i++)
        snapshot->latencies[i] = read_latency(runtime, parts->parts[i / GX_SNAPSHOT_KINDS].name,
                                              kinds[i % GX_SNAPSHOT_KINDS]);
}

void gx_snapshot_complete(const gale_runtime *runtime, uint64_t ret_sums[GX_HISTOGRAM_BUCKETS]) {
    int64_t tops[GX_HISTOGRAM_BUCKETS];
    for (size_t i = 0; i < GX_HISTOGRAM_BUCKETS; i++) tops[i] = gx_histogram_bucket_top(i);
    memset(ret_sums, 0, GX_HISTOGRAM_BUCKETS * sizeof *ret_sums);
    (void)gale_runtime_latency(runtime, NULL, GALE_LATENCY_COMPLETE, tops, GX_HISTOGRAM_BUCKETS, ret_sums, NULL);
}

static int32_t reason_number(int32_t reason) {
    return reason < GALE_REASON_COUNT ? reason : GALE_REASON_USER;
}

static void read_failures(const gx_parts *parts, const gale_runtime *runtime, gx_snapshot *snapshot) {
    for (uint32_t i = 0; i < parts->count * GX_SNAPSHOT_REASONS; i++)
        snapshot->failures[i] = gale_runtime_failures(runtime, parts->parts[i / GX_SNAPSHOT_REASONS].name,
                                                      reason_number((int32_t)(i % GX_SNAPSHOT_REASONS)));
}

static void read_tasks(const gx_parts *parts, const gale_runtime *runtime, gx_snapshot *snapshot) {
    for (uint32_t i = 0; i < parts->task_count; i++) {
        snapshot->tasks[i].size = sizeof *snapshot->tasks;
        gale_runtime_task_stats(runtime, i + 1, &snapshot->tasks[i]);
    }
}

/* Who is not well are few, or none. */
static bool read_unwell(gale_runtime *runtime, gx_snapshot *snapshot) {
    int count = gale_runtime_unwell(runtime, NULL, 0);
    uint32_t room = count <= 0 ? 0 : count < GX_SNAPSHOT_UNWELL ? (uint32_t)count : GX_SNAPSHOT_UNWELL;
    if (!room) return true;
    snapshot->unwell = calloc(room, sizeof *snapshot->unwell);
    if (!snapshot->unwell) return false;
    snapshot->unwell[0].size = sizeof *snapshot->unwell;
    count = gale_runtime_unwell(runtime, snapshot->unwell, room);
    snapshot->unwell_count = count <= 0 ? 0 : (uint32_t)count < room ? (uint32_t)count : room;
    for (uint32_t i = 0; i < snapshot->unwell_count; i++) gx_secret_mask(snapshot->unwell[i].text);
    return true;
}

static size_t failure_count(const gx_parts *parts) {
    return (size_t)parts->count * GX_SNAPSHOT_REASONS;
}

static size_t latency_count(const gx_parts *parts) {
    return (size_t)parts->count * GX_SNAPSHOT_KINDS;
}

gx_snapshot *gx_snapshot_zero(const gx_parts *parts, int64_t time) {
    gx_snapshot *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->time = time;
    made->tasks = calloc(parts->task_count + 1, sizeof *made->tasks);
    made->streams = calloc(parts->stream_count + 1, sizeof *made->streams);
    made->edges = calloc(parts->edge_count + 1, sizeof *made->edges);
    made->latencies = calloc(latency_count(parts) + 1, sizeof *made->latencies);
    made->failures = calloc(failure_count(parts) + 1, sizeof *made->failures);
    if (made->tasks && made->streams && made->edges && made->latencies && made->failures) return made;
    gx_snapshot_free(made);
    return NULL;
}

gx_snapshot *gx_snapshot_take(const gx_parts *parts, gale_runtime *runtime) {
    gx_snapshot *snapshot = gx_snapshot_zero(parts, gx_os_monotonic());
    if (!snapshot || !read_unwell(runtime, snapshot) || !read_executors(runtime, snapshot))
        return gx_snapshot_free(snapshot), NULL;
    snapshot->wall = gx_os_wall();
    snapshot->run.size = sizeof snapshot->run;
    snapshot->checkpoint.size = sizeof snapshot->checkpoint;
    gale_runtime_stats(runtime, &snapshot->run);
    snapshot->durable = gale_runtime_checkpoint_stats(runtime, &snapshot->checkpoint);
    read_tasks(parts, runtime, snapshot);
    read_streams(parts, runtime, snapshot);
    read_edges(parts, runtime, snapshot);
    read_latencies(parts, runtime, snapshot);
    read_failures(parts, runtime, snapshot);
    return snapshot;
}

void gx_snapshot_free(gx_snapshot *snapshot) {
    if (!snapshot) return;
    free(snapshot->tasks);
    free(snapshot->streams);
    free(snapshot->edges);
    free(snapshot->latencies);
    free(snapshot->failures);
    free(snapshot->executors);
    free(snapshot->unwell);
    free(snapshot);
}

/* --- A component's -------------------------------------------------------------------------------------------------- */

/* What only grows, from the start on, and what is as it is: both add up over tasks. */
#define COUNTS(X)                                                                                                      \
    X(executed)                                                                                                        \
    X(emitted)                                                                                                         \
    X(transferred)                                                                                                     \
    X(acked)                                                                                                           \
    X(failed)                                                                                                          \
    X(timed_out)                                                                                                       \
    X(forgotten)                                                                                                       \
    X(misused)                                                                                                         \
    X(errors)                                                                                                          \
    X(ticks)                                                                                                           \
    X(execute_samples)                                                                                                 \
    X(execute_nanoseconds)                                                                                             \
    X(shed)                                                                                                            \
    X(overflowed)                                                                                                      \
    X(stopped)                                                                                                         \
    X(rejected)                                                                                                        \
    X(expired)                                                                                                         \
    X(dropped)                                                                                                         \
    X(held_nanoseconds)                                                                                                \
    X(pending_nanoseconds)

static void add_task(gale_task_stats *sum, const gale_task_stats *task) {
#define ADD(name) sum->name += task->name;
    COUNTS(ADD)
#undef ADD
    sum->held += task->held;
    sum->queued_bytes += task->queued_bytes;
    sum->execute_nanoseconds_max = larger(sum->execute_nanoseconds_max, task->execute_nanoseconds_max);
    sum->queued_bytes_max = larger(sum->queued_bytes_max, task->queued_bytes_max);
    sum->pending_limit = larger(sum->pending_limit, task->pending_limit);
    if (task->rate > sum->rate) sum->rate = task->rate;
    sum->congested |= task->congested;
    sum->done &= task->done;
    if (!sum->held_by) sum->held_by = task->held_by;
    if (task->held_mostly_nanoseconds <= sum->held_mostly_nanoseconds) return;
    sum->held_mostly_nanoseconds = task->held_mostly_nanoseconds;
    sum->held_mostly_by = task->held_mostly_by;
}

gale_task_stats gx_snapshot_sum(const gx_snapshot *snapshot, const gx_part *part) {
    const gale_task_stats *first = &snapshot->tasks[part->first_task - 1];
    gale_task_stats sum = { .size = sizeof sum, .component = part->name, .spout = part->spout, .done = true };
    for (uint32_t i = 0; i < part->task_count; i++) add_task(&sum, &first[i]);
    return sum;
}

uint64_t gx_snapshot_failures(const gx_snapshot *snapshot, const gx_parts *parts, const gx_part *part, int32_t reason) {
    return snapshot->failures[(size_t)(part - parts->parts) * GX_SNAPSHOT_REASONS + (size_t)reason];
}

const char *gx_snapshot_reason(int32_t reason) {
    return gale_reason_name(reason_number(reason));
}

/* --- A moment between two -------------------------------------------------------------------------------------------- */

static uint64_t between(uint64_t a, uint64_t b, double share) {
    return b > a ? a + (uint64_t)((double)(b - a) * share) : b;
}

static void task_between(gale_task_stats *task, const gale_task_stats *a, double share) {
#define BETWEEN(name) task->name = between(a->name, task->name, share);
    COUNTS(BETWEEN)
#undef BETWEEN
}

static void edge_between(gx_snapshot_edge *edge, const gx_snapshot_edge *a, double share) {
    edge->executed = between(a->executed, edge->executed, share);
    edge->acked = between(a->acked, edge->acked, share);
    edge->failed = between(a->failed, edge->failed, share);
    edge->rejected = between(a->rejected, edge->rejected, share);
    edge->expired = between(a->expired, edge->expired, share);
    edge->dropped = between(a->dropped, edge->dropped, share);
    edge->execute_count = between(a->execute_count, edge->execute_count, share);
    edge->execute_nanoseconds = between(a->execute_nanoseconds, edge->execute_nanoseconds, share);
    edge->process_count = between(a->process_count, edge->process_count, share);
    edge->process_nanoseconds = between(a->process_nanoseconds, edge->process_nanoseconds, share);
}

static void latency_between(gx_snapshot_latency *latency, const gx_snapshot_latency *a, double share) {
    latency->count = between(a->count, latency->count, share);
    if (latency->sum > a->sum) latency->sum = a->sum + (latency->sum - a->sum) * share;
}

static gx_snapshot *copy(const gx_parts *parts, const gx_snapshot *from) {
    gx_snapshot *to = gx_snapshot_zero(parts, from->time);
    if (!to) return NULL;
    to->wall = from->wall;
    to->run = from->run;
    to->durable = from->durable;
    to->checkpoint = from->checkpoint;
    to->complete = from->complete;
    memcpy(to->tasks, from->tasks, parts->task_count * sizeof *to->tasks);
    memcpy(to->streams, from->streams, parts->stream_count * sizeof *to->streams);
    memcpy(to->edges, from->edges, parts->edge_count * sizeof *to->edges);
    memcpy(to->latencies, from->latencies, latency_count(parts) * sizeof *to->latencies);
    memcpy(to->failures, from->failures, failure_count(parts) * sizeof *to->failures);
    return to;
}

gx_snapshot *gx_snapshot_between(const gx_parts *parts, const gx_snapshot *a, const gx_snapshot *b, int64_t time) {
    gx_snapshot *made = copy(parts, b);
    if (!made || time >= b->time) return made;
    double share = time <= a->time ? 0 : (double)(time - a->time) / (double)(b->time - a->time);
    for (uint32_t i = 0; i < parts->task_count; i++) task_between(&made->tasks[i], &a->tasks[i], share);
    for (uint32_t i = 0; i < parts->edge_count; i++) edge_between(&made->edges[i], &a->edges[i], share);
    for (size_t i = 0; i < latency_count(parts); i++) latency_between(&made->latencies[i], &a->latencies[i], share);
    for (uint32_t i = 0; i < parts->stream_count; i++) {
        made->streams[i].emitted = between(a->streams[i].emitted, b->streams[i].emitted, share);
        made->streams[i].transferred = between(a->streams[i].transferred, b->streams[i].transferred, share);
    }
    made->wall -= b->time - time;
    made->time = time;
    return made;
}

const gx_snapshot_latency *gx_snapshot_latency_of(const gx_snapshot *snapshot, const gx_parts *parts,
                                                  const gx_part *part, gx_snapshot_kind kind) {
    return &snapshot->latencies[(size_t)(part - parts->parts) * GX_SNAPSHOT_KINDS + (size_t)kind];
}

int64_t gx_snapshot_in_call(const gx_snapshot *snapshot, uint32_t executor) {
    const gale_executor_stats *one = &snapshot->executors[executor];
    int64_t lasted = one->in_call ? snapshot->runtime_time - one->in_call_since : 0;
    return lasted > 0 ? lasted : 0;
}
