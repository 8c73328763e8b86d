/* gale_bench_micro [OPEN]: a line of JSON a figure: {"what": ..., "ns": ...}. OPEN: trees and keys (default: a million). */
#include "micro/micro.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 7, MILLION = 1000000, OPEN_MAX = 10 * MILLION };

volatile uint64_t bench_micro_sink;

void bench_micro_tell(const char *what, double ns) {
    printf("{\"what\":\"%s\",\"ns\":%.2f}\n", what, ns);
    fflush(stdout);
}

double bench_micro_time(void (*body)(void *self), void *self, uint64_t operations) {
    int64_t least = INT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t began = gx_os_monotonic();
        body(self);
        int64_t spent = gx_os_monotonic() - began;
        if (spent < least) least = spent;
    }
    return (double)least / (double)operations;
}

int main(int argc, char **argv) {
    char *end = NULL;
    unsigned long long open = argc > 1 ? strtoull(argv[1], &end, 10) : MILLION;
    if (argc > 2 || (end && *end) || open < 1 || open > OPEN_MAX) {
        fprintf(stderr, "usage: gale_bench_micro [OPEN], from 1 to %d\n", OPEN_MAX);
        return 2;
    }
    bench_micro_ledger(open);
    bench_micro_ring();
    bench_micro_body();
    bench_micro_text();
    bench_micro_map(open);
    return 0;
}
