#include "engine/outlet.h"

size_t gx_outlet_flush(gx_outlet *outlet, gx_chunks *chunks) {
    size_t moved = 0;
    const void *entry;
    while ((entry = gx_fifo_front(&outlet->outbox)) != NULL) {
        uint32_t length = gx_load32(entry);
        void *at = gx_ring_claim(&outlet->ring, length);
        if (!at) break;
        memcpy(at, entry, length);
        gx_fifo_pop(&outlet->outbox, chunks, length);
        moved++;
    }
    outlet->sent += moved;
    return moved;
}

typedef struct waiting_item {
    uint32_t length;
    uint32_t reserved;
    uint64_t words[2];
} waiting_item;

static bool put_item(gx_outlet *outlet, const uint64_t words[2]) {
    void *at = gx_ring_claim_item(&outlet->ring);
    if (!at) return false;
    memcpy(at, words, 16);
    outlet->sent++;
    return true;
}

size_t gx_outlet_flush_items(gx_outlet *outlet, gx_chunks *chunks) {
    size_t moved = 0;
    const waiting_item *item;
    while ((item = gx_fifo_front(&outlet->outbox)) != NULL && put_item(outlet, item->words)) {
        gx_fifo_pop(&outlet->outbox, chunks, sizeof *item);
        moved++;
    }
    return moved;
}

bool gx_outlet_send_item(gx_outlet *outlet, gx_chunks *chunks, uint64_t first, uint64_t second) {
    if (GX_LIKELY(gx_outlet_put_item(outlet, first, second))) return true;
    waiting_item *item = gx_fifo_push(&outlet->outbox, chunks, sizeof *item);
    if (!item) return false;
    *item = (waiting_item){ sizeof *item, 0, { first, second } };
    return true;
}
