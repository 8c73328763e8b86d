#include "engine/flow.h"

void gx_effort_measure(gx_effort *effort, int64_t nanoseconds, size_t done) {
    int64_t parts = effort->heavy ? 2 : 1;
    effort->heavy = nanoseconds * parts > GX_EFFORT_STEP || nanoseconds * parts > (int64_t)done * GX_EFFORT_EACH;
}

static bool is_congested(const gx_flow *flow, uint16_t task) {
    return gx_load_relaxed(&flow->congested[task]);
}

bool gx_flow_gated(const gx_flow *flow, const gx_plan_task *task) {
    return gx_flow_holder(flow, task, 0) != 0;
}

uint16_t gx_flow_holder(const gx_flow *flow, const gx_plan_task *task, uint16_t last) {
    if (last && is_congested(flow, last)) return last;
    for (uint32_t i = 0; i < task->gate_count; i++)
        if (is_congested(flow, task->gates[i])) return task->gates[i];
    return 0;
}
