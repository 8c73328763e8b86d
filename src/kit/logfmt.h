/* Pairs of a key and a value, as logfmt has them: a=1 b="two words\n" c
 *
 * What:    separators, blanks, tabs and ends of lines stand between pairs. A key ends at the assignment, a separator or a
 *          blank; a value at a separator, or where that is a blank, at any of the others too. A value that begins with a
 *          quote ends with one; inside it, \" \\ \/ \n \r \t \b \f and \uXXXX stand for what they do in JSON (half of a
 *          surrogate pair for U+FFFD), and another backslash for itself. A key alone has no value.
 * Threads: any. Owner: keys and values borrow from the text, or, where something was escaped, from `scratch`, until that
 *          is reset: once a text. */
#ifndef GX_KIT_LOGFMT_H
#define GX_KIT_LOGFMT_H

#include "base/buf.h"
#include "base/str.h"

typedef struct gx_logfmt_format {
    char separator, assign; /* ASCII */
} gx_logfmt_format;

typedef struct gx_logfmt {
    gx_logfmt_format format;
    gale_str rest;
    gx_buf *scratch;
    const char *problem; /* static; NULL: none so far */
} gx_logfmt;

/* Begins a text; what `scratch` holds goes. */
gx_logfmt gx_logfmt_begin(gx_logfmt_format format, gale_str text, gx_buf *scratch);

/* The next pair; the value of a key alone has no data. False at the end, or when the text is malformed: then
 * `logfmt->problem` says how, or `scratch->failed`. */
bool gx_logfmt_next(gx_logfmt *logfmt, gale_str *ret_key, gale_str *ret_value);

/* Can these bytes be told apart from each other, and from quotes? GALE_INVALID. `who`: "key value bolt". */
int gx_logfmt_check(gx_logfmt_format format, const char *who, gale_error *error);

#endif
