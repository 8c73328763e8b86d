/* What counts as white space and as a letter when text is cut into words.
 * White space is ASCII's: blank, tab, newline, return, vertical tab, form feed. Letters are those of ASCII and every
 * character beyond it but for the blocks of punctuation and symbols (quotation marks, dashes, bullets, arrows, boxes,
 * pictures ...); that is a rule of thumb, not Unicode's tables. */
#ifndef GX_KIT_CHARACTER_CLASS_H
#define GX_KIT_CHARACTER_CLASS_H

#include "base/short_text.h"

#include <gale/base.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

GX_INLINE bool gx_character_class_is_space(unsigned char byte) {
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Which of eight bytes are white space: a bit each, the first byte's lowest. Without carries between bytes, so that each
 * is judged by itself. */
GX_INLINE uint32_t gx_character_class_spaces_8(uint64_t eight) {
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
    uint64_t low = eight & ~high;
    uint64_t no_blank = (low ^ ones * ' ') + ones * 0x7f; /* the high bit of a byte says: is not */
    uint64_t from_tab = low + ones * (0x80 - '\t'), beyond_return = low + ones * (0x80 - ('\r' + 1));
    uint64_t found = (~no_blank | (from_tab & ~beyond_return)) & ~eight & high;
    return (uint32_t)((found >> 7) * UINT64_C(0x0102040810204080) >> 56);
}

GX_INLINE uint32_t gx_character_class_spaces_16(gx_short_text text) {
#if defined(__SSE2__)
    const __m128i bytes = _mm_set_epi64x((int64_t)text.high, (int64_t)text.low);
    const __m128i behind_tab = _mm_sub_epi8(bytes, _mm_set1_epi8('\t')), most = _mm_set1_epi8('\r' - '\t');
    const __m128i others = _mm_cmpeq_epi8(_mm_min_epu8(behind_tab, most), behind_tab);
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(others, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(' '))));
#else
    return gx_character_class_spaces_8(text.low) | gx_character_class_spaces_8(text.high) << 8;
#endif
}

/* Which of the first 64 bytes of a text are: a bit each, no bit for what is behind its end. */
GX_INLINE uint64_t gx_character_class_spaces(const char *text, size_t size) {
    uint64_t found = 0;
    size_t at = 0;
    for (; at < 64 && size - at >= 16; at += 16) {
        gx_short_text whole;
        memcpy(&whole, text + at, sizeof whole);
        found |= (uint64_t)gx_character_class_spaces_16(whole) << at;
    }
    if (at < 64 && at < size)
        found |= (uint64_t)gx_character_class_spaces_16(gx_short_text_load(text + at, size - at)) << at;
    return found;
}

/* The word without what is no letter at both ends. `text` says that it is UTF-8; else bytes above 127 are letters. */
gale_str gx_character_class_trim(gale_str word, bool text);

/* Characters, or bytes when it is not UTF-8. */
size_t gx_character_class_count(gale_str word, bool text);

#endif
