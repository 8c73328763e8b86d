#include "harness/latency.h"

#include <string.h>

void bench_latency_begin(bench_latency *latency) {
    memset(latency->each, 0, sizeof latency->each);
    gx_store_release(&latency->on, 1); /* R: the zeros come first; a writer only adds */
}

void bench_latency_end(bench_latency *latency, gx_histogram_reading *into) {
    gx_store_relaxed(&latency->on, 0);
    for (uint32_t i = 0; i < BENCH_EXECUTORS_MAX; i++) gx_histogram_read(&latency->each[i], into);
}
