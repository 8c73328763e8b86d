/* A segment of an age table (ds/age_table.h): a hash table of entries that have an age, of any number of groups.
 *
 * What:    a group is 14 slots: a head of 32 bytes, then the entries. With entries of 16 bytes it is four cache lines
 *          and lies in one page, so that a head and its entries are near in every cache there is, that of pages too.
 *
 *              group | 14 tags | 14 ages | passed: 8 x 4 bits | 14 entries: a word (the key), what the caller wants |
 *
 *          A slot's tag is 8 bits of the hash, 0 when it is free. An entry that finds its group full passes on, first
 *          to one of the 8 groups behind, then from group to group; each counts it in one of 8 counters, which its hash
 *          chooses. A search ends where that counter is 0. (When all go to the next group, full ones come in clusters.)
 *          Removing an entry counts down again along its way, so nothing moves and no mark stays behind.
 * Threads: one at a time. Owner: memory comes from a gx_heap. Limits: as many entries as 2^32 groups hold; the caller
 *          keeps at least one slot free.
 */
#ifndef GX_DS_AGE_SEGMENT_H
#define GX_DS_AGE_SEGMENT_H

#include "base/alloc.h"
#include "ds/match16.h"

enum {
    GX_GROUP_SLOTS = 14,
    GX_GROUPS_FULL = 45, /* entries in 4 groups, on the average, at which a segment is full */
    GX_GROUP_MASK = (1 << GX_GROUP_SLOTS) - 1,
    GX_PASSED_MAX = 15, /* stays there: then searches go on further than they need */
    GX_AGE_NONE = 255,
};

typedef struct gx_group {
    uint8_t tags[GX_GROUP_SLOTS];
    uint8_t ages[GX_GROUP_SLOTS]; /* of a free slot: anything */
    uint32_t passed;              /* 8 counters of 4 bits */
} gx_group;

static_assert(sizeof(gx_group) == 32, "14 entries of 16 bytes and their head are four lines");

typedef struct gx_segment {
    uint32_t groups;
    uint32_t used;   /* entries */
    uint32_t full;   /* how many are too many */
    uint32_t stride; /* bytes an entry */
    uint32_t depth;  /* the table's: how many leading bits of the hash all entries have in common */
    uint32_t reserved[27];
} gx_segment;

static_assert(sizeof(gx_segment) == GX_APART, "the groups behind it begin a line");

/* Where an entry is. */
typedef struct gx_place {
    gx_group *group;
    char *entry;
    uint32_t slot;
} gx_place;

/* Is the key of the entry `key`, when their words are equal? */
typedef bool gx_same_fn(const char *entry, const void *key);

/* NULL when memory is out. */
gx_segment *gx_segment_new(gx_heap *heap, uint32_t groups, uint32_t stride);
void gx_segment_free(gx_heap *heap, gx_segment *segment);

/* How many entries fill so many groups, and how many groups hold so many entries? */
GX_INLINE uint64_t gx_segment_capacity(uint64_t groups) {
    return groups * GX_GROUPS_FULL / 4;
}

GX_INLINE uint64_t gx_segment_groups_for(uint64_t entries) {
    return entries * 4 / GX_GROUPS_FULL + 1;
}

GX_INLINE bool gx_segment_is_full(const gx_segment *segment) {
    return segment->used >= segment->full;
}

/* Of a hash, the low 32 bits choose the group, the byte above them is the tag, three bits above it choose the counter
 * of those who passed, three the next group; the table takes the highest. */
GX_INLINE uint8_t gx_segment_tag(uint64_t hash) {
    uint8_t tag = (uint8_t)(hash >> 32);
    return (uint8_t)(tag + (tag == 0));
}

/* How far the counter is from the lowest bit. */
GX_INLINE unsigned gx_segment_counter(uint64_t hash) {
    return (unsigned)(hash >> 38) & 28;
}

GX_INLINE uint32_t gx_segment_step(uint64_t hash) {
    return 1 + ((uint32_t)(hash >> 43) & 7);
}

GX_INLINE size_t gx_group_bytes(uint32_t stride) {
    return sizeof(gx_group) + (size_t)GX_GROUP_SLOTS * stride;
}

GX_INLINE gx_group *gx_segment_group(const gx_segment *segment, uint32_t g, uint32_t stride) {
    return (gx_group *)((char *)(uintptr_t)(segment + 1) + g * gx_group_bytes(stride));
}

/* The group where a search for the hash begins. `groups` is the segment's: the caller has it at hand before the
 * segment's own line arrives. */
GX_INLINE uint32_t gx_segment_home(uint32_t groups, uint64_t hash) {
    return (uint32_t)(((hash & UINT32_MAX) * groups) >> 32);
}

GX_INLINE gx_place gx_group_place(gx_group *group, uint32_t slot, uint32_t stride) {
    return (gx_place){ group, (char *)(group + 1) + (size_t)slot * stride, slot };
}

GX_INLINE uint8_t *gx_place_age(gx_place at) {
    return &at.group->ages[at.slot];
}

/* A bit for each slot of the group that is free, or that has an entry, or one of that age. */
GX_INLINE uint32_t gx_group_free(const gx_group *group) {
    return gx_match16(group->tags, 0) & GX_GROUP_MASK;
}

GX_INLINE uint32_t gx_group_taken(const gx_group *group) {
    return gx_group_free(group) ^ GX_GROUP_MASK;
}

GX_INLINE uint32_t gx_group_aged(const gx_group *group, uint8_t age) {
    return gx_match16(group->ages, age) & gx_group_taken(group);
}

/* Has anybody with such a hash passed this group? */
GX_INLINE bool gx_group_was_passed(const gx_group *group, uint64_t hash) {
    return (group->passed >> gx_segment_counter(hash) & GX_PASSED_MAX) != 0;
}

/* A bit for each slot of the group that has this tag. */
GX_INLINE uint32_t gx_group_tagged(const gx_group *group, uint8_t tag) {
    return gx_match16(group->tags, tag) & GX_GROUP_MASK;
}

/* Looks for the entry with this word that is the `same` as `key` (`same` NULL: the word is the key). Entries of the age
 * `hidden` are as if they were not there. */
bool gx_segment_search(const gx_segment *segment, uint64_t word, uint64_t hash, uint8_t hidden, gx_same_fn *same,
                       const void *key, gx_place *ret_at);

/* Takes the free slot for an entry: notes tag and age. */
GX_INLINE void gx_segment_settle(gx_segment *segment, gx_place at, uint64_t hash, uint8_t age) {
    at.group->tags[at.slot] = gx_segment_tag(hash);
    *gx_place_age(at) = age;
    segment->used++;
}

/* Takes a free slot, which there must be, at `home`, the home of the hash, or behind. The entry's bytes are the
 * caller's. */
gx_place gx_segment_claim(gx_segment *segment, gx_group *home, uint64_t hash, uint8_t age);

/* Counts down those who passed, from the home of the hash to the group. */
void gx_segment_count_down(gx_segment *segment, const gx_group *until, uint64_t hash);

GX_INLINE void gx_segment_erase(gx_segment *segment, gx_group *home, gx_place at, uint64_t hash) {
    if (GX_UNLIKELY(at.group != home)) gx_segment_count_down(segment, at.group, hash);
    at.group->tags[at.slot] = 0;
    segment->used--;
}

#endif
