/* Ranges, powers of two, alignment, unaligned loads and stores. */
#ifndef GX_BASE_BITS_H
#define GX_BASE_BITS_H

#include "base/port.h"

#include <string.h>

GX_INLINE size_t gx_align_up(size_t n, size_t power) {
    return (n + power - 1) & ~(power - 1);
}

/* first <= n < first + count. Of 16-bit numbers, too: written out, their difference would be an int, and could be below
 * every count. */
GX_INLINE bool gx_is_within(uint32_t n, uint32_t first, uint32_t count) {
    return n - first < count;
}

GX_INLINE bool gx_is_power(uint64_t n) {
    return n != 0 && (n & (n - 1)) == 0;
}

/* The smallest power of two that is at least n (n >= 1, n <= 2^63). */
GX_INLINE uint64_t gx_power_above(uint64_t n) {
    return n <= 1 ? 1 : UINT64_C(1) << (64 - __builtin_clzll(n - 1));
}

/* The position of the highest set bit; n is not 0. */
GX_INLINE unsigned gx_log2(uint64_t n) {
    return 63u - (unsigned)__builtin_clzll(n);
}

GX_INLINE uint32_t gx_load32(const void *at) {
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

GX_INLINE uint64_t gx_load64(const void *at) {
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

GX_INLINE void gx_store32(void *at, uint32_t v) {
    memcpy(at, &v, sizeof v);
}

GX_INLINE void gx_store64(void *at, uint64_t v) {
    memcpy(at, &v, sizeof v);
}

#endif
