/* Hashing of bytes: XXH3 with 64 bits (xxHash, header only), which is stable across releases and machines.
 * `gx_hash_mix` folds one hash into another. This is what gale's fields grouping, version 1, is made of: never change
 * a result. */
#ifndef GX_BASE_HASH_H
#define GX_BASE_HASH_H

#include "base/port.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

GX_INLINE uint64_t gx_hash_bytes(const void *bytes, size_t size, uint64_t seed) {
    return XXH3_64bits_withSeed(bytes, size, seed);
}

GX_INLINE uint64_t gx_hash_mix(uint64_t hash, uint64_t next) {
    hash ^= next + UINT64_C(0x9e3779b97f4a7c15) + (hash << 12) + (hash >> 4);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xd6e8feb86659fd93);
    hash ^= hash >> 32;
    return hash;
}

/* Multiply-shift: hash to 0 .. n - 1. */
GX_INLINE uint32_t gx_hash_below(uint64_t hash, uint32_t n) {
    return (uint32_t)(((unsigned __int128)hash * n) >> 64);
}

#endif
