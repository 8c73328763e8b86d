/* A topology as a graph: components and the streams between them, in the plan's order, with what is told of them.
 *
 * What:    components in byte order of their names; edges by the component they come from, its streams, and the name of who
 *          takes them: an edge's place in the list is its number, wherever one is told. What closes a cycle (`back`) is what
 *          the engine's plan finds to close it.
 * Threads: made once, then any thread reads. Owner: whoever made it; all texts are the topology's, which must outlive it.
 */
#ifndef GX_DRAW_GRAPH_H
#define GX_DRAW_GRAPH_H

#include "base/pieces.h"
#include "topology/builder.h"

typedef struct gx_graph_node {
    const char *name;
    const char *class_name;   /* as the file's class is called; NULL: there is no file */
    const gx_output *outputs; /* with a spout's dead letters */
    uint32_t output_count;
    uint32_t tasks;
    bool is_spout;
} gx_graph_node;

typedef struct gx_graph_edge {
    uint32_t from, to; /* nodes */
    const char *stream;
    int32_t grouping; /* gale_grouping_kind */
    int32_t drop;     /* gale_drop */
    char *const *fields;
    uint32_t field_count;
    bool back; /* closes a cycle */
} gx_graph_edge;

/* Does it lead back to where it comes from? */
GX_INLINE bool gx_edge_is_loop(const gx_graph_edge *edge) {
    return edge->from == edge->to;
}

typedef struct gx_graph {
    const char *name;
    gx_graph_node *nodes;
    gx_graph_edge *edges;
    uint32_t node_count, edge_count;
    gx_pieces memory;
} gx_graph;

/* Of a topology that gale_topology_check finds nothing wrong with. GALE_NO_MEMORY, and what gx_plan_new refuses. */
int gx_graph_new(gx_heap *heap, const gale_topology *topology, gx_graph *ret_graph, gale_error *error);
void gx_graph_free(gx_graph *graph);

#endif
