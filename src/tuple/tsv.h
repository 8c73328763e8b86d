/* Values as fields of TSV, escaped as PostgreSQL's COPY has it: a tab, a newline, a return and a backslash are \t,
 * \n, \r and \\, and null is \N, which no text is. So every field that is written is read back unchanged. Numbers (but
 * NaN, Infinity and -Infinity), lists and maps are as in JSON, texts and bytes unchanged, and all of them escaped.
 * Types are not written: 5 and "5" make the same field, and its reader knows what a column is. Tabs and ends of
 * lines are the caller's.
 * Threads: any. */
#ifndef GX_TUPLE_TSV_H
#define GX_TUPLE_TSV_H

#include "base/buf.h"

#include <gale/value.h>

void gx_tsv_value(gx_buf *out, const gale_value *value);

#endif
