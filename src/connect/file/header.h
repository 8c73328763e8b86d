/* The first line of a file in format csv or tsv: the names of its columns.
 * Threads: one at a time. Owner: the caller's buffer. */
#ifndef GX_CONNECT_FILE_HEADER_H
#define GX_CONNECT_FILE_HEADER_H

#include "connect/file/lines.h"
#include "topology/component.h"

/* Appends the line to `out`: the chosen fields, or those that come in. GALE_INVALID, with a sentence: inputs have different fields, so that no line
 * names the columns of all; GALE_NO_MEMORY. */
int gx_header_make(const gx_lines *lines, const struct gale_inputs *inputs, gx_buf *out, gale_error *error);

#endif
