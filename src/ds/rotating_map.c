#include "ds/rotating_map.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/object.h"
#include "base/options.h"
#include "base/os/entropy.h"
#include "ds/age_table.h"
#include "ds/map_key.h"
#include "ds/own_heap.h"

/* An entry is a word, the key if that is bytes, and the value. The word is the number, or a hash of the bytes.
 *
 * There is one age more than buckets: the oldest dies under its own age while the newest has one that nobody has. */
#define TAG GX_TAG_OTHER

struct gale_rotating_map {
    gx_age_table table;
    size_t *living; /* entries by age */
    uint32_t ages;
    uint8_t newest;
    uint8_t dying;   /* GX_AGE_NONE but during a rotation */
    bool plain;      /* numbers, nothing to destroy, and no rotation goes on: the fast way is open */
    bool busy;       /* inside gale_rotating_map_rotate */
    bool has_corpse; /* whose key must be dropped */
    int32_t key_type;
    uint32_t value_at; /* in an entry */
    size_t value_size;
    uint64_t prefix; /* where to look for the next dead: a segment, */
    uint32_t group;  /* a group, */
    uint64_t moves;  /* when entries were in the same places */
    size_t fullest;  /* entries when the rotation began */
    char *corpse;    /* the dead entry that is handed out */
    void (*destroy)(void *user, void *value);
    void *user;
    gx_heap *heap;
    bool owns_heap;
};

static gx_map_key *key_of(const void *entry) {
    return (gx_map_key *)((char *)(uintptr_t)entry + sizeof(uint64_t));
}

GX_INLINE void *value_of(const gale_rotating_map *map, const void *entry) {
    return (char *)(uintptr_t)entry + map->value_at;
}

static bool same_bytes(const char *entry, const void *key) {
    return gx_map_key_is(key_of(entry), key);
}

GX_INLINE bool is_map(const gale_rotating_map *map) {
    return gx_object_is(map, GX_KIND_ROTATING_MAP);
}

/* GX_AGE_NONE: nobody. */
static void set_dying(gale_rotating_map *map, uint8_t age) {
    map->dying = age;
    map->plain = age == GX_AGE_NONE && map->key_type == GALE_KEY_U64 && !map->destroy;
}

/* --- Making and ending --- */

int gx_rotating_map_check(uint32_t buckets, int32_t key_type, size_t value_size, gale_error *error) {
    if (buckets == 1 || buckets > GALE_ROTATING_MAP_BUCKETS_MAX)
        return gale_error_set(error, GALE_INVALID, "a rotating map has 2 to %d buckets, not %u",
                              GALE_ROTATING_MAP_BUCKETS_MAX, buckets);
    if (key_type != GALE_KEY_U64 && key_type != GALE_KEY_BYTES)
        return gale_error_set(error, GALE_INVALID, "key_type is GALE_KEY_U64 or GALE_KEY_BYTES, not %d", key_type);
    if (value_size > GALE_ROTATING_MAP_VALUE_MAX)
        return gale_error_set(error, GALE_INVALID, "value_size is at most %d, not %zu", GALE_ROTATING_MAP_VALUE_MAX,
                              value_size);
    return GALE_OK;
}

static int fill(gx_heap *heap, gale_rotating_map *map, uint32_t stride, uint64_t seed) {
    map->living = gx_alloc_array(heap, TAG, map->ages, sizeof *map->living);
    map->corpse = gx_alloc(heap, TAG, stride);
    if (map->living && map->corpse && gx_age_table_init(&map->table, heap, stride, seed) == GALE_OK) return GALE_OK;
    gx_free(heap, TAG, map->corpse, stride);
    gx_free(heap, TAG, map->living, map->ages * sizeof *map->living);
    return GALE_NO_MEMORY;
}

int gx_rotating_map_make(gx_heap *heap, const gale_rotating_map_options *options, gale_rotating_map **ret_map) {
    gale_rotating_map *map = gx_alloc(heap, TAG, sizeof *map);
    if (!map) return GALE_NO_MEMORY;
    bool bytes = options->key_type == GALE_KEY_BYTES;
    map->ages = (options->buckets ? options->buckets : GALE_ROTATING_MAP_BUCKETS) + 1;
    map->key_type = options->key_type;
    map->value_size = options->value_size;
    map->value_at = (uint32_t)(sizeof(uint64_t) + (bytes ? sizeof(gx_map_key) : 0));
    map->destroy = options->destroy;
    map->user = options->user;
    map->heap = heap;
    set_dying(map, GX_AGE_NONE);
    if (fill(heap, map, map->value_at + (uint32_t)gx_align_up(map->value_size, 8), options->seed) < 0) {
        gx_free(heap, TAG, map, sizeof *map);
        return GALE_NO_MEMORY;
    }
    gx_object_begin(map, GX_KIND_ROTATING_MAP);
    *ret_map = map;
    return GALE_OK;
}

