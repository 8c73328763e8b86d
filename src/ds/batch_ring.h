/* A ring of batches between two threads: one producer, one consumer.
 *
 * What:    Lamport's single-producer single-consumer queue with cached remote positions (ds/ring.h), of pointers. Positions
 *          are weights, so that what is in the ring is bounded by bytes however many batches that is: a lone row in a
 *          large batch counts as what it keeps from others. A batch that weighs more than the whole ring goes in when
 *          the ring is empty. Which place of the array is next each side counts for itself.
 *          A slight batch (a row or two) travels as a copy, which lies in its place: the other thread reads two lines
 *          side by side, and neither has to fetch what the other one keeps using. It has no page: it is the ring's, and
 *          who wants to keep it copies it (gx_batch_copy).
 * Threads: gx_batch_producer belongs to one thread, gx_batch_consumer to another; each lives in its owner's memory, so
 *          that private positions never share a line with published ones.
 * Owner:   whoever made the shared part frees it, when both sides have stopped. A batch in the ring belongs to it until it
 *          is taken.
 * Limits:  the capacity is a power of two. Wait-free. Full and empty are answers, not errors.
 *
 * Orderings: R1/A1, R2/A2 as in ds/ring.h: a consumer that sees the new tail sees the batches and their rows; a producer
 *            that sees the new head may overwrite their places.
 */
#ifndef GX_DS_BATCH_RING_H
#define GX_DS_BATCH_RING_H

#include "ds/batch.h"

/* None counts less than a place, which bounds their number. */
enum { GX_BATCH_RING_LEAST = 128, GX_BATCH_SLIGHT = GX_BATCH_RING_LEAST - (int)sizeof(gx_batch) };

/* Of a copy `next` and `number` are used so. */
typedef union gx_batch_place {
    struct {
        gx_batch *batch; /* in the pool's memory, or here */
        uint64_t unused[2];
        uint64_t weight;
    };
    alignas(GX_BATCH_RING_LEAST) unsigned char copy[GX_BATCH_RING_LEAST];
} gx_batch_place;

static_assert(offsetof(gx_batch_place, batch) == offsetof(gx_batch, next), "a copy leaves it free");
static_assert(offsetof(gx_batch_place, weight) == offsetof(gx_batch, number), "a copy leaves it free");

typedef struct gx_batch_ring {
    uint64_t capacity; /* in weight */
    uint64_t places;   /* a power of two */
    struct {
        alignas(GX_APART) gx_atomic64 tail; /* written by the producer: what is below it is there */
    } producer;
    struct {
        alignas(GX_APART) gx_atomic64 head; /* written by the consumer: what is below it was taken */
    } consumer;
    alignas(GX_APART) gx_batch_place place[];
} gx_batch_ring;

typedef struct gx_batch_producer {
    gx_batch_ring *ring; /* NULL: there is none */
    uint64_t tail;       /* put up to here */
    uint64_t published;
    uint64_t head_cached;
    uint64_t next; /* place */
} gx_batch_producer;

typedef struct gx_batch_consumer {
    gx_batch_ring *ring; /* NULL: there is none */
    uint64_t head;       /* taken up to here */
    uint64_t released;
    uint64_t tail_cached;
    uint64_t next; /* place */
} gx_batch_consumer;

/* NULL when memory is out. */
gx_batch_ring *gx_batch_ring_new(gx_heap *heap, uint64_t capacity);
void gx_batch_ring_free(gx_heap *heap, gx_batch_ring *ring);

/* Is there room for so much? In an empty ring there is for anything. */
GX_INLINE bool gx_batch_ring_has_room(gx_batch_producer *p, uint64_t weight) {
    if (GX_LIKELY(p->tail + weight - p->head_cached <= p->ring->capacity)) return true;
    p->head_cached = gx_load_acquire(&p->ring->consumer.head); /* A2 */
    return p->tail + weight - p->head_cached <= p->ring->capacity || p->tail == p->head_cached;
}

/* Has it so little that it travels as a copy? */
GX_INLINE bool gx_batch_is_slight(const gx_batch *batch) {
    return batch->used - 1u < GX_BATCH_SLIGHT;
}

/* What it takes of the ring. */
GX_INLINE uint64_t gx_batch_ring_weight(const gx_batch *batch) {
    if (gx_batch_is_slight(batch)) return GX_BATCH_RING_LEAST + batch->blocks;
    uint64_t weight = gx_batch_weight(batch);
    return weight > GX_BATCH_RING_LEAST ? weight : GX_BATCH_RING_LEAST;
}

/* A copy of a slight one is in its place. */
void gx_batch_ring_copy(gx_batch_place *place, const gx_batch *batch);

/* False when the ring is full. The consumer sees it after gx_batch_ring_publish. A slight one stays with the caller. It is
 * closed, and none of it was read. */
GX_INLINE bool gx_batch_ring_put(gx_batch_producer *p, gx_batch *batch) {
    uint64_t weight = gx_batch_ring_weight(batch);
    if (!gx_batch_ring_has_room(p, weight)) return false;
    gx_batch_place *place = &p->ring->place[p->next++ & (p->ring->places - 1)];
    if (gx_batch_is_slight(batch))
        gx_batch_ring_copy(place, batch);
    else
        place->batch = batch;
    place->weight = weight;
    p->tail += weight;
    return true;
}

/* Lets the consumer see what was put. True when there was something. */
GX_INLINE bool gx_batch_ring_publish(gx_batch_producer *p) {
    if (p->published == p->tail) return false;
    p->published = p->tail;
    gx_store_release(&p->ring->producer.tail, p->tail); /* R1 */
    return true;
}

/* Looks how far the producer is. True when there is something to take. */
GX_INLINE bool gx_batch_ring_refresh(gx_batch_consumer *c) {
    c->tail_cached = gx_load_acquire(&c->ring->producer.tail); /* A1 */
    if (c->tail_cached == c->head) return false;
    gx_batch_place *next = &c->ring->place[c->next & (c->ring->places - 1)];
    __builtin_prefetch((char *)next + 64); /* the second half of a copy, while the first is fetched */
    return true;
}

/* The next one below the tail last seen, or NULL. It stays in the ring. A copy is the caller's until its room is given
 * back. */
GX_INLINE gx_batch *gx_batch_ring_peek(const gx_batch_consumer *c) {
    return c->head != c->tail_cached ? c->ring->place[c->next & (c->ring->places - 1)].batch : NULL;
}

/* The one that was peeked is the caller's. */
GX_INLINE void gx_batch_ring_advance(gx_batch_consumer *c) {
    c->head += c->ring->place[c->next++ & (c->ring->places - 1)].weight;
}

/* Gives back the room of all that was taken. True when there was something. */
GX_INLINE bool gx_batch_ring_release(gx_batch_consumer *c) {
    if (c->released == c->head) return false;
    c->released = c->head;
    gx_store_release(&c->ring->consumer.head, c->head); /* R2 */
    return true;
}

#endif
