/* A rotating map: a hash map whose entries expire by rotation (Storm's org.apache.storm.utils.RotatingMap).
 *
 * What:    n buckets of age. What is put is in the newest; a rotation makes a new bucket and hands out what is in the
 *          oldest. Storm keeps n hash maps and asks one after the other; here one table holds all, and an entry's
 *          bucket is a byte beside its slot, so that every operation is one probe whatever n is.
 *
 *              rotation     newest .. oldest   dead            n = 3, rotated every P
 *                                 2  1  0
 *              before             c  b  a
 *              after         3  2  1            0: a            a lived for more than 2P = T and at most 3P
 *
 *          Whoever rotates every T/(n-1) keeps an untouched entry for an age in [T, T*n/(n-1)].
 * Cost:    put, get, remove: one probe. A rotation: the dead, and one pass over a byte a slot; when nothing is in the
 *          oldest bucket, nothing. The table is made of segments of some 3300 entries that grow by a fifth and then
 *          split: a put never moves more than one of them. Memory goes back at a rotation, when the map has been less
 *          than a quarter full since the last one.
 * Threads: one at a time. Owner: memory comes from a gx_heap and goes back with gx_rotating_map_free.
 * Limits:  2 to GX_ROTATING_BUCKETS_MAX buckets; values up to GX_ROTATING_VALUE_MAX bytes. A pointer to a value is
 *          valid until the next new key, the next rotation, or its own removal. Walks and rotations go in an order
 *          that follows from the seed and what was done, never from addresses.
 */
#ifndef GX_DS_ROTATING_MAP_H
#define GX_DS_ROTATING_MAP_H

#include "base/alloc.h"

enum { GX_ROTATING_BUCKETS_MAX = 253, GX_ROTATING_VALUE_MAX = 1 << 20 };

typedef struct gx_rotating_map gx_rotating_map;

/* Called for each dead entry: `value` is a copy, the entry is no longer in the map, and the new bucket is in place. It
 * may put, get and remove any key, the dead one too; it may neither rotate nor free the map. */
typedef void gx_expired_fn(void *user, uint64_t key, void *value);

/* `seed` makes the order, and keeps others from choosing keys that collide. GALE_INVALID (fewer than two buckets, or
 * beyond a limit), GALE_NO_MEMORY. */
int gx_rotating_map_new(gx_heap *heap, uint32_t buckets, size_t value_size, uint64_t seed, gx_rotating_map **ret_map);
void gx_rotating_map_free(gx_rotating_map *map);

/* Entries that are alive; during a rotation the dead do not count. */
size_t gx_rotating_map_size(const gx_rotating_map *map);

/* The value of `key`, to read or to update in place, or NULL. Does not renew. */
void *gx_rotating_map_get(const gx_rotating_map *map, uint64_t key);

static inline bool gx_rotating_map_contains(const gx_rotating_map *map, uint64_t key) {
    return gx_rotating_map_get(map, key) != NULL;
}

/* The value of `key`, 8-aligned, made zeroed if it was not there (`ret_made`, may be NULL, says so); it is now in the
 * newest bucket. NULL when memory is out: nothing changed. */
void *gx_rotating_map_put(gx_rotating_map *map, uint64_t key, bool *ret_made);

/* The same, but a key that is there keeps its age. */
void *gx_rotating_map_put_if_absent(gx_rotating_map *map, uint64_t key, bool *ret_made);

/* Copies the value to `ret_value` (may be NULL). False when it was not there. */
bool gx_rotating_map_remove(gx_rotating_map *map, uint64_t key, void *ret_value);

/* Returns how many died, or GALE_INVALID from inside `expired`. `expired` may be NULL. */
int64_t gx_rotating_map_rotate(gx_rotating_map *map, gx_expired_fn *expired, void *user);

/* A walk begins with a cursor of zeros and goes on while a value comes back. On the way, keys that are there may be
 * got, put and removed; after a new key or a rotation the walk may miss entries or see them twice. */
typedef struct gx_rotating_cursor {
    uint64_t segment; /* the leading bits of its hashes */
    uint64_t slot;    /* the next one to look at */
    bool ended;
} gx_rotating_cursor;

void *gx_rotating_map_next(const gx_rotating_map *map, gx_rotating_cursor *cursor, uint64_t *ret_key);

#endif
