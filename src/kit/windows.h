/* Stretches of time that something is counted in, in the order of their ends, the shorter first of those that end
 * together: what has ended by a time is a prefix. Threads: one at a time. Owner: memory comes from a gx_heap. Limits: a
 * pointer to a window is valid until the next call that is not const. */
#ifndef GX_KIT_WINDOWS_H
#define GX_KIT_WINDOWS_H

#include "base/alloc.h"
#include "kit/recall.h"

typedef struct gx_window {
    int64_t end;    /* the first second behind it */
    int64_t length; /* in seconds */
    int64_t count;
    int64_t told; /* what was last said of it */
} gx_window;

typedef struct gx_windows {
    gx_heap *heap;
    gx_window *items;
    size_t count;
    size_t capacity;
} gx_windows;

/* The window, made with count 0 if it was not there. NULL when memory is out: nothing changed. */
gx_window *gx_windows_at(gx_windows *windows, int64_t end, int64_t length);

/* How many, from the first on, have ended by `time`. */
size_t gx_windows_ended(const gx_windows *windows, int64_t time);

/* Drops the first `count`. */
void gx_windows_drop(gx_windows *windows, size_t count);

void gx_windows_fini(gx_windows *windows);

/* Saves them as the last records, and brings them back: added to those that are there, or read and left (`takes` false).
 * GALE_DAMAGED with a report, GALE_NO_MEMORY. */
int gx_windows_save(const gx_windows *windows, gale_saver *to);
int gx_windows_restore(gx_windows *windows, gx_recall *recall, bool takes);

#endif
