#include "engine/hooks.h"

#include "base/os/time.h"

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

void gx_hooks_log_event(gx_task *task, const gx_events *events, uint32_t stream, const gale_value *values, size_t count,
                        const uint64_t *message_id) {
    gale_event event = { .size = sizeof event,
                         .when = gx_os_wall(),
                         .component = task->context.component,
                         .stream = task->plan->schema.streams[stream].name,
                         .task = task->id,
                         .tracked = message_id != NULL,
                         .message_id = message_id ? *message_id : 0,
                         .values = values,
                         .count = count };
    events->on_event(events->user, &event);
}
