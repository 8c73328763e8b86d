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
    unsigned char *front;     /* the oldest entry */
    unsigned char *front_end; /* of the entries in its chunk; of the chunk, while that is the last */
    unsigned char *back;      /* where the next entry goes */
    unsigned char *back_end;  /* of its chunk */
    uint64_t bytes;           /* of all entries */
    uint64_t count;
    gx_chunk *head, *tail;
} gx_fifo;

/* Slow path: a new chunk at the tail. False when memory is out. */
bool gx_fifo_extend(gx_fifo *fifo, gx_chunks *pool);

/* Slow path: the chunk that was read to its end goes back, or is used again. */
void gx_fifo_turn(gx_fifo *fifo, gx_chunks *pool);

/* Gives all chunks back. */
void gx_fifo_clear(gx_fifo *fifo, gx_chunks *pool);

/* Can an entry of `length` bytes be written at `back`, without a new chunk? */
GX_INLINE bool gx_fifo_has_room(const gx_fifo *fifo, uint32_t length) {
    return (uint64_t)(fifo->back_end - fifo->back) >= length;
}

/* What was written at `back` is an entry of this length. */
GX_INLINE void gx_fifo_commit(gx_fifo *fifo, uint32_t length) {
    fifo->back += length;
    fifo->bytes += length;
    fifo->count++;
}

/* Appends an entry and returns its place; the caller fills it at once, the length first. NULL when memory is out. */
GX_INLINE void *gx_fifo_push(gx_fifo *fifo, gx_chunks *pool, uint32_t length) {
    if (GX_UNLIKELY(!gx_fifo_has_room(fifo, length)) && !gx_fifo_extend(fifo, pool)) return NULL;
    void *entry = fifo->back;
    gx_fifo_commit(fifo, length);
    return entry;
}

/* The oldest entry, or NULL. */
GX_INLINE void *gx_fifo_front(const gx_fifo *fifo) {
    return fifo->front != fifo->back ? fifo->front : NULL;
}

/* A walk over the entries, oldest first, that takes none away: begins with gx_fifo_walk, ends with NULL. Nothing is
 * pushed or popped meanwhile. */
typedef struct gx_fifo_cursor {
    const gx_chunk *chunk, *last;
    const unsigned char *at;
    uint64_t left;
} gx_fifo_cursor;

GX_INLINE gx_fifo_cursor gx_fifo_walk(const gx_fifo *fifo) {
    return (gx_fifo_cursor){ fifo->head, fifo->tail, fifo->front, fifo->count };
}

GX_INLINE const void *gx_fifo_next(gx_fifo_cursor *cursor) {
    if (!cursor->left) return NULL;
    if (cursor->chunk != cursor->last && cursor->at == cursor->chunk->bytes + cursor->chunk->end) {
        cursor->chunk = cursor->chunk->next;
        cursor->at = cursor->chunk->bytes;
    }
    const void *entry = cursor->at;
    cursor->at += gx_load32(entry);
    cursor->left--;
    return entry;
}

/* Removes the oldest entry, whose length is given, but for the sums: gx_fifo_popped takes those of many off at once.
 * Returns the one that is the oldest then, or NULL. */
GX_INLINE void *gx_fifo_step(gx_fifo *fifo, gx_chunks *pool, uint32_t length) {
    unsigned char *front = fifo->front + length;
    fifo->front = front;
    if (GX_LIKELY(front != fifo->back && front != fifo->front_end)) return front;
    gx_fifo_turn(fifo, pool);
    return gx_fifo_front(fifo);
}

GX_INLINE void gx_fifo_popped(gx_fifo *fifo, uint64_t bytes, uint64_t count) {
    fifo->bytes -= bytes;
    fifo->count -= count;
}

GX_INLINE void *gx_fifo_pop(gx_fifo *fifo, gx_chunks *pool, uint32_t length) {
    gx_fifo_popped(fifo, length, 1);
    return gx_fifo_step(fifo, pool, length);
}

/* How many chunks it has from its pool; what of it does not hold, in words, or NULL. */
size_t gx_fifo_chunks(const gx_fifo *fifo);
const char *gx_fifo_flaw(const gx_fifo *fifo);

#endif
