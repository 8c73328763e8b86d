/* Keys of the rows behind the one in execution, whose entries in a map are fetched into the cache before they are looked
 * up. A map beyond the cache of a core costs a wait for memory at each of its loads; fetched early, the waits of several
 * rows overlap. A map within the cache gains nothing and is left alone.
 *
 * Threads: the task's. Owner: a value of the task; zeros are a valid one.
 * Limits:  keys of at most 16 bytes (tuple/key.h); others are not fetched. */
#ifndef GX_KIT_AHEAD_H
#define GX_KIT_AHEAD_H

#include "base/alloc.h"
#include "ds/bytes_map.h"

#include <gale/component.h>

enum { GX_AHEAD_MAX = 4 };

typedef struct gx_ahead {
    bool on;
    uint32_t tags[GX_AHEAD_MAX + 1]; /* by distance: of keys that are being fetched; 0: none */
} gx_ahead;

/* To be called when keys come or go: fetches from now on if the task's memory is twice as large as the cache. */
void gx_ahead_decide(gx_ahead *ahead, const gx_heap *heap);

/* See gx_ahead_step. */
GX_NOINLINE void gx_ahead_fetch(gx_ahead *ahead, const gx_bytes_map *map, gale_collector *out, uint32_t place,
                                uint32_t distance);

/* Once a row, before its key is looked up. The key is the value at `place`. The index of the map is fetched for the row at
 * `distance`, 2 to GX_AHEAD_MAX, and the entry for the row before that. */
GX_INLINE void gx_ahead_step(gx_ahead *ahead, const gx_bytes_map *map, gale_collector *out, uint32_t place,
                             uint32_t distance) {
    if (GX_UNLIKELY(ahead->on)) gx_ahead_fetch(ahead, map, out, place, distance);
}

/* What the map has, probably, for the row at a smaller distance; NULL: it is not known. */
GX_INLINE void *gx_ahead_value(const gx_ahead *ahead, const gx_bytes_map *map, uint32_t distance) {
    uint32_t tag = ahead->tags[distance];
    return tag ? gx_bytes_map_fetched(map, tag) : NULL;
}

#endif
