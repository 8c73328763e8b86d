#include "runtime/drain_watch.h"

#include "base/log.h"
#include "engine/health.h"
#include "runtime/drain_turn.h"

#include <stdarg.h>
#include <stdio.h>

static const int64_t say_first = 600 * GALE_MILLISECOND, say_pause_max = 32 * GALE_SECOND;

/* A bolt that holds tuples, and is healthy, waits for others. So long that is nothing to warn of. */
static const int64_t hold_patience = 4 * GALE_SECOND;

/* --- Is it draining, and does it get on? --- */

static bool spouts_are_done(const gx_shared *shared) {
    for (uint32_t t = 1; t <= shared->plan->task_count; t++)
        if (shared->tasks[t]->is_spout && !gx_load_relaxed(&shared->tasks[t]->done_seen)) return false;
    return true;
}

bool gx_drain_is_watched(gx_shared *shared) {
    int32_t phase = gx_phase(shared);
    return phase == GALE_PHASE_DRAINING || phase == GALE_PHASE_FINISHING ||
           (phase == GALE_PHASE_RUNNING && shared->until_drained && spouts_are_done(shared));
}

/* A number that is another one after progress. */
static uint64_t read_progress(gx_shared *shared) {
    return (uint64_t)gx_phase(shared) + gx_load_relaxed(&shared->finish_rank) + gx_drain_progress(shared);
}

/* --- What it waits for --- */

typedef struct finding {
    const char *component; /* the first one that was named */
    bool holds;            /* something is held */
    bool ails;             /* something else is wrong */
    size_t size;
    char text[600];
} finding;

GALE_PRINTF(3, 4) static void add(finding *f, const gx_task *task, const char *format, ...) {
    if (f->size + 1 >= sizeof f->text) return;
    va_list arguments;
    va_start(arguments, format);
    if (f->size) f->size += (size_t)snprintf(f->text + f->size, sizeof f->text - f->size, "; ");
    if (f->size < sizeof f->text) {
        int size = vsnprintf(f->text + f->size, sizeof f->text - f->size, format, arguments);
        f->size += size > 0 ? (size_t)size : 0;
    }
    va_end(arguments);
    if (!f->component && task) f->component = task->context.component;
    f->ails = true;
}

static void look_at_calls(const gx_shared *shared, int64_t now, finding *f) {
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        const gx_executor *ex = shared->executors[i];
        const gx_task *task = gx_load_relaxed(&ex->in_call_seen);
        int64_t spent = now - (int64_t)gx_load_relaxed(&ex->in_call_since);
        if (task && spent >= say_first)
            add(f, task, "executor %u is in a call of '%s' (task %u) for %.1f s", i, task->context.component, task->id,
                (double)spent / 1e9);
    }
}

static void look_at_held(const gx_task *task, finding *f) {
    unsigned long long held = gx_load_relaxed(&task->counters.held);
    bool ails = f->ails;
    if (held)
        add(f, task, "'%s' (task %u) holds %llu tuple%s, not answered yet", task->context.component, task->id, held,
            held == 1 ? "" : "s");
    f->holds |= held > 0;
    f->ails = ails;
}

static void look_at_queue(const gx_shared *shared, const gx_task *task, finding *f) {
    unsigned long long queued = gx_load_relaxed(&task->queued_seen);
    uint16_t by = queued ? gx_flow_holder(&shared->flow, &shared->plan->tasks[task->id], 0) : 0;
    if (by)
        add(f, task, "%llu bytes wait for '%s' (task %u), which may not run while '%s' (task %u) is congested", queued,
            task->context.component, task->id, shared->tasks[by]->context.component, by);
}

static void look_at_forgotten(const gx_task *task, finding *f) {
    unsigned long long forgotten = gx_load_relaxed(&task->counters.forgotten);
    if (forgotten)
        add(f, task, "'%s' (task %u) forgot %llu tuple%s: execute returned without answering or holding %s",
            task->context.component, task->id, forgotten, forgotten == 1 ? "" : "s", forgotten == 1 ? "it" : "them");
}

