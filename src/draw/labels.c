#include "draw/labels.h"

#include "base/str.h"
#include "base/visible.h"

void gx_label_name(const gx_graph_node *node, gx_buf *out) {
    gx_visible_add(out, gx_str(node->name), "");
}

void gx_label_kind(const gx_graph_node *node, int form, gx_buf *out) {
    const char *kind = node->class_name ? node->class_name : node->is_spout ? "spout" : "bolt";
    const char *last = form & GX_LABEL_BRIEF ? strrchr(kind, '.') : NULL;
    gx_visible_add(out, gx_str(last && last[1] ? last + 1 : kind), "");
    if (node->tasks != 1) gx_buf_format(out, " %s%u", form & GX_LABEL_ASCII ? "x" : "\u00d7", node->tasks);
}

void gx_label_edge(const gx_graph_edge *edge, gx_buf *out) {
    if (!gx_str_is(gx_str(edge->stream), "default")) {
        gx_visible_add(out, gx_str(edge->stream), "");
        gx_buf_add_text(out, ": ");
    }
    gx_buf_add_text(out, gale_grouping_name(edge->grouping));
    for (uint32_t i = 0; i < edge->field_count; i++) {
        gx_buf_add_text(out, i ? ", " : "(");
        gx_visible_add(out, gx_str(edge->fields[i]), "");
    }
    if (edge->field_count) gx_buf_add_byte(out, ')');
    if (edge->drop != GALE_DROP_NOTHING) gx_buf_format(out, ", drops %s", gale_drop_name(edge->drop));
}

uint32_t gx_label_columns(gale_str text) {
    size_t columns = 0;
    bool shows;
    for (size_t at = 0; at < text.size; at += gx_visible_step(text.data + at, text.size - at, &shows))
        columns += gx_visible_columns(text.data + at, text.size - at);
    return columns > UINT32_MAX ? UINT32_MAX : (uint32_t)columns;
}

static void add_character(gale_str text, size_t columns, bool ascii, gx_buf *out) {
    if (!ascii || (unsigned char)text.data[0] < 0x80)
        gx_buf_add(out, text.data, text.size);
    else
        gx_buf_add(out, "??", columns);
}

void gx_label_cut(gale_str text, uint32_t most, bool ascii, gx_buf *out) {
    const char *ellipsis = ascii ? "..." : "\u2026";
    bool whole = gx_label_columns(text) <= most, shows;
    size_t room = whole ? most : most - (ascii ? 3 : 1);
    for (size_t at = 0, step; at < text.size; at += step) {
        size_t columns = gx_visible_columns(text.data + at, text.size - at);
        step = gx_visible_step(text.data + at, text.size - at, &shows);
        if (columns > room) break;
        room -= columns;
        add_character((gale_str){ text.data + at, step }, columns, ascii, out);
    }
    if (!whole) gx_buf_add_text(out, ellipsis);
}
