/* The hash behind fields grouping: gale_value_hash, and of several values in order. Version 2; golden values in
 * test/tuple/hash_test.c. */
#ifndef GX_TUPLE_HASH_H
#define GX_TUPLE_HASH_H

#include "base/hash.h"
#include "tuple/flat.h"

/* Strings and bytes by content, size and type, numbers by their canonical 8 bytes and type, lists and maps item by item. */
uint64_t gx_value_hash(const gale_value *value);

/* values[indices[0]], values[indices[1]], ... in that order. */
uint64_t gx_values_hash(const gale_value *values, const uint16_t *indices, size_t count);

/* The same of all of them. */
uint64_t gx_values_hash_all(const gale_value *values, size_t count);

/* Size and type in one number. */
GX_INLINE uint64_t gx_hash_what(size_t size, uint8_t type) {
    return (uint64_t)size << 8 | type;
}

/* The same as gx_value_hash of a scalar with these canonical bits. */
GX_INLINE uint64_t gx_hash_scalar(uint64_t bits, uint8_t type) {
    return gx_hash_short((gx_short_text){ bits, 0 }, gx_hash_what(sizeof bits, type), GX_HASH_PUBLIC);
}

/* The same of what is brief (tuple/flat.h), without a call. */
GX_INLINE uint64_t gx_hash_brief(const gale_value *value) {
    if (value->type < GALE_TYPE_STRING) return gx_hash_scalar(gx_flat_scalar(value), value->type);
    const uint8_t *text = gx_short_hidden(value->as.bytes);
    gx_short_text mask = gx_short_text_mask(value->size);
    return gx_hash_short((gx_short_text){ gx_load64(text) & mask.low, gx_load64(text + 8) & mask.high },
                         gx_hash_what(value->size, value->type), GX_HASH_PUBLIC);
}

/* The two candidates, different ones in 0 .. n - 1, that partial key grouping has for a key with this hash; for n = 1
 * both are 0. Version 2, like the hash: the first is where fields grouping would send the key. */
GX_INLINE void gx_hash_pair(uint64_t hash, uint32_t n, uint32_t *ret_first, uint32_t *ret_second) {
    uint32_t first = gx_hash_below(hash, n);
    uint32_t second = gx_hash_below(gx_hash_mix(hash, UINT64_C(0x2545f4914f6cdd1d)), n);
    if (second == first && ++second == n) second = 0;
    *ret_first = first;
    *ret_second = second;
}

#endif
