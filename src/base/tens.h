/* Powers of ten as 128 bits, which the reading and the writing of numbers share.
 *
 * What:    gx_tens[k - GX_TENS_LEAST] holds the highest 128 bits of 10^k, rounded down: 10^k is `high:low` * 2^(e -
 *          127), or a little more, where e = floor(log2(10^k)). It is exact for k from 0 to 55.
 * Threads: any. */
#ifndef GX_BASE_TENS_H
#define GX_BASE_TENS_H

#include "base/port.h"

typedef struct gx_ten {
    uint64_t high, low;
} gx_ten;

enum { GX_TENS_LEAST = -342, GX_TENS_MOST = 324, GX_TENS_EXACT = 55 };

extern const gx_ten gx_tens[GX_TENS_MOST - GX_TENS_LEAST + 1];

/* floor(log2(10^k)) for k within the table. */
GX_INLINE int32_t gx_tens_log2(int32_t k) {
    return (k * 1741647) >> 19;
}

/* The product's upper half; `*ret_low` is the lower one. */
GX_INLINE uint64_t gx_tens_multiply(uint64_t a, uint64_t b, uint64_t *ret_low) {
    unsigned __int128 product = (unsigned __int128)a * b;
    *ret_low = (uint64_t)product;
    return (uint64_t)(product >> 64);
}

#endif
