#include "runtime/timeout_warning.h"

#include "base/log.h"

enum { LOOKS_MIN = 3, LOOKS_BAD = 4 };

static const int64_t warning_pause = 60 * GALE_SECOND;

static gx_answers answers_of(const gx_task *task) {
    const gx_task_counters *c = &task->counters;
    uint64_t answered = gx_load_relaxed(&c->acked) + gx_load_relaxed(&c->failed) + gx_load_relaxed(&c->rejected);
    return (gx_answers){ answered, gx_load_relaxed(&c->timed_out) };
}

/* One warning a component and minute, whichever executor comes first. */
static bool may_warn(gx_executor *ex, const gx_task *task) {
    gx_atomic64 *warned = &ex->shared->warned[task->component];
    uint64_t last = gx_load_relaxed(warned);
    if (last && ex->now - (int64_t)(last - 1) < warning_pause) return false;
    return gx_cas_seq(warned, &last, (uint64_t)ex->now + 1);
}

static void warn(gx_executor *ex, const gx_task *task, double rate, double needed) {
    double timeout = (double)ex->shared->plan->timeout / 1e9, bound = rate * timeout / 2;
    gale_log(
        &ex->shared->logger, GALE_LOG_WARN, task->context.component,
        "%llu tuples are pending and %.3g a second are answered: that takes %.3g s, and they time out after %.3g s "
        "(topology.message.timeout.secs); set topology.max.spout.pending to at most %.0f, or a longer timeout",
        (unsigned long long)task->spout.pending, rate, needed, timeout, bound < 1 ? 1 : bound);
}

static void warn_of_none(gx_executor *ex, const gx_task *task, uint64_t late, double seconds) {
    gale_log(&ex->shared->logger, GALE_LOG_WARN, task->context.component,
             "in %.3g s %llu tuples timed out and none was answered: a bolt holds or forgets them, or fewer must be "
             "pending (topology.max.spout.pending), or they need more time (topology.message.timeout.secs)",
             seconds, (unsigned long long)late);
}

static void look(gx_executor *ex, gx_task *task) {
    gx_timeout_warning *f = &task->spout.timeout_warning;
    const gx_answers now = answers_of(task);
    uint32_t newest = f->looks % GX_TIMEOUT_WARNING_LOOKS, oldest = f->looks < GX_TIMEOUT_WARNING_LOOKS ? 0 : newest;
    double seconds = (double)(ex->now - f->times[oldest]) / 1e9, timeout = (double)ex->shared->plan->timeout / 1e9;
    uint64_t answered = now.answered - f->answers[oldest].answered, late = now.timed_out - f->answers[oldest].timed_out;
    f->times[newest] = ex->now;
    f->answers[newest] = now;
    if (++f->looks <= LOOKS_MIN || !(seconds > 0) || (!answered && !late)) return;
    double rate = (double)answered / seconds, needed = answered ? (double)task->spout.pending / rate : 2 * timeout;
    f->bad = needed > timeout ? f->bad + 1 : 0;
    if (f->bad < LOOKS_BAD || !may_warn(ex, task)) return;
    if (answered)
        warn(ex, task, rate, needed);
    else
        warn_of_none(ex, task, late, seconds);
}

void gx_timeout_warning_look(gx_executor *ex) {
    int64_t pause = ex->shared->plan->timeout / GX_TIMEOUT_WARNING_LOOKS;
    ex->timeout_warning_due = ex->now + (pause ? pause : 1);
    for (uint32_t i = 0; i < ex->spout_count; i++)
        if (ex->spouts[i]->spout.active) look(ex, ex->spouts[i]);
}

/* A bound that is reached only when answers take longer than the timeout bounds nothing. */
static void check_bound(const gx_shared *shared, const gx_plan_component *c) {
    double rate = gale_config_f64(c->config, "gale.rate", 0), timeout = (double)shared->plan->timeout / 1e9;
    if (!c->built->is_spout || !(rate > 0) || c->max_pending == UINT64_MAX) return;
    if ((double)c->max_pending / rate <= timeout) return;
    gale_log(
        &shared->logger, GALE_LOG_WARN, c->built->name,
        "at %g tuples a second (gale.rate) it takes %.3g s until %llu are pending (topology.max.spout.pending), and "
        "they time out after %.3g s (topology.message.timeout.secs): the bound cannot hold the spout in time",
        rate, (double)c->max_pending / rate, (unsigned long long)c->max_pending, timeout);
}

static void check_ceiling(const gx_shared *shared) {
    const gx_plan *plan = shared->plan;
    if (!plan->progress)
        gale_log(&shared->logger, GALE_LOG_WARN, NULL,
                 "topology.message.timeout.ceiling.secs has no effect: topology.message.timeout.mode is not progress");
    else if (plan->ceiling < plan->timeout)
        gale_log(
            &shared->logger, GALE_LOG_WARN, NULL,
            "topology.message.timeout.ceiling.secs is %.3g and topology.message.timeout.secs %.3g: trees end at the "
            "ceiling, whatever is acked",
            (double)plan->ceiling / 1e9, (double)plan->timeout / 1e9);
}

void gx_timeout_warning_start(const gx_shared *shared) {
    const gx_plan *plan = shared->plan;
    if (!plan->timeout || !plan->acking) return;
    if (plan->deadline >= plan->timeout)
        gale_log(&shared->logger, GALE_LOG_WARN, NULL,
                 "topology.message.deadline.secs is %.3g and topology.message.timeout.secs %.3g: trees time out before "
                 "their tuples are over the deadline",
                 (double)plan->deadline / 1e9, (double)plan->timeout / 1e9);
    if (plan->ceiling_given) check_ceiling(shared);
    for (uint32_t i = 0; i < plan->component_count; i++) check_bound(shared, &plan->components[i]);
}
