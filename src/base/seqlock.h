/* A sequence lock without fences, for a few words that one thread publishes together and others read together.
 *
 * Threads: one publishes; any read. A reader never holds the publisher up.
 * Orderings: R1: the words are stored with release, after the version was made odd: a reader that sees a new one sees the
 *            odd version, too (A1), and reads again. R2/A2: an even version comes with its words. */
#ifndef GX_BASE_SEQLOCK_H
#define GX_BASE_SEQLOCK_H

#include "base/atomic.h"

GX_INLINE void gx_seqlock_publish(gx_atomic64 *version, gx_atomic64 *published, const uint64_t *words, size_t count) {
    uint64_t before = gx_load_relaxed(version);
    gx_store_relaxed(version, before + 1);
    for (size_t i = 0; i < count; i++) gx_store_release(&published[i], words[i]); /* R1 */
    gx_store_release(version, before + 2);                                        /* R2 */
}

/* False when they were being published meanwhile: `words` is nothing to go by. */
GX_INLINE bool gx_seqlock_read(const gx_atomic64 *version, const gx_atomic64 *published, uint64_t *words,
                               size_t count) {
    uint64_t before = gx_load_acquire(version);                                   /* A2 */
    for (size_t i = 0; i < count; i++) words[i] = gx_load_acquire(&published[i]); /* A1 */
    return before == gx_load_relaxed(version) && !(before & 1);
}

#endif
