#include "ds/age_table.h"

#include <gale/error.h>

enum {
    SEGMENT_GROUPS = 256, /* a segment of so many groups splits when it is full */
    SMALL_GROUPS = 16,    /* below, a segment doubles; above, it grows by an eighth */
    BITS_MAX = 28,
};
#define TAG GX_TAG_OTHER
#define LARGE ((size_t)256 << 20) /* bytes to reserve: above, the allocator is asked first */

static gx_segment *segment_of(const gx_age_table *table, uint64_t hash) {
    return table->doors[hash >> table->shift].segment;
}

/* --- Making and ending --- */

static gx_segment *make_segment(gx_age_table *table, uint64_t groups, uint32_t depth) {
    if (groups > UINT32_MAX) return NULL;
    gx_segment *segment = gx_segment_new(table->heap, (uint32_t)groups, table->stride);
    if (!segment) return NULL;
    segment->depth = depth;
    table->slots += groups * GX_GROUP_SLOTS;
    return segment;
}

/* NULL is allowed. */
static void drop_segment(gx_age_table *table, gx_segment *segment) {
    if (!segment) return;
    table->slots -= (size_t)segment->groups * GX_GROUP_SLOTS;
    gx_segment_free(table->heap, segment);
}

/* Puts `segment` behind the doors where hashes begin with `prefix`. */
static void install(gx_age_table *table, gx_segment *segment, uint64_t prefix) {
    size_t count = (size_t)1 << (table->bits - segment->depth);
    size_t first = (size_t)(prefix >> (64 - table->bits)) & ~(count - 1);
    for (size_t i = 0; i < count; i++) table->doors[first + i] = (gx_door){ segment, segment->groups };
}

int gx_age_table_init(gx_age_table *table, gx_heap *heap, uint32_t stride, uint64_t seed) {
    *table = (gx_age_table){
        .seed = seed, .bits = 1, .shift = 63, .stride = stride, .group_bytes = gx_group_bytes(stride), .heap = heap
    };
    table->doors = gx_alloc_array(heap, TAG, 2, sizeof *table->doors);
    gx_segment *first = table->doors ? make_segment(table, 1, 0) : NULL;
    if (!first) {
        gx_free(heap, TAG, table->doors, 2 * sizeof *table->doors);
        return GALE_NO_MEMORY;
    }
    install(table, first, 0);
    return GALE_OK;
}

void gx_age_table_fini(gx_age_table *table) {
    uint64_t prefix = 0;
    do {
        gx_segment *segment = segment_of(table, prefix);
        prefix = gx_age_table_after(segment, prefix);
        drop_segment(table, segment);
    } while (prefix);
    gx_free(table->heap, TAG, table->doors, sizeof *table->doors << table->bits);
}

/* --- Growing --- */

static uint64_t groups_for(uint64_t entries) {
    uint64_t least = gx_segment_groups_for(entries);
    return least + least / 8;
}

static uint64_t groups_above(const gx_segment *segment) {
    uint64_t groups = segment->groups;
    if (groups < SMALL_GROUPS) return groups * 2;
    uint64_t grown = groups + groups / 8;
    return groups < SEGMENT_GROUPS && grown > SEGMENT_GROUPS ? SEGMENT_GROUPS : grown;
}

static void copy_entry(gx_segment *to, gx_place at, uint64_t hash) {
    gx_group *home = gx_segment_group(to, gx_segment_home(to->groups, hash), to->stride);
    memcpy(gx_segment_claim(to, home, hash, *gx_place_age(at)).entry, at.entry, to->stride);
}

static uint64_t hash_at(const gx_age_table *table, gx_place at) {
    return gx_age_table_hash(table, gx_load64(at.entry));
}

/* Copies all entries of `from` to `to[0]`, or to `to[1]` those whose hash has the bit `choice`. */
static void copy_all(const gx_age_table *table, gx_segment *const to[2], uint64_t choice, const gx_segment *from) {
    for (uint32_t g = 0; g < from->groups; g++) {
        gx_group *group = gx_segment_group(from, g, table->stride);
        for (uint32_t taken = gx_group_taken(group); taken; taken &= taken - 1) {
            gx_place at = gx_group_place(group, (uint32_t)__builtin_ctz(taken), table->stride);
            uint64_t hash = hash_at(table, at);
            copy_entry(to[(hash & choice) != 0], at, hash);
        }
    }
}

/* How many entries have the bit `choice` in their hash? */
static uint32_t count_choice(const gx_age_table *table, uint64_t choice, const gx_segment *segment) {
    uint32_t count = 0;
    for (uint32_t g = 0; g < segment->groups; g++) {
        gx_group *group = gx_segment_group(segment, g, table->stride);
        for (uint32_t taken = gx_group_taken(group); taken; taken &= taken - 1) {
            gx_place at = gx_group_place(group, (uint32_t)__builtin_ctz(taken), table->stride);
            count += (hash_at(table, at) & choice) != 0;
        }
    }
    return count;
}

