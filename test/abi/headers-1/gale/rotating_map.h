/* gale/rotating_map.h: a hash map whose entries expire by rotation (Storm's org.apache.storm.utils.RotatingMap).
 *
 * What:    n buckets of age. What is put is in the newest; a rotation opens a new bucket and hands out what is in the
 *          oldest. Who rotates every P keeps an untouched entry for at least (n-1)P and at most nP. One table holds all
 *          buckets, and an entry's bucket is a byte beside its slot: every operation is one probe, whatever n is.
 *
 *              rotation     newest .. oldest   dead            n = 3, rotated every P
 *                                 2  1  0
 *              before             c  b  a
 *              after         3  2  1            0: a            a lived for at least 2P and at most 3P
 *
 * Threads: one at a time. For many threads there is gale/time_cache_map.h.
 * Owner:   keys and values are copied in. With `destroy`, a value may own something, say a pointer: the map destroys
 *          what it drops by itself; whoever is handed a value (by remove, by a rotation) owns it from then on.
 * Limits:  2 to GALE_ROTATING_MAP_BUCKETS_MAX buckets; values up to GALE_ROTATING_MAP_VALUE_MAX bytes, of one size;
 *          keys are numbers or up to GALE_ROTATING_MAP_KEY_MAX bytes. A pointer to a value is 8-aligned and valid until
 *          the next new key, the next rotation, or its own removal.
 * Misuse:  every function checks: without a map, GALE_INVALID, 0, NULL, false. With GALE_CHECKS a map that was freed
 *          is none.
 * Errors:  GALE_INVALID for a NULL that may not be one, GALE_TYPE for a number in a map of bytes and the reverse,
 *          GALE_TOO_LARGE for a key, GALE_NO_MEMORY; after each the map is as it was.
 */
#ifndef GALE_ROTATING_MAP_H
#define GALE_ROTATING_MAP_H

#include <gale/alloc.h>
#include <gale/error.h>

GALE_BEGIN

enum {
    GALE_ROTATING_MAP_BUCKETS = 3, /* when the options say nothing, as in Storm */
    GALE_ROTATING_MAP_BUCKETS_MAX = 253,
    GALE_ROTATING_MAP_VALUE_MAX = 1 << 16,
    GALE_ROTATING_MAP_KEY_MAX = 1 << 16,
};

typedef struct gale_rotating_map gale_rotating_map;

typedef enum gale_key_type {
    GALE_KEY_U64,
    GALE_KEY_BYTES, /* up to 20 bytes lie in the table, longer keys in a block of their own */
} gale_key_type;

/* Zero means the default everywhere. Initialise with GALE_ROTATING_MAP_OPTIONS_INIT. */
typedef struct gale_rotating_map_options {
    size_t size;
    uint32_t buckets;                         /* n, at least 2; 0: 3 */
    int32_t key_type;                         /* a gale_key_type */
    size_t value_size;                        /* bytes; 0: a set */
    uint64_t seed;                            /* makes the order of walks; 0: from the machine's entropy */
    const gale_allocator *allocator;          /* default: malloc; copied */
    void (*destroy)(void *user, void *value); /* gets the place of a value that the map drops; default: nothing */
    void *user;
} gale_rotating_map_options;

#define GALE_ROTATING_MAP_OPTIONS_INIT                                                                                 \
    { sizeof(gale_rotating_map_options), 0, 0, 0, 0, NULL, NULL, NULL }

/* An entry, as walks and rotations show it. */
typedef struct gale_rotating_map_entry {
    uint64_t key;      /* GALE_KEY_U64 */
    const void *bytes; /* GALE_KEY_BYTES: the key, */
    size_t bytes_size; /* and its size */
    void *value;
} gale_rotating_map_entry;

/* `options` NULL: all defaults. GALE_INVALID names the option that is wrong in `error` (may be NULL). */
GALE_API GALE_MUST_USE int gale_rotating_map_new(const gale_rotating_map_options *options, gale_rotating_map **ret_map,
                                                 gale_error *error);

/* Destroys the values that are left. NULL is allowed; not from inside a callback of this map. */
GALE_API void gale_rotating_map_free(gale_rotating_map *map);

/* Entries that are alive. The dead of a rotation do not count from its beginning on. */
GALE_API size_t gale_rotating_map_size(const gale_rotating_map *map);

/* Bytes that the map has from its allocator now. */
GALE_API size_t gale_rotating_map_memory(const gale_rotating_map *map);

/* Makes room for `entries` in all, so that the way there moves (almost) nothing. The room stays until a larger number,
 * or 0, is reserved. GALE_NO_MEMORY: room has been made for some, or for none. */
