/* One line of a file of JSON lines, that is to be an object, and places in it for errors: "file:line:column: what".
 * Threads: any. Owner: the object is a part of the line. */
#ifndef GX_FRONT_JSON_LINE_H
#define GX_FRONT_JSON_LINE_H

#include "base/port.h"

#include <gale/error.h>
#include <gale/json.h>

typedef struct gx_json_line {
    const char *name; /* of the file */
    uint32_t number;  /* from 1 */
    gale_str line;
    gale_error *error;
} gx_json_line;

/* `line`: what it should be, "line of a dead-letter file"; `object`: what it then describes, "a dead letter". GALE_SYNTAX, also for
 * two members of one name; GALE_TYPE. */
int gx_json_line_parse(const gx_json_line *at, const char *line, const char *object, gale_str *ret_object);

/* Where a key of the object stands, from 1; 1 when it is not there. The line is JSON. */
unsigned gx_json_line_column(const gx_json_line *at, const char *key);

#endif
