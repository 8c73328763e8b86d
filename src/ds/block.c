#include "ds/block.h"

#include "base/assert.h"
#include "base/bits.h"

void gx_blocks_init(gx_blocks *pool, gx_heap *heap) {
    memset(pool, 0, sizeof *pool);
    pool->heap = heap;
}

void gx_blocks_fini(gx_blocks *pool) {
    while (pool->all) {
        gx_block *block = pool->all;
        pool->all = block->all;
        gx_free(pool->heap, GX_TAG_BLOCK, block, sizeof *block + gx_block_size(block));
    }
}

static void keep(gx_blocks *pool, gx_block *block) {
    GX_CHECK(gx_load_relaxed(&block->refs) == 0);
    GX_CHECK(block->pool == pool && block->class_ < GX_BLOCK_CLASSES);
    block->next = pool->free[block->class_];
    pool->free[block->class_] = block;
}

static void collect_returned(gx_blocks *pool) {
    gx_block *block = atomic_exchange_explicit(&pool->returned, NULL, memory_order_acquire); /* A1 */
    while (block) {
        gx_block *next = block->next;
        keep(pool, block);
        block = next;
    }
}

static gx_block *make(gx_blocks *pool, unsigned class_) {
    GX_CHECK(class_ < GX_BLOCK_CLASSES);
    gx_block *block = gx_alloc(pool->heap, GX_TAG_BLOCK, sizeof *block + ((size_t)1 << (class_ + GX_BLOCK_SMALLEST)));
    if (!block) return NULL;
    block->class_ = class_;
    block->pool = pool;
    block->all = pool->all;
    pool->all = block;
    return block;
}

gx_block *gx_block_take(gx_blocks *pool, size_t size) {
    if (size > (size_t)1 << (GX_BLOCK_SMALLEST + GX_BLOCK_CLASSES - 1)) return NULL;
    unsigned class_ = size <= GX_BLOCK_SMALL ? 0 : gx_log2(gx_power_above(size)) - GX_BLOCK_SMALLEST;
    if (!pool->free[class_]) collect_returned(pool);
    gx_block *block = pool->free[class_];
    if (block)
        pool->free[class_] = block->next;
    else
        block = make(pool, class_);
    return block ? gx_block_begin(pool, block, gx_block_size(block)) : NULL;
}

void gx_block_ref(gx_block *block, uint32_t count) {
    GX_CHECK(gx_load_relaxed(&block->refs) > 0);
    gx_add_relaxed(&block->refs, count);
}

void gx_block_release(gx_block *block, gx_blocks *here) {
    uint32_t before = gx_sub_acq_rel(&block->refs, 1);
    GX_ASSERT(before != 0);
    if (before != 1) return;
    gx_blocks *pool = block->pool;
    gx_add_relaxed(&pool->used_bytes, (uint64_t)0 - gx_block_size(block));
    if (pool == here) {
        keep(pool, block);
        return;
    }
    gx_block *top = gx_load_relaxed(&pool->returned);
    do block->next = top;
    while (!gx_cas_release(&pool->returned, &top, block)); /* R1 */
}

/* How many blocks lie in the lists of free ones, each in its own and without a reference; SIZE_MAX: one does not belong. */
static size_t count_free(const gx_blocks *pool, size_t most) {
    size_t count = 0;
    const gx_block *returned = gx_load_acquire(&((gx_blocks *)pool)->returned);
    for (uint32_t class_ = 0; class_ <= GX_BLOCK_CLASSES; class_++) {
        const gx_block *block = class_ < GX_BLOCK_CLASSES ? pool->free[class_] : returned;
        for (; block; block = block->next) {
            bool belongs = class_ == GX_BLOCK_CLASSES || block->class_ == class_;
            if (!belongs || block->pool != pool || gx_load_relaxed(&((gx_block *)block)->refs) || count++ > most)
                return SIZE_MAX;
        }
    }
    return count;
}

const char *gx_blocks_flaw(const gx_blocks *pool) {
    uint64_t bytes = 0;
    size_t idle = 0, all = 0;
    for (const gx_block *block = pool->all; block; block = block->all, all++)
        if (gx_load_relaxed(&((gx_block *)block)->refs))
            bytes += gx_block_size(block);
        else
            idle++;
    if (bytes != gx_load_relaxed(&((gx_blocks *)pool)->used_bytes)) return "blocks in use are not as large as is said";
    return count_free(pool, all) == idle ? NULL : "a block is neither in use nor free, or both";
}
