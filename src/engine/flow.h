/* Flow control: who is congested, and who may therefore not run.
 *
 * What:    a task's queue is what waits for it on its executor: in the local queue, in its parked list and in what is
 *          open for it there, in whole batches (gx_batch_weight). Above the high mark the task is congested, below the low
 *          mark no longer. A task may run while none of the tasks that it feeds is congested; batches for one that may
 *          not are parked behind each other. Gates follow the task graph with back edges left out (topology/plan.h), which
 *          has no cycle: the last congested task of any chain feeds none that is congested, so it can run. Rings are
 *          always drained, hence nothing waits for anything but a task that can run.
 *          A spout is a task like others: this is how pressure gets back to the source.
 *          An executor hears of its own marks at once, after the call in which they are passed, and of others' between
 *          batches and between the turns of spouts.
 *          Each executor also says whether its own work is heavy: whether sharing it pays. What shuffle grouping does
 *          with that is in engine/router.h.
 * Bound:   queue of a task <= high mark + the batch that passes it + what was in rings then + the output of one call of
 *          each feeder here, and of one batch's calls, or one burst's, of each feeder elsewhere.
 * Threads: a task's mark has one writer, its executor; every executor reads. `epoch` changes after every change of a
 *          mark. An effort is its executor's alone.
 *
 * Orderings: R1/A1 the epoch's add releases the mark's store; who sees the new epoch sees the mark.
 */
#ifndef GX_ENGINE_FLOW_H
#define GX_ENGINE_FLOW_H

#include "base/alloc.h"
#include "topology/plan.h"

enum {
    GX_FLOW_HIGH = 256 << 10, /* bytes */
    GX_FLOW_LOW = 128 << 10,
};

/* Work is heavy when a step of it takes long (a burst of cheap tuples does not), or each thing that it does: then others
 * had better share it, because to cross to another executor costs a fraction of that. Light again at half, so that work
 * at the border does not flicker. */
enum {
    GX_EFFORT_STEP = 40 * 1000, /* ns */
    GX_EFFORT_EACH = 200,       /* ns */
};

/* What an executor's emits know of its own work. */
typedef struct gx_effort {
    const uint64_t *waiting; /* weight of its local queue */
    bool heavy;              /* never when the caller steps, so that such runs repeat */
} gx_effort;

typedef struct gx_flow {
    alignas(GX_APART) gx_atomic32 epoch;
    alignas(GX_APART) _Atomic(uint8_t) *congested; /* by task */
    gx_effort *efforts;                            /* by executor */
    uint64_t high, low;                            /* the marks: GX_FLOW_HIGH and _LOW, but in the simulator */
} gx_flow;

GX_INLINE uint32_t gx_flow_epoch(gx_flow *flow) {
    return gx_load_acquire(&flow->epoch); /* A1 */
}

GX_INLINE void gx_flow_mark(gx_flow *flow, uint16_t task, bool congested) {
    gx_store_relaxed(&flow->congested[task], congested);
    gx_add_release(&flow->epoch, 1); /* R1 */
}

/* A step in which `done` things were done took `nanoseconds`. */
void gx_effort_measure(gx_effort *effort, int64_t nanoseconds, size_t done);

/* Is any of the tasks that the task's gates name congested? */
bool gx_flow_gated(const gx_flow *flow, const gx_plan_task *task);

/* One that is: `last`, if it still is, else the first. 0: none. */
uint16_t gx_flow_holder(const gx_flow *flow, const gx_plan_task *task, uint16_t last);

#endif
