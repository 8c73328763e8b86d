/* What an exec spout's tuples have: the line, its number, or both, in the order that the options name.
 * Threads: any. Owner: a row is a value; the definition's output borrows from it. */
#ifndef GX_CONNECT_EXEC_ROW_H
#define GX_CONNECT_EXEC_ROW_H

#include "base/port.h"

#include <gale/error.h>

typedef enum gx_exec_part { GX_EXEC_LINE, GX_EXEC_NUMBER, GX_EXEC_PARTS } gx_exec_part;

typedef struct gx_exec_row {
    uint32_t count;
    uint8_t parts[GX_EXEC_PARTS];
    char fields[20]; /* "line, number" */
} gx_exec_row;

/* `text` has names, each once; NULL or "" is "line". GALE_INVALID. */
int gx_exec_row_parse(const char *text, gx_exec_row *ret_row, gale_error *error);

#endif
