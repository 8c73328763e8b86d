/* A tuple as a line: of all its values, or of chosen fields in a chosen order.
 * Threads: one at a time. Owner: a value, with nothing to give back. */
#ifndef GX_CONNECT_FILE_LINES_H
#define GX_CONNECT_FILE_LINES_H

#include "kit/fields.h"

typedef struct gx_lines {
    const char *who;  /* whose reports they are: "file sink" */
    int32_t format;   /* gale_file_format */
    gx_fields fields; /* none: all */
    gx_field_places places;
    gale_value row[GX_FIELDS_MAX];
} gx_lines;

/* Appends it, with its end. GALE_FIELDS, with a report: the tuple has no such field; GALE_NO_MEMORY. Then nothing was
 * appended. */
int gx_lines_add(gx_lines *lines, const gale_tuple *tuple, gale_collector *out, gx_buf *to);

/* Appends a text as the value of column `index`, of format csv or tsv. */
void gx_lines_column(const gx_lines *lines, uint32_t index, gale_str text, gx_buf *to);

#endif
