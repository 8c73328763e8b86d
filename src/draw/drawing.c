#include "draw/drawing.h"

#include "draw/labels.h"
#include "draw/measure.h"
#include "draw/ordering.h"
#include "draw/placing.h"

enum {
    GAP = 22,          /* between neighbours of a layer */
    LINE = 4,          /* room on both sides of a line */
    LABEL_ROOM = 9,    /* on both sides of the middle of an edge's words */
    LABEL_PADDING = 8, /* before and behind them */
    BETWEEN = 26,      /* layers, at least */
    SLOPE = 5,         /* layers are farther apart where lines go far aside: by a part of that way */
    BETWEEN_MOST = 90,
    PORT = 9,      /* between two lines at one side of a box */
    PORT_ROOM = 8, /* between a corner of a box and a line */
    LOOP = 30,     /* below a box: each edge that leads back to it */
    LOOP_AT = 18   /* from the sides of the box */
};

typedef struct making {
    const gx_graph *graph;
    gx_drawing *d;
    gx_layering l;
    gx_buf words;
    gx_extent *nodes, *labels;
    uint32_t *loops;    /* of nodes: edges to themselves */
    int32_t *from, *to; /* of each layer, along */
} making;

/* --- Room ---------------------------------------------------------------------------------------------------------- */

/* `m->words` is emptied. */
static int32_t width_of(making *m, int32_t size, bool bold) {
    gx_buf cut = GX_BUF_INIT(m->words.heap);
    gx_label_cut((gale_str){ m->words.data, m->words.size }, GX_DRAWN_COLUMNS, false, &cut);
    int32_t width = gx_measure((gale_str){ cut.data, cut.size }, size, bold);
    bool failed = m->words.failed || cut.failed;
    gx_buf_fini(&cut);
    gx_buf_reset(&m->words);
    m->words.failed = failed;
    return width;
}

static int32_t larger(int32_t a, int32_t b) {
    return a > b ? a : b;
}

static int32_t node_width(making *m, const gx_graph_node *node) {
    gx_label_name(node, &m->words);
    int32_t name = width_of(m, GX_DRAWN_NODE_TEXT, true);
    gx_label_kind(node, 0, &m->words);
    return larger(name, width_of(m, GX_DRAWN_KIND_TEXT, false)) + 2 * GX_DRAWN_NODE_PADDING;
}

/* Words of edges that lead back to where they come from are drawn below the box, and make it as wide. */
static void measure(making *m) {
    bool down = m->d->down;
    for (uint32_t n = 0; n < m->graph->node_count; n++) m->nodes[n].along = node_width(m, &m->graph->nodes[n]);
    for (uint32_t e = 0; e < m->graph->edge_count; e++) {
        const gx_graph_edge *edge = &m->graph->edges[e];
        gx_label_edge(edge, &m->words);
        int32_t width = width_of(m, GX_DRAWN_LABEL_TEXT, false) + 2 * LABEL_PADDING;
        int32_t across = down ? width / 2 : LABEL_ROOM;
        m->labels[e] = (gx_extent){ across, across, down ? 2 * LABEL_ROOM : width };
        if (!gx_edge_is_loop(edge)) continue;
        m->loops[edge->from]++;
        m->nodes[edge->from].along = larger(m->nodes[edge->from].along, width + 2 * LOOP_AT);
    }
    for (uint32_t n = 0; n < m->graph->node_count; n++) {
        int32_t width = m->nodes[n].along, half = GX_DRAWN_NODE_HEIGHT / 2, loops = (int32_t)m->loops[n] * LOOP;
        m->nodes[n] = down ? (gx_extent){ width / 2, width - width / 2 + (loops ? width / 2 + LOOP_AT : 0), 2 * half }
                           : (gx_extent){ half, half + loops, width };
    }
}

static int lay_out(making *m, gx_heap *heap, gale_error *error) {
    gx_pieces *memory = &m->d->memory;
    m->nodes = gx_pieces_take(memory, m->graph->node_count, sizeof *m->nodes);
    m->labels = gx_pieces_take(memory, m->graph->edge_count, sizeof *m->labels);
    m->loops = gx_pieces_take(memory, m->graph->node_count, sizeof *m->loops);
    if (!m->nodes || !m->labels || !m->loops) return GALE_NO_MEMORY;
    measure(m);
    if (m->words.failed) return GALE_NO_MEMORY;
    const gx_extents extents = { m->nodes, m->labels, { LINE, LINE, 0 }, GAP };
    int rc = gx_layering_new(heap, m->graph, &extents, &m->l, error);
    if (rc < 0) return rc;
    return gx_ordering_do(&m->l) && gx_placing_do(&m->l) ? GALE_OK : GALE_NO_MEMORY;
}

