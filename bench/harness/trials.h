/* The measured program's side of the protocol: a trial for each line that comes in, a line of JSON for each trial. */
#ifndef BENCH_HARNESS_TRIALS_H
#define BENCH_HARNESS_TRIALS_H

#include "harness/latency.h"

/* What one trial found. */
typedef struct bench_trial {
    uint64_t trees;
    uint64_t words; /* 0: this flow has none */
    int64_t nanoseconds;
    bool timed; /* `latency` holds something */
    gx_histogram_reading latency;
} bench_trial;

/* What is measured. `run` works for about so long and tells what it did; it returns only when all is quiet, so that
 * other programs can have the machine. */
typedef struct bench_subject {
    const char *program;
    const char *settings;
    void *user;
    void (*run)(void *user, int64_t nanoseconds, bench_trial *ret_trial);
} bench_subject;

/* To be called first in main: from here on the time to the first tree counts. */
void bench_trials_born(void);

/* To be called when the first tree is complete. */
void bench_trials_first(void);

/* Warms up, and then makes a trial for each line of the standard input, at most as many as the arguments say. */
void bench_trials(const bench_arguments *arguments, const bench_subject *subject);

/* One JSON line, for one trial. */
void bench_trials_print(const bench_arguments *arguments, const bench_subject *subject, const bench_trial *trial);

#endif
