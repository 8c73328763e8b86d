/* One line of a file of JSON lines, that is to be an object, and places in it for errors: "file:line:column: what".
 * Threads: any. Owner: the object is the caller's. */
#ifndef GX_FRONT_JSON_LINE_H
#define GX_FRONT_JSON_LINE_H

#include "base/port.h"

#include <gale/error.h>
#include <jansson.h>

typedef struct gx_json_line {
    const char *name; /* of the file */
    uint32_t number;  /* from 1 */
    gale_str line;
    gale_error *error;
} gx_json_line;

/* `line`: what it should be, "line of a dead-letter file"; `object`: what it then describes, "a dead letter". GALE_SYNTAX, GALE_TYPE,
 * GALE_NO_MEMORY. */
int gx_json_line_parse(const gx_json_line *at, const char *line, const char *object, json_t **ret_object);

/* Where a key of the object stands, from 1; 1 when it is not there. The line is JSON. */
unsigned gx_json_line_column(const gx_json_line *at, const char *key);

#endif
