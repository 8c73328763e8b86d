/* SlidingWindowCounter of storm-starter: counts over the last n slots, the one just closed included. An object that
 * fell to zero is reported once with 0 and then dropped: zeros are wiped before the oldest slot is, and that order
 * matters downstream. Threads: one at a time. */
#ifndef GX_DS_SLIDING_WINDOW_H
#define GX_DS_SLIDING_WINDOW_H

#include "ds/slot_counter.h"

typedef struct gx_sliding_window gx_sliding_window;

/* GALE_INVALID when slots < 2. */
int gx_sliding_window_new(gx_heap *heap, int64_t slots, uint64_t seed, gx_sliding_window **ret_window,
                          gale_error *error);
void gx_sliding_window_free(gx_sliding_window *window);
int gx_sliding_window_increment(gx_sliding_window *window, gale_str object);

/* Hands each (object, count) to `take` (may be NULL) and moves the window on by one slot: (1) read all, (2) wipe zeros,
 * (3) wipe the tail slot, (4) head = tail, tail = next. */
typedef void (*gx_sliding_window_take)(void *user, gale_str object, int64_t count);
void gx_sliding_window_advance(gx_sliding_window *window, gx_sliding_window_take take, void *user);

size_t gx_sliding_window_size(const gx_sliding_window *window);

/* Object `index`, 0 <= index < size, in the order in which it is handed out; what it was counted `age` slots ago (0: the
 * slot that is being counted into); and so many more, so long ago (GALE_INVALID: longer than there are slots). */
gale_str gx_sliding_window_object(const gx_sliding_window *window, size_t index);
int64_t gx_sliding_window_count(const gx_sliding_window *window, size_t index, int64_t age);
int gx_sliding_window_add(gx_sliding_window *window, gale_str object, int64_t age, int64_t count);

#endif
