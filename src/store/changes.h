/* What was gathered for a commit, in the order of keys: in this order a tree of pages is changed page by page.
 * Threads: one at a time. Owner: the store's. */
#ifndef GX_STORE_CHANGES_H
#define GX_STORE_CHANGES_H

#include "base/alloc.h"

typedef struct gx_change {
    uint64_t begin; /* of its key's first eight bytes, as a number: most comparisons end here */
    size_t at;      /* where its key is in `bytes`; the value stands behind it */
    uint32_t key_size, value_size;
    bool removes;
} gx_change;

typedef struct gx_store_changes {
    gx_heap *heap;
    gx_change *list;
    size_t count, capacity;
    char *bytes;
    size_t used, room;
} gx_store_changes;

void gx_store_changes_init(gx_store_changes *changes, gx_heap *heap);
void gx_store_changes_fini(gx_store_changes *changes);

/* `value` NULL: it removes. False when memory is out; nothing was added then. */
bool gx_store_changes_add(gx_store_changes *changes, gale_str key, const gale_str *value);

/* Sorts by key; changes of one key stay in their order. */
void gx_store_changes_sort(gx_store_changes *changes);

/* Forgets all; keeps the memory. */
void gx_store_changes_clear(gx_store_changes *changes);

GX_INLINE gale_str gx_change_key(const gx_store_changes *changes, const gx_change *change) {
    return (gale_str){ changes->bytes + change->at, change->key_size };
}

GX_INLINE gale_str gx_change_value(const gx_store_changes *changes, const gx_change *change) {
    return (gale_str){ changes->bytes + change->at + change->key_size, change->value_size };
}

#endif