/* Who is not open yet, or says that it is not well, says why. */
static void look_at_health(gx_shared *shared, finding *f) {
    enum { MOST = 4 };
    gale_unwell unwell[MOST];
    uint32_t count = gx_health_read(shared, unwell, MOST);
    for (uint32_t i = 0; i < count && i < MOST; i++)
        add(f, shared->tasks[unwell[i].task], "'%s' (task %u) is not %s: %s", unwell[i].component, unwell[i].task,
            unwell[i].open ? "well" : "open", unwell[i].text);
}

static unsigned long long count_open(const gx_shared *shared) {
    unsigned long long open = 0;
    for (uint32_t i = 0; i < shared->executor_count; i++)
        if (shared->executors[i]->has_ledger) open += gx_ledger_read(&shared->executors[i]->ledger).open;
    return open;
}

static void look_at_tasks(const gx_shared *shared, finding *f, unsigned long long open) {
    for (uint32_t t = 1; t <= shared->plan->task_count; t++) look_at_held(shared->tasks[t], f);
    for (uint32_t t = 1; t <= shared->plan->task_count; t++) look_at_queue(shared, shared->tasks[t], f);
    for (uint32_t t = 1; open && t <= shared->plan->task_count; t++) look_at_forgotten(shared->tasks[t], f);
}

/* Who waits for a server keeps renewing the timeouts of what it holds, and a tree that waits for its next attempt has none. */
static const char *open_until(const gx_shared *shared) {
    if (!shared->plan->timeout) return "";
    return ", until acked or failed; none times out while it waits for a server, a command or its next attempt";
}

static void say(gx_shared *shared, int64_t now, int64_t idle) {
    finding f = { 0 };
    unsigned long long open = count_open(shared);
    if (!gx_log_wanted(&shared->logger, GALE_LOG_WARN)) return;
    look_at_calls(shared, now, &f);
    look_at_health(shared, &f);
    look_at_tasks(shared, &f, open);
    const char *owing = gx_load_relaxed(&shared->cut.owing);
    if (owing && !f.size) add(&f, NULL, "'%s' has not committed what it took: its system does not answer", owing);
    bool waits = f.holds && !f.ails && idle < hold_patience;
    if (open) add(&f, NULL, "%llu tree%s open%s", open, open == 1 ? " is" : "s are", open_until(shared));
    gale_log(&shared->logger, waits ? GALE_LOG_INFO : GALE_LOG_WARN, f.component, "the drain has waited for %.1f s: %s",
             (double)idle / 1e9, f.size ? f.text : "an executor is busy, or commands of a remote wait");
}

/* --- When --- */

/* One thread at a time gets a look that is due. */
static bool take_look(gx_drain_pace *pace, int64_t now) {
    uint64_t due = gx_load_relaxed(&pace->look_due);
    return (uint64_t)now >= due && gx_cas_seq(&pace->look_due, &due, (uint64_t)now + GX_DRAIN_WATCH_LOOK);
}

static void begin(gx_drain_pace *pace, uint64_t progress, int64_t now) {
    gx_store_relaxed(&pace->progress, progress);
    gx_store_relaxed(&pace->since, (uint64_t)now);
    gx_store_relaxed(&pace->say_after, (uint64_t)say_first);
}

void gx_drain_watch(gx_shared *shared, int64_t now) {
    gx_drain_pace *pace = &shared->drain_pace;
    if (!take_look(pace, now)) return;
    if (!gx_drain_is_watched(shared)) {
        gx_store_relaxed(&pace->say_after, 0);
        return;
    }
    uint64_t progress = read_progress(shared);
    if (!gx_load_relaxed(&pace->say_after) || progress != gx_load_relaxed(&pace->progress)) {
        begin(pace, progress, now);
        return;
    }
    int64_t idle = now - (int64_t)gx_load_relaxed(&pace->since);
    int64_t say_after = (int64_t)gx_load_relaxed(&pace->say_after);
    if (idle < say_after) return;
    say(shared, now, idle);
    int64_t next = 2 * say_after < say_pause_max ? 2 * say_after : say_after + say_pause_max;
    gx_store_relaxed(&pace->say_after, (uint64_t)(next > idle ? next : idle + say_first));
}
