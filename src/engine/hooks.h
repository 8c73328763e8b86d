/* Calling hooks (gale/hook.h), and the event log. Free when there are none: one test an event.
 * Threads: the task's executor. */
#ifndef GX_ENGINE_HOOKS_H
#define GX_ENGINE_HOOKS_H

#include "engine/task.h"

/* The sampled event log of a component; frozen, kept until the runtime ends. */
typedef struct gx_events {
    struct gx_events *next;
    void (*on_event)(void *user, const gale_event *event);
    void *user;
    uint64_t below; /* a tuple is logged when a random number is below this */
} gx_events;

void gx_hooks_call_prepare(gx_task *task);
void gx_hooks_call_emit(gx_task *task, uint32_t stream, const gale_value *values, size_t count, uint32_t deliveries);
void gx_hooks_call_execute(gx_task *task, const gale_tuple *tuple, int returned);
void gx_hooks_call_ack(gx_task *task, uint64_t id);
void gx_hooks_call_fail(gx_task *task, uint64_t id, const gale_failure *failure);
void gx_hooks_call_cleanup(gx_task *task);

/* Is the next tuple one of the sample? */
GX_INLINE bool gx_hooks_draw(gx_task *task, const gx_events *events) {
    return events->below == UINT64_MAX || gx_random_next(&task->random) < events->below;
}

/* Logs a tuple. `message_id` NULL: not tracked. */
void gx_hooks_log_event(gx_task *task, const gx_events *events, uint32_t stream, const gale_value *values, size_t count,
                        const uint64_t *message_id);

GX_INLINE bool gx_hooks_any(const gx_task *task) {
    return GX_UNLIKELY(task->hook_count != 0);
}

#endif
