#include "base/bits.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/object.h"
#include "base/options.h"
#include "base/os/cpu.h"
#include "base/os/entropy.h"
#include "base/os/thread.h"
#include "base/random.h"
#include "ds/own_heap.h"
#include "ds/rotating_map.h"

#include <gale/time_cache_map.h>

/* Keys are spread over shards. Each is a rotating map behind a lock that is held for one operation, or for taking a
 * batch of dead entries out; it spins, and lets others run when that takes long. A lock and what it guards are used
 * together, and two threads rarely want the same of 64.
 *
 * One thread ticks at a time: it has `ticking`, and with it the batch and the times. It first begins the rotation of
 * all shards, then reads the clock, then empties them: the next period begins at that reading, so that in every shard
 * at least a period lies between two rotations, however long the callbacks take. That is why nothing dies early. */
enum {
    SHARDS = 64,
    SHARDS_MAX = 4096,
    SPINS = 100,
    BATCH = 64,
    BATCH_BYTES = 1 << 16,
};
#define TAG GX_TAG_OTHER
#define EXPIRATION_MAX (INT64_C(100) * 366 * 86400 * GALE_SECOND)
#define LOOK_AGAIN GALE_MILLISECOND

typedef struct shard {
    alignas(GX_APART) gx_atomic32 locked;
    gale_rotating_map *map;
} shard;

struct gale_time_cache_map {
    shard *shards;
    uint32_t shard_count;
    uint32_t shift; /* what is left of a hash is a shard */
    uint64_t seed;
    size_t value_size;
    size_t max_entries; /* 0: no bound */
    int64_t period;
    gale_clock clock;
    gale_rotating_map_expired_fn *expired;
    void *user;
    gx_heap *heap;
    alignas(GX_APART) gx_atomic64 entries; /* counted when there is a bound */
    alignas(GX_APART) gx_atomic32 ticking;
    int64_t told;         /* the `now` of the last tick */
    gx_atomic64 rotated;  /* when the last period began */
    gx_atomic64 lateness; /* the longest */
    char *batch;
    size_t batch_size; /* entries */
    size_t stride;
    gx_monitor monitor; /* of the cleaner */
    gx_thread cleaner;
    bool has_monitor;
    bool stopping;
    bool looks; /* the clock is not the machine's: the cleaner looks at it, again and again */
};

static void lock(shard *at) {
    while (GX_UNLIKELY(gx_exchange_acquire(&at->locked, 1) != 0)) { /* A1 */
        for (int spins = 0; gx_load_relaxed(&at->locked); spins++)
            if (spins < SPINS)
                gx_os_cpu_relax();
            else
                gx_os_cpu_yield();
    }
}

static void unlock(shard *at) {
    gx_store_release(&at->locked, 0); /* R1: who gets the lock next sees what its last owner did. */
}

GX_INLINE bool is_map(const gale_time_cache_map *map) {
    return gx_object_is(map, GX_KIND_TIME_CACHE_MAP);
}

/* --- Making and ending --- */

static int check_options(const gale_time_cache_map_options *options, gale_error *error) {
    if (options->expiration <= 0 || options->expiration > EXPIRATION_MAX)
        return gale_error_set(error, GALE_INVALID, "expiration is 1 ns to 100 years, not %lld ns",
                              (long long)options->expiration);
    if (options->shards > SHARDS_MAX || (options->shards & (options->shards - 1)) != 0)
        return gale_error_set(error, GALE_INVALID, "shards is a power of two up to %d, not %u", SHARDS_MAX,
                              options->shards);
    return gx_rotating_map_check(options->buckets, options->key_type, options->value_size, error);
}

static int make_shards(gale_time_cache_map *map, const gale_time_cache_map_options *options) {
    gale_rotating_map_options each = GALE_ROTATING_MAP_OPTIONS_INIT;
    each.buckets = options->buckets;
    each.key_type = options->key_type;
    each.value_size = options->value_size;
    map->shards = gx_alloc_apart(map->heap, TAG, map->shard_count * sizeof *map->shards);
    if (!map->shards) return GALE_NO_MEMORY;
    for (uint32_t i = 0; i < map->shard_count; i++) {
        each.seed = gx_random_mix(map->seed + i + 1);
        int rc = gx_rotating_map_make(map->heap, &each, &map->shards[i].map);
        if (rc < 0) return rc;
    }
    map->stride = gx_rotating_map_stride(map->shards[0].map);
    map->batch_size = map->stride * BATCH > BATCH_BYTES ? BATCH_BYTES / map->stride + 1 : BATCH;
    map->batch = gx_alloc_array(map->heap, TAG, map->batch_size, map->stride);
    return map->batch ? GALE_OK : GALE_NO_MEMORY;
}

