/* A segment of a rotating map (ds/rotating_map.h): a hash table of entries that have an age, of any number of groups.
 *
 * What:    a group is 15 slots. Its head of 32 bytes holds for each slot a tag (8 bits of the hash, 0: free) and an
 *          age, and how many entries wanted a slot here and had to pass on to the next group: a search ends where that
 *          is 0. Removing an entry counts it down again along its way, so nothing moves and no mark stays behind.
 *
 *              segment | head | head | head ...          | 15 entries | 15 entries | ...
 *                       \ 15 tags, passed, 15 ages, -      \ key, value | key, value | ...
 *
 *          A walk over all of one age reads the heads alone: a byte a slot.
 * Threads: one at a time. Owner: memory comes from a gx_heap. Limits: as many entries as 2^32 groups hold; the caller
 *          keeps at least one slot free.
 */
#ifndef GX_DS_AGE_SEGMENT_H
#define GX_DS_AGE_SEGMENT_H

#include "base/alloc.h"
#include "ds/match16.h"

enum {
    GX_GROUP_SLOTS = 15,
    GX_GROUP_FULL = 13, /* entries a group, on the average, at which a segment is full */
    GX_GROUP_MASK = (1 << GX_GROUP_SLOTS) - 1,
    GX_PASSED_MAX = 255, /* stays there: then searches go on further than they need */
    GX_AGE_NONE = 255,
};

typedef struct gx_group {
    uint8_t tags[GX_GROUP_SLOTS];
    uint8_t passed;
    uint8_t ages[GX_GROUP_SLOTS];
    uint8_t spare;
} gx_group;

static_assert(sizeof(gx_group) == 32, "two heads share a line");

typedef struct gx_segment {
    uint32_t groups;
    uint32_t used;   /* entries */
    uint32_t stride; /* bytes an entry: key and value */
    uint32_t depth;  /* the map's: how many leading bits of the hash all entries have in common */
    uint64_t reserved[2];
    gx_group group[];
} gx_segment;

static_assert(offsetof(gx_segment, group) == sizeof(gx_group), "heads are aligned to their size");

/* Where an entry is. */
typedef struct gx_place {
    uint32_t group;
    uint32_t slot;
} gx_place;

/* NULL when memory is out. */
gx_segment *gx_segment_new(gx_heap *heap, uint32_t groups, uint32_t stride);
void gx_segment_free(gx_heap *heap, gx_segment *segment);

GX_INLINE bool gx_segment_is_full(const gx_segment *segment) {
    return segment->used >= (uint64_t)segment->groups * GX_GROUP_FULL;
}

/* The low 32 bits of the hash choose the group, the byte above them is the tag; the directory takes the highest. */
GX_INLINE uint32_t gx_segment_home(const gx_segment *segment, uint64_t hash) {
    return (uint32_t)(((hash & UINT32_MAX) * segment->groups) >> 32);
}

GX_INLINE uint8_t gx_segment_tag(uint64_t hash) {
    uint8_t tag = (uint8_t)(hash >> 32);
    return tag ? tag : 1;
}

GX_INLINE char *gx_segment_entry(const gx_segment *segment, gx_place at) {
    return (char *)(segment->group + segment->groups) + ((size_t)at.group * GX_GROUP_SLOTS + at.slot) * segment->stride;
}

/* Looks for `key`; entries of the age `hidden` are as if they were not there. */
GX_INLINE bool gx_segment_find(const gx_segment *segment, uint64_t key, uint64_t hash, uint8_t hidden,
                               gx_place *ret_at) {
    uint32_t home = gx_segment_home(segment, hash), g = home;
    uint8_t tag = gx_segment_tag(hash);
    do {
        const gx_group *group = &segment->group[g];
        for (uint32_t hits = gx_match16(group->tags, tag) & GX_GROUP_MASK; hits; hits &= hits - 1) {
            gx_place at = { g, (uint32_t)__builtin_ctz(hits) };
            if (gx_load64(gx_segment_entry(segment, at)) != key || group->ages[at.slot] == hidden) continue;
            *ret_at = at;
            return true;
        }
        if (GX_LIKELY(!group->passed)) return false;
        if (++g == segment->groups) g = 0;
    } while (g != home);
    return false;
}

/* Takes a free slot for an entry, which there must be, and notes tag and age. The entry's bytes are the caller's. */
gx_place gx_segment_claim(gx_segment *segment, uint64_t hash, uint8_t age);

void gx_segment_erase(gx_segment *segment, gx_place at, uint64_t hash);

#endif
