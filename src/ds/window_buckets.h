/* Percentiles: how many numbers came in each of many small stretches of the number line. A stretch is named by the upper
 * bits of a double, 8 of them behind the leading one, so that it is at most 1/256 of its beginning wide; what is told of it
 * is its end that is nearer to zero. So a percentile is never farther from zero than the number that has its rank, and nearer
 * by less than 1/256 (0.4 %) of that; whole numbers up to 512 are told exactly. Numbers below 2.3e-308 count as such with an
 * absolute error of 8.7e-311. Nothing is ever merged: counts are added and taken back exactly.
 *
 * Masson, Rim, Lee: DDSketch (PVLDB 12, 2019), with stretches that are linear between powers of two.
 *
 * What:    a pane's are 8 bytes each, and below 2^32; a window's are sums of them. Both sorted by the number line, NaN above
 *          all others.
 * Threads: one at a time. Owner: memory comes from a gx_heap. Begin as zeros. */
#ifndef GX_DS_WINDOW_BUCKETS_H
#define GX_DS_WINDOW_BUCKETS_H

#include "base/alloc.h"

enum { GX_BUCKET_LIMIT = 1 << 21 }; /* no bucket's index is as large */

typedef struct gx_bucket {
    uint32_t index;
    uint32_t count;
} gx_bucket;

typedef struct gx_buckets {
    gx_bucket *items;
    uint32_t used, capacity;
} gx_buckets;

typedef struct gx_bucket_sum {
    uint64_t index;
    uint64_t count;
} gx_bucket_sum;

typedef struct gx_bucket_sums {
    gx_bucket_sum *items;
    size_t used, capacity;
    uint64_t total;
} gx_bucket_sums;

/* Where a number belongs, and what is told of all that belong there. */
uint32_t gx_bucket_of(double number);
double gx_bucket_number(uint32_t index);

void gx_buckets_fini(gx_buckets *buckets, gx_heap *heap);
void gx_bucket_sums_fini(gx_bucket_sums *sums, gx_heap *heap);

/* Room for one more. False when memory is out. */
bool gx_buckets_reserve(gx_buckets *buckets, gx_heap *heap);

/* So many more in one of them. There must be room. */
void gx_buckets_add(gx_buckets *buckets, uint32_t index, uint32_t count);

/* Gives back what is more than it needs: for a pane that is closed. */
void gx_buckets_trim(gx_buckets *buckets, gx_heap *heap);

/* Adds a pane's; false when memory is out: nothing changed. Takes them back. */
bool gx_bucket_sums_enter(gx_bucket_sums *sums, gx_heap *heap, const gx_buckets *pane);
void gx_bucket_sums_leave(gx_bucket_sums *sums, const gx_buckets *pane);

/* The number that has rank `rank`, from 1 on, of `total`. */
double gx_bucket_sums_at(const gx_bucket_sums *sums, uint64_t rank);

#endif
