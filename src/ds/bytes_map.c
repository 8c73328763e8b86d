#include "ds/bytes_map.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/hash.h"
#include "base/random.h"
#include "ds/tag_group.h"

/* Three arrays. The index is a power of two of slots; a slot holds a hash tag and one more than the number of an entry
 * (0: free, as is its tag). A search begins at the group of slots that the tag names, and goes on from slot to slot: so
 * the free slots of a group are its last ones. An entry is this head, then the value. A short key lies in the head, so that one look at a slot and one at
 * an entry are all that a hit takes. A long one lies in the arena behind a head that names its entry, so that the arena
 * can be compacted in place, in one walk, without allocating; it starts at a multiple of KEY_STEP. */
typedef gx_tag_slot slot;

typedef struct entry {
    uint32_t tag;
    uint32_t size; /* of the key */
    union {
        gx_short_text text; /* the key, up to 16 bytes, zeros behind it */
        uint32_t place;     /* where the key_head of a longer one is, in steps */
    } key;
} entry;

static_assert(sizeof(entry) == GX_BYTES_MAP_HEAD, "the value begins there");

typedef struct key_head {
    uint32_t entry; /* DEAD when it has none */
    uint32_t size;
} key_head;

enum { KEY_STEP = 8, SLOTS_FIRST = 16 };
#define TAG GX_TAG_OTHER
#define DEAD UINT32_MAX
#define ENTRIES_MAX ((size_t)1 << 31)

struct gx_bytes_map {
    slot *index;
    size_t mask;
    char *entries;
    size_t stride; /* of an entry */
    char *keys;
    gx_hash_key key; /* of the hashes */
    size_t size;
    size_t entries_capacity;
    size_t keys_size; /* in steps, as the two below */
    size_t keys_dead;
    size_t keys_capacity;
    gx_heap *heap;
};

gx_bytes_map *gx_bytes_map_new(gx_heap *heap, size_t value_size, uint64_t seed) {
    if (value_size > SIZE_MAX / 4) return NULL;
    gx_bytes_map *map = gx_alloc(heap, TAG, sizeof *map);
    if (!map) return NULL;
    map->heap = heap;
    gx_random random = gx_random_new(seed, 1);
    map->key = (gx_hash_key){ gx_random_next(&random), gx_random_next(&random), gx_random_next(&random) };
    map->stride = sizeof(entry) + gx_align_up(value_size, 8);
    map->mask = SLOTS_FIRST - 1;
    map->index = gx_alloc_apart(heap, TAG, SLOTS_FIRST * sizeof(slot));
    if (map->index) return map;
    gx_bytes_map_free(map);
    return NULL;
}

void gx_bytes_map_free(gx_bytes_map *map) {
    if (!map) return;
    gx_heap *heap = map->heap;
    gx_free_apart(heap, TAG, map->index, (map->mask + 1) * sizeof(slot));
    gx_free(heap, TAG, map->entries, map->entries_capacity * map->stride);
    gx_free(heap, TAG, map->keys, map->keys_capacity * KEY_STEP);
    gx_free(heap, TAG, map, sizeof *map);
}

size_t gx_bytes_map_size(const gx_bytes_map *map) {
    return map->size;
}

GX_INLINE entry *entry_at(const gx_bytes_map *map, size_t number) {
    return (entry *)(void *)(map->entries + number * map->stride);
}

GX_INLINE key_head *key_at(const gx_bytes_map *map, size_t step) {
    return (key_head *)(void *)(map->keys + step * KEY_STEP);
}

static size_t key_steps(size_t key_size) {
    return (sizeof(key_head) + gx_align_up(key_size, KEY_STEP)) / KEY_STEP;
}

GX_INLINE bool is_short(size_t key_size) {
    return key_size <= GX_SHORT_TEXT_MAX;
}

/* A key that is looked for. */
typedef struct probe {
    gale_str key;
    gx_short_text text; /* of a short one */
    uint32_t tag;
} probe;

GX_INLINE size_t home_of(uint32_t tag, size_t mask) {
    return tag & mask & ~(size_t)(GX_TAG_GROUP - 1);
}

