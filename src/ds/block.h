/* Reference-counted blocks of any size, for bodies and tuples that are too large for a batch or outlive it.
 *
 * What:    a pool a thread, with free lists by power of two. A block may be released on any thread: the last release on
 *          another thread pushes it to the owner's return stack (a Treiber stack that is only ever emptied whole,
 *          hence no ABA), which the owner empties when a free list runs dry.
 * Threads: gx_block_take belongs to the pool's owner; gx_block_ref and gx_block_release to whoever holds a reference.
 * Owner:   the pool frees every block with itself: all threads must have stopped.
 *
 * Orderings: R1/A1 the push to the return stack releases, the owner's exchange acquires. The last decrement is
 *            acq_rel, so that the releasing thread's reads are before the reuse.
 */
#ifndef GX_DS_BLOCK_H
#define GX_DS_BLOCK_H

#include "base/alloc.h"

enum { GX_BLOCK_CLASSES = 25, GX_BLOCK_SMALLEST = 7, GX_BLOCK_SMALL = 1 << GX_BLOCK_SMALLEST }; /* to 2 GiB */

typedef struct gx_block {
    gx_atomic32 refs;
    uint32_t class_;
    struct gx_blocks *pool;
    struct gx_block *next;
    struct gx_block *all; /* every block of the pool, for its end */
    alignas(16) unsigned char bytes[];
} gx_block;

typedef struct gx_blocks {
    gx_heap *heap;
    gx_block *free[GX_BLOCK_CLASSES];
    gx_block *all;
    gx_atomic64 used_bytes; /* taken and not yet back; by any thread */
    alignas(GX_APART) _Atomic(gx_block *) returned;
} gx_blocks;

void gx_blocks_init(gx_blocks *pool, gx_heap *heap);
void gx_blocks_fini(gx_blocks *pool);

/* How many bytes a block of this class takes. */
GX_INLINE size_t gx_block_size(const gx_block *block) {
    return (size_t)1 << (block->class_ + GX_BLOCK_SMALLEST);
}

/* It was taken out of its list, and has this size. */
GX_INLINE gx_block *gx_block_begin(gx_blocks *pool, gx_block *block, size_t size) {
    gx_store_relaxed(&block->refs, 1);
    gx_add_relaxed(&pool->used_bytes, size);
    return block;
}

/* A block with room for `size` bytes and one reference; NULL when memory is out, or above 2 GiB. */
gx_block *gx_block_take(gx_blocks *pool, size_t size);

/* The same for few bytes: it has GX_BLOCK_SMALL. */
GX_INLINE gx_block *gx_block_take_small(gx_blocks *pool) {
    gx_block *block = pool->free[0];
    if (GX_UNLIKELY(!block)) return gx_block_take(pool, 1);
    pool->free[0] = block->next;
    return gx_block_begin(pool, block, GX_BLOCK_SMALL);
}
void gx_block_ref(gx_block *block, uint32_t count);

/* `here`: the calling thread's own pool, or NULL. */
void gx_block_release(gx_block *block, gx_blocks *here);

/* What of the pool does not hold, in words, or NULL; no other thread releases meanwhile. */
const char *gx_blocks_flaw(const gx_blocks *pool);

#endif
