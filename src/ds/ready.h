/* Which of many inlets may have something: a bit each, set by whoever put something in, taken by the one who reads.
 *
 * What:    up to GX_READY_FEW inlets are all looked at, and there are no bits: that costs less. With more, a reader takes
 *          the bits of 64 inlets in one exchange and looks at those inlets alone. A bit is a hint: the reader looks at all
 *          when it had nothing to do, and every GX_READY_ROUND rounds, so that nothing depends on one.
 * Threads: gx_ready_set any; the rest the reader's. Owner: memory from the heap, back with gx_ready_fini.
 *
 * Orderings: R1/A1 gx_ready_set releases what its caller published; gx_ready_take acquires it: who takes the bit sees
 *            that there is something.
 */
#ifndef GX_DS_READY_H
#define GX_DS_READY_H

#include "base/alloc.h"
#include "base/bits.h"

enum { GX_READY_FEW = 4, GX_READY_ROUND = 64 };

typedef struct gx_ready {
    uint32_t count;    /* of inlets */
    uint32_t words;    /* 0: there are few */
    uint32_t rounds;   /* since all were looked at */
    gx_atomic64 *news; /* apart: written by others */
    uint64_t *todo;    /* taken, or not read to the end */
} gx_ready;

/* False when memory is out. */
bool gx_ready_init(gx_ready *ready, gx_heap *heap, uint32_t count);
void gx_ready_fini(gx_ready *ready, gx_heap *heap);

GX_INLINE void gx_ready_set(const gx_ready *ready, uint32_t inlet) {
    if (!ready->words) return;
    gx_atomic64 *word = &ready->news[inlet / 64];
    uint64_t bit = UINT64_C(1) << inlet % 64;
    gx_or_release(word, bit); /* R1 */
}

/* Begins a round. `all`: of the inlets, whatever was set. */
void gx_ready_take(gx_ready *ready, bool all);

/* The first inlet to look at, from `from` on; `count` when there is none. */
GX_INLINE uint32_t gx_ready_next(const gx_ready *ready, uint32_t from) {
    if (!ready->words || from >= ready->count) return from;
    uint32_t word = from / 64;
    uint64_t bits = ready->todo[word] & (UINT64_MAX << from % 64);
    while (!bits && ++word < ready->words) bits = ready->todo[word];
    if (!bits) return ready->count;
    uint32_t next = word * 64 + (uint32_t)__builtin_ctzll(bits);
    return next < ready->count ? next : ready->count;
}

/* It was read to the end. */
GX_INLINE void gx_ready_done(gx_ready *ready, uint32_t inlet) {
    if (ready->words) ready->todo[inlet / 64] &= ~(UINT64_C(1) << inlet % 64);
}

#endif
