#include "draw/graph.h"

#include "topology/plan.h"

#include <string.h>

/* Acker tasks are a component of the plan, and none of the topology. */
static bool is_drawn(const gx_plan_component *c) {
    return strncmp(c->built->name, "__", 2) != 0;
}

static void add_node(gx_graph *graph, const gx_plan_component *c) {
    graph->nodes[graph->node_count++] = (gx_graph_node){ .name = c->built->name,
                                                         .class_name = c->built->class_name,
                                                         .outputs = c->built->outputs,
                                                         .output_count = c->stream_count,
                                                         .tasks = c->task_count,
                                                         .is_spout = c->built->is_spout };
}

static void add_edge(gx_graph *graph, const uint32_t *numbers, uint32_t from, const gx_plan_edge *edge) {
    const gx_subscription *input = edge->subscription;
    graph->edges[graph->edge_count++] = (gx_graph_edge){ .from = numbers[from],
                                                         .to = numbers[edge->component],
                                                         .stream = input->stream,
                                                         .grouping = input->grouping,
                                                         .drop = input->drop,
                                                         .fields = input->fields,
                                                         .field_count = input->field_count,
                                                         .back = edge->back };
}

static uint32_t count_edges(const gx_plan *plan) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->component_count; i++)
        for (uint32_t s = 0; s < plan->components[i].stream_count; s++)
            count += plan->components[i].streams[s].edge_count;
    return count;
}

static int fill(gx_graph *graph, const gx_plan *plan) {
    uint32_t *numbers = gx_pieces_take(&graph->memory, plan->component_count, sizeof *numbers);
    graph->nodes = gx_pieces_take(&graph->memory, plan->component_count, sizeof *graph->nodes);
    graph->edges = gx_pieces_take(&graph->memory, count_edges(plan), sizeof *graph->edges);
    if (!numbers || !graph->nodes || !graph->edges) return GALE_NO_MEMORY;
    for (uint32_t i = 0; i < plan->component_count; i++) {
        numbers[i] = graph->node_count;
        if (is_drawn(&plan->components[i])) add_node(graph, &plan->components[i]);
    }
    for (uint32_t i = 0; i < plan->component_count; i++) {
        const gx_plan_component *c = &plan->components[i];
        for (uint32_t s = 0; s < c->stream_count; s++)
            for (uint32_t e = 0; e < c->streams[s].edge_count; e++)
                add_edge(graph, numbers, i, &c->streams[s].edges[e]);
    }
    return GALE_OK;
}

int gx_graph_new(gx_heap *heap, const gale_topology *topology, gx_graph *ret_graph, gale_error *error) {
    gx_plan *plan;
    *ret_graph = (gx_graph){ .name = topology->name, .memory = gx_pieces_of(heap, GX_TAG_OTHER) };
    int rc = gx_plan_new(heap, topology, GALE_EXECUTORS_MAX, true, &plan, error);
    if (rc < 0) return rc;
    rc = fill(ret_graph, plan);
    gx_plan_free(plan);
    if (rc == GALE_OK) return rc;
    gx_graph_free(ret_graph);
    return gale_error_set(error, rc, "no memory for the graph of '%s'", topology->name);
}

void gx_graph_free(gx_graph *graph) {
    gx_pieces_free(&graph->memory);
}
