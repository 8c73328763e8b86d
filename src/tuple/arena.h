/* Memory for the lists, maps and texts of one round: taken piece by piece, and given back all at once.
 * Threads: as its user. Owner: what is taken lasts until the arena is reset. */
#ifndef GX_TUPLE_ARENA_H
#define GX_TUPLE_ARENA_H

#include "base/alloc.h"

#include <gale/value.h>

typedef struct gx_arena_block gx_arena_block;
typedef struct gx_arena {
    gx_heap *heap;
    gx_arena_block *blocks;
    size_t used, room; /* in the first one */
    size_t bytes;      /* of all */
} gx_arena;

void gx_arena_reset(gx_arena *arena); /* keeps one block */
void gx_arena_fini(gx_arena *arena);

/* Values, not zeroed; NULL when memory is out, or the arena would have more than `most` bytes. */
gale_value *gx_arena_take(gx_arena *arena, size_t count, size_t most);

/* The same for bytes, aligned as values are. */
GX_INLINE void *gx_arena_bytes(gx_arena *arena, size_t size, size_t most) {
    return gx_arena_take(arena, (size + sizeof(gale_value) - 1) / sizeof(gale_value), most);
}

#endif
