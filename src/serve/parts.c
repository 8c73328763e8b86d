#include "serve/parts.h"

#include "base/str.h"

#include <stdlib.h>

static uint32_t streams_of(const gx_component *built) {
    return built ? built->output_count + built->is_spout : 0;
}

/* Tasks of a component follow each other. */
static void add_task(gx_parts *parts, const gale_topology *topology, const gale_task_stats *task) {
    gx_part *last = parts->count ? &parts->parts[parts->count - 1] : NULL;
    parts->task_count++;
    if (last && strcmp(last->name, task->component) == 0) {
        last->task_count++;
        return;
    }
    const gx_component *built = gx_topology_find(topology, task->component);
    parts->parts[parts->count++] = (gx_part){ .name = task->component,
                                              .built = built,
                                              .spout = task->spout,
                                              .first_task = task->task,
                                              .task_count = 1,
                                              .first_stream = parts->stream_count,
                                              .stream_count = streams_of(built) };
    parts->stream_count += streams_of(built);
}

/* Those who take one stream of a component. `edges` NULL: they are counted. */
static uint32_t add_edges(const gx_parts *parts, const gx_part *from, uint32_t stream, gx_edge *edges) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < parts->count; i++) {
        const gx_part *to = &parts->parts[i];
        for (uint32_t n = 0; to->built && n < to->built->input_count; n++) {
            const gx_subscription *input = &to->built->inputs[n];
            if (strcmp(input->source, from->name) != 0 || strcmp(input->stream, gx_part_stream(from, stream)) != 0)
                continue;
            if (edges) edges[count] = (gx_edge){ from, to, input, stream, n };
            count++;
        }
    }
    return count;
}

static uint32_t all_edges(const gx_parts *parts, gx_edge *edges) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < parts->count; i++)
        for (uint32_t s = 0; s < parts->parts[i].stream_count; s++)
            count += add_edges(parts, &parts->parts[i], s, edges ? edges + count : NULL);
    return count;
}

int gx_parts_new(const gale_topology *topology, const gale_runtime *runtime, gx_parts *ret_parts) {
    uint32_t tasks = gale_runtime_task_count(runtime);
    gx_parts parts = { .parts = calloc(tasks + 1, sizeof *parts.parts) };
    for (uint32_t i = 1; parts.parts && i <= tasks; i++) {
        gale_task_stats task = { .size = sizeof task };
        if (gale_runtime_task_stats(runtime, i, &task)) add_task(&parts, topology, &task);
    }
    if (parts.parts) parts.edge_count = all_edges(&parts, NULL);
    parts.edges = parts.parts ? calloc(parts.edge_count + 1, sizeof *parts.edges) : NULL;
    if (!parts.edges) return gx_parts_free(&parts), GALE_NO_MEMORY;
    all_edges(&parts, parts.edges);
    *ret_parts = parts;
    return GALE_OK;
}

void gx_parts_free(gx_parts *parts) {
    free(parts->parts);
    free(parts->edges);
    *parts = (gx_parts){ .count = 0 };
}

const gx_part *gx_parts_find(const gx_parts *parts, gale_str name) {
    for (uint32_t i = 0; i < parts->count; i++)
        if (gx_str_is(name, parts->parts[i].name)) return &parts->parts[i];
    return NULL;
}

const gx_part *gx_parts_of_task(const gx_parts *parts, uint32_t task) {
    for (uint32_t i = 0; i < parts->count; i++)
        if (task - parts->parts[i].first_task < parts->parts[i].task_count) return &parts->parts[i];
    return NULL;
}
