/* What a piece of text says, as a value of the type that was asked for. Strict: all of the text must be it; blanks are
 * none of it.
 *
 *     string   any text
 *     int      an optional sign and digits, within 64 bits
 *     float    a decimal number; not NaN, nor what is beyond a double
 *     bool     true, True, TRUE, false, False, FALSE
 *     auto     the first of int, float and bool that it is, else a string. What begins with a needless zero or a plus ("0049",
 *              "+49"), and a whole number beyond 64 bits, is a name rather than a number: a string
 *
 * No text is null, but for a string, which is empty. Threads: any. Owner: values borrow from the text. */
#ifndef GX_KIT_SCALAR_H
#define GX_KIT_SCALAR_H

#include "base/str.h"

#include <gale/error.h>
#include <gale/value.h>

typedef enum gx_scalar_type {
    GX_SCALAR_STRING,
    GX_SCALAR_INT,
    GX_SCALAR_FLOAT,
    GX_SCALAR_BOOL,
    GX_SCALAR_AUTO,
    GX_SCALAR_COUNT
} gx_scalar_type;

/* "int" for GX_SCALAR_INT. Static storage. */
const char *gx_scalar_name(int32_t type);

/* The type of this name; GX_SCALAR_COUNT for none. */
int32_t gx_scalar_type_of(gale_str name);

/* Text as it is: a string, or bytes when it is not known to be UTF-8 (`is_text`) and is not. NULL data: null. */
gale_value gx_scalar_text(gale_str text, bool is_text);

/* False when the text is no such thing. */
bool gx_scalar_read(gale_str text, bool is_text, int32_t type, gale_value *ret_value);

#endif
