/* NthLastModifiedTimeTracker of storm-starter: a FIFO of the last n moments, filled with n times `now` at the start. Storm
 * cuts seconds off; here they are rounded, because ticks keep their cadence: what n of them span is now a little more, now
 * a little less than n periods, where Storm's timer, which drifts, hardly ever gives less.
 * Threads: one at a time. */
#ifndef GX_DS_LAST_MODIFIED_H
#define GX_DS_LAST_MODIFIED_H

#include "base/alloc.h"

#include <gale/error.h>

typedef struct gx_last_modified gx_last_modified;

/* GALE_INVALID when n < 1. Times are nanoseconds. */
int gx_last_modified_new(gx_heap *heap, int64_t n, int64_t now, gx_last_modified **ret_tracker, gale_error *error);
void gx_last_modified_free(gx_last_modified *tracker);

/* Removes the oldest moment and returns the seconds since then, to the nearest whole one (a half up); with none left (Storm would
 * block), 0. */
int64_t gx_last_modified_seconds_since_oldest(gx_last_modified *tracker, int64_t now);

/* Appends `now`; when full, the oldest goes first. */
void gx_last_modified_mark(gx_last_modified *tracker, int64_t now);

/* The moments that are left, oldest first: 0 <= index < size. */
size_t gx_last_modified_size(const gx_last_modified *tracker);
int64_t gx_last_modified_at(const gx_last_modified *tracker, size_t index);

/* Forgets them all; gx_last_modified_mark brings them back one by one. */
void gx_last_modified_clear(gx_last_modified *tracker);

#endif
