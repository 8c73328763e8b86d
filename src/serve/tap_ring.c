#include "serve/tap_ring.h"

#include <stdlib.h>

typedef struct place {
    gx_atomic64 turn;    /* whose it is: the writer's of this number; one more: the reader's */
    gx_tap_tuple *tuple; /* NULL: it was dropped after all */
} place;

struct gx_tap_ring {
    gx_tap_shape *shape;
    gx_atomic32 owners;
    gx_atomic64 dropped, bytes;
    alignas(64) gx_atomic64 next; /* writer's number */
    alignas(64) uint64_t head;    /* reader's */
    place places[GX_TAP_RING_ROOM];
};

gx_tap_ring *gx_tap_ring_new(gx_tap_shape *shape) {
    gx_tap_ring *ring = aligned_alloc(64, (sizeof *ring + 63) / 64 * 64);
    if (!ring) return NULL;
    memset(ring, 0, sizeof *ring);
    ring->shape = shape;
    gx_store_relaxed(&ring->owners, 2);
    for (uint64_t i = 0; i < GX_TAP_RING_ROOM; i++) gx_store_relaxed(&ring->places[i].turn, i);
    return ring;
}

void gx_tap_ring_release(gx_tap_ring *ring) {
    gx_tap_tuple *left;
    if (gx_sub_acq_rel(&ring->owners, 1) > 1) return;
    while ((left = gx_tap_ring_take(ring))) free(left);
    gx_tap_shape_free(ring->shape);
    free(ring);
}

const gx_tap_shape *gx_tap_ring_shape(const gx_tap_ring *ring) {
    return ring->shape;
}

uint64_t gx_tap_ring_dropped(const gx_tap_ring *ring) {
    return gx_load_relaxed(&ring->dropped);
}

/* --- Writers --------------------------------------------------------------------------------------------------------- */

/* NULL: all are taken. */
static place *take_place(gx_tap_ring *ring, uint64_t *ret_turn) {
    uint64_t next = gx_load_relaxed(&ring->next);
    for (;;) {
        place *at = &ring->places[next % GX_TAP_RING_ROOM];
        uint64_t turn = gx_load_acquire(&at->turn); /* A2 */
        if (turn == next && gx_cas_relaxed(&ring->next, &next, next + 1)) return *ret_turn = next, at;
        if (turn < next) return NULL;
        if (turn > next) next = gx_load_relaxed(&ring->next);
    }
}

static bool take_bytes(gx_tap_ring *ring, size_t size) {
    if (gx_add_relaxed(&ring->bytes, size) + size <= GX_TAP_RING_BYTES) return true;
    gx_add_relaxed(&ring->bytes, 0 - (uint64_t)size);
    return false;
}

/* NULL: it is too large, or there is no memory. */
static gx_tap_tuple *encode(gx_tap_ring *ring, const gale_event *event) {
    int64_t size = gx_body_measure(event->values, event->count);
    uint32_t stream = gx_tap_shape_find(ring->shape, event->stream);
    if (stream == ring->shape->stream_count || size < 0 || size > GX_TAP_TUPLE_MAX || !take_bytes(ring, (size_t)size))
        return NULL;
    gx_tap_tuple *tuple = malloc(sizeof *tuple + (size_t)size);
    if (!tuple) return gx_add_relaxed(&ring->bytes, 0 - (uint64_t)size), NULL;
    *tuple = (gx_tap_tuple){ .when = event->when,
                             .message_id = event->message_id,
                             .task = event->task,
                             .stream = stream,
                             .tracked = event->tracked,
                             .size = (size_t)size };
    gx_body_encode(event->values, event->count, tuple->body);
    return tuple;
}

void gx_tap_ring_put(gx_tap_ring *ring, const gale_event *event) {
    uint64_t turn;
    place *at = take_place(ring, &turn);
    gx_tap_tuple *tuple = at ? encode(ring, event) : NULL;
    if (!tuple) gx_add_relaxed(&ring->dropped, 1);
    if (!at) return;
    at->tuple = tuple;
    gx_store_release(&at->turn, turn + 1); /* R1 */
}

void gx_tap_ring_on_event(void *ring, const gale_event *event) {
    gx_tap_ring_put(ring, event);
}

void gx_tap_ring_let_go(void *ring) {
    gx_tap_ring_release(ring);
}

/* --- The reader ------------------------------------------------------------------------------------------------------ */

gx_tap_tuple *gx_tap_ring_take(gx_tap_ring *ring) {
    for (;;) {
        place *at = &ring->places[ring->head % GX_TAP_RING_ROOM];
        if (gx_load_acquire(&at->turn) != ring->head + 1) return NULL; /* A1 */
        gx_tap_tuple *tuple = at->tuple;
        gx_store_release(&at->turn, ring->head + GX_TAP_RING_ROOM); /* R2 */
        ring->head++;
        if (!tuple) continue;
        gx_add_relaxed(&ring->bytes, 0 - (uint64_t)tuple->size);
        return tuple;
    }
}
