#include "serve/history.h"

#include "base/os/thread.h"
#include "serve/outcomes.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t seconds[GX_HISTORY_WINDOWS] = { 600, 10800, 86400 };

/* Snapshots, the newest at `next - 1`. */
typedef struct bucket_ring {
    gx_snapshot *list[GX_HISTORY_BUCKETS];
    uint32_t next, count;
} bucket_ring;

struct gx_history {
    gx_monitor monitor;
    const gx_parts *parts;
    gx_snapshot *recent[GX_HISTORY_RECENT];
    uint32_t recent_next, recent_count;
    bucket_ring windows[GX_HISTORY_WINDOWS];
    gx_sample samples[GX_HISTORY_SAMPLES];
    gx_sample_part *sample_parts; /* by sample, then by part */
    uint32_t next, count;
    uint64_t complete[GX_HISTOGRAM_BUCKETS]; /* of the last one */
};

static const gx_snapshot *nth(const bucket_ring *ring, uint32_t age) {
    return ring->list[(ring->next + 2 * GX_HISTORY_BUCKETS - 1 - age) % GX_HISTORY_BUCKETS];
}

gx_history *gx_history_new(const gx_parts *parts) {
    gx_history *history = calloc(1, sizeof *history);
    if (!history) return NULL;
    history->parts = parts;
    history->sample_parts = calloc((size_t)GX_HISTORY_SAMPLES * parts->count + 1, sizeof *history->sample_parts);
    if (history->sample_parts && gx_monitor_init(&history->monitor)) return history;
    free(history->sample_parts);
    free(history);
    return NULL;
}

void gx_history_free(gx_history *history) {
    if (!history) return;
    for (uint32_t i = 0; i < GX_HISTORY_RECENT; i++) gx_snapshot_free(history->recent[i]);
    for (uint32_t w = 0; w < GX_HISTORY_WINDOWS; w++)
        for (uint32_t i = 0; i < GX_HISTORY_BUCKETS; i++) gx_snapshot_free(history->windows[w].list[i]);
    gx_monitor_fini(&history->monitor);
    free(history->sample_parts);
    free(history);
}

void gx_history_lock(gx_history *history) {
    gx_monitor_lock(&history->monitor);
}

void gx_history_unlock(gx_history *history) {
    gx_monitor_unlock(&history->monitor);
}

/* --- Adding -------------------------------------------------------------------------------------------------------- */

/* What was acked between two readings of sums, the second of which is kept. */
static void add_complete(gx_history *history, const uint64_t *complete, gx_sample *sample) {
    gx_histogram_reading since = { .max = INT64_MAX };
    uint64_t before = 0, now = 0;
    for (size_t i = 0; i < GX_HISTOGRAM_BUCKETS; i++) {
        since.buckets[i] = (complete[i] - now) - (history->complete[i] - before);
        since.count += since.buckets[i];
        before = history->complete[i];
        now = complete[i];
    }
    memcpy(history->complete, complete, sizeof history->complete);
    bool known = history->count && since.count;
    sample->p50 = known ? gx_histogram_quantile(&since, 0.50) : -1;
    sample->p99 = known ? gx_histogram_quantile(&since, 0.99) : -1;
}

static void add_sample(gx_history *history, const gx_snapshot *from, const uint64_t *complete) {
    uint32_t count = history->parts->count;
    gx_sample_part *rows = history->sample_parts + (size_t)history->next * count;
    uint64_t outcomes[GX_OUTCOMES];
    gx_outcomes_of_run(&from->run, outcomes);
    gx_sample sample = { .wall = from->wall,
                         .time = from->time,
                         .trees = from->run.trees,
                         .acked = from->run.acked,
                         .failed = gx_outcomes_sum(outcomes),
                         .open = from->run.open };
    add_complete(history, complete, &sample);
    for (uint32_t i = 0; i < count; i++) {
        gale_task_stats sum = gx_snapshot_sum(from, &history->parts->parts[i]);
        if (sum.spout) sample.emitted += sum.emitted;
        rows[i] = (gx_sample_part){ sum.executed, sum.queued_bytes };
    }
    history->samples[history->next] = sample;
    history->next = (history->next + 1) % GX_HISTORY_SAMPLES;
    if (history->count < GX_HISTORY_SAMPLES) history->count++;
}

/* When so much time has passed since the last one. Without memory a bucket is left out. */
static void add_bucket(gx_history *history, uint32_t window, const gx_snapshot *from) {
    bucket_ring *ring = &history->windows[window];
    int64_t span = seconds[window] * GALE_SECOND / (GX_HISTORY_BUCKETS - 1);
    if (ring->count && from->time - nth(ring, 0)->time < span) return;
    gx_snapshot *kept = gx_snapshot_between(history->parts, from, from, from->time);
    if (!kept) return;
    gx_snapshot_free(ring->list[ring->next]);
    ring->list[ring->next] = kept;
    ring->next = (ring->next + 1) % GX_HISTORY_BUCKETS;
    if (ring->count < GX_HISTORY_BUCKETS) ring->count++;
}

void gx_history_add(gx_history *history, gx_snapshot *snapshot, const uint64_t complete[GX_HISTOGRAM_BUCKETS]) {
    gx_history_lock(history);
    add_sample(history, snapshot, complete);
    for (uint32_t w = 0; w < GX_HISTORY_WINDOWS; w++) add_bucket(history, w, snapshot);
    gx_snapshot_free(history->recent[history->recent_next]);
    history->recent[history->recent_next] = snapshot;
    history->recent_next = (history->recent_next + 1) % GX_HISTORY_RECENT;
    if (history->recent_count < GX_HISTORY_RECENT) history->recent_count++;
    gx_history_unlock(history);
}

/* --- Reading ------------------------------------------------------------------------------------------------------- */

const gx_snapshot *gx_history_before(const gx_history *history, int64_t time, int64_t nanoseconds) {
    const gx_snapshot *found = NULL;
    for (uint32_t age = 1; age <= history->recent_count; age++) {
        found = history->recent[(history->recent_next + GX_HISTORY_RECENT - age) % GX_HISTORY_RECENT];
        if (time - found->time >= nanoseconds) break;
    }
    return found;
}

uint32_t gx_history_count(const gx_history *history) {
    return history->count;
}

const gx_sample *gx_history_sample(const gx_history *history, uint32_t index, const gx_sample_part **ret_parts) {
    uint32_t at = (history->next + GX_HISTORY_SAMPLES - history->count + index) % GX_HISTORY_SAMPLES;
    *ret_parts = history->sample_parts + (size_t)at * history->parts->count;
    return &history->samples[at];
}

uint32_t gx_history_seconds(uint32_t window) {
    return window < GX_HISTORY_WINDOWS ? seconds[window] : 0;
}

bool gx_history_window(const gx_history *history, uint32_t window, int64_t time, gx_snapshot **ret_begin) {
    *ret_begin = NULL;
    if (window >= GX_HISTORY_WINDOWS) return true;
    const bucket_ring *ring = &history->windows[window];
    int64_t begin = time - seconds[window] * GALE_SECOND;
    const gx_snapshot *younger = NULL;
    for (uint32_t age = 0; age < ring->count; age++) {
        const gx_snapshot *one = nth(ring, age);
        if (one->time <= begin) {
            *ret_begin = gx_snapshot_between(history->parts, one, younger ? younger : one, begin);
            return *ret_begin != NULL;
        }
        younger = one;
    }
    if (ring->count < GX_HISTORY_BUCKETS) return true; /* all of the run is within it */
    *ret_begin = gx_snapshot_between(history->parts, younger, younger, younger->time);
    return *ret_begin != NULL;
}
