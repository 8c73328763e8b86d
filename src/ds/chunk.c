#include "ds/chunk.h"

#include "base/assert.h"

#include <string.h>

static_assert(sizeof(gx_chunk) == GX_CHUNK_SIZE, "a chunk is as large as its name says");

void gx_chunks_init(gx_chunks *pool, gx_heap *heap) {
    memset(pool, 0, sizeof *pool);
    pool->heap = heap;
}

void gx_chunks_fini(gx_chunks *pool) {
    GX_CHECK(gx_load_relaxed(&pool->used) == 0);
    while (pool->free) {
        gx_chunk *chunk = pool->free;
        pool->free = chunk->next;
        gx_free(pool->heap, GX_TAG_QUEUE, chunk, sizeof *chunk);
    }
    pool->free_count = 0;
}

bool gx_chunks_ensure(gx_chunks *pool, size_t count) {
    while (pool->free_count < count) {
        gx_chunk *chunk = gx_alloc(pool->heap, GX_TAG_QUEUE, sizeof *chunk);
        if (!chunk) return false;
        chunk->next = pool->free;
        pool->free = chunk;
        pool->free_count++;
    }
    return true;
}

gx_chunk *gx_chunks_take(gx_chunks *pool) {
    if (!pool->free && !gx_chunks_ensure(pool, 1)) return NULL;
    gx_chunk *chunk = pool->free;
    pool->free = chunk->next;
    pool->free_count--;
    chunk->next = NULL;
    chunk->end = 0;
    gx_count(&pool->used, 1);
    return chunk;
}

void gx_chunks_give(gx_chunks *pool, gx_chunk *chunk) {
    GX_CHECK(chunk != NULL);
    GX_CHECK(gx_load_relaxed(&pool->used) > 0);
    chunk->next = pool->free;
    pool->free = chunk;
    pool->free_count++;
    gx_count(&pool->used, (uint64_t)-1);
}

const char *gx_chunks_flaw(const gx_chunks *pool) {
    size_t count = 0;
    for (const gx_chunk *chunk = pool->free; chunk && count <= pool->free_count; chunk = chunk->next) count++;
    return count == pool->free_count ? NULL : "the list of free chunks is not as long as it says";
}
