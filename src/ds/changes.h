/* Changes of a table of keys and values: puts and removes, one behind the other in one piece of memory, in the order in
 * which they were noted. The later of two of one key counts.
 *
 * What:    each is a head of 16 bytes, the key, and the value, every part at a multiple of 8. A value may be written in
 *          place: gx_changes_begin, then whatever is appended to `bytes`, then gx_changes_end.
 * Threads: one at a time. Owner: memory comes from a gx_heap. The first failure to get some sticks (`bytes.failed`).
 * Limits:  keys and values below 4 GiB. */
#ifndef GX_DS_CHANGES_H
#define GX_DS_CHANGES_H

#include "base/buf.h"
#include "base/str.h"

typedef struct gx_changes {
    gx_buf bytes;
    size_t open;  /* where the head of a put that is being written stands */
    size_t count; /* of changes */
} gx_changes;

#define GX_CHANGES_INIT(heap_)                                                                                         \
    { GX_BUF_INIT(heap_), 0, 0 }

typedef struct gx_change {
    gale_str key;
    gale_str value;
    bool remove;
} gx_change;

void gx_changes_fini(gx_changes *changes);

/* Forgets all, and keeps the memory. */
void gx_changes_reset(gx_changes *changes);

void gx_changes_put(gx_changes *changes, gale_str key, gale_str value);
void gx_changes_remove(gx_changes *changes, gale_str key);

/* A put whose value is what is appended to `changes->bytes` until the end. */
void gx_changes_begin(gx_changes *changes, gale_str key);
void gx_changes_end(gx_changes *changes);

/* The bytes of the value so far. */
size_t gx_changes_open_size(const gx_changes *changes);

/* The change that begins at `*at` (0: the first), borrowed until the next one is noted; moves `*at` on. False at the
 * end. */
bool gx_changes_next(const gx_changes *changes, size_t *at, gx_change *ret_change);

#endif
