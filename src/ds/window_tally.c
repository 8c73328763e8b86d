#include "ds/window_tally.h"

#include "base/assert.h"
#include "base/bits.h"

enum { BITS_FIRST = 2, BITS_MAX = 28 };
#define TAG GX_TAG_OTHER

void gx_tally_fini(gx_tally *tally, gx_heap *heap) {
    gx_free(heap, TAG, tally->slots, gx_tally_bytes(tally));
    *tally = (gx_tally){ 0 };
}

/* Numbers may be hashes, or small: the product spreads both. */
static size_t home_of(const gx_tally *tally, uint64_t id) {
    return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - tally->bits));
}

static size_t mask_of(const gx_tally *tally) {
    return ((size_t)1 << tally->bits) - 1;
}

/* The number's slot, or the free one where the search ended. */
static gx_tally_slot *find(const gx_tally *tally, uint64_t id) {
    size_t at = home_of(tally, id), mask = mask_of(tally);
    while (tally->slots[at].count && tally->slots[at].id != id) at = (at + 1) & mask;
    return &tally->slots[at];
}

static bool rehash(gx_tally *tally, gx_heap *heap, uint8_t bits) {
    gx_tally made = *tally;
    made.bits = bits;
    made.slots = gx_alloc_array(heap, TAG, (size_t)1 << bits, sizeof *made.slots);
    if (!made.slots) return false;
    size_t at = 0;
    for (const gx_tally_slot *slot; (slot = gx_tally_next(tally, &at)) != NULL;) *find(&made, slot->id) = *slot;
    gx_free(heap, TAG, tally->slots, gx_tally_bytes(tally));
    *tally = made;
    return true;
}

/* The bits that so many numbers need; 0 when there are too many. */
static uint8_t bits_for(size_t count) {
    uint8_t bits = BITS_FIRST;
    while (bits <= BITS_MAX && count * 4 > ((size_t)3 << bits)) bits++;
    return bits <= BITS_MAX ? bits : 0;
}

bool gx_tally_reserve(gx_tally *tally, gx_heap *heap, size_t more) {
    uint8_t bits = bits_for(tally->used + more);
    if (!bits) return false;
    if (tally->slots && bits <= tally->bits) return true;
    return rehash(tally, heap, bits);
}

uint64_t gx_tally_get(const gx_tally *tally, uint64_t id) {
    return tally->slots ? find(tally, id)->count : 0;
}

uint64_t *gx_tally_at(gx_tally *tally, uint64_t id) {
    gx_tally_slot *slot = find(tally, id);
    if (!slot->count) {
        slot->id = id;
        tally->used++;
    }
    return &slot->count;
}

/* What lies behind a slot that became free moves up, unless it is at its home or behind it. */
static void close_gap(gx_tally *tally, size_t gap) {
    size_t mask = mask_of(tally);
    for (size_t at = (gap + 1) & mask; tally->slots[at].count; at = (at + 1) & mask) {
        size_t home = home_of(tally, tally->slots[at].id);
        if (((at - home) & mask) < ((at - gap) & mask)) continue;
        tally->slots[gap] = tally->slots[at];
        gap = at;
    }
    tally->slots[gap] = (gx_tally_slot){ 0 };
}

void gx_tally_sub(gx_tally *tally, uint64_t id, uint64_t count) {
    gx_tally_slot *slot = find(tally, id);
    GX_CHECK(slot->count >= count);
    slot->count -= count;
    if (slot->count) return;
    tally->used--;
    close_gap(tally, (size_t)(slot - tally->slots));
}

const gx_tally_slot *gx_tally_next(const gx_tally *tally, size_t *at) {
    size_t count = tally->slots ? (size_t)1 << tally->bits : 0;
    while (*at < count) {
        const gx_tally_slot *slot = &tally->slots[(*at)++];
        if (slot->count) return slot;
    }
    return NULL;
}

void gx_tally_trim(gx_tally *tally, gx_heap *heap) {
    if (!tally->used) {
        uint8_t coarse = tally->coarse;
        gx_tally_fini(tally, heap);
        tally->coarse = coarse;
    } else if (bits_for(tally->used) < tally->bits) {
        (void)rehash(tally, heap, bits_for(tally->used));
    }
}
