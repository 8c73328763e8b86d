/* The runtime's clock: the machine's, but it is known what each thread has last been told. An executor reads it once a
 * step, and begins trees with what it read: a tree is as old as that, however long the thread was kept from running. */
#ifndef TEST_RANDOM_THREADS_CLOCK_H
#define TEST_RANDOM_THREADS_CLOCK_H

#include <gale/clock.h>
#include <stdatomic.h>

enum { RT_CLOCK_THREADS = 64 };

typedef struct rt_clock {
    uint64_t number; /* of the run */
    atomic_uint count;
    atomic_llong last[RT_CLOCK_THREADS]; /* by thread that has read it */
} rt_clock;

/* The handle of `clock`, which begins anew. */
gale_clock rt_clock_begin(rt_clock *clock);

/* What this thread was last told, now and later; for others to read. */
const atomic_llong *rt_clock_mine(rt_clock *clock);

#endif
