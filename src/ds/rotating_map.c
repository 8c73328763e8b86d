#include "ds/rotating_map.h"

#include "ds/age_segment.h"

#include <gale/error.h>

/* The directory has 2^bits pointers; the leading bits of a hash choose one. A segment of depth d, whose hashes have d
 * leading bits in common, is named by 2^(bits - d) of them (extendible hashing: Fagin and others, 1979). `bits` is at
 * least 1, so that a shift by 64 never comes up.
 *
 * There is one age more than buckets: the oldest dies under its own age while the newest has one that nobody has. */
enum {
    SEGMENT_GROUPS = 256, /* a segment of so many groups splits when it is full */
    SMALL_GROUPS = 16,    /* below, a segment doubles; above, it grows by a fifth */
    BITS_MAX = 28,
};
#define TAG GX_TAG_OTHER

struct gx_rotating_map {
    gx_segment **directory;
    uint32_t bits;
    uint32_t ages;
    uint8_t newest;
    uint8_t dying; /* GX_AGE_NONE but during a rotation */
    uint64_t seed;
    size_t size;
    size_t peak;    /* of size, since the last rotation */
    size_t slots;   /* of all segments */
    uint64_t moves; /* how often entries were moved */
    size_t *living; /* entries by age */
    size_t value_size;
    uint32_t stride;
    gx_heap *heap;
    char *corpse; /* the dead entry that is handed out */
};

