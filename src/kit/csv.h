/* Columns separated by a byte, as RFC 4180 has them: one that begins with a quote ends with one, a doubled quote inside
 * it stands for one, and separators and ends of lines inside it are its own.
 *
 * What:    a text to records, a record to columns. A record is without its end of line (base/encoding.h). A record that
 *          comes line by line is looked at with gx_csv_look: it ends with the first line that leaves no quote open.
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

/* The next record of a text, without the end of its line ("\n", "\r\n", "\r"); false at the end. */
bool gx_csv_record(gx_csv_format format, gale_str *rest, gale_str *ret_record);

/* What a line does to a record, which began before it with a quote that is still `open`, or begins with it. */
typedef enum gx_csv_line {
    GX_CSV_WHOLE, /* the record ends with the line */
    GX_CSV_OPEN,  /* a quoted column goes on in the next line */
    GX_CSV_BROKEN /* the record is malformed, whatever follows */
} gx_csv_line;

gx_csv_line gx_csv_look(gx_csv_format format, gale_str line, bool open);

/* Begins a record; what `scratch` holds goes. */
gx_csv gx_csv_begin(gx_csv_format format, gale_str record, gx_buf *scratch);

/* The next column; an empty record has one, which is empty. False at the end, or when the record is malformed: then
 * `csv->problem` says how, or `scratch->failed`. */
bool gx_csv_next(gx_csv *csv, gale_str *ret_column);

/* Can these bytes be told apart? GALE_INVALID. `who` is how the report calls it: "csv bolt". */
int gx_csv_check(gx_csv_format format, const char *who, gale_error *error);

#endif