int gale_rotating_map_new(const gale_rotating_map_options *given, gale_rotating_map **ret_map, gale_error *error) {
    gale_rotating_map_options options;
    gale_allocator allocator;
    if (!ret_map) return gale_error_set(error, GALE_INVALID, "a new rotating map needs a place for its pointer");
    int rc = gx_options_take(&options, sizeof options, given, "rotating map: options", error);
    if (rc == GALE_OK) rc = gx_rotating_map_check(options.buckets, options.key_type, options.value_size, error);
    if (rc == GALE_OK) rc = gx_allocator_take(&allocator, options.allocator, "rotating map: options.allocator", error);
    if (rc < 0) return rc;
    if (!options.seed) options.seed = gx_os_entropy();
    gx_heap *heap = gx_own_heap_new(&allocator);
    gale_rotating_map *map = NULL;
    if (!heap || gx_rotating_map_make(heap, &options, &map) < 0) {
        gx_own_heap_free(heap);
        return gale_error_set(error, GALE_NO_MEMORY, "out of memory for a rotating map");
    }
    map->owns_heap = true;
    *ret_map = map;
    return GALE_OK;
}

/* The values and the key's blocks that are still there. */
static void drop_entries(gale_rotating_map *map) {
    gx_age_cursor cursor = { 0 };
    for (char *entry; (entry = gx_age_table_next(&map->table, &cursor, GX_AGE_NONE)) != NULL;) {
        if (map->destroy) map->destroy(map->user, value_of(map, entry));
        gx_rotating_map_drop_key(map, entry);
    }
}

static void drop_corpse(gale_rotating_map *map) {
    if (map->has_corpse) gx_rotating_map_drop_key(map, map->corpse);
    map->has_corpse = false;
}

void gale_rotating_map_free(gale_rotating_map *map) {
    if (!is_map(map)) return;
    gx_object_end(map);
    gx_heap *heap = map->heap, *own = map->owns_heap ? heap : NULL;
    if (map->destroy || map->key_type == GALE_KEY_BYTES) drop_entries(map);
    drop_corpse(map);
    gx_free(heap, TAG, map->corpse, map->table.stride);
    gx_free(heap, TAG, map->living, map->ages * sizeof *map->living);
    gx_age_table_fini(&map->table);
    gx_free(heap, TAG, map, sizeof *map);
    gx_own_heap_free(own);
}

size_t gale_rotating_map_size(const gale_rotating_map *map) {
    size_t size = 0;
    if (!is_map(map)) return 0;
    for (uint32_t age = 0; age < map->ages; age++)
        if (age != map->dying) size += map->living[age];
    return size;
}

size_t gale_rotating_map_memory(const gale_rotating_map *map) {
    return is_map(map) ? gx_heap_reserved(map->heap) : 0;
}

int gale_rotating_map_reserve(gale_rotating_map *map, size_t entries) {
    if (!is_map(map)) return GALE_INVALID;
    return gx_age_table_reserve(&map->table, entries) ? GALE_OK : GALE_NO_MEMORY;
}

/* --- Operations, the whole way: any key, any value, in the middle of a rotation --- */

/* What is asked for, and where a search for it begins. */
typedef struct asked {
    uint64_t word;
    uint64_t hash;
    const gx_map_bytes *bytes; /* NULL for numbers */
    gx_home home;
} asked;

static asked ask(const gale_rotating_map *map, uint64_t word, const gx_map_bytes *bytes) {
    uint64_t hash = gx_age_table_hash(&map->table, word);
    return (asked){ word, hash, bytes, gx_age_table_home(&map->table, hash) };
}

static asked ask_bytes(const gale_rotating_map *map, const gx_map_bytes *bytes) {
    return ask(map, gx_hash_bytes(bytes->data, bytes->size, map->table.seed), bytes);
}

static bool find(const gale_rotating_map *map, asked a, gx_place *ret_at) {
    return gx_segment_search(a.home.segment, a.word, a.hash, map->dying, a.bytes ? same_bytes : NULL, a.bytes, ret_at);
}

