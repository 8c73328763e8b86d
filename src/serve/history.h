/* What is remembered of a running topology: the last seconds whole, a sample a second for ten minutes, and Storm's windows.
 *
 * What:    whoever takes a snapshot a second hands it in. Of the last GX_HISTORY_RECENT each is kept; of the last
 *          GX_HISTORY_SAMPLES the totals; and for each of Storm's windows (600, 10800 and 86400 s) GX_HISTORY_BUCKETS that are window /
 *          (buckets - 1) apart, as Storm's buckets are. What a window begins with is in proportion between two of them.
 *          Latencies of a sample are of the trees that were acked since the one before.
 * Threads: any; who reads holds the lock, and what was read is good until it is given back.
 * Owner:   who made it. Snapshots that are handed in belong to it.
 * Limits:  the memory is bounded: about seventy snapshots, which grow with tasks and streams.
 */
#ifndef GX_SERVE_HISTORY_H
#define GX_SERVE_HISTORY_H

#include "serve/snapshot.h"

enum {
    GX_HISTORY_RECENT = 11,
    GX_HISTORY_SAMPLES = 600,
    GX_HISTORY_BUCKETS = 20,
    GX_HISTORY_WINDOWS = 3,
    GX_HISTORY_ALL = GX_HISTORY_WINDOWS /* the window that begins with the run */
};

typedef struct gx_history gx_history;

/* Totals at one moment; counts since the start. */
typedef struct gx_sample {
    int64_t wall, time;
    uint64_t trees, acked, failed, emitted, open;
    int64_t p50, p99; /* of trees that were acked since the sample before; -1: none was */
} gx_sample;

typedef struct gx_sample_part {
    uint64_t executed, queued_bytes;
} gx_sample_part;

/* NULL: memory is out. `parts` must outlive it. */
gx_history *gx_history_new(const gx_parts *parts);
void gx_history_free(gx_history *history);

void gx_history_lock(gx_history *history);
void gx_history_unlock(gx_history *history);

/* Takes the lock itself. `complete`: of the same moment, by gx_snapshot_complete. */
void gx_history_add(gx_history *history, gx_snapshot *snapshot, const uint64_t complete[GX_HISTOGRAM_BUCKETS]);

/* The youngest of the last ones that is as old as `nanoseconds` before `time`, or the oldest; NULL when there is none. */
const gx_snapshot *gx_history_before(const gx_history *history, int64_t time, int64_t nanoseconds);

/* Samples, oldest first: how many, and one of them; its components' figures are in the order of the parts. */
uint32_t gx_history_count(const gx_history *history);
const gx_sample *gx_history_sample(const gx_history *history, uint32_t index, const gx_sample_part **ret_parts);

/* What a window (0 to GX_HISTORY_ALL) begins with at `time`: the caller's, to be freed. `*ret_begin` NULL: it begins with the run, and all
 * counts were 0. False: memory is out. */
bool gx_history_window(const gx_history *history, uint32_t window, int64_t time, gx_snapshot **ret_begin);

/* The seconds of a window; 0 for GX_HISTORY_ALL. */
uint32_t gx_history_seconds(uint32_t window);

#endif
