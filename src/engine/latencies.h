/* How long what a component does takes: its histograms on one executor, of the kinds that it has. A spout's trees until their
 * ack, all of them; of a bolt a sample of its calls, each standing for those since the one before.
 * Threads: the executor writes, any thread reads. Owner: the executor. */
#ifndef GX_ENGINE_LATENCIES_H
#define GX_ENGINE_LATENCIES_H

#include "base/alloc.h"
#include "ds/histogram.h"

#include <gale/runtime.h>

typedef struct gx_latencies {
    gx_histogram *of[GALE_LATENCY_COUNT]; /* NULL: the component has no such */
} gx_latencies;

/* False: no memory; what was made is to be ended. */
bool gx_latencies_init(gx_latencies *latencies, gx_heap *heap, bool spout);
void gx_latencies_fini(gx_latencies *latencies, gx_heap *heap);

#endif
