/* Tuples on their way from the executors that emit them to the one thread that shows them.
 *
 * What:    a bounded queue of many writers and one reader (Vyukov's). A writer takes a place, encodes the tuple into a block of its own,
 *          and says that it is there; it never waits: where no place is free, where the tuple is too large, or memory is out, the tuple is
 *          dropped, and counted.
 * Threads: gx_tap_ring_put any; gx_tap_ring_take one at a time; gx_tap_ring_dropped any.
 * Owner:   the engine's tap, and who reads: it goes when both have let go of it (gx_tap_ring_release), on whichever thread that is.
 * Limits:  GX_TAP_RING_ROOM tuples, GX_TAP_RING_BYTES for all, GX_TAP_TUPLE_MAX bytes each.
 *
 * Orderings:
 *     R1/A1  a writer releases the tuple before `turn`; the reader that acquires the turn sees the tuple.
 *     R2/A2  the reader releases its reads before `turn`; a writer that acquires the turn may overwrite.
 */
#ifndef GX_SERVE_TAP_RING_H
#define GX_SERVE_TAP_RING_H

#include "base/atomic.h"
#include "serve/tap_shape.h"
#include "tuple/body.h"

#include <gale/hook.h>

enum { GX_TAP_RING_ROOM = 2048, GX_TAP_RING_BYTES = 4 << 20, GX_TAP_TUPLE_MAX = 64 << 10 };

typedef struct gx_tap_tuple {
    int64_t when; /* ns since 1970 */
    uint64_t message_id;
    uint32_t task;
    uint32_t stream; /* of the shape */
    bool tracked;    /* it has a message id */
    size_t size;     /* of the body */
    uint64_t body[]; /* tuple/body.h */
} gx_tap_tuple;

typedef struct gx_tap_ring gx_tap_ring;

/* For two owners. The shape is the ring's then. NULL when memory is out. */
gx_tap_ring *gx_tap_ring_new(gx_tap_shape *shape);
void gx_tap_ring_release(gx_tap_ring *ring);

const gx_tap_shape *gx_tap_ring_shape(const gx_tap_ring *ring);

void gx_tap_ring_put(gx_tap_ring *ring, const gale_event *event);

/* The two functions of a tap whose user is a ring. */
void gx_tap_ring_on_event(void *ring, const gale_event *event);
void gx_tap_ring_let_go(void *ring);

/* The oldest, to be freed with free(); NULL: there is none. */
gx_tap_tuple *gx_tap_ring_take(gx_tap_ring *ring);

/* How many there was no room for, in all. */
uint64_t gx_tap_ring_dropped(const gx_tap_ring *ring);

GX_INLINE const gale_body *gx_tap_tuple_body(const gx_tap_tuple *tuple) {
    return (const gale_body *)tuple->body;
}

#endif
