#include "draw/layering.h"

static uint32_t upper_end(const gx_graph_edge *edge) {
    return edge->back ? edge->to : edge->from;
}

static uint32_t lower_end(const gx_graph_edge *edge) {
    return edge->back ? edge->from : edge->to;
}

/* --- Which layer: the longest way ---------------------------------------------------------------------------------- */

/* What leads from a node to the next, by node. */
typedef struct ways {
    uint32_t *first; /* of node n; that of n + 1 is behind its last */
    uint32_t *to;
    uint32_t *waiting; /* edges that lead to a node and were not followed yet */
    uint32_t *queue;
} ways;

static bool ways_of(const gx_graph *graph, gx_pieces *memory, ways *w) {
    w->first = gx_pieces_take(memory, graph->node_count + 2, sizeof *w->first);
    w->to = gx_pieces_take(memory, graph->edge_count, sizeof *w->to);
    w->waiting = gx_pieces_take(memory, graph->node_count, sizeof *w->waiting);
    w->queue = gx_pieces_take(memory, graph->node_count, sizeof *w->queue);
    if (!w->first || !w->to || !w->waiting || !w->queue) return false;
    for (uint32_t e = 0; e < graph->edge_count; e++)
        if (!gx_edge_is_loop(&graph->edges[e])) w->first[upper_end(&graph->edges[e]) + 2]++;
    for (uint32_t n = 2; n < graph->node_count + 2; n++) w->first[n] += w->first[n - 1];
    for (uint32_t e = 0; e < graph->edge_count; e++) {
        const gx_graph_edge *edge = &graph->edges[e];
        if (gx_edge_is_loop(edge)) continue;
        w->to[w->first[upper_end(edge) + 1]++] = lower_end(edge);
        w->waiting[lower_end(edge)]++;
    }
    return true;
}

/* Every node is reached: without its back edges the graph has no cycle. */
static void rank(const gx_graph *graph, ways *w, uint32_t *ranks) {
    uint32_t taken = 0, found = 0;
    for (uint32_t n = 0; n < graph->node_count; n++)
        if (!w->waiting[n]) w->queue[found++] = n;
    while (taken < found) {
        uint32_t from = w->queue[taken++];
        for (uint32_t i = w->first[from]; i < w->first[from + 1]; i++) {
            uint32_t to = w->to[i];
            if (ranks[to] <= ranks[from]) ranks[to] = ranks[from] + 1;
            if (--w->waiting[to] == 0) w->queue[found++] = to;
        }
    }
}

/* --- Stops --------------------------------------------------------------------------------------------------------- */

/* The node ends of `ranks` are even layers; between two of them lies an odd one. */
static uint32_t stops_between(const gx_graph_edge *edge, const uint32_t *ranks) {
    return gx_edge_is_loop(edge) ? 0 : 2 * (ranks[lower_end(edge)] - ranks[upper_end(edge)]) - 1;
}

static int count_stops(const gx_graph *graph, const uint32_t *ranks, uint32_t *ret_count, gale_error *error) {
    uint64_t count = graph->node_count;
    for (uint32_t e = 0; e < graph->edge_count; e++) count += stops_between(&graph->edges[e], ranks);
    if (count > GX_LAYERING_STOPS)
        return gale_error_set(error, GALE_TOO_LARGE,
                              "'%s' is too large to be drawn: its streams would pass %llu places, and %d is the most",
                              graph->name, (unsigned long long)count, GX_LAYERING_STOPS);
    *ret_count = (uint32_t)count;
    return GALE_OK;
}

static uint32_t add_stop(gx_layering *l, gx_stop_kind kind, uint32_t of, uint32_t layer, gx_extent extent) {
    gx_stop *stop = &l->stops[l->stop_count];
    *stop = (gx_stop){ .kind = kind, .of = of, .layer = layer, .extent = extent };
    if (layer >= l->layer_count) l->layer_count = layer + 1;
    l->layers[layer].count++;
    return l->stop_count++;
}

/* Next to the end that it comes from, which of an edge that was turned around is the lower one. */
static void add_route(gx_layering *l, uint32_t e, const uint32_t *ranks, const gx_extents *extents) {
    const gx_graph_edge *edge = &l->graph->edges[e];
    gx_route *route = &l->routes[e];
    uint32_t between = stops_between(edge, ranks), labelled = edge->back ? between - 1 : 0;
    if (!between) return;
    route->stops[route->count++] = upper_end(edge);
    for (uint32_t i = 0; i < between; i++) {
        bool label = i == labelled;
        route->stops[route->count++] = add_stop(l, label ? GX_STOP_LABEL : GX_STOP_LINE, e,
                                                2 * ranks[upper_end(edge)] + 1 + i,
                                                label ? extents->labels[e] : extents->line);
    }
    route->stops[route->count++] = lower_end(edge);
}

/* --- Neighbours ---------------------------------------------------------------------------------------------------- */

