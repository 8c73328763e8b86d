#include "base/visible.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

enum { ESCAPE = sizeof "\\u0000" };

static uint32_t number_of(const unsigned char *c, size_t size) {
    switch (size) {
    case 1: return c[0];
    case 2: return (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu);
    case 3: return (c[0] & 0x0fu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
    default: return (c[0] & 0x07u) << 18 | (c[1] & 0x3fu) << 12 | (c[2] & 0x3fu) << 6 | (c[3] & 0x3fu);
    }
}

static bool shows(uint32_t number) {
    if (number < 0x20 || (number >= 0x7f && number < 0xa0)) return false;
    return !(number >= 0x2028 && number <= 0x202e) && !(number >= 0x2066 && number <= 0x2069);
}

size_t gx_visible_step(const char *text, size_t size, bool *ret_shows) {
    size_t whole = gx_utf8_step(text, size);
    *ret_shows = whole && shows(number_of((const unsigned char *)text, whole));
    return whole ? whole : 1;
}

size_t gx_visible_columns(const char *text, size_t size) {
    /* Unicode's East_Asian_Width W and F, in ranges that hold a little more. */
    static const struct {
        uint32_t first, last;
    } wide[] = { { 0x1100, 0x115f },  { 0x231a, 0x231b },   { 0x23e9, 0x23f3 },   { 0x25fd, 0x25fe },
                 { 0x2614, 0x27bf },  { 0x2b1b, 0x2b55 },   { 0x2e80, 0xa4cf },   { 0xa960, 0xa97c },
                 { 0xac00, 0xd7a3 },  { 0xf900, 0xfaff },   { 0xfe10, 0xfe6f },   { 0xff01, 0xff60 },
                 { 0xffe0, 0xffe6 },  { 0x16fe0, 0x18cff }, { 0x1aff0, 0x1b2ff }, { 0x1f000, 0x1faff },
                 { 0x20000, 0x3fffd } };
    size_t whole = gx_utf8_step(text, size);
    uint32_t number = whole ? number_of((const unsigned char *)text, whole) : 0;
    for (size_t i = 0; i < sizeof wide / sizeof *wide && number >= wide[i].first; i++)
        if (number <= wide[i].last) return 2;
    return 1;
}

/* How the first character of `text` is shown: as it is, or written out in `escape`. */
static gale_str shown(const char *text, size_t size, const char *kept, char escape[ESCAPE], size_t *ret_step) {
    size_t whole = gx_utf8_step(text, size);
    const unsigned char *bytes = (const unsigned char *)text;
    uint32_t number = whole ? number_of(bytes, whole) : bytes[0];
    *ret_step = whole ? whole : 1;
    if (whole && (shows(number) || (number && number < 0x80 && strchr(kept, (int)number))))
        return (gale_str){ text, whole };
    int written = snprintf(escape, ESCAPE, whole ? "\\u%04x" : "\\x%02x", (unsigned)(number & 0xffff));
    return (gale_str){ escape, (size_t)written };
}

void gx_visible_add(gx_buf *out, gale_str text, const char *kept) {
    char escape[ESCAPE];
    for (size_t at = 0, step; at < text.size; at += step) {
        gale_str one = shown(text.data + at, text.size - at, kept, escape, &step);
        gx_buf_add(out, one.data, one.size);
    }
}

const char *gx_visible_copy(char *to, size_t room, const char *text) {
    char escape[ESCAPE];
    size_t size = text ? strlen(text) : 0, used = 0;
    for (size_t at = 0, step; at < size; at += step) {
        gale_str one = shown(text + at, size - at, "", escape, &step);
        if (one.size >= room - used) break;
        memcpy(to + used, one.data, one.size);
        used += one.size;
    }
    to[used] = 0;
    return to;
}
