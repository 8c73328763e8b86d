/* A hash map from byte strings to values of one fixed size: open addressing, linear probing from a group of eight slots
 * that is looked at in one go, 32-bit hash tags beside the slots; entries lie densely in an array in the order of
 * insertion until one is removed (the last one then takes its place), so that walking is an array walk. Keys of up to 16
 * bytes lie beside their values, zeros behind them, and are compared as two numbers; longer ones are copied into an arena
 * of the map's own, 8-aligned, which is compacted when more than half of it is dead.
 * Threads: one at a time. Owner: memory comes from a gx_heap and goes back with gx_bytes_map_free.
 * Limits: 2^31 entries; a pointer to a value or a key is valid until the next insertion or removal. */
#ifndef GX_DS_BYTES_MAP_H
#define GX_DS_BYTES_MAP_H

#include "base/alloc.h"
#include "base/str.h"

typedef struct gx_bytes_map gx_bytes_map;

/* NULL when memory is out. `seed` is the key of the hashes (a component gives its own random number): who does not know
 * it cannot choose short keys that collide. Long ones go by XXH3, which is seeded, but no cipher. */
gx_bytes_map *gx_bytes_map_new(gx_heap *heap, size_t value_size, uint64_t seed);
void gx_bytes_map_free(gx_bytes_map *map);

size_t gx_bytes_map_size(const gx_bytes_map *map);

/* The value of `key`, or NULL. */
void *gx_bytes_map_get(const gx_bytes_map *map, gale_str key);

/* The same of the key that is this text with a NUL behind it, which need not be there. Below GX_SHORT_TEXT_MAX bytes. */
void *gx_bytes_map_get_text(const gx_bytes_map *map, gale_str text);

/* Fetches what a look for a key of at most 16 bytes reads first, and returns its tag, which is not 0. With that tag
 * `fetched` finds, from then on, the value of an entry that is probably the key's, without reading the entry; NULL. For
 * keys that are looked for later (kit/ahead.h): the entry begins GX_BYTES_MAP_HEAD bytes before its value. */
enum { GX_BYTES_MAP_HEAD = 24 };
uint32_t gx_bytes_map_fetch(const gx_bytes_map *map, gale_str key);
void *gx_bytes_map_fetched(const gx_bytes_map *map, uint32_t tag);

/* The value of `key`, made zeroed if it was not there (`ret_made`, may be NULL, says so); NULL when memory is out:
 * nothing changed. The value is 8-aligned. */
void *gx_bytes_map_put(gx_bytes_map *map, gale_str key, bool *ret_made);

/* False when it was not there. */
bool gx_bytes_map_remove(gx_bytes_map *map, gale_str key);

/* Entry `index` of the dense array, 0 <= index < size. To remove while walking, walk from the last to the first. */
void *gx_bytes_map_at(const gx_bytes_map *map, size_t index, gale_str *ret_key);

/* Which entry has this value. */
size_t gx_bytes_map_index(const gx_bytes_map *map, const void *value);

void gx_bytes_map_remove_at(gx_bytes_map *map, size_t index);

void gx_bytes_map_clear(gx_bytes_map *map);

/* The tag of a key, which the map may or may not hold; for tests. */
uint32_t gx_bytes_map_tag(const gx_bytes_map *map, gale_str key);

/* What of the map does not hold, in words, or NULL. */
const char *gx_bytes_map_flaw(const gx_bytes_map *map);

#endif
