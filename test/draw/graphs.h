/* Graphs for tests, made of edges alone. */
#ifndef TEST_DRAW_GRAPHS_H
#define TEST_DRAW_GRAPHS_H

#include "draw/graph.h"

#include <string.h>

enum { GRAPH_NODES = 1200, GRAPH_EDGES = 4000 };

typedef struct made_graph {
    gx_graph graph;
    gx_graph_node nodes[GRAPH_NODES];
    gx_graph_edge edges[GRAPH_EDGES];
    char names[GRAPH_NODES][8];
} made_graph;

/* Nodes "n000" and so on; those that nothing leads to are spouts in the end. */
static inline void graph_begin(made_graph *made, uint32_t nodes) {
    made->graph = (gx_graph){ .name = "made", .nodes = made->nodes, .edges = made->edges, .node_count = nodes };
    for (uint32_t n = 0; n < nodes; n++) {
        made->names[n][0] = 'n';
        for (uint32_t i = 4, rest = n; i > 0; i--, rest /= 10) made->names[n][i] = (char)('0' + rest % 10);
        made->names[n][5] = 0;
        made->nodes[n] = (gx_graph_node){ .name = made->names[n], .tasks = 1 + n % 3, .is_spout = true };
    }
}

static inline void graph_edge(made_graph *made, uint32_t from, uint32_t to, bool back) {
    made->nodes[to].is_spout = false;
    made->edges[made->graph.edge_count++] = (gx_graph_edge){
        .from = from, .to = to, .stream = "default", .grouping = GALE_GROUPING_SHUFFLE, .back = back
    };
}

/* Edges that lead to nodes with higher numbers, the same for the same seed; sorted by where they come from. */
static inline void graph_random(made_graph *made, uint32_t nodes, uint32_t edges, uint32_t reach, uint32_t seed) {
    uint32_t each = edges / nodes;
    graph_begin(made, nodes);
    for (uint32_t from = 0; from + 1 < nodes; from++)
        for (uint32_t i = 0; i < each; i++) {
            seed = seed * 1664525 + 1013904223;
            uint32_t most = nodes - 1 - from < reach ? nodes - 1 - from : reach;
            graph_edge(made, from, from + 1 + (seed >> 8) % most, false);
        }
}

#endif
