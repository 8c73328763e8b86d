#include "ds/window_distinct.h"

#include "base/assert.h"

#include <string.h>

enum { REGISTER_BITS = 12, RANK_BITS = 6, RANK_MAX = 64 - REGISTER_BITS + 1 };

static uint64_t register_of(uint64_t hash) {
    return hash >> (64 - REGISTER_BITS);
}

/* How many zeros the rest of the hash begins with, and one more. */
static uint32_t rank_of(uint64_t hash) {
    uint64_t rest = hash << REGISTER_BITS;
    return rest ? (uint32_t)__builtin_clzll(rest) + 1 : RANK_MAX;
}

static uint64_t id_of(uint64_t at, uint32_t rank) {
    return at << RANK_BITS | rank;
}

/* --- Of a pane ------------------------------------------------------------------------------------------------------ */

static void raise(gx_tally *pane, uint64_t hash) {
    uint64_t *rank = gx_tally_at(pane, register_of(hash));
    if (*rank < rank_of(hash)) *rank = rank_of(hash);
}

static bool coarsen(gx_tally *pane, gx_heap *heap) {
    gx_tally made = { .coarse = 1 };
    size_t at = 0;
    if (!gx_tally_reserve(&made, heap, pane->used + (size_t)1)) return false;
    for (const gx_tally_slot *slot; (slot = gx_tally_next(pane, &at)) != NULL;) raise(&made, slot->id);
    gx_tally_fini(pane, heap);
    *pane = made;
    return true;
}

bool gx_distinct_reserve(gx_tally *pane, gx_heap *heap, uint64_t hash, uint32_t exact) {
    if (pane->coarse || pane->used < exact) return gx_tally_reserve(pane, heap, 1);
    return gx_tally_get(pane, hash) || coarsen(pane, heap);
}

void gx_distinct_add(gx_tally *pane, uint64_t hash) {
    if (pane->coarse)
        raise(pane, hash);
    else
        *gx_tally_at(pane, hash) = 1;
}

/* --- Of a window ---------------------------------------------------------------------------------------------------- */

/* Under what a pane's slot is counted. */
static uint64_t name_of(const gx_tally *window, const gx_tally *pane, const gx_tally_slot *slot) {
    if (!window->coarse) return slot->id;
    return pane->coarse ? id_of(slot->id, slot->count) : id_of(register_of(slot->id), rank_of(slot->id));
}

static void add_all(gx_tally *window, const gx_tally *pane) {
    size_t at = 0;
    for (const gx_tally_slot *slot; (slot = gx_tally_next(pane, &at)) != NULL;)
        (*gx_tally_at(window, name_of(window, pane, slot)))++;
}

/* What was counted by hashes, by registers and ranks, and room for a pane. */
static bool coarsen_window(gx_tally *window, gx_heap *heap, size_t more) {
    gx_tally made = { .coarse = 1 };
    size_t at = 0;
    if (!gx_tally_reserve(&made, heap, window->used + more)) return false;
    for (const gx_tally_slot *slot; (slot = gx_tally_next(window, &at)) != NULL;)
        *gx_tally_at(&made, id_of(register_of(slot->id), rank_of(slot->id))) += slot->count;
    gx_tally_fini(window, heap);
    *window = made;
    return true;
}

static bool fits(const gx_tally *window, const gx_tally *pane, uint32_t exact) {
    size_t fresh = 0, at = 0;
    if (pane->coarse) return false;
    if (window->used + pane->used <= exact) return true;
    for (const gx_tally_slot *slot; (slot = gx_tally_next(pane, &at)) != NULL;)
        fresh += !gx_tally_get(window, slot->id);
    return window->used + fresh <= exact;
}

bool gx_distinct_enter(gx_distinct *window, gx_heap *heap, const gx_tally *pane, uint32_t exact) {
    gx_tally *tally = &window->tally;
    bool coarse = tally->coarse || !fits(tally, pane, exact);
    bool room = coarse && !tally->coarse ? coarsen_window(tally, heap, pane->used)
                                         : gx_tally_reserve(tally, heap, pane->used);
    if (!room) return false;
    add_all(tally, pane);
    window->entries += pane->used;
    window->coarse_panes += pane->coarse;
    return true;
}

void gx_distinct_leave(gx_distinct *window, const gx_tally *pane) {
    size_t at = 0;
    for (const gx_tally_slot *slot; (slot = gx_tally_next(pane, &at)) != NULL;)
        gx_tally_sub(&window->tally, name_of(&window->tally, pane, slot), 1);
    window->entries -= pane->used;
    window->coarse_panes -= pane->coarse;
}

bool gx_distinct_is_small(const gx_distinct *window, uint32_t exact) {
    return window->tally.coarse && !window->coarse_panes && window->entries <= exact;
}

/* --- The estimate --------------------------------------------------------------------------------------------------- */

/* Ertl's sigma: what the registers that nothing came to add. `share` of them, below 1. */
static double sigma(double share) {
    double sum = share, last, weight = 1;
    do {
        share *= share;
        last = sum;
        sum += share * weight;
        weight += weight;
    } while (sum != last);
    return sum;
}

/* His formula (14), where no register is full. One that is (2^-52 a value) is counted as nearly so. */
static double estimate(const uint32_t *many) {
    const double registers = GX_DISTINCT_REGISTERS, ln2 = 0.69314718055994530942;
    double sum = 0;
    if (many[0] == GX_DISTINCT_REGISTERS) return 0;
    for (uint32_t rank = RANK_MAX; rank >= 1; rank--) sum = 0.5 * (sum + many[rank]);
    sum += registers * sigma(many[0] / registers);
    return registers * registers / (2 * ln2 * sum);
}

uint64_t gx_distinct_count(const gx_distinct *window) {
    uint8_t ranks[GX_DISTINCT_REGISTERS] = { 0 };
    uint32_t many[RANK_MAX + 1] = { 0 };
    size_t at = 0;
    if (!window->tally.coarse) return window->tally.used;
    for (const gx_tally_slot *slot; (slot = gx_tally_next(&window->tally, &at)) != NULL;) {
        uint8_t *rank = &ranks[slot->id >> RANK_BITS];
        uint8_t other = slot->id & ((1 << RANK_BITS) - 1);
        if (*rank < other) *rank = other;
    }
    for (size_t i = 0; i < GX_DISTINCT_REGISTERS; i++) many[ranks[i]]++;
    return (uint64_t)(estimate(many) + 0.5);
}
