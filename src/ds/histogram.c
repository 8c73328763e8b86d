#include "ds/histogram.h"

int64_t gx_histogram_bucket_top(size_t bucket) {
    if (bucket >= GX_HISTOGRAM_BUCKETS) bucket = GX_HISTOGRAM_BUCKETS - 1;
    if (bucket < 2 * GX_HISTOGRAM_STEPS) return (int64_t)bucket;
    size_t shift = bucket / GX_HISTOGRAM_STEPS - 1;
    uint64_t step = GX_HISTOGRAM_STEPS + bucket % GX_HISTOGRAM_STEPS;
    return (int64_t)(((step + 1) << shift) - 1);
}

void gx_histogram_read(const gx_histogram *histogram, gx_histogram_reading *into) {
    for (size_t i = 0; i < GX_HISTOGRAM_BUCKETS; i++) {
        uint64_t count = gx_load_relaxed(&histogram->buckets[i]);
        into->buckets[i] += count;
        into->count += count;
    }
    int64_t max = (int64_t)gx_load_relaxed(&histogram->max);
    if (max > into->max) into->max = max;
}

/* How many values make up the share: at least one, and all for 1. The factor swallows what rounding puts on top, so
 * that 0.07 of 100 is 7 and not 8. */
static uint64_t rank_of(uint64_t count, double share) {
    if (!(share > 0)) return 1;
    if (share >= 1) return count;
    double exact = share * (double)count * (1 - 1e-12);
    uint64_t rank = (uint64_t)exact;
    if ((double)rank < exact) rank++;
    return rank < 1 ? 1 : rank > count ? count : rank;
}

int64_t gx_histogram_quantile(const gx_histogram_reading *reading, double share) {
    if (reading->count == 0) return 0;
    uint64_t rank = rank_of(reading->count, share);
    uint64_t below = 0;
    for (size_t i = 0; i < GX_HISTOGRAM_BUCKETS; i++) {
        below += reading->buckets[i];
        if (below < rank) continue;
        int64_t top = gx_histogram_bucket_top(i);
        return top < reading->max ? top : reading->max;
    }
    return reading->max;
}

double gx_histogram_sum(const gx_histogram_reading *reading) {
    double sum = 0;
    int64_t below = -1; /* the top of the bucket before */
    for (size_t i = 0; i < GX_HISTOGRAM_BUCKETS; i++) {
        int64_t top = gx_histogram_bucket_top(i);
        if (reading->buckets[i]) sum += (double)reading->buckets[i] * (((double)below + 1 + (double)top) / 2);
        below = top;
    }
    return sum;
}

void gx_histogram_below(const gx_histogram_reading *reading, const int64_t *bounds, size_t count,
                        uint64_t *ret_counts) {
    uint64_t below = 0;
    size_t bucket = 0;
    for (size_t i = 0; i < count; i++) {
        while (bucket < GX_HISTOGRAM_BUCKETS && gx_histogram_bucket_top(bucket) <= bounds[i])
            below += reading->buckets[bucket++];
        ret_counts[i] = below;
    }
}
