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

/* Moves the window on by one slot, when all was read: (1) wipe zeros, (2) wipe the tail slot, (3) head = tail, tail =
 * next. */
void gx_sliding_window_advance(gx_sliding_window *window);

/* The map of objects, borrowed, to be looked into alone. */
const gx_bytes_map *gx_sliding_window_map(const gx_sliding_window *window);

size_t gx_sliding_window_size(const gx_sliding_window *window);

/* Object `index`, 0 <= index < size, in the order in which it was first counted, but that one which is wiped leaves its
 * place to the last; how often it was counted in the whole window; what it was counted `age` slots ago (0: the slot that
 * is being counted into); and so many more, so long ago (GALE_INVALID: longer than there are slots). */
int64_t gx_sliding_window_at(const gx_sliding_window *window, size_t index, gale_str *ret_object);
gale_str gx_sliding_window_object(const gx_sliding_window *window, size_t index);
int64_t gx_sliding_window_count(const gx_sliding_window *window, size_t index, int64_t age);
int gx_sliding_window_add(gx_sliding_window *window, gale_str object, int64_t age, int64_t count);

#endif