/* --- Along the flow ------------------------------------------------------------------------------------------------ */

/* The farthest that a line goes aside between a layer and the next. */
static int32_t farthest_aside(const making *m, const gx_layer *layer) {
    int32_t most = 0;
    for (uint32_t i = 0; i < layer->count; i++) {
        const gx_stop *stop = &m->l.stops[layer->stops[i]];
        for (uint32_t k = 0; k < stop->down_count; k++) {
            int32_t aside = stop->at - m->l.stops[stop->down[k]].at;
            most = larger(most, aside < 0 ? -aside : aside);
        }
    }
    return most;
}

static bool place_layers(making *m) {
    int32_t at = GX_DRAWN_MARGIN;
    m->from = gx_pieces_take(&m->d->memory, m->l.layer_count, sizeof *m->from);
    m->to = gx_pieces_take(&m->d->memory, m->l.layer_count, sizeof *m->to);
    if (!m->from || !m->to) return false;
    for (uint32_t i = 0; i < m->l.layer_count; i++) {
        const gx_layer *layer = &m->l.layers[i];
        int32_t size = 0, aside = farthest_aside(m, layer);
        for (uint32_t k = 0; k < layer->count; k++) size = larger(size, m->l.stops[layer->stops[k]].extent.along);
        m->from[i] = at;
        m->to[i] = at + size;
        at += size + BETWEEN + (aside / SLOPE < BETWEEN_MOST - BETWEEN ? aside / SLOPE : BETWEEN_MOST - BETWEEN);
    }
    int32_t along = m->l.layer_count ? m->to[m->l.layer_count - 1] + GX_DRAWN_MARGIN : 2 * GX_DRAWN_MARGIN;
    int32_t across = m->l.width + 2 * GX_DRAWN_MARGIN;
    m->d->width = m->d->down ? across : along;
    m->d->height = m->d->down ? along : across;
    return true;
}

static gx_point point_of(const making *m, int32_t along, int32_t across) {
    return m->d->down ? (gx_point){ across + GX_DRAWN_MARGIN, along } : (gx_point){ along, across + GX_DRAWN_MARGIN };
}

/* From left to right all boxes of a layer are as wide as the widest. */
static void place_nodes(making *m) {
    for (uint32_t n = 0; n < m->graph->node_count; n++) {
        const gx_stop *stop = &m->l.stops[n];
        gx_point first = point_of(m, m->from[stop->layer], stop->at - stop->extent.before);
        gx_point last = point_of(m, m->to[stop->layer], stop->at + stop->extent.before);
        m->d->nodes[n] = (gx_drawn_node){ first.x, first.y, last.x - first.x, last.y - first.y };
    }
}

/* --- Edges --------------------------------------------------------------------------------------------------------- */

/* Where the line to `other` leaves a component: its lines are apart, in the order in which they come. */
static int32_t port_of(const gx_stop *node, const uint32_t *others, uint32_t count, uint32_t other) {
    int32_t room = 2 * (node->extent.before - PORT_ROOM), step = PORT, which = 0;
    for (uint32_t i = 0; i < count; i++)
        if (others[i] == other) which = (int32_t)i;
    if (count > 1 && step * ((int32_t)count - 1) > room) step = room / ((int32_t)count - 1);
    return node->at + which * step - step * ((int32_t)count - 1) / 2;
}

static void add_point(gx_drawn_edge *drawn, gx_point point) {
    drawn->points[drawn->point_count++] = point;
}

static void turn_around(gx_drawn_edge *drawn) {
    for (uint32_t i = 0, k = drawn->point_count; i + 1 < k; i++) {
        gx_point swapped = drawn->points[i];
        drawn->points[i] = drawn->points[--k];
        drawn->points[k] = swapped;
    }
}

