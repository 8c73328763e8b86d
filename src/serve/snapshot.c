#include "serve/snapshot.h"

#include "base/os/time.h"

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
    return true;
}

gx_snapshot *gx_snapshot_take(const gx_parts *parts, gale_runtime *runtime) {
    gx_snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (!snapshot) return NULL;
    snapshot->tasks = calloc(parts->task_count + 1, sizeof *snapshot->tasks);
    snapshot->streams = calloc(parts->stream_count + 1, sizeof *snapshot->streams);
    snapshot->failures = calloc((size_t)parts->count * GX_SNAPSHOT_REASONS + 1, sizeof *snapshot->failures);
    if (!snapshot->tasks || !snapshot->streams || !snapshot->failures || !read_unwell(runtime, snapshot))
        return gx_snapshot_free(snapshot), NULL;
    snapshot->wall = gx_os_wall();
    snapshot->time = gx_os_monotonic();
    snapshot->run.size = sizeof snapshot->run;
    snapshot->checkpoint.size = sizeof snapshot->checkpoint;
    gale_runtime_stats(runtime, &snapshot->run);
    snapshot->durable = gale_runtime_checkpoint_stats(runtime, &snapshot->checkpoint);
    read_tasks(parts, runtime, snapshot);
    read_streams(parts, runtime, snapshot);
    read_failures(parts, runtime, snapshot);
    return snapshot;
}

void gx_snapshot_free(gx_snapshot *snapshot) {
    if (!snapshot) return;
    free(snapshot->tasks);
    free(snapshot->streams);
    free(snapshot->failures);
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

static gx_snapshot *copy(const gx_parts *parts, const gx_snapshot *from) {
    gx_snapshot *to = malloc(sizeof *to);
    size_t failures = (size_t)parts->count * GX_SNAPSHOT_REASONS + 1;
    if (!to) return NULL;
    *to = *from;
    to->unwell = NULL;
    to->unwell_count = 0;
    to->tasks = malloc((parts->task_count + 1) * sizeof *to->tasks);
    to->streams = malloc((parts->stream_count + 1) * sizeof *to->streams);
    to->failures = malloc(failures * sizeof *to->failures);
    if (!to->tasks || !to->streams || !to->failures) return gx_snapshot_free(to), NULL;
    memcpy(to->tasks, from->tasks, (parts->task_count + 1) * sizeof *to->tasks);
    memcpy(to->streams, from->streams, (parts->stream_count + 1) * sizeof *to->streams);
    memcpy(to->failures, from->failures, failures * sizeof *to->failures);
    return to;
}

gx_snapshot *gx_snapshot_between(const gx_parts *parts, const gx_snapshot *a, const gx_snapshot *b, int64_t time) {
    gx_snapshot *made = copy(parts, b);
    if (!made || time >= b->time) return made;
    double share = time <= a->time ? 0 : (double)(time - a->time) / (double)(b->time - a->time);
    for (uint32_t i = 0; i < parts->task_count; i++) task_between(&made->tasks[i], &a->tasks[i], share);
    for (uint32_t i = 0; i < parts->stream_count; i++) {
        made->streams[i].emitted = between(a->streams[i].emitted, b->streams[i].emitted, share);
        made->streams[i].transferred = between(a->streams[i].transferred, b->streams[i].transferred, share);
    }
    made->wall -= b->time - time;
    made->time = time;
    return made;
}
