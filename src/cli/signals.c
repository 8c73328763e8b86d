#include "cli/signals.h"

#include "base/atomic.h"
#include "base/os/thread.h"
#include "base/os/time.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
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

/* A blocked signal is kept for the thread that waits for it, even when it is ignored: what nohup ignores is not
 * waited for. */
static sigset_t waited_for(void) {
    sigset_t set;
    struct sigaction hangup;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);
    return set;
}

/* --- The guard ---------------------------------------------------------------------------------------------------- */

enum { KEPT = 8, EXIT_BY_SIGNAL = 128 };
static const int64_t slice = 50 * GALE_MILLISECOND;

static gx_monitor monitor; /* of what follows, but for `ending` */
static gx_thread guard;
static int kept[KEPT]; /* that nobody has asked for yet, the oldest first */
static size_t kept_count;
static bool drains;  /* the first one begins an end in order */
static bool begun;   /* it has come */
static bool last;    /* one has come that ends the command at once */
static int64_t came; /* when it did */
static int64_t bound, due = INT64_MAX;
static void (*restore)(void);
static gx_atomic32 ending;

static bool asks_for_end(int signal) {
    return signal != SIGHUP || !drains || terminal_is_gone();
}

/* With the lock held. */
static void set_due(int64_t now) {
    int64_t until = now + (last ? GX_SIGNALS_GRACE : bound);
    if (until < due) due = until;
}

static void take(int signal, int64_t now) {
    gx_monitor_lock(&monitor);
    bool ends = asks_for_end(signal), twin = ends && kept_count && now - came < GX_SIGNALS_TWIN;
    if (!twin && kept_count < KEPT) kept[kept_count++] = signal;
    if (ends && !twin) {
        last |= !drains || (begun && signal != SIGHUP);
        bool again = begun && !last;
        begun = true;
        came = now;
        gx_store_relaxed(&ending, (uint32_t)signal);
        if (!again) set_due(now);
    }
    gx_monitor_unlock(&monitor);
}

/* What it hangs in cannot be interrupted in order: a component, a write, a file that does not open. */
static void end_program(void) {
    static const char text[] = "gale: ended at once: what it was in did not come back\n";
    struct pollfd errors = { .fd = STDERR_FILENO, .events = POLLOUT };
    if (restore) restore();
    if (drains && poll(&errors, 1, 0) > 0) (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(EXIT_BY_SIGNAL + gx_signals_ending());
}

static void *watch(void *user) {
    sigset_t set = waited_for();
    (void)user;
    for (;;) {
        struct timespec soon = { 0, slice };
        int signal = gx_load_relaxed(&ending) ? sigtimedwait(&set, NULL, &soon) : sigwaitinfo(&set, NULL);
        int64_t now = gx_os_monotonic();
        if (signal > 0) take(signal, now);
        gx_monitor_lock(&monitor);
        bool over = now >= due;
        gx_monitor_unlock(&monitor);
        if (over) end_program();
    }
    return NULL;
}

void gx_signals_prepare(void) {
    sigset_t set = waited_for();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    had = terminals_now();
    (void)(gx_monitor_init(&monitor) && gx_thread_start(&guard, "gale-signals", watch, NULL));
}

void gx_signals_restore_by(void (*how)(void)) {
    restore = how;
}

/* --- What the command does with them ------------------------------------------------------------------------------ */

void gx_signals_drain(int64_t within) {
    gx_monitor_lock(&monitor);
    drains = true;
    bound = within;
    last = false;
    due = INT64_MAX;
    if (kept_count) set_due(gx_os_monotonic());
    gx_monitor_unlock(&monitor);
}

void gx_signals_drained(void) {
    gx_monitor_lock(&monitor);
    drains = false;
    if (kept_count && begun) {
        last = true;
        set_due(gx_os_monotonic());
    }
    gx_monitor_unlock(&monitor);
}

/* Without a guard: the system keeps one of each. */
static int ask_system(void) {
    sigset_t set = waited_for();
    struct timespec at_once = { 0, 0 };
    int signal = sigtimedwait(&set, NULL, &at_once);
    return signal > 0 ? signal : 0;
}

int gx_signals_asked(void) {
    if (!guard.started) return ask_system();
    int signal = 0;
    gx_monitor_lock(&monitor);
    if (kept_count) {
        signal = kept[0];
        memmove(kept, kept + 1, --kept_count * sizeof *kept);
        if (due != INT64_MAX) due = last ? gx_os_monotonic() + GX_SIGNALS_LEAVE : INT64_MAX;
    }
    gx_monitor_unlock(&monitor);
    return signal;
}

int gx_signals_asked_of_service(bool *ret_reopen) {
    int signal = gx_signals_asked();
    *ret_reopen = signal == SIGHUP && !terminal_is_gone();
    return *ret_reopen ? 0 : signal;
}

int gx_signals_ending(void) {
    return (int)gx_load_relaxed(&ending);
}
