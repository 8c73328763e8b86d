#include "ds/age_segment.h"

#include "base/assert.h"

#define TAG GX_TAG_OTHER

static size_t bytes_of(uint32_t groups, uint32_t stride) {
    return sizeof(gx_segment) + groups * gx_group_bytes(stride);
}

gx_segment *gx_segment_new(gx_heap *heap, uint32_t groups, uint32_t stride) {
    gx_segment *segment = gx_alloc_apart(heap, TAG, bytes_of(groups, stride));
    if (!segment) return NULL;
    uint64_t full = gx_segment_capacity(groups);
    segment->groups = groups;
    segment->full = full < UINT32_MAX ? (uint32_t)full : UINT32_MAX;
    segment->stride = stride;
    return segment;
}

void gx_segment_free(gx_heap *heap, gx_segment *segment) {
    if (segment) gx_free_apart(heap, TAG, segment, bytes_of(segment->groups, segment->stride));
}

/* The way of an entry through the groups: its home, one of the 8 behind, all from there on. */
typedef struct way {
    const gx_segment *segment;
    uint64_t hash;
    uint32_t g;
    uint32_t gone; /* groups */
} way;

static way begin(const gx_segment *segment, uint64_t hash) {
    return (way){ segment, hash, gx_segment_home(segment->groups, hash), 0 };
}

static gx_group *group_at(const way *w) {
    return gx_segment_group(w->segment, w->g, w->segment->stride);
}

static void go_on(way *w) {
    uint32_t step = w->gone++ ? 1 : gx_segment_step(w->hash);
    uint64_t g = (uint64_t)w->g + step;
    while (g >= w->segment->groups) g -= w->segment->groups; /* rarely; a division would always cost */
    w->g = (uint32_t)g;
}

bool gx_segment_search(const gx_segment *segment, uint64_t word, uint64_t hash, uint8_t hidden, gx_same_fn *same,
                       const void *key, gx_place *ret_at) {
    for (way w = begin(segment, hash); w.gone <= segment->groups; go_on(&w)) {
        gx_group *group = group_at(&w);
        uint32_t hits = gx_group_tagged(group, gx_segment_tag(hash));
        for (; hits; hits &= hits - 1) {
            gx_place at = gx_group_place(group, (uint32_t)__builtin_ctz(hits), segment->stride);
            if (gx_load64(at.entry) != word || *gx_place_age(at) == hidden || (same && !same(at.entry, key))) continue;
            *ret_at = at;
            return true;
        }
        if (!gx_group_was_passed(group, hash)) return false;
    }
    return false;
}

static void count(gx_group *group, uint64_t hash, int by) {
    unsigned at = gx_segment_counter(hash), passed = group->passed >> at & GX_PASSED_MAX;
    if (passed != GX_PASSED_MAX) group->passed += (uint32_t)by << at;
}

/* The first group on the way that is not full; those before it count who passes. */
static gx_group *pass_on(gx_segment *segment, uint64_t hash) {
    way w = begin(segment, hash);
    for (; !gx_group_free(group_at(&w)); go_on(&w)) count(group_at(&w), hash, 1);
    return group_at(&w);
}

gx_place gx_segment_claim(gx_segment *segment, gx_group *home, uint64_t hash, uint8_t age) {
    GX_CHECK(segment->used < (uint64_t)segment->groups * GX_GROUP_SLOTS);
    gx_group *group = gx_group_free(home) ? home : pass_on(segment, hash);
    gx_place at = gx_group_place(group, (uint32_t)__builtin_ctz(gx_group_free(group)), segment->stride);
    gx_segment_settle(segment, at, hash, age);
    return at;
}

/* Where the entry is, is not on its way twice: only its home is, which was full. */
void gx_segment_count_down(gx_segment *segment, const gx_group *until, uint64_t hash) {
    for (way w = begin(segment, hash); group_at(&w) != until; go_on(&w)) count(group_at(&w), hash, -1);
}
