/* One run: made, started, disturbed, ended as it is drawn, looked through. */
#include "system/random_threads/run.h"

#include <gale/clock.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct crew {
    rt_thread threads[RT_THREADS_MAX];
    uint32_t count;
} crew;

/* --- Threads --- */

static void start_thread(crew *c, rt_run *run, uint32_t number, void *(*body)(void *)) {
    rt_thread *thread = &c->threads[c->count++];
    thread->run = run;
    thread->number = number;
    thread->random = gx_random_new(run->plan.seed, 100 + number);
    if (pthread_create(&thread->id, NULL, body, thread) != 0) rt_violated("there are no more threads");
}

static void join(crew *c) {
    for (uint32_t i = 0; i < c->count; i++) pthread_join(c->threads[i].id, NULL);
    c->count = 0;
}

/* Workers use remotes alone; watchers use the runtime. */
static void start_threads(rt_run *run, crew *workers, crew *watchers) {
    const rt_plan *plan = &run->plan;
    uint32_t number = 0;
    for (uint32_t i = 0; i < plan->emitters; i++) start_thread(workers, run, number++, rt_emitter);
    for (uint32_t i = 0; i < plan->hands; i++) start_thread(workers, run, number++, rt_hand);
    start_thread(workers, run, number++, rt_feeder);
    for (uint32_t i = 0; i < plan->watchers; i++) start_thread(watchers, run, number++, rt_watcher);
}

/* --- Making --- */

static void begin(rt_run *run, uint64_t seed, const char *program) {
    rt_truth truth = run->truth;
    memset(run, 0, sizeof *run);
    run->truth = truth;
    rt_draw(&run->plan, seed);
    rt_truth_begin(&run->truth, &run->plan);
    rt_truth_speaks_of(&run->plan, program);
    run->clock = gale_clock_monotonic();
    run->runtime_clock = rt_clock_begin(&run->told);
    run->allocator = rt_memory_begin(&run->memory, seed);
    pthread_mutex_init(&run->lock, NULL);
    const char *folder = getenv("TMPDIR");
    snprintf(run->letters_path, sizeof run->letters_path, "%.30s/random_threads.%d", folder ? folder : "/tmp",
             (int)getpid());
}

/* False: memory was out. */
static bool make(rt_run *run) {
    const rt_plan *plan = &run->plan;
    gale_error error = GALE_ERROR_INIT;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    if (!rt_build(run) || gale_topology_check(run->topology, &error) < 0)
        rt_violated("the topology is refused: %s", error.text);
    options.allocator = &run->allocator;
    options.clock = &run->runtime_clock;
    options.seed = plan->seed | 1;
    options.executors = plan->executors;
    options.spins = plan->spins;
    options.ring_memory = plan->ring_memory;
    options.queue_limit = plan->queue_limit;
    options.until_drained = plan->end == RT_END_DRAINED;
    options.inactive = plan->inactive;
    if (plan->memory_at_start) atomic_store(&run->memory.refuse_one, plan->memory_one);
    int rc = gale_runtime_new(run->topology, &options, &run->runtime, &error);
    atomic_store(&run->memory.refuse_one, plan->memory_one);
    if (rc < 0 && !(rc == GALE_NO_MEMORY && plan->memory_at_start)) rt_violated("no runtime: %s", error.text);
    return rc >= 0;
}

/* --- Ending --- */

static void nap(int64_t nanoseconds) {
    struct timespec pause = { nanoseconds / GALE_SECOND, nanoseconds % GALE_SECOND };
    nanosleep(&pause, NULL);
}

static bool is_time(const rt_run *run, int64_t began) {
    return rt_now(run) - began >= run->plan.end_after ||
           atomic_load_explicit(&run->truth.executed, memory_order_relaxed) >= run->plan.end_executed;
}

static void drain(rt_run *run) {
    if (run->plan.inactive) rt_truth_stops(&run->truth); /* where nothing is open yet, a drain is a stop */
    gale_runtime_drain(run->runtime);
}

/* What the plan says about the end; not for RT_END_FREE. */
static void end(rt_run *run) {
    switch (run->plan.end) {
    case RT_END_DRAIN: drain(run); break;
    case RT_END_DRAIN_STOP:
        drain(run);
        nap((int64_t)(run->plan.seed % 4) * GALE_MILLISECOND);
        rt_truth_stops(&run->truth);
        gale_runtime_stop(run->runtime);
        break;
    case RT_END_STOP:
        rt_truth_stops(&run->truth);
        gale_runtime_stop(run->runtime);
        break;
    case RT_END_SELF: /* it may never come to it */
        nap(20 * GALE_MILLISECOND);
        drain(run);
        break;
    default: break;
    }
}

/* What gale_runtime_wait may return: whose error it was. */
static void check_outcome(const rt_run *run, int rc, const gale_error *error) {
    bool stopped = atomic_load(&run->stopped_by), finish = atomic_load(&run->finish_error);
    bool open = atomic_load(&run->open_error), memory = run->plan.memory_one;
    bool known = (rc == GALE_IO && open) || (rc == GALE_CLOSED_PIPE && stopped) || (rc == GALE_TOO_LARGE && finish) ||
                 (rc == GALE_NO_MEMORY && memory);
    bool wanted = open || stopped || (finish && !atomic_load(&run->truth.stopping));
    if (rc ? !known : wanted)
        rt_violated("the run ended with %s (%s)", gale_error_name(rc), rc ? error->text : "nothing");
}

