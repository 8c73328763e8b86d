/* How long trees took, from when they were meant to be sent until they were complete. One histogram a writing thread;
 * another thread turns recording on and off and reads. */
#ifndef BENCH_HARNESS_LATENCY_H
#define BENCH_HARNESS_LATENCY_H

#include "ds/histogram.h"
#include "harness/arguments.h"

typedef struct bench_latency {
    gx_atomic32 on;
    gx_histogram each[BENCH_EXECUTORS_MAX];
} bench_latency;

static inline void bench_latency_add(bench_latency *latency, uint32_t writer, int64_t nanoseconds) {
    if (gx_load_relaxed(&latency->on)) gx_histogram_add(&latency->each[writer], nanoseconds);
}

/* Forgets what was recorded, and records from now on. Nothing may be under way. */
void bench_latency_begin(bench_latency *latency);

/* Records no more; what was recorded goes to `into`. */
void bench_latency_end(bench_latency *latency, gx_histogram_reading *into);

/* Paced load. Tuple i is meant for `start` + i `gap`, whatever became of those before: a pause of the program makes all
 * tuples late that were meant for it, and is not hidden (coordinated omission). */
typedef struct bench_pace {
    int64_t start;
    double gap; /* ns */
    uint64_t sent;
    int64_t now; /* the clock as it was last read */
} bench_pace;

static inline int64_t bench_pace_intended(const bench_pace *pace) {
    return pace->start + (int64_t)((double)pace->sent * pace->gap);
}

#endif
