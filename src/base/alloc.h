/* The one door to allocation. A gx_heap wraps the embedder's allocator and keeps account: bytes reserved (taken from
 * the allocator) and bytes in use are two figures, by tag. Pools take reserved memory and say themselves what they use.
 * Threads: any; the account is atomic. */
#ifndef GX_BASE_ALLOC_H
#define GX_BASE_ALLOC_H

#include "base/atomic.h"

#include <gale/alloc.h>
#include <gale/error.h>

typedef enum gx_tag {
    GX_TAG_PLAN,   /* tables made at start */
    GX_TAG_RING,   /* rings between executors */
    GX_TAG_QUEUE,  /* pages of batches, outboxes of acks */
    GX_TAG_BLOCK,  /* large and retained bodies */
    GX_TAG_LEDGER, /* open trees */
    GX_TAG_FIGURE, /* histograms, and what else is counted at length */
    GX_TAG_OTHER,
    GX_TAG_COUNT
} gx_tag;

typedef struct gx_heap {
    gale_allocator allocator;
    gx_atomic64 calls;
    gx_atomic64 reserved[GX_TAG_COUNT];
} gx_heap;

/* A handle that an application gave (NULL: the C library's), as gx_options_take takes it. GALE_INVALID when a function is
 * missing. `what` is how a report calls it. */
int gx_allocator_take(gale_allocator *to, const gale_allocator *given, const char *what, gale_error *error);

void gx_heap_init(gx_heap *heap, const gale_allocator *allocator);
uint64_t gx_heap_reserved(const gx_heap *heap);

/* Zeroed memory, aligned to 16; NULL when memory is out. */
void *gx_alloc(gx_heap *heap, gx_tag tag, size_t size);

/* An array; NULL also when count * size overflows. */
void *gx_alloc_array(gx_heap *heap, gx_tag tag, size_t count, size_t size);

/* Aligned to GX_APART, zeroed. Give it back with gx_free_apart. */
void *gx_alloc_apart(gx_heap *heap, gx_tag tag, size_t size);
void gx_free_apart(gx_heap *heap, gx_tag tag, void *block, size_t size);

/* Would the allocator give a block of so many bytes? It is asked for one, which goes back untouched: who wants more than
 * there can be is told before anything is made of it. */
bool gx_heap_may_give(gx_heap *heap, size_t size);

/* Grows the array whose pointer is at `array_at` to hold at least `needed` items of `size` bytes; doubles. False when
 * memory is out: nothing changed. */
bool gx_grow(gx_heap *heap, gx_tag tag, void *array_at, size_t *capacity, size_t needed, size_t size);

/* NULL is allowed. `size` is what was asked for. */
void gx_free(gx_heap *heap, gx_tag tag, void *block, size_t size);

#endif
