/* A topology drawn with characters, from top to bottom: spouts in double lines, bolts in plain ones, what closes a cycle
 * dashed and upwards.
 *
 * Threads: any, each with its own. Errors: GALE_NO_MEMORY, GALE_TOO_LARGE (draw/layering.h, GX_CANVAS_CELLS).
 */
#ifndef GX_DRAW_TEXT_H
#define GX_DRAW_TEXT_H

#include "draw/graph.h"

#include "base/buf.h"

typedef struct gx_text_options {
    uint32_t columns; /* if it is wider, names and labels are cut, down to a least; 0: there is no bound */
    bool ascii;
} gx_text_options;

/* `ret_width`: how many columns it takes. */
int gx_text_draw(gx_heap *heap, const gx_graph *graph, const gx_text_options *options, gx_buf *out, uint32_t *ret_width,
                 gale_error *error);

#endif
