/* Which tuples of a tap are shown: an expression as gale.bolt.Filter has it, over a tuple's fields.
 *
 * What:    where the tap has several streams it is compiled for each, and those that it is no expression for, since they lack a field, are not
 *          shown.
 * Threads: one at a time. Owner: whoever made it; the shape outlives it.
 * Limits:  GX_TAP_WHERE_WORK for a tuple (script/box.h), and the box's memory.
 * Errors:  GALE_SYNTAX and GALE_TOO_LARGE with the place, of the first stream; GALE_UNSUPPORTED: this gale has no expressions; GALE_NO_MEMORY.
 */
#ifndef GX_SERVE_TAP_WHERE_H
#define GX_SERVE_TAP_WHERE_H

#include "serve/tap_ring.h"

enum { GX_TAP_WHERE_WORK = 100000 }; /* about a millisecond */

typedef struct gx_tap_where gx_tap_where;

GALE_MUST_USE int gx_tap_where_new(const gx_tap_shape *shape, gale_str text, gx_tap_where **ret_where,
                                   gale_error *error);
void gx_tap_where_free(gx_tap_where *where); /* NULL is allowed */

/* 1: it is shown; 0: it is not; an error: the expression fails with it. */
int gx_tap_where_takes(gx_tap_where *where, const gx_tap_tuple *tuple, gale_error *error);

#endif