static void set(gale_time_cache_map *map, const gale_time_cache_map_options *options) {
    int64_t parts = (int64_t)(options->buckets ? options->buckets : GALE_ROTATING_MAP_BUCKETS) - 1;
    gale_clock machine = gale_clock_monotonic();
    map->clock = *options->clock;
    map->looks = map->clock.now != machine.now;
    map->shard_count = options->shards ? options->shards : SHARDS;
    map->shift = 63 - gx_log2(map->shard_count); /* and one more: a shift by 64 is none */
    map->seed = options->seed ? options->seed : gx_os_entropy();
    map->value_size = options->value_size;
    map->max_entries = options->max_entries;
    map->period = (options->expiration - 1) / parts + 1;
    map->expired = options->expired;
    map->user = options->user;
    map->told = INT64_MIN;
    gx_store_relaxed(&map->rotated, (uint64_t)gx_now(&map->clock));
}

static void *clean(void *user);

static int start_cleaner(gale_time_cache_map *map) {
    map->has_monitor = gx_monitor_init(&map->monitor);
    return map->has_monitor && gx_thread_start(&map->cleaner, "gale cleaner", clean, map) ? GALE_OK : GALE_NO_MEMORY;
}

int gale_time_cache_map_new(const gale_time_cache_map_options *given, gale_time_cache_map **ret_map,
                            gale_error *error) {
    gale_time_cache_map_options options;
    gale_allocator allocator;
    gale_clock clock;
    if (!given || !ret_map)
        return gale_error_set(error, GALE_INVALID, "a time cache map needs options, and a place for its pointer");
    int rc = gx_options_take(&options, sizeof options, given, "time cache map: options", error);
    if (rc == GALE_OK) rc = check_options(&options, error);
    if (rc == GALE_OK) rc = gx_clock_take(&clock, options.clock, "time cache map: options.clock", error);
    if (rc == GALE_OK)
        rc = gx_allocator_take(&allocator, options.allocator, "time cache map: options.allocator", error);
    if (rc < 0) return rc;
    options.clock = &clock;
    gx_heap *heap = gx_own_heap_new(&allocator);
    gale_time_cache_map *map = heap ? gx_alloc_apart(heap, TAG, sizeof *map) : NULL;
    if (!map) {
        gx_own_heap_free(heap);
        return gale_error_set(error, GALE_NO_MEMORY, "out of memory for a time cache map");
    }
    map->heap = heap;
    gx_object_begin(map, GX_KIND_TIME_CACHE_MAP);
    set(map, &options);
    if (make_shards(map, &options) < 0 || (options.cleaner && start_cleaner(map) < 0)) {
        gale_time_cache_map_free(map);
        return gale_error_set(error, GALE_NO_MEMORY,
                              "out of memory for a time cache map, or no thread for its cleaner");
    }
    *ret_map = map;
    return GALE_OK;
}

static void stop_cleaner(gale_time_cache_map *map) {
    if (!map->has_monitor) return;
    gx_monitor_lock(&map->monitor);
    map->stopping = true;
    gx_monitor_notify(&map->monitor);
    gx_monitor_unlock(&map->monitor);
    gx_thread_join(&map->cleaner, -1);
    gx_monitor_fini(&map->monitor);
}

void gale_time_cache_map_free(gale_time_cache_map *map) {
    if (!is_map(map)) return;
    gx_object_end(map);
    gx_heap *heap = map->heap;
    stop_cleaner(map);
    for (uint32_t i = 0; map->shards && i < map->shard_count; i++) gale_rotating_map_free(map->shards[i].map);
    gx_free_apart(heap, TAG, map->shards, map->shard_count * sizeof *map->shards);
    gx_free(heap, TAG, map->batch, map->batch_size * map->stride);
    gx_free_apart(heap, TAG, map, sizeof *map);
    gx_own_heap_free(heap);
}

/* --- Figures --- */

int64_t gale_time_cache_map_period(const gale_time_cache_map *map) {
    return is_map(map) ? map->period : 0;
}

int64_t gale_time_cache_map_lateness(const gale_time_cache_map *map) {
    return is_map(map) ? (int64_t)gx_load_relaxed(&map->lateness) : 0;
}

size_t gale_time_cache_map_size(const gale_time_cache_map *map) {
    size_t size = 0;
    if (!is_map(map)) return 0;
    for (uint32_t i = 0; i < map->shard_count; i++) {
        lock(&map->shards[i]);
        size += gale_rotating_map_size(map->shards[i].map);
        unlock(&map->shards[i]);
    }
    return size;
}

size_t gale_time_cache_map_memory(const gale_time_cache_map *map) {
    return is_map(map) ? (size_t)gx_heap_reserved(map->heap) : 0;
}

/* --- Time --- */

