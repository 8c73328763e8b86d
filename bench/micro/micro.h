/* Single modules, in nanoseconds an operation; where there is a hand-written loop that does the same, beside it. */
#ifndef BENCH_MICRO_MICRO_H
#define BENCH_MICRO_MICRO_H

#include "base/os/time.h"
#include "base/port.h"

/* Keeps the compiler from leaving out what nobody looks at. */
extern volatile uint64_t bench_micro_sink;

/* Tells a figure: the least of several rounds, because what disturbs a loop this small only ever adds. */
void bench_micro_tell(const char *what, double ns);

/* The time of `body(self)`, which makes `operations`: the least of the rounds, in ns an operation. */
double bench_micro_time(void (*body)(void *self), void *self, uint64_t operations);

void bench_micro_ledger(uint64_t open);
void bench_micro_ring(void);
void bench_micro_body(void);
void bench_micro_text(void);
void bench_micro_map(uint64_t keys);

#endif