static bool resize(gx_age_table *table, gx_segment *segment, uint64_t prefix, uint64_t groups) {
    gx_segment *made = make_segment(table, groups, segment->depth);
    if (!made) return false;
    copy_all(table, (gx_segment *const[2]){ made, made }, 0, segment);
    install(table, made, prefix);
    drop_segment(table, segment);
    table->moves++;
    return true;
}

static bool double_directory(gx_age_table *table) {
    size_t count = (size_t)1 << table->bits;
    gx_door *doors = gx_alloc_array(table->heap, TAG, count * 2, sizeof *doors);
    if (!doors) return false;
    for (size_t i = 0; i < count * 2; i++) doors[i] = table->doors[i / 2];
    gx_free(table->heap, TAG, table->doors, count * sizeof *doors);
    table->doors = doors;
    table->bits++;
    table->shift--;
    return true;
}

static bool split(gx_age_table *table, gx_segment *segment, uint64_t prefix) {
    uint32_t depth = segment->depth + 1;
    if (depth > table->bits && !double_directory(table)) return false;
    uint64_t choice = UINT64_C(1) << (64 - depth);
    uint32_t second = count_choice(table, choice, segment);
    gx_segment *low = make_segment(table, groups_for(segment->used - second), depth);
    gx_segment *high = low ? make_segment(table, groups_for(second), depth) : NULL;
    if (!high) {
        drop_segment(table, low);
        return false;
    }
    copy_all(table, (gx_segment *const[2]){ low, high }, choice, segment);
    install(table, low, prefix & ~choice);
    install(table, high, prefix | choice);
    drop_segment(table, segment);
    table->moves++;
    return true;
}

/* Keys whose hashes begin alike must not make a directory that is larger than what it points to. */
static bool may_split(const gx_age_table *table, const gx_segment *segment) {
    if (segment->depth < table->bits) return true;
    size_t slots = table->slots > table->reserved ? table->slots : table->reserved;
    return table->bits < BITS_MAX && (size_t)2 << table->bits <= slots / 64;
}

GX_COLD bool gx_age_table_make_room(gx_age_table *table, uint64_t hash) {
    for (gx_segment *segment; gx_segment_is_full(segment = segment_of(table, hash));) {
        bool splits = segment->groups >= SEGMENT_GROUPS && may_split(table, segment);
        if (!(splits ? split(table, segment, hash) : resize(table, segment, hash, groups_above(segment)))) return false;
    }
    return true;
}

/* --- Room that is kept --- */

/* A segment's part of what is reserved, and five times the standard deviation, by which parts may differ. */
static uint64_t reserved_part(const gx_age_table *table, uint32_t depth) {
    uint64_t part = (uint64_t)table->reserved >> depth, root = 0;
    if (depth == 0) return part;
    while ((root + 1) * (root + 1) <= part) root++;
    return part + 5 * root;
}

/* The entries that a segment of that depth must have room for, when it has so many. */
static uint64_t wanted(const gx_age_table *table, uint64_t used, uint32_t depth) {
    uint64_t part = table->reserved ? reserved_part(table, depth) : 0;
    return part > used ? part : used;
}

/* Makes the segment at `prefix` large enough, or splits it. */
static bool make_wanted(gx_age_table *table, uint64_t prefix) {
    for (;;) {
        gx_segment *segment = segment_of(table, prefix);
        uint64_t least = gx_segment_groups_for(wanted(table, segment->used, segment->depth));
        if (least <= segment->groups) return true;
        if (least <= SEGMENT_GROUPS || !may_split(table, segment)) return resize(table, segment, prefix, least);
        if (!split(table, segment, prefix)) return false;
    }
}

bool gx_age_table_reserve(gx_age_table *table, size_t entries) {
    if (entries > SIZE_MAX / 4 / table->stride) return false;
    if (entries * table->stride > LARGE && !gx_heap_may_give(table->heap, entries * table->stride)) return false;
    table->reserved = entries;
    uint64_t prefix = 0;
    do {
        if (!make_wanted(table, prefix)) return false;
        prefix = gx_age_table_after(segment_of(table, prefix), prefix);
    } while (prefix);
    return true;
}

/* --- Giving memory back --- */

/* The other half of what this segment was split from, or NULL when the two would fill more than half of one. */
static gx_segment *buddy_to_join(const gx_age_table *table, const gx_segment *segment, uint64_t prefix) {
    if (!segment->depth) return NULL;
    gx_segment *buddy = segment_of(table, prefix ^ (UINT64_C(1) << (64 - segment->depth)));
    if (buddy->depth != segment->depth) return NULL;
    uint64_t both = wanted(table, (uint64_t)segment->used + buddy->used, segment->depth - 1);
    return both > gx_segment_capacity(SEGMENT_GROUPS) / 2 ? NULL : buddy;
}

/* Joins the segment with its buddy, the result with its own, and so on. Returns what hashes with `*prefix_at` have
 * now. */
