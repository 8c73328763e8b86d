#include "draw/text.h"

#include "base/str.h"
#include "draw/canvas.h"
#include "draw/channel.h"
#include "draw/labels.h"
#include "draw/ordering.h"
#include "draw/placing.h"

enum { GAP = 3, PADDING = 2, BOX_ROWS = 4 };

/* Text that lies in the buffer of all. */
typedef struct words {
    size_t at, size;
    uint32_t columns;
} words;

typedef struct picture {
    const gx_graph *graph;
    gx_heap *heap;
    gx_pieces memory;
    gx_buf text;
    words *names, *kinds; /* of nodes */
    words *labels;        /* of edges; of one from a component to itself, its line in the box */
    gx_graph lines;       /* the graph once more, with one edge for all from a component to another */
    uint32_t *line_of;    /* of edges: which of those */
    uint32_t *row_of;     /* of edges: their label among those of the line */
    uint32_t *rows;       /* of lines: labels */
    uint32_t *loops;      /* of nodes: labels of edges to themselves */
    gx_layering l;
    gx_channel *channels; /* below each layer but the last */
    uint32_t *tops;       /* the first row of each layer; behind the last the height */
    uint32_t *heights;    /* of each layer */
    gx_canvas canvas;
    uint32_t net; /* the last that was drawn */
    uint32_t cut; /* columns of a text */
    int form;     /* of the labels */
    bool ascii;
} picture;

/* --- Words --------------------------------------------------------------------------------------------------------- */

/* `scratch` is emptied. */
static words keep(picture *p, gx_buf *scratch) {
    words w = { .at = p->text.size };
    gx_label_cut((gale_str){ scratch->data, scratch->size }, p->cut, p->ascii, &p->text);
    w.size = p->text.size - w.at;
    w.columns = gx_label_columns((gale_str){ p->text.data + w.at, w.size });
    p->text.failed |= scratch->failed;
    gx_buf_reset(scratch);
    return w;
}

static gale_str text_of(const picture *p, words w) {
    return (gale_str){ p->text.data + w.at, w.size };
}

static bool write_words(picture *p) {
    gx_buf one = GX_BUF_INIT(p->heap);
    p->names = gx_pieces_take(&p->memory, p->graph->node_count, sizeof *p->names);
    p->kinds = gx_pieces_take(&p->memory, p->graph->node_count, sizeof *p->kinds);
    p->labels = gx_pieces_take(&p->memory, p->graph->edge_count, sizeof *p->labels);
    if (!p->names || !p->kinds || !p->labels) return false;
    for (uint32_t n = 0; n < p->graph->node_count; n++) {
        gx_label_name(&p->graph->nodes[n], &one);
        p->names[n] = keep(p, &one);
        gx_label_kind(&p->graph->nodes[n], p->form, &one);
        p->kinds[n] = keep(p, &one);
    }
    for (uint32_t e = 0; e < p->graph->edge_count; e++) {
        if (gx_edge_is_loop(&p->graph->edges[e])) gx_buf_add_text(&one, p->ascii ? "again: " : "\u21bb ");
        gx_label_edge(&p->graph->edges[e], &one);
        p->labels[e] = keep(p, &one);
    }
    gx_buf_fini(&one);
    return !p->text.failed;
}

/* --- Lines --------------------------------------------------------------------------------------------------------- */

/* Edges between the same two components are one line with a label below the other. Edges are in the order of where they come
 * from, so `last`, of each node the last line that leads to it, tells whether there is one yet. */
