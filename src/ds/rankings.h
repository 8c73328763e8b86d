/* Rankings of storm-starter, with an order for equals: by count, descending; equal counts by object, ascending, as
 * `compare` says. An entry is an object (bytes), a count and a payload (bytes: whatever goes along). Threads: one at a
 * time. */
#ifndef GX_DS_RANKINGS_H
#define GX_DS_RANKINGS_H

#include "base/alloc.h"
#include "base/str.h"

#include <gale/error.h>

typedef struct gx_rankings gx_rankings;

typedef int (*gx_rankings_compare)(gale_str a, gale_str b); /* negative, zero, positive */

/* GALE_INVALID when top_n < 1. */
int gx_rankings_new(gx_heap *heap, int64_t top_n, gx_rankings_compare compare, gx_rankings **ret_rankings,
                    gale_error *error);
void gx_rankings_free(gx_rankings *rankings);

/* Replaces the entry of an equal object (its count may go down) or adds one, and re-sorts; when there are more than
 * top_n, the last goes (exactly one; it returns only when it is reported again). GALE_INVALID when count < 0,
 * GALE_NO_MEMORY. */
int gx_rankings_update(gx_rankings *rankings, gale_str object, int64_t count, gale_str payload);

/* Drops entries with count 0, keeping order. */
void gx_rankings_prune_zeros(gx_rankings *rankings);

size_t gx_rankings_size(const gx_rankings *rankings);
int64_t gx_rankings_top_n(const gx_rankings *rankings);

/* Entry `index`, best first, 0 <= index < size. Borrowed until the next change. */
int64_t gx_rankings_at(const gx_rankings *rankings, size_t index, gale_str *ret_object, gale_str *ret_payload);

#endif
