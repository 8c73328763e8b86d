/* A runtime in a loop of one's own: epoll waits for gale's descriptor and for whatever else the program has, here for signals. gale
 * starts no thread, and at rest nothing runs.
 *
 *      cat README.md | example_loop_epoll
 */
#include "counting.h"

#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static int listen_to_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int add(int set, int fd) {
    struct epoll_event event = { .events = EPOLLIN, .data = { .fd = fd } };
    return epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
}

/* epoll counts in milliseconds: a little too long is better than awake in vain. */
static int milliseconds(int64_t nanoseconds) {
    if (nanoseconds == INT64_MAX) return -1;
    return nanoseconds > 3600 * GALE_SECOND ? 3600 * 1000 : (int)((nanoseconds + 999999) / 1000000);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * GALE_SECOND + time.tv_nsec;
}

/* The first signal begins a drain, another one ends it. */
static void on_signal(gale_runtime *runtime, int signals, int64_t *bound) {
    struct signalfd_siginfo which;
    if (read(signals, &which, sizeof which) != sizeof which) return;
    if (*bound != INT64_MAX) gale_runtime_stop(runtime);
    gale_runtime_drain(runtime);
    *bound = now() + DRAIN_BOUND;
}

/* Until the run is over. */
static void loop(gale_runtime *runtime, int set, int signals) {
    struct epoll_event event;
    int64_t pause, bound = INT64_MAX;
    while ((pause = gale_runtime_step_for(runtime, 10 * GALE_MILLISECOND)) >= 0) {
        int64_t left = bound == INT64_MAX ? INT64_MAX : bound - now();
        if (left <= 0) gale_runtime_stop(runtime);
        if (pause > left) pause = left > 0 ? left : 0;
        if (epoll_wait(set, &event, 1, milliseconds(pause)) == 1 && event.data.fd == signals)
            on_signal(runtime, signals, &bound);
    }
}

int main(void) {
    static const int input = STDIN_FILENO;
    gale_runtime *runtime = counting_new(&input);
    int set = epoll_create1(EPOLL_CLOEXEC), signals = listen_to_signals();
    if (!runtime || add(set, gale_runtime_fd(runtime)) < 0 || add(set, signals) < 0) return perror("loop"), 1;
    loop(runtime, set, signals);
    gale_error error = GALE_ERROR_INIT;
    int code = gale_runtime_wait(runtime, 0, &error); /* it is over: how? */
    if (code < 0) fprintf(stderr, "%s\n", error.text);
    gale_runtime_free(runtime, -1, NULL);
    return code < 0;
}
