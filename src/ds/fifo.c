#include "ds/fifo.h"

#include <string.h>

bool gx_fifo_extend(gx_fifo *fifo, gx_chunks *pool) {
    gx_chunk *chunk = gx_chunks_take(pool);
    if (!chunk) return false;
    if (fifo->tail && fifo->count == 0) { /* an empty chunk with no room left can go */
        gx_chunks_give(pool, fifo->tail);
        fifo->tail = NULL;
    }
    if (fifo->tail)
        fifo->tail->next = chunk;
    else {
        fifo->head = chunk;
        fifo->head_at = 0;
    }
    fifo->tail = chunk;
    return true;
}

void gx_fifo_clear(gx_fifo *fifo, gx_chunks *pool) {
    while (fifo->head) {
        gx_chunk *chunk = fifo->head;
        fifo->head = chunk->next;
        gx_chunks_give(pool, chunk);
    }
    memset(fifo, 0, sizeof *fifo);
}
