/* gale's own connectors that are plugins: which classes each brings.
 *
 * What:    each folder src/connect/NAME with a CMakeLists.txt is one; what its gale_connector() says is a row here, whether it is
 *          built or not (cmake/connectors.cmake writes the table). It is the plugin NAME, in the file gale-NAME.so, of the package gale-NAME.
 * Threads: the table is constant; any thread.
 */
#ifndef GX_FRONT_CONNECTOR_H
#define GX_FRONT_CONNECTOR_H

#include "base/buf.h"

#include <gale/base.h>

typedef struct gx_connector {
    const char *name;
    const char *text;    /* what it does */
    const char *classes; /* its names of gale's or Storm's own, aliases too, with blanks between them */
    const char *
        stands_for; /* Storm's classes that it takes the place of, a line each: "CLASS GALES-CLASS { properties }", or "CLASS - sentence".
                               A class that ends with a point or a $ is all that begin with it */
} gx_connector;

extern const gx_connector gx_connectors[];
extern const size_t gx_connector_count;

/* The one of this name, or the one that brings the class: NULL when there is none. */
const gx_connector *gx_connector_named(gale_str name);
const gx_connector *gx_connector_of(gale_str class_);

/* Calls `each` for every line of `stands_for`, in the table's order. */
typedef struct gx_stand_in {
    const gx_connector *connector;
    gale_str name;   /* Storm's */
    gale_str class_; /* gale's; empty: `text` is a sentence */
    gale_str text;   /* its properties */
} gx_stand_in;
void gx_connector_stand_ins(void (*each)(void *user, const gx_stand_in *one), void *user);

/* Does the table give this name of a class to it? */
bool gx_connector_brings(const gx_connector *connector, gale_str class_);

/* "gale.spout.A, gale.bolt.B", for people. */
void gx_connector_classes(const gx_connector *connector, gx_buf *out);

/* What is to be done where it is missing, "apt install gale-NAME, or ...": it depends on whether this program can load plugins. */
void gx_connector_advice(const gx_connector *connector, gx_buf *out);

#endif
