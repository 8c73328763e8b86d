/* What a running topology is made of, numbered: components, their tasks and streams, and the edges between them.
 *
 * What:    components in byte order of their names, as their tasks are numbered; edges by the component that they come from, its
 *          streams, and the name of who takes them: an edge's place is its number wherever it is told. The engine's own
 *          (`__acker`) are among the components, and have no streams and no edges.
 * Threads: made once, then any thread reads. Owner: whoever made it; texts are the topology's.
 */
#ifndef GX_SERVE_PARTS_H
#define GX_SERVE_PARTS_H

#include "topology/builder.h"

#include <gale/runtime.h>

typedef struct gx_part {
    const char *name;
    const gx_component *built; /* NULL: the engine's own */
    bool spout;
    uint32_t first_task, task_count;
    uint32_t first_stream, stream_count; /* in a list of all components' streams; a spout's dead letters are the last */
} gx_part;

typedef struct gx_edge {
    const gx_part *from, *to;
    const gx_subscription *subscription;
    uint32_t stream; /* of `from` */
    uint32_t input;  /* of `to` */
} gx_edge;

typedef struct gx_parts {
    gx_part *parts;
    gx_edge *edges;
    uint32_t count, edge_count, task_count, stream_count;
} gx_parts;

/* GALE_NO_MEMORY. */
GALE_MUST_USE int gx_parts_new(const gale_topology *topology, const gale_runtime *runtime, gx_parts *ret_parts);
void gx_parts_free(gx_parts *parts);

/* NULL when there is none. */
const gx_part *gx_parts_find(const gx_parts *parts, gale_str name);

/* The component that a task is of; NULL: none. */
const gx_part *gx_parts_of_task(const gx_parts *parts, uint32_t task);

/* The name of the component's stream. */
GX_INLINE const char *gx_part_stream(const gx_part *part, uint32_t stream) {
    return part->built->outputs[stream].name;
}

#endif
