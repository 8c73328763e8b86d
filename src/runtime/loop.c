#include "runtime/loop.h"

#include "runtime/step.h"

#include <sys/epoll.h>
#include <unistd.h>

void gx_loop_fini(gx_loop *loop) {
    if (loop->fd >= 0) close(loop->fd);
    loop->fd = -1;
}

static bool add(int set, int fd) {
    struct epoll_event event = { .events = EPOLLIN };
    return epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0;
}

int gx_loop_open(gx_loop *loop, gx_shared *shared) {
    if (loop->fd >= 0) return loop->fd;
    loop->fd = epoll_create1(EPOLL_CLOEXEC);
    bool all = loop->fd >= 0;
    for (uint32_t i = 0; all && i < shared->executor_count; i++) {
        gx_executor *ex = shared->executors[i];
        all = gx_watches_open(&ex->watches, NULL) == GALE_OK && add(loop->fd, ex->bell.wake.fd) &&
              add(loop->fd, ex->watches.set);
    }
    if (!all) gx_loop_fini(loop);
    return all ? loop->fd : GALE_IO;
}

void gx_loop_wake(gx_loop *loop, gx_shared *shared) {
    if (!loop->parked) return;
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        gx_wake_drain(&shared->executors[i]->bell.wake);
        gx_bell_wake(&shared->executors[i]->bell);
    }
    loop->parked = false;
}

static bool has_news(gx_shared *shared) {
    for (uint32_t i = 0; i < shared->executor_count; i++)
        if (gx_step_has_news(shared->executors[i])) return true;
    return false;
}

int64_t gx_loop_park(gx_loop *loop, gx_shared *shared, int64_t due) {
    bool rung = false;
    for (uint32_t i = 0; i < shared->executor_count; i++) rung |= !gx_bell_may_park(&shared->executors[i]->bell);
    loop->parked = true;
    if (rung || has_news(shared)) return 0;
    int64_t now = shared->clock.now(shared->clock.user);
    return due == INT64_MAX ? INT64_MAX : due > now ? due - now : 0;
}
