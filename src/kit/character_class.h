/* What counts as white space and as a letter when text is cut into words.
 * White space is ASCII's: blank, tab, newline, return, vertical tab, form feed. Letters are those of ASCII and every
 * character beyond it but for the blocks of punctuation and symbols (quotation marks, dashes, bullets, arrows, boxes,
 * pictures ...); that is a rule of thumb, not Unicode's tables. */
#ifndef GX_KIT_CHARACTER_CLASS_H
#define GX_KIT_CHARACTER_CLASS_H

#include "base/bits.h"
#include "base/port.h"

#include <gale/base.h>

GX_INLINE bool gx_character_class_is_space(unsigned char byte) {
    if (GX_LIKELY(byte > ' ')) return false; /* one comparison for what most bytes are */
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* The first byte of `at` .. `end` that may be white space (it is not above a blank), or `end`: eight at a time. */
GX_INLINE const char *gx_character_class_maybe_space(const char *at, const char *end) {
    const uint64_t low = UINT64_C(0x0101010101010101), high = low << 7;
    for (; end - at >= 8; at += 8) {
        uint64_t eight = gx_load64(at), found = (eight - low * (' ' + 1)) & ~eight & high;
        if (found) return at + __builtin_ctzll(found) / 8; /* the lowest is never a borrow's */
    }
    while (at < end && (unsigned char)*at > ' ') at++;
    return at;
}

/* The end of the word that begins at `at`. */
GX_INLINE const char *gx_character_class_word_end(const char *at, const char *end) {
    at = gx_character_class_maybe_space(at, end);
    while (GX_UNLIKELY(at < end && !gx_character_class_is_space((unsigned char)*at)))
        at = gx_character_class_maybe_space(at + 1, end);
    return at;
}

/* The word without what is no letter at both ends. `text` says that it is UTF-8; else bytes above 127 are letters. */
gale_str gx_character_class_trim(gale_str word, bool text);

/* Characters, or bytes when it is not UTF-8. */
size_t gx_character_class_count(gale_str word, bool text);

#endif
