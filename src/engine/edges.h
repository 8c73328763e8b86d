/* What a bolt's task did with the tuples of each of its inputs (an edge: a component's stream, and who takes it).
 *
 * What:    a batch is of one task, and so of one edge, unless the bolt takes several streams of that component: then it is run
 *          in runs of rows of one stream. What was executed and acked is counted once a run; what is out of the
 *          ordinary, such as a failure or a late ack, one by one.
 * Threads: the task's; the counts may be read by any. */
#ifndef GX_ENGINE_EDGES_H
#define GX_ENGINE_EDGES_H

#include "base/alloc.h"
#include "base/assert.h"
#include "topology/plan.h"

typedef struct gx_edge {
    bool mixed;    /* others come from the same component */
    uint64_t owed; /* executed, and acked by the next flush */
    gx_atomic64 executed;
    gx_atomic64 acked;
    gx_atomic64 failed;
    gx_atomic64 rejected;
    gx_atomic64 expired;
    gx_atomic64 execute_count; /* tuples that samples stand for, and what they took */
    gx_atomic64 execute_ns;
    gx_atomic64 process_count;
    gx_atomic64 process_ns;
} gx_edge;

typedef struct gx_edges {
    const gx_plan *plan;
    const gx_plan_component *of;
    gx_edge *list; /* one an input, and behind them the one of no input */
    uint32_t count;
    uint32_t last_name; /* of the edge that was looked for last; 0: none was */
    gx_edge *last;
} gx_edges;

/* False: no memory. */
bool gx_edges_init(gx_edges *edges, gx_heap *heap, const gx_plan *plan, const gx_plan_component *of);
void gx_edges_fini(gx_edges *edges, gx_heap *heap);

/* By which the tuples of `stream` of task `source` come; the one of no input, if they come by none. */
gx_edge *gx_edges_look(gx_edges *edges, uint16_t source, uint16_t stream);

GX_INLINE gx_edge *gx_edges_find(gx_edges *edges, uint16_t source, uint16_t stream) {
    if (GX_LIKELY(edges->last_name == ((uint32_t)source << 16 | stream))) return edges->last;
    return gx_edges_look(edges, source, stream);
}

/* By all. */
uint64_t gx_edges_executed(const gx_edges *edges);
uint64_t gx_edges_acked(const gx_edges *edges);

#endif
