#include "engine/health.h"

#include "base/alike.h"
#include "base/log.h"
#include "base/utf8.h"

static void log_change(gx_task *task, int64_t since, bool unwell) {
    const gale_logger *logger = task->context.logger;
    const char *name = task->context.component;
    if (unwell)
        gale_log(logger, GALE_LOG_WARN, name, "task %u is not well: %s", task->id, task->health.text);
    else
        gale_log(logger, GALE_LOG_INFO, name, "task %u is well again, after %.1f s", task->id,
                 (double)(task->executor->now - since) / 1e9);
}

static void set(gx_task *task, gx_health_state state, const char *text) {
    gx_health *health = &task->health;
    gx_monitor *monitor = &task->executor->shared->monitor;
    char said[sizeof health->text] = "";
    if (text) gx_utf8_copy(said, sizeof said, text);
    if (health->state == state && strcmp(health->text, said) == 0) return;
    int64_t since = health->since;
    bool same = health->state == state && gx_alike(health->text, said);
    gx_monitor_lock(monitor);
    if (health->state == GX_HEALTH_WELL) health->since = gx_executor_tell_time(task->executor);
    health->state = state;
    memcpy(health->text, said, sizeof said);
    gx_monitor_unlock(monitor);
    if (!same) log_change(task, since, state != GX_HEALTH_WELL);
}

void gx_health_tell(gale_collector *out, const char *text) {
    gx_task *task = (gx_task *)out;
    if (gx_executor_is_elsewhere(task)) return;
    set(task, text ? GX_HEALTH_SAID : GX_HEALTH_WELL, text);
}

void gx_health_unopened(gx_task *task, const char *text) {
    if (text)
        set(task, GX_HEALTH_UNOPENED, text);
    else if (task->health.state == GX_HEALTH_UNOPENED)
        set(task, GX_HEALTH_WELL, NULL);
}

static void fill(const gx_task *task, gale_unwell *ret) {
    *ret = (gale_unwell){ .size = sizeof *ret,
                          .component = task->context.component,
                          .task = task->id,
                          .open = task->health.state != GX_HEALTH_UNOPENED,
                          .since = task->health.since };
    memcpy(ret->text, task->health.text, sizeof task->health.text);
}

uint32_t gx_health_read(gx_shared *shared, gale_unwell *ret_unwell, uint32_t room) {
    uint32_t count = 0;
    gx_monitor_lock(&shared->monitor);
    for (uint32_t id = 1; id <= shared->plan->task_count; id++) {
        const gx_task *task = shared->tasks[id];
        if (task->health.state == GX_HEALTH_WELL) continue;
        if (count < room) fill(task, &ret_unwell[count]);
        count++;
    }
    gx_monitor_unlock(&shared->monitor);
    return count;
}
