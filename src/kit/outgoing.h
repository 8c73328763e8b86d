/* Lines on their way to somebody who says later how much he has taken: their bytes until then, in order, and whose they are.
 *
 *              taken by him | written, not taken | not written yet
 *                           ^ begin              ^ written        ^ formed        counted from the first byte of all
 *
 * What:    a line stays until all of it was taken. For the next one (another child, another connection) everything that stays is written
 *          again, from the beginning of the first line that was not taken whole. A line in which one after the other ends, none of which had taken
 *          anything before it, is why they do: nothing else was on its way to them that they had seen.
 * Threads: the task's. Owner: memory comes from a gx_heap. Limits: as many bytes as its owner lets in. */
#ifndef GX_KIT_OUTGOING_H
#define GX_KIT_OUTGOING_H

#include "base/buf.h"
#include "kit/recall.h"

#include <gale/tuple.h>

/* A line that was not taken. */
typedef struct gx_outgoing_line {
    gale_handle tuple; /* held */
    uint64_t end;
} gx_outgoing_line;

typedef struct gx_outgoing {
    gx_buf bytes; /* those that stay, and before them `gone` */
    size_t gone;
    uint64_t begin, written;
    uint64_t from;           /* `begin`, for whoever takes now */
    uint32_t losses;         /* that ended in the first line */
    gx_outgoing_line *lines; /* a ring */
    size_t capacity, first, count;
    gx_heap *heap;
} gx_outgoing;

void gx_outgoing_init(gx_outgoing *sent, gx_heap *heap);
void gx_outgoing_fini(gx_outgoing *sent);

/* There is room for another line: what comes next cannot fail for want of it. */
bool gx_outgoing_reserve(gx_outgoing *sent);

/* What was appended to `bytes` since the last one is this tuple's line. */
void gx_outgoing_add(gx_outgoing *sent, gale_handle tuple);

GX_INLINE uint64_t gx_outgoing_formed(const gx_outgoing *sent) {
    return sent->begin + sent->bytes.size - sent->gone;
}

/* How many bytes stay. */
GX_INLINE size_t gx_outgoing_waiting(const gx_outgoing *sent) {
    return sent->bytes.size - sent->gone;
}

/* What is to be written next. */
gale_str gx_outgoing_unwritten(const gx_outgoing *sent);

/* So many bytes of all were taken. The first line that was taken whole leaves: true, and whose it was. To be called until false. */
bool gx_outgoing_take(gx_outgoing *sent, uint64_t taken, gale_handle *ret_tuple);

/* The one that takes has ended, having taken so many bytes of all. For the next one nothing that stays was written. Returns how many in a row have ended in
 * the first line, having taken a part of it and nothing before it. */
uint32_t gx_outgoing_rewind(gx_outgoing *sent, uint64_t taken);

/* The first line leaves, whether it was taken or not: true, and whose it was. */
bool gx_outgoing_drop(gx_outgoing *sent, gale_handle *ret_tuple);

/* Whose lines stay, in order, as records behind those that were saved before; what gale_save says. */
int gx_outgoing_save(const gx_outgoing *sent, gale_saver *to);

/* Appends a tuple's line to `bytes`. 0, or an error. */
typedef int gx_outgoing_form_fn(void *user, const gale_tuple *tuple);

/* Takes them back: the lines of those that are held still are formed again. 0, what gx_recall_next says, or what `form` does. */
int gx_outgoing_restore(gx_outgoing *sent, gx_recall *recall, gx_outgoing_form_fn *form, void *user);

/* The timeouts of the tuples whose lines stay begin anew; a gx_renewal_fn. Are there any? */
bool gx_outgoing_renew(const void *sent, gale_collector *out);

/* The line at `index` from the oldest. */
GX_INLINE const gx_outgoing_line *gx_outgoing_at(const gx_outgoing *sent, size_t index) {
    return &sent->lines[(sent->first + index) % sent->capacity];
}

#endif
