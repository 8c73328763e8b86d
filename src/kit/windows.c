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

int gx_windows_save(const gx_windows *windows, gale_saver *to) {
    int rc = GALE_OK;
    for (size_t i = 0; rc >= 0 && i < windows->count; i++) {
        const gx_window *window = &windows->items[i];
        const gale_value record[4] = { gale_i64(window->end), gale_i64(window->length), gale_i64(window->count),
                                       gale_i64(window->told) };
        rc = gale_save(to, record, 4);
    }
    return rc;
}

/* An end and a beginning that are times, and numbers that can be added to. */
static bool is_window(const gale_value *v) {
    static const int64_t most = INT64_MAX / 4;
    return v[0].as.i64 > -most && v[0].as.i64 < most && v[1].as.i64 > 0 && v[1].as.i64 < most && v[2].as.i64 < most &&
           v[3].as.i64 < most;
}

int gx_windows_restore(gx_windows *windows, gx_recall *recall, bool takes) {
    const gale_value *v;
    int rc;
    while ((rc = gx_recall_next(recall, "innn", &v)) > 0) {
        if (!is_window(v)) return gx_recall_refuse(recall, "has a window that is none");
        if (!takes) continue;
        gx_window *window = gx_windows_at(windows, v[0].as.i64, v[1].as.i64);
        if (!window) return GALE_NO_MEMORY;
        window->count += v[2].as.i64;
        window->told += v[3].as.i64;
    }
    return rc;
}
