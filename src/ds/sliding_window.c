#include "ds/sliding_window.h"

#include "base/assert.h"

struct gx_sliding_window {
    gx_slot_counter *counter;
    int64_t slots;
    int64_t head; /* being counted into */
    int64_t tail; /* the oldest: the next to be counted into */
    gx_heap *heap;
};

int gx_sliding_window_new(gx_heap *heap, int64_t slots, uint64_t seed, gx_sliding_window **ret_window,
                          gale_error *error) {
    if (slots < 2)
        return gale_error_set(error, GALE_INVALID, "a sliding window needs at least 2 slots, not %lld",
                              (long long)slots);
    gx_sliding_window *window = gx_alloc(heap, GX_TAG_OTHER, sizeof *window);
    if (!window) return gale_error_set(error, GALE_NO_MEMORY, "no memory for a sliding window");
    *window = (gx_sliding_window){ NULL, slots, 0, 1, heap };
    int failed = gx_slot_counter_new(heap, slots, seed, &window->counter, error);
    if (failed)
        gx_sliding_window_free(window);
    else
        *ret_window = window;
    return failed;
}

void gx_sliding_window_free(gx_sliding_window *window) {
    if (!window) return;
    gx_slot_counter_free(window->counter);
    gx_free(window->heap, GX_TAG_OTHER, window, sizeof *window);
}

int gx_sliding_window_increment(gx_sliding_window *window, gale_str object) {
    GX_CHECK(window->head >= 0 && window->head < window->slots);
    GX_CHECK(window->tail == (window->head + 1) % window->slots);
    return gx_slot_counter_increment(window->counter, object, window->head);
}

void gx_sliding_window_advance(gx_sliding_window *window) {
    gx_slot_counter_wipe_zeros(window->counter);
    int failed = gx_slot_counter_wipe_slot(window->counter, window->tail);
    GX_ASSERT(!failed); /* the tail is always in range */
    window->head = window->tail;
    window->tail = (window->tail + 1) % window->slots;
}

const gx_bytes_map *gx_sliding_window_map(const gx_sliding_window *window) {
    return gx_slot_counter_map(window->counter);
}

size_t gx_sliding_window_size(const gx_sliding_window *window) {
    return gx_slot_counter_size(window->counter);
}

int64_t gx_sliding_window_at(const gx_sliding_window *window, size_t index, gale_str *ret_object) {
    return gx_slot_counter_at(window->counter, index, ret_object);
}

static int64_t slot_of(const gx_sliding_window *window, int64_t age) {
    return age < 0 || age >= window->slots ? -1 : (window->head - age + window->slots) % window->slots;
}

gale_str gx_sliding_window_object(const gx_sliding_window *window, size_t index) {
    gale_str object;
    (void)gx_slot_counter_at(window->counter, index, &object);
    return object;
}

int64_t gx_sliding_window_count(const gx_sliding_window *window, size_t index, int64_t age) {
    return gx_slot_counter_slot_at(window->counter, index, slot_of(window, age));
}

int gx_sliding_window_add(gx_sliding_window *window, gale_str object, int64_t age, int64_t count) {
    return gx_slot_counter_add(window->counter, object, slot_of(window, age), count);
}
