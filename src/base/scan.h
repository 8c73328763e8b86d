/* Where plain text ends: the first quotation mark, backslash or control character of JSON (RFC 8259, section 7),
 * sixteen bytes at a time. With SSE2 or NEON it is a handful of instructions; the plain form is for other machines,
 * and a test compares the two.
 * Threads: any. */
#ifndef GX_BASE_SCAN_H
#define GX_BASE_SCAN_H

#include "base/bits.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* What ends plain text. */
typedef enum gx_scan_for {
    GX_SCAN_READ, /* of a string that is read */
    GX_SCAN_WRITE /* of one that is written: also DEL, and the lead byte of C1 controls */
} gx_scan_for;

GX_INLINE bool gx_scan_ends(unsigned char c, gx_scan_for what) {
    return c < 0x20 || c == '"' || c == '\\' || (what == GX_SCAN_WRITE && (c == 0x7f || c == 0xc2));
}

GX_INLINE const char *gx_scan_plainly(const char *at, const char *end, gx_scan_for what) {
    while (at < end && !gx_scan_ends((unsigned char)*at, what)) at++;
    return at;
}

/* The first such byte, or `end`. */
GX_INLINE const char *gx_scan(const char *at, const char *end, gx_scan_for what) {
#if defined(__SSE2__)
    for (; end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i ends = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
        ends = _mm_or_si128(ends, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
        ends = _mm_or_si128(ends, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
        if (what == GX_SCAN_WRITE) {
            ends = _mm_or_si128(ends, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f)));
            ends = _mm_or_si128(ends, _mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)0xc2)));
        }
        uint32_t bits = (uint32_t)_mm_movemask_epi8(ends);
        if (bits) return at + __builtin_ctz(bits);
    }
#elif defined(__ARM_NEON)
    for (; end - at >= 16; at += 16) {
        uint8x16_t bytes = vld1q_u8((const uint8_t *)at);
        uint8x16_t ends = vcltq_u8(bytes, vdupq_n_u8(0x20));
        ends = vorrq_u8(ends, vceqq_u8(bytes, vdupq_n_u8('"')));
        ends = vorrq_u8(ends, vceqq_u8(bytes, vdupq_n_u8('\\')));
        if (what == GX_SCAN_WRITE) {
            ends = vorrq_u8(ends, vceqq_u8(bytes, vdupq_n_u8(0x7f)));
            ends = vorrq_u8(ends, vceqq_u8(bytes, vdupq_n_u8(0xc2)));
        }
        uint8x8_t halves = vshrn_n_u16(vreinterpretq_u16_u8(ends), 4); /* four bits a byte */
        uint64_t bits = vget_lane_u64(vreinterpret_u64_u8(halves), 0);
        if (bits) return at + (__builtin_ctzll(bits) >> 2);
    }
#endif
    return gx_scan_plainly(at, end, what);
}

#endif
