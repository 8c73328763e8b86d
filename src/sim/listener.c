#include "sim/listener.h"

#include "sim/bolt.h"

static gx_sim_heard *heard_by(void *user, const gale_context *context) {
    const gx_sim_component *component = user;
    return &component->sim->tasks[context->task]->heard;
}

static void hear_emit(void *user, const gale_context *context, uint32_t stream, const gale_value *values, size_t count,
                      uint32_t deliveries) {
    (void)stream, (void)values, (void)count, (void)deliveries;
    heard_by(user, context)->emitted++;
}

static void hear_execute(void *user, const gale_context *context, const gale_tuple *tuple, int returned) {
    const gx_sim_component *component = user;
    heard_by(user, context)->executed++;
    if (!component->built->is_spout) gx_sim_bolt_executed(component->sim->tasks[context->task], tuple, returned);
}

static void hear_ack(void *user, const gale_context *context, uint64_t id) {
    (void)id;
    heard_by(user, context)->acked++;
}

static void hear_fail(void *user, const gale_context *context, uint64_t id, const gale_failure *failure) {
    const gx_sim_component *component = user;
    (void)id;
    if (!component->built->is_spout && (failure->task != context->task || !failure->text))
        gx_oracle_violated(&component->sim->oracle, "a hook of task %u heard of a failure at task %u", context->task,
                           failure->task);
    heard_by(user, context)->failed++;
}

gale_hook gx_sim_listener_hook(gx_sim_component *component) {
    return (gale_hook){ .size = sizeof(gale_hook),
                        .user = component,
                        .emit = hear_emit,
                        .execute = hear_execute,
                        .ack = hear_ack,
                        .fail = hear_fail };
}

static void check(const gx_sim_task *task, const char *what, uint64_t heard, uint64_t counted) {
    if (heard != counted)
        gx_oracle_violated(&task->sim->oracle, "a hook of task %u heard of %llu tuples %s, and there were %llu",
                           task->id, (unsigned long long)heard, what, (unsigned long long)counted);
}

void gx_sim_listener_end(gx_sim *sim) {
    for (uint32_t t = 1; sim->rarities.listens && t <= sim->oracle.tasks; t++) {
        const gx_sim_task *task = sim->tasks[t];
        if (!task || task->component->built->is_spout) continue;
        const gx_task *of = gx_sim_engine_task(task);
        const gx_task_counters *counters = &of->counters;
        check(task, "executed", task->heard.executed, gx_task_executed(of) + gx_load_relaxed(&counters->ticks));
        check(task, "acked", task->heard.acked, gx_task_acked(of));
        check(task, "failed", task->heard.failed,
              gx_load_relaxed(&counters->failed) + gx_load_relaxed(&counters->rejected));
        check(task, "emitted", task->heard.emitted, task->emitted);
    }
}
