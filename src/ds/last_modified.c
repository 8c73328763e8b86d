#include "ds/last_modified.h"

/* As many as a slot counter has slots: the two go together. */
#define MOMENTS_MAX ((int64_t)1 << 24)
#define SECOND INT64_C(1000000000)

struct gx_last_modified {
    int64_t *moments;
    size_t capacity;
    size_t oldest;
    size_t size;
    gx_heap *heap;
};

int gx_last_modified_new(gx_heap *heap, int64_t n, int64_t now, gx_last_modified **ret_tracker, gale_error *error) {
    if (n < 1)
        return gale_error_set(error, GALE_INVALID, "a time tracker needs at least 1 moment, not %lld", (long long)n);
    if (n > MOMENTS_MAX)
        return gale_error_set(error, GALE_TOO_LARGE, "a time tracker has at most %lld moments, not %lld",
                              (long long)MOMENTS_MAX, (long long)n);
    gx_last_modified *tracker = gx_alloc(heap, GX_TAG_OTHER, sizeof *tracker);
    int64_t *moments = tracker ? gx_alloc_array(heap, GX_TAG_OTHER, (size_t)n, sizeof *moments) : NULL;
    if (!moments) {
        gx_free(heap, GX_TAG_OTHER, tracker, sizeof *tracker);
        return gale_error_set(error, GALE_NO_MEMORY, "no memory for a time tracker");
    }
    for (int64_t i = 0; i < n; i++) moments[i] = now;
    *tracker = (gx_last_modified){ moments, (size_t)n, 0, (size_t)n, heap };
    *ret_tracker = tracker;
    return GALE_OK;
}

void gx_last_modified_free(gx_last_modified *tracker) {
    if (!tracker) return;
    gx_free(tracker->heap, GX_TAG_OTHER, tracker->moments, tracker->capacity * sizeof *tracker->moments);
    gx_free(tracker->heap, GX_TAG_OTHER, tracker, sizeof *tracker);
}

static int64_t remove_oldest(gx_last_modified *tracker) {
    int64_t moment = tracker->moments[tracker->oldest];
    tracker->oldest = (tracker->oldest + 1) % tracker->capacity;
    tracker->size--;
    return moment;
}

int64_t gx_last_modified_seconds_since_oldest(gx_last_modified *tracker, int64_t now) {
    if (tracker->size == 0) return 0;
    int64_t nanoseconds = now - remove_oldest(tracker) + SECOND / 2, seconds = nanoseconds / SECOND;
    return seconds - (nanoseconds < seconds * SECOND); /* a division cuts towards zero */
}

void gx_last_modified_mark(gx_last_modified *tracker, int64_t now) {
    if (tracker->size == tracker->capacity) remove_oldest(tracker);
    tracker->moments[(tracker->oldest + tracker->size) % tracker->capacity] = now;
    tracker->size++;
}

size_t gx_last_modified_size(const gx_last_modified *tracker) {
    return tracker->size;
}

int64_t gx_last_modified_at(const gx_last_modified *tracker, size_t index) {
    return tracker->moments[(tracker->oldest + index) % tracker->capacity];
}

void gx_last_modified_clear(gx_last_modified *tracker) {
    tracker->size = tracker->oldest = 0;
}
