/* A gx_heap for a structure that stands alone, without a runtime: it lies in memory from its own allocator, and counts
 * itself. Threads: any. Owner: who made it, until everything from it has gone back. */
#ifndef GX_DS_OWN_HEAP_H
#define GX_DS_OWN_HEAP_H

#include "base/alloc.h"

/* `allocator` NULL: the C library's. NULL when memory is out. */
static inline gx_heap *gx_own_heap_new(const gale_allocator *allocator) {
    gx_heap first;
    gx_heap_init(&first, allocator);
    gx_heap *heap = (gx_heap *)gx_alloc(&first, GX_TAG_OTHER, sizeof *heap);
    if (heap) *heap = first;
    return heap;
}

/* NULL is allowed. */
static inline void gx_own_heap_free(gx_heap *heap) {
    if (!heap) return;
    gx_heap last = *heap;
    gx_free(&last, GX_TAG_OTHER, heap, sizeof *heap);
}

#endif
