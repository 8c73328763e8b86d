/* What counts as white space and as a letter when text is cut into words.
 * White space is ASCII's: blank, tab, newline, return, vertical tab, form feed. Letters are those of ASCII and every
 * character beyond it but for the blocks of punctuation and symbols (quotation marks, dashes, bullets, arrows, boxes,
 * pictures ...); that is a rule of thumb, not Unicode's tables. */
#ifndef GX_KIT_LETTERS_H
#define GX_KIT_LETTERS_H

#include "base/port.h"

#include <gale/base.h>

GX_INLINE bool gx_letters_is_space(unsigned char byte) {
    if (GX_LIKELY(byte > ' ')) return false; /* one comparison for what most bytes are */
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* The word without what is no letter at both ends. `text` says that it is UTF-8; else bytes above 127 are letters. */
gale_str gx_letters_trim(gale_str word, bool text);

/* Characters, or bytes when it is not UTF-8. */
size_t gx_letters_count(gale_str word, bool text);

#endif
