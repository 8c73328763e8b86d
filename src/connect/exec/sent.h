/* Lines on their way to a child: their bytes until it has read them, in order, and whose they are.
 *
 *              taken by the child | in the pipe | not written yet
 *                                 ^ begin       ^ written         ^ formed        counted from the first byte of all
 *
 * What:    a line stays until all of it was taken. For another child everything that stays is written again, from the beginning of the
 *          first line that was not taken whole.
 * Threads: the task's. Owner: memory comes from a gx_heap. Limits: as many bytes as its owner lets in. */
#ifndef GX_CONNECT_EXEC_SENT_H
#define GX_CONNECT_EXEC_SENT_H

#include "base/buf.h"

#include <gale/tuple.h>

/* A line that was not taken. */
typedef struct gx_exec_line {
    gale_handle tuple; /* held */
    uint64_t end;
} gx_exec_line;

typedef struct gx_exec_sent {
    gx_buf bytes; /* those that stay, and before them `gone` */
    size_t gone;
    uint64_t begin, written;
    gx_exec_line *lines; /* a ring */
    size_t capacity, first, count;
    gx_heap *heap;
} gx_exec_sent;

void gx_exec_sent_init(gx_exec_sent *sent, gx_heap *heap);
void gx_exec_sent_fini(gx_exec_sent *sent);

/* There is room for another line: what comes next cannot fail for want of it. */
bool gx_exec_sent_reserve(gx_exec_sent *sent);

/* What was appended to `bytes` since the last one is this tuple's line. */
void gx_exec_sent_add(gx_exec_sent *sent, gale_handle tuple);

GX_INLINE uint64_t gx_exec_sent_formed(const gx_exec_sent *sent) {
    return sent->begin + sent->bytes.size - sent->gone;
}

/* How many bytes stay. */
GX_INLINE size_t gx_exec_sent_waiting(const gx_exec_sent *sent) {
    return sent->bytes.size - sent->gone;
}

/* What is to be written next. */
gale_str gx_exec_sent_unwritten(const gx_exec_sent *sent);

/* The child has taken so many bytes of all. The first line that it has whole leaves: true, and whose it was. To be called until false. */
bool gx_exec_sent_take(gx_exec_sent *sent, uint64_t taken, gale_handle *ret_tuple);

/* Another child: all that stays was not written. */
void gx_exec_sent_rewind(gx_exec_sent *sent);

/* The line at `index` from the oldest. */
GX_INLINE const gx_exec_line *gx_exec_sent_at(const gx_exec_sent *sent, size_t index) {
    return &sent->lines[(sent->first + index) % sent->capacity];
}

#endif
