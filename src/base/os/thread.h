/* Threads: started with a name and all signals blocked but those that a thread raises itself (SIGSEGV and its like, SIGABRT),
 * so that the application's crash handlers run; joined with a bound. */
#ifndef GX_BASE_OS_THREAD_H
#define GX_BASE_OS_THREAD_H

#include "base/port.h"

#include <pthread.h>

typedef struct gx_thread {
    pthread_t id;
    bool started;
} gx_thread;

/* Runs `body(user)` on a new thread; `name` is cut to 15 bytes. False when the system refuses. */
bool gx_thread_start(gx_thread *thread, const char *name, void *(*body)(void *user), void *user);

/* Waits at most `nanoseconds` (negative: as long as it takes). False when the thread still runs. */
bool gx_thread_join(gx_thread *thread, int64_t nanoseconds);

/* A number that tells threads apart. */
uintptr_t gx_thread_self(void);

/* A mutex and a condition, for the control plane only. Debug and sanitizer builds end the process where one is locked twice,
 * or unlocked by a thread that has not locked it. */
typedef struct gx_monitor {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} gx_monitor;

bool gx_monitor_init(gx_monitor *monitor);
void gx_monitor_fini(gx_monitor *monitor);
void gx_monitor_lock(gx_monitor *monitor);
void gx_monitor_unlock(gx_monitor *monitor);
void gx_monitor_notify(gx_monitor *monitor); /* with the lock held */
/* Waits for a notice, at most `nanoseconds` (negative: as long as it takes); with the lock held. False when time is
 * up. */
bool gx_monitor_wait(gx_monitor *monitor, int64_t nanoseconds);

#endif
