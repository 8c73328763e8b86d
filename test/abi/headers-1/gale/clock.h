/* gale/clock.h: where time comes from.
 *
 * What:    a handle that tells nanoseconds, monotonic. The engine, and components that want to be repeatable, ask this
 *          handle and never the machine. A hand-moved clock makes whole runs repeatable in tests.
 * Threads: `now` is called from every thread that runs executors. A manual clock may be moved from any thread.
 * Owner:   the handle is copied; what `user` points to must outlive the runtime.
 * Limits:  int64 nanoseconds last 292 years.
 * Misuse:  every function checks. Whoever takes a handle refuses one without a function: GALE_INVALID.
 */
#ifndef GALE_CLOCK_H
#define GALE_CLOCK_H

#include <gale/base.h>

GALE_BEGIN

#define GALE_MICROSECOND INT64_C(1000)
#define GALE_MILLISECOND INT64_C(1000000)
#define GALE_SECOND INT64_C(1000000000)

typedef struct gale_clock {
    size_t size;
    int64_t (*now)(void *user);
    void *user;
} gale_clock;

/* The machine's monotonic clock. */
GALE_API gale_clock gale_clock_monotonic(void);

/* The machine's wall clock: nanoseconds since 1970 in UTC. It can jump; use it for labels, never for intervals. */
GALE_API gale_clock gale_clock_wall(void);

/* A clock that stands still until it is moved. */
typedef struct gale_manual_clock gale_manual_clock;

/* A new clock that stands at `start` nanoseconds, or NULL when memory is out. Free it after every user of it. */
GALE_API GALE_MUST_USE gale_manual_clock *gale_manual_clock_new(int64_t start);

/* NULL is allowed. */
GALE_API void gale_manual_clock_free(gale_manual_clock *clock);

/* Moves the clock forward by `nanoseconds` (at least 0) and returns the new time; 0 without a clock. */
GALE_API int64_t gale_manual_clock_advance(gale_manual_clock *clock, int64_t nanoseconds);

/* The handle to give to a runtime. Without a clock it has no function, and no runtime takes it. */
GALE_API gale_clock gale_manual_clock_handle(gale_manual_clock *clock);

GALE_END

#endif