GX_INLINE void set_word(void *to, const void *value, size_t at) {
    gx_store64((char *)to + at, value ? gx_load64((const char *)value + at) : 0);
}

/* Values of one word or two are the most frequent by far, and too small to call for. */
GX_INLINE void set_value(const gale_rotating_map *map, void *to, const void *value) {
    size_t size = map->value_size;
    if (GX_LIKELY(size == 8 || size == 16)) {
        set_word(to, value, 0);
        if (size == 16) set_word(to, value, 8);
    } else if (value) {
        memcpy(to, value, size);
    } else {
        memset(to, 0, size);
    }
}

/* Makes an entry that is not there. */
static int add(gale_rotating_map *map, asked a, const void *value, void **ret_value) {
    gx_map_key key;
    gx_place at;
    if (a.bytes && !gx_map_key_make(map->heap, a.bytes, &key)) return GALE_NO_MEMORY;
    if (!gx_age_table_claim(&map->table, a.home, a.hash, map->newest, &at)) {
        if (a.bytes) gx_map_key_drop(map->heap, &key);
        return GALE_NO_MEMORY;
    }
    gx_store64(at.entry, a.word);
    if (a.bytes) *key_of(at.entry) = key;
    set_value(map, value_of(map, at.entry), value);
    map->living[map->newest]++;
    if (ret_value) *ret_value = value_of(map, at.entry);
    return 1;
}

GX_INLINE void renew(gale_rotating_map *map, gx_place at) {
    uint8_t age = *gx_place_age(at);
    if (age == map->newest) return;
    map->living[age]--;
    map->living[map->newest]++;
    *gx_place_age(at) = map->newest;
}

static int put(gale_rotating_map *map, asked a, const void *value, bool renews, void **ret_value) {
    gx_place at;
    if (!find(map, a, &at)) return add(map, a, value, ret_value);
    void *there = value_of(map, at.entry);
    if (renews) {
        renew(map, at);
        if (value && map->destroy) map->destroy(map->user, there);
        if (value) set_value(map, there, value);
    }
    if (ret_value) *ret_value = there;
    return 0;
}

static void *get(const gale_rotating_map *map, asked a) {
    gx_place at;
    return find(map, a, &at) ? value_of(map, at.entry) : NULL;
}

static bool take(gale_rotating_map *map, asked a, void *ret_value) {
    gx_place at;
    if (!find(map, a, &at)) return false;
    void *value = value_of(map, at.entry);
    if (ret_value)
        memcpy(ret_value, value, map->value_size);
    else if (map->destroy)
        map->destroy(map->user, value);
    if (a.bytes) gx_map_key_drop(map->heap, key_of(at.entry));
    map->living[*gx_place_age(at)]--;
    gx_segment_erase(a.home.segment, a.home.group, at, a.hash);
    return true;
}

/* Is it a map, of numbers? */
static int check(const gale_rotating_map *map) {
    if (!is_map(map)) return GALE_INVALID;
    return map->key_type == GALE_KEY_U64 ? GALE_OK : GALE_TYPE;
}

static int check_bytes(const gale_rotating_map *map, const gx_map_bytes *key) {
    if (!is_map(map) || (!key->data && key->size)) return GALE_INVALID;
    if (map->key_type != GALE_KEY_BYTES) return GALE_TYPE;
    return key->size <= GALE_ROTATING_MAP_KEY_MAX ? GALE_OK : GALE_TOO_LARGE;
}

/* --- Numbers, the fast way. It knows only what is most frequent: a plain map, and an entry that is in the first slot
 * of its home that has its tag, or is not there and passed nobody. All else goes the whole way. The fewer instructions,
 * the more operations are in the processor at once: that, and not the work, is what a large map waits for. --- */

#define WHOLE __attribute__((noinline)) static

WHOLE int put_whole(gale_rotating_map *map, uint64_t key, const void *value, bool renews, void **ret_value) {
    int rc = check(map);
    return rc < 0 ? rc : put(map, ask(map, key, NULL), value, renews, ret_value);
}

WHOLE void *get_whole(const gale_rotating_map *map, uint64_t key) {
    return check(map) < 0 ? NULL : get(map, ask(map, key, NULL));
}

WHOLE bool take_whole(gale_rotating_map *map, uint64_t key, void *ret_value) {
    return check(map) == GALE_OK && take(map, ask(map, key, NULL), ret_value);
}

