/* Calling hooks (gale/hook.h). Free when there are none: one test an event.
 * Threads: the task's executor. */
#ifndef GX_ENGINE_HOOKS_H
#define GX_ENGINE_HOOKS_H

#include "engine/task.h"

void gx_hooks_call_prepare(gx_task *task);
void gx_hooks_call_emit(gx_task *task, uint32_t stream, const gale_value *values, size_t count, uint32_t deliveries);
void gx_hooks_call_execute(gx_task *task, const gale_tuple *tuple, int returned);
void gx_hooks_call_ack(gx_task *task, uint64_t id);
void gx_hooks_call_fail(gx_task *task, uint64_t id, const gale_failure *failure);
void gx_hooks_call_cleanup(gx_task *task);

GX_INLINE bool gx_hooks_any(const gx_task *task) {
    return GX_UNLIKELY(task->hook_count != 0);
}

#endif
