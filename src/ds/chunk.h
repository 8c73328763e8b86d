/* A pool of equal chunks, for queues inside one executor.
 *
 * Threads: one. Owner: the pool takes memory from the heap when none of its chunks is free, and keeps what comes
 *          back: in the steady state it allocates nothing.
 * Limits:  none of its own; who queues, bounds. */
#ifndef GX_DS_CHUNK_H
#define GX_DS_CHUNK_H

#include "base/alloc.h"

enum { GX_CHUNK_SIZE = 16384, GX_CHUNK_ROOM = GX_CHUNK_SIZE - 16 };

typedef struct gx_chunk {
    struct gx_chunk *next;
    uint64_t end; /* how many of the bytes are filled */
    unsigned char bytes[GX_CHUNK_ROOM];
} gx_chunk;

typedef struct gx_chunks {
    gx_heap *heap;
    gx_chunk *free;
    size_t free_count;
    gx_atomic64 used; /* chunks that are in queues now */
} gx_chunks;

void gx_chunks_init(gx_chunks *pool, gx_heap *heap);

/* Frees what has come back. Every queue must have been emptied. */
void gx_chunks_fini(gx_chunks *pool);

/* Makes sure that `count` chunks can be taken without asking the heap. False when memory is out. */
bool gx_chunks_ensure(gx_chunks *pool, size_t count);

/* NULL when memory is out. */
gx_chunk *gx_chunks_take(gx_chunks *pool);
void gx_chunks_give(gx_chunks *pool, gx_chunk *chunk);

/* What of the pool does not hold, in words; NULL: it is whole. For tests and checks, as are the other flaws of this floor. */
const char *gx_chunks_flaw(const gx_chunks *pool);

#endif
