#include "base/os/pipe.h"

#include "harness/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int ends[2];

static int set_up(void **state) {
    (void)state;
    return pipe2(ends, O_CLOEXEC | O_NONBLOCK);
}

static int tear_down(void **state) {
    (void)state;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static bool is_pending(void) {
    sigset_t waits;
    assert_int_equal(sigpending(&waits), 0);
    return sigismember(&waits, SIGPIPE) == 1;
}

static void what_is_written_and_not_read_is_counted_at_either_end(void **state) {
    (void)state;
    char bytes[8];
    assert_int_equal(gx_pipe_unread(ends[1]), 0);
    assert_int_equal(gx_pipe_write(ends[1], "abcde", 5), 5);
    assert_int_equal(gx_pipe_unread(ends[0]), 5);
    assert_int_equal(gx_pipe_unread(ends[1]), 5);
    assert_int_equal(gx_pipe_read(ends[0], bytes, 3), 3);
    assert_int_equal(gx_pipe_unread(ends[1]), 2);
    assert_int_equal(gx_pipe_read(ends[0], bytes, sizeof bytes), 2);
    assert_int_equal(gx_pipe_unread(ends[1]), 0);
    assert_int_equal(gx_pipe_read(ends[0], bytes, sizeof bytes), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(gx_pipe_unread(-1), -1);
}

static void a_full_pipe_takes_nothing_and_does_not_block(void **state) {
    (void)state;
    static char bytes[1 << 16];
    int64_t took;
    while ((took = gx_pipe_write(ends[1], bytes, sizeof bytes)) > 0) {
    }
    assert_int_equal(took, -1);
    assert_int_equal(errno, EAGAIN);
}

static void a_reader_that_has_gone_is_told_without_a_signal(void **state) {
    (void)state;
    close(ends[0]);
    struct sigaction before, after;
    assert_int_equal(sigaction(SIGPIPE, NULL, &before), 0);
    assert_true(before.sa_handler == SIG_DFL); /* it would end this program */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(gx_pipe_write(ends[1], "a", 1), -1);
        assert_int_equal(errno, EPIPE);
        assert_false(is_pending());
    }
    assert_int_equal(sigaction(SIGPIPE, NULL, &after), 0);
    assert_true(after.sa_handler == SIG_DFL);
    ends[0] = dup(ends[1]);
}

/* As of a program that has blocked it, and has had one. */
static void a_signal_of_somebody_elses_stays(void **state) {
    (void)state;
    sigset_t broken, before;
    int got = 0;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &broken, &before), 0);
    assert_int_equal(pthread_kill(pthread_self(), SIGPIPE), 0);
    close(ends[0]);
    assert_int_equal(gx_pipe_write(ends[1], "a", 1), -1);
    assert_int_equal(errno, EPIPE);
    assert_true(is_pending());
    assert_int_equal(sigwait(&broken, &got), 0);
    assert_int_equal(gx_pipe_write(ends[1], "a", 1), -1);
    assert_false(is_pending());
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    ends[0] = dup(ends[1]);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(what_is_written_and_not_read_is_counted_at_either_end),
        CASE(a_full_pipe_takes_nothing_and_does_not_block),
        CASE(a_reader_that_has_gone_is_told_without_a_signal),
        CASE(a_signal_of_somebody_elses_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