/* Begins the rotation of all shards; returns how many died. */
static int64_t begin_all(gale_time_cache_map *map) {
    int64_t dead = 0;
    for (uint32_t i = 0; i < map->shard_count; i++) {
        lock(&map->shards[i]);
        dead += gale_rotating_map_rotate_begin(map->shards[i].map);
        unlock(&map->shards[i]);
    }
    if (map->max_entries) gx_add_relaxed(&map->entries, (uint64_t)0 - (uint64_t)dead);
    return dead;
}

/* Takes the next of the dead out; returns how many they were, up to a batch. */
static size_t take_batch(gale_time_cache_map *map, shard *at) {
    size_t count = 0;
    lock(at);
    while (count < map->batch_size && gx_rotating_map_take_dead(at->map, map->batch + count * map->stride)) count++;
    unlock(at);
    return count;
}

static void hand_out(gale_time_cache_map *map, const shard *at, size_t count) {
    for (size_t i = 0; i < count; i++) {
        void *raw = map->batch + i * map->stride;
        gale_rotating_map_entry dead;
        gx_rotating_map_show(at->map, raw, &dead);
        if (map->expired) map->expired(map->user, &dead);
        gx_rotating_map_drop_key(at->map, raw);
    }
}

/* Differences are of unsigned numbers: times may lie at both ends of their range. */
static int64_t rotate_if_due(gale_time_cache_map *map, int64_t now) {
    if (now < map->told) return GALE_INVALID;
    map->told = now;
    int64_t rotated = (int64_t)gx_load_relaxed(&map->rotated);
    if (now < rotated) return 0;
    uint64_t passed = (uint64_t)now - (uint64_t)rotated;
    if (passed < (uint64_t)map->period) return 0;
    gx_count_max(&map->lateness, passed - (uint64_t)map->period);
    int64_t dead = begin_all(map), after = gx_now(&map->clock);
    gx_store_relaxed(&map->rotated, (uint64_t)(after > now ? after : now));
    for (uint32_t i = 0; dead && i < map->shard_count; i++)
        for (size_t count; (count = take_batch(map, &map->shards[i])) > 0;) hand_out(map, &map->shards[i], count);
    return dead;
}

int64_t gale_time_cache_map_tick(gale_time_cache_map *map, int64_t now) {
    if (!is_map(map)) return GALE_INVALID;
    if (gx_exchange_acquire(&map->ticking, 1) != 0) return GALE_AGAIN; /* A2 */
    int64_t dead = rotate_if_due(map, now);
    gx_store_release(&map->ticking, 0); /* R2: who ticks next sees what this tick left. */
    return dead;
}

/* How long to wait for the next rotation; at least a little, because a tick may have said not now. */
static int64_t time_to_wait(const gale_time_cache_map *map) {
    if (map->looks) return LOOK_AGAIN;
    int64_t rotated = (int64_t)gx_load_relaxed(&map->rotated), now = gx_now(&map->clock);
    uint64_t passed = now > rotated ? (uint64_t)now - (uint64_t)rotated : 0;
    return passed < (uint64_t)map->period ? map->period - (int64_t)passed : 0;
}

static void *clean(void *user) {
    gale_time_cache_map *map = user;
    gx_monitor_lock(&map->monitor);
    while (!map->stopping) {
        int64_t wait = time_to_wait(map);
        if (wait > 0) gx_monitor_wait(&map->monitor, wait);
        if (map->stopping) break;
        gx_monitor_unlock(&map->monitor);
        int64_t dead = gale_time_cache_map_tick(map, gx_now(&map->clock));
        gx_monitor_lock(&map->monitor);
        if (dead < 0 && !map->stopping)
            gx_monitor_wait(&map->monitor, LOOK_AGAIN); /* another ticks, or time went back */
    }
    gx_monitor_unlock(&map->monitor);
    return NULL;
}

/* --- The bound --- */

/* A ticket for an entry that may be new. False: the map is at its bound. */
static bool take_ticket(gale_time_cache_map *map) {
    if (!map->max_entries) return true;
    if (gx_add_relaxed(&map->entries, 1) < map->max_entries) return true;
    gx_add_relaxed(&map->entries, (uint64_t)0 - 1);
    return false;
}

static void give_ticket(gale_time_cache_map *map) {
    if (map->max_entries) gx_add_relaxed(&map->entries, (uint64_t)0 - 1);
}

/* --- Operations --- */

/* A key of either kind. Inlined, so that numbers do not pay for bytes. */
typedef struct key {
    bool is_bytes;
    uint64_t number;
    const void *data;
    size_t size;
} key;

GX_INLINE key number_key(uint64_t number) {
    return (key){ .number = number };
}

GX_INLINE key bytes_key(const void *data, size_t size) {
    return (key){ .is_bytes = true, .data = data, .size = size };
}

