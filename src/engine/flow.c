#include "engine/flow.h"

void gx_effort_measure(gx_effort *effort, int64_t nanoseconds, size_t done) {
    int64_t parts = effort->heavy ? 2 : 1;
    effort->heavy = nanoseconds * parts > GX_EFFORT_STEP || nanoseconds * parts > (int64_t)done * GX_EFFORT_EACH;
}

bool gx_flow_gated(const gx_flow *flow, const gx_plan_task *task) {
    for (uint32_t i = 0; i < task->gate_count; i++)
        if (gx_load_relaxed(&flow->congested[task->gates[i]])) return true;
    return false;
}