static bool take_neighbours(gx_layering *l) {
    for (uint32_t e = 0; e < l->graph->edge_count; e++)
        for (uint32_t i = 0; i + 1 < l->routes[e].count; i++) {
            l->stops[l->routes[e].stops[i]].down_count++;
            l->stops[l->routes[e].stops[i + 1]].up_count++;
        }
    for (uint32_t s = 0; s < l->stop_count; s++) {
        gx_stop *stop = &l->stops[s];
        stop->up = gx_pieces_take(&l->memory, stop->up_count + stop->down_count, sizeof *stop->up);
        if (!stop->up) return false;
        stop->down = stop->up + stop->up_count;
        stop->up_count = stop->down_count = 0;
    }
    return true;
}

static bool link_stops(gx_layering *l) {
    if (!take_neighbours(l)) return false;
    for (uint32_t e = 0; e < l->graph->edge_count; e++)
        for (uint32_t i = 0; i + 1 < l->routes[e].count; i++) {
            uint32_t above = l->routes[e].stops[i], below = l->routes[e].stops[i + 1];
            l->stops[above].down[l->stops[above].down_count++] = below;
            l->stops[below].up[l->stops[below].up_count++] = above;
        }
    return true;
}

static bool fill_layers(gx_layering *l) {
    for (uint32_t i = 0; i < l->layer_count; i++) {
        l->layers[i].stops = gx_pieces_take(&l->memory, l->layers[i].count, sizeof *l->layers[i].stops);
        if (!l->layers[i].stops) return false;
        l->layers[i].count = 0;
    }
    for (uint32_t s = 0; s < l->stop_count; s++) {
        gx_layer *layer = &l->layers[l->stops[s].layer];
        l->stops[s].order = layer->count;
        layer->stops[layer->count++] = s;
    }
    return true;
}

/* --- All ----------------------------------------------------------------------------------------------------------- */

static bool take_tables(gx_layering *l, uint32_t stops, const uint32_t *ranks) {
    const gx_graph *graph = l->graph;
    l->stops = gx_pieces_take(&l->memory, stops, sizeof *l->stops);
    l->layers = gx_pieces_take(&l->memory, 2 * (size_t)graph->node_count, sizeof *l->layers);
    l->routes = gx_pieces_take(&l->memory, graph->edge_count, sizeof *l->routes);
    if (!l->stops || !l->layers || !l->routes) return false;
    for (uint32_t e = 0; e < graph->edge_count; e++) {
        uint32_t between = stops_between(&graph->edges[e], ranks);
        if (between) l->routes[e].stops = gx_pieces_take(&l->memory, between + 2, sizeof *l->routes[e].stops);
        if (between && !l->routes[e].stops) return false;
    }
    return true;
}

static int fill(gx_layering *l, const gx_extents *extents, gale_error *error) {
    const gx_graph *graph = l->graph;
    uint32_t *ranks = gx_pieces_take(&l->memory, graph->node_count, sizeof *ranks), stops = 0;
    ways w;
    if (!ranks || !ways_of(graph, &l->memory, &w)) return GALE_NO_MEMORY;
    rank(graph, &w, ranks);
    int rc = count_stops(graph, ranks, &stops, error);
    if (rc < 0) return rc;
    if (!take_tables(l, stops, ranks)) return GALE_NO_MEMORY;
    for (uint32_t n = 0; n < graph->node_count; n++)
        (void)add_stop(l, GX_STOP_NODE, n, 2 * ranks[n], extents->nodes[n]);
    for (uint32_t e = 0; e < graph->edge_count; e++) add_route(l, e, ranks, extents);
    return link_stops(l) && fill_layers(l) ? GALE_OK : GALE_NO_MEMORY;
}

static int check_size(const gx_graph *graph, gale_error *error) {
    bool nodes = graph->node_count > GX_LAYERING_NODES;
    if (!nodes && graph->edge_count <= GX_LAYERING_EDGES) return GALE_OK;
    return gale_error_set(error, GALE_TOO_LARGE, "'%s' is too large to be drawn: it has %u %s, and %d is the most",
                          graph->name, nodes ? graph->node_count : graph->edge_count, nodes ? "components" : "streams",
                          nodes ? GX_LAYERING_NODES : GX_LAYERING_EDGES);
}

int gx_layering_new(gx_heap *heap, const gx_graph *graph, const gx_extents *extents, gx_layering *ret_layering,
                    gale_error *error) {
    *ret_layering = (gx_layering){ .graph = graph, .gap = extents->gap, .memory = gx_pieces_of(heap, GX_TAG_OTHER) };
    int rc = check_size(graph, error);
    if (rc == GALE_OK) rc = fill(ret_layering, extents, error);
    if (rc < 0) gx_layering_free(ret_layering);
    return rc == GALE_NO_MEMORY ? gale_error_set(error, rc, "no memory to draw '%s'", graph->name) : rc;
}

void gx_layering_free(gx_layering *layering) {
    gx_pieces_free(&layering->memory);
}
