#include "serve/hurts.h"

#include "base/alike.h"
#include "base/str.h"
#include "serve/healthy.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct finding {
    const gx_parts *parts;
    const gx_snapshot *before, *now;
    double nanoseconds; /* between them */
    gx_hurts *hurts;
} finding;

/* Those before it in the list are worse. */
static bool is_worse(const gx_hurt *a, const gx_hurt *b) {
    if (a->level != b->level) return a->level > b->level;
    return a->rank != b->rank ? a->rank < b->rank : a->weight > b->weight;
}

static void insert(gx_hurts *hurts, const gx_hurt *hurt) {
    uint32_t at = hurts->count;
    while (at > 0 && is_worse(hurt, &hurts->list[at - 1])) at--;
    if (at == GX_HURTS_MAX) return;
    uint32_t last = hurts->count < GX_HURTS_MAX ? hurts->count++ : GX_HURTS_MAX - 1;
    for (uint32_t i = last; i > at; i--) hurts->list[i] = hurts->list[i - 1];
    hurts->list[at] = *hurt;
}

/* Effects follow causes. */
enum { CAUSE, ERRORS_OF_BOLT, DEAD_LETTERS, ERRORS_OF_SPOUT };

GALE_PRINTF(3, 0) static void add_list(const finding *f, gx_hurt hurt, const char *format, va_list arguments) {
    vsnprintf(hurt.text, sizeof hurt.text, format, arguments);
    insert(f->hurts, &hurt);
}

GALE_PRINTF(3, 4) static void add(const finding *f, gx_hurt hurt, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_list(f, hurt, format, arguments);
    va_end(arguments);
}

/* A cause, of a time that is not known or in the text. */
GALE_PRINTF(6, 7)
static void add_cause(const finding *f, gx_hurt_level level, double weight, const char *component, uint32_t task,
                      const char *format, ...) {
    gx_hurt hurt = { .level = level, .weight = weight, .component = component, .task = task, .since = -1 };
    va_list arguments;
    va_start(arguments, format);
    add_list(f, hurt, format, arguments);
    va_end(arguments);
}

/* --- Words --------------------------------------------------------------------------------------------------------- */

typedef struct word {
    char text[32];
} word;

static word time_word(double nanoseconds) {
    static const char *const units[] = { "ns", "us", "ms", "s" };
    word w;
    uint32_t unit = 0;
    for (; nanoseconds >= 999.5 && unit < 3; unit++) nanoseconds /= 1000;
    snprintf(w.text, sizeof w.text, "%.*f %s", unit && nanoseconds < 9.95 ? 1 : 0, nanoseconds, units[unit]);
    return w;
}

static word bytes_word(uint64_t bytes) {
    static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
    word w;
    double size = (double)bytes;
    uint32_t unit = 0;
    for (; size >= 1023.5 && unit < 3; unit++) size /= 1024;
    snprintf(w.text, sizeof w.text, "%.0f %s", size, units[unit]);
    return w;
}

/* "count[3]", or "count" where it is the only task. */
static word task_word(const finding *f, uint32_t task) {
    const gx_part *part = gx_parts_of_task(f->parts, task);
    word w = { "flow control" }; /* no task in particular */
    if (part && part->task_count == 1) snprintf(w.text, sizeof w.text, "%.31s", part->name);
    if (part && part->task_count > 1) snprintf(w.text, sizeof w.text, "%.24s[%u]", part->name, task - part->first_task);
    return w;
}

/* --- What is measured ----------------------------------------------------------------------------------------------- */

static const gale_task_stats *task_of(const gx_snapshot *snapshot, uint32_t task) {
    return &snapshot->tasks[task - 1];
}

static uint64_t more(uint64_t before, uint64_t now) {
    return now > before ? now - before : 0;
}