/* Sizes cannot be predicted, but that they are short can. */
GX_INLINE probe probe_of(const gx_bytes_map *map, gale_str key) {
    probe p = { .key = key };
    if (GX_LIKELY(is_short(key.size))) {
        p.text = gx_short_text_load(key.data, key.size);
        p.tag = (uint32_t)gx_hash_short(p.text, key.size, map->key);
    } else {
        p.tag = (uint32_t)gx_hash_bytes(key.data, key.size, map->key.low);
    }
    p.tag |= 1; /* 0 is free; a home does not look at this bit */
    return p;
}

uint32_t gx_bytes_map_tag(const gx_bytes_map *map, gale_str key) {
    return probe_of(map, key).tag;
}

/* A key that is as long as an entry's is short or long as that one is. */
GX_INLINE bool has_short(const entry *e, const probe *p) {
    return gx_short_text_equal(e->key.text, p->text) && e->size == p->key.size;
}

static bool has_key(const gx_bytes_map *map, const entry *e, const probe *p) {
    if (is_short(p->key.size)) return has_short(e, p);
    return e->size == p->key.size && memcmp(key_at(map, e->key.place) + 1, p->key.data, p->key.size) == 0;
}

/* The place of the key's slot, or of the free slot where the search ended. */
GX_NOINLINE static size_t find(const gx_bytes_map *map, gale_str key) {
    probe p = probe_of(map, key);
    size_t at = home_of(p.tag, map->mask);
    for (; map->index[at].entry; at = (at + 1) & map->mask)
        if (map->index[at].tag == p.tag && has_key(map, entry_at(map, map->index[at].entry - 1), &p)) break;
    return at;
}

/* What nearly all hits are: a short key in the group where its search begins, the first there with its tag. NULL: it is to
 * be looked for with `find`, if it is there at all. */
GX_INLINE entry *look_for(const gx_bytes_map *map, const probe *p) {
    const slot *home = &map->index[home_of(p->tag, map->mask)];
    uint32_t found = gx_tag_group_match(home, p->tag);
    if (GX_UNLIKELY(!found)) return NULL;
    entry *e = entry_at(map, home[__builtin_ctz(found)].entry - 1);
    return GX_LIKELY(has_short(e, p)) ? e : NULL;
}

GX_INLINE entry *look_at_home(const gx_bytes_map *map, gale_str key) {
    if (GX_UNLIKELY(!is_short(key.size))) return NULL;
    probe p = probe_of(map, key);
    return look_for(map, &p);
}

/* The place of the slot that names entry `number`, which exists. */
static size_t find_entry(const gx_bytes_map *map, size_t number) {
    size_t at = home_of(entry_at(map, number)->tag, map->mask);
    while (map->index[at].entry != number + 1) at = (at + 1) & map->mask;
    return at;
}

GX_NOINLINE static void *get_elsewhere(const gx_bytes_map *map, gale_str key) {
    uint32_t found = map->index[find(map, key)].entry;
    return found ? entry_at(map, found - 1) + 1 : NULL;
}

GX_UNPROTECTED void *gx_bytes_map_get(const gx_bytes_map *map, gale_str key) {
    entry *e = look_at_home(map, key);
    return GX_LIKELY(e != NULL) ? e + 1 : get_elsewhere(map, key);
}

GX_NOINLINE static void *get_text_elsewhere(const gx_bytes_map *map, gale_str text) {
    char key[GX_SHORT_TEXT_MAX] = { 0 };
    if (text.size) memcpy(key, text.data, text.size);
    return get_elsewhere(map, (gale_str){ key, text.size + 1 });
}

/* Of a short key, a NUL at its end and none are the same zeros. */
GX_UNPROTECTED void *gx_bytes_map_get_text(const gx_bytes_map *map, gale_str text) {
    GX_CHECK(text.size < GX_SHORT_TEXT_MAX);
    probe p = { .key = { text.data, text.size + 1 }, .text = gx_short_text_load(text.data, text.size) };
    p.tag = (uint32_t)gx_hash_short(p.text, p.key.size, map->key) | 1;
    entry *e = look_for(map, &p);
    return GX_LIKELY(e != NULL) ? e + 1 : get_text_elsewhere(map, text);
}

/* Doubles the index when it is three quarters full. Slots move by their tags alone; no key is read. */
static bool reserve_index(gx_bytes_map *map) {
    if ((map->size + 1) * 4 <= (map->mask + 1) * 3) return true;
    size_t mask = map->mask * 2 + 1;
    slot *index = gx_alloc_apart(map->heap, TAG, (mask + 1) * sizeof(slot));
    if (!index) return false;
    for (size_t i = 0; i <= map->mask; i++) {
        if (!map->index[i].entry) continue;
        size_t at = home_of(map->index[i].tag, mask);
        while (index[at].entry) at = (at + 1) & mask;
        index[at] = map->index[i];
    }
    gx_free_apart(map->heap, TAG, map->index, (map->mask + 1) * sizeof(slot));
    map->index = index;
    map->mask = mask;
    return true;
}

