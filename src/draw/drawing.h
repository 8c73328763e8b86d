/* A topology drawn with points: where each component's box is, and the way of each edge, in pixels of 14-point text. What the
 * SVG shows, and the page.
 *
 * What:    from left to right, or downwards. An edge's points lead from the component that it comes from to the one that it goes
 *          to; between two points that are not level it is a curve that begins and ends along the flow.
 * Threads: made once, then any thread reads. Owner: whoever made it; the graph must outlive it.
 * Errors:  GALE_NO_MEMORY, GALE_TOO_LARGE (draw/layering.h).
 */
#ifndef GX_DRAW_DRAWING_H
#define GX_DRAW_DRAWING_H

#include "draw/graph.h"

enum {
    GX_DRAWN_COLUMNS = 48,    /* of a text; what is longer is cut */
    GX_DRAWN_NODE_TEXT = 14,  /* pixels: a name */
    GX_DRAWN_KIND_TEXT = 12,  /* what a component is */
    GX_DRAWN_LABEL_TEXT = 11, /* an edge's words */
    GX_DRAWN_NODE_HEIGHT = 48,
    GX_DRAWN_NODE_PADDING = 14,
    GX_DRAWN_MARGIN = 16 /* around all */
};

typedef struct gx_point {
    int32_t x, y;
} gx_point;

typedef struct gx_drawn_node {
    int32_t x, y, width, height;
} gx_drawn_node;

typedef struct gx_drawn_edge {
    gx_point *points;
    uint32_t point_count;
    gx_point label; /* the middle of its words */
} gx_drawn_edge;

typedef struct gx_drawing {
    const gx_graph *graph;
    gx_drawn_node *nodes; /* of each */
    gx_drawn_edge *edges; /* of each */
    int32_t width, height;
    bool down;
    uint32_t crossings;
    gx_pieces memory;
} gx_drawing;

int gx_drawing_new(gx_heap *heap, const gx_graph *graph, bool down, gx_drawing *ret_drawing, gale_error *error);
void gx_drawing_free(gx_drawing *drawing);

#endif