/* ns a call, of what is sampled between the two, or else since the start; negative: nothing is known. */
static double mean_of(const gale_task_stats *before, const gale_task_stats *now) {
    uint64_t samples = more(before->execute_samples, now->execute_samples);
    if (samples) return (double)more(before->execute_nanoseconds, now->execute_nanoseconds) / (double)samples;
    return now->execute_samples ? (double)now->execute_nanoseconds / (double)now->execute_samples : -1;
}

double gx_hurts_busy(const gale_task_stats *before, const gale_task_stats *now, int64_t nanoseconds) {
    double mean = mean_of(before, now);
    double calls = (double)(more(before->executed, now->executed) + more(before->ticks, now->ticks));
    double share = nanoseconds > 0 && mean > 0 ? mean * calls / (double)nanoseconds : 0;
    return share < 1 ? share : 1;
}

double gx_hurts_capacity(const gx_part *part, const gx_snapshot *before, const gx_snapshot *now) {
    double most = 0;
    for (uint32_t task = part->first_task; before && task < part->first_task + part->task_count; task++) {
        double own = gx_hurts_busy(task_of(before, task), task_of(now, task), now->time - before->time);
        if (own > most) most = own;
    }
    return most;
}

uint32_t gx_hurts_holder(const gx_parts *parts, const gx_snapshot *now, const gale_task_stats *held) {
    uint32_t noted = held->hold == GALE_HOLD_FLOW && held->hold_by ? held->hold_by : held->held_mostly_by;
    uint32_t holder = held->held_by ? held->held_by : noted;
    for (uint32_t far = 0; holder && holder <= parts->task_count && far < parts->task_count; far++) {
        uint32_t behind = task_of(now, holder)->held_by;
        if (!behind || behind == holder) break;
        holder = behind;
    }
    return holder;
}

/* --- Sentences ------------------------------------------------------------------------------------------------------ */

/* Who holds it: what a tuple takes there, and what waits. */
static void tell_held(const finding *f, const gale_task_stats *spout, double share) {
    uint32_t holder = gx_hurts_holder(f->parts, f->now, spout);
    word name = task_word(f, spout->task), by = task_word(f, holder);
    char queue[64] = "", cost[64] = "";
    const gale_task_stats *now = holder && holder <= f->parts->task_count ? task_of(f->now, holder) : NULL;
    uint64_t bytes = now ? now->queued_bytes > now->queued_bytes_max ? now->queued_bytes : now->queued_bytes_max : 0;
    double mean = now ? mean_of(task_of(f->before, holder), now) : -1;
    if (mean >= 0) snprintf(cost, sizeof cost, ": %s a tuple", time_word(mean).text);
    if (bytes) snprintf(queue, sizeof queue, "%s queue %s", mean >= 0 ? "," : ":", bytes_word(bytes).text);
    add_cause(f,
              share >= 0.5   ? GX_HURT_BAD
              : share >= 0.1 ? GX_HURT_WARN
                             : GX_HURT_NOTE,
              share, spout->component, holder, "spout %s is held %.0f %% by %s%s%s", name.text, share * 100, by.text,
              cost, queue);
}

static void look_at_spout(const finding *f, const gale_task_stats *before, const gale_task_stats *now) {
    double held = (double)more(before->held_nanoseconds, now->held_nanoseconds) / f->nanoseconds;
    double waited = (double)more(before->pending_nanoseconds, now->pending_nanoseconds) / f->nanoseconds;
    if (held >= 0.01) tell_held(f, now, held < 1 ? held : 1);
    if (waited >= 0.1)
        add_cause(f, waited >= 0.5 ? GX_HURT_WARN : GX_HURT_NOTE, waited < 1 ? waited : 1, now->component, now->task,
                  "spout %s waits for answers %.0f %% of the time: %llu of %llu pending", task_word(f, now->task).text,
                  (waited < 1 ? waited : 1) * 100, (unsigned long long)now->pending_limit,
                  (unsigned long long)now->pending_limit);
}

