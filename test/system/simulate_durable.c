/* Durable runs that die and go on (sim/lives.h), from seed FIRST, RUNS of them: every run must hold, and lives must have died
 * at every place. usage: simulate_durable RUNS [FIRST] */
#include "sim/lives.h"

#include <stdio.h>
#include <stdlib.h>

enum { EVERY_PLACE_FROM = 300 }; /* runs; fewer may miss one */

typedef struct sums {
    uint64_t lives, deaths, refused, exact, messages, executed, checkpoints, put_off, steps;
} sums;

static void add(sums *sum, const gx_lives_result *r) {
    sum->lives += r->lives;
    sum->deaths += r->deaths;
    sum->refused += r->refused;
    sum->exact += r->exact;
    sum->messages += r->messages;
    sum->executed += r->executed;
    sum->checkpoints += r->checkpoints;
    sum->put_off += r->put_off;
    sum->steps += r->steps;
}

static void print(const sums *sum, uint64_t runs, const gx_death *places) {
    printf("%llu runs (%llu of them exactly once): %llu lives, %llu deaths, %llu messages, %llu tuples executed, %llu "
           "checkpoints, %llu put off, %llu steps; another number of tasks was refused %llu times\n",
           (unsigned long long)runs, (unsigned long long)sum->exact, (unsigned long long)sum->lives,
           (unsigned long long)sum->deaths, (unsigned long long)sum->messages, (unsigned long long)sum->executed,
           (unsigned long long)sum->checkpoints, (unsigned long long)sum->put_off, (unsigned long long)sum->steps,
           (unsigned long long)sum->refused);
    gx_buf table = GX_BUF_INIT(NULL);
    gx_death_print(places, &table);
    if (gx_buf_text(&table)) fputs(gx_buf_text(&table), stdout);
    gx_buf_fini(&table);
}

int main(int argc, char **argv) {
    uint64_t runs = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, failures = 0, missed = 0;
    gx_death places = { .at = 0 };
    sums sum = { 0 };
    for (uint64_t i = 0; i < runs; i++) {
        gx_lives_result result;
        gale_error error = GALE_ERROR_INIT;
        if (gx_lives_run(first + i, NULL, &places, &result, &error) < 0)
            return fprintf(stderr, "seed %llu: %s\n", (unsigned long long)(first + i), error.text), 2;
        add(&sum, &result);
        failures += !result.holds;
        if (!result.holds) printf("seed %llu: %s\n", (unsigned long long)(first + i), result.text);
    }
    print(&sum, runs, &places);
    for (int p = GX_PLACE_STEP; p < GX_PLACE_COUNT; p++) missed += places.deaths[p] == 0;
    if (failures)
        printf("%llu runs do not hold; gale simulate --durable --seed N repeats one\n", (unsigned long long)failures);
    return failures || (runs >= EVERY_PLACE_FROM && missed);
}
