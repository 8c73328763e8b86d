/* A run that does not end is ended here, with everything that can be said of it. */
#include "system/random_threads/run.h"

#include <gale/clock.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#if defined(__SANITIZE_THREAD__)
enum { PATIENCE = 120 };
#elif defined(__SANITIZE_ADDRESS__)
enum { PATIENCE = 60 };
#else
enum { PATIENCE = 30 }; /* seconds in which nothing is executed or answered; a machine may be busy with others */
#endif
enum { PATIENCE_IN_ALL = 10 * PATIENCE };

static struct {
    pthread_mutex_t lock;
    rt_run *run;
    const char *what;
    int64_t began, since;
    uint64_t progress; /* as of `since` */
} watched = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int64_t now(void) {
    gale_clock clock = gale_clock_monotonic();
    return clock.now(clock.user);
}

void rt_watchdog_expect(rt_run *run, const char *what) {
    pthread_mutex_lock(&watched.lock);
    watched.run = run;
    watched.what = what;
    watched.began = watched.since = now();
    pthread_mutex_unlock(&watched.lock);
}

/* --- What can be said --- */

static void say_tasks(const gale_runtime *runtime) {
    gale_task_stats s = { .size = sizeof s };
    for (uint32_t task = 1; gale_runtime_task_stats(runtime, task, &s); task++)
        fprintf(stderr,
                "    task %2u %-10s on executor %u: %" PRIu64 " executed, %" PRIu64 " emitted, held %" PRIu64
                ", queued %" PRIu64 " bytes%s%s, held by %u, ticks %" PRIu64 ", errors %" PRIu64 "\n",
                task, s.component, s.executor, s.executed, s.emitted, s.held, s.queued_bytes,
                s.congested ? ", congested" : "", s.done ? ", done" : "", s.held_by, s.ticks, s.errors);
}

static void say_open_trees(gale_runtime *runtime) {
    gale_open_tree trees[20];
    trees[0].size = sizeof *trees;
    int count = gale_runtime_open_trees(runtime, trees, 20, GALE_SECOND);
    fprintf(stderr, "    %d open trees are told:\n", count);
    for (int i = 0; i < count; i++)
        fprintf(stderr, "    %s (task %u) message %" PRIu64 ", %" PRId64 " ms old: %s\n", trees[i].spout,
                trees[i].spout_task, trees[i].message_id, trees[i].age / GALE_MILLISECOND, trees[i].text);
}

static void say_runtime(rt_run *run) {
    gale_run_stats s = { .size = sizeof s };
    if (!run->runtime) return;
    gale_runtime_stats(run->runtime, &s);
    fprintf(stderr, "    phase %s: %" PRIu64 " trees, %" PRIu64 " open, %" PRIu64 " executed, %u finishes begun\n",
            gale_phase_name(s.phase), s.trees, s.open, s.executed, atomic_load(&run->finishes));
    say_tasks(run->runtime);
    if (!run->plan.by_steps) say_open_trees(run->runtime);
}

static void say_all(rt_run *run, const char *what) {
    uint32_t first = 0, unanswered = rt_trees_unanswered(&run->truth, 0, &first);
    fprintf(stderr, "seed %" PRIu64 " hangs: %s\n", run->plan.seed, what);
    rt_truth_say_again();
    fprintf(stderr, "    %u accepted trees are not answered, the first is %u; %lu executed; %u tuples are handed out\n",
            unanswered, first, atomic_load(&run->truth.executed), run->handed_count);
    say_runtime(run);
    fflush(stderr);
    abort();
}

/* With the lock. */
static bool is_late(void) {
    int64_t time = now();
    const rt_truth *truth = &watched.run->truth;
    uint64_t progress = atomic_load(&truth->executed) + atomic_load(&truth->answered);
    if (progress != watched.progress) watched.since = time;
    watched.progress = progress;
    return time - watched.since > PATIENCE * GALE_SECOND || time - watched.began > PATIENCE_IN_ALL * GALE_SECOND;
}

static void *watch(void *user) {
    struct timespec second = { 1, 0 };
    (void)user;
    for (;;) {
        nanosleep(&second, NULL);
        pthread_mutex_lock(&watched.lock);
        rt_run *run = watched.run;
        const char *what = watched.what;
        bool late = what && is_late();
        pthread_mutex_unlock(&watched.lock);
        if (late) say_all(run, what);
    }
    return NULL;
}

void rt_watchdog_start(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch, NULL) != 0) rt_violated("there is no thread for the watchdog");
    pthread_detach(thread);
}
