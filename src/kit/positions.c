/* What a source that is read in order may be told is done: gale_positions. The open ones lie in a ring, in order, each with a mark; what is
 * done at its front leaves, so that the front is the oldest that is not. One is found by halving. */
#include "kit/define.h"

#include <gale/connect.h>

typedef struct position {
    int64_t place;
    bool done;
} position;

struct gale_positions {
    gx_instance instance;
    position *ring;
    size_t capacity, first, count; /* the capacity is a power of two */
    uint64_t open;                 /* that are not done */
    int64_t newest, safe;          /* the last that was begun; that left the front last */
    bool begun, left;              /* is there such a one? */
};

enum { SMALLEST = 64 };

gale_positions *gale_positions_new(const gale_context *context) {
    return context ? gx_define_instance(context, sizeof(gale_positions)) : NULL;
}

void gale_positions_free(gale_positions *positions) {
    if (!positions) return;
    gx_free(&positions->instance.heap, GX_TAG_OTHER, positions->ring, positions->capacity * sizeof *positions->ring);
    gx_define_instance_free(positions);
}

static position *at(const gale_positions *positions, size_t index) {
    return &positions->ring[(positions->first + index) & (positions->capacity - 1)];
}

static bool has_room(gale_positions *positions) {
    if (positions->count < positions->capacity) return true;
    size_t capacity = positions->capacity ? 2 * positions->capacity : SMALLEST;
    position *ring = gx_alloc_array(&positions->instance.heap, GX_TAG_OTHER, capacity, sizeof *ring);
    if (!ring) return false;
    for (size_t i = 0; i < positions->count; i++) ring[i] = *at(positions, i);
    gx_free(&positions->instance.heap, GX_TAG_OTHER, positions->ring, positions->capacity * sizeof *ring);
    positions->ring = ring;
    positions->capacity = capacity;
    positions->first = 0;
    return true;
}

int gale_positions_start(gale_positions *positions, int64_t place) {
    if (!positions || place == INT64_MIN) return GALE_INVALID;
    if (positions->begun) return GALE_STATE;
    positions->newest = positions->safe = place - 1;
    positions->begun = positions->left = true;
    return 0;
}

int gale_positions_begin(gale_positions *positions, int64_t place) {
    if (!positions) return GALE_INVALID;
    if (positions->begun && place <= positions->newest) return GALE_EXISTS;
    if (!has_room(positions)) return GALE_NO_MEMORY;
    positions->count++;
    *at(positions, positions->count - 1) = (position){ place, false };
    positions->open++;
    positions->newest = place;
    positions->begun = true;
    return 0;
}

/* The first that is at `place` or above it. */
static size_t find(const gale_positions *positions, int64_t place) {
    size_t low = 0, high = positions->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (at(positions, middle)->place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int gale_positions_done(gale_positions *positions, int64_t place) {
    if (!positions) return GALE_INVALID;
    size_t index = find(positions, place);
    if (index == positions->count || at(positions, index)->place != place || at(positions, index)->done)
        return GALE_NOT_FOUND;
    at(positions, index)->done = true;
    positions->open--;
    while (positions->count && at(positions, 0)->done) {
        positions->safe = at(positions, 0)->place;
        positions->left = true;
        positions->first = (positions->first + 1) & (positions->capacity - 1);
        positions->count--;
    }
    return 0;
}

uint64_t gale_positions_count(const gale_positions *positions) {
    return positions ? positions->open : 0;
}

int gale_positions_safe(const gale_positions *positions, int64_t *ret_place) {
    if (!positions || !ret_place) return GALE_INVALID;
    if (!positions->left) return GALE_NOT_FOUND;
    *ret_place = positions->safe;
    return 0;
}