/* Moves the live keys together. */
static void compact_keys(gx_bytes_map *map) {
    size_t to = 0;
    for (size_t from = 0; from < map->keys_size;) {
        key_head *head = key_at(map, from);
        size_t steps = key_steps(head->size);
        if (head->entry != DEAD) {
            entry_at(map, head->entry)->key.place = (uint32_t)to;
            memmove(key_at(map, to), head, steps * KEY_STEP);
            to += steps;
        }
        from += steps;
    }
    map->keys_size = to;
    map->keys_dead = 0;
}

static bool grow(gx_bytes_map *map, char **array, size_t *capacity, size_t needed, size_t size) {
    void *block = *array;
    if (!gx_grow(map->heap, TAG, &block, capacity, needed, size)) return false;
    *array = block;
    return true;
}

static bool reserve_key(gx_bytes_map *map, size_t key_size) {
    if (is_short(key_size)) return true;
    if (key_size > UINT32_MAX - 64) return false;
    size_t needed = map->keys_size + key_steps(key_size);
    if (needed > map->keys_capacity && map->keys_dead * 2 > map->keys_size) {
        compact_keys(map);
        needed = map->keys_size + key_steps(key_size);
    }
    if (needed > UINT32_MAX) return false;
    return grow(map, &map->keys, &map->keys_capacity, needed, KEY_STEP);
}

static bool reserve(gx_bytes_map *map, size_t key_size) {
    return map->size < ENTRIES_MAX && reserve_index(map) && reserve_key(map, key_size) &&
           grow(map, &map->entries, &map->entries_capacity, map->size + 1, map->stride);
}

/* Into the arena. */
static uint32_t add_long(gx_bytes_map *map, gale_str key) {
    size_t at = map->keys_size;
    key_head *head = key_at(map, at);
    *head = (key_head){ (uint32_t)map->size, (uint32_t)key.size };
    memcpy(head + 1, key.data, key.size);
    map->keys_size += key_steps(key.size);
    return (uint32_t)at;
}

/* A key that is not there. */
static void *add(gx_bytes_map *map, gale_str key) {
    if (!reserve(map, key.size)) return NULL;
    probe p = probe_of(map, key);
    size_t at = find(map, key);
    entry *made = entry_at(map, map->size);
    *made = (entry){ .tag = p.tag, .size = (uint32_t)key.size, .key.text = p.text };
    if (!is_short(key.size)) made->key.place = add_long(map, key);
    memset(made + 1, 0, map->stride - sizeof *made);
    map->index[at] = (slot){ p.tag, (uint32_t)map->size + 1 };
    map->size++;
    return made + 1;
}

GX_NOINLINE static void *put_elsewhere(gx_bytes_map *map, gale_str key, bool *ret_made) {
    void *value = get_elsewhere(map, key);
    bool made = !value;
    if (made) value = add(map, key);
    if (value && ret_made) *ret_made = made;
    return value;
}

GX_UNPROTECTED void *gx_bytes_map_put(gx_bytes_map *map, gale_str key, bool *ret_made) {
    entry *e = look_at_home(map, key);
    if (GX_UNLIKELY(!e)) return put_elsewhere(map, key, ret_made);
    if (ret_made) *ret_made = false;
    return e + 1;
}

uint32_t gx_bytes_map_fetch(const gx_bytes_map *map, gale_str key) {
    gx_short_text text = gx_short_text_load(key.data, key.size);
    uint32_t tag = (uint32_t)gx_hash_short(text, key.size, map->key) | 1;
    __builtin_prefetch(&map->index[home_of(tag, map->mask)]);
    return tag;
}

void *gx_bytes_map_fetched(const gx_bytes_map *map, uint32_t tag) {
    const slot *home = &map->index[home_of(tag, map->mask)];
    uint32_t found = gx_tag_group_match(home, tag);
    return found ? entry_at(map, home[__builtin_ctz(found)].entry - 1) + 1 : NULL;
}

