/* What is saved as a whole with each checkpoint, and goes into the store in pieces: records (topology/saver.h), cut between two of them where
 * GX_CHUNK bytes are reached.
 *
 * What:    of each piece a sum is kept, XXH3 with 128 bits and a seed that nobody can guess: a piece that is the same as in the checkpoint before is
 *          not written again. A sink whose system is away for hours, or a window that nothing comes to, costs nothing then.
 * Threads: the executor's. Owner: memory comes from a heap; gx_chunks_fini gives it back. */
#ifndef GX_ENGINE_CHUNKS_H
#define GX_ENGINE_CHUNKS_H

#include "base/hash.h"
#include "ds/changes.h"

enum { GX_CHUNK = 64 << 10 };

/* Zero begins: the store has nothing that is known of. */
typedef struct gx_chunks {
    XXH128_hash_t *sums;
    size_t count, capacity;
} gx_chunks;

void gx_chunks_fini(gx_chunks *chunks, gx_heap *heap);

/* Notes what `records` change against the last call: pieces under keys of `prefix` and the number of the piece, 32 bits with the highest byte first.
 * GALE_NO_MEMORY. */
int gx_chunks_put(gx_chunks *chunks, gx_buf *prefix, gale_str records, uint64_t seed, gx_changes *changes);

#endif