/* The shard must not follow from what the rotating map makes of the hash: another multiplier. What the map refuses is
 * refused behind any lock. */
GX_INLINE shard *shard_of(const gale_time_cache_map *map, key k) {
    uint64_t word = k.number;
    if (k.is_bytes && k.data && k.size <= GALE_ROTATING_MAP_KEY_MAX) word = gx_hash_bytes(k.data, k.size, map->seed);
    uint64_t hash = (word ^ map->seed) * UINT64_C(0xd6e8feb86659fd93);
    hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return &map->shards[hash >> 1 >> map->shift];
}

GX_INLINE void *find(const shard *at, key k) {
    return k.is_bytes ? gale_rotating_map_get_bytes(at->map, k.data, k.size) : gale_rotating_map_get(at->map, k.number);
}

GX_INLINE int put_in_shard(shard *at, key k, const void *value, bool renews, void **ret_place) {
    if (k.is_bytes)
        return renews ? gale_rotating_map_put_bytes(at->map, k.data, k.size, value, ret_place)
                      : gale_rotating_map_put_if_absent_bytes(at->map, k.data, k.size, value, ret_place);
    return renews ? gale_rotating_map_put(at->map, k.number, value, ret_place)
                  : gale_rotating_map_put_if_absent(at->map, k.number, value, ret_place);
}

GX_INLINE void copy_value(const gale_time_cache_map *map, void *to, const void *value) {
    if (map->value_size == sizeof(uint64_t))
        gx_store64(to, gx_load64(value));
    else
        memcpy(to, value, map->value_size);
}

GX_INLINE int put(gale_time_cache_map *map, key k, const void *value, bool renews, void *ret_value) {
    if (!is_map(map)) return GALE_INVALID;
    bool ticket = take_ticket(map);
    shard *at = shard_of(map, k);
    void *place = NULL;
    lock(at);
    int rc = GX_LIKELY(ticket) || find(at, k) ? put_in_shard(at, k, value, renews, &place) : GALE_AGAIN;
    if (rc == 0 && ret_value) copy_value(map, ret_value, place);
    unlock(at);
    if (ticket && rc != 1) give_ticket(map);
    return rc;
}

GX_INLINE bool get(gale_time_cache_map *map, key k, void *ret_value) {
    if (!is_map(map)) return false;
    shard *at = shard_of(map, k);
    lock(at);
    const void *value = find(at, k);
    if (value && ret_value) copy_value(map, ret_value, value);
    unlock(at);
    return value != NULL;
}

GX_INLINE bool take(gale_time_cache_map *map, key k, void *ret_value) {
    if (!is_map(map)) return false;
    shard *at = shard_of(map, k);
    lock(at);
    bool removed = k.is_bytes ? gale_rotating_map_remove_bytes(at->map, k.data, k.size, ret_value)
                              : gale_rotating_map_remove(at->map, k.number, ret_value);
    unlock(at);
    if (removed) give_ticket(map);
    return removed;
}

int gale_time_cache_map_put(gale_time_cache_map *map, uint64_t k, const void *value) {
    return put(map, number_key(k), value, true, NULL);
}

int gale_time_cache_map_put_if_absent(gale_time_cache_map *map, uint64_t k, const void *value, void *ret_value) {
    return put(map, number_key(k), value, false, ret_value);
}

bool gale_time_cache_map_get(gale_time_cache_map *map, uint64_t k, void *ret_value) {
    return get(map, number_key(k), ret_value);
}

bool gale_time_cache_map_contains(gale_time_cache_map *map, uint64_t k) {
    return get(map, number_key(k), NULL);
}

bool gale_time_cache_map_remove(gale_time_cache_map *map, uint64_t k, void *ret_value) {
    return take(map, number_key(k), ret_value);
}

int gale_time_cache_map_put_bytes(gale_time_cache_map *map, const void *data, size_t size, const void *value) {
    return put(map, bytes_key(data, size), value, true, NULL);
}

int gale_time_cache_map_put_if_absent_bytes(gale_time_cache_map *map, const void *data, size_t size, const void *value,
                                            void *ret_value) {
    return put(map, bytes_key(data, size), value, false, ret_value);
}

bool gale_time_cache_map_get_bytes(gale_time_cache_map *map, const void *data, size_t size, void *ret_value) {
    return get(map, bytes_key(data, size), ret_value);
}

bool gale_time_cache_map_contains_bytes(gale_time_cache_map *map, const void *data, size_t size) {
    return get(map, bytes_key(data, size), NULL);
}

bool gale_time_cache_map_remove_bytes(gale_time_cache_map *map, const void *data, size_t size, void *ret_value) {
    return take(map, bytes_key(data, size), ret_value);
}