static bool gather(picture *p) {
    const gx_graph *graph = p->graph;
    uint32_t *last = gx_pieces_take(&p->memory, graph->node_count, sizeof *last); /* counted from 1 */
    p->lines = *graph;
    p->lines.edge_count = 0;
    p->lines.edges = gx_pieces_take(&p->memory, graph->edge_count, sizeof *p->lines.edges);
    p->line_of = gx_pieces_take(&p->memory, graph->edge_count, sizeof *p->line_of);
    p->row_of = gx_pieces_take(&p->memory, graph->edge_count, sizeof *p->row_of);
    p->rows = gx_pieces_take(&p->memory, graph->edge_count, sizeof *p->rows);
    if (!last || !p->lines.edges || !p->line_of || !p->row_of || !p->rows) return false;
    for (uint32_t e = 0; e < graph->edge_count; e++) {
        const gx_graph_edge *edge = &graph->edges[e];
        uint32_t *line = &last[edge->to];
        if (!*line || p->lines.edges[*line - 1].from != edge->from) {
            p->lines.edges[p->lines.edge_count++] = *edge;
            *line = p->lines.edge_count;
        }
        p->line_of[e] = *line - 1;
        p->row_of[e] = p->rows[*line - 1]++;
    }
    return true;
}

/* --- Places -------------------------------------------------------------------------------------------------------- */

static void widen(gx_extent *box, uint32_t columns) {
    int32_t width = (int32_t)columns + 2 * PADDING;
    if (width <= box->before + box->after) return;
    box->before = width / 2;
    box->after = width - 1 - box->before;
}

static int lay_out(picture *p, gale_error *error) {
    const gx_graph *graph = p->graph;
    gx_extent *nodes = gx_pieces_take(&p->memory, graph->node_count, sizeof *nodes), *label;
    gx_extent *labels = gx_pieces_take(&p->memory, graph->edge_count, sizeof *labels);
    p->loops = gx_pieces_take(&p->memory, graph->node_count, sizeof *p->loops);
    if (!nodes || !labels || !p->loops || !write_words(p) || !gather(p)) return GALE_NO_MEMORY;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        widen(&nodes[n], p->names[n].columns);
        widen(&nodes[n], p->kinds[n].columns);
    }
    for (uint32_t e = 0; e < graph->edge_count; e++) {
        label = &labels[p->line_of[e]];
        if (label->after < (int32_t)p->labels[e].columns + 1) label->after = (int32_t)p->labels[e].columns + 1;
        if (!gx_edge_is_loop(&graph->edges[e])) continue;
        widen(&nodes[graph->edges[e].from], p->labels[e].columns);
        p->loops[graph->edges[e].from]++;
    }
    const gx_extents extents = { nodes, labels, { 0, 0, 0 }, GAP };
    int rc = gx_layering_new(p->heap, &p->lines, &extents, &p->l, error);
    if (rc < 0) return rc;
    return gx_ordering_do(&p->l) && gx_placing_do(&p->l) ? GALE_OK : GALE_NO_MEMORY;
}

static uint32_t height_of(const picture *p, uint32_t layer) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->l.layers[layer].count; i++) {
        const gx_stop *stop = &p->l.stops[p->l.layers[layer].stops[i]];
        uint32_t rows = stop->kind == GX_STOP_NODE ? BOX_ROWS + p->loops[stop->of] : p->rows[stop->of];
        if (stop->kind != GX_STOP_LINE && rows > most) most = rows;
    }
    return most;
}

static int check_size(const picture *p, uint32_t rows, gale_error *error) {
    uint64_t cells = ((uint64_t)p->l.width + 1) * rows;
    if (cells <= GX_CANVAS_CELLS) return GALE_OK;
    return gale_error_set(
        error, GALE_TOO_LARGE,
        "'%s' is too large to be drawn with characters: it would take %u lines of %d, and %d characters are "
        "the most; --svg draws more",
        p->graph->name, rows, p->l.width + 1, GX_CANVAS_CELLS);
}

