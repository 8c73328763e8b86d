#include "ds/window_queue.h"

#include "base/assert.h"

#include <string.h>

enum { SUMS = 2, FIRST_CAPACITY = 2 };
#define TAG GX_TAG_OTHER
#define CAPACITY_MAX (UINT32_C(1) << 31)

static void *pane_at(const gx_window_queue *queue, const gx_window_combine *how, uint32_t place) {
    return queue->panes + (place & (queue->capacity - 1)) * how->size;
}

static void *right_sum(const gx_window_queue *queue, const gx_window_combine *how) {
    return queue->panes + queue->capacity * how->size;
}

static void *back_sum(const gx_window_queue *queue, const gx_window_combine *how) {
    return queue->panes + (queue->capacity + 1) * how->size;
}

size_t gx_window_queue_bytes(const gx_window_queue *queue, const gx_window_combine *how) {
    return queue->panes ? ((size_t)queue->capacity + SUMS) * how->size : 0;
}

static void drop_sum(const gx_window_combine *how, void *sum) {
    if (how->drop) how->drop(how->user, sum);
    memset(sum, 0, how->size);
}

void gx_window_queue_fini(gx_window_queue *queue, const gx_window_combine *how, gx_heap *heap) {
    if (queue->panes) {
        drop_sum(how, right_sum(queue, how));
        drop_sum(how, back_sum(queue, how));
    }
    gx_free(heap, TAG, queue->panes, gx_window_queue_bytes(queue, how));
    *queue = (gx_window_queue){ 0 };
}

static bool resize(gx_window_queue *queue, const gx_window_combine *how, gx_heap *heap, uint32_t capacity) {
    char *panes = gx_alloc_array(heap, TAG, (size_t)capacity + SUMS, how->size);
    if (!panes) return false;
    gx_window_queue made = *queue;
    made.panes = panes;
    made.capacity = capacity;
    for (uint32_t i = queue->first; i != queue->end; i++)
        memcpy(pane_at(&made, how, i), pane_at(queue, how, i), how->size);
    if (queue->panes) memcpy(right_sum(&made, how), right_sum(queue, how), SUMS * how->size);
    gx_free(heap, TAG, queue->panes, gx_window_queue_bytes(queue, how));
    *queue = made;
    return true;
}

/* The place of the first open pane that does not begin before `start`. */
static uint32_t place_of(const gx_window_queue *queue, const gx_window_combine *how, int64_t start) {
    uint32_t low = 0, high = queue->end - queue->closed;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (*(const int64_t *)pane_at(queue, how, queue->closed + middle) < start)
            low = middle + 1;
        else
            high = middle;
    }
    return queue->closed + low;
}

void *gx_window_queue_find(const gx_window_queue *queue, const gx_window_combine *how, int64_t start) {
    if (queue->closed == queue->end) return NULL;
    int64_t *last = pane_at(queue, how, queue->end - 1);
    if (GX_LIKELY(*last == start)) return last;
    if (*last < start) return NULL;
    int64_t *found = pane_at(queue, how, place_of(queue, how, start));
    return *found == start ? found : NULL;
}

void *gx_window_queue_make(gx_window_queue *queue, const gx_window_combine *how, gx_heap *heap, int64_t start) {
    uint32_t count = gx_window_queue_count(queue);
    if (count == CAPACITY_MAX) return NULL;
    if (count == queue->capacity && !resize(queue, how, heap, count ? 2 * count : FIRST_CAPACITY)) return NULL;
    uint32_t place = place_of(queue, how, start);
    for (uint32_t i = queue->end; i != place; i--)
        memcpy(pane_at(queue, how, i), pane_at(queue, how, i - 1), how->size);
    queue->end++;
    int64_t *pane = pane_at(queue, how, place);
    memset(pane, 0, how->size);
    *pane = start;
    return pane;
}

