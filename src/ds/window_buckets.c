#include "ds/window_buckets.h"

#include "base/assert.h"

#include <string.h>

#define TAG GX_TAG_OTHER
#define DROPPED_BITS 44 /* of a double's 52 */
#define ZERO (UINT32_C(1) << 20)
#define NOT_A_NUMBER (GX_BUCKET_LIMIT - 1)

uint32_t gx_bucket_of(double number) {
    uint64_t bits;
    if (number != number) return NOT_A_NUMBER;
    memcpy(&bits, &number, sizeof bits);
    uint32_t size = (uint32_t)((bits & (UINT64_MAX >> 1)) >> DROPPED_BITS);
    return bits >> 63 ? ZERO - size : ZERO + size;
}

double gx_bucket_number(uint32_t index) {
    double number;
    bool negative = index < ZERO;
    uint64_t size = negative ? ZERO - index : index - ZERO;
    uint64_t bits = size << DROPPED_BITS | (uint64_t)negative << 63;
    if (index == NOT_A_NUMBER) return __builtin_nan("");
    memcpy(&number, &bits, sizeof number);
    return number;
}

void gx_buckets_fini(gx_buckets *buckets, gx_heap *heap) {
    gx_free(heap, TAG, buckets->items, buckets->capacity * sizeof *buckets->items);
    *buckets = (gx_buckets){ 0 };
}

void gx_bucket_sums_fini(gx_bucket_sums *sums, gx_heap *heap) {
    gx_free(heap, TAG, sums->items, sums->capacity * sizeof *sums->items);
    *sums = (gx_bucket_sums){ 0 };
}

static bool resize(gx_buckets *buckets, gx_heap *heap, uint32_t capacity) {
    gx_bucket *items = gx_alloc_array(heap, TAG, capacity, sizeof *items);
    if (!items) return false;
    if (buckets->used) memcpy(items, buckets->items, buckets->used * sizeof *items);
    gx_free(heap, TAG, buckets->items, buckets->capacity * sizeof *items);
    buckets->items = items;
    buckets->capacity = capacity;
    return true;
}

bool gx_buckets_reserve(gx_buckets *buckets, gx_heap *heap) {
    if (buckets->used < buckets->capacity) return true;
    return resize(buckets, heap, buckets->capacity ? 2 * buckets->capacity : 4);
}

void gx_buckets_add(gx_buckets *buckets, uint32_t index, uint32_t count) {
    uint32_t low = 0, high = buckets->used;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (buckets->items[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    gx_bucket *place = buckets->items + low;
    if (low == buckets->used || place->index != index) {
        GX_CHECK(buckets->used < buckets->capacity);
        memmove(place + 1, place, (buckets->used - low) * sizeof *place);
        *place = (gx_bucket){ index, 0 };
        buckets->used++;
    }
    place->count += count;
}

void gx_buckets_trim(gx_buckets *buckets, gx_heap *heap) {
    if (!buckets->used)
        gx_buckets_fini(buckets, heap);
    else if (buckets->used < buckets->capacity)
        (void)resize(buckets, heap, buckets->used);
}

/* From behind, into the room behind what is there: each is moved once. */
static void merge(gx_bucket_sums *sums, const gx_buckets *pane, size_t fresh) {
    size_t to = sums->used + fresh, from = sums->used, more = pane->used;
    while (more) {
        const gx_bucket *next = &pane->items[more - 1];
        if (from && sums->items[from - 1].index >= next->index) {
            bool same = sums->items[from - 1].index == next->index;
            sums->items[--to] = sums->items[--from];
            if (same) sums->items[to].count += next->count, more--;
        } else {
            sums->items[--to] = (gx_bucket_sum){ next->index, next->count };
            more--;
        }
    }
    sums->used += fresh;
}

bool gx_bucket_sums_enter(gx_bucket_sums *sums, gx_heap *heap, const gx_buckets *pane) {
    size_t fresh = 0, at = 0;
    uint64_t more = 0;
    for (uint32_t i = 0; i < pane->used; i++) {
        while (at < sums->used && sums->items[at].index < pane->items[i].index) at++;
        fresh += at == sums->used || sums->items[at].index != pane->items[i].index;
        more += pane->items[i].count;
    }
    if (!gx_grow(heap, TAG, (void **)&sums->items, &sums->capacity, sums->used + fresh, sizeof *sums->items))
        return false;
    merge(sums, pane, fresh);
    sums->total += more;
    return true;
}

void gx_bucket_sums_leave(gx_bucket_sums *sums, const gx_buckets *pane) {
    size_t to = 0;
    uint32_t gone = 0;
    for (size_t from = 0; from < sums->used; from++) {
        gx_bucket_sum sum = sums->items[from];
        if (gone < pane->used && pane->items[gone].index == sum.index) {
            GX_CHECK(sum.count >= pane->items[gone].count);
            sum.count -= pane->items[gone].count;
            sums->total -= pane->items[gone++].count;
        }
        if (sum.count) sums->items[to++] = sum;
    }
    GX_CHECK(gone == pane->used);
    sums->used = to;
}

double gx_bucket_sums_at(const gx_bucket_sums *sums, uint64_t rank) {
    GX_CHECK(rank >= 1 && rank <= sums->total);
    size_t at = 0;
    for (uint64_t before = 0; before + sums->items[at].count < rank; at++) before += sums->items[at].count;
    return gx_bucket_number((uint32_t)sums->items[at].index);
}