/* A multiplication to 128 bits, folded (as in wyhash): every bit of the key reaches every bit that is used. */
GX_INLINE uint64_t hash_of(const gx_rotating_map *map, uint64_t key) {
    unsigned __int128 product = (unsigned __int128)(key ^ map->seed) * UINT64_C(0x9fb21c651e98df25);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

GX_INLINE gx_segment *segment_of(const gx_rotating_map *map, uint64_t hash) {
    return map->directory[hash >> (64 - map->bits)];
}

/* --- Making and ending --------------------------------------------------------------------------------------------
 */

static gx_segment *make_segment(gx_rotating_map *map, uint64_t groups, uint32_t depth) {
    if (groups > UINT32_MAX) return NULL;
    gx_segment *segment = gx_segment_new(map->heap, (uint32_t)groups, map->stride);
    if (!segment) return NULL;
    segment->depth = depth;
    map->slots += groups * GX_GROUP_SLOTS;
    return segment;
}

/* NULL is allowed. */
static void drop_segment(gx_rotating_map *map, gx_segment *segment) {
    if (!segment) return;
    map->slots -= (size_t)segment->groups * GX_GROUP_SLOTS;
    gx_segment_free(map->heap, segment);
}

/* Where the hashes of the segment after this one begin; 0 after the last. */
static uint64_t after(const gx_segment *segment, uint64_t prefix) {
    return segment->depth ? prefix + (UINT64_C(1) << (64 - segment->depth)) : 0;
}

/* Names `segment` where hashes begin with `prefix`. */
static void install(gx_rotating_map *map, gx_segment *segment, uint64_t prefix) {
    size_t count = (size_t)1 << (map->bits - segment->depth);
    size_t first = (size_t)(prefix >> (64 - map->bits)) & ~(count - 1);
    for (size_t i = 0; i < count; i++) map->directory[first + i] = segment;
}

static int fill(gx_rotating_map *map) {
    map->living = gx_alloc_array(map->heap, TAG, map->ages, sizeof *map->living);
    map->corpse = gx_alloc(map->heap, TAG, map->stride);
    map->directory = gx_alloc_array(map->heap, TAG, 2, sizeof *map->directory);
    if (!map->living || !map->corpse || !map->directory) return GALE_NO_MEMORY;
    gx_segment *first = make_segment(map, 1, 0);
    if (!first) return GALE_NO_MEMORY;
    install(map, first, 0);
    return GALE_OK;
}

int gx_rotating_map_new(gx_heap *heap, uint32_t buckets, size_t value_size, uint64_t seed, gx_rotating_map **ret_map) {
    if (buckets < 2 || buckets > GX_ROTATING_BUCKETS_MAX || value_size > GX_ROTATING_VALUE_MAX) return GALE_INVALID;
    gx_rotating_map *map = gx_alloc(heap, TAG, sizeof *map);
    if (!map) return GALE_NO_MEMORY;
    map->heap = heap;
    map->bits = 1;
    map->ages = buckets + 1;
    map->dying = GX_AGE_NONE;
    map->seed = seed;
    map->value_size = value_size;
    map->stride = (uint32_t)(sizeof(uint64_t) + gx_align_up(value_size, 8));
    if (fill(map) == GALE_OK) {
        *ret_map = map;
        return GALE_OK;
    }
    gx_rotating_map_free(map);
    return GALE_NO_MEMORY;
}

static void drop_all(gx_rotating_map *map) {
    uint64_t prefix = 0;
    do {
        gx_segment *segment = segment_of(map, prefix);
        prefix = after(segment, prefix);
        drop_segment(map, segment);
    } while (prefix);
}

void gx_rotating_map_free(gx_rotating_map *map) {
    if (!map) return;
    gx_heap *heap = map->heap;
    if (map->directory && map->directory[0]) drop_all(map);
    gx_free(heap, TAG, map->directory, sizeof *map->directory << map->bits);
    gx_free(heap, TAG, map->corpse, map->stride);
    gx_free(heap, TAG, map->living, map->ages * sizeof *map->living);
    gx_free(heap, TAG, map, sizeof *map);
}

size_t gx_rotating_map_size(const gx_rotating_map *map) {
    return map->size;
}

/* --- Growing --------------------------------------------------------------------------------------------------------
 */

static uint64_t groups_for(uint64_t entries) {
    uint64_t least = entries / GX_GROUP_FULL + 1;
    return least + least / 5;
}

static uint64_t groups_above(const gx_segment *segment) {
    uint64_t groups = segment->groups;
    if (groups < SMALL_GROUPS) return groups * 2;
    uint64_t grown = groups + groups / 5;
    return groups < SEGMENT_GROUPS && grown > SEGMENT_GROUPS ? SEGMENT_GROUPS : grown;
}

/* A bit for each slot of the group that has an entry. */
GX_INLINE uint32_t taken_slots(const gx_segment *segment, uint32_t g) {
    return ~gx_match16(segment->group[g].tags, 0) & GX_GROUP_MASK;
}

/* Copies the entry at `at`, whose hash is given, under its age. */
static void copy_entry(gx_segment *to, const gx_segment *from, gx_place at, uint64_t hash) {
    gx_place there = gx_segment_claim(to, hash, from->group[at.group].ages[at.slot]);
    memcpy(gx_segment_entry(to, there), gx_segment_entry(from, at), from->stride);
}

/* Copies all entries of `from` to `to[0]`, or to `to[1]` those whose hash has the bit `choice`. */
static void copy_all(const gx_rotating_map *map, gx_segment *const to[2], uint64_t choice, const gx_segment *from) {
    for (uint32_t g = 0; g < from->groups; g++) {
        for (uint32_t taken = taken_slots(from, g); taken; taken &= taken - 1) {
            gx_place at = { g, (uint32_t)__builtin_ctz(taken) };
            uint64_t hash = hash_of(map, gx_load64(gx_segment_entry(from, at)));
            copy_entry(to[(hash & choice) != 0], from, at, hash);
        }
    }
}

/* How many entries have the bit `choice` in their hash? */
static uint32_t count_choice(const gx_rotating_map *map, uint64_t choice, const gx_segment *segment) {
    uint32_t count = 0;
    for (uint32_t g = 0; g < segment->groups; g++) {
        for (uint32_t taken = taken_slots(segment, g); taken; taken &= taken - 1) {
            gx_place at = { g, (uint32_t)__builtin_ctz(taken) };
            count += (hash_of(map, gx_load64(gx_segment_entry(segment, at))) & choice) != 0;
        }
    }
    return count;
}

static bool resize(gx_rotating_map *map, gx_segment *segment, uint64_t prefix, uint64_t groups) {
    gx_segment *made = make_segment(map, groups, segment->depth);
    if (!made) return false;
    copy_all(map, (gx_segment *const[2]){ made, made }, 0, segment);
    install(map, made, prefix);
    drop_segment(map, segment);
    map->moves++;
    return true;
}

static bool double_directory(gx_rotating_map *map) {
    size_t count = (size_t)1 << map->bits;
    gx_segment **directory = gx_alloc_array(map->heap, TAG, count * 2, sizeof *directory);
    if (!directory) return false;
    for (size_t i = 0; i < count * 2; i++) directory[i] = map->directory[i / 2];
    gx_free(map->heap, TAG, map->directory, count * sizeof *directory);
    map->directory = directory;
    map->bits++;
    return true;
}

static bool split(gx_rotating_map *map, gx_segment *segment, uint64_t prefix) {
    uint32_t depth = segment->depth + 1;
    if (depth > map->bits && !double_directory(map)) return false;
    uint64_t choice = UINT64_C(1) << (64 - depth);
    uint32_t second = count_choice(map, choice, segment);
    gx_segment *low = make_segment(map, groups_for(segment->used - second), depth);
    gx_segment *high = low ? make_segment(map, groups_for(second), depth) : NULL;
    if (!high) {
        drop_segment(map, low);
        return false;
    }
    copy_all(map, (gx_segment *const[2]){ low, high }, choice, segment);
    install(map, low, prefix & ~choice);
    install(map, high, prefix | choice);
    drop_segment(map, segment);
    map->moves++;
    return true;
}

/* Keys whose hashes begin alike must not make a directory that is larger than what it points to. */
static bool may_split(const gx_rotating_map *map, const gx_segment *segment) {
    if (segment->depth < map->bits) return true;
    return map->bits < BITS_MAX && (size_t)2 << map->bits <= map->slots / 64;
}

/* A segment for the hash that is not full; NULL when memory is out. */
static gx_segment *segment_with_room(gx_rotating_map *map, uint64_t hash) {
    gx_segment *segment = segment_of(map, hash);
    while (GX_UNLIKELY(gx_segment_is_full(segment))) {
        bool splits = segment->groups >= SEGMENT_GROUPS && may_split(map, segment);
        if (!(splits ? split(map, segment, hash) : resize(map, segment, hash, groups_above(segment)))) return NULL;
        segment = segment_of(map, hash);
    }
    return segment;
}

/* --- Operations -----------------------------------------------------------------------------------------------------
 */

static void *value_of(char *entry) {
    return entry + sizeof(uint64_t);
}

void *gx_rotating_map_get(const gx_rotating_map *map, uint64_t key) {
    uint64_t hash = hash_of(map, key);
    gx_segment *segment = segment_of(map, hash);
    gx_place at;
    return gx_segment_find(segment, key, hash, map->dying, &at) ? value_of(gx_segment_entry(segment, at)) : NULL;
}

static void *add(gx_rotating_map *map, uint64_t key, uint64_t hash) {
    gx_segment *segment = segment_with_room(map, hash);
    if (!segment) return NULL;
    char *entry = gx_segment_entry(segment, gx_segment_claim(segment, hash, map->newest));
    gx_store64(entry, key);
    memset(value_of(entry), 0, map->stride - sizeof key);
    map->living[map->newest]++;
    if (++map->size > map->peak) map->peak = map->size;
    return value_of(entry);
}

static void renew(gx_rotating_map *map, uint8_t *age) {
    map->living[*age]--;
    map->living[map->newest]++;
    *age = map->newest;
}

GX_INLINE void *put(gx_rotating_map *map, uint64_t key, bool renews, bool *ret_made) {
    uint64_t hash = hash_of(map, key);
    gx_segment *segment = segment_of(map, hash);
    gx_place at;
    bool made = !gx_segment_find(segment, key, hash, map->dying, &at);
    if (!made && renews) renew(map, &segment->group[at.group].ages[at.slot]);
    void *value = made ? add(map, key, hash) : value_of(gx_segment_entry(segment, at));
    if (ret_made && value) *ret_made = made;
    return value;
}

void *gx_rotating_map_put(gx_rotating_map *map, uint64_t key, bool *ret_made) {
    return put(map, key, true, ret_made);
}

void *gx_rotating_map_put_if_absent(gx_rotating_map *map, uint64_t key, bool *ret_made) {
    return put(map, key, false, ret_made);
}

bool gx_rotating_map_remove(gx_rotating_map *map, uint64_t key, void *ret_value) {
    uint64_t hash = hash_of(map, key);
    gx_segment *segment = segment_of(map, hash);
    gx_place at;
    if (!gx_segment_find(segment, key, hash, map->dying, &at)) return false;
    if (ret_value) memcpy(ret_value, value_of(gx_segment_entry(segment, at)), map->value_size);
    map->living[segment->group[at.group].ages[at.slot]]--;
    map->size--;
    gx_segment_erase(segment, at, hash);
    return true;
}

/* The next entry that is taken and not dying, at or behind `*slot_at`; what is behind it goes there. */
static char *next_in_segment(const gx_rotating_map *map, const gx_segment *segment, uint64_t *slot_at) {
    for (uint64_t slot = *slot_at; slot < (uint64_t)segment->groups * GX_GROUP_SLOTS; slot++) {
        gx_place at = { (uint32_t)(slot / GX_GROUP_SLOTS), (uint32_t)(slot % GX_GROUP_SLOTS) };
        const gx_group *group = &segment->group[at.group];
        if (!group->tags[at.slot] || group->ages[at.slot] == map->dying) continue;
        *slot_at = slot + 1;
        return gx_segment_entry(segment, at);
    }
    return NULL;
}

void *gx_rotating_map_next(const gx_rotating_map *map, gx_rotating_cursor *cursor, uint64_t *ret_key) {
    while (!cursor->ended) {
        const gx_segment *segment = segment_of(map, cursor->segment);
        char *entry = next_in_segment(map, segment, &cursor->slot);
        if (entry) {
            *ret_key = gx_load64(entry);
            return value_of(entry);
        }
        cursor->segment = after(segment, cursor->segment);
        cursor->slot = 0;
        cursor->ended = cursor->segment == 0;
    }
    return NULL;
}

/* --- Rotation -------------------------------------------------------------------------------------------------------
 */

/* Takes a dead entry out of the table, then hands out its copy: whatever the callback does, this entry is gone. */
static void bury(gx_rotating_map *map, gx_segment *segment, gx_place at, gx_expired_fn *expired, void *user) {
    memcpy(map->corpse, gx_segment_entry(segment, at), map->stride);
    uint64_t key = gx_load64(map->corpse);
    gx_segment_erase(segment, at, hash_of(map, key));
    map->living[map->dying]--;
    if (expired) expired(user, key, value_of(map->corpse));
}

/* The dead of a group. False when the callback made entries move: the segment may be another one now. */
static bool bury_group(gx_rotating_map *map, gx_segment *segment, uint32_t g, gx_expired_fn *expired, void *user) {
    uint64_t moves = map->moves;
    for (uint32_t dead = gx_match16(segment->group[g].ages, map->dying) & GX_GROUP_MASK; dead; dead &= dead - 1) {
        bury(map, segment, (gx_place){ g, (uint32_t)__builtin_ctz(dead) }, expired, user);
        if (map->moves != moves) return false;
    }
    return true;
}

/* Entries stay in their slots except when a segment grows or splits; then its dead are looked for from its beginning. A
 * segment grows by a fifth at least, so that does not happen often. */
static void bury_all(gx_rotating_map *map, gx_expired_fn *expired, void *user) {
    uint64_t prefix = 0;
    do {
        gx_segment *segment = segment_of(map, prefix);
        for (uint32_t g = 0; g < segment->groups && map->living[map->dying];) {
            if (bury_group(map, segment, g, expired, user)) {
                g++;
                continue;
            }
            segment = segment_of(map, prefix);
            g = 0;
        }
        prefix = after(segment, prefix);
    } while (prefix && map->living[map->dying]);
}

/* --- Giving memory back ---------------------------------------------------------------------------------------------
 * When memory for the smaller thing is out, the larger one stays. */

/* The other half of what this segment was split from, or NULL when the two would fill more than half of one. */
static gx_segment *buddy_to_join(const gx_rotating_map *map, const gx_segment *segment, uint64_t prefix) {
    if (!segment->depth) return NULL;
    gx_segment *buddy = segment_of(map, prefix ^ (UINT64_C(1) << (64 - segment->depth)));
    if (buddy->depth != segment->depth) return NULL;
    return segment->used + buddy->used > SEGMENT_GROUPS * GX_GROUP_FULL / 2 ? NULL : buddy;
}

/* Joins the segment with its buddy, the result with its own, and so on. Returns what hashes with `*prefix_at` have
 * now. */
static gx_segment *join(gx_rotating_map *map, uint64_t *prefix_at) {
    gx_segment *segment = segment_of(map, *prefix_at), *buddy;
    while ((buddy = buddy_to_join(map, segment, *prefix_at)) != NULL) {
        gx_segment *made = make_segment(map, groups_for(segment->used + buddy->used), segment->depth - 1);
        if (!made) break;
        copy_all(map, (gx_segment *const[2]){ made, made }, 0, segment);
        copy_all(map, (gx_segment *const[2]){ made, made }, 0, buddy);
        *prefix_at &= ~(UINT64_C(1) << (64 - segment->depth));
        install(map, made, *prefix_at);
        drop_segment(map, segment);
        drop_segment(map, buddy);
        segment = made;
    }
    return segment;
}

static void shrink_directory(gx_rotating_map *map, uint32_t bits) {
    if (bits < 1) bits = 1;
    if (bits >= map->bits) return;
    gx_segment **directory = gx_alloc_array(map->heap, TAG, (size_t)1 << bits, sizeof *directory);
    if (!directory) return;
    for (size_t i = 0; i < (size_t)1 << bits; i++) directory[i] = map->directory[i << (map->bits - bits)];
    gx_free(map->heap, TAG, map->directory, sizeof *directory << map->bits);
    map->directory = directory;
    map->bits = bits;
}

static uint32_t deepest(const gx_rotating_map *map) {
    uint32_t depth = 0;
    uint64_t prefix = 0;
    do {
        const gx_segment *segment = segment_of(map, prefix);
        if (segment->depth > depth) depth = segment->depth;
        prefix = after(segment, prefix);
    } while (prefix);
    return depth;
}

static void shrink(gx_rotating_map *map) {
    uint64_t prefix = 0;
    do {
        gx_segment *segment = join(map, &prefix);
        uint64_t groups = groups_for(segment->used);
        if (groups * 2 <= segment->groups && resize(map, segment, prefix, groups)) segment = segment_of(map, prefix);
        prefix = after(segment, prefix);
    } while (prefix);
    shrink_directory(map, deepest(map));
}

static uint8_t age_after(const gx_rotating_map *map, uint8_t age) {
    return (uint8_t)(age + 1u == map->ages ? 0 : age + 1);
}

int64_t gx_rotating_map_rotate(gx_rotating_map *map, gx_expired_fn *expired, void *user) {
    if (map->dying != GX_AGE_NONE) return GALE_INVALID;
    map->newest = age_after(map, map->newest);
    uint8_t oldest = age_after(map, map->newest);
    size_t dead = map->living[oldest];
    map->dying = oldest;
    map->size -= dead;
    if (dead) bury_all(map, expired, user);
    map->dying = GX_AGE_NONE;
    if (map->slots > SMALL_GROUPS * GX_GROUP_SLOTS && map->peak < map->slots / 4) shrink(map);
    map->peak = map->size;
    return (int64_t)dead;
}
