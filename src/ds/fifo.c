#include "ds/fifo.h"

#include <string.h>

static unsigned char *room_end(gx_chunk *chunk) {
    return chunk->bytes + GX_CHUNK_ROOM;
}

static void close_tail(gx_fifo *fifo, gx_chunk *next) {
    fifo->tail->end = (uint64_t)(fifo->back - fifo->tail->bytes);
    fifo->tail->next = next;
    if (fifo->tail == fifo->head) fifo->front_end = fifo->back;
}

bool gx_fifo_extend(gx_fifo *fifo, gx_chunks *pool) {
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
    gx_chunk *done = fifo->head;
    fifo->head = done->next;
    fifo->front = fifo->head->bytes;
    fifo->front_end = fifo->head == fifo->tail ? room_end(fifo->head) : fifo->front + fifo->head->end;
    gx_chunks_give(pool, done);
}

/* The last chunk is kept: a queue that is filled and emptied touches no pool. */
void gx_fifo_turn(gx_fifo *fifo, gx_chunks *pool) {
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
