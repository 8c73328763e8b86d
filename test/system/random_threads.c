/* Random topologies on real threads: each run is drawn from a seed, and all that must be true of it is looked at.
 * For the address and the thread sanitizer, in the CI for seconds, by hand for hours.
 *
 * usage: random_threads [--seed N] [--runs N] [--seconds S] [--repeat N] [--verbose]
 *
 *   --seed N      the first run's; the following ones count on from it (default 1)
 *   --runs N      so many of them (default 100)
 *   --seconds S   or as many as fit into so long
 *   --repeat N    the same seed so many times: what is drawn repeats itself, what threads do does not
 *   --verbose     says of each run what it is
 *
 * Ends with a word about all runs; or at the first that does not hold, or does not end, with its seed, what it is, and
 * the command that repeats it. */
#include "system/random_threads/run.h"

#include <gale/clock.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

typedef struct wish {
    uint64_t seed, runs, repeat;
    int64_t seconds;
    bool verbose;
} wish;

static void say_usage(void) {
    fprintf(stderr, "usage: random_threads [--seed N] [--runs N] [--seconds S] [--repeat N] [--verbose]\n");
    exit(2);
}

static uint64_t number(const char *text) {
    char *end;
    uint64_t value = strtoull(text ? text : "", &end, 10);
    if (!text || !*text || *end) say_usage();
    return value;
}

static wish read_wish(char **argv) {
    wish w = { .seed = 1, .runs = 100, .repeat = 1 };
    for (char **at = argv + 1; *at; at++) {
        if (strcmp(*at, "--verbose") == 0)
            w.verbose = true;
        else if (strcmp(*at, "--seed") == 0)
            w.seed = number(*++at);
        else if (strcmp(*at, "--runs") == 0)
            w.runs = number(*++at);
        else if (strcmp(*at, "--seconds") == 0)
            w.seconds = (int64_t)number(*++at), w.runs = UINT64_MAX;
        else if (strcmp(*at, "--repeat") == 0)
            w.repeat = number(*++at), w.runs = 1;
        else
            say_usage();
        if (!*at) say_usage();
    }
    return w;
}

typedef struct totals {
    uint64_t runs, trees, executed;
    int64_t longest;
    uint64_t longest_seed;
} totals;

static void run_one(rt_run *run, const wish *w, uint64_t seed, const char *program, totals *sum) {
    gale_clock clock = gale_clock_monotonic();
    int64_t began = clock.now(clock.user);
    rt_run_once(run, seed, program, w->verbose);
    int64_t took = clock.now(clock.user) - began;
    if (w->verbose) {
        printf("    %.1f ms: %u trees, %lu tuples\n", (double)took / 1e6, atomic_load(&run->truth.accepted),
               atomic_load(&run->truth.executed));
        fflush(stdout);
    }
    sum->runs++;
    sum->trees += atomic_load(&run->truth.accepted);
    sum->executed += atomic_load(&run->truth.executed);
    if (took <= sum->longest) return;
    sum->longest = took;
    sum->longest_seed = seed;
}

/* A sanitizer that finds something ends the process: its report needs the seed, too. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
void __sanitizer_set_death_callback(void (*callback)(void));
static void call_at_death(void) {
    __sanitizer_set_death_callback(rt_truth_say_again);
}
#else
static void call_at_death(void) {}
#endif

int main(int argc, char **argv) {
    static rt_run run;
    wish w = read_wish(argv);
    totals sum = { 0 };
    gale_clock clock = gale_clock_monotonic();
    int64_t began = clock.now(clock.user);
    (void)argc;
    signal(SIGPIPE, SIG_IGN);
    rt_values_init();
    if (!rt_truth_init(&run.truth)) return 1;
    call_at_death();
    rt_watchdog_start();
    for (uint64_t i = 0; i < w.runs; i++) {
        if (w.seconds && clock.now(clock.user) - began >= w.seconds * GALE_SECOND) break;
        for (uint64_t k = 0; k < w.repeat; k++) run_one(&run, &w, w.seed + i, argv[0], &sum);
    }
    rt_truth_fini(&run.truth);
    printf("%" PRIu64 " runs from seed %" PRIu64 " on hold: %" PRIu64 " trees, %" PRIu64
           " tuples, %.1f s; the longest, seed %" PRIu64 ", took %.0f ms\n",
           sum.runs, w.seed, sum.trees, sum.executed, (double)(clock.now(clock.user) - began) / 1e9, sum.longest_seed,
           (double)sum.longest / 1e6);
    return 0;
}
