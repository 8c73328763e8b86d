#include "engine/flow.h"

bool gx_flow_gated(const gx_flow *flow, const gx_plan_task *task) {
    for (uint32_t i = 0; i < task->gate_count; i++)
        if (gx_load_relaxed(&flow->congested[task->gates[i]])) return true;
    return false;
}
