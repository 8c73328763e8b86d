#include "cli/pulse.h"

#include "engine/executor.h"
#include "runtime/runtime.h"

bool gx_pulse_feel(const gale_runtime *runtime, int64_t bound, gx_pulse *ret_pulse) {
    const gx_shared *shared = &runtime->shared;
    int64_t now = shared->clock.now(shared->clock.user);
    *ret_pulse = (gx_pulse){ .component = NULL };
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        const gx_executor *ex = shared->executors[i];
        const gx_task *task = gx_load_relaxed(&ex->in_call_seen);
        int64_t lasts = now - (int64_t)gx_load_relaxed(&ex->in_call_since);
        if (task && !task->blocks && lasts > ret_pulse->lasts)
            *ret_pulse = (gx_pulse){ i, task->id, task->context.component, lasts };
    }
    return ret_pulse->lasts <= bound;
}
