/* The ways out of an executor to another one: a ring, and an outbox behind it.
 *
 * What:    what finds no room in the ring goes to the outbox, and what comes later goes behind it: order is kept and an
 *          emit never fails for want of room. While an outbox holds something, the tasks that feed this outlet do not
 *          run, so it holds no more than the output of one call a task, and what was open before. It empties by itself,
 *          because the consumer always drains its ring, whatever its tasks may do (engine/flow.h): a full ring is never
 *          a deadlock.
 *          Data outlets carry batches; ack outlets carry items of 16 bytes (engine/acks_settle.h).
 * Threads: the producing executor's. */
#ifndef GX_ENGINE_OUTLET_H
#define GX_ENGINE_OUTLET_H

#include "ds/batch_ring.h"
#include "ds/ring.h"

typedef struct gx_outlet {
    gx_batch_producer ring; /* ring.ring NULL: there is none, because nothing feeds that way */
    gx_batch_list outbox;
    uint64_t sent; /* batches that went into the ring */
} gx_outlet;

/* Items that wait behind a ring. */
typedef struct gx_item_queue {
    uint64_t (*items)[2];
    size_t capacity;
    size_t head, tail; /* places in the array */
} gx_item_queue;

typedef struct gx_ack_outlet {
    gx_ring_producer ring; /* ring.ring NULL: there is none */
    gx_item_queue outbox;
    uint64_t sent; /* items that went into the ring */
} gx_ack_outlet;

/* Into the ring. `pool` is the thread's, and the batch's. */
GX_INLINE bool gx_outlet_put(gx_outlet *outlet, gx_batch *batch, gx_batches *pool) {
    if (!gx_batch_ring_put(&outlet->ring, batch)) return false;
    if (gx_batch_is_slight(batch)) gx_batch_give(pool, batch); /* a copy went */
    outlet->sent++;
    return true;
}

/* A batch goes into the ring, or behind it. */
GX_INLINE void gx_outlet_send(gx_outlet *outlet, gx_batch *batch, gx_batches *pool) {
    if (GX_UNLIKELY(outlet->outbox.count) || !gx_outlet_put(outlet, batch, pool))
        gx_batch_list_push(&outlet->outbox, batch);
}

/* Moves what it can from the outbox to the ring. Returns how many batches. */
size_t gx_outlet_flush(gx_outlet *outlet, gx_batches *pool);

/* Does nothing wait in the outbox? */
GX_INLINE bool gx_outlet_is_clear(const gx_outlet *outlet) {
    return outlet->outbox.count == 0;
}

/* Could the first of the outbox go into the ring? */
GX_INLINE bool gx_outlet_may_flush(gx_outlet *outlet) {
    return outlet->outbox.count && gx_batch_ring_has_room(&outlet->ring, gx_batch_ring_weight(outlet->outbox.head));
}

/* --- Acks --- */

/* How many items wait in the outbox? */
GX_INLINE size_t gx_ack_outlet_waiting(const gx_ack_outlet *outlet) {
    return outlet->outbox.tail - outlet->outbox.head;
}

/* False when the ring is full, or something waits behind it. */
GX_INLINE bool gx_ack_outlet_put(gx_ack_outlet *outlet, uint64_t first, uint64_t second) {
    if (GX_UNLIKELY(gx_ack_outlet_waiting(outlet))) return false;
    uint64_t *at = gx_ring_claim(&outlet->ring);
    if (GX_UNLIKELY(!at)) return false;
    at[0] = first;
    at[1] = second;
    outlet->sent++;
    return true;
}

/* Makes sure that so many items can be sent. False when memory is out. */
bool gx_ack_outlet_ensure(gx_ack_outlet *outlet, gx_heap *heap, size_t count);

/* The same as to put it, in the ring or behind it. False when memory is out. */
bool gx_ack_outlet_send(gx_ack_outlet *outlet, gx_heap *heap, uint64_t first, uint64_t second);

/* Moves what it can from the outbox to the ring. Returns how many items. */
size_t gx_ack_outlet_flush(gx_ack_outlet *outlet);

void gx_ack_outlet_fini(gx_ack_outlet *outlet, gx_heap *heap);

#endif
