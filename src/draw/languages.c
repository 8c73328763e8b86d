#include "draw/languages.h"

#include "base/str.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "draw/labels.h"

typedef void escape_fn(gx_buf *out, gale_str text);

/* `words` is emptied. */
static void add_words(gx_buf *out, gx_buf *words, escape_fn *escape) {
    escape(out, (gale_str){ words->data, words->size });
    out->failed |= words->failed;
    gx_buf_reset(words);
}

/* --- dot ----------------------------------------------------------------------------------------------------------- */

/* In a label between quotation marks a backslash begins more than one thing. */
static void escape_dot(gx_buf *out, gale_str text) {
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '"' || text.data[i] == '\\') gx_buf_add_byte(out, '\\');
        gx_buf_add_byte(out, text.data[i]);
    }
}

static void dot_node(const gx_graph *graph, uint32_t n, gx_buf *words, gx_buf *out) {
    const gx_graph_node *node = &graph->nodes[n];
    gx_buf_format(out, "  n%u [label=\"", n);
    gx_label_name(node, words);
    add_words(out, words, escape_dot);
    gx_buf_add_text(out, "\\n");
    gx_label_kind(node, 0, words);
    add_words(out, words, escape_dot);
    gx_buf_format(out, "\"%s];\n", node->is_spout ? ", fillcolor=\"#dff3ec\", color=\"#1a7f64\"" : "");
}

/* An edge that closes a cycle is turned around for the layout, and its arrow back. */
static void dot_edge(const gx_graph_edge *edge, gx_buf *words, gx_buf *out) {
    bool turned = edge->back && edge->from != edge->to;
    gx_buf_format(out, "  n%u -> n%u [label=\"", turned ? edge->to : edge->from, turned ? edge->from : edge->to);
    gx_label_edge(edge, words);
    add_words(out, words, escape_dot);
    gx_buf_format(out, "\"%s%s];\n", turned ? ", dir=back" : "",
                  edge->back ? ", style=dashed, color=\"#bc4c00\", fontcolor=\"#bc4c00\"" : "");
}

void gx_dot_write(const gx_graph *graph, bool down, gx_buf *out) {
    gx_buf words = GX_BUF_INIT(out->heap);
    gx_buf_add_text(out, "digraph \"");
    gx_visible_add(&words, gx_str(graph->name), "");
    add_words(out, &words, escape_dot);
    gx_buf_format(out,
                  "\" {\n  graph [rankdir=%s, bgcolor=\"transparent\"];\n"
                  "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f6f8fa\", color=\"#8c959f\", "
                  "fontname=\"sans-serif\", "
                  "fontsize=12];\n"
                  "  edge [color=\"#8c959f\", fontcolor=\"#59636e\", fontname=\"sans-serif\", fontsize=10];\n",
                  down ? "TB" : "LR");
    for (uint32_t n = 0; n < graph->node_count; n++) dot_node(graph, n, &words, out);
    for (uint32_t e = 0; e < graph->edge_count; e++) dot_edge(&graph->edges[e], &words, out);
    gx_buf_add_text(out, "}\n");
    gx_buf_fini(&words);
}

/* --- Mermaid ------------------------------------------------------------------------------------------------------- */

/* Its texts are HTML and Markdown: all that might be either is written as a number. */
static void escape_mermaid(gx_buf *out, gale_str text) {
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c >= 0x80;
        if (plain || strchr(" ,:().-", c))
            gx_buf_add_byte(out, text.data[i]);
        else
            gx_buf_format(out, "#%u;", c);
    }
}

static void mermaid_node(const gx_graph *graph, uint32_t n, gx_buf *words, gx_buf *out) {
    const gx_graph_node *node = &graph->nodes[n];
    gx_buf_format(out, "  n%u%s\"", n, node->is_spout ? "([" : "[");
    gx_label_name(node, words);
    add_words(out, words, escape_mermaid);
    gx_buf_add_text(out, "<br>");
    gx_label_kind(node, 0, words);
    add_words(out, words, escape_mermaid);
    gx_buf_format(out, "\"%s\n", node->is_spout ? "])" : "]");
}

static void mermaid_edge(const gx_graph_edge *edge, gx_buf *words, gx_buf *out) {
    gx_buf_format(out, "  n%u %s|\"", edge->from, edge->back ? "-.->" : "-->");
    gx_label_edge(edge, words);
    add_words(out, words, escape_mermaid);
    gx_buf_format(out, "\"| n%u\n", edge->to);
}

void gx_mermaid_write(const gx_graph *graph, bool down, gx_buf *out) {
    gx_buf words = GX_BUF_INIT(out->heap);
    gx_buf_format(out, "flowchart %s\n", down ? "TB" : "LR");
    for (uint32_t n = 0; n < graph->node_count; n++) mermaid_node(graph, n, &words, out);
    for (uint32_t e = 0; e < graph->edge_count; e++) mermaid_edge(&graph->edges[e], &words, out);
    gx_buf_fini(&words);
}