static bool draw_route(making *m, uint32_t e) {
    const gx_route *route = &m->l.routes[e];
    gx_drawn_edge *drawn = &m->d->edges[e];
    const gx_stop *upper = &m->l.stops[route->stops[0]], *lower = &m->l.stops[route->stops[route->count - 1]];
    drawn->points = gx_pieces_take(&m->d->memory, 2 * (size_t)route->count, sizeof *drawn->points);
    if (!drawn->points) return false;
    add_point(drawn, point_of(m, m->to[upper->layer], port_of(upper, upper->down, upper->down_count, route->stops[1])));
    for (uint32_t i = 1; i + 1 < route->count; i++) {
        const gx_stop *stop = &m->l.stops[route->stops[i]];
        add_point(drawn, point_of(m, m->from[stop->layer], stop->at));
        add_point(drawn, point_of(m, m->to[stop->layer], stop->at));
        if (stop->kind == GX_STOP_LABEL)
            drawn->label = point_of(m, (m->from[stop->layer] + m->to[stop->layer]) / 2, stop->at);
    }
    add_point(drawn, point_of(m, m->from[lower->layer],
                              port_of(lower, lower->up, lower->up_count, route->stops[route->count - 2])));
    if (m->graph->edges[e].back) turn_around(drawn);
    return true;
}

/* Below its box, or right of it, out of the flow's way; `number` of those of the component, from 0. */
static bool draw_loop(making *m, uint32_t e, int32_t number) {
    gx_drawn_edge *drawn = &m->d->edges[e];
    const gx_drawn_node *box = &m->d->nodes[m->graph->edges[e].from];
    drawn->points = gx_pieces_take(&m->d->memory, 4, sizeof *drawn->points);
    if (!drawn->points) return false;
    int32_t right = box->x + box->width, bottom = box->y + box->height, far = LOOP_AT + LOOP * number;
    if (m->d->down) {
        int32_t top = box->y + box->height / 3, below = bottom - box->height / 3;
        drawn->points[0] = (gx_point){ right, below };
        drawn->points[1] = (gx_point){ right + far, below };
        drawn->points[2] = (gx_point){ right + far, top };
        drawn->points[3] = (gx_point){ right, top };
        drawn->label = (gx_point){ right + LOOP_AT / 2 + m->labels[e].before,
                                   bottom - LABEL_ROOM + number * LABEL_ROOM };
    } else {
        int32_t aside = LOOP_AT - 4 * number > 4 ? LOOP_AT - 4 * number : 4;
        drawn->points[0] = (gx_point){ right - aside, bottom };
        drawn->points[1] = (gx_point){ right - aside, bottom + far };
        drawn->points[2] = (gx_point){ box->x + aside, bottom + far };
        drawn->points[3] = (gx_point){ box->x + aside, bottom };
        drawn->label = (gx_point){ box->x + box->width / 2, bottom + far };
    }
    drawn->point_count = 4;
    return true;
}

static bool place_edges(making *m) {
    for (uint32_t n = 0; n < m->graph->node_count; n++) m->loops[n] = 0;
    for (uint32_t e = 0; e < m->graph->edge_count; e++) {
        const gx_graph_edge *edge = &m->graph->edges[e];
        bool drawn = gx_edge_is_loop(edge) ? draw_loop(m, e, (int32_t)m->loops[edge->from]++) : draw_route(m, e);
        if (!drawn) return false;
    }
    return true;
}

/* --- All ----------------------------------------------------------------------------------------------------------- */

static int make(making *m, gx_heap *heap, gale_error *error) {
    gx_drawing *d = m->d;
    int rc = lay_out(m, heap, error);
    if (rc < 0) return rc;
    d->nodes = gx_pieces_take(&d->memory, m->graph->node_count, sizeof *d->nodes);
    d->edges = gx_pieces_take(&d->memory, m->graph->edge_count, sizeof *d->edges);
    if (!d->nodes || !d->edges || !place_layers(m)) return GALE_NO_MEMORY;
    place_nodes(m);
    d->crossings = m->l.crossings;
    return place_edges(m) ? GALE_OK : GALE_NO_MEMORY;
}

int gx_drawing_new(gx_heap *heap, const gx_graph *graph, bool down, gx_drawing *ret_drawing, gale_error *error) {
    *ret_drawing = (gx_drawing){ .graph = graph, .down = down, .memory = gx_pieces_of(heap, GX_TAG_OTHER) };
    making m = { .graph = graph,
                 .d = ret_drawing,
                 .l = { .memory = gx_pieces_of(heap, GX_TAG_OTHER) },
                 .words = GX_BUF_INIT(heap) };
    int rc = make(&m, heap, error);
    gx_buf_fini(&m.words);
    gx_layering_free(&m.l);
    if (rc < 0) gx_drawing_free(ret_drawing);
    return rc == GALE_NO_MEMORY ? gale_error_set(error, rc, "no memory to draw '%s'", graph->name) : rc;
}

void gx_drawing_free(gx_drawing *drawing) {
    gx_pieces_free(&drawing->memory);
}
