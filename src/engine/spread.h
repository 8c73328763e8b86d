/* The plain path (engine/plain.h) of a tuple that goes to several tasks: several consumers, or an all grouping. What is
 * in its way is the same, and engine/emit.h takes over with the targets that were chosen.
 *
 * What:    the body is written once, to the scratch, targets are chosen, and room is made sure of in every queue; then
 *          nothing can fail, and each target is given a record with a copy of the body and an edge of its own.
 * Threads: the executor's own. */
#ifndef GX_ENGINE_SPREAD_H
#define GX_ENGINE_SPREAD_H

#include "engine/executor.h"

typedef struct gx_spread {
    gx_stream_routes *routes;
    uint32_t count; /* of the targets in the scratch; 0: they were not chosen */
    uint32_t roots; /* 0 or 1 */
    uint32_t length;
    size_t body_size;
} gx_spread;

/* False: it is not plain; at the most `count` was set, and the targets chosen. */
bool gx_spread_prepare(gx_executor *ex, gx_stream_routes *routes, const gale_value *values, size_t count,
                       uint32_t roots, gx_spread *ret_spread);

/* With the root of its tree, if it has one. Returns the sum of the edges that were drawn. */
uint64_t gx_spread_send(gx_executor *ex, const gx_spread *spread, uint64_t root);

#endif
