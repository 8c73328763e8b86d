/* The lines of a file that problems stand in, without what is secret there.
 *
 * What:    a secret value is shown as ***, with all that follows it in its line; where a file cannot be parsed, a line near
 *          one that speaks of secrets is not shown at all.
 * Threads: one at a time.
 */
#ifndef GX_FRONT_EXCERPT_H
#define GX_FRONT_EXCERPT_H

#include "front/include.h"

typedef struct gx_excerpts {
    char *file; /* the one that is read, or NULL */
    char *text;
    size_t size;
    gx_yaml_doc *doc; /* NULL: it cannot be parsed */
    const gx_variables *variables;
} gx_excerpts;

/* Adds the line, and a caret under its column:
 *
 *     12 |   - id: count
 *        |     ^
 *
 * False when there is nothing to show. */
bool gx_excerpt_add(gx_excerpts *excerpts, gx_position position, gx_buf *out);

void gx_excerpts_fini(gx_excerpts *excerpts);

#endif
