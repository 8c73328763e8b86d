/* A log-linear histogram of int64 values from 0 to 2^62: 32 steps a power of two, so that a figure is at most 1/32 too
 * high (the idea is HdrHistogram's, Gil Tene). One writer; any thread may read while it writes (relaxed loads: a
 * reading is a little old, never torn within a bucket). No allocation: a plain struct of about 15 KiB. */
#ifndef GX_DS_HISTOGRAM_H
#define GX_DS_HISTOGRAM_H

#include "base/atomic.h"
#include "base/bits.h"

enum { GX_HISTOGRAM_STEPS = 32, GX_HISTOGRAM_BUCKETS = 32 * 59 };

typedef struct gx_histogram {
    gx_atomic64 buckets[GX_HISTOGRAM_BUCKETS];
    gx_atomic64 max;
} gx_histogram;

/* The bucket of a value; negative values count as 0. Values below 64 have a bucket each. */
GX_INLINE size_t gx_histogram_bucket(int64_t value) {
    uint64_t v = value < 0 ? 0 : (uint64_t)value;
    if (v < 2 * GX_HISTOGRAM_STEPS) return (size_t)v;
    if (v >= UINT64_C(1) << 62) v = (UINT64_C(1) << 62) - 1;
    unsigned shift = gx_log2(v) - 5; /* v >> shift is in 32..63 */
    return (size_t)shift * GX_HISTOGRAM_STEPS + (size_t)(v >> shift);
}

/* Adds a value so many times. */
GX_INLINE void gx_histogram_add_many(gx_histogram *histogram, int64_t value, uint64_t times) {
    gx_count(&histogram->buckets[gx_histogram_bucket(value)], times);
    gx_count_max(&histogram->max, value < 0 ? 0 : (uint64_t)value);
}

GX_INLINE void gx_histogram_add(gx_histogram *histogram, int64_t value) {
    gx_histogram_add_many(histogram, value, 1);
}

/* The highest value that falls into `bucket`. */
int64_t gx_histogram_bucket_top(size_t bucket);

/* A reading, or the sum of several: plain numbers. */
typedef struct gx_histogram_reading {
    uint64_t buckets[GX_HISTOGRAM_BUCKETS];
    uint64_t count;
    int64_t max;
} gx_histogram_reading;

void gx_histogram_read(const gx_histogram *histogram, gx_histogram_reading *into); /* adds to `into` */

/* The smallest bucket top with at least `share` (0..1) of the values at or below it, never above max; 0 when empty. */
int64_t gx_histogram_quantile(const gx_histogram_reading *reading, double share);

/* What all values come to, each taken for the middle of its step. */
double gx_histogram_sum(const gx_histogram_reading *reading);

/* How many values are at or below each of `bounds`, which ascend, each value taken for the top of its step. */
void gx_histogram_below(const gx_histogram_reading *reading, const int64_t *bounds, size_t count, uint64_t *ret_counts);

#endif