GX_INLINE bool is_plain(const gale_rotating_map *map) {
    return is_map(map) && GX_LIKELY(map->plain);
}

/* The home of the hash. Its other lines, where entries of one word are, come while the first is looked at. */
GX_INLINE gx_home home_of(const gale_rotating_map *map, uint64_t hash) {
    gx_home home = gx_age_table_home(&map->table, hash);
    for (int line = 1; line < 4; line++) __builtin_prefetch((char *)home.group + line * GX_CACHE_LINE);
    return home;
}

GX_INLINE gx_place first_of(const gale_rotating_map *map, gx_home home, uint32_t slots) {
    return gx_group_place(home.group, (uint32_t)__builtin_ctz(slots), map->table.stride);
}

GX_INLINE int put_number(gale_rotating_map *map, uint64_t key, const void *value, bool renews, void **ret_value) {
    if (!is_plain(map)) return put_whole(map, key, value, renews, ret_value);
    uint64_t hash = gx_age_table_hash(&map->table, key);
    gx_home home = home_of(map, hash);
    uint32_t hits = gx_group_tagged(home.group, gx_segment_tag(hash));
    gx_place at;
    if (hits) {
        at = first_of(map, home, hits);
        if (GX_UNLIKELY(gx_load64(at.entry) != key)) return put_whole(map, key, value, renews, ret_value);
        if (renews) {
            renew(map, at);
            if (value) set_value(map, at.entry + sizeof key, value);
        }
    } else {
        uint32_t free_slots = gx_group_free(home.group);
        if (GX_UNLIKELY(gx_group_was_passed(home.group, hash)) || GX_UNLIKELY(!free_slots) ||
            GX_UNLIKELY(gx_segment_is_full(home.segment)))
            return put_whole(map, key, value, renews, ret_value);
        at = first_of(map, home, free_slots);
        gx_segment_settle(home.segment, at, hash, map->newest);
        map->living[map->newest]++;
        gx_store64(at.entry, key);
        set_value(map, at.entry + sizeof key, value);
    }
    if (ret_value) *ret_value = at.entry + sizeof key;
    return !hits;
}

int gale_rotating_map_put(gale_rotating_map *map, uint64_t key, const void *value, void **ret_value) {
    return put_number(map, key, value, true, ret_value);
}

int gale_rotating_map_put_if_absent(gale_rotating_map *map, uint64_t key, const void *value, void **ret_value) {
    return put_number(map, key, value, false, ret_value);
}

void *gale_rotating_map_get(const gale_rotating_map *map, uint64_t key) {
    if (!is_plain(map)) return get_whole(map, key);
    uint64_t hash = gx_age_table_hash(&map->table, key);
    gx_home home = home_of(map, hash);
    uint32_t hits = gx_group_tagged(home.group, gx_segment_tag(hash));
    if (hits) {
        gx_place at = first_of(map, home, hits);
        if (GX_LIKELY(gx_load64(at.entry) == key)) return at.entry + sizeof key;
    } else if (GX_LIKELY(!gx_group_was_passed(home.group, hash))) {
        return NULL;
    }
    return get_whole(map, key);
}

bool gale_rotating_map_contains(const gale_rotating_map *map, uint64_t key) {
    return gale_rotating_map_get(map, key) != NULL;
}

bool gale_rotating_map_remove(gale_rotating_map *map, uint64_t key, void *ret_value) {
    if (!is_plain(map)) return take_whole(map, key, ret_value);
    uint64_t hash = gx_age_table_hash(&map->table, key);
    gx_home home = home_of(map, hash);
    uint32_t hits = gx_group_tagged(home.group, gx_segment_tag(hash));
    if (GX_UNLIKELY(!hits)) return gx_group_was_passed(home.group, hash) && take_whole(map, key, ret_value);
    gx_place at = first_of(map, home, hits);
    if (GX_UNLIKELY(gx_load64(at.entry) != key)) return take_whole(map, key, ret_value);
    if (ret_value) memcpy(ret_value, at.entry + sizeof key, map->value_size);
    map->living[*gx_place_age(at)]--;
    gx_segment_erase(home.segment, home.group, at, hash);
    return true;
}

int gale_rotating_map_put_bytes(gale_rotating_map *map, const void *key, size_t key_size, const void *value,
                                void **ret_value) {
    gx_map_bytes bytes = { key, key_size };
    int rc = check_bytes(map, &bytes);
    if (rc < 0) return rc;
    return put(map, ask_bytes(map, &bytes), value, true, ret_value);
}

