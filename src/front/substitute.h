/* `${name}` in a file's text, before it is parsed, as Storm's Flux does it; and where everything stood before.
 *
 * What:    ${name} is a property, ${name[2]} the third element of one that is a list ("[a, b, 'c']"), ${ENV-NAME} of the
 *          environment, where that is allowed. Every variable of a line is replaced (Storm: one). $${ stands for ${ itself.
 *          What is not known is an error with its place, but in a comment.
 * Threads: one at a time.
 * Limits:  GX_EDITS_MAX variables a file.
 */
#ifndef GX_FRONT_SUBSTITUTE_H
#define GX_FRONT_SUBSTITUTE_H

#include "base/buf.h"
#include "front/problems.h"
#include "front/properties.h"

enum { GX_EDITS_MAX = 100000 };

/* Where variables get their values. */
typedef struct gx_variables {
    const gx_properties *properties; /* NULL: no file of them was given */
    bool environment;
} gx_variables;

/* A place in a text, from 0; columns count characters. */
typedef struct gx_spot {
    uint32_t line, column;
} gx_spot;

/* One variable: what stands there now, and what stood there. */
typedef struct gx_edit {
    gx_spot now, now_end;
    gx_spot was, was_end;
    bool secret; /* from the environment */
} gx_edit;

typedef struct gx_edits {
    gx_edit *list;
    size_t count, capacity;
} gx_edits;

/* Puts the new text into `out`. GALE_NOT_FOUND for an unknown variable, GALE_SYNTAX, GALE_TOO_LARGE (more than `most`
 * bytes come out), GALE_NO_MEMORY. With `problems`, unknown variables are kept there, and stay in the text. */
int gx_substitute(const char *name, gale_str text, const gx_variables *variables, size_t most, gx_problems *problems,
                  gx_buf *out, gx_edits *edits, gale_error *error);

/* Where something of the new text stood in the old one. `edits` NULL: there. */
gx_spot gx_edits_back(const gx_edits *edits, gx_spot now);

/* Is something between two spots of the new text from the environment? */
bool gx_edits_secret(const gx_edits *edits, gx_spot from, gx_spot to);

void gx_edits_fini(gx_edits *edits);

#endif
