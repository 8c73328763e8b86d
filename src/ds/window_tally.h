/* Counts by a number of 64 bits: what a pane knows of the values that came in it (a hash names a value), or what all panes of
 * a window know of them together. Counts can be taken back, and what comes to nothing leaves no trace.
 *
 * What:    open addressing, linear probing, at most three quarters full; 16 bytes a slot.
 * Threads: one at a time. Owner: memory comes from a gx_heap. Begins as zeros. Limits: 2^27 numbers. */
#ifndef GX_DS_WINDOW_TALLY_H
#define GX_DS_WINDOW_TALLY_H

#include "base/alloc.h"

typedef struct gx_tally_slot {
    uint64_t id;
    uint64_t count; /* 0: free */
} gx_tally_slot;

typedef struct gx_tally {
    gx_tally_slot *slots;
    uint32_t used;
    uint8_t bits;   /* there are 2^bits slots, if there are any */
    uint8_t coarse; /* its owner's: a word on what the numbers are */
    uint16_t reserved;
} gx_tally;

void gx_tally_fini(gx_tally *tally, gx_heap *heap);

/* Room for so many more numbers. False when memory is out: nothing changed. */
bool gx_tally_reserve(gx_tally *tally, gx_heap *heap, size_t more);

/* 0 when it is not there. */
uint64_t gx_tally_get(const gx_tally *tally, uint64_t id);

/* The count of a number, made with 0 if it was not there, which has to become another: there must be room. */
uint64_t *gx_tally_at(gx_tally *tally, uint64_t id);

/* Takes so many back of what is there. */
void gx_tally_sub(gx_tally *tally, uint64_t id, uint64_t count);

/* The next slot that is taken, behind `*at` (0: the first), in no order; NULL at the end. */
const gx_tally_slot *gx_tally_next(const gx_tally *tally, size_t *at);

/* As few slots as they fit in: for one that no more numbers are added to. Without memory it stays as it is. */
void gx_tally_trim(gx_tally *tally, gx_heap *heap);

GX_INLINE size_t gx_tally_bytes(const gx_tally *tally) {
    return tally->slots ? sizeof(gx_tally_slot) << tally->bits : 0;
}

#endif
