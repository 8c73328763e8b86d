#include "draw/json.h"

#include "base/str.h"

static void text_member(gx_json *json, const char *key, const char *text) {
    gx_json_key(json, gx_str(key));
    if (text)
        gx_json_string(json, gx_str(text));
    else
        gx_json_null(json);
}

static void number_member(gx_json *json, const char *key, int64_t number) {
    gx_json_key(json, gx_str(key));
    gx_json_i64(json, number);
}

static void texts_member(gx_json *json, const char *key, char *const *texts, uint32_t count) {
    gx_json_key(json, gx_str(key));
    gx_json_open(json, '[');
    for (uint32_t i = 0; i < count; i++) gx_json_string(json, gx_str(texts[i]));
    gx_json_close(json, ']');
}

static void component(const gx_graph_node *node, gx_json *json) {
    gx_json_open(json, '{');
    text_member(json, "name", node->name);
    text_member(json, "kind", node->is_spout ? "spout" : "bolt");
    text_member(json, "class", node->class_name);
    number_member(json, "tasks", node->tasks);
    gx_json_key(json, gx_str("streams"));
    gx_json_open(json, '[');
    for (uint32_t i = 0; i < node->output_count; i++) {
        gx_json_open(json, '{');
        text_member(json, "name", node->outputs[i].name);
        texts_member(json, "fields", node->outputs[i].fields, node->outputs[i].field_count);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
    gx_json_close(json, '}');
}

void gx_graph_json_components(const gx_graph *graph, gx_json *json) {
    gx_json_open(json, '[');
    for (uint32_t n = 0; n < graph->node_count; n++) component(&graph->nodes[n], json);
    gx_json_close(json, ']');
}

void gx_graph_json_edges(const gx_graph *graph, gx_json *json) {
    gx_json_open(json, '[');
    for (uint32_t e = 0; e < graph->edge_count; e++) {
        const gx_graph_edge *edge = &graph->edges[e];
        gx_json_open(json, '{');
        number_member(json, "id", e);
        text_member(json, "from", graph->nodes[edge->from].name);
        text_member(json, "stream", edge->stream);
        text_member(json, "to", graph->nodes[edge->to].name);
        text_member(json, "grouping", gale_grouping_name(edge->grouping));
        texts_member(json, "fields", edge->fields, edge->field_count);
        text_member(json, "drop", edge->drop == GALE_DROP_NOTHING ? NULL : gale_drop_name(edge->drop));
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

static void point(gx_point p, gx_json *json) {
    gx_json_open(json, '[');
    gx_json_i64(json, p.x);
    gx_json_i64(json, p.y);
    gx_json_close(json, ']');
}

static void drawn_node(const gx_graph_node *node, const gx_drawn_node *box, gx_json *json) {
    gx_json_open(json, '{');
    text_member(json, "component", node->name);
    number_member(json, "x", box->x);
    number_member(json, "y", box->y);
    number_member(json, "width", box->width);
    number_member(json, "height", box->height);
    gx_json_close(json, '}');
}

static void drawn_edge(const gx_drawing *drawing, uint32_t number, gx_json *json) {
    const gx_drawn_edge *edge = &drawing->edges[number];
    gx_json_open(json, '{');
    number_member(json, "edge", number);
    gx_json_key(json, gx_str("points"));
    gx_json_open(json, '[');
    for (uint32_t i = 0; i < edge->point_count; i++) point(edge->points[i], json);
    gx_json_close(json, ']');
    gx_json_key(json, gx_str("label"));
    point(edge->label, json);
    gx_json_key(json, gx_str("back"));
    gx_json_bool(json, drawing->graph->edges[number].back);
    gx_json_close(json, '}');
}

void gx_drawing_json(const gx_drawing *drawing, gx_json *json) {
    gx_json_open(json, '{');
    number_member(json, "width", drawing->width);
    number_member(json, "height", drawing->height);
    gx_json_key(json, gx_str("nodes"));
    gx_json_open(json, '[');
    for (uint32_t n = 0; n < drawing->graph->node_count; n++)
        drawn_node(&drawing->graph->nodes[n], &drawing->nodes[n], json);
    gx_json_close(json, ']');
    gx_json_key(json, gx_str("edges"));
    gx_json_open(json, '[');
    for (uint32_t e = 0; e < drawing->graph->edge_count; e++) drawn_edge(drawing, e, json);
    gx_json_close(json, ']');
    gx_json_close(json, '}');
}

void gx_drawing_json_whole(const gx_drawing *drawing, gx_json *json) {
    gx_json_open(json, '{');
    text_member(json, "name", drawing->graph->name);
    gx_json_key(json, gx_str("components"));
    gx_graph_json_components(drawing->graph, json);
    gx_json_key(json, gx_str("edges"));
    gx_graph_json_edges(drawing->graph, json);
    gx_json_key(json, gx_str("drawing"));
    gx_drawing_json(drawing, json);
    gx_json_close(json, '}');
}
