#include "draw/svg.h"

#include "base/str.h"
#include "base/visible.h"
#include "draw/labels.h"

enum { ARROW = 9, ARROW_HALF = 4, CORNER = 7, SPOUT_CORNER = GX_DRAWN_NODE_HEIGHT / 2 };

static const char style[] =
    "<style>"
    ".paper{fill:#fff}"
    "text{font-family:Inter,system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu "
    "Sans',sans-serif;text-anchor:middle}"
    ".box{fill:#f6f8fa;stroke:#8c959f;stroke-width:1.25}"
    ".spout .box{fill:#dff3ec;stroke:#1a7f64}"
    ".name{font-size:14px;font-weight:600;fill:#1f2328}"
    ".kind{font-size:12px;fill:#59636e}"
    ".line{fill:none;stroke:#8c959f;stroke-width:1.5}"
    ".arrow{fill:#8c959f}"
    ".label{font-size:11px;fill:#59636e;stroke:#fff;stroke-width:5px;stroke-linejoin:round;paint-order:stroke}"
    ".back .line{stroke:#bc4c00;stroke-dasharray:5 4}"
    ".back .arrow{fill:#bc4c00}"
    ".back .label{fill:#bc4c00}"
    "@media(prefers-color-scheme:dark){"
    ".paper{fill:#0d1117}"
    ".box{fill:#1b222c;stroke:#6e7681}"
    ".spout .box{fill:#12332b;stroke:#3fb68b}"
    ".name{fill:#e6edf3}"
    ".kind{fill:#9198a1}"
    ".line{stroke:#6e7681}"
    ".arrow{fill:#6e7681}"
    ".label{fill:#9198a1;stroke:#0d1117}"
    ".back .line{stroke:#db8b4b}"
    ".back .arrow{fill:#db8b4b}"
    ".back .label{fill:#db8b4b}"
    "}</style>";

/* --- Text ---------------------------------------------------------------------------------------------------------- */

/* In an element or an attribute between quotation marks. */
static void add_escaped(gx_buf *out, gale_str text) {
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        const char *entity = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : NULL;
        if (c == '\'') entity = "&#39;";
        if (entity)
            gx_buf_add_text(out, entity);
        else
            gx_buf_add_byte(out, c);
    }
}

static void add_name(gx_buf *out, const char *name) {
    gx_buf shown = GX_BUF_INIT(out->heap);
    gx_visible_add(&shown, gx_str(name), "");
    add_escaped(out, (gale_str){ shown.data, shown.size });
    out->failed |= shown.failed;
    gx_buf_fini(&shown);
}

/* `words` is given back. Cut where `cut`. */
static void add_words(gx_buf *out, gx_buf *words, bool cut) {
    gx_buf shown = GX_BUF_INIT(out->heap);
    gx_label_cut((gale_str){ words->data, words->size }, cut ? GX_DRAWN_COLUMNS : UINT32_MAX, false, &shown);
    add_escaped(out, (gale_str){ shown.data, shown.size });
    out->failed |= shown.failed || words->failed;
    gx_buf_fini(&shown);
    gx_buf_fini(words);
}

static void open_text(gx_buf *out, const char *class_, int32_t x, int32_t y) {
    gx_buf_format(out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class_, x, y);
}

/* --- Components ---------------------------------------------------------------------------------------------------- */

static void add_node(gx_buf *out, const gx_graph_node *node, const gx_drawn_node *box) {
    gx_buf name = GX_BUF_INIT(out->heap), kind = GX_BUF_INIT(out->heap), title = GX_BUF_INIT(out->heap);
    int32_t middle = box->x + box->width / 2, corner = node->is_spout ? SPOUT_CORNER : CORNER;
    gx_label_name(node, &name);
    gx_label_kind(node, 0, &kind);
    gx_label_kind(node, 0, &title);
    gx_buf_format(out, "<g class=\"node %s\" data-component=\"", node->is_spout ? "spout" : "bolt");
    add_name(out, node->name);
    gx_buf_add_text(out, "\"><title>");
    add_name(out, node->name);
    gx_buf_add_text(out, ": ");
    add_words(out, &title, false);
    gx_buf_format(out, "</title><rect class=\"box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\"/>", box->x,
                  box->y, box->width, box->height, corner);
    open_text(out, "name", middle, box->y + 21);
    add_words(out, &name, true);
    gx_buf_add_text(out, "</text>");
    open_text(out, "kind", middle, box->y + 38);
    add_words(out, &kind, true);
    gx_buf_add_text(out, "</text></g>\n");
}

/* --- Edges --------------------------------------------------------------------------------------------------------- */

static gx_point toward(gx_point from, gx_point to, int32_t by) {
    int32_t x = (to.x > from.x) - (to.x < from.x), y = (to.y > from.y) - (to.y < from.y);
    return (gx_point){ from.x + x * by, from.y + y * by };
}

