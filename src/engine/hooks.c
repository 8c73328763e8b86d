#include "engine/hooks.h"

void gx_hooks_call_prepare(gx_task *task) {
    for (uint32_t i = 0; i < task->hook_count; i++)
        if (task->hooks[i]->prepare) task->hooks[i]->prepare(task->hooks[i]->user, &task->context);
}

void gx_hooks_call_emit(gx_task *task, uint32_t stream, const gale_value *values, size_t count, uint32_t deliveries) {
    for (uint32_t i = 0; i < task->hook_count; i++)
        if (task->hooks[i]->emit)
            task->hooks[i]->emit(task->hooks[i]->user, &task->context, stream, values, count, deliveries);
}

void gx_hooks_call_execute(gx_task *task, const gale_tuple *tuple, int returned) {
    for (uint32_t i = 0; i < task->hook_count; i++)
        if (task->hooks[i]->execute) task->hooks[i]->execute(task->hooks[i]->user, &task->context, tuple, returned);
}

void gx_hooks_call_ack(gx_task *task, uint64_t id) {
    for (uint32_t i = 0; i < task->hook_count; i++)
        if (task->hooks[i]->ack) task->hooks[i]->ack(task->hooks[i]->user, &task->context, id);
}

void gx_hooks_call_fail(gx_task *task, uint64_t id, const gale_failure *failure) {
    for (uint32_t i = 0; i < task->hook_count; i++)
        if (task->hooks[i]->fail) task->hooks[i]->fail(task->hooks[i]->user, &task->context, id, failure);
}

void gx_hooks_call_cleanup(gx_task *task) {
    for (uint32_t i = 0; i < task->hook_count; i++)
        if (task->hooks[i]->cleanup) task->hooks[i]->cleanup(task->hooks[i]->user, &task->context);
}