static void look_at_bolt(const finding *f, const gale_task_stats *before, const gale_task_stats *now) {
    double busy = gx_hurts_busy(before, now, (int64_t)f->nanoseconds);
    if (busy >= 0.8)
        add_cause(f, busy >= 0.95 ? GX_HURT_WARN : GX_HURT_NOTE, busy, now->component, now->task,
                  "%s is busy %.0f %% of the time: %s a tuple", task_word(f, now->task).text, busy * 100,
                  time_word(mean_of(before, now)).text);
}

/* Of a component's tasks together, in the time between the two: the number, `before`, the component, `after`. */
typedef struct loss {
    gx_hurt_level level;
    uint64_t count;
    const char *before, *after;
    uint8_t rank;
} loss;

static void look_at_losses(const finding *f, const gx_part *part) {
    gale_task_stats a = gx_snapshot_sum(f->before, part), b = gx_snapshot_sum(f->now, part);
    const loss losses[] = {
        { GX_HURT_BAD, more(a.shed, b.shed), "of no tree lost at the full queue of", "", CAUSE },
        { GX_HURT_BAD, more(a.overflowed, b.overflowed), "failed at the full queue of", "", CAUSE },
        { GX_HURT_WARN, more(a.errors, b.errors), "errors reported by", "",
          part->spout ? ERRORS_OF_SPOUT : ERRORS_OF_BOLT },
        { GX_HURT_WARN, more(a.expired, b.expired), "over their deadline at", ", not executed", CAUSE },
        { GX_HURT_WARN, more(a.forgotten, b.forgotten), "neither answered nor held by", ": they time out", CAUSE },
        { GX_HURT_WARN, more(a.misused, b.misused), "answers or emits of", " without effect: they came too late",
          CAUSE },
        { GX_HURT_NOTE, more(a.dropped, b.dropped), "dropped at", ", as its inputs say", CAUSE },
    };
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (losses[i].count)
            add(f,
                (gx_hurt){ .level = losses[i].level,
                           .rank = losses[i].rank,
                           .weight = (double)losses[i].count,
                           .component = part->name,
                           .since = -1 },
                "%llu %s %.60s%s, in the last %.0f s", (unsigned long long)losses[i].count, losses[i].before,
                part->name, losses[i].after, f->nanoseconds / 1e9);
}

static void look_at_failures(const finding *f, const gx_part *part) {
    for (int32_t reason = 0; reason < GX_SNAPSHOT_REASONS; reason++) {
        uint64_t count = more(gx_snapshot_failures(f->before, f->parts, part, reason),
                              gx_snapshot_failures(f->now, f->parts, part, reason));
        if (count && reason != GALE_REASON_STOPPED)
            add_cause(f, GX_HURT_WARN, (double)count, part->name, 0,
                      "%llu tree%s failed at %.60s (%s), in the last %.0f s", (unsigned long long)count,
                      gx_plural(count), part->name, gx_snapshot_reason(reason), f->nanoseconds / 1e9);
    }
}

/* --- Without a before ------------------------------------------------------------------------------------------------ */

static bool is_one_problem(const gale_unwell *a, const gale_unwell *b) {
    return strcmp(a->component, b->component) == 0 && a->open == b->open && gx_alike(a->text, b->text);
}

/* How many tasks the problem has; 0: one before it in the list is the same. */
static uint32_t tasks_of_problem(const gx_snapshot *now, uint32_t at) {
    uint32_t tasks = 0;
    for (uint32_t i = 0; i < now->unwell_count; i++) {
        bool same = is_one_problem(&now->unwell[i], &now->unwell[at]);
        if (same && i < at) return 0;
        tasks += same;
    }
    return tasks;
}

