#include "kit/windows.h"

#include <string.h>

static bool before(const gx_window *window, int64_t end, int64_t length) {
    return window->end != end ? window->end < end : window->length < length;
}

/* The place of the first window that is not before (end, length). */
static size_t place_of(const gx_windows *windows, int64_t end, int64_t length) {
    size_t low = 0, high = windows->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (before(&windows->items[middle], end, length))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

gx_window *gx_windows_at(gx_windows *windows, int64_t end, int64_t length) {
    size_t place = place_of(windows, end, length);
    if (place < windows->count &&
        !before(&(gx_window){ end, length, 0, 0 }, windows->items[place].end, windows->items[place].length))
        return &windows->items[place];
    if (!gx_grow(windows->heap, GX_TAG_OTHER, (void **)&windows->items, &windows->capacity, windows->count + 1,
                 sizeof *windows->items))
        return NULL;
    gx_window *window = &windows->items[place];
    memmove(window + 1, window, (windows->count - place) * sizeof *window);
    *window = (gx_window){ .end = end, .length = length };
    windows->count++;
    return window;
}

size_t gx_windows_ended(const gx_windows *windows, int64_t time) {
    return time == INT64_MAX ? windows->count : place_of(windows, time + 1, INT64_MIN);
}

void gx_windows_drop(gx_windows *windows, size_t count) {
    if (!count) return;
    windows->count -= count;
    memmove(windows->items, windows->items + count, windows->count * sizeof *windows->items);
}

void gx_windows_fini(gx_windows *windows) {
    gx_free(windows->heap, GX_TAG_OTHER, windows->items, windows->capacity * sizeof *windows->items);
    *windows = (gx_windows){ .heap = windows->heap };
}