/* Rows, once it is known how many the lines between two layers need. */
static int find_rows(picture *p, gale_error *error) {
    uint32_t layers = p->l.layer_count;
    int rc = check_size(p, layers, error);
    if (rc < 0) return rc;
    p->channels = gx_pieces_take(&p->memory, layers, sizeof *p->channels);
    p->tops = gx_pieces_take(&p->memory, layers + 1, sizeof *p->tops);
    p->heights = gx_pieces_take(&p->memory, layers, sizeof *p->heights);
    if (!p->channels || !p->tops || !p->heights) return GALE_NO_MEMORY;
    for (uint32_t i = 0; i < layers; i++) {
        if (i + 1 < layers && !gx_channel_make(&p->l, i, &p->memory, &p->channels[i])) return GALE_NO_MEMORY;
        p->heights[i] = height_of(p, i);
        p->tops[i + 1] = p->tops[i] + p->heights[i] + p->channels[i].rows;
    }
    return check_size(p, p->tops[layers], error);
}

/* --- Drawing ------------------------------------------------------------------------------------------------------- */

static gx_pen pen_of(picture *p, bool back) {
    return (gx_pen){ ++p->net, back ? GX_LINE_DASHED : GX_LINE_PLAIN };
}

static void draw_centred(picture *p, words w, uint32_t left, uint32_t width, uint32_t row) {
    gx_canvas_text(&p->canvas, left + (width - w.columns) / 2, row, text_of(p, w));
}

static void draw_box(picture *p, const gx_stop *stop, uint32_t layer) {
    const gx_graph_node *node = &p->graph->nodes[stop->of];
    uint32_t left = (uint32_t)(stop->at - stop->extent.before), top = p->tops[layer], row = top + 3;
    uint32_t width = (uint32_t)(stop->extent.before + stop->extent.after + 1);
    gx_pen pen = { ++p->net, node->is_spout ? GX_LINE_DOUBLE : GX_LINE_PLAIN };
    gx_canvas_box(&p->canvas, pen, left, top, width, p->heights[layer]);
    draw_centred(p, p->names[stop->of], left, width, top + 1);
    draw_centred(p, p->kinds[stop->of], left, width, top + 2);
    for (uint32_t e = 0; p->loops[stop->of] && e < p->graph->edge_count; e++)
        if (gx_edge_is_loop(&p->graph->edges[e]) && p->graph->edges[e].from == stop->of)
            draw_centred(p, p->labels[e], left, width, row++);
}

static void draw_layer(picture *p, uint32_t layer) {
    for (uint32_t i = 0; i < p->l.layers[layer].count; i++) {
        const gx_stop *stop = &p->l.stops[p->l.layers[layer].stops[i]];
        int64_t top = p->tops[layer];
        if (stop->kind == GX_STOP_NODE) {
            draw_box(p, stop, layer);
            continue;
        }
        gx_pen pen = pen_of(p, p->lines.edges[stop->of].back);
        gx_canvas_through(&p->canvas, pen, (uint32_t)stop->at, top, top + p->heights[layer] - 1);
    }
}

static void draw_labels(picture *p) {
    for (uint32_t e = 0; e < p->graph->edge_count; e++) {
        const gx_route *route = &p->l.routes[p->line_of[e]];
        for (uint32_t i = 0; i < route->count; i++) {
            const gx_stop *stop = &p->l.stops[route->stops[i]];
            if (stop->kind != GX_STOP_LABEL) continue;
            gx_canvas_text(&p->canvas, (uint32_t)stop->at + 2, p->tops[stop->layer] + p->row_of[e],
                           text_of(p, p->labels[e]));
        }
    }
}

/* Where a net leaves or reaches a box: an arrow where tuples come in. */
static void draw_port(picture *p, const gx_channel_net *net, gx_pen pen, uint32_t y, bool nodes_above) {
    if (p->l.stops[net->stop].kind != GX_STOP_NODE) return;
    const char *arrow = nodes_above ? (p->ascii ? "^" : "\u25b2") : (p->ascii ? "v" : "\u25bc");
    if (net->back == nodes_above)
        gx_canvas_text(&p->canvas, net->port, y, gx_str(arrow));
    else
        gx_canvas_end(&p->canvas, pen, net->port, y, !nodes_above);
}