/* A curve that begins and ends along the flow, or a line where the points are level. */
static void add_piece(gx_buf *out, gx_point a, gx_point b, bool down) {
    int32_t x = (a.x + b.x) / 2, y = (a.y + b.y) / 2;
    if (a.x == b.x || a.y == b.y)
        gx_buf_format(out, "L%d %d", b.x, b.y);
    else if (down)
        gx_buf_format(out, "C%d %d %d %d %d %d", a.x, y, b.x, y, b.x, b.y);
    else
        gx_buf_format(out, "C%d %d %d %d %d %d", x, a.y, x, b.y, b.x, b.y);
}

/* A line with round corners, for what leads back to its component. */
static void add_loop(gx_buf *out, const gx_point *p) {
    gx_point end = toward(p[3], p[2], ARROW - 2);
    gx_buf_format(out, "M%d %d", p[0].x, p[0].y);
    for (int i = 1; i < 3; i++) {
        gx_point before = toward(p[i], p[i - 1], CORNER), behind = toward(p[i], p[i + 1], CORNER);
        gx_buf_format(out, "L%d %dQ%d %d %d %d", before.x, before.y, p[i].x, p[i].y, behind.x, behind.y);
    }
    gx_buf_format(out, "L%d %d", end.x, end.y);
}

/* The line ends in the arrow, not at its tip. */
static void add_line(gx_buf *out, const gx_drawn_edge *edge, bool down) {
    uint32_t last = edge->point_count - 1;
    for (uint32_t i = 0; i <= last; i++) {
        gx_point here = edge->points[i];
        if (!i) gx_buf_format(out, "M%d %d", here.x, here.y);
        if (i == last)
            here = down ? toward(here, (gx_point){ here.x, edge->points[i - 1].y }, ARROW - 2)
                        : toward(here, (gx_point){ edge->points[i - 1].x, here.y }, ARROW - 2);
        if (i) add_piece(out, edge->points[i - 1], here, down);
    }
}

/* At the last point, along the flow, whichever way the edge goes. */
static void add_arrow(gx_buf *out, const gx_drawn_edge *edge, bool down) {
    gx_point tip = edge->points[edge->point_count - 1], before = edge->points[edge->point_count - 2];
    gx_point base = toward(tip, down ? (gx_point){ tip.x, before.y } : (gx_point){ before.x, tip.y }, ARROW);
    int32_t x = down ? ARROW_HALF : 0, y = down ? 0 : ARROW_HALF;
    gx_buf_format(out, "<path class=\"arrow\" d=\"M%d %dL%d %dL%d %dZ\"/>", tip.x, tip.y, base.x - x, base.y - y,
                  base.x + x, base.y + y);
}

static void add_edge(gx_buf *out, const gx_drawing *d, uint32_t number) {
    const gx_graph_edge *edge = &d->graph->edges[number];
    const gx_drawn_edge *drawn = &d->edges[number];
    gx_buf words = GX_BUF_INIT(out->heap), title = GX_BUF_INIT(out->heap);
    bool loop = gx_edge_is_loop(edge);
    gx_label_edge(edge, &words);
    gx_label_edge(edge, &title);
    gx_buf_format(out, "<g class=\"edge%s\" data-edge=\"%u\"><title>", edge->back ? " back" : "", number);
    add_name(out, d->graph->nodes[edge->from].name);
    gx_buf_add_text(out, " \u2192 ");
    add_name(out, d->graph->nodes[edge->to].name);
    gx_buf_add_text(out, ", ");
    add_words(out, &title, false);
    gx_buf_add_text(out, "</title><path class=\"line\" d=\"");
    if (loop)
        add_loop(out, drawn->points);
    else
        add_line(out, drawn, d->down);
    gx_buf_add_text(out, "\"/>");
    add_arrow(out, drawn, loop ? !d->down : d->down);
    open_text(out, "label", drawn->label.x, drawn->label.y + 4);
    add_words(out, &words, true);
    gx_buf_add_text(out, "</text></g>\n");
}

void gx_svg_write(const gx_drawing *drawing, gx_buf *out) {
    gx_buf_format(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                  "role=\"img\">\n<title>",
                  drawing->width, drawing->height, drawing->width, drawing->height);
    add_name(out, drawing->graph->name);
    gx_buf_format(out, "</title>\n%s\n<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", style, drawing->width,
                  drawing->height);
    for (uint32_t e = 0; e < drawing->graph->edge_count; e++) add_edge(out, drawing, e);
    for (uint32_t n = 0; n < drawing->graph->node_count; n++)
        add_node(out, &drawing->graph->nodes[n], &drawing->nodes[n]);
    gx_buf_add_text(out, "</svg>\n");
}
