/* Slots of a hash index, looked at eight at a time, which are a cache line: which of them have a tag? Asked one by one, how many are asked cannot be
 * predicted. With SSE2 it is a handful of instructions; the plain form is for other machines, and a test compares the two.
 * Threads: any. Limits: a group lies at a multiple of its size, 64 bytes. */
#ifndef GX_DS_TAG_GROUP_H
#define GX_DS_TAG_GROUP_H

#include "base/port.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef struct gx_tag_slot {
    uint32_t tag;   /* 0 when it is free */
    uint32_t entry; /* the user's */
} gx_tag_slot;

enum { GX_TAG_GROUP = 8 };

GX_INLINE uint32_t gx_tag_group_match_plain(const gx_tag_slot *group, uint32_t tag) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < GX_TAG_GROUP; i++) found |= (uint32_t)(group[i].tag == tag) << i;
    return found;
}

#ifdef __SSE2__
/* All bits of the tags of four slots that are equal. */
GX_INLINE __m128i gx_tag_group_equal(const __m128i *at, __m128i tag) {
    __m128 first = _mm_castsi128_ps(_mm_load_si128(at)), second = _mm_castsi128_ps(_mm_load_si128(at + 1));
    __m128i tags = _mm_castps_si128(_mm_shuffle_ps(first, second, _MM_SHUFFLE(2, 0, 2, 0)));
    return _mm_cmpeq_epi32(tags, tag);
}
#endif

/* A bit for each slot, the first one's lowest. */
GX_INLINE uint32_t gx_tag_group_match(const gx_tag_slot *group, uint32_t tag) {
#ifdef __SSE2__
    const __m128i *at = (const __m128i *)(const void *)group, all = _mm_set1_epi32((int32_t)tag);
    __m128i words = _mm_packs_epi32(gx_tag_group_equal(at, all), gx_tag_group_equal(at + 2, all));
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(words, _mm_setzero_si128()));
#else
    return gx_tag_group_match_plain(group, tag);
#endif
}

#endif