/* Between rows `first` and `last`, of which there may be none. */
static void draw_net(picture *p, const gx_channel_net *net, int64_t first, int64_t last, bool nodes_above) {
    gx_pen pen = pen_of(p, net->back);
    int64_t row = nodes_above ? first + net->row - 1 : last - net->row + 1;
    draw_port(p, net, pen, (uint32_t)(nodes_above ? first - 1 : last + 1), nodes_above);
    if (!net->row) {
        gx_canvas_through(&p->canvas, pen, net->port, first, last);
        return;
    }
    gx_canvas_along(&p->canvas, pen, (uint32_t)row, net->first, net->last);
    gx_canvas_through(&p->canvas, pen, net->port, nodes_above ? first : row + 1, nodes_above ? row - 1 : last);
    gx_canvas_end(&p->canvas, pen, net->port, (uint32_t)row, nodes_above);
    for (uint32_t i = 0; i < net->end_count; i++) {
        gx_canvas_through(&p->canvas, pen, net->ends[i], nodes_above ? row + 1 : first, nodes_above ? last : row - 1);
        gx_canvas_end(&p->canvas, pen, net->ends[i], (uint32_t)row, !nodes_above);
    }
}

static bool draw(picture *p) {
    uint32_t layers = p->l.layer_count;
    if (!gx_canvas_init(&p->canvas, p->heap, (uint32_t)p->l.width + 1, p->tops[layers], p->ascii)) return false;
    for (uint32_t i = 0; i < layers; i++) draw_layer(p, i);
    draw_labels(p);
    for (uint32_t i = 0; i + 1 < layers; i++)
        for (uint32_t k = 0; k < p->channels[i].net_count; k++)
            draw_net(p, &p->channels[i].nets[k], (int64_t)p->tops[i] + p->heights[i], (int64_t)p->tops[i + 1] - 1,
                     i % 2 == 0);
    return true;
}

/* --- All ----------------------------------------------------------------------------------------------------------- */

static void picture_fini(picture *p) {
    gx_canvas_fini(&p->canvas);
    gx_layering_free(&p->l);
    gx_buf_fini(&p->text);
    gx_pieces_free(&p->memory);
}

/* How names and labels are shown: the first way in which the picture fits. */
typedef struct way {
    uint32_t cut;
    int form;
} way;

static picture picture_of(gx_heap *heap, const gx_graph *graph, way how, bool ascii) {
    return (picture){ .graph = graph,
                      .heap = heap,
                      .memory = gx_pieces_of(heap, GX_TAG_OTHER),
                      .text = GX_BUF_INIT(heap),
                      .l = { .memory = gx_pieces_of(heap, GX_TAG_OTHER) },
                      .canvas = { .heap = heap },
                      .cut = how.cut,
                      .form = how.form | (ascii ? GX_LABEL_ASCII : 0),
                      .ascii = ascii };
}

int gx_text_draw(gx_heap *heap, const gx_graph *graph, const gx_text_options *options, gx_buf *out, uint32_t *ret_width,
                 gale_error *error) {
    static const way ways[] = { { 48, 0 }, { 32, GX_LABEL_BRIEF }, { 20, GX_LABEL_BRIEF }, { 14, GX_LABEL_BRIEF } };
    size_t last = sizeof ways / sizeof *ways - 1;
    for (size_t i = 0;; i++) {
        picture p = picture_of(heap, graph, ways[i], options->ascii);
        int rc = lay_out(&p, error);
        *ret_width = graph->node_count ? (uint32_t)p.l.width + 1 : 0;
        bool fits = !options->columns || *ret_width <= options->columns || i == last;
        if (rc == GALE_OK && fits) rc = find_rows(&p, error);
        if (rc == GALE_OK && fits && !draw(&p)) rc = GALE_NO_MEMORY;
        if (rc == GALE_OK && fits) gx_canvas_print(&p.canvas, out);
        picture_fini(&p);
        if (rc == GALE_NO_MEMORY) return gale_error_set(error, rc, "no memory to draw '%s'", graph->name);
        if (rc < 0 || fits) return rc;
    }
}
