#include "base/os/poll.h"

#include "base/atomic.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { ROOM = 64 };

static int system_open(void) {
    return epoll_create1(EPOLL_CLOEXEC);
}

static int control(int set, int what, int fd, int32_t events, uint64_t id) {
    uint32_t mask = EPOLLONESHOT;
    if (events & GX_POLL_READ) mask |= EPOLLIN | EPOLLRDHUP;
    if (events & GX_POLL_WRITE) mask |= EPOLLOUT;
    struct epoll_event event = { .events = mask, .data = { .u64 = id } };
    return epoll_ctl(set, what, fd, &event);
}

static int system_add(int set, int fd, int32_t events, uint64_t id) {
    return control(set, EPOLL_CTL_ADD, fd, events, id);
}

static int system_again(int set, int fd, int32_t events, uint64_t id) {
    return control(set, EPOLL_CTL_MOD, fd, events, id);
}

static int system_forget(int set, int fd) {
    struct epoll_event none = { .events = 0 };
    return epoll_ctl(set, EPOLL_CTL_DEL, fd, &none);
}

static int32_t events_of(uint32_t mask) {
    int32_t events = 0;
    if (mask & (EPOLLIN | EPOLLRDHUP)) events |= GX_POLL_READ;
    if (mask & EPOLLOUT) events |= GX_POLL_WRITE;
    if (mask & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) events |= GX_POLL_HANGUP;
    return events;
}

static int system_take(int set, gx_poll_news *news, int room) {
    struct epoll_event events[ROOM];
    int count;
    do count = epoll_wait(set, events, room < ROOM ? room : ROOM, 0);
    while (count < 0 && errno == EINTR);
    for (int i = 0; i < count; i++) news[i] = (gx_poll_news){ events[i].data.u64, events_of(events[i].events) };
    return count;
}

static void system_close(int set) {
    close(set);
}

const gx_poll_calls gx_poll_system = { system_open, system_add,   system_again, system_forget,
                                       system_take, system_close, NULL };

static _Atomic(const gx_poll_calls *) used = &gx_poll_system;

const gx_poll_calls *gx_poll_now(void) {
    return gx_load_acquire(&used); /* A1 */
}

/* R1: the table is filled before it is used. */
void gx_poll_use(const gx_poll_calls *calls) {
    gx_store_release(&used, calls ? calls : &gx_poll_system); /* R1 */
}
