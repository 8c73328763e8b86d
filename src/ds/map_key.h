/* A key of bytes as it lies in a map's entry: up to 20 bytes inside, more in a block of their own.
 * Threads: one at a time. Owner: the block comes from a gx_heap and goes back with gx_map_key_drop. */
#ifndef GX_DS_MAP_KEY_H
#define GX_DS_MAP_KEY_H

#include "base/alloc.h"
#include "base/bits.h"

enum { GX_MAP_KEY_INSIDE = 20 };

typedef struct gx_map_key {
    uint32_t size;
    char inside[4]; /* of GX_MAP_KEY_INSIDE bytes, which go on in `more` */
    union {
        char *block; /* when size > GX_MAP_KEY_INSIDE */
        char inside[GX_MAP_KEY_INSIDE - 4];
    } more;
} gx_map_key;

static_assert(sizeof(gx_map_key) == 24, "inside is all that there is");

/* A key that somebody asks for. */
typedef struct gx_map_bytes {
    const void *data;
    size_t size;
} gx_map_bytes;

GX_INLINE const char *gx_map_key_data(const gx_map_key *key) {
    return key->size > GX_MAP_KEY_INSIDE ? key->more.block : (const char *)key + offsetof(gx_map_key, inside);
}

GX_INLINE bool gx_map_key_is(const gx_map_key *key, const gx_map_bytes *bytes) {
    return key->size == bytes->size && (!bytes->size || memcmp(gx_map_key_data(key), bytes->data, bytes->size) == 0);
}

/* False when memory is out. The size has been checked. */
GX_INLINE bool gx_map_key_make(gx_heap *heap, const gx_map_bytes *bytes, gx_map_key *ret_key) {
    gx_map_key made = { .size = (uint32_t)bytes->size };
    char *to = (char *)&made + offsetof(gx_map_key, inside);
    if (bytes->size > GX_MAP_KEY_INSIDE) {
        to = made.more.block = (char *)gx_alloc(heap, GX_TAG_OTHER, bytes->size);
        if (!to) return false;
    }
    if (bytes->size) memcpy(to, bytes->data, bytes->size);
    *ret_key = made;
    return true;
}

GX_INLINE void gx_map_key_drop(gx_heap *heap, const gx_map_key *key) {
    if (key->size > GX_MAP_KEY_INSIDE) gx_free(heap, GX_TAG_OTHER, key->more.block, key->size);
}

#endif
