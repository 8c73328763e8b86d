/* gale_bench_flow: a flow on gale, measured as the driver asks (harness/arguments.h). Beyond the protocol it takes
 *
 *     --place spread|engine    spread (default): the flow's last bolt is on the last executor; engine: as gale would
 *     --tasks N                tasks of the measured bolts
 *     --spouts N               tasks of the spout
 *     --with NAME              const-id-null with a deadline, hook, events, tap, replay or drop beside it (flow/with.h)
 *     --trees N                so many trees on this thread, and no more: for counting instructions */
#include "base/os/time.h"
#include "flow/with.h"
#include "harness/trials.h"

#include <gale/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const bench_flow *const flows[] = {
    &bench_flow_const_null,     &bench_flow_const_id_null, &bench_flow_word_count, &bench_flow_file_word_count,
    &bench_flow_low_throughput, &bench_flow_back_pressure, &bench_flow_top_words,  &bench_flow_fan_out,
    &bench_flow_diamond,        &bench_flow_keyed_count,   &bench_flow_open_trees,
};

typedef struct bench_run {
    const bench_flow *flow;
    bench_shared shared;
    gale_topology *topology;
    gale_runtime *runtime;
    const bench_with *with; /* or NULL */
    uint64_t seen;          /* by what it is with: of one task */
} bench_run;

static void must(int rc, const gale_error *error) {
    if (rc >= 0) return;
    fprintf(stderr, "gale: %s\n", error->text);
    exit(1);
}

static const bench_flow *find(const bench_arguments *a) {
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++)
        if (strcmp(flows[i]->name, a->flow) == 0) return flows[i];
    bench_arguments_lack(a, "gale");
}

/* --- What has been done so far --- */

static uint64_t executed(const bench_run *run) {
    uint64_t sum = 0;
    for (uint32_t task = 1; task <= gale_runtime_task_count(run->runtime); task++) {
        gale_task_stats stats = { .size = sizeof stats };
        if (gale_runtime_task_stats(run->runtime, task, &stats) && strcmp(stats.component, run->flow->sink) == 0)
            sum += stats.executed - stats.ticks;
    }
    return sum;
}

/* Trees that are complete: acked, or, without acks, what has arrived at the end. */
static uint64_t complete(const bench_run *run) {
    if (!run->shared.arguments->acks) return executed(run) / run->flow->inputs;
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(run->runtime, &stats);
    return stats.acked;
}

static bool quiet(const bench_run *run, uint64_t *seen) {
    uint64_t before = *seen;
    *seen = executed(run);
    if (!run->shared.arguments->acks) return *seen == before;
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(run->runtime, &stats);
    return stats.open == 0 || *seen == before; /* a bolt may hold some for ever */
}

static void pass(const bench_run *run, int64_t nanoseconds) {
    gale_error error = GALE_ERROR_INIT;
    int rc = gale_runtime_wait(run->runtime, nanoseconds, &error);
    if (rc == GALE_TIMED_OUT) return;
    fprintf(stderr, "gale: the run ended by itself: %s\n", rc < 0 ? error.text : "drained");
    exit(1);
}

static void settle(const bench_run *run) {
    uint64_t seen = UINT64_MAX;
    while (!quiet(run, &seen)) pass(run, 5 * GALE_MILLISECOND);
}

/* --- A trial --- */

enum { SPINS = 20000 };

/* Latency is measured awake, but where it is that of a topology that parks. */
static bool spins(const bench_run *run) {
    return bench_arguments_timed(run->shared.arguments) && run->flow != &bench_flow_low_throughput;
}

static void make_trial(void *user, int64_t nanoseconds, bench_trial *ret_trial) {
    bench_run *run = user;
    gale_runtime_activate(run->runtime);
    pass(run, nanoseconds / 8); /* caches were others' meanwhile */
    bench_latency_begin(&run->shared.latency);
    uint64_t before = complete(run);
    int64_t from = gx_os_monotonic();
    pass(run, nanoseconds);
    ret_trial->trees = complete(run) - before;
    ret_trial->nanoseconds = gx_os_monotonic() - from;
    bench_latency_end(&run->shared.latency, &ret_trial->latency);
    ret_trial->words = ret_trial->trees * run->flow->words;
    ret_trial->timed = ret_trial->latency.count > 0;
    gale_runtime_deactivate(run->runtime);
    settle(run);
}

static void make(bench_run *run, const gale_clock *clock) {
    const bench_arguments *a = run->shared.arguments;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_error error = GALE_ERROR_INIT;
    uint32_t pending = run->flow == &bench_flow_open_trees ? 0 : a->pending ? a->pending : run->flow->pending;
    run->topology = gale_topology_new("bench");
    if (!a->acks) gale_topology_set(run->topology, NULL, "topology.acker.executors", gale_i64(0));
    if (pending) gale_topology_set(run->topology, NULL, "topology.max.spout.pending", gale_i64(pending));
    run->flow->build(run->topology, &run->shared);
    if (a->spread && a->executors > 1 && run->flow->last)
        gale_topology_set(run->topology, run->flow->last, "gale.executor", gale_i64(a->executors - 1));
    if (run->with) run->with->build(run->topology, &run->seen);
    options.executors = a->executors;
    options.clock = clock;
    if (spins(run)) options.spins = SPINS;
    must(gale_runtime_new(run->topology, &options, &run->runtime, &error), &error);
    if (run->with && run->with->begin) run->with->begin(run->runtime, &run->seen);
}

