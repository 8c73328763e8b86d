#include "serve/healthy.h"

#include <stdarg.h>
#include <stdio.h>

/* So many intervals without a checkpoint, and at least so long, are late: one that is big or waits for a slow call takes its time. */
enum { LATE_INTERVALS = 10, LATE_SECONDS = 30 };

GALE_PRINTF(4, 5)
static void add(gx_healthy *healthy, const char *component, int64_t since, const char *format, ...) {
    uint32_t at = healthy->count++;
    if (at >= GX_HEALTHY_PROBLEMS) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(healthy->problems[at].text, sizeof healthy->problems[at].text, format, arguments);
    va_end(arguments);
    healthy->problems[at].since = since;
    healthy->problems[at].component = component;
}

static void look_at_phase(const gx_snapshot *now, gx_healthy *healthy) {
    if (now->run.phase == GALE_PHASE_RUNNING) return;
    healthy->ready = false;
    if (now->run.phase >= GALE_PHASE_CLOSING) healthy->live = false;
    add(healthy, NULL, -1, "the topology is %s, and not running", gale_phase_name(now->run.phase));
}

/* The runtime's clock is the machine's: gale run gives it no other. */
static void look_at_tasks(const gx_parts *parts, const gx_snapshot *now, gx_healthy *healthy) {
    for (uint32_t i = 0; i < now->unwell_count; i++) {
        const gale_unwell *one = &now->unwell[i];
        const gx_part *part = gx_parts_of_task(parts, one->task);
        healthy->ready = false;
        add(healthy, one->component, now->time - one->since, "%s[%u] is %s: %s", one->component,
            part ? one->task - part->first_task : 0, one->open ? "unhealthy" : "not open", one->text);
    }
}

bool gx_healthy_may_block(const gx_part *part) {
    return part && part->built && part->built->config && gale_config_bool(part->built->config, "gale.blocking", false);
}

uint32_t gx_healthy_stuck(const gx_parts *parts, const gx_snapshot *now, uint32_t executor, int64_t *ret_since) {
    uint32_t task = now->executors[executor].in_call;
    *ret_since = gx_snapshot_in_call(now, executor);
    if (*ret_since <= GX_HEALTHY_STUCK * GALE_SECOND || gx_healthy_may_block(gx_parts_of_task(parts, task))) return 0;
    return task;
}

/* While it opens, too: what opens slowly says "not now" and is asked again. */
static void look_at_calls(const gx_parts *parts, const gx_snapshot *now, gx_healthy *healthy) {
    for (uint32_t e = 0; e < now->executor_count; e++) {
        int64_t since;
        uint32_t task = gx_healthy_stuck(parts, now, e, &since);
        const gx_part *part = gx_parts_of_task(parts, task);
        if (!part) continue;
        healthy->live = healthy->ready = false;
        add(healthy, part->name, since, "%s[%u] has been in one call for %.0f s: all tasks of executor %u wait for it",
            part->name, task - part->first_task, (double)since / 1e9, e);
    }
}

static void look_at_checkpoints(const gx_snapshot *now, int64_t interval, gx_healthy *healthy) {
    int64_t bound = interval * LATE_INTERVALS, age = now->wall - now->checkpoint.wall;
    if (bound < LATE_SECONDS * GALE_SECOND) bound = LATE_SECONDS * GALE_SECOND;
    if (!now->durable || now->run.phase != GALE_PHASE_RUNNING) return;
    if (!now->checkpoint.count) age = now->run.elapsed;
    if (age <= bound) return;
    healthy->live = healthy->ready = false;
    add(healthy, NULL, age, "no checkpoint for %.0f s; one is due every %.1f s", (double)age / 1e9,
        (double)interval / 1e9);
}

static void look_at_pause(gx_healthy *healthy) {
    healthy->ready = false;
    add(healthy, NULL, -1, "spouts were told to pause; gale activate lets them go on");
}

void gx_healthy_look(const gx_parts *parts, const gx_snapshot *now, int64_t interval, bool paused,
                     gx_healthy *ret_healthy) {
    ret_healthy->live = ret_healthy->ready = true;
    ret_healthy->count = 0;
    look_at_phase(now, ret_healthy);
    look_at_calls(parts, now, ret_healthy);
    look_at_tasks(parts, now, ret_healthy);
    look_at_checkpoints(now, interval, ret_healthy);
    ret_healthy->well = !ret_healthy->count;
    if (paused) look_at_pause(ret_healthy);
}
