/* A FIFO of entries whose memory never moves: chunks in a list.
 *
 * What:    an entry begins with its own length as u32 (a multiple of 8, at most GX_FIFO_ENTRY_MAX). An entry stays
 *          where it is until it is popped, also while others are pushed: it can be worked on in place.
 * Threads: one. Owner: chunks belong to the pool that is handed in, always the same one.
 */
#ifndef GX_DS_FIFO_H
#define GX_DS_FIFO_H

#include "base/bits.h"
#include "ds/chunk.h"

enum { GX_FIFO_ENTRY_MAX = 8192 };

typedef struct gx_fifo {
    gx_chunk *head, *tail;
    uint64_t head_at; /* in the head chunk */
    uint64_t bytes;   /* of all entries */
    uint64_t count;
} gx_fifo;

/* Slow path: a new chunk at the tail. False when memory is out. */
bool gx_fifo_extend(gx_fifo *fifo, gx_chunks *pool);

/* Gives all chunks back. */
void gx_fifo_clear(gx_fifo *fifo, gx_chunks *pool);

/* Appends an entry and returns its place; the caller fills it at once, the length first. NULL when memory is out. */
GX_INLINE void *gx_fifo_push(gx_fifo *fifo, gx_chunks *pool, uint32_t length) {
    if (GX_UNLIKELY(!fifo->tail || fifo->tail->end + length > GX_CHUNK_ROOM)) {
        if (!gx_fifo_extend(fifo, pool)) return NULL;
    }
    void *entry = fifo->tail->bytes + fifo->tail->end;
    fifo->tail->end += length;
    fifo->bytes += length;
    fifo->count++;
    return entry;
}

/* The oldest entry, or NULL. */
GX_INLINE void *gx_fifo_front(const gx_fifo *fifo) {
    return fifo->count ? fifo->head->bytes + fifo->head_at : NULL;
}

/* A walk over the entries, oldest first, that takes none away: begins with gx_fifo_walk, ends with NULL. Nothing is
 * pushed or popped meanwhile. */
typedef struct gx_fifo_cursor {
    const gx_chunk *chunk;
    uint64_t at;
    uint64_t left;
} gx_fifo_cursor;

GX_INLINE gx_fifo_cursor gx_fifo_walk(const gx_fifo *fifo) {
    return (gx_fifo_cursor){ fifo->head, fifo->head_at, fifo->count };
}

GX_INLINE const void *gx_fifo_next(gx_fifo_cursor *cursor) {
    if (!cursor->left) return NULL;
    if (cursor->at == cursor->chunk->end) {
        cursor->chunk = cursor->chunk->next;
        cursor->at = 0;
    }
    const void *entry = cursor->chunk->bytes + cursor->at;
    cursor->at += gx_load32(entry);
    cursor->left--;
    return entry;
}

/* Removes the oldest entry, whose length is given. */
GX_INLINE void gx_fifo_pop(gx_fifo *fifo, gx_chunks *pool, uint32_t length) {
    fifo->head_at += length;
    fifo->bytes -= length;
    fifo->count--;
    if (GX_LIKELY(fifo->head_at < fifo->head->end)) return;
    gx_chunk *done = fifo->head;
    fifo->head_at = 0;
    if (done == fifo->tail) {
        done->end = 0; /* the last chunk is kept: a queue that is filled and emptied touches no pool */
        return;
    }
    fifo->head = done->next;
    gx_chunks_give(pool, done);
}

#endif
