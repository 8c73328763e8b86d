#include "ds/fifo.h"

#include "base/assert.h"

#include <string.h>

static unsigned char *room_end(gx_chunk *chunk) {
    return chunk->bytes + GX_CHUNK_ROOM;
}

static void close_tail(gx_fifo *fifo, gx_chunk *next) {
    GX_CHECK(fifo->back >= fifo->tail->bytes && fifo->back <= fifo->back_end);
    fifo->tail->end = (uint64_t)(fifo->back - fifo->tail->bytes);
    fifo->tail->next = next;
    if (fifo->tail == fifo->head) fifo->front_end = fifo->back;
}

bool gx_fifo_extend(gx_fifo *fifo, gx_chunks *pool) {
    GX_CHECK(fifo->back == fifo->back_end || fifo->tail);
    gx_chunk *chunk = gx_chunks_take(pool);
    if (!chunk) return false;
    if (fifo->tail) {
        close_tail(fifo, chunk);
    } else {
        fifo->head = chunk;
        fifo->front = chunk->bytes;
        fifo->front_end = room_end(chunk);
    }
    fifo->tail = chunk;
    fifo->back = chunk->bytes;
    fifo->back_end = room_end(chunk);
    return true;
}

static void next_chunk(gx_fifo *fifo, gx_chunks *pool) {
    GX_CHECK(fifo->head->next != NULL);
    GX_CHECK(fifo->front == fifo->head->bytes + fifo->head->end);
    gx_chunk *done = fifo->head;
    fifo->head = done->next;
    fifo->front = fifo->head->bytes;
    fifo->front_end = fifo->head == fifo->tail ? room_end(fifo->head) : fifo->front + fifo->head->end;
    gx_chunks_give(pool, done);
}

/* The last chunk is kept: a queue that is filled and emptied touches no pool. */
void gx_fifo_turn(gx_fifo *fifo, gx_chunks *pool) {
    GX_CHECK(fifo->head != NULL && fifo->front <= fifo->front_end);
    if (fifo->head != fifo->tail && fifo->front == fifo->front_end) next_chunk(fifo, pool);
    if (fifo->front == fifo->back) fifo->front = fifo->back = fifo->head->bytes;
}

void gx_fifo_clear(gx_fifo *fifo, gx_chunks *pool) {
    while (fifo->head) {
        gx_chunk *chunk = fifo->head;
        fifo->head = chunk->next;
        gx_chunks_give(pool, chunk);
    }
    memset(fifo, 0, sizeof *fifo);
}

size_t gx_fifo_chunks(const gx_fifo *fifo) {
    size_t count = 0;
    for (const gx_chunk *chunk = fifo->head; chunk; chunk = chunk == fifo->tail ? NULL : chunk->next) count++;
    return count;
}

static bool is_length(uint32_t length) {
    return length >= 8 && length % 8 == 0 && length <= GX_FIFO_ENTRY_MAX;
}

/* The places at both ends belong to the first and the last chunk. */
static bool ends_fit(const gx_fifo *fifo) {
    const unsigned char *first = fifo->head->bytes, *last = fifo->tail->bytes;
    size_t filled = fifo->head == fifo->tail ? GX_CHUNK_ROOM : fifo->head->end;
    return fifo->front >= first && fifo->front <= fifo->front_end && fifo->front_end == first + filled &&
           fifo->back >= last && fifo->back <= fifo->back_end && fifo->back_end == last + GX_CHUNK_ROOM;
}

/* Where the next entry goes; the last chunk may be new, and empty. */
static bool is_end(const gx_fifo *fifo, const gx_fifo_cursor *cursor) {
    const gx_chunk *chunk = cursor->chunk;
    if (cursor->at == fifo->back) return true;
    return chunk != fifo->tail && cursor->at == chunk->bytes + chunk->end && chunk->next == fifo->tail &&
           fifo->back == fifo->tail->bytes;
}

const char *gx_fifo_flaw(const gx_fifo *fifo) {
    uint64_t bytes = 0;
    gx_fifo_cursor cursor = gx_fifo_walk(fifo);
    const void *entry;
    if (!fifo->head)
        return fifo->front || fifo->back || fifo->count || fifo->bytes ? "a queue of nothing has entries" : NULL;
    if (!ends_fit(fifo)) return "a queue's ends are not in its chunks";
    while ((entry = gx_fifo_next(&cursor)) != NULL) {
        uint32_t length = gx_load32(entry);
        if (!is_length(length)) return "a queue has an entry of a length that none can have";
        bytes += length;
        if (bytes > fifo->bytes) return "a queue has more bytes than it says";
    }
    if (bytes != fifo->bytes) return "a queue has fewer bytes than it says";
    return is_end(fifo, &cursor) ? NULL : "a queue's entries do not end where the next one goes";
}
