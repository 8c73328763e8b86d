/* The panes of one key, oldest first: behind those that are closed (nothing more is added to them) those that are open. What
 * all closed panes are together is known at any time, at the cost of at most three combinations for each that is closed or
 * dropped, whatever their number and whatever the operation, as long as it is associative: DABA Lite.
 *
 *     closed:  | first ... left | ... right | ... accumulated | ... back | ... closed |     open: | ... end
 *     holds    | itself to back | itself to | itself          | itself   | itself     |
 *              |                |  right    |                 |  to back |            |
 *
 * (`right_sum` is what lies from right to back, `back_sum` what lies from back to closed.) With each pane that comes or goes
 * the borders move on by one, so that when the front has been worked off the back has become the next front.
 * Tangwongsan, Hirzel, Schneider: In-order sliding-window aggregation in worst-case constant time (VLDB Journal 30, 2021).
 *
 * What:    a pane is a block of bytes that begins with its start (int64). The queue knows no more of it: `append` makes of
 *          `to` what `to` and then `from` are together, zeros being nothing; `drop` makes it nothing. Both concern that
 *          part of a pane alone that has to be combined; what can be subtracted its owner adds up.
 * Threads: one at a time. Owner: memory comes from a gx_heap; `fini` does not look into panes.
 * Limits:  2^31 panes. A pointer to a pane is good until the next one is made or dropped. */
#ifndef GX_DS_WINDOW_QUEUE_H
#define GX_DS_WINDOW_QUEUE_H

#include "base/alloc.h"

typedef struct gx_window_combine {
    void (*append)(const void *user, void *to, const void *from); /* NULL: nothing is to be combined */
    void (*drop)(const void *user, void *pane);
    const void *user;
    size_t size; /* of a pane, a multiple of 8 */
} gx_window_combine;

/* All but `panes` and `capacity` count panes from the first that ever was, round and round. */
typedef struct gx_window_queue {
    char *panes; /* `capacity` of them, a power of two, and the two sums */
    uint32_t capacity;
    uint32_t first, left, right, accumulated, back, closed, end;
} gx_window_queue;

GX_INLINE uint32_t gx_window_queue_closed(const gx_window_queue *queue) {
    return queue->closed - queue->first;
}

GX_INLINE uint32_t gx_window_queue_count(const gx_window_queue *queue) {
    return queue->end - queue->first;
}

/* Pane `index`, the oldest is 0. */
GX_INLINE void *gx_window_queue_at(const gx_window_queue *queue, const gx_window_combine *how, uint32_t index) {
    return queue->panes + ((queue->first + index) & (queue->capacity - 1)) * how->size;
}

GX_INLINE int64_t gx_window_queue_start(const gx_window_queue *queue, const gx_window_combine *how, uint32_t index) {
    return *(const int64_t *)gx_window_queue_at(queue, how, index);
}

/* Gives the memory back, whatever the panes hold. */
void gx_window_queue_fini(gx_window_queue *queue, const gx_window_combine *how, gx_heap *heap);

/* The open pane that begins at `start`; NULL. */
void *gx_window_queue_find(const gx_window_queue *queue, const gx_window_combine *how, int64_t start);

/* A new open pane, of zeros but for its start, which lies behind the closed ones and is no other's. NULL when memory is
 * out: nothing changed. */
void *gx_window_queue_make(gx_window_queue *queue, const gx_window_combine *how, gx_heap *heap, int64_t start);

/* Takes the open pane that begins at `start` away again, as it was made: all zeros. */
void gx_window_queue_unmake(gx_window_queue *queue, const gx_window_combine *how, int64_t start);

/* Closes the first open pane. */
void gx_window_queue_close(gx_window_queue *queue, const gx_window_combine *how);

/* Drops the first closed pane, which is nothing more than zeros but for what is combined. Gives memory back that is far
 * too much. */
void gx_window_queue_drop(gx_window_queue *queue, const gx_window_combine *how, gx_heap *heap);

/* Appends what all closed panes are together. */
void gx_window_queue_read(const gx_window_queue *queue, const gx_window_combine *how, void *to);

/* Bytes that it has taken. */
size_t gx_window_queue_bytes(const gx_window_queue *queue, const gx_window_combine *how);

/* What does not hold, in words, or NULL. */
const char *gx_window_queue_flaw(const gx_window_queue *queue, const gx_window_combine *how);

#endif
