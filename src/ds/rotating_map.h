/* What gale's own modules may do with a rotating map (gale/rotating_map.h) beyond the public interface: share a heap,
 * and take the dead out as they lie in the table, to show them later and from another thread.
 *
 * Threads: as the public interface; gx_rotating_map_show and gx_rotating_map_drop_key may be called from any thread.
 * Owner:   a raw entry owns its key's block; gx_rotating_map_drop_key gives that back.
 */
#ifndef GX_DS_ROTATING_MAP_H
#define GX_DS_ROTATING_MAP_H

#include "base/alloc.h"

#include <gale/rotating_map.h>

/* As gale_rotating_map_new, with memory from `heap`, which outlives the map; the options have been checked, and their
 * allocator is not looked at. GALE_OK or GALE_NO_MEMORY. */
int gx_rotating_map_make(gx_heap *heap, const gale_rotating_map_options *options, gale_rotating_map **ret_map);

/* GALE_OK, or GALE_INVALID and what is wrong with the number of buckets, the type of keys or the size of values. */
int gx_rotating_map_check(uint32_t buckets, int32_t key_type, size_t value_size, gale_error *error);

/* The size of a raw entry. */
size_t gx_rotating_map_stride(const gale_rotating_map *map);

/* As gale_rotating_map_next_dead, but the entry is copied to `raw`, as it lies. */
bool gx_rotating_map_take_dead(gale_rotating_map *map, void *raw);
void gx_rotating_map_show(const gale_rotating_map *map, void *raw, gale_rotating_map_entry *ret_entry);
void gx_rotating_map_drop_key(const gale_rotating_map *map, const void *raw);

/* --- Ages, for what is saved and comes back: how many rotations ago a key was put. Not during a rotation --- */

/* UINT32_MAX: it is not there. */
uint32_t gx_rotating_map_age(const gale_rotating_map *map, const void *key, size_t key_size);

/* As gale_rotating_map_put_bytes, as though it had been so many rotations ago; at most as many as a key survives. */
int gx_rotating_map_put_aged(gale_rotating_map *map, const void *key, size_t key_size, const void *value, uint32_t age);

/* --- For the engine: numbers, memory from its heap, and the place of a value in one call --- */

typedef gale_rotating_map gx_rotating_map;
typedef void gx_expired_fn(void *user, uint64_t key, void *value);

/* GALE_INVALID for what gale_rotating_map_new refuses, and for 0 buckets. */
int gx_rotating_map_new(gx_heap *heap, uint32_t buckets, size_t value_size, uint64_t seed, gx_rotating_map **ret_map);
int64_t gx_rotating_map_rotate(gx_rotating_map *map, gx_expired_fn *expired, void *user);

/* The value of `key`, made zeroed if it was not there (`ret_made`, may be NULL, says so); it is now in the newest
 * bucket. NULL when memory is out: nothing changed. */
static inline void *gx_rotating_map_put(gx_rotating_map *map, uint64_t key, bool *ret_made) {
    void *value = NULL;
    int rc = gale_rotating_map_put(map, key, NULL, &value);
    if (rc >= 0 && ret_made) *ret_made = rc == 1;
    return value;
}

/* The same, but a key that is there keeps its age. */
static inline void *gx_rotating_map_put_if_absent(gx_rotating_map *map, uint64_t key, bool *ret_made) {
    void *value = NULL;
    int rc = gale_rotating_map_put_if_absent(map, key, NULL, &value);
    if (rc >= 0 && ret_made) *ret_made = rc == 1;
    return value;
}

static inline void gx_rotating_map_free(gx_rotating_map *map) {
    gale_rotating_map_free(map);
}

static inline void *gx_rotating_map_get(const gx_rotating_map *map, uint64_t key) {
    return gale_rotating_map_get(map, key);
}

static inline bool gx_rotating_map_remove(gx_rotating_map *map, uint64_t key, void *ret_value) {
    return gale_rotating_map_remove(map, key, ret_value);
}

static inline size_t gx_rotating_map_size(const gx_rotating_map *map) {
    return gale_rotating_map_size(map);
}

/* What of the map does not hold, in words, or NULL; not during a rotation. */
const char *gx_rotating_map_flaw(const gx_rotating_map *map);

#endif
