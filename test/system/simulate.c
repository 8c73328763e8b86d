/* Random topologies under drawn faults, from seed FIRST, RUNS of them: every run must hold, have its roots, and the
 * median run its deliveries. usage: simulate RUNS [FIRST] */
#include "sim/simulator.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROOTS_LEAST = 100, DELIVERIES_MEDIAN = 500, MEDIAN_FROM = 1000 }; /* fewer runs say little of the median */

static int by_size(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

typedef struct sums {
    uint64_t roots, acked, failed, timed_out, rejected, stopped, deliveries, steps, refused, scarce, shed, overflowed,
        repeats, letters;
} sums;

static void add(sums *sum, const gx_simulator_result *r) {
    sum->roots += r->roots;
    sum->acked += r->acked;
    sum->failed += r->failed;
    sum->timed_out += r->timed_out;
    sum->rejected += r->rejected;
    sum->stopped += r->stopped;
    sum->repeats += r->repeats;
    sum->letters += r->letters;
    sum->shed += r->shed;
    sum->overflowed += r->overflowed;
    sum->deliveries += r->deliveries;
    sum->steps += r->steps;
    sum->refused += r->refused;
    sum->scarce += r->failed_allocations > 0;
}

static void print(const sums *sum, uint64_t runs, uint64_t median, const gx_coverage *coverage) {
    printf("%llu runs: %llu roots (%llu acked, %llu failed, %llu timed out, %llu rejected, %llu stopped), %llu "
           "deliveries (median %llu), %llu shed, %llu overflowed; %llu emitted again, %llu dead letters; %llu steps; "
           "in %llu runs allocations failed, %llu could "
           "not begin\n",
           (unsigned long long)runs, (unsigned long long)sum->roots, (unsigned long long)sum->acked,
           (unsigned long long)sum->failed, (unsigned long long)sum->timed_out, (unsigned long long)sum->rejected,
           (unsigned long long)sum->stopped, (unsigned long long)sum->deliveries, (unsigned long long)median,
           (unsigned long long)sum->shed, (unsigned long long)sum->overflowed, (unsigned long long)sum->repeats,
           (unsigned long long)sum->letters, (unsigned long long)sum->steps, (unsigned long long)sum->scarce,
           (unsigned long long)sum->refused);
    gx_buf table = GX_BUF_INIT(NULL);
    gx_coverage_print(coverage, &table);
    if (gx_buf_text(&table)) fputs(gx_buf_text(&table), stdout);
    gx_buf_fini(&table);
}

int main(int argc, char **argv) {
    uint64_t runs = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    gx_simulator_options options = { .draw_faults = true };
    gx_simulator *simulator;
    gale_error error = GALE_ERROR_INIT;
    uint64_t *sizes = calloc(runs ? runs : 1, sizeof *sizes), failures = 0, few = 0;
    if (!sizes || gx_simulator_new(&options, &simulator, &error) < 0) return fprintf(stderr, "%s\n", error.text), 2;
    sums sum = { 0 };
    for (uint64_t i = 0; i < runs; i++) {
        gx_simulator_result result;
        if (gx_simulator_run(simulator, first + i, &result, &error) < 0)
            return fprintf(stderr, "seed %llu: %s\n", (unsigned long long)(first + i), error.text), 2;
        sizes[i] = result.deliveries;
        add(&sum, &result);
        bool too_few = result.holds && !result.refused && !result.cut && result.roots < ROOTS_LEAST;
        few += too_few;
        failures += !result.holds;
        if (!result.holds)
            printf("seed %llu: %s%s\n", (unsigned long long)(first + i), result.text,
                   result.failed_allocations ? " (allocations failed)" : "");
        if (too_few)
            printf("seed %llu: %llu roots\n", (unsigned long long)(first + i), (unsigned long long)result.roots);
    }
    qsort(sizes, runs, sizeof *sizes, by_size);
    uint64_t median = runs ? sizes[runs / 2] : 0;
    print(&sum, runs, median, gx_simulator_coverage(simulator));
    gx_simulator_free(simulator);
    free(sizes);
    if (failures)
        printf("%llu runs do not hold; gale simulate --random --seed N repeats one\n", (unsigned long long)failures);
    return failures || few || (runs >= MEDIAN_FROM && median < DELIVERIES_MEDIAN);
}
