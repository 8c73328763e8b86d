#include "ds/slot_counter.h"

#include "base/assert.h"

/* More slots than this are a mistake in a configuration: 128 MiB for each object. */
#define SLOTS_MAX ((int64_t)1 << 24)

/* A value of the map: the total, then a count for each slot. */
struct gx_slot_counter {
    gx_bytes_map *map;
    int64_t slots;
    gx_heap *heap;
};

int gx_slot_counter_new(gx_heap *heap, int64_t slots, uint64_t seed, gx_slot_counter **ret_counter, gale_error *error) {
    if (slots < 1)
        return gale_error_set(error, GALE_INVALID, "a slot counter needs at least 1 slot, not %lld", (long long)slots);
    if (slots > SLOTS_MAX)
        return gale_error_set(error, GALE_TOO_LARGE, "a slot counter has at most %lld slots, not %lld",
                              (long long)SLOTS_MAX, (long long)slots);
    gx_slot_counter *counter = gx_alloc(heap, GX_TAG_OTHER, sizeof *counter);
    gx_bytes_map *map = counter ? gx_bytes_map_new(heap, ((size_t)slots + 1) * sizeof(int64_t), seed) : NULL;
    if (!map) {
        gx_free(heap, GX_TAG_OTHER, counter, sizeof *counter);
        return gale_error_set(error, GALE_NO_MEMORY, "no memory for a slot counter");
    }
    *counter = (gx_slot_counter){ map, slots, heap };
    *ret_counter = counter;
    return GALE_OK;
}

void gx_slot_counter_free(gx_slot_counter *counter) {
    if (!counter) return;
    gx_bytes_map_free(counter->map);
    gx_free(counter->heap, GX_TAG_OTHER, counter, sizeof *counter);
}

static bool in_range(const gx_slot_counter *counter, int64_t slot) {
    return slot >= 0 && slot < counter->slots;
}

int gx_slot_counter_increment(gx_slot_counter *counter, gale_str object, int64_t slot) {
    if (!in_range(counter, slot)) return GALE_INVALID;
    int64_t *counts = gx_bytes_map_put(counter->map, object, NULL);
    if (!counts) return GALE_NO_MEMORY;
    counts[0]++;
    counts[1 + slot]++;
    return GALE_OK;
}

int64_t gx_slot_counter_count(const gx_slot_counter *counter, gale_str object, int64_t slot) {
    const int64_t *counts = in_range(counter, slot) ? gx_bytes_map_get(counter->map, object) : NULL;
    return counts ? counts[1 + slot] : 0;
}

int64_t gx_slot_counter_total(const gx_slot_counter *counter, gale_str object) {
    const int64_t *counts = gx_bytes_map_get(counter->map, object);
    return counts ? counts[0] : 0;
}

const gx_bytes_map *gx_slot_counter_map(const gx_slot_counter *counter) {
    return counter->map;
}

size_t gx_slot_counter_size(const gx_slot_counter *counter) {
    return gx_bytes_map_size(counter->map);
}

int64_t gx_slot_counter_at(const gx_slot_counter *counter, size_t index, gale_str *ret_object) {
    GX_CHECK(index < gx_bytes_map_size(counter->map));
    const int64_t *counts = gx_bytes_map_at(counter->map, index, ret_object);
    return counts[0];
}

int gx_slot_counter_wipe_slot(gx_slot_counter *counter, int64_t slot) {
    if (!in_range(counter, slot)) return GALE_INVALID;
    size_t size = gx_bytes_map_size(counter->map);
    for (size_t i = 0; i < size; i++) {
        int64_t *counts = gx_bytes_map_at(counter->map, i, NULL);
        counts[0] -= counts[1 + slot];
        counts[1 + slot] = 0;
    }
    return GALE_OK;
}

void gx_slot_counter_wipe_zeros(gx_slot_counter *counter) {
    for (size_t i = gx_bytes_map_size(counter->map); i-- > 0;) {
        const int64_t *counts = gx_bytes_map_at(counter->map, i, NULL);
        if (counts[0] == 0) gx_bytes_map_remove_at(counter->map, i);
    }
}

int64_t gx_slot_counter_slot_at(const gx_slot_counter *counter, size_t index, int64_t slot) {
    const int64_t *counts = gx_bytes_map_at(counter->map, index, NULL);
    return in_range(counter, slot) ? counts[1 + slot] : 0;
}

int gx_slot_counter_add(gx_slot_counter *counter, gale_str object, int64_t slot, int64_t count) {
    if (!in_range(counter, slot)) return GALE_INVALID;
    int64_t *counts = gx_bytes_map_put(counter->map, object, NULL);
    if (!counts) return GALE_NO_MEMORY;
    counts[0] += count;
    counts[1 + slot] += count;
    return GALE_OK;
}
