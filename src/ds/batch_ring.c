#include "ds/batch_ring.h"

static size_t size_of(uint64_t places) {
    return sizeof(gx_batch_ring) + places * sizeof(gx_batch_place);
}

gx_batch_ring *gx_batch_ring_new(gx_heap *heap, uint64_t capacity) {
    GX_ASSERT(gx_is_power(capacity) && capacity >= GX_BATCH_RING_LEAST);
    uint64_t places = capacity / GX_BATCH_RING_LEAST;
    gx_batch_ring *ring = gx_alloc_apart(heap, GX_TAG_RING, size_of(places));
    if (!ring) return NULL;
    ring->capacity = capacity;
    ring->places = places;
    return ring;
}

void gx_batch_ring_free(gx_heap *heap, gx_batch_ring *ring) {
    if (ring) gx_free_apart(heap, GX_TAG_RING, ring, size_of(ring->places));
}

void gx_batch_ring_copy(gx_batch_place *place, const gx_batch *batch) {
    GX_CHECK(gx_batch_is_slight(batch) && batch->read == 0);
    memcpy(place->copy, batch, sizeof place->copy); /* there is more behind the least batch */
    gx_batch *copy = (gx_batch *)place->copy;
    copy->page = NULL;
    place->batch = copy;
}
