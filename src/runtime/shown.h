/* Readings of what executors show at the end of their steps (gx_shown): is a thing true of all of them, with nothing on its
 * way between them? Read twice with no work in between, it was true at the moment between the two readings (Mattern's four
 * counters).
 * Threads: executor 0's. */
#ifndef GX_RUNTIME_SHOWN_H
#define GX_RUNTIME_SHOWN_H

#include "engine/executor.h"

/* Of one executor; `what` is the asker's. */
typedef bool gx_shown_is(const gx_shown *shown, const void *what);

/* One reading. `ret_work`: the sum of all work. One that shows something just now is not known. */
bool gx_shown_by_all(gx_shared *shared, gx_shown_is *is, const void *what, uint64_t *ret_work);

/* The reading before. Zero: there was none. */
typedef struct gx_shown_before {
    bool true_of_all;
    uint64_t work;
} gx_shown_before;

bool gx_shown_twice(gx_shown_before *before, gx_shared *shared, gx_shown_is *is, const void *what);

#endif