int gale_rotating_map_put_if_absent_bytes(gale_rotating_map *map, const void *key, size_t key_size, const void *value,
                                          void **ret_value) {
    gx_map_bytes bytes = { key, key_size };
    int rc = check_bytes(map, &bytes);
    if (rc < 0) return rc;
    return put(map, ask_bytes(map, &bytes), value, false, ret_value);
}

void *gale_rotating_map_get_bytes(const gale_rotating_map *map, const void *key, size_t key_size) {
    gx_map_bytes bytes = { key, key_size };
    if (check_bytes(map, &bytes) < 0) return NULL;
    return get(map, ask_bytes(map, &bytes));
}

bool gale_rotating_map_contains_bytes(const gale_rotating_map *map, const void *key, size_t key_size) {
    return gale_rotating_map_get_bytes(map, key, key_size) != NULL;
}

bool gale_rotating_map_remove_bytes(gale_rotating_map *map, const void *key, size_t key_size, void *ret_value) {
    gx_map_bytes bytes = { key, key_size };
    if (check_bytes(map, &bytes) < 0) return false;
    return take(map, ask_bytes(map, &bytes), ret_value);
}

/* --- Walks --- */

uint32_t gx_rotating_map_age(const gale_rotating_map *map, const void *key, size_t key_size) {
    const gx_map_bytes bytes = { key, key_size };
    gx_place at;
    if (check_bytes(map, &bytes) < 0 || !find(map, ask_bytes(map, &bytes), &at)) return UINT32_MAX;
    return (map->newest + map->ages - *gx_place_age(at)) % map->ages;
}

int gx_rotating_map_put_aged(gale_rotating_map *map, const void *key, size_t key_size, const void *value,
                             uint32_t age) {
    GX_CHECK(map->dying == GX_AGE_NONE);
    uint8_t newest = map->newest;
    uint32_t oldest = map->ages - 2u; /* one age more than buckets is that of the dying */
    map->newest = (uint8_t)((newest + map->ages - (age < oldest ? age : oldest)) % map->ages);
    int rc = gale_rotating_map_put_bytes(map, key, key_size, value, NULL);
    map->newest = newest;
    return rc;
}

size_t gx_rotating_map_stride(const gale_rotating_map *map) {
    return map->table.stride;
}

void gx_rotating_map_show(const gale_rotating_map *map, void *raw, gale_rotating_map_entry *ret_entry) {
    gale_rotating_map_entry entry = { .value = value_of(map, raw) };
    if (map->key_type == GALE_KEY_BYTES) {
        entry.bytes = gx_map_key_data(key_of(raw));
        entry.bytes_size = key_of(raw)->size;
    } else {
        entry.key = gx_load64(raw);
    }
    *ret_entry = entry;
}

void gx_rotating_map_drop_key(const gale_rotating_map *map, const void *raw) {
    if (map->key_type == GALE_KEY_BYTES) gx_map_key_drop(map->heap, key_of(raw));
}

bool gale_rotating_map_next(const gale_rotating_map *map, gale_rotating_map_cursor *cursor,
                            gale_rotating_map_entry *ret_entry) {
    if (!is_map(map) || !cursor || !ret_entry) return false;
    gx_age_cursor place;
    static_assert(sizeof place == sizeof *cursor, "the one is the other, opaque");
    memcpy(&place, cursor, sizeof place);
    char *entry = gx_age_table_next(&map->table, &place, map->dying);
    memcpy(cursor, &place, sizeof place);
    if (entry) gx_rotating_map_show(map, entry, ret_entry);
    return entry != NULL;
}

/* --- Rotation --- */

static uint8_t age_after(const gale_rotating_map *map, uint8_t age) {
    return (uint8_t)(age + 1u == map->ages ? 0 : age + 1);
}

/* Memory goes back when the map was less than a quarter full even before its dead were taken out. */
static void end_rotation(gale_rotating_map *map) {
    set_dying(map, GX_AGE_NONE);
    size_t slots = map->table.slots, most = gale_rotating_map_size(map);
    if (most < map->fullest) most = map->fullest;
    if (most < map->table.reserved) most = map->table.reserved;
    if (most < slots / 4) gx_age_table_fit(&map->table);
}

