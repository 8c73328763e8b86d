#include "engine/outlet.h"

size_t gx_outlet_flush(gx_outlet *outlet, gx_batches *pool) {
    size_t moved = 0;
    for (; gx_outlet_may_flush(outlet); moved++) gx_outlet_put(outlet, gx_batch_list_pop(&outlet->outbox), pool);
    return moved;
}

/* --- Acks --- */

/* What was taken from the front is used again before more is asked for. */
bool gx_ack_outlet_ensure(gx_ack_outlet *outlet, gx_heap *heap, size_t count) {
    gx_item_queue *queue = &outlet->outbox;
    size_t waiting = gx_ack_outlet_waiting(outlet);
    if (GX_LIKELY(queue->tail + count <= queue->capacity)) return true;
    if (queue->head >= waiting && waiting + count <= queue->capacity) {
        if (waiting) memcpy(queue->items, queue->items + queue->head, waiting * sizeof *queue->items);
        queue->head = 0;
        queue->tail = waiting;
        return true;
    }
    return gx_grow(heap, GX_TAG_QUEUE, &queue->items, &queue->capacity, queue->tail + count, sizeof *queue->items);
}

bool gx_ack_outlet_send(gx_ack_outlet *outlet, gx_heap *heap, uint64_t first, uint64_t second) {
    if (GX_LIKELY(gx_ack_outlet_put(outlet, first, second))) return true;
    if (!gx_ack_outlet_ensure(outlet, heap, 1)) return false;
    uint64_t *item = outlet->outbox.items[outlet->outbox.tail++];
    item[0] = first;
    item[1] = second;
    return true;
}

size_t gx_ack_outlet_flush(gx_ack_outlet *outlet) {
    gx_item_queue *queue = &outlet->outbox;
    size_t moved = 0;
    while (queue->head != queue->tail) {
        void *at = gx_ring_claim(&outlet->ring);
        if (!at) break;
        memcpy(at, queue->items[queue->head++], sizeof *queue->items);
        moved++;
    }
    if (queue->head == queue->tail) queue->head = queue->tail = 0;
    outlet->sent += moved;
    return moved;
}

void gx_ack_outlet_fini(gx_ack_outlet *outlet, gx_heap *heap) {
    gx_free(heap, GX_TAG_QUEUE, outlet->outbox.items, outlet->outbox.capacity * sizeof *outlet->outbox.items);
    outlet->outbox = (gx_item_queue){ 0 };
}
