/* Parking a thread until another wakes it, a descriptor is readable, or time is up. */
#ifndef GX_BASE_OS_WAKE_H
#define GX_BASE_OS_WAKE_H

#include "base/atomic.h"

/* An eventfd. */
typedef struct gx_wake {
    int fd;
    gx_atomic64 rung; /* ns; when it was rung last */
} gx_wake;

/* How a park went. */
typedef struct gx_nap {
    int64_t waited; /* ns, until it was rung; or until it ended otherwise */
    int64_t waking; /* ns, from then until the thread ran again */
} gx_nap;

bool gx_wake_init(gx_wake *wake);
void gx_wake_fini(gx_wake *wake);

/* Wakes the thread that parks here, now or at its next park. Any thread, also a signal handler. */
void gx_wake_ring(gx_wake *wake);

/* Parks until rung, until `fd` is readable (-1: none; `ret_readable`, may be NULL, says so), or for `nanoseconds`
 * (negative: no bound). */
gx_nap gx_wake_park(gx_wake *wake, int fd, bool *ret_readable, int64_t nanoseconds);

/* What it was rung is forgotten. For who waits for its descriptor himself. */
void gx_wake_drain(gx_wake *wake);

/* Is `fd` readable now? */
bool gx_os_readable(int fd);

#endif
