/* A ring of 16-byte items between two threads: one producer, one consumer.
 *
 * What:    Lamport's single-producer single-consumer queue with cached remote positions, which count bytes.
 * Threads: gx_ring_producer belongs to one thread, gx_ring_consumer to another; each lives in its owner's memory, so
 *          that private positions never share a line with published ones (false sharing costs a factor of six).
 * Owner:   the shared part is a pointer-free header and the bytes; whoever made it frees it, when both sides have
 *          stopped. It could be mapped by two processes.
 * Limits:  the capacity is a power of two, at least 1 KiB. Wait-free. Full and empty are answers, not errors.
 *
 * Orderings:
 *     R1/A1  gx_ring_publish releases the bytes before `tail`; gx_ring_refresh acquires them: a consumer that sees the
 *            new tail sees the items.
 *     R2/A2  gx_ring_release releases the reads before `head`; gx_ring_has_room acquires them: a producer that sees the
 *            new head may overwrite.
 */
#ifndef GX_DS_RING_H
#define GX_DS_RING_H

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bits.h"

#define GX_RING_MAGIC UINT64_C(0x676e6972656c6167) /* "galering" */
enum { GX_RING_VERSION = 2, GX_RING_ITEM = 16 };

typedef struct gx_ring {
    uint64_t magic;
    uint32_t version;
    uint32_t reserved;
    uint64_t capacity;
    uint64_t incarnation;
    struct {
        alignas(GX_APART) gx_atomic64 tail; /* written by the producer: items below it are whole */
    } producer;
    struct {
        alignas(GX_APART) gx_atomic64 head; /* written by the consumer: items below it are read */
    } consumer;
    alignas(GX_APART) unsigned char bytes[];
} gx_ring;

typedef struct gx_ring_producer {
    gx_ring *ring;
    unsigned char *bytes;
    uint64_t capacity;
    uint64_t tail; /* claimed up to here */
    uint64_t published;
    uint64_t head_cached;
} gx_ring_producer;

typedef struct gx_ring_consumer {
    gx_ring *ring;
    const unsigned char *bytes;
    uint64_t capacity;
    uint64_t head; /* read up to here */
    uint64_t released;
    uint64_t tail_cached;
} gx_ring_consumer;

/* NULL when memory is out. `capacity` is a power of two >= 1024. */
gx_ring *gx_ring_new(gx_heap *heap, uint64_t capacity);
void gx_ring_free(gx_heap *heap, gx_ring *ring);

/* One of each, at any time when the other side is not running; both begin where the ring stands. */
gx_ring_producer gx_ring_produce(gx_ring *ring);
gx_ring_consumer gx_ring_consume(gx_ring *ring);

GX_INLINE bool gx_ring_has_room(gx_ring_producer *p) {
    if (GX_LIKELY(p->tail + GX_RING_ITEM - p->head_cached <= p->capacity)) return true;
    p->head_cached = gx_load_acquire(&p->ring->consumer.head); /* A2 */
    return p->tail + GX_RING_ITEM - p->head_cached <= p->capacity;
}

/* Space for an item, or NULL when the ring is full. The consumer sees it after gx_ring_publish. */
GX_INLINE void *gx_ring_claim(gx_ring_producer *p) {
    if (!gx_ring_has_room(p)) return NULL;
    void *item = p->bytes + (p->tail & (p->capacity - 1));
    p->tail += GX_RING_ITEM;
    return item;
}

/* Lets the consumer see what was claimed. True when there was something. */
GX_INLINE bool gx_ring_publish(gx_ring_producer *p) {
    if (p->published == p->tail) return false;
    p->published = p->tail;
    gx_store_release(&p->ring->producer.tail, p->tail); /* R1 */
    return true;
}

/* Looks how far the producer is. True when there is something to read. */
GX_INLINE bool gx_ring_refresh(gx_ring_consumer *c) {
    c->tail_cached = gx_load_acquire(&c->ring->producer.tail); /* A1 */
    return c->tail_cached != c->head;
}

/* The next item below the tail last seen, or NULL. Valid until gx_ring_release. */
GX_INLINE const void *gx_ring_next(gx_ring_consumer *c) {
    if (c->head == c->tail_cached) return NULL;
    const void *item = c->bytes + (c->head & (c->capacity - 1));
    c->head += GX_RING_ITEM;
    return item;
}

/* Gives back everything read. True when there was something. */
GX_INLINE bool gx_ring_release(gx_ring_consumer *c) {
    if (c->released == c->head) return false;
    c->released = c->head;
    gx_store_release(&c->ring->consumer.head, c->head); /* R2 */
    return true;
}

#endif
