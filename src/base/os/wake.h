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

/* Parks until rung, until one of `fds` is readable (or has hung up), or for `nanoseconds` (negative: no bound). Sets
 * `readable[i]` for each of the `count` descriptors. */
gx_nap gx_wake_park(gx_wake *wake, const int *fds, bool *readable, size_t count, int64_t nanoseconds);

/* Is `fd` readable now? */
bool gx_os_readable(int fd);

enum { GX_WAKE_FDS_MAX = 64 };

#endif