/* Was everything done that there was? */
static bool is_drained(const rt_run *run, int rc) {
    if (atomic_load(&run->truth.stopping) || atomic_load(&run->open_error) || rc == GALE_NO_MEMORY) return false;
    gale_run_stats stats = rt_figures_read(run);
    return stats.elapsed > 0;
}

static void outcome(rt_run *run, int rc, const gale_error *error) {
    check_outcome(run, rc, error);
    run->drained = is_drained(run, rc);
}

/* --- On threads of the runtime's --- */

static void start(rt_run *run) {
    gale_error error = GALE_ERROR_INIT;
    rt_watchdog_expect(run, "start");
    int rc = gale_runtime_start(run->runtime, &error);
    bool known = (rc == GALE_IO && atomic_load(&run->open_error)) || (rc == GALE_NO_MEMORY && run->plan.memory_one) ||
                 (rc == GALE_CLOSED_PIPE && atomic_load(&run->stopped_by));
    if (rc < 0 && !known) rt_violated("the start says %s: %s", gale_error_name(rc), error.text);
    if (!run->plan.inactive) return;
    nap((int64_t)(run->plan.seed % 5) * GALE_MILLISECOND);
    if (run->plan.seed % 3 || run->plan.end == RT_END_DRAINED) gale_runtime_activate(run->runtime);
}

static void wait_for(rt_run *run) {
    gale_error error = GALE_ERROR_INIT;
    int64_t patience = run->plan.seed % 2 ? -1 : 2 * GALE_MILLISECOND;
    int rc;
    rt_watchdog_expect(run, "the end");
    do {
        rc = gale_runtime_wait(run->runtime, patience, &error);
    } while (rc == GALE_TIMED_OUT);
    outcome(run, rc, &error);
}

static void run_threads(rt_run *run) {
    int64_t began = rt_now(run);
    rt_watchdog_expect(run, "its time to end");
    while (run->plan.end != RT_END_DRAINED && !is_time(run, began)) nap(100 * GALE_MICROSECOND);
    if (run->plan.end == RT_END_FREE) return;
    end(run);
    wait_for(run);
}

/* --- On this one --- */

static void run_steps(rt_run *run) {
    int64_t began = rt_now(run), done = 0;
    bool ended = false;
    rt_watchdog_expect(run, "the end, in steps");
    for (uint64_t steps = 0; done != GALE_STOPPED; steps++) {
        done = gale_runtime_step(run->runtime);
        if (done < 0 && done != GALE_STOPPED) rt_violated("a step says %s", gale_error_name((int)done));
        if (steps == 20 && run->plan.inactive) gale_runtime_activate(run->runtime);
        if (done == 0 && gale_runtime_next_due(run->runtime) > rt_now(run)) sched_yield();
        if (ended || (steps && !is_time(run, began))) continue;
        ended = true;
        if (run->plan.end == RT_END_FREE) return;
        end(run);
    }
    gale_error error = GALE_ERROR_INIT;
    outcome(run, gale_runtime_wait(run->runtime, 0, &error), &error);
}

/* --- The whole --- */

static void free_runtime(rt_run *run) {
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime = run->runtime;
    rt_watchdog_expect(run, "the free");
    if (gale_runtime_free(runtime, -1, &error) < 0) rt_violated("the runtime cannot be freed: %s", error.text);
    run->runtime = NULL;
}

static void free_rest(rt_run *run) {
    for (uint32_t i = 0; i < run->remote_count; i++) {
        if (gale_remote_ack(run->remotes[i]->face, 1) != GALE_STOPPED)
            rt_violated("a remote outlives its runtime, and is not stopped");
        gale_remote_close(run->remotes[i]->face);
        free(run->remotes[i]);
    }
    gale_topology_free(run->topology);
    if (atomic_load(&run->choosers)) rt_violated("%d groupings were not released", atomic_load(&run->choosers));
    if (atomic_load(&run->memory.blocks))
        rt_violated("%lu blocks of memory (%lu bytes) were not given back", atomic_load(&run->memory.blocks),
                    atomic_load(&run->memory.bytes));
    if (run->plan.letters_file) (void)unlink(run->letters_path);
    pthread_mutex_destroy(&run->lock);
}

static void run_made(rt_run *run) {
    crew workers = { 0 }, watchers = { 0 };
    bool freed_first = run->plan.seed / 2 % 2, started = run->plan.end != RT_END_NEVER;
    if (run->plan.early_threads) start_threads(run, &workers, &watchers);
    if (started && !run->plan.by_steps) start(run);
    if (!run->plan.early_threads) start_threads(run, &workers, &watchers);
    if (started && run->plan.by_steps) run_steps(run);
    if (started && !run->plan.by_steps) run_threads(run);
    rt_truth_stops(&run->truth);
    rt_watchdog_expect(run, "the watchers");
    atomic_store(&run->unwatch, 1);
    join(&watchers);
    bool closed = started && run->plan.end != RT_END_FREE;
    if (!closed) freed_first = true; /* it is what ends the run */
    if (!freed_first) atomic_store(&run->over, 1);
    if (!freed_first) join(&workers);
    if (closed && !freed_first) rt_figures_check(run);
    free_runtime(run);
    rt_watchdog_expect(run, "the workers");
    atomic_store(&run->over, 1);
    join(&workers);
    rt_trees_check(&run->truth);
}

void rt_run_once(rt_run *run, uint64_t seed, const char *program, bool verbose) {
    begin(run, seed, program);
    if (verbose) rt_plan_print(&run->plan, stdout);
    rt_watchdog_expect(run, "the topology");
    if (make(run)) run_made(run);
    free_rest(run);
    rt_watchdog_expect(run, NULL);
}
