#include "base/os/time.h"

#include <time.h>

static int64_t read_clock(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t gx_os_monotonic(void) {
    return read_clock(CLOCK_MONOTONIC);
}

int64_t gx_os_deadline(int64_t nanoseconds) {
    int64_t now = gx_os_monotonic();
    return nanoseconds < 0 || nanoseconds > INT64_MAX - now ? INT64_MAX : now + nanoseconds;
}

int64_t gx_os_wall(void) {
    return read_clock(CLOCK_REALTIME);
}

int64_t gx_os_thread_cpu(void) {
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
