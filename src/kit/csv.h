/* Columns separated by a byte, as RFC 4180 has them: one that begins with a quote ends with one, a doubled quote inside
 * it stands for one, and separators and ends of lines inside it are its own.
 *
 * What:    a text to records, a record to columns. A record does not have its end of line (\n or \r\n); a \r at the end of a
 *          record is taken for a part of that.
 * Threads: any. Owner: a column borrows from the record, or, where quotes were doubled, from `scratch`, until that is
 *          reset: once a record. */
#ifndef GX_KIT_CSV_H
#define GX_KIT_CSV_H

#include "base/buf.h"
#include "base/str.h"

typedef struct gx_csv_format {
    char separator; /* ASCII */
    char quote;     /* ASCII, another byte; 0: there are no quotes */
} gx_csv_format;

typedef struct gx_csv {
    gx_csv_format format;
    gale_str rest; /* data NULL: at the end */
    gx_buf *scratch;
    const char *problem; /* static; NULL: none so far */
} gx_csv;

/* The next record of a text, without the \n behind it; false at the end. */
bool gx_csv_record(gx_csv_format format, gale_str *rest, gale_str *ret_record);

/* Begins a record; what `scratch` holds goes. */
gx_csv gx_csv_begin(gx_csv_format format, gale_str record, gx_buf *scratch);

/* The next column; an empty record has one, which is empty. False at the end, or when the record is malformed: then
 * `csv->problem` says how, or `scratch->failed`. */
bool gx_csv_next(gx_csv *csv, gale_str *ret_column);

/* Can these bytes be told apart? GALE_INVALID. `who` is how the report calls it: "csv bolt". */
int gx_csv_check(gx_csv_format format, const char *who, gale_error *error);

#endif