void gx_window_queue_unmake(gx_window_queue *queue, const gx_window_combine *how, int64_t start) {
    uint32_t place = place_of(queue, how, start);
    GX_CHECK(place != queue->end && *(const int64_t *)pane_at(queue, how, place) == start);
    for (queue->end--; place != queue->end; place++)
        memcpy(pane_at(queue, how, place), pane_at(queue, how, place + 1), how->size);
}

static void append(const gx_window_combine *how, void *to, const void *from) {
    how->append(how->user, to, from);
}

/* The back becomes the next front, as yet unworked. */
static void flip(gx_window_queue *queue, const gx_window_combine *how) {
    queue->left = queue->first;
    queue->right = queue->back;
    queue->accumulated = queue->back = queue->closed;
    drop_sum(how, right_sum(queue, how));
    memcpy(right_sum(queue, how), back_sum(queue, how), how->size);
    memset(back_sum(queue, how), 0, how->size);
}

/* Nothing is in front: what is behind, one pane at most, is the front, and holds itself. */
static void begin(gx_window_queue *queue, const gx_window_combine *how) {
    GX_CHECK(queue->closed - queue->first <= 1);
    queue->left = queue->right = queue->accumulated = queue->back = queue->closed;
    drop_sum(how, right_sum(queue, how));
    drop_sum(how, back_sum(queue, how));
}

/* The borders move on by one. */
static void step(gx_window_queue *queue, const gx_window_combine *how) {
    if (queue->first == queue->back) {
        begin(queue, how);
        return;
    }
    if (queue->left == queue->back) flip(queue, how);
    if (queue->left == queue->right) {
        queue->left++, queue->right++, queue->accumulated++;
        return;
    }
    append(how, pane_at(queue, how, queue->left++), right_sum(queue, how));
    uint32_t next = queue->accumulated--;
    if (next != queue->back) append(how, pane_at(queue, how, queue->accumulated), pane_at(queue, how, next));
}

void gx_window_queue_close(gx_window_queue *queue, const gx_window_combine *how) {
    GX_CHECK(queue->closed != queue->end);
    const void *pane = pane_at(queue, how, queue->closed++);
    if (!how->append) return;
    append(how, back_sum(queue, how), pane);
    step(queue, how);
}

void gx_window_queue_drop(gx_window_queue *queue, const gx_window_combine *how, gx_heap *heap) {
    GX_CHECK(queue->first != queue->closed);
    if (how->drop) how->drop(how->user, pane_at(queue, how, queue->first));
    queue->first++;
    if (how->append) step(queue, how);
    uint32_t capacity = queue->capacity;
    if (capacity > FIRST_CAPACITY && gx_window_queue_count(queue) < capacity / 8)
        (void)resize(queue, how, heap, capacity / 4); /* too much is no error */
}

void gx_window_queue_read(const gx_window_queue *queue, const gx_window_combine *how, void *to) {
    if (!how->append || queue->first == queue->closed) return;
    if (queue->first != queue->back) append(how, to, pane_at(queue, how, queue->first));
    append(how, to, back_sum(queue, how));
}

const char *gx_window_queue_flaw(const gx_window_queue *queue, const gx_window_combine *how) {
    uint32_t count = gx_window_queue_count(queue), closed = gx_window_queue_closed(queue);
    if (count > queue->capacity) return "there are more panes than room";
    if (closed > count) return "more panes are closed than there are";
    for (uint32_t i = 1; i < count; i++)
        if (gx_window_queue_start(queue, how, i - 1) >= gx_window_queue_start(queue, how, i))
            return "panes are not in order";
    if (!how->append) return NULL;
    uint32_t left = queue->left - queue->first, right = queue->right - queue->first,
             accumulated = queue->accumulated - queue->first, back = queue->back - queue->first;
    if (left > right || right > accumulated || accumulated > back || back > closed) return "borders are not in order";
    if (right - left != accumulated - right) return "what is left to do is not as much on both sides";
    return closed && !back ? "there is a back and no front" : NULL;
}
