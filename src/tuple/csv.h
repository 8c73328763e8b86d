/* Values as CSV (RFC 4180): what holds a comma, a quotation mark or an end of line stands between quotation marks, in which a
 * quotation mark is doubled. Null is nothing, and an empty text is "", so that they differ. Numbers, lists and maps are as in
 * JSON, texts and bytes as they are. Commas and ends of lines are the caller's.
 * Threads: any. */
#ifndef GX_TUPLE_CSV_H
#define GX_TUPLE_CSV_H

#include "base/buf.h"

#include <gale/value.h>

void gx_csv_value(gx_buf *out, const gale_value *value);

#endif
