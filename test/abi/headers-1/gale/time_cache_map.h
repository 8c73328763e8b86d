/* gale/time_cache_map.h: an expiring map that threads share (Storm's org.apache.storm.utils.TimeCacheMap).
 *
 * What:    a rotating map (gale/rotating_map.h) with a clock. An entry that nobody puts again expires when it is at
 *          least `expiration` old, and at most n times the period, ceil(expiration / (n-1)), plus the time by which
 *          rotations came late. Nothing expires early.
 * Threads: any, at the same time, for everything but gale_time_cache_map_free. The keys are spread over shards, each
 *          with a lock of its own that is held for one operation; no lock is held while `expired` runs.
 * Owner:   keys and values are copied in and out. The map never owns what a value points to.
 * Limits:  as of the rotating map; an expiration of 1 ns to 100 years.
 * Misuse:  as of the rotating map.
 * Errors:  as of the rotating map; after each the map is as it was.
 */
#ifndef GALE_TIME_CACHE_MAP_H
#define GALE_TIME_CACHE_MAP_H

#include <gale/clock.h>
#include <gale/rotating_map.h>

GALE_BEGIN

typedef struct gale_time_cache_map gale_time_cache_map;

/* Storm's four constructors are four ways to fill this: `expiration` alone; with `expired`; with `buckets`; with both.
 * Zero means the default everywhere but for `expiration`. Initialise with GALE_TIME_CACHE_MAP_OPTIONS_INIT. */
typedef struct gale_time_cache_map_options {
    size_t size;
    int64_t expiration;                    /* ns; 30 * GALE_SECOND, or gale_time_cache_map_seconds(30) */
    uint32_t buckets;                      /* n, at least 2; 0: 3. More of them die more punctually */
    int32_t key_type;                      /* a gale_key_type */
    size_t value_size;                     /* bytes; 0: a set */
    size_t max_entries;                    /* at so many, a new key is refused with GALE_AGAIN; 0: no bound */
    bool cleaner;                          /* start a thread that rotates; default: the caller calls tick */
    uint32_t shards;                       /* a power of two up to 4096; 0: 64 */
    uint64_t seed;                         /* 0: from the machine's entropy */
    const gale_clock *clock;               /* default: the machine's monotonic clock; copied */
    const gale_allocator *allocator;       /* default: malloc; copied, called from any thread that uses the map */
    gale_rotating_map_expired_fn *expired; /* default: the dead are forgotten */
    void *user;                            /* for `expired` */
} gale_time_cache_map_options;

#define GALE_TIME_CACHE_MAP_OPTIONS_INIT                                                                               \
    { sizeof(gale_time_cache_map_options), 0, 0, 0, 0, 0, false, 0, 0, NULL, NULL, NULL, NULL }

/* Nanoseconds, rounded up to a whole one; 0, which no map takes, for what is not above 0 or does not fit. */
GALE_INLINE int64_t gale_time_cache_map_seconds(double seconds) {
    if (!(seconds > 0) || seconds > 9.2e9) return 0;
    double nanoseconds = seconds * 1e9;
    int64_t whole = (int64_t)nanoseconds;
    return whole + ((double)whole < nanoseconds);
}

/* GALE_INVALID names the option that is wrong in `error` (may be NULL); GALE_NO_MEMORY also when the system refuses the
 * thread. */
GALE_API GALE_MUST_USE int gale_time_cache_map_new(const gale_time_cache_map_options *options,
                                                   gale_time_cache_map **ret_map, gale_error *error);

/* Stops the cleaner, and waits for it: not from inside `expired`. No other thread may be in the map. What is left is
 * forgotten without `expired`. NULL is allowed. */
GALE_API void gale_time_cache_map_free(gale_time_cache_map *map);

/* The time between two rotations: the expiration over n-1, rounded up. */
GALE_API int64_t gale_time_cache_map_period(const gale_time_cache_map *map);

/* Rotates when a period has passed since the last rotation, or since the map was made. `now` is of the map's clock.
 * Calls `expired` on this thread for each of the dead, and returns how many there were. One call rotates once, however
 * late it comes, because what was put a moment ago must not die early. GALE_INVALID when `now` is before that of an
 * earlier call: nothing changed. GALE_AGAIN while another thread (or the caller, from inside `expired`) is ticking. */
GALE_API GALE_MUST_USE int64_t gale_time_cache_map_tick(gale_time_cache_map *map, int64_t now);

/* By how much the rotations came late, so far: the longest, in ns. */
GALE_API int64_t gale_time_cache_map_lateness(const gale_time_cache_map *map);

/* Entries that are alive: exact when no thread changes the map meanwhile. */
GALE_API size_t gale_time_cache_map_size(const gale_time_cache_map *map);

/* Bytes that the map has from its allocator now. */
GALE_API size_t gale_time_cache_map_memory(const gale_time_cache_map *map);

/* --- Keys that are numbers --- */

/* Maps `key` to a copy of `value` (NULL: what is there stays, or zeros) and makes it young again. Returns 1 when the
 * key is new, 0 when it was there, GALE_AGAIN when the map is at its bound, or an error. */
GALE_API GALE_MUST_USE int gale_time_cache_map_put(gale_time_cache_map *map, uint64_t key, const void *value);

/* The same for a key that is not there: 1. A key that is there keeps its value and its age, and a copy of its value
 * goes to `ret_value` (may be NULL): 0. Of threads that try at once, one gets 1. */
GALE_API GALE_MUST_USE int gale_time_cache_map_put_if_absent(gale_time_cache_map *map, uint64_t key, const void *value,
                                                             void *ret_value);

/* Copies the value to `ret_value` (may be NULL) when the key is there. Does not renew. */
GALE_API bool gale_time_cache_map_get(gale_time_cache_map *map, uint64_t key, void *ret_value);

/* Is the key there? Does not renew. */
GALE_API bool gale_time_cache_map_contains(gale_time_cache_map *map, uint64_t key);

/* Removes the key and copies its value to `ret_value` (may be NULL). True when it was there: then it does not
 * expire. */
GALE_API bool gale_time_cache_map_remove(gale_time_cache_map *map, uint64_t key, void *ret_value);

/* --- Keys that are bytes: the same. `key` may be NULL when `key_size` is 0 --- */

/* As gale_time_cache_map_put. GALE_TOO_LARGE for a key above GALE_ROTATING_MAP_KEY_MAX. */
GALE_API GALE_MUST_USE int gale_time_cache_map_put_bytes(gale_time_cache_map *map, const void *key, size_t key_size,
                                                         const void *value);

/* As gale_time_cache_map_put_if_absent; the same limit. */
GALE_API GALE_MUST_USE int gale_time_cache_map_put_if_absent_bytes(gale_time_cache_map *map, const void *key,
                                                                   size_t key_size, const void *value, void *ret_value);

/* As gale_time_cache_map_get; false for a key that is too large. */
GALE_API bool gale_time_cache_map_get_bytes(gale_time_cache_map *map, const void *key, size_t key_size,
                                            void *ret_value);

/* As gale_time_cache_map_contains. */
GALE_API bool gale_time_cache_map_contains_bytes(gale_time_cache_map *map, const void *key, size_t key_size);

/* As gale_time_cache_map_remove: the value is copied out, and does not expire. */
GALE_API bool gale_time_cache_map_remove_bytes(gale_time_cache_map *map, const void *key, size_t key_size,
                                               void *ret_value);

GALE_END

#endif
