/* The runtime's figures against what components, hooks and the truth have counted. */
#include "system/random_threads/run.h"

#include <inttypes.h>

gale_run_stats rt_figures_read(const rt_run *run) {
    gale_run_stats s = { .size = sizeof s };
    gale_runtime_stats(run->runtime, &s);
    uint64_t answered = s.acked + s.failed + s.timed_out + s.rejected + s.stopped;
    if (s.trees != answered + s.open)
        rt_violated("figures do not balance: %" PRIu64 " trees, %" PRIu64 " acked, %" PRIu64 " failed, %" PRIu64
                    " timed out, %" PRIu64 " rejected, %" PRIu64 " stopped, %" PRIu64 " open",
                    s.trees, s.acked, s.failed, s.timed_out, s.rejected, s.stopped, s.open);
    return s;
}

static void expect(const char *what, const rt_part *part, uint32_t task, uint64_t told, uint64_t wanted) {
    if (told != wanted)
        rt_violated("%s of task %u of '%s': %" PRIu64 ", but it was %" PRIu64, what, task, part->name, told, wanted);
}

/* --- One task --- */

typedef struct emitted {
    uint64_t emits, deliveries;
} emitted;

/* By the streams that it declares; dead letters apart. */
static emitted read_emitted(const rt_run *run, uint32_t task, const rt_part *part) {
    emitted sum = { 0, 0 };
    for (uint32_t i = 0; i < part->stream_count; i++) {
        const char *name;
        uint64_t emits, deliveries;
        if (!gale_runtime_stream_stats(run->runtime, task, i, &name, &emits, &deliveries))
            rt_violated("task %u has no stream %u", task, i);
        sum.emits += emits;
        sum.deliveries += deliveries;
    }
    return sum;
}

/* What remotes and the engine emit for a task is not seen by it. */
static void check_emitted(const rt_run *run, uint32_t task, const rt_part *part, emitted told) {
    const rt_counts *c = &run->counts[task];
    uint64_t remote = atomic_load(&c->remote);
    if (remote || (part->habit == RT_SOURCE && rt_plan_replays(&run->plan))) {
        if (told.emits < c->emits || told.deliveries < c->deliveries)
            rt_violated("task %u has emitted %" PRIu64 " times, more than is told: %" PRIu64, task, c->emits,
                        told.emits);
        return;
    }
    expect("emits", part, task, told.emits, c->emits);
    expect("deliveries", part, task, told.deliveries, c->deliveries);
}

static void check_spout(const rt_run *run, uint32_t task, const rt_part *part, const gale_task_stats *s) {
    const rt_counts *c = &run->counts[task];
    expect("acks", part, task, s->acked, c->acks);
    expect("fails", part, task, s->failed + s->stopped, c->fails);
    expect("timeouts", part, task, s->timed_out, c->timeouts);
    expect("rejections", part, task, s->rejected, c->rejects);
}

static void check_bolt(const rt_run *run, uint32_t task, const rt_part *part, const gale_task_stats *s) {
    const rt_counts *c = &run->counts[task];
    uint64_t answered = s->acked + s->failed + s->rejected + s->forgotten + s->held;
    expect("executed tuples", part, task, s->executed, c->executed + c->letters);
    expect("ticks", part, task, s->ticks, c->ticks);
    if (part->habit != RT_LOOSE || answered > s->executed) expect("answers", part, task, answered, s->executed);
    if (part->habit != RT_LOOSE && s->forgotten) expect("forgotten tuples", part, task, s->forgotten, 0);
}

static void check_hooks(const rt_run *run, uint32_t task, const rt_part *part, const gale_task_stats *s, emitted told) {
    const rt_seen *seen = &run->seen[task];
    const rt_counts *c = &run->counts[task];
    bool spout = part->habit == RT_SOURCE;
    expect("prepare hooks", part, task, seen->prepared, c->opened);
    expect("cleanup hooks", part, task, seen->cleaned, c->closed);
    expect("execute hooks", part, task, seen->executed, c->executed + c->letters + c->ticks);
    expect("emit hooks", part, task, seen->emits, told.emits);
    expect("deliveries seen by hooks", part, task, seen->deliveries, told.deliveries);
    expect("ack hooks", part, task, seen->acks, s->acked);
    expect("fail hooks", part, task, seen->fails,
           s->failed + s->rejected + s->timed_out + s->stopped - (spout ? c->never_trees : 0));
}

static void check_life(const rt_run *run, uint32_t task, const rt_part *part) {
    const rt_counts *c = &run->counts[task];
    expect("closes", part, task, c->closed, c->opened);
    if (c->opened > 1) expect("opens", part, task, c->opened, 1);
    if (run->drained && part->habit != RT_SOURCE) expect("finishes", part, task, c->finished, 1);
}

/* --- All of them --- */

typedef struct sums {
    uint64_t executed, deliveries, gone, limited; /* gone: dropped or expired; dead letters apart */
    rt_counts heard;
} sums;

