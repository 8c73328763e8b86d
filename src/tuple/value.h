/* What the tuple floor does with values beyond gale/value.h. */
#ifndef GX_TUPLE_VALUE_H
#define GX_TUPLE_VALUE_H

#include "base/buf.h"
#include "base/str.h"

#include <gale/value.h>

GX_INLINE gale_str gx_value_str(const gale_value *value) {
    return (gale_str){ value->as.string, value->size };
}

/* The value, or the null value for what is none: NULL, and text, a list or a map with a size but no place, wherever it
 * stands inside. For what comes from outside and is not encoded, where that is checked. */
const gale_value *gx_value_sound(const gale_value *value);

/* One value as its canonical bytes (a body of one value), appended to `out`. GALE_INVALID, GALE_TOO_LARGE,
 * GALE_NO_MEMORY (then `out` is as it was). */
int gx_value_pack(const gale_value *value, gx_buf *out);

/* The value in such bytes, borrowed. */
gale_value gx_value_unpack(gale_str packed);

/* gale_value_compare over packed values: the comparison that ds/rankings wants. */
int gx_value_compare_packed(gale_str a, gale_str b);

#endif
