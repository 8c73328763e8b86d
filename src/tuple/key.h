/* A value as the key of a map (ds/bytes_map.h): bytes that are equal when the values are, and that it can be read from
 * again. They are kept short, because short keys lie beside what they lead to.
 *
 *     string               its bytes, then 0: what lies in a body is such a key as it stands
 *     bytes                its bytes, then 1 + type
 *     null, scalar         the 8 bytes of its slot in a body, then 1 + type
 *     list, map            what gx_value_pack makes of it, then 1 + type
 *
 * One key is not told from what follows it: where several are written one after another, gx_value_pack serves.
 * Threads: any. Owner: what is read from a key borrows from it. */
#ifndef GX_TUPLE_KEY_H
#define GX_TUPLE_KEY_H

#include "base/short_text.h"
#include "tuple/flat.h"
#include "tuple/value.h"

enum { GX_KEY_BRIEF = GX_SHORT_TEXT_MAX };

/* Appends a value's key. GALE_INVALID, GALE_TOO_LARGE, GALE_NO_MEMORY (then `out` is as it was). */
int gx_key_add(const gale_value *value, gx_buf *out);

/* The key of a scalar, or of at most 15 bytes of text, into `to`, which is wholly written: its size. 0: the value is another
 * one. */
GX_INLINE size_t gx_key_brief(const gale_value *value, char to[GX_KEY_BRIEF]) {
    if (value->type < GALE_TYPE_STRING) {
        gx_store64(to, gx_flat_scalar(value));
        gx_store64(to + 8, 1 + (uint64_t)value->type);
        return 9;
    }
    if (!gx_flat_is_text(value->type) || value->size >= GX_KEY_BRIEF || !value->as.bytes) return 0;
    gx_short_text text = gx_short_text_load(value->as.bytes, value->size);
    gx_store64(to, text.low);
    gx_store64(to + 8, text.high);
    if (value->type == GALE_TYPE_BYTES) to[value->size] = (char)(1 + GALE_TYPE_BYTES);
    return (size_t)value->size + 1;
}

/* The key of a value that lies in a body, as all of a tuple do: borrowed from there, or made in `scratch`, whose old
 * contents go. As gx_key_add. */
int gx_key_make(const gale_value *value, gx_buf *scratch, gale_str *ret_key);

GX_INLINE int gx_key_of(const gale_value *value, gx_buf *scratch, gale_str *ret_key) {
    if (GX_UNLIKELY(value->type != GALE_TYPE_STRING)) return gx_key_make(value, scratch, ret_key);
    *ret_key = (gale_str){ value->as.string, (size_t)value->size + 1 };
    return 0;
}

gale_value gx_key_value(gale_str key);

/* Is it what gx_key_add writes of some value? For bytes that come from elsewhere, at a multiple of 8. Whoever brings a
 * string in has seen to it that it is UTF-8; in lists and maps it is looked at. */
bool gx_key_is_valid(gale_str key);

#endif