static void add_task(sums *sum, const rt_run *run, uint32_t task, const rt_part *part, const gale_task_stats *s,
                     emitted told) {
    const rt_counts *c = &run->counts[task];
    sum->executed += s->executed;
    sum->deliveries += told.deliveries;
    sum->heard.acks += c->acks;
    sum->heard.fails += c->fails;
    sum->heard.timeouts += c->timeouts;
    sum->heard.rejects += c->rejects;
    sum->heard.never_trees += c->never_trees;
    for (int i = 0; i <= GALE_REASON_COUNT; i++) sum->heard.by_reason[i] += c->by_reason[i];
    if (part->habit == RT_BURY) {
        sum->heard.letters += c->letters;
        return;
    }
    sum->gone += s->dropped + s->expired;
    sum->limited += s->shed + s->overflowed;
    sum->heard.executed += c->executed;
}

static void check_task(const rt_run *run, uint32_t task, sums *sum) {
    gale_task_stats s = { .size = sizeof s };
    if (!gale_runtime_task_stats(run->runtime, task, &s)) rt_violated("there is no task %u", task);
    if (!run->part_of[task]) return;
    const rt_part *part = &run->plan.parts[run->part_of[task] - 1];
    int hooked = run->plan.hooked;
    emitted told = read_emitted(run, task, part);
    check_life(run, task, part);
    check_emitted(run, task, part, told);
    if (part->habit == RT_SOURCE)
        check_spout(run, task, part, &s);
    else
        check_bolt(run, task, part, &s);
    if (hooked == -2 || hooked == (int)run->part_of[task] - 1) check_hooks(run, task, part, &s, told);
    add_task(sum, run, task, part, &s, told);
}

/* What was delivered was executed, unless it was given free. */
static void check_deliveries(const rt_run *run, const sums *sum) {
    uint64_t there = sum->heard.executed + sum->gone;
    if (there > sum->deliveries)
        rt_violated("%" PRIu64 " tuples were executed or given free, of %" PRIu64, there, sum->deliveries);
    if (run->drained && there + sum->limited < sum->deliveries)
        rt_violated("%" PRIu64 " of %" PRIu64 " tuples were never executed", sum->deliveries - there - sum->limited,
                    sum->deliveries);
}

static bool has_letters(const rt_run *run) {
    for (uint32_t i = 0; i < run->plan.part_count; i++)
        if (run->plan.parts[i].habit == RT_BURY) return true;
    return false;
}

static void expect_sum(const char *what, bool exact, uint64_t told, uint64_t wanted) {
    if (exact ? told != wanted : told < wanted)
        rt_violated("%s in all: %" PRIu64 ", but it was %" PRIu64, what, told, wanted);
}

/* A dead letter that a bolt takes is a tree of which nobody hears. */
static void check_trees(const rt_run *run, const sums *sum) {
    gale_run_stats s = rt_figures_read(run);
    bool exact = !has_letters(run);
    if (s.open) rt_violated("%" PRIu64 " trees are open in a runtime that is closed", s.open);
    expect_sum("executed tuples", true, s.executed, sum->executed);
    expect_sum("trees", exact, s.trees, atomic_load(&run->truth.accepted) - sum->heard.never_trees);
    expect_sum("acked trees", exact, s.acked, sum->heard.acks);
    expect_sum("trees that timed out", exact, s.timed_out, sum->heard.timeouts);
    expect_sum("rejected trees", exact, s.rejected, sum->heard.rejects);
    expect_sum("failed trees", exact, s.failed + s.stopped, sum->heard.fails - sum->heard.never_trees);
    if (run->drained && exact && s.stopped) rt_violated("%" PRIu64 " trees were stopped in a drain", s.stopped);
    if (sum->heard.letters > s.dead_letters * (uint64_t)run->plan.attempts)
        rt_violated("%" PRIu64 " dead letters were executed of %" PRIu64, sum->heard.letters, s.dead_letters);
}

static void check_reasons(const rt_run *run, const sums *sum) {
    for (int i = 0; i <= GALE_REASON_COUNT; i++) {
        int32_t reason = i == GALE_REASON_COUNT ? GALE_REASON_USER : i;
        uint64_t told = gale_runtime_failures(run->runtime, NULL, reason);
        if (run->plan.ackers > 0) told += gale_runtime_failures(run->runtime, "__acker", reason);
        for (uint32_t p = 0; p < run->plan.part_count; p++)
            told += gale_runtime_failures(run->runtime, run->plan.parts[p].name, reason);
        expect_sum(gale_reason_name(reason), true, told, sum->heard.by_reason[i]);
    }
}

/* A line for each dead letter that is not lost. */
static void check_file(const rt_run *run) {
    gale_run_stats s = rt_figures_read(run);
    uint64_t lines = 0;
    int byte;
    FILE *file = fopen(run->letters_path, "r");
    while (file && (byte = getc(file)) != EOF) lines += byte == '\n';
    if (file) fclose(file);
    if (lines > s.dead_letters || lines + s.dead_letters_lost < s.dead_letters)
        rt_violated("%" PRIu64 " dead letters, %" PRIu64 " lost, and %" PRIu64 " lines of them", s.dead_letters,
                    s.dead_letters_lost, lines);
}

void rt_figures_check(rt_run *run) {
    sums sum = { 0 };
    for (uint32_t task = 1; task <= gale_runtime_task_count(run->runtime); task++) check_task(run, task, &sum);
    check_deliveries(run, &sum);
    check_trees(run, &sum);
    check_reasons(run, &sum);
    if (run->plan.letters_file) check_file(run);
}