static void end(bench_run *run) {
    gale_error error = GALE_ERROR_INIT;
    must(gale_runtime_free(run->runtime, 30 * GALE_SECOND, &error), &error);
    gale_topology_free(run->topology);
}

static const char *settings(const bench_run *run) {
    static char text[400];
    const bench_arguments *a = run->shared.arguments;
    const char *place = a->executors == 1              ? ""
                        : a->spread && run->flow->last ? ", last bolt on the last executor"
                                                       : ", placed by the engine";
    char pending[40] = "no limit";
    if (a->pending) snprintf(pending, sizeof pending, "%u", a->pending);
    const char *more = run->with ? run->with->settings : run->flow->settings;
    snprintf(text, sizeof text, "%s; max spout pending: %s%s%s%s%s", a->acks ? "acks by local ledger" : "no acks",
             pending, place, spins(run) ? ", 20000 spins" : "", *more ? "; " : "", more);
    return text;
}

static void run_trials(bench_run *run, const bench_subject *subject) {
    gale_error error = GALE_ERROR_INIT;
    make(run, NULL);
    must(gale_runtime_start(run->runtime, &error), &error);
    while (complete(run) == 0) pass(run, 20 * GALE_MICROSECOND);
    bench_trials_first();
    bench_trials(run->shared.arguments, subject);
    end(run);
}

/* Every reading is a microsecond later: the machine's clock would say that all is slow, where instructions are counted, and
 * what is slow goes other ways. */
static int64_t next_microsecond(void *user) {
    int64_t *now = user;
    return *now += GALE_MICROSECOND;
}

/* What is counted must have been there, and must have lost nothing. */
static void check_with(const bench_run *run, uint64_t trees) {
    gale_run_stats stats = { .size = sizeof stats };
    uint64_t lost = 0;
    gale_runtime_stats(run->runtime, &stats);
    for (uint32_t task = 1; task <= gale_runtime_task_count(run->runtime); task++) {
        gale_task_stats of = { .size = sizeof of };
        if (gale_runtime_task_stats(run->runtime, task, &of)) lost += of.dropped + of.expired + of.failed;
    }
    if (!lost && !stats.replayed && (!run->with->worked || run->with->worked(run->seen, trees))) return;
    fprintf(stderr, "gale: with %s: %llu lost, %llu replayed, %llu seen of %llu trees\n", run->with->name,
            (unsigned long long)lost, (unsigned long long)stats.replayed, (unsigned long long)run->seen,
            (unsigned long long)trees);
    exit(1);
}

/* All on this thread: what callgrind counts is then the flow's, and nobody's waiting. */
static void run_counted(bench_run *run, const bench_subject *subject) {
    static bench_trial trial;
    int64_t now = 0;
    gale_clock clock = { .size = sizeof clock, .now = next_microsecond, .user = &now };
    make(run, &clock);
    int64_t from = gx_os_monotonic();
    /* What has arrived, not what is acked, and not each step: reading figures would cost more than the step. */
    for (uint64_t wanted = run->shared.arguments->trees, seen = 0, steps = 1; seen < wanted;) {
        for (uint64_t i = 0; i < steps; i++)
            if (gale_runtime_step(run->runtime) < 0) exit(1);
        uint64_t before = seen;
        seen = executed(run) / run->flow->inputs;
        uint64_t pace = (seen - before) / steps, left = seen < wanted ? wanted - seen : 0;
        steps = pace && left / pace > 2 ? left / pace / 2 : 1;
    }
    trial.trees = complete(run);
    trial.words = trial.trees * run->flow->words;
    trial.nanoseconds = gx_os_monotonic() - from;
    if (run->with) check_with(run, trial.trees);
    bench_trials_print(run->shared.arguments, subject, &trial);
    gale_runtime_stop(run->runtime);
    while (gale_runtime_step(run->runtime) >= 0) continue;
    end(run);
}

int main(int argc, char **argv) {
    bench_trials_born();
    bench_arguments arguments = bench_arguments_read(argc, argv);
    static bench_run run;
    run.flow = find(&arguments);
    run.shared.arguments = &arguments;
    run.shared.rate = arguments.rate;
    run.shared.at = argv[0];
    run.with = bench_with_find(&arguments);
    if (arguments.rate > 0 && run.flow == &bench_flow_file_word_count) bench_arguments_lack(&arguments, "gale");
    bench_subject subject = { "gale", settings(&run), &run, make_trial };
    if (arguments.trees)
        run_counted(&run, &subject);
    else
        run_trials(&run, &subject);
    return 0;
}