/* Frees slot `hole`: what was pushed behind it by collisions moves up, so that no mark stays behind. */
static void remove_slot(gx_bytes_map *map, size_t hole) {
    for (size_t at = (hole + 1) & map->mask; map->index[at].entry; at = (at + 1) & map->mask) {
        size_t home = home_of(map->index[at].tag, map->mask);
        if (((at - home) & map->mask) < ((at - hole) & map->mask)) continue; /* its home lies behind the hole */
        map->index[hole] = map->index[at];
        hole = at;
    }
    map->index[hole] = (slot){ 0, 0 };
}

static void kill_key(gx_bytes_map *map, const entry *e) {
    if (is_short(e->size)) return;
    key_head *head = key_at(map, e->key.place);
    head->entry = DEAD;
    map->keys_dead += key_steps(head->size);
}

/* The last entry takes the place of entry `number`. */
static void fill_gap(gx_bytes_map *map, size_t number, size_t last) {
    if (number == last) return;
    const entry *moved = entry_at(map, last);
    map->index[find_entry(map, last)].entry = (uint32_t)number + 1;
    if (!is_short(moved->size)) key_at(map, moved->key.place)->entry = (uint32_t)number;
    memcpy(entry_at(map, number), moved, map->stride);
}

static void remove_at_slot(gx_bytes_map *map, size_t at) {
    size_t number = map->index[at].entry - 1;
    kill_key(map, entry_at(map, number));
    remove_slot(map, at);
    fill_gap(map, number, map->size - 1);
    map->size--;
}

bool gx_bytes_map_remove(gx_bytes_map *map, gale_str key) {
    size_t at = find(map, key);
    if (!map->index[at].entry) return false;
    remove_at_slot(map, at);
    return true;
}

void *gx_bytes_map_at(const gx_bytes_map *map, size_t index, gale_str *ret_key) {
    GX_CHECK(index < map->size);
    entry *e = entry_at(map, index);
    if (ret_key) {
        const void *bytes = is_short(e->size) ? (const void *)&e->key.text : key_at(map, e->key.place) + 1;
        *ret_key = (gale_str){ bytes, e->size };
    }
    return e + 1;
}

size_t gx_bytes_map_index(const gx_bytes_map *map, const void *value) {
    size_t bytes = (size_t)((const char *)value - (map->entries + sizeof(entry)));
    GX_CHECK(bytes % map->stride == 0 && bytes / map->stride < map->size);
    return bytes / map->stride;
}

void gx_bytes_map_remove_at(gx_bytes_map *map, size_t index) {
    GX_CHECK(index < map->size);
    remove_at_slot(map, find_entry(map, index));
}

void gx_bytes_map_clear(gx_bytes_map *map) {
    memset(map->index, 0, (map->mask + 1) * sizeof(slot));
    map->size = map->keys_size = map->keys_dead = 0;
}

/* The arena: heads one behind the other, the living named by their entries. */
static const char *keys_flaw(const gx_bytes_map *map) {
    size_t dead = 0, living = 0, longs = 0;
    for (size_t at = 0; at < map->keys_size; at += key_steps(key_at(map, at)->size)) {
        const key_head *head = key_at(map, at);
        if (head->entry == DEAD)
            dead += key_steps(head->size);
        else if (head->entry >= map->size || entry_at(map, head->entry)->key.place != at)
            return "a key names an entry that does not name it";
        else
            living++;
    }
    if (dead != map->keys_dead) return "dead keys are not as many as is said";
    for (size_t i = 0; i < map->size; i++) longs += !is_short(entry_at(map, i)->size);
    return living == longs ? NULL : "there are not as many long keys as entries that have one";
}

const char *gx_bytes_map_flaw(const gx_bytes_map *map) {
    size_t slots = 0;
    for (size_t at = 0; at <= map->mask; at++) {
        bool taken = map->index[at].entry != 0;
        if (taken != (map->index[at].tag != 0)) return "a slot has a tag and no entry, or an entry and no tag";
        if (taken && at % GX_TAG_GROUP && !map->index[at - 1].entry)
            return "a group has a free slot that is not behind";
        slots += taken;
    }
    if (slots != map->size) return "there are not as many slots as entries";
    for (size_t i = 0; i < map->size; i++) {
        gale_str key;
        const void *value = gx_bytes_map_at(map, i, &key);
        if (gx_bytes_map_get(map, key) != value) return "an entry is not found by its key";
    }
    return keys_flaw(map);
}
