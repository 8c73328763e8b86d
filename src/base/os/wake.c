#include "base/os/wake.h"

#include "base/os/time.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

bool gx_wake_init(gx_wake *wake) {
    gx_store_relaxed(&wake->rung, 0);
    wake->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return wake->fd >= 0;
}

void gx_wake_fini(gx_wake *wake) {
    if (wake->fd >= 0) close(wake->fd);
    wake->fd = -1;
}

void gx_wake_ring(gx_wake *wake) {
    uint64_t one = 1;
    int saved = errno;
    gx_store_relaxed(&wake->rung, (uint64_t)gx_os_monotonic());
    while (write(wake->fd, &one, sizeof one) < 0 && errno == EINTR) {
    }
    errno = saved;
}

void gx_wake_drain(gx_wake *wake) {
    uint64_t count;
    while (read(wake->fd, &count, sizeof count) < 0 && errno == EINTR) {
    }
}

/* Several may ring at once, and one may have been late: what cannot be is not told. */
static gx_nap nap(const gx_wake *wake, int64_t began, bool was_rung) {
    int64_t now = gx_os_monotonic(), rung = was_rung ? (int64_t)gx_load_relaxed(&wake->rung) : now;
    if (rung < began) rung = began;
    if (rung > now) rung = now;
    return (gx_nap){ rung - began, now - rung };
}

gx_nap gx_wake_park(gx_wake *wake, int fd, bool *ret_readable, int64_t nanoseconds) {
    struct pollfd set[2] = { { .fd = wake->fd, .events = POLLIN }, { .fd = fd, .events = POLLIN } };
    struct timespec time = { (time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000) };
    int64_t began = gx_os_monotonic();
    int ready = ppoll(set, fd < 0 ? 1 : 2, nanoseconds < 0 ? NULL : &time, NULL);
    if (ret_readable) *ret_readable = fd >= 0 && ready > 0 && set[1].revents != 0;
    bool was_rung = ready > 0 && set[0].revents;
    if (was_rung) gx_wake_drain(wake);
    return nap(wake, began, was_rung);
}

bool gx_os_readable(int fd) {
    struct pollfd one = { .fd = fd, .events = POLLIN };
    return poll(&one, 1, 0) > 0;
}
