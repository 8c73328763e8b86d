#include "base/alloc.h"

#include "base/bits.h"
#include "base/options.h"

#include <stdlib.h>

static void *default_alloc(void *user, size_t size) {
    (void)user;
    return malloc(size);
}

static void *default_resize(void *user, void *block, size_t old_size, size_t new_size) {
    (void)user;
    (void)old_size;
    return realloc(block, new_size);
}

static void default_release(void *user, void *block, size_t size) {
    (void)user;
    (void)size;
    free(block);
}

const gale_allocator *gale_allocator_default(void) {
    static const gale_allocator allocator = { sizeof allocator, default_alloc, default_resize, default_release, NULL };
    return &allocator;
}

int gx_allocator_take(gale_allocator *to, const gale_allocator *given, const char *what, gale_error *error) {
    gale_allocator taken = *gale_allocator_default();
    int rc = given ? gx_options_take(&taken, sizeof taken, given, what, error) : GALE_OK;
    if (rc < 0) return rc;
    if (!taken.alloc || !taken.resize || !taken.release)
        return gale_error_set(error, GALE_INVALID, "%s lacks a function: alloc, resize or release", what);
    *to = taken;
    return GALE_OK;
}

void gx_heap_init(gx_heap *heap, const gale_allocator *allocator) {
    memset(heap, 0, sizeof *heap);
    heap->allocator = allocator ? *allocator : *gale_allocator_default();
}

uint64_t gx_heap_reserved(const gx_heap *heap) {
    uint64_t sum = 0;
    for (int tag = 0; tag < GX_TAG_COUNT; tag++) sum += gx_load_relaxed(&heap->reserved[tag]);
    return sum;
}

void *gx_alloc(gx_heap *heap, gx_tag tag, size_t size) {
    gx_add_relaxed(&heap->calls, 1);
    void *block = heap->allocator.alloc(heap->allocator.user, size);
    if (!block) return NULL;
    gx_add_relaxed(&heap->reserved[tag], size);
    memset(block, 0, size);
    return block;
}

void *gx_alloc_array(gx_heap *heap, gx_tag tag, size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / 2 / size) return NULL;
    size_t total = count * size;
    return gx_alloc(heap, tag, total ? total : 1);
}

/* The block's true start is kept in front of what the caller sees. */
static size_t apart_size(size_t size) {
    return size + GX_APART + sizeof(void *);
}

void *gx_alloc_apart(gx_heap *heap, gx_tag tag, size_t size) {
    char *start = gx_alloc(heap, tag, apart_size(size));
    if (!start) return NULL;
    char *block = (char *)gx_align_up((uintptr_t)start + sizeof(void *), GX_APART);
    memcpy(block - sizeof(void *), &start, sizeof start);
    return block;
}

void gx_free_apart(gx_heap *heap, gx_tag tag, void *block, size_t size) {
    if (!block) return;
    char *start;
    memcpy(&start, (char *)block - sizeof(void *), sizeof start);
    gx_free(heap, tag, start, apart_size(size));
}

bool gx_heap_may_give(gx_heap *heap, size_t size) {
    void *block = heap->allocator.alloc(heap->allocator.user, size);
    if (block) heap->allocator.release(heap->allocator.user, block, size);
    return block != NULL;
}

bool gx_grow(gx_heap *heap, gx_tag tag, void *array_at, size_t *capacity, size_t needed, size_t size) {
    if (needed <= *capacity) return true;
    if (needed > SIZE_MAX / 4) return false;
    size_t grown = *capacity ? *capacity : 8;
    while (grown < needed) grown *= 2;
    void *block = gx_alloc_array(heap, tag, grown, size), *old;
    if (!block) return false;
    memcpy(&old, array_at, sizeof old);
    if (old) memcpy(block, old, *capacity * size);
    gx_free(heap, tag, old, *capacity * size);
    memcpy(array_at, &block, sizeof block);
    *capacity = grown;
    return true;
}

void gx_free(gx_heap *heap, gx_tag tag, void *block, size_t size) {
    if (!block) return;
    gx_add_relaxed(&heap->reserved[tag], (uint64_t)0 - size);
    heap->allocator.release(heap->allocator.user, block, size);
}
