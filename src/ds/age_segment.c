#include "ds/age_segment.h"

#include "base/assert.h"

#define TAG GX_TAG_OTHER

static size_t bytes_of(uint32_t groups, uint32_t stride) {
    return sizeof(gx_segment) + (size_t)groups * (sizeof(gx_group) + (size_t)GX_GROUP_SLOTS * stride);
}

gx_segment *gx_segment_new(gx_heap *heap, uint32_t groups, uint32_t stride) {
    gx_segment *segment = gx_alloc_apart(heap, TAG, bytes_of(groups, stride));
    if (!segment) return NULL;
    segment->groups = groups;
    segment->stride = stride;
    for (uint32_t g = 0; g < groups; g++) memset(segment->group[g].ages, GX_AGE_NONE, GX_GROUP_SLOTS);
    return segment;
}

void gx_segment_free(gx_heap *heap, gx_segment *segment) {
    if (segment) gx_free_apart(heap, TAG, segment, bytes_of(segment->groups, segment->stride));
}

static uint32_t next_group(const gx_segment *segment, uint32_t g) {
    return g + 1 == segment->groups ? 0 : g + 1;
}

gx_place gx_segment_claim(gx_segment *segment, uint64_t hash, uint8_t age) {
    GX_CHECK(segment->used < (uint64_t)segment->groups * GX_GROUP_SLOTS);
    uint32_t g = gx_segment_home(segment, hash), free_slots;
    while ((free_slots = gx_match16(segment->group[g].tags, 0) & GX_GROUP_MASK) == 0) {
        if (segment->group[g].passed != GX_PASSED_MAX) segment->group[g].passed++;
        g = next_group(segment, g);
    }
    gx_place at = { g, (uint32_t)__builtin_ctz(free_slots) };
    segment->group[g].tags[at.slot] = gx_segment_tag(hash);
    segment->group[g].ages[at.slot] = age;
    segment->used++;
    return at;
}

void gx_segment_erase(gx_segment *segment, gx_place at, uint64_t hash) {
    for (uint32_t g = gx_segment_home(segment, hash); g != at.group; g = next_group(segment, g))
        if (segment->group[g].passed != GX_PASSED_MAX) segment->group[g].passed--;
    segment->group[at.group].tags[at.slot] = 0;
    segment->group[at.group].ages[at.slot] = GX_AGE_NONE;
    segment->used--;
}
