#include "base/os/thread.h"

#include "harness/cm.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What this process takes for the time of day: an hour behind, as it was before somebody set the clock. */
static atomic_int hours_behind;

int clock_gettime(clockid_t clock, struct timespec *ret_time) {
    int rc = (int)syscall(SYS_clock_gettime, clock, ret_time);
    if (clock == CLOCK_REALTIME) ret_time->tv_sec -= 3600 * atomic_load(&hours_behind);
    return rc;
}

static void *end_soon(void *user) {
    const struct timespec soon = { 0, 50000000 };
    nanosleep(&soon, NULL);
    return user;
}

static void *end_when_told(void *user) {
    while (!atomic_load((atomic_bool *)user)) sched_yield();
    return NULL;
}

static void a_bounded_join_waits_whatever_happens_to_the_time_of_day(void **state) {
    (void)state;
    gx_thread thread = { 0 };
    atomic_store(&hours_behind, 1);
    assert_true(gx_thread_start(&thread, "soon", end_soon, NULL));
    assert_true(gx_thread_join(&thread, INT64_C(60000000000)));
    atomic_store(&hours_behind, 0);
}

static void a_join_ends_at_its_bound_and_may_be_tried_again(void **state) {
    (void)state;
    atomic_bool told = false;
    gx_thread thread = { 0 };
    assert_true(gx_thread_start(&thread, "told", end_when_told, &told));
    assert_false(gx_thread_join(&thread, 0));
    assert_false(gx_thread_join(&thread, 1000000));
    atomic_store(&told, true);
    assert_true(gx_thread_join(&thread, -1));
    assert_true(gx_thread_join(&thread, 0)); /* it is over */
}

/* --- Signals --- */

static void *read_mask(void *user) {
    pthread_sigmask(SIG_BLOCK, NULL, user);
    return NULL;
}

static void signals_are_blocked_but_those_that_a_thread_raises_itself(void **state) {
    (void)state;
    static const int raised[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
    static const int sent[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR1, SIGALRM, SIGCHLD, SIGWINCH };
    sigset_t mask, before, after;
    gx_thread thread = { 0 };
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    assert_true(gx_thread_start(&thread, "mask", read_mask, &mask));
    assert_true(gx_thread_join(&thread, -1));
    for (size_t i = 0; i < sizeof raised / sizeof raised[0]; i++) assert_false(sigismember(&mask, raised[i]));
    for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++) assert_true(sigismember(&mask, sent[i]));
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    for (int i = 1; i < 32; i++) assert_int_equal(sigismember(&before, i), sigismember(&after, i));
}

enum { HANDLED = 42 };

static void on_crash(int number) {
    (void)number;
    _exit(HANDLED);
}

static void *crash(void *user) {
    const struct timespec pause = { 0, 0 };
    nanosleep(&pause, NULL);
    raise(*(int *)user); /* to this thread, as what it does itself would be */
    return NULL;
}

/* In a process of its own: how it ended. */
static int crash_with_handler(int number) {
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        gx_thread thread = { 0 };
        signal(number, on_crash);
        if (gx_thread_start(&thread, "crash", crash, &number)) gx_thread_join(&thread, -1);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void the_crash_handlers_of_the_application_run(void **state) {
    (void)state;
    static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        int status = crash_with_handler(numbers[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), HANDLED);
    }
}

/* --- Monitors --- */

static void lock_twice(gx_monitor *monitor) {
    gx_monitor_lock(monitor);
    gx_monitor_lock(monitor);
}

static void unlock_unlocked(gx_monitor *monitor) {
    gx_monitor_unlock(monitor);
}

static void lock_and_unlock(gx_monitor *monitor) {
    gx_monitor_lock(monitor);
    gx_monitor_unlock(monitor);
}

/* In a process of its own: does it end as it should? A thread sanitizer may be the first to end it otherwise. */
static bool ends_well(void (*use)(gx_monitor *monitor)) {
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        gx_monitor monitor;
        if (gx_monitor_init(&monitor)) use(&monitor);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void a_monitor_that_is_checked_knows_who_has_locked_it(void **state) {
    (void)state;
    assert_true(ends_well(lock_and_unlock));
#if defined(GALE_CHECKS) && GALE_CHECKS >= 1
    assert_false(ends_well(lock_twice));
    assert_false(ends_well(unlock_unlocked));
#else
    (void)lock_twice, (void)unlock_unlocked;
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bounded_join_waits_whatever_happens_to_the_time_of_day),
        cmocka_unit_test(a_join_ends_at_its_bound_and_may_be_tried_again),
        cmocka_unit_test(signals_are_blocked_but_those_that_a_thread_raises_itself),
        cmocka_unit_test(the_crash_handlers_of_the_application_run),
        cmocka_unit_test(a_monitor_that_is_checked_knows_who_has_locked_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
