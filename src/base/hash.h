/* Hashing of bytes. Up to 16 of them: two multiplications, without a branch on the size (gx_hash_short). More: XXH3 with
 * 64 bits (xxHash, header only). Both are the same in every release and on every machine. `gx_hash_mix` folds one hash
 * into another. This is what gale's fields grouping, version 2, is made of: never change a result. */
#ifndef GX_BASE_HASH_H
#define GX_BASE_HASH_H

#include "base/short_text.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

GX_INLINE uint64_t gx_hash_bytes(const void *bytes, size_t size, uint64_t seed) {
    return XXH3_64bits_withSeed(bytes, size, seed);
}

/* Three numbers that nobody can guess, for maps; or these, which everybody knows, where the result must be the same
 * everywhere. They are odd, and about half of their bits are ones. */
typedef struct gx_hash_key {
    uint64_t low, high, last;
} gx_hash_key;

#define GX_HASH_PUBLIC                                                                                                 \
    ((gx_hash_key){ UINT64_C(0xa0761d6478bd642f), UINT64_C(0xe7037ed1a0b428db), UINT64_C(0x8ebc6af09c88c6e3) })

/* The upper and the lower half of a product, one upon the other. */
GX_INLINE uint64_t gx_hash_fold(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Of text and `what` else there is to tell (its size, its type). Both factors of the first product hold a part of the
 * key, so that who does not know it cannot choose one to be 0, whatever the other is. */
GX_INLINE uint64_t gx_hash_short(gx_short_text text, uint64_t what, gx_hash_key key) {
    uint64_t content = gx_hash_fold(text.low ^ key.low, text.high ^ key.high);
    return gx_hash_fold(content ^ UINT64_C(0x589965cc75374cc3), key.last ^ what * UINT64_C(0x9e3779b97f4a7c15));
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
