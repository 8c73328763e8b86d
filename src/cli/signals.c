#include "cli/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* --- The terminal --------------------------------------------------------------------------------------------------- */

/* What there was at the start: a standard descriptor's bit, and CONTROLLED. */
enum { STANDARD = 3, CONTROLLED = 1 << STANDARD };

static unsigned had;

static unsigned terminals_now(void) {
    unsigned found = 0;
    for (int fd = 0; fd < STANDARD; fd++)
        if (isatty(fd)) found |= 1u << fd;
    int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return found;
    close(fd);
    return found | CONTROLLED;
}

/* A terminal that was closed is none any more: the kernel has hung it up before it tells. */
static bool terminal_is_gone(void) {
    return (had & ~terminals_now()) != 0;
}

/* --- Signals -------------------------------------------------------------------------------------------------------- */

/* A blocked signal is kept for who waits for it, even when it is ignored: what nohup ignores is not waited for. */
static sigset_t waited_for(void) {
    sigset_t set;
    struct sigaction hangup;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);
    return set;
}

void gx_signals_prepare(void) {
    sigset_t set = waited_for();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    had = terminals_now();
}

int gx_signals_asked(void) {
    sigset_t set = waited_for();
    struct timespec at_once = { 0, 0 };
    int number = sigtimedwait(&set, NULL, &at_once);
    return number > 0 ? number : 0;
}

int gx_signals_asked_of_service(bool *ret_reopen) {
    int number = gx_signals_asked();
    *ret_reopen = number == SIGHUP && !terminal_is_gone();
    return *ret_reopen ? 0 : number;
}
