/* Borrowed text: gale_str made, compared and split. */
#ifndef GX_BASE_STR_H
#define GX_BASE_STR_H

#include "base/port.h"

#include <gale/base.h>
#include <string.h>

GX_INLINE gale_str gx_str(const char *text) {
    return (gale_str){ text, text ? strlen(text) : 0 };
}

GX_INLINE bool gx_str_equal(gale_str a, gale_str b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

GX_INLINE bool gx_str_is(gale_str a, const char *text) {
    return gx_str_equal(a, gx_str(text));
}

/* By byte, shorter first. */
GX_INLINE int gx_str_compare(gale_str a, gale_str b) {
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common ? memcmp(a.data, b.data, common) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

GX_INLINE gale_str gx_str_trim(gale_str s) {
    while (s.size && (s.data[0] == ' ' || s.data[0] == '\t')) s.data++, s.size--;
    while (s.size && (s.data[s.size - 1] == ' ' || s.data[s.size - 1] == '\t')) s.size--;
    return s;
}

/* Cuts the next piece before `separator` from `*rest`, trimmed; false when nothing is left. "a, b" gives "a" and
 * "b". */
GX_INLINE bool gx_str_next(gale_str *rest, char separator, gale_str *ret_piece) {
    if (!rest->data) return false;
    const char *end = rest->size ? (const char *)memchr(rest->data, separator, rest->size) : NULL;
    gale_str piece = { rest->data, end ? (size_t)(end - rest->data) : rest->size };
    *rest = end ? (gale_str){ end + 1, rest->size - piece.size - 1 } : (gale_str){ NULL, 0 };
    *ret_piece = gx_str_trim(piece);
    return true;
}

/* All of `word` as a number of at most `max`, in digits of `base` (up to 16; a to f are lower case) and nothing else. */
GX_INLINE bool gx_str_number(gale_str word, unsigned base, uint64_t max, uint64_t *ret_number) {
    uint64_t number = 0;
    for (size_t i = 0; i < word.size; i++) {
        unsigned c = (unsigned char)word.data[i];
        unsigned digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
        if (digit >= base || digit > max || number > (max - digit) / base) return false;
        number = number * base + digit;
    }
    *ret_number = number;
    return word.size > 0;
}

/* For printf: "%u task%s", n, gx_plural(n). */
GX_INLINE const char *gx_plural(uint64_t n) {
    return n == 1 ? "" : "s";
}

/* For printf: "%.*s", GX_STR(s). */
#define GX_STR(s) (int)(s).size, (s).data

#endif