static int64_t begin(gale_rotating_map *map) {
    map->fullest = gale_rotating_map_size(map);
    map->newest = age_after(map, map->newest);
    set_dying(map, age_after(map, map->newest));
    map->prefix = 0;
    map->group = 0;
    map->moves = map->table.moves;
    size_t dead = map->living[map->dying];
    if (!dead) end_rotation(map);
    return (int64_t)dead;
}

int64_t gale_rotating_map_rotate_begin(gale_rotating_map *map) {
    if (!is_map(map)) return GALE_INVALID;
    return map->busy || map->dying != GX_AGE_NONE ? GALE_STATE : begin(map);
}

/* The next of the dead, which there is. Entries stay in their slots except when a segment grows or splits; then its
 * dead are looked for from its beginning. A segment grows by an eighth at least, so that does not happen often. */
static gx_place next_dead(gale_rotating_map *map) {
    if (map->moves != map->table.moves) {
        map->moves = map->table.moves;
        map->group = 0;
    }
    for (;;) {
        const gx_segment *segment = gx_age_table_home(&map->table, map->prefix).segment;
        for (; map->group < segment->groups; map->group++) {
            gx_group *group = gx_segment_group(segment, map->group, map->table.stride);
            uint32_t dead = gx_group_aged(group, map->dying);
            if (dead) return gx_group_place(group, (uint32_t)__builtin_ctz(dead), map->table.stride);
        }
        map->prefix = gx_age_table_after(segment, map->prefix);
        map->group = 0;
    }
}

bool gx_rotating_map_take_dead(gale_rotating_map *map, void *raw) {
    if (map->dying == GX_AGE_NONE) return false;
    gx_place at = next_dead(map);
    memcpy(raw, at.entry, map->table.stride);
    uint64_t hash = gx_age_table_hash(&map->table, gx_load64(raw));
    gx_home home = gx_age_table_home(&map->table, hash);
    gx_segment_erase(home.segment, home.group, at, hash);
    if (--map->living[map->dying] == 0) end_rotation(map);
    return true;
}

static bool exhume(gale_rotating_map *map, gale_rotating_map_entry *ret_dead) {
    drop_corpse(map);
    if (!gx_rotating_map_take_dead(map, map->corpse)) return false;
    map->has_corpse = true;
    gx_rotating_map_show(map, map->corpse, ret_dead);
    return true;
}

bool gale_rotating_map_next_dead(gale_rotating_map *map, gale_rotating_map_entry *ret_dead) {
    return is_map(map) && ret_dead && !map->busy && exhume(map, ret_dead);
}

int64_t gale_rotating_map_rotate(gale_rotating_map *map, gale_rotating_map_expired_fn *expired, void *user) {
    int64_t count = gale_rotating_map_rotate_begin(map);
    if (count <= 0) return count;
    map->busy = true;
    for (gale_rotating_map_entry dead; exhume(map, &dead);) {
        if (expired)
            expired(user, &dead);
        else if (map->destroy)
            map->destroy(map->user, dead.value);
    }
    map->busy = false;
    return count;
}

/* --- For the engine --- */

int gx_rotating_map_new(gx_heap *heap, uint32_t buckets, size_t value_size, uint64_t seed, gx_rotating_map **ret_map) {
    gale_rotating_map_options options = { sizeof options, buckets, GALE_KEY_U64, value_size, seed, NULL, NULL, NULL };
    if (!buckets || gx_rotating_map_check(buckets, GALE_KEY_U64, value_size, NULL) < 0) return GALE_INVALID;
    return gx_rotating_map_make(heap, &options, ret_map);
}

typedef struct adapter {
    gx_expired_fn *expired;
    void *user;
} adapter;

static void adapt(void *user, const gale_rotating_map_entry *dead) {
    const adapter *to = user;
    to->expired(to->user, dead->key, dead->value);
}

int64_t gx_rotating_map_rotate(gx_rotating_map *map, gx_expired_fn *expired, void *user) {
    adapter to = { expired, user };
    return gale_rotating_map_rotate(map, expired ? adapt : NULL, &to);
}

const char *gx_rotating_map_flaw(const gx_rotating_map *map) {
    size_t living[GX_AGE_NONE + 1] = { 0 };
    const char *flaw = gx_age_table_flaw(&map->table, living);
    for (uint32_t age = 0; !flaw && age < map->ages; age++)
        if (living[age] != map->living[age]) flaw = "there are not as many entries of an age as is said";
    return flaw;
}
