/* What a file spout's tuples have: the line, and where it stands: offset, number, file; in the order that the options name.
 * Threads: any. Owner: a row is a value; the definition's output borrows from it. */
#ifndef GX_CONNECT_FILE_ROW_H
#define GX_CONNECT_FILE_ROW_H

#include "kit/retry.h"

enum { GX_FILE_ROW_MAX = 4, GX_FILE_ROW_TEXT = 40 };

typedef struct gx_file_row {
    uint32_t count;
    uint8_t parts[GX_FILE_ROW_MAX];
    bool line_alone;               /* as most have it */
    bool numbered;                 /* it has the line's number */
    char fields[GX_FILE_ROW_TEXT]; /* "line, offset" */
} gx_file_row;

/* `text` is "line, offset, number, file", some of them, each once; NULL or "" is "line". GALE_INVALID. */
int gx_file_row_parse(const char *text, gx_file_row *ret_row, gale_error *error);

/* Emits the line of a slot, whose number and place are those of its line in `file`. As gx_retry_emit. */
int gx_file_row_emit(const gx_file_row *row, gx_retry *retry, gale_collector *out, uint32_t id, gale_str file);

#endif
