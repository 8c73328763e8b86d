#include "ds/ring.h"

#include "base/assert.h"

gx_ring *gx_ring_new(gx_heap *heap, uint64_t capacity) {
    GX_ASSERT(gx_is_power(capacity) && capacity >= 1024);
    gx_ring *ring = gx_alloc_apart(heap, GX_TAG_RING, sizeof *ring + capacity);
    if (!ring) return NULL;
    ring->magic = GX_RING_MAGIC;
    ring->version = GX_RING_VERSION;
    ring->capacity = capacity;
    ring->incarnation = 1;
    return ring;
}

void gx_ring_free(gx_heap *heap, gx_ring *ring) {
    if (ring) gx_free_apart(heap, GX_TAG_RING, ring, sizeof *ring + ring->capacity);
}

gx_ring_producer gx_ring_produce(gx_ring *ring) {
    GX_CHECK(ring->magic == GX_RING_MAGIC && ring->version == GX_RING_VERSION);
    uint64_t tail = gx_load_acquire(&ring->producer.tail), head = gx_load_acquire(&ring->consumer.head);
    return (gx_ring_producer){ ring, ring->bytes, ring->capacity, tail, tail, head };
}

gx_ring_consumer gx_ring_consume(gx_ring *ring) {
    GX_CHECK(ring->magic == GX_RING_MAGIC && ring->version == GX_RING_VERSION);
    uint64_t tail = gx_load_acquire(&ring->producer.tail), head = gx_load_acquire(&ring->consumer.head);
    return (gx_ring_consumer){ ring, ring->bytes, ring->capacity, head, head, tail };
}
