/* Bytes of an answer without an end, from who writes to who sends. */
#include "serve/outflow.h"

#include "base/os/thread.h"
#include "base/str.h"

#include "harness/cm.h"

#include <pthread.h>

/* Who sends: it sleeps on a monitor of its own. */
typedef struct sender {
    gx_monitor monitor;
    bool awake;
    uint32_t sleeps;
} sender;

static void sleep_now(void *user) {
    sender *s = user;
    gx_monitor_lock(&s->monitor);
    s->awake = false;
    s->sleeps++;
    gx_monitor_unlock(&s->monitor);
}

static void wake_up(void *user) {
    sender *s = user;
    gx_monitor_lock(&s->monitor);
    s->awake = true;
    gx_monitor_notify(&s->monitor);
    gx_monitor_unlock(&s->monitor);
}

static gx_outflow *begin(sender *s) {
    gx_outflow *flow = gx_outflow_new();
    assert_non_null(flow);
    *s = (sender){ .awake = true };
    assert_true(gx_monitor_init(&s->monitor));
    const gx_outflow_sleep sleep = { sleep_now, wake_up, s };
    gx_outflow_begin(flow, &sleep);
    return flow;
}

static void end(sender *s, gx_outflow *flow) {
    gx_outflow_end(flow);
    gx_outflow_leave(flow);
    gx_monitor_fini(&s->monitor);
}

static void who_finds_nothing_sleeps_until_something_is_written(void **state) {
    (void)state;
    sender s;
    char room[8];
    gx_outflow *flow = begin(&s);
    assert_int_equal(gx_outflow_take(flow, room, sizeof room), 0);
    assert_false(s.awake);
    assert_true(gx_outflow_write(flow, gx_str("sea")));
    assert_true(s.awake);
    assert_int_equal(gx_outflow_take(flow, room, sizeof room), 3);
    assert_memory_equal(room, "sea", 3);
    assert_int_equal(s.sleeps, 1);
    end(&s, flow);
}

static void what_does_not_fit_comes_the_next_time(void **state) {
    (void)state;
    sender s;
    char room[4];
    gx_outflow *flow = begin(&s);
    assert_true(gx_outflow_write(flow, gx_str("abcdef")));
    assert_int_equal(gx_outflow_take(flow, room, 4), 4);
    assert_int_equal(gx_outflow_waiting(flow), 2);
    assert_true(gx_outflow_write(flow, gx_str("gh")));
    assert_int_equal(gx_outflow_take(flow, room, 4), 4);
    assert_memory_equal(room, "efgh", 4);
    assert_int_equal(gx_outflow_waiting(flow), 0);
    end(&s, flow);
}

static void the_end_comes_behind_what_was_written(void **state) {
    (void)state;
    sender s;
    char room[8];
    gx_outflow *flow = begin(&s);
    assert_true(gx_outflow_write(flow, gx_str("x")));
    gx_outflow_end(flow);
    assert_int_equal(gx_outflow_take(flow, room, sizeof room), 1);
    assert_int_equal(gx_outflow_take(flow, room, sizeof room), -1);
    gx_outflow_leave(flow);
    gx_monitor_fini(&s.monitor);
}

static void the_end_wakes_who_sleeps(void **state) {
    (void)state;
    sender s;
    char room[8];
    gx_outflow *flow = begin(&s);
    assert_int_equal(gx_outflow_take(flow, room, sizeof room), 0);
    gx_outflow_end(flow);
    assert_true(s.awake);
    assert_int_equal(gx_outflow_take(flow, room, sizeof room), -1);
    gx_outflow_leave(flow);
    gx_monitor_fini(&s.monitor);
}

static void who_has_left_is_not_woken_and_takes_no_memory(void **state) {
    (void)state;
    sender s;
    char room[8];
    gx_outflow *flow = begin(&s);
    assert_int_equal(gx_outflow_take(flow, room, sizeof room), 0);
    assert_false(gx_outflow_is_left(flow));
    gx_outflow_leave(flow);
    assert_true(gx_outflow_is_left(flow));
    assert_true(gx_outflow_write(flow, gx_str("sea")));
    assert_false(s.awake);
    assert_int_equal(gx_outflow_waiting(flow), 0);
    gx_outflow_end(flow);
    gx_monitor_fini(&s.monitor);
    gx_outflow_leave(NULL);
}

/* --- Two threads ------------------------------------------------------------------------------------------------------ */

enum { LINES = 20000 };

static void *write_all(void *user) {
    gx_outflow *flow = user;
    for (uint32_t i = 0; i < LINES; i++) {
        char byte = (char)('a' + i % 26);
        if (!gx_outflow_write(flow, (gale_str){ &byte, 1 })) break;
    }
    gx_outflow_end(flow);
    return NULL;
}

static void all_that_one_thread_writes_another_sends_in_order(void **state) {
    (void)state;
    sender s;
    char room[7];
    uint32_t at = 0;
    pthread_t thread;
    gx_outflow *flow = begin(&s);
    assert_int_equal(pthread_create(&thread, NULL, write_all, flow), 0);
    for (int64_t size; (size = gx_outflow_take(flow, room, sizeof room)) >= 0;) {
        for (int64_t i = 0; i < size; i++, at++) assert_int_equal(room[i], 'a' + at % 26);
        gx_monitor_lock(&s.monitor);
        while (!s.awake) gx_monitor_wait(&s.monitor, -1);
        gx_monitor_unlock(&s.monitor);
    }
    assert_int_equal(at, LINES);
    pthread_join(thread, NULL);
    gx_outflow_leave(flow);
    gx_monitor_fini(&s.monitor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_finds_nothing_sleeps_until_something_is_written),
        cmocka_unit_test(what_does_not_fit_comes_the_next_time),
        cmocka_unit_test(the_end_comes_behind_what_was_written),
        cmocka_unit_test(the_end_wakes_who_sleeps),
        cmocka_unit_test(who_has_left_is_not_woken_and_takes_no_memory),
        cmocka_unit_test(all_that_one_thread_writes_another_sends_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
