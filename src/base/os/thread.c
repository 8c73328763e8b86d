#include "base/os/thread.h"

#include <signal.h>
#include <string.h>
#include <time.h>

bool gx_thread_start(gx_thread *thread, const char *name, void *(*body)(void *user), void *user) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread->id, NULL, body, user);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) return false;
    thread->started = true;
    char shortened[16] = { 0 };
    strncpy(shortened, name, sizeof shortened - 1);
    pthread_setname_np(thread->id, shortened);
    return true;
}

static struct timespec after(clockid_t clock, int64_t nanoseconds) {
    struct timespec t;
    clock_gettime(clock, &t);
    int64_t sum = t.tv_nsec + nanoseconds % 1000000000;
    t.tv_sec += (time_t)(nanoseconds / 1000000000 + sum / 1000000000);
    t.tv_nsec = sum % 1000000000;
    return t;
}

bool gx_thread_join(gx_thread *thread, int64_t nanoseconds) {
    if (!thread->started) return true;
    if (nanoseconds < 0) {
        pthread_join(thread->id, NULL);
    } else {
        struct timespec until = after(CLOCK_REALTIME, nanoseconds);
        if (pthread_timedjoin_np(thread->id, NULL, &until) != 0) return false;
    }
    thread->started = false;
    return true;
}

uintptr_t gx_thread_self(void) {
    return (uintptr_t)pthread_self();
}

bool gx_monitor_init(gx_monitor *monitor) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) return false;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    bool made = pthread_mutex_init(&monitor->mutex, NULL) == 0;
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

void gx_monitor_lock(gx_monitor *monitor) {
    pthread_mutex_lock(&monitor->mutex);
}

void gx_monitor_unlock(gx_monitor *monitor) {
    pthread_mutex_unlock(&monitor->mutex);
}

void gx_monitor_notify(gx_monitor *monitor) {
    pthread_cond_broadcast(&monitor->changed);
}

bool gx_monitor_wait(gx_monitor *monitor, int64_t nanoseconds) {
    if (nanoseconds < 0) return pthread_cond_wait(&monitor->changed, &monitor->mutex) == 0;
    struct timespec until = after(CLOCK_MONOTONIC, nanoseconds);
    return pthread_cond_timedwait(&monitor->changed, &monitor->mutex, &until) == 0;
}
