#include "base/os/pipe.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static ssize_t write_on(int fd, const void *bytes, size_t size) {
    ssize_t took;
    do took = write(fd, bytes, size);
    while (took < 0 && errno == EINTR);
    return took;
}

/* It was raised on this thread, and waits for it. */
static void take_away(const sigset_t *broken) {
    static const struct timespec at_once = { 0, 0 };
    while (sigtimedwait(broken, NULL, &at_once) < 0 && errno == EINTR) {
    }
}

int64_t gx_pipe_write(int fd, const void *bytes, size_t size) {
    sigset_t broken, waits, before;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &broken, &before);
    bool another = sigpending(&waits) == 0 && sigismember(&waits, SIGPIPE) == 1; /* one that is not ours stays */
    ssize_t took = write_on(fd, bytes, size);
    int code = errno;
    if (took < 0 && code == EPIPE && !another) take_away(&broken);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return took;
}

int64_t gx_pipe_read(int fd, void *bytes, size_t size) {
    ssize_t got;
    do got = read(fd, bytes, size);
    while (got < 0 && errno == EINTR);
    return got;
}

int64_t gx_pipe_unread(int fd) {
    int unread = 0;
    return ioctl(fd, FIONREAD, &unread) < 0 ? -1 : unread;
}