static gx_segment *join(gx_age_table *table, uint64_t *prefix_at) {
    gx_segment *segment = segment_of(table, *prefix_at), *buddy;
    while ((buddy = buddy_to_join(table, segment, *prefix_at)) != NULL) {
        uint32_t depth = segment->depth - 1;
        gx_segment *made = make_segment(table, groups_for(wanted(table, (uint64_t)segment->used + buddy->used, depth)),
                                        depth);
        if (!made) break;
        copy_all(table, (gx_segment *const[2]){ made, made }, 0, segment);
        copy_all(table, (gx_segment *const[2]){ made, made }, 0, buddy);
        *prefix_at &= ~(UINT64_C(1) << (64 - segment->depth));
        install(table, made, *prefix_at);
        drop_segment(table, segment);
        drop_segment(table, buddy);
        table->moves++;
        segment = made;
    }
    return segment;
}

static void shrink_directory(gx_age_table *table, uint32_t bits) {
    if (bits < 1) bits = 1;
    if (bits >= table->bits) return;
    gx_door *doors = gx_alloc_array(table->heap, TAG, (size_t)1 << bits, sizeof *doors);
    if (!doors) return;
    for (size_t i = 0; i < (size_t)1 << bits; i++) doors[i] = table->doors[i << (table->bits - bits)];
    gx_free(table->heap, TAG, table->doors, sizeof *doors << table->bits);
    table->doors = doors;
    table->bits = bits;
    table->shift = 64 - bits;
}

static uint32_t deepest(const gx_age_table *table) {
    uint32_t depth = 0;
    uint64_t prefix = 0;
    do {
        const gx_segment *segment = segment_of(table, prefix);
        if (segment->depth > depth) depth = segment->depth;
        prefix = gx_age_table_after(segment, prefix);
    } while (prefix);
    return depth;
}

void gx_age_table_fit(gx_age_table *table) {
    uint64_t prefix = 0;
    do {
        gx_segment *segment = join(table, &prefix);
        uint64_t groups = groups_for(wanted(table, segment->used, segment->depth));
        if (groups * 2 <= segment->groups && resize(table, segment, prefix, groups))
            segment = segment_of(table, prefix);
        prefix = gx_age_table_after(segment, prefix);
    } while (prefix);
    shrink_directory(table, deepest(table));
}

/* --- Walks --- */

/* The next entry at or behind `*slot_at`; what is behind it goes there. */
static char *next_in_segment(const gx_segment *segment, uint64_t *slot_at, uint8_t hidden) {
    for (uint64_t slot = *slot_at; slot < (uint64_t)segment->groups * GX_GROUP_SLOTS; slot++) {
        gx_group *group = gx_segment_group(segment, (uint32_t)(slot / GX_GROUP_SLOTS), segment->stride);
        gx_place at = gx_group_place(group, (uint32_t)(slot % GX_GROUP_SLOTS), segment->stride);
        if (!group->tags[at.slot] || *gx_place_age(at) == hidden) continue;
        *slot_at = slot + 1;
        return at.entry;
    }
    return NULL;
}

char *gx_age_table_next(const gx_age_table *table, gx_age_cursor *cursor, uint8_t hidden) {
    while (!cursor->ended) {
        const gx_segment *segment = segment_of(table, cursor->prefix);
        char *entry = next_in_segment(segment, &cursor->slot, hidden);
        if (entry) return entry;
        cursor->prefix = gx_age_table_after(segment, cursor->prefix);
        cursor->slot = 0;
        cursor->ended = cursor->prefix == 0;
    }
    return NULL;
}

/* --- Flaws --- */

static const char *segment_flaw(const gx_age_table *table, const gx_segment *segment, uint64_t prefix,
                                size_t living[GX_AGE_NONE + 1]) {
    uint32_t used = 0;
    for (uint64_t slot = 0; slot < (uint64_t)segment->groups * GX_GROUP_SLOTS; slot++) {
        gx_group *group = gx_segment_group(segment, (uint32_t)(slot / GX_GROUP_SLOTS), segment->stride);
        gx_place at = gx_group_place(group, (uint32_t)(slot % GX_GROUP_SLOTS), segment->stride);
        if (!group->tags[at.slot]) continue;
        uint64_t hash = gx_age_table_hash(table, gx_load64(at.entry));
        if (group->tags[at.slot] != gx_segment_tag(hash)) return "an entry's tag is not that of its hash";
        if (segment->depth && (hash ^ prefix) >> (64 - segment->depth)) return "an entry is in another's segment";
        living[*gx_place_age(at)]++;
        used++;
    }
    return used == segment->used ? NULL : "a segment has not as many entries as it says";
}

const char *gx_age_table_flaw(const gx_age_table *table, size_t living[GX_AGE_NONE + 1]) {
    uint64_t prefix = 0;
    const char *flaw;
    do {
        const gx_segment *segment = segment_of(table, prefix);
        if (segment->depth > table->bits) return "a segment is deeper than the table";
        uint64_t doors = UINT64_C(1) << (table->bits - segment->depth), first = prefix >> table->shift;
        for (uint64_t i = 0; i < doors; i++)
            if (table->doors[first + i].segment != segment || table->doors[first + i].groups != segment->groups)
                return "a door leads elsewhere";
        if ((flaw = segment_flaw(table, segment, prefix, living)) != NULL) return flaw;
        prefix = gx_age_table_after(segment, prefix);
    } while (prefix);
    return NULL;
}