static void look_at_unwell(const finding *f) {
    for (uint32_t i = 0; i < f->now->unwell_count; i++) {
        const gale_unwell *one = &f->now->unwell[i];
        const gx_part *part = gx_parts_of_task(f->parts, one->task);
        uint32_t tasks = tasks_of_problem(f->now, i);
        char of[40] = "";
        if (!tasks) continue;
        if (tasks > 1 && part) snprintf(of, sizeof of, " (%u of %u tasks)", tasks, part->task_count);
        gx_hurt hurt = { .level = GX_HURT_BAD,
                         .weight = 1e9,
                         .component = one->component,
                         .task = one->task,
                         .since = f->now->time - one->since };
        add(f, hurt, "%.60s is %s%s: %.150s", tasks > 1 ? one->component : task_word(f, one->task).text,
            one->open ? "unhealthy" : "not open", of, one->text);
    }
}

static bool is_somebody_held(const finding *f) {
    for (uint32_t task = 1; task <= f->parts->task_count; task++)
        if (task_of(f->now, task)->hold == GALE_HOLD_FLOW) return true;
    return false;
}

/* Who said that its calls may block has an executor of its own: it hurts when flow control holds a spout meanwhile. */
static bool may_take_long(const finding *f, const gx_part *part) {
    return gx_healthy_may_block(part) && (part->spout || !is_somebody_held(f));
}

/* A call that does not come back keeps all that its executor has. */
static void look_at_calls(const finding *f) {
    for (uint32_t e = 0; e < f->now->executor_count; e++) {
        const gale_executor_stats *executor = &f->now->executors[e];
        double spent = (double)gx_snapshot_in_call(f->now, e);
        const gx_part *part = executor->in_call ? gx_parts_of_task(f->parts, executor->in_call) : NULL;
        if (!part || spent < GX_HURTS_CALL || may_take_long(f, part)) continue;
        char others[48] = "";
        if (executor->tasks > 1)
            snprintf(others, sizeof others, "; %u task%s of its executor wait", executor->tasks - 1,
                     executor->tasks == 2 ? "" : "s");
        add_cause(f, GX_HURT_BAD, spent, part->name, executor->in_call, "%s has been in one call for %s%s",
                  task_word(f, executor->in_call).text, time_word(spent).text, others);
    }
}

static void look_at_letters(const finding *f) {
    uint64_t lost = more(f->before->run.dead_letters_lost, f->now->run.dead_letters_lost);
    uint64_t made = more(f->before->run.dead_letters, f->now->run.dead_letters);
    if (lost)
        add_cause(f, GX_HURT_BAD, (double)lost, NULL, 0, "%llu dead letter%s lost, in the last %.0f s",
                  (unsigned long long)lost, gx_plural(lost), f->nanoseconds / 1e9);
    if (made)
        add(f, (gx_hurt){ .level = GX_HURT_WARN, .rank = DEAD_LETTERS, .weight = (double)made, .since = -1 },
            "%llu dead letter%s, in the last %.0f s", (unsigned long long)made, gx_plural(made), f->nanoseconds / 1e9);
}

static void look_between(const finding *f) {
    for (uint32_t i = 0; i < f->parts->count; i++) {
        look_at_losses(f, &f->parts->parts[i]);
        look_at_failures(f, &f->parts->parts[i]);
    }
    for (uint32_t task = 1; task <= f->parts->task_count; task++) {
        const gale_task_stats *before = task_of(f->before, task), *now = task_of(f->now, task);
        (now->spout ? look_at_spout : look_at_bolt)(f, before, now);
    }
    look_at_letters(f);
}

void gx_hurts_find(const gx_parts *parts, const gx_snapshot *before, const gx_snapshot *now, gx_hurts *ret_hurts) {
    ret_hurts->count = 0;
    finding f = { .parts = parts, .before = before, .now = now, .hurts = ret_hurts };
    look_at_unwell(&f);
    look_at_calls(&f);
    if (!before || before->time >= now->time) return;
    f.nanoseconds = (double)(now->time - before->time);
    look_between(&f);
}

const char *gx_hurt_level_name(gx_hurt_level level) {
    static const char *const names[] = { "note", "warn", "bad" };
    return names[level];
}
