/* Times of small numbers, the earliest first: a binary heap that knows where each of them is, so that one can be set anew or
 * taken out (Williams, Algorithm 232, 1964).
 *
 * What:    a number has one time or none. Of equal times the lower number comes first, so that runs repeat.
 * Cost:    log n a change; the earliest is read at once.
 * Threads: one at a time. Owner: memory comes from the heap; gx_timers_fini gives it back. */
#ifndef GX_DS_TIMERS_H
#define GX_DS_TIMERS_H

#include "base/alloc.h"

typedef struct gx_timer {
    int64_t at;
    uint32_t number;
} gx_timer;

typedef struct gx_timers {
    gx_heap *heap;
    gx_timer *list;
    uint32_t count;
    uint32_t *places; /* by number: its place in the list, plus 1; 0: it has no time */
    size_t capacity, place_capacity;
} gx_timers;

#define GX_TIMERS_INIT(heap_)                                                                                          \
    { .heap = (heap_) }

void gx_timers_fini(gx_timers *timers);

/* Makes room for the numbers below `numbers`. False when memory is out. */
bool gx_timers_reserve(gx_timers *timers, uint32_t numbers);

/* The time of `number`, for which there is room; INT64_MAX: it has none any more. */
void gx_timers_set(gx_timers *timers, uint32_t number, int64_t at);

/* INT64_MAX when there is none. */
GX_INLINE int64_t gx_timers_first(const gx_timers *timers) {
    return timers->count ? timers->list[0].at : INT64_MAX;
}

/* Takes the first out, if its time is `now` or before. */
bool gx_timers_take(gx_timers *timers, int64_t now, uint32_t *ret_number);

#endif
