/* Java's properties files: what `${name}` stands for.
 *
 * What:    "name=value", "name: value" or "name value" a line; # and ! begin comments; a \ at a line's end goes on with the
 *          next one; \t \n \r \f \\ \: \= \uXXXX are escapes. Text is UTF-8 (Java's older ones were Latin-1).
 * Threads: one at a time. Owner: names and values belong to it.
 * Limits:  a MiB of text.
 */
#ifndef GX_FRONT_PROPERTIES_H
#define GX_FRONT_PROPERTIES_H

#include "base/port.h"

#include <gale/error.h>

enum { GX_PROPERTIES_BYTES = 1 << 20 };

typedef struct gx_property {
    gale_str name, value;
} gx_property;

typedef struct gx_properties {
    gx_property *list; /* in the file's order; a name that comes again replaces the one before */
    size_t count;
    char *text; /* of all of them */
} gx_properties;

/* GALE_SYNTAX with "name:line:column: ...", GALE_TOO_LARGE, GALE_NO_MEMORY. `gx_properties_load` also GALE_IO. */
int gx_properties_parse(const char *name, gale_str text, gx_properties *ret_properties, gale_error *error);
int gx_properties_load(const char *path, gx_properties *ret_properties, gale_error *error);

/* NULL when there is none. */
const gale_str *gx_properties_get(const gx_properties *properties, gale_str name);

void gx_properties_fini(gx_properties *properties);

#endif