GALE_API GALE_MUST_USE int gale_rotating_map_reserve(gale_rotating_map *map, size_t entries);

/* --- Keys that are numbers --- */

/* Maps `key` to a copy of `value` and puts it in the newest bucket, which makes it young again. A NULL `value` leaves
 * one that is there as it is, and makes a new one zeroed. The place of the value goes to `ret_value` (may be NULL).
 * Returns 1 when the key is new, 0 when it was there (the old value is destroyed), or an error. */
GALE_API GALE_MUST_USE int gale_rotating_map_put(gale_rotating_map *map, uint64_t key, const void *value,
                                                 void **ret_value);

/* The same, but a key that is there keeps its value and its age: 0, and its place in `ret_value`. */
GALE_API GALE_MUST_USE int gale_rotating_map_put_if_absent(gale_rotating_map *map, uint64_t key, const void *value,
                                                           void **ret_value);

/* The place of the value of `key`, to read and to update in place, or NULL. Does not renew. */
GALE_API void *gale_rotating_map_get(const gale_rotating_map *map, uint64_t key);

/* Is the key there? Does not renew. */
GALE_API bool gale_rotating_map_contains(const gale_rotating_map *map, uint64_t key);

/* The value moves to `ret_value` (NULL: it is destroyed). True when the key was there. */
GALE_API bool gale_rotating_map_remove(gale_rotating_map *map, uint64_t key, void *ret_value);

/* --- Keys that are bytes: the same. `key` may be NULL when `key_size` is 0 --- */

/* As gale_rotating_map_put. GALE_TOO_LARGE for a key above GALE_ROTATING_MAP_KEY_MAX. */
GALE_API GALE_MUST_USE int gale_rotating_map_put_bytes(gale_rotating_map *map, const void *key, size_t key_size,
                                                       const void *value, void **ret_value);

/* As gale_rotating_map_put_if_absent; the same limit. */
GALE_API GALE_MUST_USE int gale_rotating_map_put_if_absent_bytes(gale_rotating_map *map, const void *key,
                                                                 size_t key_size, const void *value, void **ret_value);

/* As gale_rotating_map_get; NULL for a key that is too large. */
GALE_API void *gale_rotating_map_get_bytes(const gale_rotating_map *map, const void *key, size_t key_size);

/* As gale_rotating_map_contains. */
GALE_API bool gale_rotating_map_contains_bytes(const gale_rotating_map *map, const void *key, size_t key_size);

/* As gale_rotating_map_remove: the value moves to `ret_value`, or is destroyed. */
GALE_API bool gale_rotating_map_remove_bytes(gale_rotating_map *map, const void *key, size_t key_size, void *ret_value);

/* --- Rotation --- */

/* Gets each dead entry once: it is no longer in the map, and the new bucket is in place. `dead` is a copy, valid until
 * the function returns; the value is the function's to keep or to free. It may put, get and remove any key, the dead
 * one too; it may neither rotate nor free the map. */
typedef void gale_rotating_map_expired_fn(void *user, const gale_rotating_map_entry *dead);

/* Rotates, and calls `expired` for each of the dead (NULL: their values are destroyed). Returns how many they were, or
 * GALE_STATE while another rotation goes on. */
GALE_API int64_t gale_rotating_map_rotate(gale_rotating_map *map, gale_rotating_map_expired_fn *expired, void *user);

/* The same in steps: begins a rotation, whose dead the caller then takes one by one, at once or over time. Returns how
 * many there are, or GALE_STATE while another rotation goes on. */
GALE_API int64_t gale_rotating_map_rotate_begin(gale_rotating_map *map);

/* Takes the next of the dead: true, and its copy in `ret_dead`, valid until the next call; the value is the caller's.
 * False when none is left: the rotation is over. Between the calls every operation is allowed but a rotation. */
GALE_API bool gale_rotating_map_next_dead(gale_rotating_map *map, gale_rotating_map_entry *ret_dead);

/* --- Walks --- */

/* A walk begins with a cursor of zeros and goes on while an entry comes back. On the way, keys that are there may be
 * got, put and removed; after a new key or a rotation the walk may miss entries or see them twice. The order follows
 * from the seed and what was done, never from addresses. */
typedef struct gale_rotating_map_cursor {
    uint64_t place[3];
} gale_rotating_map_cursor;

/* The next entry, in `ret_entry`: borrowed, its value to read and to update in place. False at the end of the walk. */
GALE_API bool gale_rotating_map_next(const gale_rotating_map *map, gale_rotating_map_cursor *cursor,
                                     gale_rotating_map_entry *ret_entry);

GALE_END

#endif
