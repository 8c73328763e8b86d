/* A graph in layers: what an edge passes on its way has a place of its own, so that neither lines nor labels lie over boxes.
 *
 * What:    after Sugiyama, Tagawa and Toda (1981). Edges that close a cycle are turned around, those from a component to
 *          itself are left out; a component's layer is the longest way that leads to it. Components stand on even layers;
 *          every edge has a stop on each layer between its ends, and one of them, on an odd layer next to where it comes
 *          from, has its label. So each stop that is no component has one above it and one below.
 * Threads: one at a time. Owner: whoever made it; the graph must outlive it. Errors: GALE_NO_MEMORY, GALE_TOO_LARGE.
 * Limits:  GX_LAYERING_NODES components, GX_LAYERING_EDGES edges and GX_LAYERING_STOPS places.
 */
#ifndef GX_DRAW_LAYERING_H
#define GX_DRAW_LAYERING_H

#include "draw/graph.h"

enum { GX_LAYERING_NODES = 4096, GX_LAYERING_EDGES = 16384, GX_LAYERING_STOPS = 131072 };

/* How much room something takes: across the flow on both sides of the line through it, and along the flow. */
typedef struct gx_extent {
    int32_t before, after, along;
} gx_extent;

typedef struct gx_extents {
    const gx_extent *nodes;  /* of each */
    const gx_extent *labels; /* of each edge's */
    gx_extent line;          /* of an edge where it has no label */
    int32_t gap;             /* between neighbours of a layer */
} gx_extents;

typedef enum gx_stop_kind { GX_STOP_NODE, GX_STOP_LABEL, GX_STOP_LINE } gx_stop_kind;

/* A component, or an edge on its way. */
typedef struct gx_stop {
    gx_stop_kind kind;
    gx_extent extent;
    uint32_t of;    /* the node or the edge */
    uint32_t layer; /* from 0 */
    uint32_t order; /* among those of the layer */
    int32_t at;     /* where its line is, across the flow */
    uint32_t *up, *down;
    uint32_t up_count, down_count;
} gx_stop;

typedef struct gx_layer {
    uint32_t *stops; /* by their order */
    uint32_t count;
} gx_layer;

/* An edge's stops from its upper end to its lower one, both components included; none of one that leads back to where it comes
 * from. */
typedef struct gx_route {
    uint32_t *stops;
    uint32_t count;
} gx_route;

typedef struct gx_layering {
    const gx_graph *graph;
    gx_stop *stops; /* first one a node, in their order */
    gx_layer *layers;
    gx_route *routes; /* one an edge */
    uint32_t stop_count, layer_count;
    int32_t gap;
    int32_t width;      /* across, when all stops have their places */
    uint32_t crossings; /* of lines */
    gx_pieces memory;
} gx_layering;

/* In the order of their names, with no places yet. */
int gx_layering_new(gx_heap *heap, const gx_graph *graph, const gx_extents *extents, gx_layering *ret_layering,
                    gale_error *error);
void gx_layering_free(gx_layering *layering);

#endif
