/* What a field is made of: "user.name as name int" names a source, then perhaps what the field is called, and its type (kit/scalar.h).
 * Threads: any. Owner: borrows from the text. */
#ifndef GX_SCRIPT_COLUMN_H
#define GX_SCRIPT_COLUMN_H

#include "tuple/json_read.h"

typedef struct gx_column {
    gale_str from, name, type; /* `name` and `type` may be empty */
} gx_column;

/* NULL, or what is wrong with it, as the end of a sentence. */
const char *gx_column_read(gale_str piece, gx_column *ret_column);

/* Makes a value of this type of it: text is read, whole numbers become floats; null stays. False: it is of another type. */
bool gx_column_convert(int32_t type, gale_value *value);

/* How numbers of JSON are read for a column of this type, a word as in a piece; empty: any. */
gx_json_numbers gx_column_numbers(gale_str type);

#endif
