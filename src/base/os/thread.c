#include "base/os/thread.h"

#include "base/assert.h"
#include "base/os/time.h"

#include <signal.h>
#include <string.h>
#include <time.h>

enum { PAUSE_FIRST = 16384, PAUSE_MAX = 1 << 20 }; /* ns */

/* What a thread raises by what it does itself goes to its handlers, and to no other thread. */
static void block_signals(sigset_t *ret_before) {
    static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) sigdelset(&blocked, own[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, ret_before);
}

bool gx_thread_start(gx_thread *thread, const char *name, void *(*body)(void *user), void *user) {
    sigset_t before;
    block_signals(&before);
    int failed = pthread_create(&thread->id, NULL, body, user);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) return false;
    thread->started = true;
    char shortened[16] = { 0 };
    strncpy(shortened, name, sizeof shortened - 1);
    pthread_setname_np(thread->id, shortened);
    return true;
}

static struct timespec after(int64_t nanoseconds) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t sum = t.tv_nsec + nanoseconds % 1000000000;
    t.tv_sec += (time_t)(nanoseconds / 1000000000 + sum / 1000000000);
    t.tv_nsec = sum % 1000000000;
    return t;
}

/* The bound is the monotonic clock's: pthread_timedjoin_np goes by the time of day, which somebody may set, and
 * pthread_clockjoin_np is unknown to the thread sanitizer. Threads that are joined have as good as ended. */
static bool join_within(pthread_t id, int64_t nanoseconds) {
    int64_t until = gx_os_deadline(nanoseconds);
    long pause = PAUSE_FIRST;
    while (pthread_tryjoin_np(id, NULL) != 0) {
        if (gx_os_monotonic() >= until) return false;
        nanosleep(&(struct timespec){ 0, pause }, NULL);
        if (pause < PAUSE_MAX) pause *= 2;
    }
    return true;
}

bool gx_thread_join(gx_thread *thread, int64_t nanoseconds) {
    if (!thread->started) return true;
    if (nanoseconds < 0)
        pthread_join(thread->id, NULL);
    else if (!join_within(thread->id, nanoseconds))
        return false;
    thread->started = false;
    return true;
}

uintptr_t gx_thread_self(void) {
    return (uintptr_t)pthread_self();
}

/* In debug and sanitizer builds it knows who has locked it. */
static bool init_mutex(pthread_mutex_t *mutex) {
#if defined(GALE_CHECKS) && GALE_CHECKS >= 1
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes) != 0) return false;
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    bool made = pthread_mutex_init(mutex, &attributes) == 0;
    pthread_mutexattr_destroy(&attributes);
    return made;
#else
    return pthread_mutex_init(mutex, NULL) == 0;
#endif
}

bool gx_monitor_init(gx_monitor *monitor) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) return false;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    bool made = init_mutex(&monitor->mutex);
    if (made && pthread_cond_init(&monitor->changed, &attributes) != 0) {
        pthread_mutex_destroy(&monitor->mutex);
        made = false;
    }
    pthread_condattr_destroy(&attributes);
    return made;
}

void gx_monitor_fini(gx_monitor *monitor) {
    pthread_cond_destroy(&monitor->changed);
    pthread_mutex_destroy(&monitor->mutex);
}

/* Of a mutex that knows its owner, in checked builds: see init_mutex. */
static void must_succeed(int rc) {
    GX_CHECK(rc == 0);
    (void)rc;
}

void gx_monitor_lock(gx_monitor *monitor) {
    must_succeed(pthread_mutex_lock(&monitor->mutex));
}

void gx_monitor_unlock(gx_monitor *monitor) {
    must_succeed(pthread_mutex_unlock(&monitor->mutex));
}

void gx_monitor_notify(gx_monitor *monitor) {
    pthread_cond_broadcast(&monitor->changed);
}

bool gx_monitor_wait(gx_monitor *monitor, int64_t nanoseconds) {
    if (nanoseconds < 0) return pthread_cond_wait(&monitor->changed, &monitor->mutex) == 0;
    struct timespec until = after(nanoseconds);
    return pthread_cond_timedwait(&monitor->changed, &monitor->mutex, &until) == 0;
}
