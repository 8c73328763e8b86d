/* Sixteen bytes compared with one at once: the bit of each byte that is equal. For tables that keep a byte of metadata
 * a slot. With SSE2 it is three instructions; the plain form is for other machines, and a test compares the two.
 * Threads: any. */
#ifndef GX_DS_MATCH16_H
#define GX_DS_MATCH16_H

#include "base/bits.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Exact: no carry runs from one byte into the next, because 0x7f + 0x7f stays below 0x100. */
GX_INLINE uint32_t gx_match8_plain(uint64_t bytes, uint8_t value) {
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t differ = bytes ^ (UINT64_C(0x0101010101010101) * value);
    uint64_t equal = ~(((differ & low) + low) | differ | low); /* 0x80 where the byte is zero */
    return (uint32_t)(((equal >> 7) * UINT64_C(0x0102040810204080)) >> 56);
}

GX_INLINE uint32_t gx_match16_plain(const void *bytes, uint8_t value) {
    return gx_match8_plain(gx_load64(bytes), value) | gx_match8_plain(gx_load64((const char *)bytes + 8), value) << 8;
}

GX_INLINE uint32_t gx_match16(const void *bytes, uint8_t value) {
#ifdef __SSE2__
    __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)bytes), _mm_set1_epi8((char)value));
    return (uint32_t)_mm_movemask_epi8(equal);
#else
    return gx_match16_plain(bytes, value);
#endif
}

#endif
