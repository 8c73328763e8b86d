/* The way out of an executor to another one: a ring, and an outbox behind it.
 *
 * What:    what finds no room in the ring goes to the outbox, and what comes later goes behind it: order is kept and an
 *          emit never fails for want of room. While an outbox holds something, the tasks that feed this outlet do not
 *          run, so it holds no more than the output of one call a task. It empties by itself, because the consumer
 *          always drains its ring, whatever its tasks may do (engine/flow.h): a full ring is never a deadlock.
 *          Data outlets carry records; ack outlets carry items of 16 bytes (engine/settle.h).
 * Threads: the producing executor's. */
#ifndef GX_ENGINE_OUTLET_H
#define GX_ENGINE_OUTLET_H

#include "ds/fifo.h"
#include "ds/ring.h"

typedef struct gx_outlet {
    gx_ring_producer ring; /* ring.ring NULL: there is none, because nothing feeds that way */
    gx_fifo outbox;
    uint64_t sent; /* entries that went into the ring */
} gx_outlet;

/* Space for a record, in the ring or behind it. NULL when memory is out. */
GX_INLINE void *gx_outlet_claim(gx_outlet *outlet, gx_chunks *chunks, uint32_t length) {
    if (GX_LIKELY(outlet->outbox.count == 0)) {
        void *at = gx_ring_claim(&outlet->ring, length);
        if (GX_LIKELY(at != NULL)) {
            outlet->sent++;
            return at;
        }
    }
    return gx_fifo_push(&outlet->outbox, chunks, length);
}

/* Moves what it can from the outbox to the ring. Returns how many entries. */
size_t gx_outlet_flush(gx_outlet *outlet, gx_chunks *chunks);

/* The same for an outlet of 16-byte items, whose outbox entries are an item behind a length word and padding. */
size_t gx_outlet_flush_items(gx_outlet *outlet, gx_chunks *chunks);

/* Two words for an ack ring. False when it is full, or something waits behind it. */
GX_INLINE bool gx_outlet_put_item(gx_outlet *outlet, uint64_t first, uint64_t second) {
    if (GX_UNLIKELY(outlet->outbox.count)) return false;
    uint64_t *at = gx_ring_claim_item(&outlet->ring);
    if (GX_UNLIKELY(!at)) return false;
    at[0] = first;
    at[1] = second;
    outlet->sent++;
    return true;
}

/* The same, in the ring or behind it. False when memory is out. */
bool gx_outlet_send_item(gx_outlet *outlet, gx_chunks *chunks, uint64_t first, uint64_t second);

/* Does nothing wait in the outbox? */
GX_INLINE bool gx_outlet_is_clear(const gx_outlet *outlet) {
    return outlet->outbox.count == 0;
}

#endif
